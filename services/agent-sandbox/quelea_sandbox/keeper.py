"""The keeper of one container: waits until its guest is ready, gives it code, decides about time and the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from quelea_kit.logging import get_logger

from quelea_sandbox.adapters.backend import Container, EngineError, Stats
from quelea_sandbox.core.conversation import Conversation, State
from quelea_sandbox.core.frames import ProtocolError
from quelea_sandbox.core.model import Ended, Limits, Outcome, Reason, Shape, Task, Usage
from quelea_sandbox.event_buffer import EventBuffer

log = get_logger(__name__)

_STATS_SECONDS = 2.0
_END_SECONDS = 1.5
_KILLED = 128 + 9
_FREE_COST = 64 << 20
_COST_PER_SECOND = 64 << 20
_FRAME_COST = 1 << 10


class Keeper:
    """Owns a container from its start to its removal.

    Args:
        container: Attached; its guest may not be ready yet.
        shape: What it was made with.
        max_files: Files that a run may give back.
    """

    def __init__(self, container: Container, shape: Shape, *, max_files: int = 64) -> None:
        self.container = container
        self.shape = shape
        self.since = time.monotonic()
        self.on_broken: Callable[[], None] | None = None
        """Called once when the guest ends or speaks while nothing runs in it."""

        self._talk = Conversation(max_files=max_files)
        self._buffer: EventBuffer | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._end: asyncio.Future[Ended | ProtocolError | None] | None = None
        self._base = Stats(0.0, 0)
        self._gone = False
        self._closed = False
        self._reader = asyncio.create_task(self._read())

    @property
    def usable(self) -> bool:
        """Whether a run can be given to it."""
        return not self._gone and self._talk.state is State.IDLE

    @property
    def python(self) -> str:
        """The version that the guest reported."""
        return self._talk.python

    async def ready(self, seconds: float) -> None:
        """Wait until the guest has loaded everything.

        Raises:
            EngineError: It did not get there in time, or ended.
        """
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise EngineError(f"the guest was not ready within {seconds:g} s; {self.container.said()}") from None

    async def measure(self) -> None:
        """Remember what the start has used, so that it is not counted to the run."""
        self._base = await self._stats() or Stats(0.0, 0)

    @property
    def loaded_bytes(self) -> int:
        """The most memory that its start took; 0 where the engine cannot say."""
        return self._base.memory_peak_bytes

    async def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended the guest because its memory was not enough."""
        return self._gone and (await self._autopsy())[0] is Reason.MEMORY

    async def run(self, task: Task, limits: Limits, buffer: EventBuffer, cancelled: asyncio.Event) -> Outcome:
        """Run code to its end, whatever that is. Events go to the buffer; after any end but OK and ERROR the
        container is good for nothing and must be removed.

        Args:
            task: The code.
            limits: Wall clock, in seconds from now.
            buffer: Gets output and files.
            cancelled: Set from outside to end the run.
        """
        if self._gone:
            # Of a session it may have been its own code, between two steps; of a fresh container it was not.
            lost = Reason.ENGINE, "The container was lost; try again."
            return Outcome(*(await self._autopsy() if task.keep else lost))
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        self._end, self._buffer = loop.create_future(), buffer
        try:
            frames = self._talk.begin(task)
        except ProtocolError as fault:
            return Outcome(Reason.PROTOCOL, f"The container was not idle: {fault}.")
        sending = asyncio.create_task(self._send(list(frames)))
        stop = asyncio.create_task(cancelled.wait())
        try:
            ends: set[asyncio.Future[Any]] = {self._end, stop}
            await asyncio.wait(ends, timeout=limits.wall_seconds, return_when=asyncio.FIRST_COMPLETED)
            wall = time.monotonic() - began
            reason, error = await self._verdict(self._end, stop, limits)
            used = await self._stats()
        finally:
            self._buffer = None
            for helper in (sending, stop):
                helper.cancel()
        return Outcome(
            reason,
            error,
            self._usage(wall, used, reason, limits),
            self._talk.dropped,
            self._talk.refused,
        )

    async def _verdict(
        self, end: asyncio.Future[Ended | ProtocolError | None], stop: asyncio.Task[bool], limits: Limits
    ) -> tuple[Reason, str]:
        if end.done():
            result = end.result()
            if isinstance(result, Ended):
                return (Reason.OK, "") if result.ok else (Reason.ERROR, result.error)
            if isinstance(result, ProtocolError):
                return Reason.PROTOCOL, f"What came out of the container broke the protocol: {result}."
            if self._closed:
                return Reason.CANCELLED, "Its session was closed, or the sandbox shut down."
            return await self._autopsy()
        if stop.done():
            return Reason.CANCELLED, "Cancelled by its caller."
        return Reason.TIMEOUT, f"Stopped after {limits.wall_seconds:g} s."

    async def _autopsy(self) -> tuple[Reason, str]:
        """The streams have ended: was it the code, the kernel or the engine?"""
        until = time.monotonic() + _END_SECONDS
        while True:
            try:
                state = await self.container.inspect()
            except EngineError as error:
                return Reason.ENGINE, f"The engine failed; try again. ({error})"
            if state.out_of_memory:
                return Reason.MEMORY, f"It needed more than {self.shape.memory_bytes >> 20} MiB of memory."
            # The kernel's word on memory reaches the engine a moment after the exit.
            if not state.running and (state.exit_code != _KILLED or time.monotonic() > until):
                break
            if time.monotonic() > until:
                return Reason.ENGINE, "The engine let go of a container that still runs; try again."
            await asyncio.sleep(0.05)
        if state.exit_code == _KILLED:
            # No process in it can kill its first one: that came from outside, as when the engine stops.
            return Reason.ENGINE, "It was killed from outside; try again."
        return Reason.DIED, f"The process ended by itself with exit code {state.exit_code}."

    async def close(self) -> None:
        """Remove the container.

        Raises:
            EngineError: It may still be there.
        """
        self._gone = self._closed = True
        self._reader.cancel()
        try:
            await self.container.remove()
        finally:
            self._settle(None)
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _send(self, frames: list[bytes]) -> None:
        # When the guest is gone the reader sees it, and says so better.
        with contextlib.suppress(EngineError):
            for frame in frames:
                await self.container.write(frame)

    async def _read(self) -> None:
        began, cost = time.monotonic(), 0
        while data := await self.container.read():
            try:
                events = self._talk.feed(data)
            except ProtocolError as error:
                self._settle(error)
                return
            if self._talk.state is State.IDLE and not self._ready.done():
                self._ready.set_result(None)
            for event in events:
                if isinstance(event, Ended):
                    self._settle(event)
                elif self._buffer is not None:
                    self._buffer.put(event)
            # A flood, of bytes or of tiny frames, is read no faster than this: it costs its own container time, and
            # not everybody else's.
            cost += len(data) + _FRAME_COST * self._talk.take_count()
            ahead = (cost - _FREE_COST) / _COST_PER_SECOND - (time.monotonic() - began)
            if ahead > 0:
                await asyncio.sleep(min(ahead, 0.1))
        self._settle(None)

    def _settle(self, result: Ended | ProtocolError | None) -> None:
        """Something ended: the run, or (without a result) the guest itself."""
        if not isinstance(result, Ended):
            self._gone = True
        if not self._ready.done():
            self._ready.set_exception(EngineError(f"the guest ended before it was ready; {self.container.said()}"))
            self._ready.exception()  # seen, should nobody wait for it
        if self._end is not None and not self._end.done():
            self._end.set_result(result)
        elif self._gone and self.on_broken is not None:
            tell, self.on_broken = self.on_broken, None
            tell()

    async def _stats(self) -> Stats | None:
        try:
            async with asyncio.timeout(_STATS_SECONDS):
                return await self.container.stats()
        except (TimeoutError, EngineError):
            return None

    def _usage(self, wall: float, used: Stats | None, reason: Reason, limits: Limits) -> Usage:
        cpu = max(0.0, used.cpu_seconds - self._base.cpu_seconds) if used else 0.0
        peak = used.memory_peak_bytes if used else 0
        if used:
            self._base = used  # the next step of a session counts from here
        if reason is Reason.MEMORY:
            peak = max(peak, limits.memory_bytes)
        return Usage(wall, cpu, peak)
