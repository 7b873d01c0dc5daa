"""Items, dialogues and judgements, with users, systems and judges whose words are known."""

import asyncio
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.arena.arena_folder import Arena, open_run
from quelea_evaluation.arena.items import Bench, Item, fill, read_bench
from quelea_evaluation.arena.judge import DEFAULT, UCFE, judge_pair, read_verdict, write_prompt
from quelea_evaluation.arena.leaderboard import rate_games_table
from quelea_evaluation.arena.runs import Going, choose_items, judge, talk
from quelea_evaluation.arena.simulator import hold_dialogue
from quelea_evaluation.arena.speakers import Speaker
from quelea_evaluation.endpoints.chat import Message, Reply, Sampling
from quelea_evaluation.endpoints.client import Address, EndpointError, read_address
from quelea_evaluation.endpoints.work import Gone
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun

BENCH = read_bench()
FEW = next(item for item in BENCH.items if item.task == "Credit_Risk_Evaluation")
ONE = next(item for item in BENCH.items if item.one_round)


class Scripted:
    """Says what a function makes of the messages, and remembers what it was asked."""

    def __init__(
        self, name: str, says: Callable[[Sequence[Message], int], str], tokens: tuple[int, int] | None = (7, 3)
    ):
        self.name = name
        self.asked: list[tuple[list[Message], Sampling]] = []
        self._says = says
        self._tokens = tokens

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.asked.append(([*messages], sampling))
        return Reply(self._says(messages, len(self.asked)), self._tokens, 1.0, model=self.name)

    async def close(self) -> None:
        pass


def hold(item: Item, user: Speaker | None, system: Speaker) -> dict[str, Any]:
    return asyncio.run(hold_dialogue(item, user, system, name="tested"))


def spoken(name: str, item: Item = FEW) -> dict[str, Any]:
    """A dialogue in which the assistant says its name."""
    return hold(item, Scripted("u", lambda m, n: "<Consultation Ended>"), Scripted(name, lambda m, n: f"I am {name}."))


# The bench


def test_ucfes_own_bench_is_whole() -> None:
    assert len(BENCH.items) == 330
    assert len(BENCH.tasks) == 17
    assert sorted(item.id for item in BENCH.items) == list(range(1, 331))
    assert sum(item.one_round for item in BENCH.items) == 80
    assert not any("{information}" in item.user_message or "{needs}" in item.system_message for item in BENCH.items)


def own_bench(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    entry = {
        "id": 1,
        "role_prompt": "You are a client. {information} {needs}",
        "model_prompt": "You advise.",
        "information": "",
        "needs": "A loan.",
        "evaluation_prompt": "{needs} {dialogue1} {dialogue2}",
        "evaluation_hints": "",
    }
    change(entry)
    return {"Loans": [entry]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.pop("needs"), "task 'Loans', item 1 (id 1): field 'needs' must be a text, got nothing"),
        (lambda e: e.update(needs=3), "field 'needs' must be a text, got 3"),
        (lambda e: e.update(needs=" "), "field 'needs' must not be empty"),
        (lambda e: e.pop("id"), "task 'Loans', item 1: field 'id' must be a whole number"),
        (lambda e: e.update(id="1"), "field 'id' must be a whole number from 1 up, got \"1\""),
        (
            lambda e: e.update(role_prompt=""),
            "field 'role_prompt' must not be empty (a task whose name begins with '0_'",
        ),
        (lambda e: e.update(role_prompt="{need}"), "field 'role_prompt' has {need}"),
        (lambda e: e.update(evaluation_prompt="{dialogue1}"), "'evaluation_prompt' must have {dialogue2}"),
        (lambda e: e.update(hints=""), "field 'hints' is unknown"),
    ],
)
def test_what_is_wrong_in_an_item_is_named(tmp_path: Path, change: Callable[[Any], None], message: str) -> None:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(own_bench(lambda e: None)))
    read_bench(path)
    path.write_text(json.dumps(own_bench(change)))
    with pytest.raises(BadInput) as refused:
        read_bench(path)
    assert message in str(refused.value)


