"""Runs as they are stored: what became of those whose gateway is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quelea_gateway.core.agent.model import ENDED, Artifact, Event, Run
from quelea_gateway.core.agent.ports import RunStore

_BEATS = 4


async def settle(store: RunStore, run: Run, beat_seconds: float) -> Run:
    """A stored run of another process; interrupted, and stored so, when that process has been silent for too long."""
    if run.state in ENDED or await store.silent_seconds(run.tenant, run.id) <= _BEATS * beat_seconds:
        return run
    events = await store.events(run.tenant, run.id, 0)
    run = run.changed(
        state="interrupted",
        error="Its gateway was stopped.",
        artifacts=artifacts_of(events),
        usage=replace(run.usage, steps=sum(event.name == "step" for event in events)),  # the rest: as last stored
        ended=events[-1].at if events else run.created,
    )
    await store.put(run)
    return run


def artifacts_of(events: Sequence[Event]) -> tuple[Artifact, ...]:
    """The files that a run's events tell of."""
    return tuple(Artifact(**one) for event in events if event.name == "output" for one in event.data.get("files", []))
