"""The store of runs: a folder for each, with a manifest and files of a JSON object a line.

    manifest.json   what was run: kind, format, git commit, settings, models, hashes of the data, when
    NAME.jsonl      rows, appended and flushed one by one; a row that a kill cut short is taken away at the next start

A run that was killed goes on where it was. Two processes cannot write one folder, a run with other settings or other
data cannot go on in it, and a folder of another format is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

FORMAT = 1
"""Raised when rows change so that older code or older rows would be misread."""

Row = dict[str, Any]


class BadRun(Exception):
    """A folder that cannot be used as it is asked for; the message says what to do."""


def hash_text(text: str) -> str:
    """SHA-256 of a text, 32 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def hash_file(path: Path) -> str:
    """SHA-256 of a file, 32 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def hash_json(value: object) -> str:
    """SHA-256 of a JSON value whatever the order of its fields, 32 hexadecimal digits."""
    return hash_text(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    _write_whole(path, (text,))


def _write_whole(path: Path, parts: Iterable[str]) -> None:
    scratch = path.with_name(path.name + ".new")
    with scratch.open("w", encoding="utf-8") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def write_json(path: Path, value: Any) -> None:  # whatever JSON holds
    """Write one document, whole or not at all."""
    write_whole(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a JSON object a line, whole or not at all."""
    _write_whole(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def git_commit() -> str:
    """Commit of the checkout that this code lies in, with "+" when files were changed; empty without git."""
    here = Path(__file__).parent
    try:
        head = _git(here, "rev-parse", "HEAD")
        return head + ("+" if _git(here, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  # fixed arguments
        ["git", *arguments],  # noqa: S607  # git of the PATH, as in a shell
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return done.stdout.strip()


class RowFile:
    """A file of JSON objects, one a line.

    Args:
        path: Where; it need not be there.
        key: The field that names a row: `done` holds its values, and a later row replaces an earlier one.
        of_others: Somebody else wrote it, so a last line without its end is a row; else a kill has cut it short.
    """

    def __init__(self, path: Path, key: str = "id", *, of_others: bool = False) -> None:
        self.path = path
        self.key = key
        self._of_others = of_others
        self._file: IO[bytes] | None = None

    def __iter__(self) -> Iterator[Row]:
        """All rows in their order, one in memory at a time.

        Raises:
            BadRun: A line is no JSON object; the message names it.
        """
        return (row for _, row in self.placed())

    def placed(self) -> Iterator[tuple[int, Row]]:
        """All rows, each with the byte where it begins; see `__iter__`."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            place = 0
            for at, line in enumerate(file, 1):
                if not line.endswith(b"\n") and not self._of_others:
                    return  # cut short by a kill; `append` takes it away
                yield place, self._parse(line, f"line {at}")
                place += len(line)

    def read_at(self, place: int) -> Row:
        """The row that begins at this byte."""
        with self.path.open("rb") as file:
            file.seek(place)
            return self._parse(file.readline(), f"byte {place}")

    def _parse(self, line: bytes, place: str) -> Row:
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadRun(f"{self.path}, {place} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise BadRun(f"{self.path}, {place} must be an object, got {type(row).__name__}")
        return row

    def done(self, keep: Callable[[Row], bool] = lambda _: True) -> set[str]:
        """Keys of the rows (only of those to be kept)."""
        return {self.key_of(row) for row in self if keep(row)}

    def latest(self) -> Iterator[Row]:
        """Of the rows with the same key the last one; in the order of the last ones."""
        return RowIndex(self).latest()

    def key_of(self, row: Row) -> str:
        """What names a row.

        Raises:
            BadRun: It has no such field.
        """
        if self.key not in row:
            raise BadRun(f"{self.path}: a row has no field {self.key!r}; the file is of another kind or version.")
        return str(row[self.key])

    def append(self, row: Row) -> int:
        """Add a row; it is in the file when this returns. Returns the byte where it begins."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._cut_torn_line()
            self._file = self.path.open("ab")
        place = self._file.tell()
        self._file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        return place

    def close(self) -> None:
        """Close what `append` opened."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _cut_torn_line(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            while end:
                start = max(0, end - 65536)
                file.seek(start)
                at = file.read(end - start).rfind(b"\n")
                if at >= 0:
                    file.truncate(start + at + 1)
                    return
                end = start
            file.truncate(0)


class RowIndex:
    """Rows of a file by their key, of which the last one counts; only places are kept in memory."""

    def __init__(self, rows: RowFile) -> None:
        self._rows = rows
        self._places = {rows.key_of(row): place for place, row in rows.placed()}

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def latest(self) -> Iterator[Row]:
        """Those that count, in the order of the file."""
        last = set(self._places.values())
        return (row for place, row in self._rows.placed() if place in last)

    def append(self, row: Row) -> None:
        """Add a row to the file, which then counts."""
        self._places[self._rows.key_of(row)] = self._rows.append(row)

    def get(self, key: str) -> Row | None:
        """The row, read from the disk."""
        place = self._places.get(key)
        return None if place is None else self._rows.read_at(place)


class RunFolder:
    """A run's folder, open for writing by this process alone.

    Args:
        path: The folder; made when it is not there.
        kind: What runs: "omni-run", "omni-questions", …
        settings: What decides the rows, models and prompt versions among it. A run goes on only under the same.
        data: Hash of everything that is read, by name.
        notes: What is worth knowing and does not decide: concurrency, addresses.
        absent: What a manifest means that does not have a setting, as it is older than the setting.

    Raises:
        BadRun: Another process writes there, or what is there is of another kind, format, setting or data.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        settings: Mapping[str, Any],
        data: Mapping[str, str],
        notes: Mapping[str, Any] | None = None,
        absent: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self._absent = dict(absent or {})
        self._files: list[RowFile] = []
        path.mkdir(parents=True, exist_ok=True)
        self._lock = (path / ".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise BadRun(f"Another run writes into {path} now; choose another folder, or wait for it.") from error
        try:
            self.manifest = self._begin(kind, dict(settings), dict(data), dict(notes or {}))
        except BaseException:
            self._lock.close()
            raise

    def _begin(self, kind: str, settings: Row, data: dict[str, str], notes: Row) -> Row:
        settings = json.loads(json.dumps(settings))  # as it will be read back
        file = self.path / "manifest.json"
        session = {"commit": git_commit(), "started": datetime.now(UTC).isoformat(timespec="seconds"), "notes": notes}
        if not file.exists():
            strangers = sorted(one.name for one in self.path.glob("*.jsonl"))
            if strangers:
                raise BadRun(f"{self.path} has {strangers[0]} but no manifest.json; choose another folder.")
            manifest: Row = {"kind": kind, "format": FORMAT, "settings": settings, "data": data, "sessions": [session]}
            self._write(manifest)
            return manifest
        manifest = read_manifest(self.path, kind)
        _refuse_changes(self.path, "settings", {**self._absent, **manifest.get("settings", {})}, settings)
        _refuse_changes(self.path, "data", manifest.get("data", {}), data)
        manifest["sessions"] = [*manifest.get("sessions", []), session]
        self._write(manifest)
        return manifest

    def _write(self, manifest: Row) -> None:
        write_json(self.path / "manifest.json", manifest)

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Note in the manifest that the run is complete, and its totals."""
        self.manifest["finished"] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **summary}
        self._write(self.manifest)

    def rows(self, name: str, key: str = "id") -> RowFile:
        """The file NAME.jsonl of the folder, closed with it."""
        self._files.append(RowFile(self.path / f"{name}.jsonl", key))
        return self._files[-1]

    def close(self) -> None:
        """Let another process have the folder."""
        for file in self._files:
            file.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _refuse_changes(folder: Path, what: str, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    changed = sorted(one for one in {*there, *wanted} if there.get(one) != wanted.get(one))
    if changed:
        one = changed[0]
        raise BadRun(
            f"{folder} holds a run with other {what}: {', '.join(changed)} ({one} was {there.get(one)!r}, is "
            f"{wanted.get(one)!r}). Choose another folder, or the same {what} to go on with it."
        )


def read_manifest(folder: Path, kind: str = "") -> Row:
    """The manifest of a run's folder.

    Raises:
        BadRun: There is none, or it is of another kind or format.
    """
    missing = f"{folder} has no manifest.json: it is not the folder of a run."
    manifest = read_formatted(folder / "manifest.json", FORMAT, missing, "choose another folder")
    if kind and manifest.get("kind") != kind:
        raise BadRun(f"{folder} holds a run of kind {manifest.get('kind')!r}, wanted was {kind!r}.")
    return manifest


def read_formatted(file: Path, wanted: int | str, missing: str, advice: str) -> Row:
    """A JSON object whose field `format` is the wanted one.

    Raises:
        BadRun: There is no file (`missing` says so), or it cannot be read, or is of another format.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadRun(missing) from error
    except (OSError, ValueError) as error:
        raise BadRun(f"{file} cannot be read: {error}") from error
    there = found.get("format") if isinstance(found, dict) else type(found).__name__
    if not isinstance(found, dict) or there != wanted:
        raise BadRun(f"{file} was written in format {there!r}, this version reads {wanted!r}; {advice}.")
    return found