def test_ids_are_unique_over_all_tasks(tmp_path: Path) -> None:
    path = tmp_path / "bench.json.gz"
    bench = own_bench(lambda e: None)
    path.write_bytes(gzip.compress(json.dumps({**bench, "Cards": bench["Loans"]}).encode()))
    with pytest.raises(BadInput, match="task 'Cards': field 'id' must be unique, but task 'Loans' has 1 too"):
        read_bench(path)


def test_items_are_chosen_by_task_and_id() -> None:
    assert [i.id for i in choose_items(BENCH, ["Analyst"], [], 3)] == [1, 2, 3]
    assert [i.id for i in choose_items(BENCH, [], [330, 11], 0)] == [11, 330]
    assert len(choose_items(BENCH, [], [], 1)) == 17
    with pytest.raises(BadInput, match="no task 'Analysts'"):
        choose_items(BENCH, ["Analysts"], [], 0)
    with pytest.raises(BadInput, match="no item 331"):
        choose_items(BENCH, [], [331], 0)


def test_braces_inside_a_value_stay() -> None:
    assert fill("{needs}|{other}", {"needs": "{information}", "information": "x"}) == "{information}|{other}"


@pytest.mark.parametrize(
    "text", ["gpt", "gpt@", "@http://h/v1", "gpt@ftp://h", "gpt@http://", "gpt@http://me:key@h/v1"]
)
def test_an_address_names_model_and_url(text: str) -> None:
    with pytest.raises(BadInput, match="--system"):
        read_address(text, "--system")
    assert read_address("a/b@c@http://h:1/v1/", "--system") == Address("a/b@c", "http://h:1/v1")


def test_the_model_of_the_stack_has_its_key_and_one_name_after_each_start(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--judge stack: no stack with a language model of its own"):
        read_address("stack", "--judge", tmp_path)
    note = tmp_path / "run" / "model.json"
    note.parent.mkdir()
    found = []
    for port in (1, 2):
        note.write_text(json.dumps({"url": f"http://127.0.0.1:{port}/v1", "model": "m", "key": f"key{port}"}))
        found.append(read_address("stack", "--judge", tmp_path))
    assert [(one.url, one.key) for one in found] == [(f"http://127.0.0.1:{n}/v1", f"key{n}") for n in (1, 2)]
    assert {one.text for one in found} == {"m@stack"}
    assert "key" not in repr(found)
    note.write_text("{}")
    with pytest.raises(BadInput, match="start the stack again"):
        read_address("stack", "--judge", tmp_path)


# The simulator


def test_a_conversation_ends_when_the_user_says_so() -> None:
    user = Scripted("u", lambda m, n: "<Consultation Ended>" if n == 4 else f"question {n}")
    system = Scripted("s", lambda m, n: f"answer {n}")
    talked = hold(FEW, user, system)
    assert [turn["content"] for turn in talked["turns"]] == [
        *("question 1", "answer 1", "question 2", "answer 2", "question 3", "answer 3", "<Consultation Ended>")
    ]
    assert (talked["status"], talked["ended_by"], talked["rounds"]) == ("complete", "user", 3)
    assert talked["usage"]["user"] == {
        "calls": 4,
        "prompt_tokens": 28,
        "completion_tokens": 12,
        "total_tokens": 40,
        "uncounted_calls": 0,
    }
    # What each of them saw, and how it was sampled.
    assert [asked[1].temperature for asked in user.asked] == [0.1, 0.7, 0.7, 0.7]
    assert {(a[1].temperature, a[1].seed, a[1].frequency_penalty, a[1].presence_penalty) for a in system.asked} == {
        (0.5, 123, 0.5, 0.5)
    }
    assert user.asked[0][0] == [{"role": "system", "content": FEW.user_message}]
    shown = [messages[-1]["content"] for messages, _ in user.asked[1:]]
    assert [text.split("\n\n")[0] for text in shown] == ["answer 1", "answer 2", "answer 3"]
    assert ["<Consultation Ended>" in text for text in shown] == [False, False, True]
    assert [m["role"] for m in system.asked[-1][0]] == ["system", "user", "assistant", "user", "assistant", "user"]


def test_a_conversation_has_nine_rounds_at_most() -> None:
    talked = hold(FEW, Scripted("u", lambda m, n: "go on"), Scripted("s", lambda m, n: "well"))
    assert (talked["ended_by"], talked["rounds"], len(talked["turns"])) == ("rounds", 9, 19)


def test_an_item_of_one_round_asks_its_task_once() -> None:
    system = Scripted("s", lambda m, n: "neutral", tokens=None)
    talked = hold(ONE, None, system)
    assert talked["ended_by"] == "one round"
    assert system.asked[0][0] == [{"role": r, "content": ONE.system_message} for r in ("system", "user")]
    assert talked["usage"]["system"]["uncounted_calls"] == 1


def test_a_model_that_stops_in_the_middle_leaves_what_it_said() -> None:
    def fail(messages: Sequence[Message], number: int) -> str:
        if number == 2:
            raise EndpointError("no answer within 200 s (5 tries)", passing=True)
        return "well"

    talked = hold(FEW, Scripted("u", lambda m, n: "go on"), Scripted("s", fail))
    assert (talked["status"], talked["error"], talked["down"]) == ("failed", "no answer within 200 s (5 tries)", True)
    assert [turn["content"] for turn in talked["turns"]] == ["go on", "well", "go on"]


# The judge


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("[[1]]", 1),
        ("First [[1]], no: [[2]]", 2),
        ("tie [[3]].", 3),
        ("[[4]]", None),
        ("[[1]] or [[7]]", None),
        ("Assistant 1 is better.", None),
        ("[1]", None),
    ],
)
def test_the_last_verdict_counts(text: str, verdict: int | None) -> None:
    assert read_verdict(text) == verdict


