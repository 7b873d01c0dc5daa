"""Ratings of a win, tie and loss record: as published, and in no order."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.arena.bradley_terry import Game, rate_games, rate_record
from quelea_evaluation.arena.commands import app
from quelea_evaluation.arena.leaderboard import rate_games_table, rate_table
from quelea_evaluation.arena.record import Record, build_record, parse_record, read_record
from quelea_evaluation.inputs import BadInput
from typer.testing import CliRunner

UCFE = Path(__file__).parents[3] / "eval" / "ucfe"
SECTIONS = ("overall", "zero_shot", "few_shot")

BRADLEY_TERRY = {
    "CFGPT2-7B": 1146.9,
    "Tongyi-Finance-14B-Chat": 1101.8,
    "palmyra-fin-70b-32k": 1085.9,
    "gpt-4o": 1063.1,
    "llama-3.1-8b-instruct": 1046.1,
    "internlm2": 1015.4,
    "gpt-4o-mini": 949.3,
    "Llama3-XuanYuan3-70B-Chat": 936.6,
    "Meta-Llama-3.1-70B-Instruct": 932.0,
    "Qwen2.5-14B-Instruct": 888.4,
    "Qwen2.5-7B-Instruct": 834.5,
}
"""The maximum of the likelihood, without a prior, computed by another program."""


@pytest.fixture(scope="module")
def gold() -> dict[str, Any]:
    return dict(json.loads(gzip.decompress((UCFE / "gold.json.gz").read_bytes())))


@pytest.fixture(scope="module")
def record() -> Record:
    return read_record(UCFE / "record.json.gz")


def run(*args: str) -> Any:
    result = CliRunner().invoke(app, ["rate", *args, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_table_5_as_printed(gold: dict[str, Any]) -> None:
    table = run("--compat", "ucfe", str(UCFE / "record.json.gz"))
    printed = gold["paper_table5"]
    assert len(printed) == 11
    for model, line in printed.items():
        for section in SECTIONS:
            assert round(table[section][model], 2) == line[section], (model, section)
        assert table["win_counts"][model] == line["win_counts"], model
    assert table["games"] == 17_482


def test_ratings_by_task_as_recomputed(gold: dict[str, Any]) -> None:
    table = run("--compat", "ucfe", str(UCFE / "record.json.gz"))
    assert list(table["per_task"]) == list(gold["per_task"])
    for task, ratings in gold["per_task"].items():
        assert table["per_task"][task] == pytest.approx(ratings, abs=1e-9)
    for section in SECTIONS:
        assert table[section] == pytest.approx(gold[section], abs=1e-9)


def test_the_published_ratings_depend_on_the_order() -> None:
    order = run("--compat", "ucfe", "--shuffles", "5", str(UCFE / "record.json.gz"))["order"]
    assert order["shuffles"] == 5
    assert 15 < order["difference"] < 60
    assert sum(order["first"].values()) == 5
    assert all(1 < deviation < 60 for deviation in order["deviation"].values())


def test_bradley_terry_of_the_published_record(record: Record) -> None:
    table = rate_table(record, resamples=200)
    assert {model: round(rating, 1) for model, rating in table["overall"].items()} == pytest.approx(
        BRADLEY_TERRY,
        abs=0.11,  # rounded twice
    )
    for model, (low, high) in table["intervals"]["overall"].items():
        assert low < table["overall"][model] < high
        assert 10 < high - low < 40
    assert any("2 pairs never played" in notice for notice in table["notices"])
    assert any(notice.startswith("8 games fewer") for notice in table["notices"])


def test_the_order_of_the_file_decides_nothing(record: Record) -> None:
    rng = random.Random(7)

    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: shuffled(value[key]) for key in rng.sample(list(value), len(value))}

    other = parse_record(shuffled(json.loads(gzip.decompress((UCFE / "record.json.gz").read_bytes()))))
    assert other.models != record.models
    straight, mixed = rate_table(record, resamples=1), rate_table(other, resamples=1)
    assert mixed["overall"] == pytest.approx(straight["overall"], abs=1e-6)


def play(strengths: dict[str, float], games: int, rng: random.Random) -> list[Game]:
    """Games whose chances are known: one of each pair on each item, a fifth of them ties."""
    names = list(strengths)
    played = []
    for number in range(games):
        for index, first in enumerate(names):
            for second in names[index + 1 :]:
                expected = 1 / (1 + 10 ** ((strengths[second] - strengths[first]) / 400))
                score = 0.5 if rng.random() < 0.2 else float(rng.random() < expected)
                played.append(Game(f"i{number}", "talk", first, second, score))
    return played


def test_known_strengths_are_found_and_covered() -> None:
    # A tie with a fixed chance pulls expected scores to one half, so what is found is known too: .8 p + .1.
    truth = {"a": 1100.0, "b": 1000.0, "c": 900.0}
    hits = 0
    for seed in range(40):
        rated = rate_games(play(truth, 150, random.Random(seed)), list(truth), resamples=100, seed=seed)
        assert rated["a"].rating > rated["b"].rating > rated["c"].rating
        low, high = rated["b"].low, rated["b"].high
        assert low is not None and high is not None
        hits += low <= 1000 <= high
    assert hits >= 33  # 95 % of 40 are 38; fewer than 33 has a chance below 1 in 1,000


def test_two_models_have_the_rating_of_their_score() -> None:
    # 30 of 40 points: odds of 3 to 1 are 190.85 points.
    record = build_record([("t", "a", "b", 1.0)] * 25 + [("t", "a", "b", 0.5)] * 10 + [("t", "a", "b", 0.0)] * 5)
    rated = rate_record(record.cells(), record.models)
    assert rated["a"].rating - rated["b"].rating == pytest.approx(190.85, abs=2)


def test_a_model_that_won_everything_has_no_interval() -> None:
    table = rate_games_table([Game(f"i{n}", "t", "a", "b", 1.0) for n in range(6)], resamples=50)
    assert table["overall"]["a"] > 1100
    assert table["leaderboard"][0]["low"] is None
    assert any("all games ended alike" in notice for notice in table["notices"])


def test_models_with_the_same_results_share_a_rank() -> None:
    games = [Game("x", "t", "a", "b", 0.5)]
    for model in ("a", "b"):  # a and b fare alike; the arithmetic parts them by 2e-13 points
        games += [Game("y", "t", model, "c", 1), Game("z", "t", model, "c", 1), Game("w", "t", model, "d", 0.5)]
    table = rate_games_table(games, resamples=20)
    assert {one["model"]: one["rank"] for one in table["leaderboard"]} == {"a": 1, "b": 1, "d": 3, "c": 4}


def test_groups_that_never_met_are_told_apart() -> None:
    games = [("t", "a", "b", 1.0), ("t", "a", "b", 0.0), ("t", "c", "d", 1.0), ("t", "c", "d", 0.5)]
    notices = rate_table(build_record(games), resamples=10)["notices"]
    assert any("a, b; c, d" in notice for notice in notices)


def without_mirror(data: Any) -> None:
    del data["b"]["t"]["a"]


def other_mirror(data: Any) -> None:
    data["b"]["t"]["a"] = [1, 1, 4]


def set_cell(value: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        data["a"]["t"]["b"] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            without_mirror,
            "record['a']['t']['b'] has no mirror: record['b']['t']['a'] is missing, and would be [2, 1, 3]",
        ),
        (other_mirror, "its mirror record['b']['t']['a'] must be [2, 1, 3], but it is [1, 1, 4]"),
        (set_cell([3, -1, 2]), "record['a']['t']['b']: ties must not be negative, got -1"),
        (set_cell([3, 1]), "record['a']['t']['b'] must be [wins, ties, losses], got [3, 1]"),
        (set_cell({"wins": 3}), "record['a']['t']['b'] must be [wins, ties, losses]"),
        (set_cell([3, 10**7, 2]), "ties must be at most 1,000,000, got 10000000"),
        (lambda data: data.update({f"m{n}": {} for n in range(500)}), "the record has 502 models; 500 can be rated"),
        (set_cell([3, True, 2]), "ties must be a whole number, got true"),
        (set_cell([3.5, 1, 2]), "wins must be a whole number, got 3.5"),
        (lambda data: data["a"]["t"].update(a=[0, 0, 0]), "a model cannot play against itself"),
        (lambda data: data["a"].update(t=[1, 2, 3]), "record['a']['t'] must be an object opponent →"),
        (lambda data: data.update(a=7), "record['a'] must be an object task →"),
        (lambda data: data.clear(), "the record holds no game"),
    ],
)
def test_what_is_wrong_in_a_record_is_named(change: Callable[[Any], None], message: str) -> None:
    data: Any = {"a": {"t": {"b": [3, 1, 2]}}, "b": {"t": {"a": [2, 1, 3]}}}
    parse_record(data)
    change(data)
    with pytest.raises(BadInput) as refused:
        parse_record(data)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[]", "the record must be an object model"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"a": {}, "a": {}}', "'a' stands twice"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_record(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(text)
    for extra in ([], ["--compat", "ucfe"]):
        result = CliRunner().invoke(app, ["rate", str(path), *extra, "--json"])
        assert result.exit_code == 2
        assert message in result.stderr
        assert not result.stdout


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["rate", str(tmp_path / "none.json")])
    assert result.exit_code == 2
    assert "No such file" in result.stderr
