"""A run of this process: its state, its events, and whoever waits for them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quelea_gateway.core.agent.model import Artifact, Event, EventName, Run, RunRequest, State
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

    async def become(self, run: Run) -> None:
        """Change the run's head, and tell whoever waits."""
        async with self.changed:
            self.run = run
            self.changed.notify_all()


def iso(moment: datetime) -> str:
    """RFC 3339."""
    return moment.isoformat(timespec="milliseconds")
