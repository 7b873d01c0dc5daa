"""Several replicas of the engine as one ChatModel: a bounded, fair queue in front, routing, failover, readiness."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Sequence

from quelea_fintext.text import estimate_tokens
from quelea_kit.errors import Overloaded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_generator.adapters import pool_metrics as metrics
from quelea_generator.adapters.engine import Endpoint, Engine
from quelea_generator.adapters.engine_slots import EngineSlots, PoolLimits, Ticket
from quelea_generator.core.chat.chat_model import ChatPiece, ChatRequest, TokenCount
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.routing import ByAffinity, Policy, prompt_key

log = get_logger(__name__)

_READY_SECONDS = 1.0
"""How long a readiness check waits for a completion of one token; it goes on being awaited behind it."""
_FIRST_PROBE_SECONDS = 0.2


class EnginePool:
    """ChatModel over replicas.

    An answer of which no text has come is begun again elsewhere when its engine fails, or at the same engine when it
    comes back; one that has text ends with the error. A failed engine is left alone until a completion of one token
    has come back from it.

    Args:
        endpoints: The replicas; all serve the same model.
        limits: Bounds.
        policy: Which replica is taken.
    """

    def __init__(self, endpoints: Sequence[Endpoint], limits: PoolLimits, policy: Policy | None = None) -> None:
        self.model = endpoints[0].model
        self._limits = limits
        self._engines = {one.name: Engine(one, limits.slots, limits.stall_seconds) for one in endpoints}
        self._policy = policy or ByAffinity()
        self._slots = EngineSlots(list(self._engines.values()), limits, self._policy)
        self._reviving: dict[str, asyncio.Task[None]] = {}

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Pieces of one replica's answer. Overloaded when the queue is full or the wait in it too long."""
        self._refuse_when_gone()
        tokens = request.prompt_tokens or sum(estimate_tokens(message.content) for message in request.messages)
        prompt = prompt_key(request.model, request.messages, tokens)
        failed: set[str] = set()
        for attempt in range(1, self._limits.attempts + 1):
            ticket = Ticket(request.tenant, tokens + request.max_tokens, prompt, request.max_tokens, failed)
            has_text = False
            async with self._slots.take(ticket, again=attempt > 1) as engine:
                try:
                    pieces = engine.endpoint.stream(request)
                    async with contextlib.aclosing(pieces):
                        async for piece in pieces:
                            if piece.text:
                                engine.last_text = time.monotonic()
                                if not has_text:
                                    has_text = True
                                    self._slots.owe(engine, ticket, ticket.answer_tokens)
                            yield piece
                    engine.strikes = 0
                    return
                except QueleaError as error:
                    again = self._blame(engine, error)
                    if has_text or not again or attempt == self._limits.attempts:
                        raise
                    failed.add(engine.name)
                    metrics.RETRIED.labels(engine.name).inc()
                    log.info("answer_begun_again", engine=engine.name, why=str(error))

    def context(self, model: str) -> int:
        """The smallest of the replicas, as any of them may answer; 0 while none is known."""
        known = [engine.endpoint.context(model) for engine in self._engines.values()]
        return min((size for size in known if size), default=0)

    @property
    def adapters(self) -> tuple[str, ...]:
        """Those that any replica has."""
        return tuple(sorted({name for engine in self._engines.values() for name in engine.endpoint.adapters}))

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        """By the replica that works and has least to do."""
        engines = [engine for engine in self._engines.values() if engine.up]
        if not engines:
            return None
        counted = await min(engines, key=lambda one: one.outstanding).endpoint.count(messages, model=model)
        if counted is None:
            return None
        sizes = [size for size in (counted.context, self.context(model)) if size]
        return TokenCount(counted.tokens, min(sizes, default=0))

    async def refuse_when_full(self, tenant: str) -> None:
        """Overloaded when the tenant's next request would be refused; Unavailable when no replica works for long."""
        self._refuse_when_gone()
        self._slots.refuse_when_full(tenant)

    async def check(self) -> None:
        """One replica at least has completed one token and still answers. Full replicas are ready replicas."""
        await asyncio.gather(*(self._recheck(engine) for engine in self._engines.values() if engine.up))
        tasks = [self._revive(engine) for engine in self._engines.values() if not engine.up]
        if len(tasks) < len(self._engines):
            return
        await asyncio.wait(tasks, timeout=_READY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not self._slots.some_up():
            raise next(iter(self._engines.values())).trouble

    async def wait_until_all_up(self, seconds: float) -> None:
        """Until every replica has completed one token; Unavailable, with its trouble, when one takes longer."""
        tasks = [self._revive(engine) for engine in self._engines.values() if not engine.up]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for engine in self._engines.values():
            if not engine.up:
                raise engine.trouble

    async def close(self) -> None:
        """Stop asking failed replicas, and give back connections."""
        for task in self._reviving.values():
            task.cancel()
        await asyncio.gather(*self._reviving.values(), return_exceptions=True)
        for engine in self._engines.values():
            await engine.endpoint.close()

    # Failures

    def _blame(self, engine: Engine, error: QueleaError) -> bool:
        """What an answer's error says about its engine. Returns whether the answer may be begun again."""
        if isinstance(error, Overloaded):
            asyncio.get_running_loop().call_later(engine.refuse(error) + 0.01, self._slots.dispatch)
            return self._slots.some_take()
        if engine.is_failure(error):
            self._fail(engine, error)
        return isinstance(error, Unavailable) or error.details.get("endpoint_status") == "504"

    def _fail(self, engine: Engine, error: QueleaError) -> None:
        if engine.fail(error):  # once, not for every answer that it takes down with it
            metrics.ENGINE_FAILURES.labels(engine.name).inc()
            metrics.ENGINE_UP.labels(engine.name).set(0)
            self._policy.forget(engine.name)
            log.warning("engine_failed", engine=engine.name, why=str(error))
        self._revive(engine)

    async def _recheck(self, engine: Engine) -> None:
        error = await engine.trouble_now()
        if error is not None:
            self._fail(engine, error)

    def _revive(self, engine: Engine) -> asyncio.Task[None]:
        """The task that asks a failed engine for one token, again and again, until one comes."""
        task = self._reviving.get(engine.name)
        if task is None or task.done():
            task = asyncio.create_task(self._ask_until_up(engine))
            self._reviving[engine.name] = task
        return task

    async def _ask_until_up(self, engine: Engine) -> None:
        # At once the first time, later when it fails again and again although single tokens come.
        pause = 0.0
        if engine.strikes > 1:
            pause = min(self._limits.circuit_seconds, _FIRST_PROBE_SECONDS * 2.0 ** min(engine.strikes, 16))
        while not engine.up:
            await asyncio.sleep(pause)
            pause = min(self._limits.circuit_seconds, max(_FIRST_PROBE_SECONDS, 2 * pause))
            try:
                await engine.endpoint.probe()
            except Overloaded as error:
                engine.up = True  # a full engine works
                asyncio.get_running_loop().call_later(engine.refuse(error) + 0.01, self._slots.dispatch)
            except QueleaError as error:
                engine.trouble = error
            else:
                engine.up = True
        metrics.ENGINE_UP.labels(engine.name).set(1)
        log.info("engine_up", engine=engine.name)
        self._slots.dispatch()

    def _refuse_when_gone(self) -> None:
        now, limit = time.monotonic(), self._limits.comeback_seconds
        for engine in self._engines.values():
            if not engine.up:
                self._revive(engine)
        if all(not engine.up and now - engine.down_since > limit for engine in self._engines.values()):
            raise self._slots.gone()
