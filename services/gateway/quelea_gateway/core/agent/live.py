"""A run of this process: its state, its events, and whoever waits for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quelea_kit.errors import QueleaError
from quelea_kit.reach import Reach, current

from quelea_gateway.core.agent.model import ENDED, Artifact, Event, EventName, Run, RunRequest, State, Usage
from quelea_gateway.core.agent.ports import Clock, RunStore


@dataclass
class Live:
    """A run under way, and its journal: an event is stored before anybody hears of it."""

    run: Run
    request: RunRequest
    store: RunStore
    clock: Clock
    events: list[Event] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None
    asked_to_end: State | None = None
    used: Usage | None = None
    """What it has used so far; None before it ran."""
    reach: Reach = field(default_factory=current)
    """Of the call that asked for it: whoever's end gives it its turn, it sees what its own caller may."""
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def event(self, name: EventName, data: dict[str, Any]) -> None:
        """One event, under the next number."""
        async with self._writing:
            event = Event(len(self.events) + 1, name, iso(self.clock.now()), data)
            await self.store.append(self.run.tenant, self.run.id, event)
            async with self.changed:
                self.events.append(event)
                self.changed.notify_all()

    async def artifact(self, artifact: Artifact, data: bytes) -> None:
        """One file."""
        await self.store.write(self.run.tenant, self.run.id, artifact.name, data)
        self.run = self.run.changed(artifacts=(*self.run.artifacts, artifact))

    def progress(self, usage: Usage, calls: Sequence[dict[str, Any]], model: str) -> None:
        """What it has used and called so far; stored with its next beat, and with its end."""
        self.used = usage
        self.run = self.run.changed(usage=usage, calls=tuple(calls), model=model or self.run.model)

    async def save(self) -> None:
        """Store the head of a run under way; never over the one that says that it has ended."""
        async with self._writing:
            if self.run.state not in ENDED:
                await self.store.put(self.run)

    async def become(self, run: Run) -> None:
        """Change the run's head, store it, and tell whoever waits, also when it cannot be stored."""
        async with self._writing:
            with contextlib.suppress(QueleaError):
                await self.store.put(run)
            self.run = run
        async with self.changed:
            self.changed.notify_all()


def iso(moment: datetime) -> str:
    """RFC 3339."""
    return moment.isoformat(timespec="milliseconds")
