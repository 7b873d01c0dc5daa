"""What the HTTP and the gRPC server share: clients, pipeline, limits."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import grpc
from quelea_kit.errors import Conflict, DiskFull, InvalidInput, QueleaError, Unavailable
from quelea_kit.files.disk import Disk, local_folder
from quelea_kit.reach import within
from redis.asyncio import Redis

from quelea_gateway.access import Access, Caller, CallLimiter, let_in
from quelea_gateway.adapters.callers.shared_limits import SharedLimits
from quelea_gateway.adapters.check_pool import CheckPool
from quelea_gateway.adapters.gate_files import FittedGate, GateFiles
from quelea_gateway.adapters.services.downstream import Health
from quelea_gateway.adapters.services.generator import GeneratorClient
from quelea_gateway.adapters.services.retriever import RetrieverClient
from quelea_gateway.adapters.services.search import SearchClient
from quelea_gateway.adapters.stores.audit_log import AuditLog
from quelea_gateway.adapters.stores.conversations import ConversationStore
from quelea_gateway.adapters.stores.evaluations import EvaluationStore
from quelea_gateway.adapters.stores.feedback import FeedbackStore
from quelea_gateway.adapters.stores.prompt_store import PromptStore
from quelea_gateway.adapters.stores.usage_store import UsageStore
from quelea_gateway.adapters.verifiers.cross_encoder_verifier import CrossEncoderVerifier
from quelea_gateway.adapters.verifiers.model_verifier import ModelVerifier
from quelea_gateway.analyst import Analyst, build_analyst
from quelea_gateway.core.agent.decision.prompts import AgentPrompts
from quelea_gateway.core.answers import structured
from quelea_gateway.core.asking import query_plan
from quelea_gateway.core.asking.query_plan import ModelPlanner
from quelea_gateway.core.asking.question import Limits
from quelea_gateway.core.callers import audit
from quelea_gateway.core.gate.gates import CalibratedGate, Calibration, CosineGate, Gate
from quelea_gateway.core.pipeline import Pipeline
from quelea_gateway.core.ports import Checker
from quelea_gateway.core.review.foreign_sentences import MeaningChecker
from quelea_gateway.core.review.verifier import VerifyingChecker
from quelea_gateway.core.web.route import WebLimits, WebRoute
from quelea_gateway.core.web.useful_page_reporter import UsefulPageReporter
from quelea_gateway.metrics import observe_kept
from quelea_gateway.prompt_editor import PromptEditor
from quelea_gateway.rights import readable, writable
from quelea_gateway.settings import Settings
from quelea_gateway.statement_reader import StatementReader
from quelea_gateway.toolkit import Toolkit, build_toolkit
from quelea_gateway.version import VERSION

_FRESH_SECONDS = 1.0
_REDIS_SECONDS = 1.0


@dataclass
class Gateway:
    """The clients, the pipeline and the rules."""

    settings: Settings
    access: Access
    limiter: CallLimiter
    tenant_limiter: CallLimiter
    limits: Limits
    retriever: RetrieverClient
    search: SearchClient
    generator: GeneratorClient
    pipeline: Pipeline
    gate: GateFiles
    reporter: UsefulPageReporter
    check_pool: CheckPool
    checker: Checker
    analyst: Analyst
    toolkit: Toolkit
    feedback: FeedbackStore
    conversations: ConversationStore
    evaluations: EvaluationStore
    prompts: PromptEditor
    usage: UsageStore
    audit_log: AuditLog | None = None
    redis: Redis | None = None
    shared_limits: SharedLimits | None = None
    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list, repr=False)
    """Called when the gateway closes, by what was built on it."""
    _ready: tuple[float, dict[str, str]] | None = field(default=None, repr=False)
    _misfit: bool = field(default=False, repr=False)
    """Whether a service is not ready for a reason that does not pass by itself."""

    @contextlib.contextmanager
    def admitted(self, _context: grpc.aio.ServicerContext[Any, Any]) -> Iterator[Caller]:
        """Who makes a gRPC call, as the middleware let him in and counts him.

        Raises:
            Unauthenticated: no key, or one that is not known.
        """
        caller = let_in()
        with within(caller.principal.reach()):
            yield caller

    @contextlib.asynccontextmanager
    async def counted(self, caller: Caller) -> AsyncIterator[None]:
        """Around one call, which counts as under way until the block ends: here, and where gateways count together.

        Raises:
            Overloaded: too many calls of this key or of its tenant.
        """
        key, tenant = caller.name, caller.principal.tenant
        async with contextlib.AsyncExitStack() as stack:
            if self.shared_limits is not None:
                bounds = (self.limiter.bound(key), self.tenant_limiter.bound(tenant))
                await stack.enter_async_context(self.shared_limits.call(*bounds))
            stack.enter_context(self.limiter.call(key))
            stack.enter_context(self.tenant_limiter.call(tenant))
            yield

    @contextlib.asynccontextmanager
    async def reading(
        self, context: grpc.aio.ServicerContext[Any, Any], collections: Sequence[str] = ()
    ) -> AsyncIterator[Caller]:
        """As `admitted`; what is asked in the block sees the named collections only.

        Raises:
            NotFound: one that is not there, or that the caller may not read.
        """
        with self.admitted(context) as caller:
            bounds = await readable(self.search, caller.principal, collections)
            with within(bounds):
                yield caller

    @contextlib.asynccontextmanager
    async def writing_to(self, context: grpc.aio.ServicerContext[Any, Any], collection: str) -> AsyncIterator[Caller]:
        """As `admitted`; what is done in the block is done in one collection, the default one when none is named.

        Raises:
            NotFound: it is not there, or the caller may not read it.
            PermissionDenied: he may not write it.
        """
        with self.admitted(context) as caller:
            bounds = await writable(self.search, caller.principal, collection)
            with within(bounds):
                yield caller

    @property
    def statements(self) -> StatementReader:
        """Figures of statements as data."""
        return StatementReader(self.retriever)

    async def audit(self, record: audit.Record, outcome: audit.Outcome, status: int | str) -> None:
        """Record a call, where it is one to be recorded. Raises Unavailable where it must be and cannot."""
        if self.audit_log is None or not (record.action or status in audit.TURNED_AWAY):
            return
        if record.subject or record.via == "gateway":
            await self.audit_log.write(record.entry(outcome, status))
        else:
            self.audit_log.write_stranger(record.entry(outcome, status))

    def audit_admits(self) -> None:
        """Raises Unavailable where calls must be recorded and just now cannot be."""
        if self.audit_log is not None:
            self.audit_log.admit()

    def audited_address(self, plain: str) -> str:
        """A caller's address as it is recorded."""
        if self.audit_log is None or self.settings.audit_addresses == "none":
            return ""
        return plain if self.settings.audit_addresses == "plain" else self.audit_log.address(plain)

    def auditing(self) -> str:
        """Why calls are not recorded just now; empty while they are, or need not be."""
        return self.audit_log.state() if self.audit_log else ""

    async def dependencies(self) -> dict[str, str]:
        """What is wrong with each service, empty where nothing is; at most a second old."""
        now = time.monotonic()
        if self._ready is None or now - self._ready[0] > _FRESH_SECONDS:

            async def state(health: Health) -> QueleaError | None:
                try:
                    await health.check()
                    if health is self.retriever.health:
                        self.gate.of(await self.retriever.encoder())
                except QueleaError as error:
                    return error
                return None

            names = ("retriever", "search", "generator")
            found = await asyncio.gather(*(state(getattr(self, name).health) for name in names))
            states = {name: one.message if one else "" for name, one in zip(names, found, strict=True)}
            self._ready = (now, states)
            self._misfit = any(isinstance(one, Conflict) for one in found)
        return self._ready[1]

    async def writing(self) -> str:
        """Why nothing new is stored just now: a full disk; empty while it is."""
        stores = (self.retriever.health, self.search.health)
        asked = await asyncio.gather(*(health.takes_writes() for health in stores), return_exceptions=True)
        full = [error.message for error in asked if isinstance(error, DiskFull)]
        if self.analyst.disk:
            try:
                await asyncio.to_thread(self.analyst.disk.check)
            except DiskFull as error:
                full.append(error.message)
        return " ".join(full)

    async def ready(self) -> None:
        """Raises Unavailable, naming the services that are down; Conflict where waiting does not help."""
        down = {name: why for name, why in (await self.dependencies()).items() if why}
        if down:
            kind = Conflict if self._misfit else Unavailable
            raise kind(" ".join(down.values()), details=down)

    async def begin(self) -> None:
        """Record that the gateway starts, and with which settings. Raises Unavailable where that must be and cannot."""
        started = _of_gateway(audit.Act.STARTED)
        started.objects = {"version": VERSION, "auth": self.settings.auth, "settings": _fingerprint(self.settings)}
        await self.audit(started, "ok", "")

    async def close(self) -> None:
        """Report the useful pages that wait, and close the channels."""
        for close in self.closing:
            await close()
        await self.analyst.close()
        await self.toolkit.close()
        await self.feedback.close()
        await self.conversations.close()
        await self.evaluations.close()
        await self.prompts.close()
        await self.usage.close()
        await self.reporter.close(self.settings.drain_seconds)
        await asyncio.gather(
            self.retriever.close(), self.search.close(), self.generator.close(), self.check_pool.close()
        )
        if self.shared_limits is not None:
            await self.shared_limits.close()
        if self.redis is not None:
            await self.redis.aclose()
        if self.audit_log is not None:
            with contextlib.suppress(Unavailable):  # it says so already, and there is nobody to refuse
                await self.audit(_of_gateway(audit.Act.STOPPED), "ok", "")
            await self.audit_log.close()


