"""Evaluations in a folder or an object store: the gateway writes requests, a worker (`quelea eval work`) the rest.

    worker.json               what the worker has, and when it last said so
    <id>/request.json         kind, name, settings: the gateway's, or a command's that published a run
    <id>/cancel.json          somebody cancelled it
    <id>/state.json           how far it is: the worker's
    <id>/result.json          matrix or leaderboard
    <id>/index.json           one short line for each item: {"format", "chunk", "items"}
    <id>/labels/*.json        what people said of items: the gateway's, a file for each rater and item
    <id>/votes/*.json         what people said of two systems, blind: the same
    <id>/items/00000.json     the items themselves, so many ("chunk") in each file, in the order of the index

`quelea_evaluation.publishing` writes the last three; docs/decisions/0017 says why it is files.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from quelea_kit.errors import Conflict, InvalidInput, NotFound, Overloaded, Unavailable
from quelea_kit.files.disk import Disk
from quelea_kit.paging import page_of

from quelea_gateway.adapters.stores.file_store import TIMED_ID, FileStore, check_token, make_id, to_json
from quelea_gateway.core.evaluation import votes as core_votes
from quelea_gateway.core.evaluation.evaluations import Evaluation, Json, Kind, Label, State, Worker, make_labels
from quelea_gateway.core.evaluation.votes import Agreement, Choice, Vote

FORMAT = 1
"""Of index.json; of another version it is refused, not misread."""


def _file_of(item_id: str, rater: str) -> str:
    """Of what one person said of one item."""
    return hashlib.sha256(json.dumps([item_id, rater]).encode()).hexdigest()[:32] + ".json"


_MOST_LABELLED = 10_000
"""Files of labels, and of votes, of one evaluation."""
_ALIVE_SECONDS = 60.0
"""The worker says every few seconds that it lives."""


@dataclass(frozen=True)
class Comparison:
    """Two dialogues without names, as a person is shown them."""

    number: int
    """From 1."""
    total: int
    voted: int
    """How many of them this person has voted on."""
    next: int | None
    """The next one that this person has not voted on; None: there is none."""
    task: str
    complete: bool
    """Neither dialogue failed; else there is nothing to vote on."""
    left: list[Json]
    right: list[Json]
    choice: Choice | None
    """This person's vote, where there is one."""


