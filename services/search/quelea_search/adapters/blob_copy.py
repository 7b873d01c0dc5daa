"""The files of the blob store, into one tar stream and back."""

from __future__ import annotations

import io
import re
import tarfile
import time
from collections.abc import Callable
from typing import IO, Any, cast

from quelea_kit.errors import InvalidInput
from quelea_kit.files.storage import Storage

_NAME = re.compile(
    r"incoming/[0-9a-f]{32}|documents/(of-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?/)?[0-9a-f]{32}/(original|pages\.gz)"
)
_CHUNK = 1 << 20
_WHAT = "The blob store"


def pack(url: str, out: Any, between: Callable[[], None]) -> int:
    """Write documents and bytes that wait as a tar; how many files.

    The bytes that wait come first and, where there are new ones, last, `between` being called in the middle: so what is
    read there (the records of the jobs) speaks of no job whose bytes are missing. Pages that were only read for an
    answer stay out.

    Args:
        url: Of the blob store.
        out: Has write().
        between: Reads the records.
    """
    storage, done = Storage(url, _WHAT), set[str]()
    with tarfile.open(fileobj=cast("IO[bytes]", out), mode="w|") as tar:
        _add(storage, "incoming", tar, done)
        between()
        _add(storage, "documents", tar, done)
        _add(storage, "incoming", tar, done)
    return len(done)


def unpack(url: str, source: IO[bytes]) -> int:
    """Put the files where they were; what else is there stays. How many files."""
    storage, count = Storage(url, _WHAT), 0
    try:
        with tarfile.open(fileobj=source, mode="r|") as tar:
            for member in tar:
                if not member.isfile() or not _NAME.fullmatch(member.name):
                    raise InvalidInput(f"{member.name!r} is not a file of a blob store.")
                file = tar.extractfile(member)
                with storage.writer(member.name) as into:
                    while chunk := (file.read(_CHUNK) if file else b""):
                        into.write(chunk)
                count += 1
    except tarfile.TarError as error:
        raise InvalidInput(f"The backup's files cannot be read: {error}") from error
    return count


def _add(storage: Storage, folder: str, tar: tarfile.TarFile, done: set[str]) -> None:
    for name in sorted(f"{folder}/{within}" for within in storage.ages(folder)):
        if name in done or not _NAME.fullmatch(name):
            continue
        try:
            data = storage.read(name)  # one document's bytes, which have a limit
        except FileNotFoundError:
            continue  # its job has ended, or the document was replaced, just now
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = len(data), int(time.time()), 0o640
        tar.addfile(member, io.BytesIO(data))
        done.add(name)
