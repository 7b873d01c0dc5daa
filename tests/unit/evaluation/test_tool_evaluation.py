"""`quelea eval tools`: the measures, and the questions that are kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from quelea_evaluation.tools import ToolQuestion, groups, load, met, score

QUESTIONS = Path(__file__).parents[2] / "eval" / "tools.jsonl"


def question(name: str, *gold: set[str]) -> ToolQuestion:
    return ToolQuestion(name, "?", "en", "user", "stock", tuple(frozenset(need) for need in gold))


def test_a_need_is_met_by_any_of_its_tools_within_k() -> None:
    both = question("q", {"a", "b"}, {"c"})
    assert [met(both, ["x", "b", "c"], k) for k in (1, 2, 3)] == [0, 1, 2]


def test_right_wrong_and_hits_over_questions() -> None:
    asked = [question("1", {"a"}, {"b"}), question("2", {"a"}), question("3", {"z"})]
    tops = {"1": ["a", *"uvwxy", "b"], "2": ["u", "a"], "3": list("abcdefghij")}
    made = score("both", "all", asked, tops)
    assert made.hit_1 == pytest.approx(1 / 3)
    assert made.hit_5 == made.hit_10 == pytest.approx(2 / 3)
    assert (made.all_right_5, made.all_right_10) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert made.all_wrong_5 == made.all_wrong_10 == pytest.approx(1 / 3)


def test_the_questions_are_enough_and_of_every_kind() -> None:
    asked = load(QUESTIONS)
    assert len(asked) >= 200
    assert len({one.id for one in asked}) == len({one.question for one in asked}) == len(asked)
    languages, styles = Counter(one.language for one in asked), Counter(one.style for one in asked)
    assert min(languages["zh"], languages["en"]) >= 0.4 * len(asked)
    assert styles["user"] >= len(asked) / 2
    assert len({one.group for one in asked}) == 12
    assert sum(1 for one in asked if len(one.gold) > 1) >= 10
    parts = groups(asked)
    assert len(parts["dev"]) + len(parts["held-out"]) == len(asked)
    assert min(len(parts["dev"]), len(parts["held-out"])) > 100
