"""Saved conversations in a folder or an object store (quelea_kit.files.storage), beside the agent's runs.

    <owner>/<conversation>.json         the head: title, times, what the turns say: a search reads heads alone
    <owner>/<conversation>/<turn>.json  a question and its answer; written again for a thumb, or to forget a document

The owner's folder is a hash of the key's name: a conversation is found under its owner's key or not at all. Which turns
there are is what the folder says. A head that another gateway wrote at the same moment may lack one; the next turn puts
it right.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from quelea_kit.errors import Conflict, NotFound, TooLarge
from quelea_kit.files.disk import Disk
from quelea_kit.logging import get_logger

from quelea_gateway.adapters.stores.file_store import (
    TIMED_ID,
    FileStore,
    Unreadable,
    folder_of,
    make_id,
    readable,
    to_json,
)
from quelea_gateway.core.chats.conversations import (
    Conversation,
    Forgotten,
    Said,
    SavedTurn,
    fold_text,
    matches,
    without,
)
from quelea_gateway.core.evaluation.feedback import Feedback

log = get_logger(__name__)

T = TypeVar("T")

_READERS = 8
_MOST_TURN = 4 << 20
"""Bytes of a turn; one with two hundred passages has some hundred thousand."""


class ConversationStore(FileStore):
    """The conversations under a URL.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        most: Conversations of one key that are kept.
        turns: Turns of one conversation that are kept.
        disk: The volume of a folder; None for an object store.
    """

    def __init__(self, url: str, *, most: int, turns: int, disk: Disk | None = None) -> None:
        super().__init__(url, "conversations", disk=disk)
        self._most = most
        self._turns = turns
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="conversation-reads")
        self._writing = threading.Lock()  # a head is read and written again

    async def create(self, owner: str, title: str) -> Conversation:
        """A conversation without turns.

        Raises:
            Conflict: The key has as many as are kept.
            DiskFull: The disk takes nothing new.
        """
        return await self._do(self._create, owner, title)

    async def find(self, owner: str, query: str = "") -> list[Conversation]:
        """Those that have every word of the query in title, questions or answers; the last one talked in first."""
        return await self._do(self._find, owner, query)

    async def get(self, owner: str, conversation_id: str) -> tuple[Conversation, list[SavedTurn]]:
        """One with its turns, oldest first. Raises NotFound."""
        return await self._do(self._get, owner, conversation_id)

    async def open(self, owner: str, conversation_id: str) -> list[SavedTurn]:
        """The turns of one that is to be gone on with.

        Raises:
            NotFound: There is none.
            Conflict: It has as many turns as are kept.
        """
        _, turns = await self.get(owner, conversation_id)
        self._check_room(len(turns))
        return turns

    async def add(
        self,
        owner: str,
        conversation_id: str,
        *,
        question: str,
        answer: Mapping[str, Any],
        filters: Mapping[str, Any],
        collections: Sequence[str] = (),
        group: str = "",
    ) -> SavedTurn:
        """Save a question and its answer at the end.

        Raises:
            NotFound: There is no such conversation (any more).
            Conflict: It has as many turns as are kept.
            TooLarge: The answer is larger than is kept.
            DiskFull: The disk takes nothing new.
        """
        turn = SavedTurn(make_id(), _now(), question, answer, filters, collections, group)
        return await self._do(self._add, owner, conversation_id, turn)

    async def mark(self, owner: str, conversation_id: str, said: Said, thumb: Mapping[str, Any]) -> None:
        """Keep a thumb with an answer.

        It is the newest of this text, one to this question before others (a follow-up's thumb has the question as it
        stands alone). Where there is none of the text, nothing is kept.

        Raises:
            NotFound: There is no such conversation.
        """
        await self._do(self._mark, owner, conversation_id, said, thumb)

    async def unmark(self, owner: str, deleted: Feedback, before: Feedback | None) -> None:
        """Show a thumb no more that was deleted, wherever it is the last one on an answer.

        Args:
            owner: Whose conversations.
            deleted: The thumb.
            before: The one that was given on the same answer before it, and counts again.
        """
        await self._do(self._unmark, owner, deleted, before)

    async def forget(self, document_id: str) -> Forgotten:
        """Take a document's words out of everybody's answers.

        Documents of two tenants never share an id, so no other tenant's answers are touched. One that cannot be read is
        left, counted and logged.
        """
        return await self._do(self._forget, document_id)

    async def check(self, owner: str, conversation_id: str) -> None:
        """Raises NotFound where there is no such conversation."""
        await self._do(self._head, owner, conversation_id)

    async def rename(self, owner: str, conversation_id: str, title: str) -> Conversation:
        """Give it another title. Raises NotFound."""
        return await self._do(self._rename, owner, conversation_id, title)

    async def delete(self, owner: str, conversation_id: str) -> None:
        """Forget it and its turns. Raises NotFound."""
        await self._do(self._delete, owner, conversation_id)

    async def close(self) -> None:
        """End the threads."""
        await super().close()
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _create(self, owner: str, title: str) -> Conversation:
        self._check_disk()
        if len(self._ids(owner)) >= self._most:
            raise Conflict(
                f"{self._most:,} conversations are saved, and no more are kept: export those that matter, then delete "
                "some."
            )
        made = Conversation(make_id(), title, _now(), "")
        self._write_head(owner, made)
        return made

    def _find(self, owner: str, query: str) -> list[Conversation]:
        words = fold_text(query).split()
        found = [one for one in self._each(self._head_or_none, owner, self._ids(owner)) if one]
        kept = [one for one in found if matches(one, words)]
        return sorted(kept, key=lambda one: (one.touched, one.id), reverse=True)

    def _get(self, owner: str, conversation_id: str) -> tuple[Conversation, list[SavedTurn]]:
        head = self._head(owner, conversation_id)
        turns = [one for one in self._each(self._turn, owner, self._turn_ids(owner, head.id), head.id) if one]
        for turn in turns:
            head = head.with_turn(turn)
        return head, turns

    def _add(self, owner: str, conversation_id: str, turn: SavedTurn) -> SavedTurn:
        self._check_disk()
        data = to_json(turn.as_dict())
        if len(data) > _MOST_TURN:
            raise TooLarge(
                f"The answer has {len(data):,} bytes; {_MOST_TURN:,} are kept of one.",
                details={"limit": str(_MOST_TURN)},
            )
        with self._writing:
            head = self._head(owner, conversation_id)
            there = self._turn_ids(owner, head.id)
            self._check_room(len(there))
            self._storage.write(f"{folder_of(owner)}/{head.id}/{turn.id}.json", data)
            for missing in (one for one in there if one not in head.said):
                if before := self._turn(owner, missing, head.id):
                    head = head.with_turn(before)
            self._write_head(owner, head.with_turn(turn))
        return turn

    def _unmark(self, owner: str, deleted: Feedback, before: Feedback | None) -> None:
        for head in (one for one in self._each(self._head_if_readable, owner, self._ids(owner)) if one):
            for turn_id in (one for one, said in head.said.items() if said.text == deleted.answer):
                with self._writing, contextlib.suppress(Unreadable):
                    turn = self._turn(owner, turn_id, head.id)
                    if turn and turn.thumb and deleted.is_shown_by(turn.thumb):
                        self._write_turn(owner, head.id, replace(turn, thumb=before.mark if before else None))

    def _mark(self, owner: str, conversation_id: str, given: Said, thumb: Mapping[str, Any]) -> None:
        with self._writing:
            head = self._head(owner, conversation_id)
            fitting = [(said == given, one) for one, said in head.said.items() if said.text == given.text]
            for _, turn_id in sorted(fitting, reverse=True):
                if turn := self._turn(owner, turn_id, head.id):
                    self._write_turn(owner, head.id, replace(turn, thumb=thumb))
                    return

    def _forget(self, document_id: str) -> Forgotten:
        return self._forget_in(self._every_turn(), document_id, lambda path: self._rewrite(path, document_id))

    def _every_turn(self) -> Iterator[str]:
        for owner in self._storage.names(""):
            for head_id in self._kept(owner):
                for turn_id in self._kept(f"{owner}/{head_id}"):
                    yield f"{owner}/{head_id}/{turn_id}.json"

    def _rewrite(self, turn_path: str, document_id: str) -> None:
        head_path = f"{turn_path.rpartition('/')[0]}.json"
        with self._writing, readable(turn_path):
            turn = without(SavedTurn.from_dict(json.loads(self._storage.read(turn_path))), document_id)
            head = Conversation.from_dict(json.loads(self._storage.read(head_path)))
            said = {**head.said, turn.id: Said(turn.question, turn.text)}
            self._storage.write(turn_path, to_json(turn.as_dict()))
            self._storage.write(head_path, to_json(replace(head, said=dict(sorted(said.items()))).as_dict()))

    def _kept(self, folder: str) -> list[str]:
        names = (name.removesuffix(".json") for name in self._storage.names(folder) if name.endswith(".json"))
        return [one for one in names if TIMED_ID.fullmatch(one)]

    def _rename(self, owner: str, conversation_id: str, title: str) -> Conversation:
        with self._writing:
            renamed = replace(self._head(owner, conversation_id), title=title)
            self._write_head(owner, renamed)
        return renamed

    def _delete(self, owner: str, conversation_id: str) -> None:
        with self._writing:
            head = self._head(owner, conversation_id)
            self._storage.delete(f"{folder_of(owner)}/{head.id}.json")
            self._storage.delete_folder(f"{folder_of(owner)}/{head.id}")

    def _check_room(self, turns: int) -> None:
        if turns >= self._turns:
            raise Conflict(f"The conversation has {turns:,} answers, and no more are kept of one: start a new one.")

    def _ids(self, owner: str) -> list[str]:
        return self._kept(folder_of(owner))

    def _turn_ids(self, owner: str, conversation_id: str) -> list[str]:
        return self._kept(f"{folder_of(owner)}/{conversation_id}")

    def _head(self, owner: str, conversation_id: str) -> Conversation:
        found = self._head_or_none(owner, conversation_id) if TIMED_ID.fullmatch(conversation_id) else None
        if found is None:
            raise NotFound(f"There is no conversation {conversation_id[:64]!r}.")
        return found

    def _head_or_none(self, owner: str, conversation_id: str) -> Conversation | None:
        try:
            stored = self._storage.read(f"{folder_of(owner)}/{conversation_id}.json")
        except FileNotFoundError:  # deleted meanwhile
            return None
        with readable(f"conversation {conversation_id}"):
            return Conversation.from_dict(json.loads(stored))

    def _head_if_readable(self, owner: str, conversation_id: str) -> Conversation | None:
        with contextlib.suppress(Unreadable):
            return self._head_or_none(owner, conversation_id)
        return None

    def _turn(self, owner: str, turn_id: str, conversation_id: str) -> SavedTurn | None:
        try:
            stored = self._storage.read(f"{folder_of(owner)}/{conversation_id}/{turn_id}.json")
        except FileNotFoundError:
            return None
        with readable(f"turn {turn_id}"):
            return SavedTurn.from_dict(json.loads(stored))

    def _write_turn(self, owner: str, conversation_id: str, turn: SavedTurn) -> None:
        self._storage.write(f"{folder_of(owner)}/{conversation_id}/{turn.id}.json", to_json(turn.as_dict()))

    def _write_head(self, owner: str, head: Conversation) -> None:
        self._storage.write(f"{folder_of(owner)}/{head.id}.json", to_json(head.as_dict()))

    def _each(self, read: Callable[..., T], owner: str, ids: list[str], *more: Any) -> Iterator[T]:
        """Several at once, in their order: an object store takes its time for each."""
        return self._readers.map(lambda one: read(owner, one, *more), ids)


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
