"""The time of an answer by stage."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Milliseconds since the start, those spent waiting for other services, and parts of the gateway's own."""

    started: float = field(default_factory=time.perf_counter)
    waits: dict[str, float] = field(default_factory=lambda: {"retrieve": 0.0, "generate": 0.0})
    parts: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def waiting(self, stage: str) -> Iterator[None]:
        """Another service's time."""
        since = time.perf_counter()
        try:
            yield
        finally:
            self.waits[stage] = self.waits.get(stage, 0.0) + (time.perf_counter() - since) * 1000

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A part of the gateway's own time, told beside it."""
        since = time.perf_counter()
        yield
        self.parts[name] = (time.perf_counter() - since) * 1000

    def timings(self, stages: dict[str, float]) -> dict[str, float]:
        """By stage; what no service was waited for is the gateway's."""
        total = (time.perf_counter() - self.started) * 1000
        found = {**self.waits, "gateway": total - sum(self.waits.values()), "total": total, **self.parts, **stages}
        return {name: round(value, 2) for name, value in found.items()}