def compare(says: Callable[[Sequence[Message], int], str], how: Any = DEFAULT, item: Item = FEW) -> dict[str, Any]:
    dialogues = {name: spoken(name, item) for name in ("alpha", "beta")}
    return asyncio.run(judge_pair(item, dialogues, Scripted("j", says), how))


def better(*order: str) -> Callable[[Sequence[Message], int], str]:
    """A judge who finds the earlier of these names better, wherever it stands."""

    def says(messages: Sequence[Message], number: int) -> str:
        text = messages[0]["content"]
        places = sorted((text.index(f"I am {name}."), name) for name in order if f"I am {name}." in text)
        best = min((name for _, name in places), key=order.index)
        return f"It may be [[3]], but [[{1 if places[0][1] == best else 2}]]"

    return says


def test_both_orders_are_judged_and_agree() -> None:
    line = compare(better("beta", "alpha"))
    assert (line["status"], line["score"], line["disagreed"]) == ("judged", 0.0, False)
    assert [v["order"] for v in line["verdicts"]] == [["alpha", "beta"], ["beta", "alpha"]]
    assert [v["winner"] for v in line["verdicts"]] == ["beta", "beta"]
    assert line["usage"]["calls"] == 2


@pytest.mark.parametrize("place", [1, 2])
def test_a_liking_for_a_place_is_a_tie(place: int) -> None:
    line = compare(lambda m, n: f"[[{place}]]")
    assert (line["score"], line["disagreed"]) == (0.5, True)


def test_a_judge_of_prose_is_asked_again_and_then_counted() -> None:
    line = compare(lambda m, n: "Both are fine.")
    assert (line["status"], line["score"], line["usage"]["calls"]) == ("failed", None, 4)
    assert "no verdict" in line["error"]
    mended = compare(lambda m, n: "hm" if n == 1 else "[[3]]")
    assert (mended["status"], mended["score"], mended["verdicts"][0]["asked"]) == ("judged", 0.5, 2)


