"""The containers that nobody has yet: started ahead or on demand, checked, trimmed, destroyed."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial

from quelea_kit.errors import InvalidInput, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_sandbox import metrics
from quelea_sandbox.adapters.backend import Backend, EngineError
from quelea_sandbox.core.model import Shape
from quelea_sandbox.core.policy import Backoff, Demand, Mean, PoolLimits
from quelea_sandbox.engine_watch import EngineWatch
from quelea_sandbox.keeper import Keeper

log = get_logger(__name__)

_FAILURES_UNTIL_DOWN = 3
_CLOSE_SECONDS = 15.0


class ShapeState:
    """The containers of one shape that nobody has yet."""

    def __init__(self, limits: PoolLimits, *, warm: bool) -> None:
        self.idle: deque[Keeper] = deque()
        self.starting = 0
        self.backoff = Backoff()
        self.proven = False
        """Whether a container of it has started once."""

        self.why = ""
        """Why the last start failed."""

        self.demand = Demand(
            least=limits.min_warm if warm else 0,
            most=max(limits.min_warm, limits.max_warm) if warm else 0,
            window_seconds=limits.demand_seconds,
        )


class IdleContainers:
    """Containers by shape, and whether any can be had.

    Args:
        backend: Makes them.
        warm: Shapes of which some are kept ready.
        limits: Bounds.
        changed: Called when a container got ready, failed or is gone.
        hopeless: Called with a shape that nobody keeps warm when no container of it can be made, and why.
    """

    def __init__(
        self,
        backend: Backend,
        warm: list[Shape],
        limits: PoolLimits,
        *,
        changed: Callable[[], None],
        hopeless: Callable[[Shape, QueleaError], None],
    ) -> None:
        self._backend = backend
        self._limits = limits
        self._changed = changed
        self._hopeless = hopeless
        self._known: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._engine = EngineWatch(backend)
        self._closed = False
        self._loaded_bytes = 0
        self.warm = tuple(warm)
        self.shapes = {shape: ShapeState(limits, warm=True) for shape in warm}
        self.removing = 0
        self.start_mean = Mean(2.0)
        self.down = self._engine.down
        """Why no container can be made; empty while they can."""

    @property
    def was_asked(self) -> bool:
        """Whether the engine was asked at least once."""
        return self._engine.was_asked

    @property
    def unproven(self) -> str:
        """What must still be shown before the service may call itself ready; empty when all has been.

        An engine that answers and has the image says nothing of whether a container starts: a quota, an admission
        policy, a missing RuntimeClass or mount refuse it only then.
        """
        lines = [self.shapes[shape] for shape in self.warm]
        missing = [state for state in lines if not state.proven]
        if not missing:
            return ""
        last = next((state.why for state in missing if state.why), "")
        many = f" ({len(lines) - len(missing)} of {len(lines)} kinds have)" if len(lines) > 1 else ""
        return f"no container has started yet{many}" + (f"; the last try: {last}" if last else "")

    @property
    def ready(self) -> int:
        """Containers that can be given out."""
        return sum(len(state.idle) for state in self.shapes.values())

    @property
    def starting(self) -> int:
        """Containers that are being made."""
        return sum(state.starting for state in self.shapes.values())

    def state(self, shape: Shape) -> ShapeState:
        """What there is of a shape."""
        if shape not in self.shapes:
            self.shapes[shape] = ShapeState(self._limits, warm=False)
        return self.shapes[shape]

    def may_start(self, state: ShapeState, now: float) -> bool:
        """Whether one more start may begin; after a failure one at a time."""
        most = 1 if state.backoff.failures else self._limits.starts_at_once
        return self.starting < most and not self._engine.down and state.backoff.open(now)

    def target(self, state: ShapeState, now: float) -> int:
        """How many should be ready."""
        return state.demand.target(now, self.start_mean.value)

    def begin(self, shape: Shape) -> None:
        """Start one, in the background."""
        state = self.state(shape)
        state.starting += 1
        self._spawn(self._start_one(shape, state))

    def destroy(self, keeper: Keeper) -> None:
        """Remove one, in the background."""
        keeper.on_broken = None
        self.removing += 1
        self._spawn(self._remove(keeper))

    async def check(self) -> None:
        """Ask the engine; what was made from another image than there is now goes."""
        if await self._engine.check(self._known):
            self._destroy_idle()
        self._judge()

    def trim(self, now: float, is_wanted: Callable[[Shape], bool]) -> None:
        """Remove ready containers that are old, or more than the demand asks for."""
        for shape, state in list(self.shapes.items()):
            while state.idle and (
                len(state.idle) > self.target(state, now) or state.idle[0].since < now - self._limits.warm_age_seconds
            ):
                self.destroy(state.idle.popleft())
            used = state.idle or state.starting or state.backoff.failures
            if not used and shape not in self.warm and not is_wanted(shape):
                del self.shapes[shape]

    async def close(self) -> None:
        """Remove all, whatever they do; those that were given out must have been destroyed by now."""
        self._closed = True
        self._destroy_idle()
        until = time.monotonic() + _CLOSE_SECONDS
        while self._tasks and time.monotonic() < until:  # a start that ends now is followed by its removal
            await asyncio.wait(self._tasks, timeout=until - time.monotonic())
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._backend.sweep(frozenset())
        except (EngineError, TimeoutError) as error:
            log.warning("containers_may_be_left", why=str(error))
        await self._backend.close()

    def _destroy_idle(self) -> None:
        for state in self.shapes.values():
            while state.idle:
                self.destroy(state.idle.popleft())

    async def _start_one(self, shape: Shape, state: ShapeState) -> None:
        began = time.monotonic()
        name = f"quelea-sandbox-{secrets.token_hex(8)}"
        self._known.add(name)
        keeper: Keeper | None = None
        try:
            container = await self._backend.create(shape, name)
            keeper = Keeper(container, shape, max_files=self._limits.max_files)
            await keeper.ready(self._limits.start_seconds)
            await keeper.measure()
            if not keeper.usable:
                raise EngineError("the guest exited as soon as it was ready")
        except Exception as error:  # whatever it was: no container, and the next try only after a pause
            if not isinstance(error, EngineError):
                log.exception("start_failed")
            small = keeper is not None and await keeper.ran_out_of_memory()
            self._note_failure(state, shape, str(error) or type(error).__name__, small=small)
            if keeper is None:
                self._known.discard(name)
                self._engine.sweep_soon()  # it may be there in spite of the error
            else:
                self.destroy(keeper)
        else:
            seconds = time.monotonic() - began
            self.start_mean.add(seconds)
            metrics.START_SECONDS.observe(seconds)
            self._loaded_bytes = max(self._loaded_bytes, keeper.loaded_bytes)
            state.backoff.worked()
            state.proven, state.why = True, ""
            if self._closed:
                self.destroy(keeper)
            else:
                keeper.on_broken = partial(self._discard_broken, keeper)
                state.idle.append(keeper)
        finally:
            state.starting -= 1
            self._judge()
            self._changed()

    def _note_failure(self, state: ShapeState, shape: Shape, why: str, *, small: bool) -> None:
        metrics.START_FAILURES.inc()
        state.backoff.failed(time.monotonic())
        state.why = f"{shape.memory_bytes >> 20} MiB are too little for what is loaded at the start" if small else why
        log.warning("no_container", why=state.why, failures=state.backoff.failures)
        if shape in self.warm or not (small or state.backoff.failures >= _FAILURES_UNTIL_DOWN):
            return
        # Nobody else wants this shape: its callers hear of it, the service goes on.
        error: QueleaError = Unavailable(f"No such container can be made: {why}", retry_after=5.0)
        if small:
            enough = f" It takes about {self._loaded_bytes >> 20} MiB." if self._loaded_bytes else ""
            error = InvalidInput(
                f"limits.memory_bytes is {shape.memory_bytes}: too little for the libraries that are loaded before "
                f"code runs.{enough} Ask for more, or for 0, the server's default."
            )
        self._hopeless(shape, error)
        state.backoff.worked()

    def _discard_broken(self, keeper: Keeper) -> None:
        """A ready container ended, or spoke out of turn."""
        state = self.shapes.get(keeper.shape)
        if state and keeper in state.idle:
            state.idle.remove(keeper)
            self.destroy(keeper)
            self._changed()

    async def _remove(self, keeper: Keeper) -> None:
        try:
            await keeper.close()
        except EngineError as error:
            log.warning("container_not_removed", name=keeper.container.name, why=str(error))
            self._engine.sweep_soon()
        finally:
            self._known.discard(keeper.container.name)
            self.removing -= 1
            self._changed()

    def _judge(self) -> None:
        """Usable or not, in one sentence."""
        lines = [self.shapes[shape] for shape in self.warm]
        failing = (state.why for state in lines if state.backoff.failures >= _FAILURES_UNTIL_DOWN)
        why = self._engine.down or next(failing, "")
        if bool(why) != bool(self.down):
            log.warning("engine_unusable", why=why) if why else log.info("engine_usable")
        self.down = why
        metrics.ENGINE_UP.set(0 if why else 1)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
