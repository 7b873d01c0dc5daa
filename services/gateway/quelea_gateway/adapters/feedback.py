"""Thumbs in a folder or an object store (quelea_kit.storage): <owner>/<id>.json, beside the agent's runs.

One object a thumb, as several gateways may share the store and an object store cannot append. The owner's folder is a
hash of the key's name: a thumb is found under its owner's key or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import re
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from quelea_kit.disk import Disk
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Unavailable
from quelea_kit.storage import Storage

from quelea_gateway.adapters.owners import folder_of
from quelea_gateway.core.feedback import Feedback
from quelea_gateway.core.notices import say

T = TypeVar("T")

_ID = re.compile(r"[0-9]{20}-[0-9a-f]{16}")
_THREADS = 4


class FeedbackStore:
    """The thumbs under a URL.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        most: Thumbs of one key that are kept.
        disk: The volume of a folder; None for an object store.
    """

    def __init__(self, url: str, *, most: int, disk: Disk | None = None) -> None:
        self._storage = Storage(url, "The store of feedback")
        self._most = most
        self._disk = disk
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="feedback")

    async def add(self, owner: str, given: Feedback) -> Feedback:
        """Store a thumb under an id of its time; returns it with id and time.

        Raises:
            Conflict: The key has as many as are kept.
            DiskFull: The disk takes nothing new.
        """
        return await self._do(self._add, owner, given)

    async def newest(self, owner: str, limit: int, *, before: str = "", thumbs: Sequence[str] = ()) -> list[Feedback]:
        """The newest first, only those older than the one named, and of these kinds where some are named."""
        if before and not _ID.fullmatch(before):
            raise InvalidInput(
                "page_token is not from this list; leave it out to start again.", details={"field": "page_token"}
            )
        return await self._do(self._newest, owner, limit, before, thumbs)

    async def delete(self, owner: str, feedback_id: str) -> None:
        """Forget one. Raises NotFound."""
        await self._do(self._delete, owner, feedback_id)

    async def forget(self, document_id: str) -> int:
        """Take the answers that cite a document out of everybody's thumbs; how many did.

        Documents of two tenants never share an id, so no other tenant's thumbs are touched.
        """
        return await self._do(self._forget, document_id)

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _add(self, owner: str, given: Feedback) -> Feedback:
        if self._disk:
            self._disk.check()
        if len(self._storage.names(folder_of(owner))) >= self._most:
            raise Conflict(
                f"This key has {self._most:,} thumbs, and no more are kept: export them "
                "(quelea eval feedback export), then delete some."
            )
        now = datetime.now(UTC)
        stored = replace(given, id=f"{now:%Y%m%d%H%M%S%f}-{secrets.token_hex(8)}", created=f"{now:%Y-%m-%dT%H:%M:%S}Z")
        self._storage.write(f"{folder_of(owner)}/{stored.id}.json", _json(stored))
        return stored

    def _newest(self, owner: str, limit: int, before: str, thumbs: Sequence[str]) -> list[Feedback]:
        ids = [name.removesuffix(".json") for name in self._storage.names(folder_of(owner))]
        found: list[Feedback] = []
        for one in sorted((i for i in ids if _ID.fullmatch(i) and (not before or i < before)), reverse=True):
            if len(found) >= limit:
                break
            try:
                stored = _read(self._storage.read(f"{folder_of(owner)}/{one}.json"), one)
            except FileNotFoundError:  # deleted meanwhile
                continue
            if not thumbs or stored.thumb in thumbs:
                found.append(stored)
        return found

    def _delete(self, owner: str, feedback_id: str) -> None:
        name = f"{folder_of(owner)}/{feedback_id}.json"
        if not _ID.fullmatch(feedback_id) or not self._storage.exists(name):
            raise NotFound(f"There is no feedback {feedback_id[:64]!r}.")
        self._storage.delete(name)

    def _forget(self, document_id: str) -> int:
        changed = 0
        for owner in self._storage.names(""):
            for name in self._storage.names(owner):
                feedback_id = name.removesuffix(".json")
                if not _ID.fullmatch(feedback_id):
                    continue
                with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                    stored = self._storage.read(f"{owner}/{name}")
                    if document_id.encode() in stored:
                        kept = replace(_read(stored, feedback_id), answer=say("forgotten", "en"))
                        self._storage.write(f"{owner}/{name}", _json(kept))
                        changed += 1
        return changed

    async def _do(self, work: Callable[..., T], *given: Any) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, work, *given)


def _json(thumb: Feedback) -> bytes:
    return json.dumps(thumb.as_dict(), ensure_ascii=False).encode("utf-8", "replace")


def _read(stored: bytes, feedback_id: str) -> Feedback:
    try:
        return Feedback.from_dict(json.loads(stored))
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"The feedback {feedback_id} cannot be read: {type(error).__name__}.") from error
