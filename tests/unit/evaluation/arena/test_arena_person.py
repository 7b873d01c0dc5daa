"""A person in the user's place: rounds, the end, failures, several people, and a process that dies in between."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.arena.arena_folder import Arena
from quelea_evaluation.arena.commands import app
from quelea_evaluation.arena.items import read_bench
from quelea_evaluation.arena.judge import DEFAULT
from quelea_evaluation.arena.person import LONGEST, PersonTalks
from quelea_evaluation.arena.runs import Going, judge, talk
from quelea_evaluation.arena.simulator import END
from quelea_evaluation.arena.statistics import describe_arena, failure_notices
from quelea_evaluation.endpoints.chat import Message, Reply, Sampling
from quelea_evaluation.endpoints.client import Address, EndpointError
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun
from typer.testing import CliRunner

BENCH = read_bench()
FEW = next(item for item in BENCH.items if item.task == "Credit_Risk_Evaluation")
ONE = next(item for item in BENCH.items if item.one_round)
NEXT = {"rater": "Ann", "do": "next"}
Decide = Callable[[str, Sequence[Message]], str]


class Speaking:
    """Says what a function makes of its name and the messages."""

    def __init__(self, name: str, decide: Decide) -> None:
        self.name = name
        self._decide = decide

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        assert (sampling.temperature, sampling.seed) == (0.5, 5)
        text = await asyncio.to_thread(self._decide, self.name, messages)
        return Reply(text, (7, 3), 2.0, model=self.name)

    async def close(self) -> None:
        pass


def answering(name: str, messages: Sequence[Message]) -> str:
    return f"{name} answers {sum(one['role'] == 'user' for one in messages)}"


def talks(folder: Path, decide: Decide = answering, systems: Sequence[str] = ("a",), **more: Any) -> PersonTalks:
    settings = {name: {"system": f"{name}@http://h/v1", "max_tokens": 0} for name in systems}
    items = more.pop("items", [FEW])
    return PersonTalks(Arena(folder), BENCH, items, settings, lambda name: Speaking(name, decide), seed=5, **more)


def say(text: str, number: int = 1, rater: str = "Ann", do: str = "say") -> dict[str, Any]:
    return {"rater": rater, "do": do, "number": number, "text": text}


def stored(folder: Path, system: str = "a") -> list[dict[str, Any]]:
    return list(Arena(folder).dialogues(system).latest())


def test_a_dialogue_goes_round_by_round_and_ends_when_the_needs_are_met(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def noting(name: str, messages: Sequence[Message]) -> str:
        seen.append([one["role"] for one in messages])
        assert messages[0]["content"] == FEW.system_message
        return answering(name, messages)

    with talks(tmp_path, noting) as held:
        begun = held.take(NEXT)
        assert (begun["number"], begun["needs"], begun["turns"], begun["rounds_left"]) == (1, FEW.needs, [], 9)
        assert "system" not in begun
        for number in (1, 2, 3):
            with pytest.raises(BadInput, match="may end after the reply of round 3"):
                held.take(say("", do="end"))
            shown = held.take(say(f" question {number} "))
            assert (shown["turns"][-1]["text"], shown["rounds_left"]) == (f"a answers {number}", 9 - number)
        assert shown["may_end"]
        assert held.take(say("", do="end"))["ended"] == "user"
        with pytest.raises(BadInput, match="has ended"):
            held.take(say("more"))
        assert held.take(NEXT)["number"] == 0
    assert seen[-1] == ["system", "user", "assistant", "user", "assistant", "user"]
    (row,) = stored(tmp_path)
    assert [turn["content"] for turn in row["turns"]] == [
        *("question 1", "a answers 1", "question 2", "a answers 2", "question 3", "a answers 3", f"<{END}>")
    ]
    assert (row["status"], row["ended_by"], row["rounds"], row["rater"]) == ("complete", "user", 3, "Ann")
    assert row["usage"]["system"]["total_tokens"] == 30
    assert row["usage"]["user"]["calls"] == 0
    assert all(turn["milliseconds"] >= 0 for turn in row["turns"])


def test_nine_rounds_at_most_and_the_end_marker_in_a_message(tmp_path: Path) -> None:
    with talks(tmp_path, items=[FEW, next(i for i in BENCH.items if i.task == FEW.task and i != FEW)]) as held:
        held.take(NEXT)
        held.take(say("first"))
        assert held.take(say(f"thank you. {END}"))["ended"] == "user"
        second = held.take(NEXT)["number"]
        for number in range(9):
            shown = held.take(say(f"round {number}", second))
        assert (shown["ended"], shown["rounds_left"]) == ("rounds", 0)
        assert held.counts() == {"complete": 2, "failed": 0, "under_way": 0, "left": 0}
    assert [row["rounds"] for row in stored(tmp_path)] == [1, 9]


def test_a_process_that_ends_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    def failing(name: str, messages: Sequence[Message]) -> str:
        if sum(one["role"] == "user" for one in messages) == 2:
            raise EndpointError("no answer within 1 s", passing=True)
        return answering(name, messages)

    with talks(tmp_path, failing) as held:
        held.take(NEXT)
        held.take(say("one"))
        shown = held.take(say("two"))
        assert (shown["waits"], shown["error"], shown["may_end"]) == (True, "no answer within 1 s", False)
        with pytest.raises(BadInput, match="ask again, or give up"):
            held.take(say("three"))
    assert stored(tmp_path) == []
    turns = tmp_path / "systems" / "a" / "turns.jsonl"
    turns.write_bytes(turns.read_bytes() + b'{"id": "cut by a ki')
    with talks(tmp_path) as held:
        assert held.counts()["under_way"] == 1
        shown = held.take(NEXT)
        assert [turn["text"] for turn in shown["turns"]] == ["one", "a answers 1", "two"]
        assert held.take(say("", do="again"))["turns"][-1]["text"] == "a answers 2"
        with pytest.raises(BadInput, match="no message without a reply"):
            held.take(say("", do="again"))
        held.take(say("three"))
        held.take(say("", do="end"))
    (row,) = stored(tmp_path)
    assert [turn["role"] for turn in row["turns"]] == [*(["user", "assistant"] * 3), "user"]
    with talks(tmp_path) as held:
        assert held.take(NEXT)["number"] == 0


def test_a_system_that_stays_away_is_a_failure_that_can_be_held_again(tmp_path: Path) -> None:
    def away(name: str, messages: Sequence[Message]) -> str:
        raise EndpointError("refused", passing=True)

    with talks(tmp_path, away) as held:
        held.take(NEXT)
        with pytest.raises(BadInput, match="only when it does not"):
            held.take(say("", do="give_up"))
        held.take(say("hello"))
        assert held.take(say("", do="give_up"))["ended"] == "failure"
    (row,) = stored(tmp_path)
    assert (row["status"], row["error"], row["rounds"]) == ("failed", "refused", 0)
    with talks(tmp_path) as held:
        assert held.counts() == {"complete": 0, "failed": 1, "under_way": 0, "left": 0}
    with talks(tmp_path, retry_failed=True) as held:
        assert held.take(NEXT)["turns"] == []
        for text in ("1", "2", "3"):
            held.take(say(text))
        held.take(say("", do="end"))
    (row,) = stored(tmp_path)
    assert (row["status"], row["rounds"]) == ("complete", 3)


def test_people_do_not_disturb_one_another_and_do_not_know_who_answers(tmp_path: Path) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slow(name: str, messages: Sequence[Message]) -> str:
        if messages[-1]["content"] == "slow":
            entered.set()
            assert go_on.wait(120)
        return "well"

    with talks(tmp_path, slow, ("hidden-a", "hidden-b")) as held:
        first, second = held.take(NEXT), held.take({**NEXT, "rater": "Bo"})
        assert {first["number"], second["number"]} == {1, 2}
        assert "hidden" not in json.dumps([first, second])
        thread = threading.Thread(target=held.take, args=(say("slow"),))
        thread.start()
        assert entered.wait(120)
        with pytest.raises(BadInput, match="still writing"):
            held.take(say("impatient"))
        with pytest.raises(BadInput, match="Ann has this conversation"):
            held.take(say("hm", 1, "Bo"))
        assert held.take(say("hello", 2, "Bo"))["turns"][-1]["text"] == "well"
        go_on.set()
        thread.join(120)
        assert [turn["text"] for turn in held.take(NEXT)["turns"]] == ["slow", "well"]
        assert held.take({"rater": "Cy", "do": "next"}) == {"number": 0, "under_way": 2, "counts": held.counts()}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([], "must be an object"),
        ({"do": "next"}, "field 'rater'"),
        ({"rater": "Ann", "do": "fly", "number": 1}, "field 'do' must be one of next, say"),
        (say("hm", number=2), "field 'number' must be one of 1 to 1"),
        (say("  "), "field 'text'"),
        (say("x" * (LONGEST + 1)), "field 'text'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, said: Any, message: str) -> None:
    with talks(tmp_path) as held, pytest.raises(BadInput, match=message):
        held.take(said)
    assert stored(tmp_path) == []


def test_what_people_held_is_judged_like_the_rest_and_said_to_be_theirs(tmp_path: Path) -> None:
    with talks(tmp_path, systems=("a", "b")) as held:
        while (number := held.take(NEXT)["number"]) != 0:
            for text in ("1", "2", "3"):
                held.take(say(text, number))
            held.take(say("", number, do="end"))
    going = Going(1)

    class Judge(Speaking):
        async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
            before_a = messages[-1]["content"].index("a answers 1")
            return Reply("[[1]]" if before_a < messages[-1]["content"].index("b answers 1") else "[[2]]")

    counts = judge(
        Arena(tmp_path), "j", BENCH, Address("j", "http://h/v1"), DEFAULT,
        make=lambda: Judge("j", answering), going=going, done=lambda _: None,
    )  # fmt: skip
    assert counts == {"judged": 1}
    (game,) = Arena(tmp_path).games("j")
    assert (game.first, game.second, game.score) == ("a", "b", 1.0)
    assert "1 of 1 dialogues with a were held by people." in failure_notices(describe_arena(Arena(tmp_path), "j"))


def test_people_and_simulated_users_do_not_mix_in_one_system(tmp_path: Path) -> None:
    with talks(tmp_path), pytest.raises(BadRun, match="Another run writes"):
        talks(tmp_path)
    settings = {"system": "a@http://h/v1", "user": "u@http://h/v1", "max_tokens": 0}
    with pytest.raises(BadRun, match="other settings: user, version"):
        talk(
            Arena(tmp_path), "a", [FEW], lambda: (None, Speaking("a", answering)), settings, BENCH,
            seed=5, going=Going(1, resume=True), done=lambda _: None,
        )  # fmt: skip
    with pytest.raises(BadInput, match="need no user"):
        talks(tmp_path / "other", items=[ONE])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--system", "m@http://h/v1", "--system", "m@http://g/v1"), "two systems are called m"),
        (("--system", "m@http://h/v1", "--name", "a", "--name", "b"), "1 --system and 2 --name"),
        (("--system", "m@http://h/v1", "--task", ONE.task), "need no user"),
        (("--system", "m"), "--system"),
    ],
)
def test_the_command_refuses_what_cannot_be_meant(tmp_path: Path, words: Sequence[str], message: str) -> None:
    found = CliRunner().invoke(app, ["converse", str(tmp_path / "arena"), *words])
    assert found.exit_code == 2
    assert message in found.stderr