def build(settings: Settings) -> Gateway:
    """The gateway on its services' addresses. Must be called inside the event loop, as gRPC channels bind to it.

    Raises:
        InvalidInput: keys are off on a public address, or the gate's file cannot be used.
    """
    redis = build_redis(settings)
    access = Access(settings, redis)
    gate = build_gate(settings)
    retriever = RetrieverClient(
        settings.retriever,
        search_seconds=settings.retrieve_seconds,
        rank_seconds=settings.rank_seconds,
        call_seconds=settings.call_seconds,
        wait_seconds=settings.retriever_wait_seconds,
    )
    search = SearchClient(settings.search, call_seconds=settings.call_seconds, upload_seconds=settings.upload_seconds)
    reporter = UsefulPageReporter(
        search.keep, seconds=settings.keep_seconds, most=settings.keep_queue, report=observe_kept
    )
    limits = WebLimits(pages=settings.web_pages, passages=settings.web_passages, seconds=settings.web_seconds)
    prompt_store = build_prompt_store(settings)
    usage = build_usage(settings)
    generator = GeneratorClient(
        settings.generator,
        generate_seconds=settings.generate_seconds,
        evidence_tokens=settings.evidence_tokens,
        prompts=prompt_store.current,
        spent=usage.count,
    )
    check_pool = CheckPool(
        processes=settings.check_processes, waiting=settings.check_queue, seconds=settings.check_seconds
    )
    checker: Checker = MeaningChecker(check_pool, retriever)
    if settings.verifier != "none":
        verifier = ModelVerifier(generator) if settings.verifier == "model" else CrossEncoderVerifier(retriever)
        checker = VerifyingChecker(checker, verifier, seconds=settings.verifier_seconds)
    toolkit = build_toolkit(settings, generator=generator)
    analyst = build_analyst(
        settings,
        generator=generator,
        retriever=retriever,
        search=search,
        checker=checker,
        tools=toolkit.catalogue if toolkit.on else None,
        prompts=prompt_store.current,
        usage=usage,
    )
    return Gateway(
        settings=settings,
        access=access,
        limiter=CallLimiter(settings.max_calls_per_key, settings.calls_per_minute_per_key),
        tenant_limiter=CallLimiter(settings.max_calls_per_tenant, settings.calls_per_minute_per_tenant, whose="tenant"),
        limits=Limits(
            question_chars=settings.max_question_chars,
            history_turns=settings.max_history_turns,
            history_chars=settings.max_history_chars,
            k=settings.k,
            j=settings.j,
        ),
        retriever=retriever,
        search=search,
        generator=generator,
        pipeline=Pipeline(
            retriever,
            generator,
            gate,
            checker,
            WebRoute(search, retriever, reporter, cosine=settings.keep_cosine, limits=limits),
            filings=search,
            planner=ModelPlanner(generator, seconds=settings.query_plan_seconds, prompts=prompt_store.current)
            if settings.query_plan == "model"
            else None,
            report=lambda question: usage.count(question.tenant, questions=1),
        ),
        gate=gate,
        reporter=reporter,
        check_pool=check_pool,
        checker=checker,
        analyst=analyst,
        toolkit=toolkit,
        feedback=build_feedback(settings),
        conversations=build_conversations(settings),
        evaluations=build_evaluations(settings),
        usage=usage,
        prompts=PromptEditor(prompt_store, (generator, AgentPrompts(), structured.PROMPT, query_plan.PROMPT)),
        audit_log=build_audit_log(settings),
        redis=redis,
        shared_limits=SharedLimits(redis) if redis else None,
    )


