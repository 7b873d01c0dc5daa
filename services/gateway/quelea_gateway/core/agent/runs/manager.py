"""Runs side by side: a bounded queue, fair turns of tenants, budgets, events for whoever watches, an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from typing import Any

from quelea_kit.errors import Conflict, NotFound, Overloaded, QueleaError
from quelea_kit.fair_queue import FairQueue
from quelea_kit.reach import current, within

from quelea_gateway.core.agent.continuation import Earlier, documents_of
from quelea_gateway.core.agent.files import BUNDLE
from quelea_gateway.core.agent.loop import run as run_agent
from quelea_gateway.core.agent.model import ENDED, Event, Run, RunRequest, State, Usage
from quelea_gateway.core.agent.ports import RunStore
from quelea_gateway.core.agent.runs.earlier_runs import EarlierRuns
from quelea_gateway.core.agent.runs.history import artifacts_of, settle
from quelea_gateway.core.agent.runs.kept_sessions import KeptSessions
from quelea_gateway.core.agent.runs.live import Live, iso
from quelea_gateway.core.agent.runs.quota import RunLimits, check_day, check_queue
from quelea_gateway.core.agent.runs.remote_cancel import cancel_remotely
from quelea_gateway.core.agent.runs.run_requests import check_followed
from quelea_gateway.core.agent.work import Ports, Rules
from quelea_gateway.core.callers import audit

_POLL_SECONDS = 0.5
_RECENT = 500
_LOOK_SECONDS = 1.0
"""Between two looks whether another gateway was asked to end a run of ours."""
_BUNDLE_SECONDS = 20.0


class Manager:
    """The runs of one gateway process.

    Args:
        ports: The agent's world.
        store: Where runs are kept.
        name: Identity of this process.
        report: Told of every run that has ended, and with an exception what nobody else hears of.
    """

    def __init__(
        self,
        ports: Ports,
        store: RunStore,
        *,
        rules: Rules,
        limits: RunLimits,
        name: str = "",
        report: Callable[[Run, Exception | None], None] = lambda run, error: None,
    ) -> None:
        self.ports = ports
        self._store = store
        self._rules = rules
        self._limits = limits
        self._name = name or secrets.token_hex(6)
        self._report = report
        self._live: dict[str, Live] = {}
        self._waiting: FairQueue[Live] = FairQueue(
            quantum=1, length=max(1, limits.queued), tenant_length=max(1, limits.queued_per_tenant)
        )
        self._beating: asyncio.Task[None] | None = None
        self._closing = False
        self._ending: set[asyncio.Task[bool]] = set()
        self._earlier_runs = EarlierRuns(store, ports.pages)
        self._kept = KeptSessions(limits, self._earlier_runs.look)

    async def start(self, request: RunRequest) -> Run:
        """Queue a run.

        Raises:
            Overloaded: the queue is full, or the tenant's budget of the day is used up.
            Conflict: the reader is no language model, or the run that it follows has no answer.
            NotFound: the tenant has no run that it could follow.
        """
        if self._closing:
            raise Overloaded("This gateway is shutting down; try again.", retry_after=2.0)
        self._check_queue(request.tenant)
        if request.follows:
            check_followed(await self.get(request.tenant, request.follows))
        if not (await self.ports.model.info()).is_language_model:
            raise Conflict(
                "No language model is configured, and the agent needs one: `quelea up --reader openai "
                "--openai-base-url URL`, or QUELEA_GENERATOR_ENDPOINT."
            )
        now = self.ports.clock.now()
        if self._limits.daily:
            check_day(await self.newest(request.tenant, _RECENT), self._limits, now)
        self._check_queue(request.tenant)
        run = Run(
            id=f"{now:%Y%m%d%H%M%S}-{secrets.token_hex(8)}", tenant=request.tenant, question=request.question,
            as_of=request.as_of, language=request.language, model=request.model, state="queued", created=iso(now),
            budget=request.budget, bundle_ids=request.bundle_ids, gateway=self._name,
            follows=request.follows, reach=current(),
        )  # fmt: skip
        live = self._live[run.id] = Live(run, request, self._store, self.ports.clock)
        try:
            await self._store.put(run)
            await self._store.beat(run.tenant, run.id)
            await live.event("state", {"state": "queued"})
        except BaseException:
            self._forget(run.id)
            raise
        audit.note("runs", run.id)
        if live.asked_to_end is None:
            self._waiting.push(run.tenant, 1, live)
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beat())
        self._next()
        return run

    async def get(self, tenant: str, run_id: str) -> Run:
        """A run of a tenant. Raises NotFound, also for another tenant's."""
        live = self._of(tenant, run_id)
        return live.run if live else await self._settle(await self._store.get(tenant, run_id))

    async def newest(self, tenant: str, limit: int, *, before: str = "") -> list[Run]:
        """A tenant's runs, the newest first; `before` is the id behind which to begin."""
        found = await self._store.newest(tenant, limit, before=before)
        return [live.run if (live := self._live.get(one.id)) else await self._settle(one) for one in found]

    async def page(self, tenant: str, page_size: int, page_token: str = "") -> tuple[list[Run], str]:
        """A page of a tenant's runs, the newest first, and the token of the next page; empty on the last."""
        found = await self.newest(tenant, page_size + 1, before=page_token)
        return found[:page_size], found[page_size - 1].id if len(found) > page_size else ""

    async def watch(self, tenant: str, run_id: str, after: int = 0) -> AsyncGenerator[Event, None]:
        """The events with a greater number, then those that come until the run has ended. Raises NotFound."""
        await self.get(tenant, run_id)
        while True:
            live = self._of(tenant, run_id)
            if live is not None:
                async with live.changed:
                    await live.changed.wait_for(
                        lambda live=live, after=after: len(live.events) > after or live.run.state in ENDED  # type: ignore[misc]  # the loop's own values, on purpose
                    )
                    fresh, ended = live.events[after:], live.run.state in ENDED
            else:
                # Its state first: an event written after it is read is then seen in the next round.
                ended = (await self.get(tenant, run_id)).state in ENDED
                fresh = await self._store.events(tenant, run_id, after)
            for event in fresh:
                yield event
                after = event.number
            if ended and not fresh:
                return
            if live is None and not ended:
                await asyncio.sleep(_POLL_SECONDS)

    async def history(self, tenant: str, run_id: str) -> list[Event]:
        """The events so far. Raises NotFound."""
        live = self._of(tenant, run_id)
        if live is not None:
            return list(live.events)
        await self._store.get(tenant, run_id)
        return await self._store.events(tenant, run_id, 0)

    async def cancel(self, tenant: str, run_id: str) -> bool:
        """End a run, whichever gateway runs it; whether there was something to end. Raises NotFound, Unavailable."""
        live = self._of(tenant, run_id)
        if live is None:
            return await cancel_remotely(self._store, tenant, run_id, beat_seconds=self._limits.beat_seconds)
        return await self._end(live, "cancelled")

    async def artifact(self, tenant: str, run_id: str, name: str) -> bytes:
        """A file of a run. Raises NotFound."""
        return await self._store.read(tenant, run_id, name)

    async def delete(self, tenant: str, run_id: str) -> None:
        """End it and forget it. Raises NotFound, Unavailable."""
        await self.cancel(tenant, run_id)
        await self._kept.forget(run_id)
        await self._store.delete(tenant, run_id)

    async def close(self) -> None:
        """End what runs; it is kept as interrupted, with all its events."""
        self._closing = True
        await asyncio.gather(*(self._end(live, "interrupted") for live in list(self._live.values())))
        await self._kept.close()
        if self._beating is not None:
            self._beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._beating

    def load(self) -> dict[str, int]:
        """Runs under way and waiting, for metrics."""
        return {"running": len(self._live) - len(self._waiting), "queued": len(self._waiting)}

    def _of(self, tenant: str, run_id: str) -> Live | None:
        live = self._live.get(run_id)
        if live is not None and live.run.tenant != tenant:
            raise NotFound(f"There is no run {run_id[:64]!r}.")
        return live

    async def _settle(self, run: Run) -> Run:
        return run if run.id in self._live else await settle(self._store, run, self._limits.beat_seconds)

    def _check_queue(self, tenant: str) -> None:
        waiting = [live.run.tenant for live in self._live.values() if live.task is None]
        check_queue(len(waiting), waiting.count(tenant), self._limits)

    def _next(self) -> None:
        """Begin what may begin: tenants take turns, and one with all its places taken lets the others pass."""
        running = Counter(live.run.tenant for live in self._live.values() if live.task is not None)
        while running.total() < self._limits.running:
            live = self._waiting.pop(lambda tenant: running[tenant] < self._limits.running_per_tenant)
            if live is None:
                return
            running[live.run.tenant] += 1
            live.task = asyncio.create_task(self._run(live))

    async def _run(self, live: Live) -> None:
        end: dict[str, Any] = {"state": "failed", "error": "Internal error; the gateway's log has it."}
        earlier = None
        try:
            live.run = live.run.changed(state="running", started=iso(self.ports.clock.now()))
            await self._store.put(live.run)
            await live.event("state", {"state": "running"})
            with within(live.reach):
                earlier = await self._earlier(live) if live.request.follows else None
                answer = await run_agent(
                    live.run.id, live.request, self.ports, self._rules, live, earlier=earlier, keep=self._kept.keep
                )
            end = {"state": "finished", "error": "", "answer": answer.as_dict()}
        except asyncio.CancelledError:
            end = {"state": live.asked_to_end or "interrupted", "error": ""}
        except QueleaError as error:
            end = {"state": "failed", "error": error.message}
        except Exception as error:  # noqa: BLE001  # whatever it was, the run ends in order and the log hears of it
            self._report(live.run, error)
        finally:
            closing = asyncio.ensure_future(self._finish(live, end, earlier))
            while not closing.done():  # whoever cancels, the end is written down
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(closing)

    async def _earlier(self, live: Live) -> Earlier:
        """What the run goes on from. Raises NotFound where the run before was deleted meanwhile."""
        earlier = await self._earlier_runs.find(live.request, lambda error: self._report(live.run, error))
        if earlier.is_cut:
            await self._kept.forget(live.request.follows)
        else:
            earlier.kept = await self._kept.take(live.request.follows)  # last: nothing can fail any more
        return earlier

    async def _keep_bundle(self, live: Live) -> bool:
        """Store what the run fetched, so that it can be replayed; a run is not lost without."""
        if self.ports.door is None or not live.run.calls:
            return False
        try:
            async with asyncio.timeout(_BUNDLE_SECONDS):
                pieces = [piece async for piece in self.ports.door.bundle(live.run.id)]
                await self._store.write(live.run.tenant, live.run.id, BUNDLE, b"".join(pieces))
        except (QueleaError, TimeoutError) as error:
            self._report(live.run, error)
            return False
        return True

    async def _finish(self, live: Live, end: dict[str, Any], earlier: Earlier | None = None) -> None:
        if earlier is not None and earlier.kept is not None:  # the run did not come to go on in it
            await earlier.kept.end()
        if live.used is None and live.run.started:
            seconds = (self.ports.clock.now() - datetime.fromisoformat(live.run.started)).total_seconds()
            end["usage"] = Usage(seconds=round(seconds, 3))
        run = live.run.changed(
            **end,
            ended=iso(self.ports.clock.now()),
            artifacts=live.run.artifacts or artifacts_of(live.events),
            has_bundle=await self._keep_bundle(live),
        )
        run = run.changed(documents=tuple(sorted(documents_of(run) | (earlier.documents if earlier else set()))))
        with contextlib.suppress(QueleaError):
            if run.state == "failed":
                await live.event("error", {"message": run.error})
            await live.event("state", {"state": run.state})
        await live.become(run)
        self._forget(run.id)
        self._report(run, None)
        self._next()

    async def _end(self, live: Live, state: State) -> bool:
        """Bring a run to its end and wait until it is written down."""
        if live.run.state in ENDED or live.asked_to_end is not None:
            return False
        live.asked_to_end = state
        if live.task is None:
            self._waiting.discard(live.run.tenant, live)
            await self._finish(live, {"state": state, "error": ""})
            return True
        live.task.cancel()
        await asyncio.wait([live.task], timeout=30)
        return True

    def _forget(self, run_id: str) -> None:
        if live := self._live.pop(run_id, None):
            self._waiting.discard(live.run.tenant, live)

    async def _beat(self) -> None:
        """Say that the runs live, store what they have used, end those whose end another gateway was asked for."""
        due = 0.0
        while self._live:
            now = asyncio.get_running_loop().time()
            beat, due = (True, now + self._limits.beat_seconds) if now >= due else (False, due)
            await asyncio.gather(*(self._look(live, beat=beat) for live in list(self._live.values())))
            await asyncio.sleep(min(_LOOK_SECONDS, self._limits.beat_seconds))

    async def _look(self, live: Live, *, beat: bool) -> None:
        with contextlib.suppress(QueleaError):
            if beat:
                await self._store.beat(live.run.tenant, live.run.id)
                await live.save()
            if live.asked_to_end is None and await self._store.end_asked(live.run.tenant, live.run.id):
                ending = asyncio.create_task(self._end(live, "cancelled"))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
