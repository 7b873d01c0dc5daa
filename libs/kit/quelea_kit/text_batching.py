"""Small pieces of text that come quickly one after another, made into larger ones: each piece costs every layer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

_AHEAD = 256
"""Events read ahead of one who takes them more slowly than they come."""


async def batch_text(
    source: AsyncIterator[T], seconds: float, text: Callable[[T], str | None], made: Callable[[str], T]
) -> AsyncGenerator[list[T], None]:
    """The events in their order, those together that came together; text within so many seconds of the last in one.

    A piece that comes after a pause, the first above all, goes on at once; so does what is no text. Closes the source,
    which runs in a task of its own.

    Args:
        source: Events.
        seconds: Shortest time between two pieces of text.
        text: Of an event; None: it is none.
        made: An event of a text.
    """
    reading = _Reading(source, text)
    loop, due = asyncio.get_running_loop(), 0.0
    try:
        while events := await reading.take(due):
            yield list(_join(events, text, made))
            due = loop.time() + seconds
    finally:
        await reading.close()


class _Reading(Generic[T]):
    """Reads events in a task of its own, and wakes who waits for them."""

    def __init__(self, source: AsyncIterator[T], text: Callable[[T], str | None]) -> None:
        self._source = source
        self._text = text
        self._waiting: list[T] = []
        self._came = asyncio.Event()
        self._urgent = asyncio.Event()
        self._room = asyncio.Event()
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for event in self._source:
                self._waiting.append(event)
                self._came.set()
                if self._text(event) is None:
                    self._urgent.set()
                if len(self._waiting) >= _AHEAD:
                    self._room.clear()
                    self._urgent.set()
                    await self._room.wait()
        finally:
            self._came.set()
            self._urgent.set()

    async def take(self, due: float) -> list[T]:
        """What has come, at least one event; empty at the end. Raises what the source raised.

        Nothing but text waits for more until `due`, by the loop's clock.
        """
        await self._came.wait()
        if not self._urgent.is_set():
            await self._until(due)
        events, self._waiting = self._waiting, []
        if not self._task.done():
            self._came.clear()
            self._urgent.clear()
            self._room.set()
        elif not events:
            self._task.result()
        return events

    async def _until(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        if due > loop.time():
            timer = loop.call_at(due, self._urgent.set)
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


def _join(events: Iterable[T], text: Callable[[T], str | None], made: Callable[[str], T]) -> Iterator[T]:
    pieces: list[str] = []
    for event in events:
        piece = text(event)
        if piece is not None:
            pieces.append(piece)
            continue
        if pieces:
            yield made("".join(pieces))
            pieces = []
        yield event
    if pieces:
        yield made("".join(pieces))