def test_a_judge_that_repeats_the_question_has_given_no_verdict() -> None:
    def echo(messages: Sequence[Message], number: int) -> str:
        if len(messages) == 1:
            return "Assistant 1 helped better. " + str(messages[0]["content"]).strip().splitlines()[-1]
        assert messages[1]["content"].startswith("Assistant 1 helped better.")
        return "[[1]]" if "alpha" in str(messages[0]["content"]).split("assistant 2>")[0] else "[[2]]"

    line = compare(echo)
    assert [(v["verdict"], v["asked"]) for v in line["verdicts"]] == [(1, 2), (2, 2)]
    assert (line["status"], line["score"]) == ("judged", 1.0)


def test_as_ucfe_judged() -> None:
    even, odd = (next(i for i in BENCH.items if not i.one_round and i.id % 2 == rest) for rest in (0, 1))
    assert [v["order"] for v in compare(lambda m, n: "[[1]]", UCFE, even)["verdicts"]] == [["beta", "alpha"]]
    assert compare(lambda m, n: "[[1]]", UCFE, even)["score"] == 0.0
    assert compare(lambda m, n: "[[1]]", UCFE, odd)["score"] == 1.0
    failed = compare(lambda m, n: "Both.", UCFE, odd)
    assert (failed["status"], failed["usage"]["calls"]) == ("failed", 1)
    prompt = write_prompt(odd, spoken("alpha"), spoken("beta"), "ucfe")
    assert prompt.startswith("\n## Please act as a fair judge")
    assert "<Consultation Ended> I am alpha. <Consultation Ended>" in prompt
    assert "User: " not in prompt


def test_our_own_prompt_names_roles_and_has_the_rubric() -> None:
    prompt = write_prompt(FEW, spoken("alpha"), spoken("beta"))
    assert FEW.evaluation_hints in prompt
    assert FEW.needs in prompt
    assert "User: <Consultation Ended>\n\nAssistant: I am alpha." in prompt


def test_a_missing_dialogue_gives_no_game() -> None:
    dialogues = {"alpha": spoken("alpha"), "beta": None}
    line = asyncio.run(judge_pair(FEW, dialogues, Scripted("j", lambda m, n: "[[1]]")))
    assert (line["status"], line["error"], line["verdicts"]) == ("missing", "no complete dialogue of beta", [])


# Whole runs


def run_talk(arena: Arena, name: str, items: Sequence[Item], **going: Any) -> dict[str, int]:
    def make() -> tuple[Speaker, Speaker]:
        return Scripted("u", lambda m, n: "<Consultation Ended>"), Scripted(name, lambda m, n: f"I am {name}.")

    return talk(arena, name, items, make, {"system": name}, BENCH, seed=1, going=Going(**going), done=lambda line: None)


def run_judge(arena: Arena, says: Callable[[Sequence[Message], int], str], bench: Bench = BENCH, **going: Any) -> Any:
    return judge(
        arena,
        "j",
        bench,
        Address("j", "http://127.0.0.1:1/v1"),
        DEFAULT,
        make=lambda: Scripted("j", says),
        going=Going(**going),
        done=lambda line: None,
    )


