"""Backups as folders: on a disk, or in an object store (quelea_kit.files.storage).

    <place>/<kind>-20260131T045959Z/<file>...
    <place>/<kind>-20260131T045959Z/manifest.json     written last: what has none is no backup

The manifest has the size and SHA-256 of every file, and what the caller says of them. All calls block.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

from quelea_kit.errors import Conflict, InvalidInput, Unavailable
from quelea_kit.files.storage import Storage

_WHAT = "The place of backups"
_MANIFEST = "manifest.json"
_FORMAT = 1
_CHUNK = 1 << 20
_BROKEN_SECONDS = 86_400.0
_NAME = re.compile(r"([a-z]+)-(\d{8}T\d{6}Z)")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


class _Hashing:
    """Counts and hashes what is written through it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Add bytes."""
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)
        return len(data)

    @property
    def sha256(self) -> str:
        """Of what was written so far, as hexadecimal digits."""
        return self._hash.hexdigest()


class Backup:
    """A backup that is being made.

    Args:
        place: Folder or fsspec URL in which backups are kept.
        kind: What it is a backup of: small letters.
        clock: Seconds since 1970.
    """

    def __init__(self, place: str, kind: str, clock: Callable[[], float] = time.time) -> None:
        self._storage = Storage(place, _WHAT)
        self._storage.check()
        self._kind = kind
        self._made = clock()
        self.name = f"{kind}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(self._made))}"
        self._files: dict[str, dict[str, Any]] = {}
        if self._storage.exists(self.name):
            raise Conflict(f"There is a backup {self.name} in {place} already; try again in a second.")
        self._storage.make_folder(self.name)

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[_Hashing]:
        """A file of it, to be written; it counts when the block ends without an error."""
        _check_name(name)
        with self._storage.writer(f"{self.name}/{name}", direct=True) as opened:
            hashing = _Hashing(opened)
            yield hashing
        self._files[name] = {"bytes": hashing.size, "sha256": hashing.sha256}

    @property
    def size(self) -> int:
        """Bytes of its files so far."""
        return sum(int(of["bytes"]) for of in self._files.values())

    def finish(self, **facts: Any) -> None:
        """Write the manifest, with these facts in it: from now on it is a backup."""
        told = {"format": _FORMAT, "kind": self._kind, "made": self._made, "files": self._files, **facts}
        self._storage.write(f"{self.name}/{_MANIFEST}", json.dumps(told, indent=1).encode())

    def abandon(self) -> None:
        """Leave nothing of it behind."""
        with contextlib.suppress(Unavailable):  # why it is abandoned says more; `keep` removes what is left
            self._storage.delete_folder(self.name)


class Kept:
    """A whole backup, checked.

    Args:
        path: The backup itself, or the place with the newest one of this kind.
        kind: What it must be a backup of.

    Raises:
        InvalidInput: There is none, or it is damaged: the message names the file.
    """

    def __init__(self, path: str, kind: str) -> None:
        self._storage, self._folder = Storage(path, _WHAT), ""
        self._storage.check()
        self.name = path.rstrip("/").rsplit("/", 1)[-1]
        if not self._storage.exists(_MANIFEST):
            names = _complete(self._storage, kind)
            if not names:
                raise InvalidInput(f"There is no backup of kind {kind} at {path}.")
            self.name = names[-1]
            self._folder = f"{self.name}/"
        try:
            self.manifest: dict[str, Any] = json.loads(self._storage.read(f"{self._folder}{_MANIFEST}"))
            files = {
                _check_name(name): (int(of["bytes"]), str(of["sha256"])) for name, of in self.manifest["files"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"The manifest of {self.name} cannot be read: {error}") from error
        if self.manifest.get("format") != _FORMAT or self.manifest.get("kind") != kind:
            raise InvalidInput(f"{self.name} is no backup of kind {kind} that this release can read.")
        self.files = files
        for name, (size, digest) in files.items():
            if self._measure(name) != (size, digest):
                raise InvalidInput(f"{self.name} is damaged: {name} is not as its manifest says. Nothing was changed.")

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A file of it, to be read."""
        with self._storage.opened(f"{self._folder}{_check_name(name)}") as file:
            yield file

    def _measure(self, name: str) -> tuple[int, str] | None:
        size, digest = 0, hashlib.sha256()
        try:
            with self.open(name) as file:
                while chunk := file.read(_CHUNK):
                    size += len(chunk)
                    digest.update(chunk)
        except FileNotFoundError:
            return None
        return size, digest.hexdigest()


def keep(place: str, kind: str, number: int, clock: Callable[[], float] = time.time) -> list[str]:
    """Remove all but the newest `number` backups of a kind, and what was broken off a day ago; the names of those."""
    storage = Storage(place, _WHAT)
    whole = _complete(storage, kind)
    old = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(clock() - _BROKEN_SECONDS))
    broken = [name for name in _of_kind(storage, kind) if name not in whole and name[len(kind) + 1 :] < old]
    gone = sorted([*whole[: max(0, len(whole) - max(1, number))], *broken])
    for name in gone:
        storage.delete(f"{name}/{_MANIFEST}")  # first: what is half removed is no backup
        storage.delete_folder(name)
    return gone


def _of_kind(storage: Storage, kind: str) -> list[str]:
    return [name for name in storage.names() if (found := _NAME.fullmatch(name)) and found[1] == kind]


def _complete(storage: Storage, kind: str) -> list[str]:
    return [name for name in _of_kind(storage, kind) if storage.exists(f"{name}/{_MANIFEST}")]


def _check_name(name: str) -> str:
    if not _FILE.fullmatch(name) or name == _MANIFEST:
        raise InvalidInput(f"{name!r} is no name of a file in a backup.")
    return name
