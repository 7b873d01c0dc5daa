"""What the gateway's stores have in common: files below a URL, read and written in threads of their own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeVar

from quelea_kit.errors import Unavailable
from quelea_kit.files.disk import Disk
from quelea_kit.files.storage import Storage
from quelea_kit.logging import get_logger
from quelea_kit.paging import unknown_token

from quelea_gateway.core.chats.conversations import Forgotten

log = get_logger(__name__)

T = TypeVar("T")

TIMED_ID = re.compile(r"[0-9]{20}-[0-9a-f]{16}")
"""An id of `make_id`."""
_THREADS = 4


def folder_of(owner: str) -> str:
    """The name of an owner's folder: a hash, so any name is safe, and what is in it is found under its owner alone."""
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def make_id(now: datetime | None = None) -> str:
    """An id that begins with its time in UTC, so that ids sort by it."""
    return f"{now or datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(8)}"


def check_token(before: str, pattern: re.Pattern[str] = TIMED_ID) -> None:
    """Raises InvalidInput for a page token that is no id of the list; an empty one is its start."""
    if before and not pattern.fullmatch(before):
        raise unknown_token()


def to_json(value: Any) -> bytes:
    """The bytes of a file; half a surrogate pair becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


class Unreadable(Unavailable):
    """What is stored is not ours: cut off, or changed by somebody."""


@contextlib.contextmanager
def readable(what: str) -> Iterator[None]:
    """Unreadable for what is stored and is not ours."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"The {what} cannot be read: {type(error).__name__}.") from error


class FileStore:
    """Files under a URL. A store that hangs must not take the threads in which the loop looks up names.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        what: It holds, in the plural; for errors and the threads' names.
        threads: How many calls at once.
        disk: The volume of a folder; None for an object store.
    """

    def __init__(self, url: str, what: str, *, threads: int = _THREADS, disk: Disk | None = None) -> None:
        self._storage = Storage(url, f"The store of {what}")
        self._disk = disk
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=what)

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _check_disk(self) -> None:
        """Raises DiskFull."""
        if self._disk:
            self._disk.check()

    def _forget_in(self, paths: Iterable[str], document_id: str, rewrite: Callable[[str], None]) -> Forgotten:
        """Rewrite the files that name a document. One that cannot be read is left, counted and logged."""
        named = document_id.encode()
        changed = unreadable = 0
        for path in paths:
            with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                if named in self._storage.read(path):
                    try:
                        rewrite(path)
                        changed += 1
                    except Unreadable as error:  # the others are forgotten all the same
                        unreadable += 1
                        log.warning("not_forgotten", document=document_id, file=path, why=error.message)
        return Forgotten(changed, unreadable)

    async def _do(self, work: Callable[..., T], *given: Any) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, work, *given)
