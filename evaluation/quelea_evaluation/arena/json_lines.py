"""A folder that a run writes into: a manifest, and lines of JSON, each on the disk before the next is begun.

A program that is killed leaves at most one half line, at the end, which the next one cuts off. Two programs cannot
write into one folder: the second is refused.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from quelea_evaluation.arena.errors import ArenaError

FORMAT = 1
MANIFEST = "manifest.json"

Line = dict[str, Any]


class RunFolder:
    """The folder of a run, open for writing.

    Args:
        folder: Made when it is not there.
        lines: Name of the file of lines in it.
        settings: What the results depend on; a run is taken up again with the same settings only.
        about: What else stands in the manifest: versions, the time.
        resume: Go on with what is there.

    Raises:
        ArenaError: Another program writes there; a run is there and `resume` is off; its settings or format are others.
    """

    def __init__(
        self, folder: Path, lines: str, settings: Mapping[str, Any], about: Mapping[str, Any], *, resume: bool
    ) -> None:
        self.path = folder / lines
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("ab")
        except OSError as error:
            raise ArenaError(f"cannot write into {folder}: {error.strerror}") from error
        try:
            self._take(folder)
            self._start(folder, settings, about, resume=resume)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def append(self, line: Line) -> None:
        """Write one line; it is on the disk when this returns."""
        self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _take(self, folder: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArenaError(f"another run writes into {folder}; wait for it, or name another folder") from error

    def _start(self, folder: Path, settings: Mapping[str, Any], about: Mapping[str, Any], *, resume: bool) -> None:
        manifest = folder / MANIFEST
        if not manifest.exists():
            if self.path.stat().st_size:
                raise ArenaError(f"{self.path} has lines, but no {MANIFEST} says of what; name another folder")
            write_whole(manifest, {"format": FORMAT, "settings": dict(settings), **about})
            return
        if not resume:
            raise ArenaError(f"{folder} holds a run already; --resume goes on with it, or name another folder")
        earlier = read_manifest(folder).get("settings", {})
        for name in sorted({*earlier, *settings}):
            if earlier.get(name) != settings.get(name):
                raise ArenaError(
                    f"{folder} was begun with {name} {earlier.get(name)!r}, not {settings.get(name)!r}; "
                    "go on with the same settings, or name another folder"
                )
        self._cut_half_line()

    def _cut_half_line(self) -> None:
        with self.path.open("rb+") as file:
            end = file.seek(0, os.SEEK_END)
            while end:
                start = max(0, end - 65_536)
                file.seek(start)
                found = file.read(end - start).rfind(b"\n")
                end = start + found + 1 if found >= 0 else start
                if found >= 0:
                    break
            file.truncate(end)


def read_lines(path: Path) -> Iterator[tuple[int, Line]]:
    """Every whole line with the place where it begins; a half line at the end is passed over.

    Raises:
        ArenaError: A line is not an object of JSON, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            place = 0
            for number, raw in enumerate(file, 1):
                if not raw.endswith(b"\n"):
                    return
                yield place, _object(raw, f"{path}, line {number}")
                place += len(raw)
    except OSError as error:
        raise ArenaError(f"cannot read {path}: {error.strerror}") from error


class LineIndex:
    """Lines of a file found by a key, of which the last one counts; only places are kept in memory."""

    def __init__(self, path: Path, *key: str) -> None:
        self._path = path
        self._key = key
        self._places: dict[tuple[Any, ...], int] = {}
        for place, line in read_lines(path) if path.exists() else ():
            missing = [name for name in key if name not in line]
            if missing:
                raise ArenaError(f"{path}: a line has no {missing[0]!r}; the file is of another version or damaged")
            self._places[self.key(line)] = place

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def key(self, line: Line) -> tuple[Any, ...]:
        """By which a line is found."""
        return tuple(line[name] for name in self._key)

    def lines(self) -> Iterator[Line]:
        """Those that count, in the order of the file."""
        last = set(self._places.values())
        for place, line in read_lines(self._path) if self._places else ():
            if place in last:
                yield line

    def get(self, *key: Any) -> Line | None:
        """The line, read from the disk."""
        place = self._places.get(key)
        if place is None:
            return None
        with self._path.open("rb") as file:
            file.seek(place)
            return _object(file.readline(), str(self._path))


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run.

    Raises:
        ArenaError: There is none, or it is of another format.
    """
    path = folder / MANIFEST
    try:
        value = _object(path.read_bytes(), str(path))
    except OSError as error:
        raise ArenaError(f"{folder} is no folder of a run: cannot read {path}: {error.strerror}") from error
    if value.get("format") != FORMAT:
        raise ArenaError(f"{path} has format {value.get('format')!r}; this version reads format {FORMAT}")
    return value


def write_whole(path: Path, value: Any) -> None:
    """A JSON file, there whole or not at all."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        half.replace(path)
    except OSError as error:
        raise ArenaError(f"cannot write {path}: {error.strerror}") from error


def _object(raw: bytes, place: str) -> Line:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise ArenaError(f"{place} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ArenaError(f"{place} must be an object of JSON")
    return value
