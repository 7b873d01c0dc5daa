"""Bodies by their hash: files, each written beside and renamed, so that a killed door leaves no half one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from quelea_kit.errors import InvalidInput, NotFound, QueleaError

_SHA256 = re.compile(r"[0-9a-f]{64}")
_STALE_SECONDS = 3600.0


class Bodies:
    """Files <folder>/ab/ab12….

    Args:
        folder: Made when it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._number = 0

    def put(self, data: bytes) -> str:
        """Keep some bytes. Returns their SHA-256, hexadecimal."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._number += 1
            beside = path.with_name(f".{os.getpid()}-{self._number}-{sha256[:8]}")
            beside.write_bytes(data)
            beside.replace(path)
        return sha256

    def get(self, sha256: str) -> bytes:
        """The bytes of a hash, checked.

        Raises:
            InvalidInput: Not a hash.
            NotFound: They are not kept.
            QueleaError: The file was changed.
        """
        if _SHA256.fullmatch(sha256) is None:
            raise InvalidInput("sha256 must be 64 lower-case hexadecimal digits.")
        try:
            data = self._path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise NotFound(f"The door has no body {sha256}; it has expired, or was never fetched.") from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise QueleaError(f"The stored body {sha256} was changed on disk and is not returned.")
        return data

    def drop(self, sha256: str) -> None:
        """Forget some bytes."""
        self._path(sha256).unlink(missing_ok=True)

    def names(self) -> Iterator[str]:
        """The hashes of all files; what a killed door left half written is removed on the way."""
        for path in self._folder.glob("??/*"):
            if _SHA256.fullmatch(path.name):
                yield path.name
        for path in self._folder.glob("??/.*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256
