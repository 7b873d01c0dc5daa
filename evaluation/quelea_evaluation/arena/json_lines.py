"""Rows of a run found by their id, without holding them in memory; the shared store writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.errors import ArenaError
from quelea_evaluation.reports.store import RunFolder

Line = dict[str, Any]


def open_run(
    folder: Path, kind: str, settings: Mapping[str, Any], data: Mapping[str, str], *, resume: bool
) -> RunFolder:
    """The folder of a run, for this process alone.

    Raises:
        ArenaError: There is a run already, and `resume` is off.
        BadRun: See the store.
        OSError: The folder cannot be written.
    """
    if not resume and (folder / "manifest.json").exists():
        raise ArenaError(f"{folder} holds a run already; --resume goes on with it, or name another folder")
    return RunFolder(folder, kind, settings, data)


class LineIndex:
    """Rows of a file by their `id`, of which the last one counts; only places are kept in memory.

    Raises:
        ArenaError: A line is no object of JSON with an id. Half a line at the end, of a program that was killed, is
            passed over.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        for place, line in self._read() if path.exists() else ():
            if not isinstance(line.get("id"), str):
                raise ArenaError(f"{path}: a line has no 'id'; the file is of another version or damaged")
            self._places[line["id"]] = place

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def lines(self) -> Iterator[Line]:
        """Those that count, in the order of the file."""
        last = set(self._places.values())
        for place, line in self._read() if last else ():
            if place in last:
                yield line

    def get(self, key: str) -> Line | None:
        """The line, read from the disk."""
        place = self._places.get(key)
        if place is None:
            return None
        with self._path.open("rb") as file:
            file.seek(place)
            return self._object(file.readline(), f"byte {place}")

    def _read(self) -> Iterator[tuple[int, Line]]:
        try:
            with self._path.open("rb") as file:
                place = 0
                for number, raw in enumerate(file, 1):
                    if not raw.endswith(b"\n"):
                        return
                    yield place, self._object(raw, f"line {number}")
                    place += len(raw)
        except OSError as error:
            raise ArenaError(f"cannot read {self._path}: {error.strerror}") from error

    def _object(self, raw: bytes, place: str) -> Line:
        try:
            value = json.loads(raw)
        except ValueError as error:
            raise ArenaError(f"{self._path}, {place} is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise ArenaError(f"{self._path}, {place} must be an object of JSON")
        return value
