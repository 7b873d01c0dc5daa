"""Keeps watch over folders: which files are new or changed, have come to rest, and were not sent before."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import watchfiles

from quelea_cli import places
from quelea_cli.errors import EXIT_FAILED, EXIT_NOT_FOUND, EXIT_UNREACHABLE, CliError

if TYPE_CHECKING:
    from quelea_cli.commands.ingest import Upload

REST_SECONDS = 2.0
"""A file is taken once size and time of change were the same for so long: it may be half-written before."""

_LOOK_SECONDS = 60.0
"""Between looks when nothing is heard: shares of a network send no events."""

_WAKE_SECONDS = 0.5
_AWAY_SECONDS = 30.0
"""Before the next try when the gateway stayed away."""

_AT_ONCE = 50
"""Files sent before the notes are written."""

Shape = tuple[int, int]
"""Size in bytes and time of change in ns."""


class Notes:
    """What was sent to one gateway from the watched folders, in a file that outlives the watch.

    Args:
        file: Is read, and written by `save`; what cannot be read counts as empty, so that files are sent once more.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._sent: dict[str, tuple[int, int, str]] = {}
        try:
            read = json.loads(file.read_text(encoding="utf-8"))
            self._sent = {uri: (int(size), int(changed), str(digest)) for uri, (size, changed, digest) in read.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self._sent = {}

    def shape(self, uri: str) -> Shape | None:
        """Of the version that was sent last; None: none was."""
        noted = self._sent.get(uri)
        return noted[:2] if noted else None

    def digest(self, uri: str) -> str:
        """SHA-256 of the version that was sent last, empty when none was."""
        return self._sent[uri][2] if uri in self._sent else ""

    def add(self, uri: str, shape: Shape, digest: str) -> None:
        """This version is dealt with."""
        self._sent[uri] = (*shape, digest)

    def keep(self, uris: Iterable[str]) -> None:
        """Forget all files but these."""
        there = set(uris)
        self._sent = {uri: noted for uri, noted in self._sent.items() if uri in there}

    def save(self) -> None:
        """Write the file, whole or not at all. Raises CliError."""
        scratch = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_text(json.dumps(self._sent), encoding="utf-8")
            scratch.replace(self._file)
        except OSError as error:
            raise CliError(f"Cannot write {self._file}, which remembers what was sent: {error.strerror}.") from error


def open_notes(folders: Iterable[Path], *about: str) -> Notes:
    """The notes on these folders; others for another gateway, collection or metadata (`about`)."""
    key = json.dumps([sorted(str(folder.resolve()) for folder in folders), *about])
    return Notes(places.watched() / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json")


class Looks:
    """Looks at the folders, again and again.

    Args:
        notes: What was sent before.
        find: Every file of a known kind below the folders.
        clock: Seconds.
    """

    def __init__(
        self, notes: Notes, find: Callable[[], list[Upload]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._notes = notes
        self._find = find
        self._now = clock
        self._moving: dict[str, tuple[Shape, float]] = {}
        self._versions: dict[str, tuple[Shape, str]] = {}

    @property
    def waiting(self) -> bool:
        """Whether files have not come to rest yet."""
        return bool(self._moving)

    def look(self) -> list[Upload]:
        """The files that are to be sent now. An empty file waits for its content. Raises OSError, CliError."""
        found, now = self._find(), self._now()
        ready: list[Upload] = []
        moving: dict[str, tuple[Shape, float]] = {}
        for one in found:
            try:
                status = one.path.stat()
            except OSError:  # gone again
                continue
            shape = (status.st_size, status.st_mtime_ns)
            if not status.st_size or shape == self._notes.shape(one.uri):
                continue
            seen, since = self._moving.get(one.uri, (None, now))
            if seen != shape:
                since = now
            if now - since < REST_SECONDS:
                moving[one.uri] = (shape, since)
            elif self._is_new(one, shape):
                ready.append(one)
        self._moving = moving
        self._notes.keep(one.uri for one in found)
        return ready

    def done(self, one: Upload) -> None:
        """This version was sent, and is not sent again, whether it succeeded or failed."""
        self._notes.add(one.uri, *self._versions.pop(one.uri))

    def _is_new(self, one: Upload, shape: Shape) -> bool:
        """Whether the content is another than was sent; a file that was only touched is noted and left alone."""
        try:
            with one.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            digest = ""  # sending it says why
        if digest and digest == self._notes.digest(one.uri):
            self._notes.add(one.uri, shape, digest)
            return False
        self._versions[one.uri] = (shape, digest)
        return True


def watch(
    folders: list[Path],
    notes: Notes,
    find: Callable[[], list[Upload]],
    send: Callable[[list[Upload]], None],
    tell: Callable[[str], None],
) -> None:
    """Send what is new or has changed, until SIGINT or SIGTERM.

    Args:
        folders: Are listened to.
        notes: What was sent before.
        find: Every file of a known kind below the folders.
        send: Sends files and waits for their jobs; what it leaves without an end is tried again.
        tell: Gets a line when something stands in the way.

    Raises:
        KeyboardInterrupt: The end; the notes are written.
        CliError: It cannot go on: the key is refused, or the notes cannot be written.
    """
    looks = Looks(notes, find)
    next_look, told = 0.0, ""
    try:
        for changes in watchfiles.watch(
            *folders, watch_filter=None, rust_timeout=int(_WAKE_SECONDS * 1000), yield_on_timeout=True, debounce=400
        ):
            now = time.monotonic()
            if now < next_look and not looks.waiting and not changes:
                continue
            next_look, trouble = now + _LOOK_SECONDS, ""
            ready: list[Upload] = []
            try:
                ready = looks.look()
                for first in range(0, len(ready), _AT_ONCE):
                    trouble = _send_some(ready[first : first + _AT_ONCE], looks, send) or trouble
                    notes.save()
            except OSError as error:
                trouble = f"cannot look at the folders: {error.strerror}"
            except CliError as error:
                if error.code not in (EXIT_FAILED, EXIT_NOT_FOUND, EXIT_UNREACHABLE):
                    raise
                trouble = error.message
            if trouble:
                next_look = time.monotonic() + _AWAY_SECONDS
                if trouble != told:
                    tell(f"{trouble.rstrip('.')}; it is tried again.")
                told = trouble
            elif ready:
                told = ""
    finally:
        notes.save()


def _send_some(files: list[Upload], looks: Looks, send: Callable[[list[Upload]], None]) -> str:
    """Send some files, note those that ended; what stood in the way of the others."""
    try:
        send(files)
    finally:
        for one in files:
            if one.job.get("state") in ("succeeded", "failed") and not one.away:
                looks.done(one)
    return next((one.error for one in files if one.away), "")
