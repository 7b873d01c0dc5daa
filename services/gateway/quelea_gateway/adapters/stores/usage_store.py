"""Usage in a folder or an object store (quelea_kit.files.storage), beside the agent's runs.

    DAY/PART.json     what one process has counted on a day, since it began
    DAY/total.json    a day that is over: its parts together, and their names

A process writes its own part alone, so several gateways on one store add up without a lock. Parts of a day that is over
are put together by whoever reads it first; a part that the total names is not counted again, so it does not matter how
many do so at once, or where one of them stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from quelea_kit.errors import QueleaError, Unavailable
from quelea_kit.files.disk import Disk
from quelea_kit.logging import get_logger

from quelea_gateway.adapters.stores.file_store import FileStore, to_json
from quelea_gateway.core.callers.usage import FIELDS, Usage

FLUSH_SECONDS = 5.0
"""What a process that is killed has counted and not yet written, at most."""
MOST_OWNERS = 10_000
"""Keys that are told apart on a day by one process; what further ones use is counted under OTHERS."""
OTHERS = "(others)"
_TOTAL = "total.json"
_PART = re.compile(r"[0-9a-f]{16}\.json")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OVER_DAYS = 2
"""A day is over for every clock, and every process has written its part."""
_THREADS = 2
_TRIES = 5

log = get_logger(__name__)


class UsageStore(FileStore):
    """What is used, counted here and read from all.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        keep_days: Older days are forgotten.
        disk: The volume of a folder; None for an object store.
        today: The day in UTC.
    """

    def __init__(
        self,
        url: str,
        *,
        keep_days: int,
        disk: Disk | None = None,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        super().__init__(url, "usage", threads=_THREADS, disk=disk)
        self._keep_days = keep_days
        self._today = today
        self._part = f"{secrets.token_hex(8)}.json"
        self._counted: dict[str, dict[str, Usage]] = {}
        self._dirty: set[str] = set()
        self._totals: dict[str, dict[str, Usage]] = {}
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def count(self, owner: str, **more: int) -> None:
        """Add to what an owner has used today; nothing waits for it. Names and meaning of the fields: Usage."""
        if not owner or not any(more.values()):
            return
        day = self._today().isoformat()
        owners = self._counted.setdefault(day, {})
        if owner not in owners and len(owners) >= MOST_OWNERS:
            owner = OTHERS
        owners[owner] = owners.get(owner, Usage()) + Usage(**more)
        self._dirty.add(day)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._flush_later())

    async def read(self, first: date, last: date) -> dict[tuple[str, str], Usage]:
        """What was used from one day to another, both included, by day and owner, by all gateways on this store."""
        await self._flush()
        return await self._do(self._read, first, last)

    async def close(self) -> None:
        """Write what was counted, and end the threads."""
        if self._task:
            self._task.cancel()
        await self._flush()
        await super().close()

    async def _flush_later(self) -> None:
        while self._dirty:
            await asyncio.sleep(FLUSH_SECONDS)
            await self._flush()

    async def _flush(self) -> None:
        """Write the days that have changed; what cannot be written stays counted, and is tried again."""
        async with self._writing:
            for day in sorted(self._dirty):
                self._dirty.discard(day)
                counted = dict(self._counted[day])
                try:
                    await self._do(self._write, day, self._part, counted)
                except QueleaError as error:
                    self._dirty.add(day)
                    log.warning("usage_not_written", day=day, why=error.message)
                    return
            today = self._today().isoformat()
            if past := [day for day in self._counted if day < today and day not in self._dirty]:
                for day in past:  # written, and nothing is added to a day that is over
                    del self._counted[day]
                await self._do(self._forget_old)

    def _write(self, day: str, name: str, counted: dict[str, Usage], **more: Any) -> None:
        self._check_disk()
        rows = {owner: [getattr(usage, field) for field in FIELDS] for owner, usage in counted.items()}
        data = to_json({"fields": FIELDS, "owners": rows, **more})
        self._storage.write(f"{day}/{name}", data, durable=False)

    def _forget_old(self) -> None:
        oldest = (self._today() - timedelta(days=self._keep_days)).isoformat()
        for day in self._storage.names():
            if _DAY.fullmatch(day) and day < oldest:
                self._storage.delete_folder(day)

    def _read(self, first: date, last: date) -> dict[tuple[str, str], Usage]:
        found: dict[tuple[str, str], Usage] = {}
        for day in self._storage.names():
            if _DAY.fullmatch(day) and first.isoformat() <= day <= last.isoformat():
                for owner, usage in self._day(day).items():
                    found[day, owner] = usage
        return found

    def _day(self, day: str) -> dict[str, Usage]:
        if day in self._totals:
            return self._totals[day]
        for _ in range(_TRIES):
            try:
                return self._add_up(day)
            except FileNotFoundError:  # another process has just put a part into the total
                continue
        raise Unavailable(f"The usage of {day} is being put together; try again.", retry_after=1.0)

    def _add_up(self, day: str) -> dict[str, Usage]:
        names = self._storage.names(day)
        total, known = (self._load(day, _TOTAL) or ({}, [])) if _TOTAL in names else ({}, [])
        parts = []
        for name in filter(_PART.fullmatch, names):
            loaded = self._load(day, name)
            if loaded is None:
                continue
            parts.append(name)
            if name not in known:
                for owner, usage in loaded[0].items():
                    total[owner] = total.get(owner, Usage()) + usage
        if day <= (self._today() - timedelta(days=_OVER_DAYS)).isoformat():
            if parts:
                self._put_together(day, total, sorted({*known, *parts}), parts)
            self._totals[day] = total
            while len(self._totals) > self._keep_days:
                self._totals.pop(next(iter(self._totals)))
        return total

    def _put_together(self, day: str, total: dict[str, Usage], known: list[str], parts: list[str]) -> None:
        with contextlib.suppress(QueleaError):  # a full disk: the parts stay
            self._write(day, _TOTAL, total, parts=known)
            for name in parts:
                self._storage.delete(f"{day}/{name}")

    def _load(self, day: str, name: str) -> tuple[dict[str, Usage], list[str]] | None:
        """What a file has, and the parts that are in it; None where it cannot be read. Raises FileNotFoundError."""
        try:
            stored = json.loads(self._storage.read(f"{day}/{name}"))
            places = {field: place for place, field in enumerate(stored["fields"]) if field in FIELDS}
            return {
                owner: Usage(**{field: int(row[place]) for field, place in places.items()})
                for owner, row in stored["owners"].items()
            }, list(stored.get("parts", ()))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            log.warning("usage_not_read", day=day, file=name, why=f"{type(error).__name__}: {error}")
            return None
