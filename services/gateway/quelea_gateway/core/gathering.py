"""Small pieces of text that come quickly one after another, made into larger ones: each piece costs every layer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator

from quelea_gateway.core.model import Delta, Finished, Quote

Event = Delta | Quote | Finished

_AHEAD = 256
"""Events read ahead of one who takes them more slowly than they come."""


class _Reading:
    """Reads events in a task of its own, and wakes who waits for them."""

    def __init__(self, source: AsyncIterator[Event]) -> None:
        self._source = source
        self._waiting: list[Event] = []
        self._came = asyncio.Event()
        self._urgent = asyncio.Event()
        self._room = asyncio.Event()
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for event in self._source:
                self._waiting.append(event)
                self._came.set()
                if not isinstance(event, Delta):
                    self._urgent.set()
                if len(self._waiting) >= _AHEAD:
                    self._room.clear()
                    self._urgent.set()
                    await self._room.wait()
        finally:
            self._came.set()
            self._urgent.set()

    async def take(self) -> list[Event]:
        """What has come, at least one event; empty at the end. Raises what the source raised."""
        await self._came.wait()
        events, self._waiting = self._waiting, []
        if not self._task.done():
            self._came.clear()
            self._urgent.clear()
            self._room.set()
        elif not events:
            self._task.result()
        return events

    async def pause(self, seconds: float) -> None:
        """Until so long has passed, or something has come that is no text, or the end."""
        timer = asyncio.get_running_loop().call_later(seconds, self._urgent.set)
        try:
            await self._urgent.wait()
        finally:
            timer.cancel()

    async def close(self) -> None:
        """Stop reading and close the source."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        close = getattr(self._source, "aclose", None)
        if close:
            await close()


async def gathered(source: AsyncIterator[Event], seconds: float) -> AsyncGenerator[Event, None]:
    """The events in their order, text that comes within so many seconds of the last piece in one.

    A piece that comes after a pause, the first above all, goes on at once; so does what is no text. Closes the source.
    """
    reading = _Reading(source)
    try:
        while events := await reading.take():
            for event in _joined(events):
                yield event
            await reading.pause(seconds)
    finally:
        await reading.close()


def _joined(events: Iterable[Event]) -> Iterator[Event]:
    text: list[str] = []
    for event in events:
        if isinstance(event, Delta):
            text.append(event.text)
            continue
        if text:
            yield Delta("".join(text))
            text = []
        yield event
    if text:
        yield Delta("".join(text))
