"""Which tools have worked lately: a small file, written a while after it changed and when the service stops."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from quelea_kit.logging import get_logger

log = get_logger(__name__)

_ERROR_CHARS = 500
_FULL_PENALTY = 3
"""Failures in a row after which a tool counts as broken."""
_HALF_LIFE = 6 * 3600.0
"""Seconds after which half of that is forgiven: upstreams come back."""


@dataclass(frozen=True)
class Health:
    """Of one tool; times are seconds since 1970, 0 for never."""

    name: str
    last_ok: float = 0.0
    last_error: float = 0.0
    error: str = ""
    failures_in_row: int = 0
    calls: int = 0
    failures: int = 0

    def score(self, now: float) -> float:
        """1: nothing is known against it; 0: broken, just now."""
        penalty = min(1.0, self.failures_in_row / _FULL_PENALTY)
        return 1.0 - penalty * math.pow(0.5, max(0.0, now - self.last_error) / _HALF_LIFE)

    def after(self, *, ok: bool, error: str, now: float) -> Health:
        """With one more outcome."""
        if ok:
            return replace(self, last_ok=now, failures_in_row=0, calls=self.calls + 1)
        return replace(
            self,
            last_error=now,
            error=error.strip()[:_ERROR_CHARS],
            failures_in_row=self.failures_in_row + 1,
            calls=self.calls + 1,
            failures=self.failures + 1,
        )


class HealthStore:
    """Health by tool. Bounded: tools that are not in the catalogue are neither kept nor loaded.

    Args:
        path: The file; None keeps everything in memory only.
        names: The tools there are.
        every: Seconds between two writes of the file.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        path: Path | None,
        names: Iterable[str],
        *,
        every: float = 5.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._names = frozenset(names)
        self._every = every
        self._clock = clock
        self._written = clock()
        self._dirty = False
        self._found = self._load()

    def get(self, name: str) -> Health:
        """Of a tool; as new when nothing was reported."""
        return self._found.get(name, Health(name))

    def all(self) -> list[Health]:
        """Of every tool of which something was reported."""
        return list(self._found.values())

    def report(self, name: str, *, ok: bool, error: str = "") -> Health:
        """One more outcome of a tool that is in the catalogue."""
        if name not in self._names:
            raise KeyError(name)
        now = self._clock()
        self._found[name] = self.get(name).after(ok=ok, error=error, now=now)
        self._dirty = True
        if now - self._written >= self._every:
            self.flush()
        return self._found[name]

    def now(self) -> float:
        """The store's clock."""
        return self._clock()

    def flush(self) -> None:
        """Write the file if anything changed. A disk that is full costs health, not the catalogue."""
        if not self._dirty or self._path is None:
            return
        self._written = self._clock()
        text = json.dumps([dataclasses.asdict(one) for one in self._found.values()], ensure_ascii=False)
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self._path)
        except OSError as error:
            log.warning("tool_health_not_written", why=str(error))
            return
        self._dirty = False

    def _load(self) -> dict[str, Health]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            said = [Health(**one) for one in json.loads(self._path.read_text("utf-8"))]
        except (OSError, ValueError, TypeError) as error:
            log.warning("tool_health_not_read", path=str(self._path), why=str(error))
            return {}
        return {one.name: one for one in said if one.name in self._names}