class EvaluationStore(FileStore):
    """The evaluations under a URL.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        queue: Most evaluations that may wait.
        disk: The volume of a folder; None for an object store.
    """

    def __init__(self, url: str, *, queue: int, disk: Disk | None = None) -> None:
        super().__init__(url, "evaluations", disk=disk)
        self._queue = queue
        self._adding = asyncio.Lock()

    async def worker(self) -> Worker:
        """What the worker said of itself."""
        return await self._do(self._worker)

    async def add(self, kind: Kind, name: str, settings: Json, *, key: str, seconds: float) -> Evaluation:
        """Have one done.

        Raises:
            Overloaded: As many wait as may.
            DiskFull: The disk takes nothing new.
        """
        async with self._adding:  # two at once must not both take the last place
            return await self._do(self._add, kind, name, settings, key, seconds)

    async def newest(
        self, limit: int, *, before: str = "", kinds: tuple[Kind, ...] = (), states: tuple[State, ...] = ()
    ) -> list[Evaluation]:
        """The newest first, older than the one named, of these kinds and states where some are named."""
        check_token(before)
        return await self._do(self._newest, limit, before, kinds, states)

    async def get(self, evaluation_id: str) -> Evaluation:
        """One. Raises NotFound."""
        return await self._do(self._get, evaluation_id)

    async def result(self, evaluation_id: str) -> Json | None:
        """Matrix or leaderboard; None while there is none."""
        return await self._do(self._json, f"{evaluation_id}/result.json")

    async def lines(self, evaluation_id: str) -> list[Json]:
        """A short line for every item; none while there is no result. Raises NotFound."""
        lines: list[Json] = (await self._do(self._index, evaluation_id))["items"]
        return lines

    async def item(self, evaluation_id: str, item_id: str) -> Json:
        """An item with all that is known of it. Raises NotFound."""
        return await self._do(self._item, evaluation_id, item_id)

    async def cancel(self, evaluation_id: str) -> Evaluation:
        """End it; one that has ended stays as it is. Raises NotFound."""
        return await self._do(self._cancel, evaluation_id)

    async def delete(self, evaluation_id: str) -> None:
        """Forget it. Raises NotFound, and Conflict while it waits or runs."""
        await self._do(self._delete, evaluation_id)

    async def label(
        self, evaluation_id: str, item_id: str, rater: str, given: list[tuple[str, int, int]]
    ) -> list[Label]:
        """Keep a person's labels of an item, in the place of earlier ones.

        Args:
            evaluation_id: The evaluation.
            item_id: The item.
            rater: The person's name.
            given: Aspect, turn, number.

        Raises:
            NotFound: No such evaluation or item.
            InvalidInput: No such aspect, turn or number.
            Conflict: As many are kept as may be.
        """
        return await self._do(self._label, evaluation_id, item_id, rater, given)

    async def labels(self, evaluation_id: str, limit: int, before: str = "") -> tuple[list[Label], str]:
        """Labels of so many raters' items, and where the next page begins (empty on the last). Raises NotFound."""
        return await self._do(self._labels, evaluation_id, limit, before)

    async def comparison(self, evaluation_id: str, number: int, rater: str) -> Comparison:
        """Two dialogues of an arena, blind; the sides are exchanged by chance. Raises NotFound."""
        return await self._do(self._comparison, evaluation_id, number, rater)

    async def vote(self, evaluation_id: str, number: int, rater: str, choice: Choice) -> Comparison:
        """Keep a person's vote, in the place of an earlier one; returns the comparison as it is then.

        Raises:
            NotFound: No such evaluation or comparison.
            InvalidInput: Its dialogues are not complete.
            Conflict: As many are kept as may be.
        """
        await self._do(self._vote, evaluation_id, number, rater, choice)
        return await self.comparison(evaluation_id, number, rater)

    async def votes(self, evaluation_id: str, limit: int, before: str = "") -> tuple[list[Vote], str]:
        """So many votes, and where the next page begins (empty on the last). Raises NotFound."""
        return await self._do(self._votes, evaluation_id, limit, before)

    async def agreement(self, evaluation_id: str) -> Agreement:
        """How far raters agree, and the judge with them. Raises NotFound."""
        return await self._do(self._agreement, evaluation_id)

    def _worker(self) -> Worker:
        told = self._json("worker.json")
        if told is None:
            return Worker()
        try:
            age = (datetime.now(UTC) - datetime.fromisoformat(told["updated"])).total_seconds()
            return Worker(
                updated=told["updated"],
                alive=age < _ALIVE_SECONDS,
                models=tuple(told["models"]),
                question_sets=dict(told["question_sets"]),
                benches=dict(told["benches"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable("worker.json in the store of evaluations is of another version.") from error

    def _add(self, kind: Kind, name: str, settings: Json, key: str, seconds: float) -> Evaluation:
        self._check_disk()
        waiting = sum(one.state == "queued" for one in map(self._read, self._ids()) if one)
        if waiting >= self._queue:
            raise Overloaded(
                f"{waiting} evaluations wait, and no more may; cancel one, or come again later.",
                details={"limit": str(self._queue)},
                retry_after=60.0,
            )
        now = datetime.now(UTC)
        request = {
            "id": make_id(now),
            "kind": kind,
            "name": name,
            "settings": settings,
            "created": f"{now:%Y-%m-%dT%H:%M:%S}Z",
            "key": key,
            "seconds": seconds,
        }
        self._write(f"{request['id']}/request.json", request)
        return Evaluation.of(request, {}, cancelled=False)

    def _newest(self, limit: int, before: str, kinds: tuple[Kind, ...], states: tuple[State, ...]) -> list[Evaluation]:
        found: list[Evaluation] = []
        for one in self._ids():
            if len(found) >= limit:
                break
            if before and one >= before:
                continue
            read = self._read(one)
            if read and (not kinds or read.kind in kinds) and (not states or read.state in states):
                found.append(read)
        return found

    def _ids(self) -> list[str]:
        return sorted((name for name in self._storage.names() if TIMED_ID.fullmatch(name)), reverse=True)

    def _get(self, evaluation_id: str) -> Evaluation:
        found = self._read(evaluation_id) if TIMED_ID.fullmatch(evaluation_id) else None
        if found is None:
            raise NotFound(f"There is no evaluation {evaluation_id[:64]!r}.")
        return found

    def _read(self, evaluation_id: str) -> Evaluation | None:
        """None where it is being made or was deleted."""
        request = self._json(f"{evaluation_id}/request.json")
        if request is None:
            return None
        told = self._json(f"{evaluation_id}/state.json") or {}
        cancelled = self._storage.exists(f"{evaluation_id}/cancel.json")
        try:
            return Evaluation.of(request, told, cancelled=cancelled)
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable(f"The evaluation {evaluation_id} is of another version: {error}.") from error

    def _index(self, evaluation_id: str) -> Json:
        self._get(evaluation_id)
        index = self._json(f"{evaluation_id}/index.json")
        if index is None:
            return {"chunk": 1, "items": []}
        if index.get("format") != FORMAT:
            raise Unavailable(
                f"The items of {evaluation_id} were written in format {index.get('format')!r}, this gateway reads "
                f"{FORMAT}; publish the run again (quelea eval publish)."
            )
        return index

    def _item(self, evaluation_id: str, item_id: str) -> Json:
        index = self._index(evaluation_id)
        at = next((at for at, line in enumerate(index["items"]) if line["id"] == item_id), None)
        if at is None:
            raise NotFound(f"There is no item {item_id[:64]!r} in this evaluation.")
        chunk = self._json(f"{evaluation_id}/items/{at // index['chunk']:05}.json")
        if chunk is None:
            raise NotFound(f"The item {item_id[:64]!r} is being replaced; ask again.")
        found: Json = chunk["items"][at % index["chunk"]]
        return found

    def _cancel(self, evaluation_id: str) -> Evaluation:
        if self._get(evaluation_id).is_open:
            self._write(f"{evaluation_id}/cancel.json", {})
        return self._get(evaluation_id)

    def _label(self, evaluation_id: str, item_id: str, rater: str, given: list[tuple[str, int, int]]) -> list[Label]:
        item = self._item(evaluation_id, item_id)
        result = self._json(f"{evaluation_id}/result.json") or {}
        labels = make_labels(rater, given, item, result.get("scales", {}))
        self._keep(f"{evaluation_id}/labels", item_id, rater, {"labels": [asdict(one) for one in labels]})
        return labels

    def _keep(self, folder: str, item_id: str, rater: str, said: Json) -> None:
        """What a person said of an item, in the place of what he said before."""
        self._check_disk()
        name = _file_of(item_id, rater)
        there = self._storage.names(folder)
        if name not in there and len(there) >= _MOST_LABELLED:
            raise Conflict(f"This evaluation has {_MOST_LABELLED:,} labels by people, and no more are kept.")
        self._write(f"{folder}/{name}", said)

    def _comparison(self, evaluation_id: str, number: int, rater: str) -> Comparison:
        ids, item = self._blind(evaluation_id, number)
        there = set(self._storage.names(f"{evaluation_id}/votes"))
        voted = {at for at, one in enumerate(ids, 1) if _file_of(one, rater) in there}
        left_first = core_votes.first_is_left(evaluation_id, item["id"], rater)
        own = self._json(f"{evaluation_id}/votes/{_file_of(item['id'], rater)}") if number in voted else None
        sides = [one["turns"] for one in item["dialogues"]]
        further = (at for at in (*range(number + 1, len(ids) + 1), *range(1, number)) if at not in voted)
        return Comparison(
            number=number,
            total=len(ids),
            voted=len(voted),
            next=next(further, None),
            task=str(item["task"]),
            complete=core_votes.is_complete(item),
            left=sides[not left_first],
            right=sides[left_first],
            choice=core_votes.choice_of(Vote(**own), left_first=left_first) if own else None,
        )

    def _blind(self, evaluation_id: str, number: int) -> tuple[list[str], Json]:
        """Ids of all items in the order in which they are shown, and the item of this number."""
        if self._get(evaluation_id).kind != "arena":
            raise InvalidInput("Only an arena has two systems to compare.")
        ids = core_votes.order_blind(evaluation_id, (str(one["id"]) for one in self._index(evaluation_id)["items"]))
        if not 1 <= number <= len(ids):
            raise NotFound(f"There is no comparison {number}; there are {len(ids)}.")
        return ids, self._item(evaluation_id, ids[number - 1])

    def _vote(self, evaluation_id: str, number: int, rater: str, choice: Choice) -> None:
        _, item = self._blind(evaluation_id, number)
        left_first = core_votes.first_is_left(evaluation_id, item["id"], rater)
        at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        vote = core_votes.make_vote(item, rater, choice, left_first=left_first, at=at)
        self._keep(f"{evaluation_id}/votes", vote.item_id, rater, asdict(vote))

    def _votes(self, evaluation_id: str, limit: int, before: str) -> tuple[list[Vote], str]:
        self._get(evaluation_id)
        names, token = page_of(self._storage.names(f"{evaluation_id}/votes"), str, limit, before)
        files = (self._json(f"{evaluation_id}/votes/{name}") for name in names if name.endswith(".json"))
        return [Vote(**file) for file in files if file], token

    def _agreement(self, evaluation_id: str) -> Agreement:
        votes, _ = self._votes(evaluation_id, _MOST_LABELLED, "")
        lines = self._index(evaluation_id)["items"]
        return core_votes.measure_agreement(votes, {str(one["id"]): one["values"].get("score") for one in lines})

    def _labels(self, evaluation_id: str, limit: int, before: str) -> tuple[list[Label], str]:
        self._get(evaluation_id)
        names, token = page_of(self._storage.names(f"{evaluation_id}/labels"), str, limit, before)
        files = (self._json(f"{evaluation_id}/labels/{name}") for name in names if name.endswith(".json"))
        return [Label(**one) for file in files if file for one in file["labels"]], token

    def _delete(self, evaluation_id: str) -> None:
        if self._get(evaluation_id).is_open:
            raise Conflict("The evaluation has not ended; cancel it first.")
        self._storage.delete(f"{evaluation_id}/request.json")  # first, so that nobody sees half of it
        self._storage.delete_folder(evaluation_id)

    def _json(self, name: str) -> Json | None:
        try:
            found = json.loads(self._storage.read(name))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise Unavailable(f"{name} in the store of evaluations is not JSON: {error}.") from error
        if not isinstance(found, dict):
            raise Unavailable(f"{name} in the store of evaluations is not a JSON object.")
        return found

    def _write(self, name: str, value: Json) -> None:
        self._storage.write(name, to_json(value))
