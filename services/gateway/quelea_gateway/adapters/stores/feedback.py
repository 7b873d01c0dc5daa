"""Thumbs in a folder or an object store (quelea_kit.files.storage): <owner>/<id>.json, beside the agent's runs.

One object a thumb, as several gateways may share the store and an object store cannot append. The owner's folder is a
hash of the key's name: a thumb is found under its owner's key or not at all.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from quelea_kit.errors import Conflict, NotFound
from quelea_kit.files.disk import Disk
from quelea_kit.logging import get_logger

from quelea_gateway.adapters.stores.file_store import (
    TIMED_ID,
    FileStore,
    Unreadable,
    check_token,
    folder_of,
    make_id,
    readable,
    to_json,
)
from quelea_gateway.core.answers.notices import say
from quelea_gateway.core.chats.conversations import Forgotten
from quelea_gateway.core.evaluation.feedback import Feedback

log = get_logger(__name__)


class FeedbackStore(FileStore):
    """The thumbs under a URL.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        most: Thumbs of one key that are kept.
        disk: The volume of a folder; None for an object store.
    """

    def __init__(self, url: str, *, most: int, disk: Disk | None = None) -> None:
        super().__init__(url, "feedback", disk=disk)
        self._most = most
        self._adding = threading.Lock()  # the newest is read before the next is written

    async def add(self, owner: str, given: Feedback) -> Feedback:
        """Store a thumb under an id of its time; returns it with id and time.

        One that says what the owner's newest says is that one, sent again by a caller who did not hear that it was
        stored, or twice at once. Of two gateways at the same moment both may be stored; an export takes the later.

        Raises:
            Conflict: The key has as many as are kept.
            DiskFull: The disk takes nothing new.
        """
        return await self._do(self._add, owner, given)

    async def newest(self, owner: str, limit: int, *, before: str = "", thumbs: Sequence[str] = ()) -> list[Feedback]:
        """The newest first, only those older than the one named, and of these kinds where some are named."""
        check_token(before)
        return await self._do(self._newest, owner, limit, before, thumbs)

    async def get(self, owner: str, feedback_id: str) -> Feedback:
        """One. Raises NotFound, Unavailable."""
        return await self._do(self._get, owner, feedback_id)

    async def delete(self, owner: str, feedback_id: str) -> None:
        """Forget one. Raises NotFound."""
        await self._do(self._delete, owner, feedback_id)

    async def forget(self, document_id: str) -> Forgotten:
        """Take the answers that cite a document out of everybody's thumbs.

        Documents of two tenants never share an id, so no other tenant's thumbs are touched. One that cannot be read is
        left, counted and logged.
        """
        return await self._do(self._forget, document_id)

    def _add(self, owner: str, given: Feedback) -> Feedback:
        with self._adding:
            return self._add_alone(owner, given)

    def _add_alone(self, owner: str, given: Feedback) -> Feedback:
        self._check_disk()
        with contextlib.suppress(Unreadable):
            if (newest := self._newest(owner, 1, "", ())) and given.repeats(newest[0]):
                return newest[0]
        if len(self._storage.names(folder_of(owner))) >= self._most:
            raise Conflict(
                f"This key has {self._most:,} thumbs, and no more are kept: export them "
                "(quelea eval feedback export), then delete some."
            )
        now = datetime.now(UTC)
        stored = replace(given, id=make_id(now), created=f"{now:%Y-%m-%dT%H:%M:%S}Z")
        data = to_json(stored.as_dict())
        self._storage.write(f"{folder_of(owner)}/{stored.id}.json", data)
        return stored

    def _newest(self, owner: str, limit: int, before: str, thumbs: Sequence[str]) -> list[Feedback]:
        ids = [name.removesuffix(".json") for name in self._storage.names(folder_of(owner))]
        found: list[Feedback] = []
        for one in sorted((i for i in ids if TIMED_ID.fullmatch(i) and (not before or i < before)), reverse=True):
            if len(found) >= limit:
                break
            try:
                stored = _read(self._storage.read(f"{folder_of(owner)}/{one}.json"), one)
            except FileNotFoundError:  # deleted meanwhile
                continue
            if not thumbs or stored.thumb in thumbs:
                found.append(stored)
        return found

    def _get(self, owner: str, feedback_id: str) -> Feedback:
        name = self._name(owner, feedback_id)
        with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
            return _read(self._storage.read(name), feedback_id)
        raise _unknown(feedback_id)

    def _delete(self, owner: str, feedback_id: str) -> None:
        self._storage.delete(self._name(owner, feedback_id))

    def _name(self, owner: str, feedback_id: str) -> str:
        name = f"{folder_of(owner)}/{feedback_id}.json"
        if not TIMED_ID.fullmatch(feedback_id) or not self._storage.exists(name):
            raise _unknown(feedback_id)
        return name

    def _forget(self, document_id: str) -> Forgotten:
        return self._forget_in(self._every_thumb(), document_id, self._rewrite)

    def _every_thumb(self) -> Iterator[str]:
        for owner in self._storage.names(""):
            for name in self._storage.names(owner):
                if TIMED_ID.fullmatch(name.removesuffix(".json")):
                    yield f"{owner}/{name}"

    def _rewrite(self, path: str) -> None:
        kept = replace(_read(self._storage.read(path), path), answer=say("forgotten", "en"))
        self._storage.write(path, to_json(kept.as_dict()))


def _unknown(feedback_id: str) -> NotFound:
    return NotFound(f"There is no feedback {feedback_id[:64]!r}.")


def _read(stored: bytes, feedback_id: str) -> Feedback:
    with readable(f"feedback {feedback_id}"):
        return Feedback.from_dict(json.loads(stored))
