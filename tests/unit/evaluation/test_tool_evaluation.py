"""`quelea eval tools`: the measures, and the questions that are kept."""

from __future__ import annotations

import io
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from quelea_evaluation.tools.ranking import ToolQuestion, groups, load, met, score, table_of
from quelea_evaluation.tools.stand import Stand, wait_for_index
from rich.console import Console

QUESTIONS = Path(__file__).parents[2] / "eval" / "tools.jsonl"


def question(name: str, *gold: set[str]) -> ToolQuestion:
    return ToolQuestion(name, "?", "en", "user", "stock", tuple(frozenset(need) for need in gold))


def test_a_need_is_met_by_any_of_its_tools_within_k() -> None:
    both = question("q", {"a", "b"}, {"c"})
    assert [met(both, ["x", "b", "c"], k) for k in (1, 2, 3)] == [0, 1, 2]


def test_right_wrong_and_hits_over_questions() -> None:
    asked = [question("1", {"a"}, {"b"}), question("2", {"a"}), question("3", {"z"})]
    tops = {"1": ["a", *"uvwxy", "b"], "2": ["u", "a"], "3": list("abcdefghij")}
    made = score("file", "both", "all", asked, tops)
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


@pytest.mark.parametrize("name", ["tools_fresh", "tools_fresh2"])
def test_fresh_questions_are_others_and_are_asked_as_users_ask(name: str) -> None:
    fresh = load(QUESTIONS.with_name(f"{name}.jsonl"))
    known = {one.question for one in load(QUESTIONS)}
    assert len(fresh) >= 70
    assert not known & {one.question for one in fresh}
    assert {one.style for one in fresh} == {"user"}
    languages = Counter(one.language for one in fresh)
    assert min(languages["zh"], languages["en"]) >= 0.4 * len(fresh)


def test_every_set_has_its_rows_and_the_table_shows_table_1() -> None:
    tops = {"1": ["a"], "2": ["z"]}
    rows = [score(file, "both", "all", [question("1", {"a"}), question("2", {"a"})], tops) for file in ("x", "y")]
    out = Console(width=160, file=io.StringIO())
    out.print(table_of(rows))
    printed = out.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO given above
    assert [row.source for row in rows] == ["x", "y"]
    assert printed.count("0.500") == 2 * 3
    assert printed.count("50.0") == 2 * 4
    assert "all wrong 10 %" in printed


def test_a_process_that_has_ended_ends_the_wait_and_its_log_says_why(tmp_path: Path) -> None:
    log = tmp_path / "gateway.log"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-c", "raise SystemExit('no such glossary')"], stderr=out)
        process.wait(60)
    stand = Stand({"gateway": "127.0.0.1:9"}, {"gateway": (process, log)})
    with pytest.raises(RuntimeError, match=r"(?s)gateway ended with 1\..*no such glossary"):
        wait_for_index(stand.url, stand.check, lambda _: None)


def test_an_index_that_never_comes_is_not_waited_for_without_end() -> None:
    said: list[str] = []
    with pytest.raises(RuntimeError, match="was not indexed within"):
        wait_for_index("http://127.0.0.1:9", lambda: None, said.append, seconds=0.0)
    assert len(said) == 1
