"""The agent of this deployment: its clients, its runs, or what is missing to have one."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from quelea_kit.errors import Conflict, QueleaError, Unavailable
from quelea_kit.files.disk import Disk, local_folder
from quelea_kit.logging import get_logger

from quelea_gateway.adapters.services.door import DoorClient
from quelea_gateway.adapters.services.generator import GeneratorClient
from quelea_gateway.adapters.services.retriever import RetrieverClient
from quelea_gateway.adapters.services.sandbox import SandboxClient
from quelea_gateway.adapters.services.search import PageReader, SearchClient
from quelea_gateway.adapters.stores.runs import Runs
from quelea_gateway.adapters.stores.trajectories import TrajectoryFolder
from quelea_gateway.adapters.stores.usage_store import UsageStore
from quelea_gateway.core.agent.decision.chat import Chat
from quelea_gateway.core.agent.model import Budget, Run
from quelea_gateway.core.agent.ports import Tools
from quelea_gateway.core.agent.runs.manager import Manager
from quelea_gateway.core.agent.runs.quota import RunLimits
from quelea_gateway.core.agent.runs.run_requests import BudgetRules
from quelea_gateway.core.agent.work import Ports, Rules
from quelea_gateway.core.ports import Checker
from quelea_gateway.core.prompts import Prompts
from quelea_gateway.metrics import observe_run
from quelea_gateway.settings import Settings
from quelea_gateway.statement_reader import StatementReader

OFF = (
    "This deployment has no agent: it needs a sandbox and a language model. Install a Docker engine, run `make tools "
    "runner-image`, then `quelea up --agent --reader openai …`; without `quelea up` start the sandbox service and set "
    "QUELEA_GATEWAY_SANDBOX to its address."
)

_FRESH_SECONDS = 1.0

log = get_logger(__name__)


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()


@dataclass
class Analyst:
    """The runs of this gateway; `manager` is None where the agent is off."""

    budgets: BudgetRules
    manager: Manager | None = None
    sandbox: SandboxClient | None = None
    door: DoorClient | None = None
    disk: Disk | None = None
    """Of the runs; None: they lie in an object store."""
    _healthy_at: float = -1e9
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def on(self) -> bool:
        """Whether this deployment has an agent."""
        return self.manager is not None

    def runs(self) -> Manager:
        """The runs. Raises Conflict where the agent is off, with what to install."""
        if self.manager is None:
            raise Conflict(OFF)
        return self.manager

    async def ready(self) -> Manager:
        """The runs, for starting one. Raises Conflict, DiskFull, or Unavailable when the sandbox cannot work."""
        manager = self.runs()
        if self.disk:
            await asyncio.to_thread(self.disk.check)
        assert self.sandbox is not None  # noqa: S101  # both or none
        try:
            async with self._asking:  # many who start at once ask once
                if time.monotonic() - self._healthy_at > _FRESH_SECONDS:
                    await self.sandbox.health.check()
                    self._healthy_at = time.monotonic()
        except QueleaError as error:
            raise Unavailable(
                f"{error.message} It needs a running Docker engine and the image of `make runner-image`.",
                details=error.details,
                retry_after=error.retry_after or 5.0,
            ) from error
        return manager

    async def close(self) -> None:
        """End what runs, and close the channels."""
        if self.manager is not None:
            await self.manager.close()
        await asyncio.gather(*(one.close() for one in (self.sandbox, self.door) if one is not None))


def build_analyst(
    settings: Settings,
    *,
    generator: GeneratorClient,
    retriever: RetrieverClient,
    search: SearchClient,
    checker: Checker,
    tools: Tools | None,
    prompts: Prompts,
    usage: UsageStore,
) -> Analyst:
    """The agent that the settings describe. Must be called inside the event loop."""
    budgets = BudgetRules(
        Budget(settings.agent_steps, settings.agent_tokens, settings.agent_seconds, settings.agent_calls),
        Budget(
            max(settings.agent_max_steps, settings.agent_steps),
            max(settings.agent_max_tokens, settings.agent_tokens),
            max(settings.agent_max_seconds, settings.agent_seconds),
            max(settings.agent_max_calls, settings.agent_calls),
        ),
    )
    door = DoorClient(settings.market) if settings.market else None
    if not settings.sandbox:
        return Analyst(budgets, door=door)  # filings are fetched through it, too
    sandbox = SandboxClient(settings.sandbox)
    ports = Ports(
        model=Chat(generator),
        knowledge=retriever,
        clock=SystemClock(),
        tools=tools,
        sandbox=sandbox,
        door=door,
        web=search,
        trajectories=TrajectoryFolder(settings.trajectories) if settings.trajectories else None,
        checks=checker,
        statements=StatementReader(retriever),
        pages=PageReader(search),
        prompts=prompts,
    )
    rules = Rules(
        repairs=settings.agent_repairs,
        code_repairs=settings.agent_code_repairs,
        context_tokens=settings.agent_context_tokens,
        output_tokens=settings.agent_output_tokens,
        temperature=settings.agent_temperature,
        model_seconds=settings.agent_model_seconds,
        code_seconds=settings.agent_code_seconds,
    )
    limits = RunLimits(
        running=settings.agent_running,
        running_per_tenant=settings.agent_running_per_key,
        queued=settings.agent_queue,
        queued_per_tenant=settings.agent_queue_per_key,
        tenant_runs=settings.agent_day_runs,
        tenant_steps=settings.agent_day_steps,
        tenant_tokens=settings.agent_day_tokens,
        tenant_seconds=settings.agent_day_seconds,
        tenant_calls=settings.agent_day_calls,
        kept=settings.agent_sessions,
        kept_per_tenant=settings.agent_sessions_per_key,
        kept_seconds=settings.agent_session_seconds,
        beat_seconds=settings.agent_beat_seconds,
    )

    def report(run: Run, error: Exception | None) -> None:
        _report(run, error)
        if error is None:
            usage.count(run.tenant, runs=1)

    manager = Manager(ports, Runs(settings.runs_url), rules=rules, limits=limits, report=report)
    folder = local_folder(settings.runs_url)
    return Analyst(budgets, manager, sandbox, door, Disk(folder, settings) if folder else None)


def _report(run: Run, error: Exception | None) -> None:
    if error is not None:
        log.error("run_trouble", run=run.id, error=str(error), exc_info=error)
        return
    observe_run(run)
    log.info("run_ended", run=run.id, state=run.state, steps=run.usage.steps, tokens=run.usage.tokens)