def build_redis(settings: Settings) -> Redis | None:
    """The client of the Redis that the settings choose; it connects when it is first used."""
    if not settings.redis_url:
        return None
    try:
        return Redis.from_url(settings.redis_url, socket_timeout=_REDIS_SECONDS, socket_connect_timeout=_REDIS_SECONDS)
    except ValueError as error:
        raise InvalidInput(f"redis_url cannot be used: {error}.", details={"field": "redis_url"}) from error


def build_audit_log(settings: Settings) -> AuditLog | None:
    """The audit log that the settings choose. Raises Unavailable when it must be written and cannot be."""
    if not settings.audit_dir:
        return None
    return AuditLog(
        Path(settings.audit_dir),
        refuse=settings.audit_failure == "refuse",
        file_bytes=settings.audit_file_bytes,
        keep_days=settings.audit_keep_days,
    )


def _fingerprint(settings: Settings) -> str:
    """Changes when any setting does, and tells none."""
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:16]


def _of_gateway(act: audit.Act) -> audit.Record:
    """An entry of the gateway itself."""
    return audit.Record(secrets.token_hex(8), "gateway", "", audit.Action(act, "gateway"))


def _place(settings: Settings, url: str, name: str) -> tuple[str, Disk | None]:
    """Where a store is, beside the runs unless the settings name a place of its own, and the volume of a folder."""
    url = url or f"{settings.runs_url.rstrip('/')}/{name}"
    folder = local_folder(url)
    return url, Disk(folder, settings) if folder else None


