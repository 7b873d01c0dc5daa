"""Events of one run on their way to its caller: never blocks who puts, bounded by what a run may give back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from quelea_sandbox.core.model import Output, ReturnedFile

_MERGE_BYTES = 4096
_MOST_EVENTS = 4096

Delivery = Output | ReturnedFile


class EventBuffer:
    """Holds what the caller has not taken yet. The run's limits bound its bytes; small outputs are merged.

    A slow caller must not stop the keeper's clock, so putting never waits.
    """

    def __init__(self) -> None:
        self._events: deque[Delivery] = deque()
        self._arrived = asyncio.Event()
        self._closed = False
        self.dropped = 0
        """Bytes of output that came in too many small pieces to be kept."""

    def put(self, event: Delivery) -> None:
        """Add an event."""
        if isinstance(event, Output):
            last = self._events[-1] if self._events else None
            if isinstance(last, Output) and last.stderr == event.stderr and len(last.data) < _MERGE_BYTES:
                event = Output(event.stderr, last.data + event.data)
                self._events.pop()
            elif len(self._events) >= _MOST_EVENTS:
                self.dropped += len(event.data)
                return
        self._events.append(event)
        self._arrived.set()

    def close(self) -> None:
        """Nothing comes any more."""
        self._closed = True
        self._arrived.set()

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._closed:
                return
            self._arrived.clear()
            await self._arrived.wait()