def test_a_known_judge_gives_the_known_ratings_with_failures_injected(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    items = choose_items(BENCH, [], [], 2)
    for name in ("alpha", "beta", "gamma"):
        assert run_talk(arena, name, items) == {"complete": 34}
    knows = better("gamma", "alpha", "beta")
    counts = run_judge(arena, lambda m, n: "nothing" if FEW.information in m[0]["content"] else knows(m, n))
    assert counts == {"failed": 3, "judged": 99}
    table = rate_games_table(arena.games("j"), resamples=20)
    assert [line["model"] for line in table["leaderboard"]] == ["gamma", "alpha", "beta"]
    assert table["win_counts"] == {"gamma": 66, "alpha": 33, "beta": 0}


def test_a_judge_with_a_favourite_place_gives_equal_ratings(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    for name in ("alpha", "beta"):
        run_talk(arena, name, choose_items(BENCH, [], [], 1))
    run_judge(arena, lambda m, n: "[[1]]")
    table = rate_games_table(arena.games("j"), resamples=20)
    assert table["overall"] == pytest.approx({"alpha": 1000.0, "beta": 1000.0})


class KilledError(BaseException):
    """Stands for the end of the process."""


def test_a_run_taken_up_again_equals_one_that_was_not_broken(tmp_path: Path) -> None:
    items = choose_items(BENCH, [], [], 1)
    whole, broken = Arena(tmp_path / "whole"), Arena(tmp_path / "broken")
    for arena in (whole, broken):
        for name in ("alpha", "beta"):
            run_talk(arena, name, items)
    knows = better("beta", "alpha")
    run_judge(whole, knows)

    def dies(messages: Sequence[Message], number: int) -> str:
        if number == 9:
            raise KilledError
        return knows(messages, number)

    with pytest.raises(KilledError):
        run_judge(broken, dies, at_once=1)
    path = broken.judge_folder("j") / "judgements.jsonl"
    assert len(path.read_bytes().splitlines()) == 4
    with path.open("ab") as file:
        file.write(b'{"item": 5, "first": "al')  # the line that was being written
    assert run_judge(broken, knows, resume=True) == {"judged": 17}
    assert broken.games("j") == whole.games("j")
    assert rate_games_table(broken.games("j"), resamples=50) == rate_games_table(whole.games("j"), resamples=50)


def test_two_runs_into_one_folder(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    items = choose_items(BENCH, ["Analyst"], [], 2)
    run_talk(arena, "alpha", items)
    with pytest.raises(BadInput, match="holds a run already; --resume goes on with it"):
        run_talk(arena, "alpha", items)
    manifest = arena.system_folder("alpha") / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace(BENCH.sha256, "0" * 32))
    with pytest.raises(BadRun, match="holds a run with other data: bench"):
        run_talk(arena, "alpha", items, resume=True)
    manifest.write_text(whole.replace('"format": 1', '"format": 99'))
    with pytest.raises(BadRun, match="was written in format 99"):
        run_talk(arena, "alpha", items, resume=True)
    manifest.write_text(whole)
    with (
        open_run(tmp_path / "other", "arena-dialogues", {}, {}, resume=False),
        pytest.raises(BadRun, match="Another run writes into"),
    ):
        open_run(tmp_path / "other", "arena-dialogues", {}, {}, resume=True)


def test_failures_stand_until_they_are_asked_for_again(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    for name in ("alpha", "beta"):
        run_talk(arena, name, choose_items(BENCH, ["Analyst"], [], 2))
    assert run_judge(arena, lambda m, n: "prose") == {"failed": 2}
    assert run_judge(arena, better("alpha", "beta"), resume=True) == {"failed": 2}
    assert run_judge(arena, better("alpha", "beta"), resume=True, retry_failed=True) == {"judged": 2}


def test_a_run_stops_when_nobody_can_be_reached(tmp_path: Path) -> None:
    def down(messages: Sequence[Message], number: int) -> str:
        raise EndpointError("refused", passing=True)

    arena = Arena(tmp_path)
    for name in ("alpha", "beta"):
        run_talk(arena, name, choose_items(BENCH, ["Credit_Risk_Evaluation"], [], 0))
    with pytest.raises(Gone, match="12 requests in a row failed, the last with: the judge failed: refused"):
        run_judge(arena, down, at_once=1)
    assert len(arena.judgements("j")) == 12
    assert run_judge(arena, better("alpha", "beta"), resume=True, retry_failed=True) == {"judged": 20}


def test_what_a_judge_needs(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    run_talk(arena, "alpha", choose_items(BENCH, ["Analyst"], [], 1))
    with pytest.raises(BadInput, match="compares two systems"):
        run_judge(arena, better("alpha"))
    run_talk(arena, "beta", choose_items(BENCH, ["Analyst"], [], 1))
    with pytest.raises(BadInput, match="talked about another bench"):
        run_judge(arena, better("alpha"), Bench(BENCH.items, "0" * 32))
