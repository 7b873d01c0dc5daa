"""A person takes the user's place: talks with a system round by round, and does not know which one it is.

Every message is on the disk before the system is asked, every reply before it is shown. A finished dialogue is stored
as those of simulated users are, so that it is judged, voted on and rated as they are.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from quelea_evaluation.arena.arena_folder import DIALOGUES, TALK_KIND, Arena, dialogue_id, open_run
from quelea_evaluation.arena.items import Bench, Item
from quelea_evaluation.arena.simulator import END, MAY_END_FROM, MOST_ROUNDS, Temperatures, sampling
from quelea_evaluation.arena.speakers import Speaker, Usage, describe
from quelea_evaluation.arena.votes import read_rater
from quelea_evaluation.endpoints.chat import Message, Reply, milliseconds_since
from quelea_evaluation.endpoints.client import EndpointError
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import Row, RowFile

VERSION = "arena-person-1"
"""Changes with the rules of such a dialogue, so that those of two versions are never mixed."""
PERSON = "person"
"""As the simulated user's address stands in the settings of other dialogues."""
TURNS = "turns"
LONGEST = 4000
"""Characters of a message: as much as a gateway takes."""


@dataclass
class _Dialogue:
    """One to be held, under way, or finished."""

    number: int
    item: Item
    system: str
    rater: str = ""
    started: str = ""
    turns: list[Row] = field(default_factory=list)
    finished: str = ""
    """How it ended; empty while it goes on."""
    error: str = ""
    """Why the system did not answer the last message."""
    busy: bool = False
    """The system is being asked."""
    shown: float = field(default_factory=time.monotonic)

    @property
    def rounds(self) -> int:
        """Replies so far."""
        return sum(turn["role"] == "assistant" for turn in self.turns)

    @property
    def waits(self) -> bool:
        """The last message has no reply yet."""
        return bool(self.turns) and self.turns[-1]["role"] == "user"