def build_feedback(settings: Settings) -> FeedbackStore:
    """The store of thumbs that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url, disk = _place(settings, settings.feedback_url, "feedback")
    return FeedbackStore(url, most=settings.feedback_per_key, disk=disk)


def build_conversations(settings: Settings) -> ConversationStore:
    """The store of conversations that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url, disk = _place(settings, settings.conversations_url, "conversations")
    return ConversationStore(
        url,
        most=settings.conversations_per_key,
        turns=settings.conversation_turns,
        disk=disk,
    )


def build_usage(settings: Settings) -> UsageStore:
    """The store of usage that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url, disk = _place(settings, settings.usage_url, "usage")
    return UsageStore(url, keep_days=settings.usage_days, disk=disk)


def build_prompt_store(settings: Settings) -> PromptStore:
    """The store of prompts that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url, disk = _place(settings, settings.prompts_url, "prompts")
    return PromptStore(url, most=settings.prompt_versions, disk=disk)


def build_evaluations(settings: Settings) -> EvaluationStore:
    """The store of evaluations that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url, disk = _place(settings, settings.evaluations_url, "evaluations")
    return EvaluationStore(url, queue=settings.evaluation_queue, disk=disk)


def build_gate(settings: Settings) -> GateFiles:
    """The gates that the settings choose. Raises InvalidInput when a file cannot be used."""
    text = resources.files("quelea_gateway.core.gate").joinpath("gate.json").read_text("utf-8")
    packaged = Calibration.parse(text, name="the packaged gate.json")

    def make(calibration: Calibration) -> FittedGate:
        gate: Gate
        if settings.gate == "cosine":
            gate = CosineGate(calibration.cosine if settings.gate_cosine is None else settings.gate_cosine)
        else:
            gate = CalibratedGate(calibration, threshold=settings.gate_threshold, fresh_days=settings.fresh_days)
        own_cosine = settings.gate == "cosine" and settings.gate_cosine is not None
        return FittedGate(gate, "" if own_cosine else calibration.encoder)

    return GateFiles(
        make(packaged),
        [Path(name) for name in (settings.gate_file, settings.next_gate_file) if name],
        lambda text, path: make(Calibration.parse(text, name=str(path), base=packaged)),
        of_set=Path(settings.model_set, "gate.json") if settings.model_set else None,
        any_encoder=settings.gate_any_encoder,
    )