class PersonTalks:
    """Dialogues of an arena that people hold, each once; for several threads, and one process.

    Args:
        arena: Where they go.
        bench: What they are about.
        items: Of it; those of one round, which need no user, are left out.
        systems: Name → the settings that its dialogues depend on.
        make: Gives the speaker of a name; called inside the loop that it lives in.
        seed: Of the order, and of every call.
        retry_failed: Hold again those that failed.

    Raises:
        BadInput: No item is a conversation.
        BadRun: A system's folder has dialogues under other settings, or another process writes there.
    """

    def __init__(
        self,
        arena: Arena,
        bench: Bench,
        items: Sequence[Item],
        systems: Mapping[str, Row],
        make: Callable[[str], Speaker],
        *,
        seed: int,
        retry_failed: bool = False,
    ) -> None:
        chosen = [item for item in items if not item.one_round]
        if not chosen:
            raise BadInput("none of the chosen items is a conversation; tasks whose names begin with 0_ need no user")
        self._seed = seed
        self._make = make
        self._lock = threading.Lock()
        self._speakers: dict[str, Speaker] = {}
        self._finished: dict[str, RowFile] = {}
        self._turns: dict[str, RowFile] = {}
        self._dialogues = _in_order(chosen, list(systems), seed)
        self._open = ExitStack()
        data = {"bench": bench.sha256}
        try:
            for name, settings in systems.items():
                decided = {**settings, "user": PERSON, "seed": seed, "version": VERSION}
                folder = open_run(arena.system_folder(name), TALK_KIND, decided, data, resume=True)
                self._open.enter_context(folder)
                self._finished[name], self._turns[name] = folder.rows(DIALOGUES), folder.rows(TURNS)
                self._restore(name, retry_failed=retry_failed)
        except BaseException:
            self._open.close()
            raise
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="speakers", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async def leave() -> None:
            for speaker in self._speakers.values():
                await speaker.close()

        asyncio.run_coroutine_threadsafe(leave(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._open.close()

    def counts(self) -> dict[str, int]:
        """How many dialogues are complete, failed, under way, and not begun."""
        with self._lock:
            return self._counts()

    def take(self, said: object) -> Row:
        """What a person does, `{rater, do, number, text}`, and the dialogue as it is then.

        `do` is `next` (gives one to hold), `say` (with `text`), `again` (asks once more what had no reply), `end` (the
        needs are met; from the third round on) or `give_up` (the system does not answer).

        Raises:
            BadInput: A field is missing or wrong, or it cannot be done now; the message says why.
        """
        if not isinstance(said, dict):
            raise BadInput("what is sent must be an object with rater, do and number")
        rater, do = read_rater(said), said.get("do")
        if do == "next":
            with self._lock:
                return self._next(rater)
        steps = {"say": self._say, "again": self._again, "end": self._end, "give_up": self._give_up}
        if do not in steps:
            raise BadInput(f"field 'do' must be one of next, {', '.join(steps)}, got {do!r}")
        with self._lock:
            one = self._named(said.get("number"), rater)
            ask = steps[do](one, said.get("text"))
        if ask:
            self._reply(one)
        with self._lock:
            return self._shown(one)

    # Under the lock

    def _next(self, rater: str) -> Row:
        open_ones = [one for one in self._dialogues if not one.finished]
        own = (one for one in open_ones if one.rater == rater)
        free = (one for one in open_ones if not one.rater)
        unsaid = (one for one in open_ones if not one.turns)
        one = next(own, None) or next(free, None) or next(unsaid, None)
        if one is None:
            return {"number": 0, "under_way": len(open_ones), "counts": self._counts()}
        one.rater, one.shown = rater, time.monotonic()
        return self._shown(one)

    def _named(self, number: object, rater: str) -> _Dialogue:
        if type(number) is not int or not 1 <= number <= len(self._dialogues):
            raise BadInput(f"field 'number' must be one of 1 to {len(self._dialogues)}, got {number!r}")
        one = self._dialogues[number - 1]
        if one.finished:
            raise BadInput("this conversation has ended; go on to the next")
        if one.rater not in ("", rater):
            raise BadInput(f"{one.rater} has this conversation; go on to the next")
        if one.busy:
            raise BadInput("the assistant is still writing")
        one.rater = rater
        return one

    def _say(self, one: _Dialogue, text: object) -> bool:
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            raise BadInput(f"field 'text' must be a message of at most {LONGEST:,} characters")
        if one.waits:
            raise BadInput("the assistant has not answered yet; ask again, or give up")
        self._note(one, {"role": "user", "content": text.strip(), "milliseconds": milliseconds_since(one.shown)})
        if one.rounds and END in text:
            self._finish(one, "user")
            return False
        one.busy = True
        return True

    def _again(self, one: _Dialogue, _: object) -> bool:
        if not one.waits:
            raise BadInput("there is no message without a reply")
        one.busy = True
        return True

    def _end(self, one: _Dialogue, _: object) -> bool:
        if one.rounds < MAY_END_FROM or one.waits:
            raise BadInput(f"a conversation may end after the reply of round {MAY_END_FROM}")
        self._note(one, {"role": "user", "content": f"<{END}>", "milliseconds": milliseconds_since(one.shown)})
        self._finish(one, "user")
        return False

    def _give_up(self, one: _Dialogue, _: object) -> bool:
        if not one.waits:
            raise BadInput("the assistant has answered; give up only when it does not")
        self._finish(one, "failure", one.error or "the system did not answer, and the person gave up")
        return False

    def _note(self, one: _Dialogue, turn: Row) -> None:
        one.started = one.started or datetime.now(UTC).isoformat(timespec="microseconds")
        place = {"item": one.item.id, "rater": one.rater, "started": one.started}
        row = {"id": f"{one.item.id} {one.started} {len(one.turns)}", **place, "turn": turn}
        self._turns[one.system].append(row)
        one.turns.append(turn)

    def _finish(self, one: _Dialogue, ended_by: str, error: str | None = None) -> None:
        usage = Usage()
        for turn in one.turns:
            if turn["role"] == "assistant":
                usage.add(Reply(turn["content"], tuple(turn["tokens"]) if turn["tokens"] else None))
        row = {
            "id": dialogue_id(one.item.id),
            "item": one.item.id,
            "task": one.item.task,
            "system": one.system,
            "rater": one.rater,
            "status": "failed" if error else "complete",
            "error": error,
            "down": False,
            "ended_by": ended_by,
            "rounds": one.rounds,
            "turns": one.turns,
            "usage": {"user": Usage().line(), "system": usage.line()},
            "seed": self._seed,
            "version": VERSION,
            "started": one.started,
            "milliseconds": round(sum(turn["milliseconds"] for turn in one.turns), 1),
        }
        self._finished[one.system].append(row)
        one.finished = ended_by

    def _shown(self, one: _Dialogue) -> Row:
        return {
            "number": one.number,
            "task": one.item.task,
            "needs": one.item.needs,
            "information": one.item.information,
            "role": one.item.user_message,
            "turns": [{"role": turn["role"], "text": turn["content"]} for turn in one.turns],
            "rounds_left": MOST_ROUNDS - one.rounds,
            "may_end": one.rounds >= MAY_END_FROM and not one.waits,
            "waits": one.waits,
            "error": one.error,
            "ended": one.finished,
            "counts": self._counts(),
        }

    def _counts(self) -> dict[str, int]:
        ended = [one.finished for one in self._dialogues if one.finished]
        under_way = sum(bool(one.turns) and not one.finished for one in self._dialogues)
        failed = ended.count("failure")
        left = len(self._dialogues) - len(ended) - under_way
        return {"complete": len(ended) - failed, "failed": failed, "under_way": under_way, "left": left}

    # Without it: a reply may take minutes

    def _reply(self, one: _Dialogue) -> None:
        messages: list[Message] = [{"role": "system", "content": one.item.system_message}]
        messages += [{"role": turn["role"], "content": turn["content"]} for turn in one.turns]

        async def ask() -> Reply:
            if one.system not in self._speakers:
                self._speakers[one.system] = self._make(one.system)
            return await self._speakers[one.system].reply(messages, sampling(Temperatures().system, self._seed))

        reply, problem = None, "the system was not asked"
        try:
            reply = asyncio.run_coroutine_threadsafe(ask(), self._loop).result()
        except EndpointError as error:
            problem = str(error)
        finally:
            with self._lock:
                one.busy = False
                if reply is None:
                    one.error = problem
        if reply is not None:
            with self._lock:
                one.error = ""
                self._note(one, {"role": "assistant", "content": reply.text, **describe(reply)})
                one.shown = time.monotonic()
                if one.rounds >= MOST_ROUNDS:
                    self._finish(one, "rounds")

    def _restore(self, name: str, *, retry_failed: bool) -> None:
        """What an earlier process left: dialogues that ended, and turns of those that were under way."""
        of_item = {one.item.id: one for one in self._dialogues if one.system == name}
        ended = {row["item"]: row for row in self._finished[name].latest()}
        again = {row["started"] for row in ended.values() if retry_failed and row["status"] == "failed"}
        for item, row in ended.items():
            if item in of_item and row["started"] not in again:
                of_item[item].finished = row["ended_by"]
        for row in self._turns[name]:
            one = of_item.get(row["item"])
            if one is None or one.finished or row["started"] in again:
                continue
            one.rater, one.started = row["rater"], row["started"]
            one.turns.append(row["turn"])
        for one in of_item.values():  # killed between the last reply and the line of the dialogue
            if not one.finished and one.rounds >= MOST_ROUNDS:
                self._finish(one, "rounds")
            elif not one.finished and one.waits and one.rounds and END in one.turns[-1]["content"]:
                self._finish(one, "user")


def _in_order(items: Sequence[Item], systems: Sequence[str], seed: int) -> list[_Dialogue]:
    """Items shuffled, and for each the systems: nobody knows by the number who answers."""
    rng = random.Random(seed)  # noqa: S311  an order, no secret
    shuffled = rng.sample(list(items), len(items))
    pairs = [(item, name) for item in shuffled for name in rng.sample(list(systems), len(systems))]
    return [_Dialogue(number, item, name) for number, (item, name) in enumerate(pairs, 1)]
