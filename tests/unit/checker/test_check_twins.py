"""The same answer in English and in Chinese, over passages of Apple's and NVIDIA's filings: both are judged alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quelea_checker import CheckPassage, Report, check_answer

TWINS = Path(__file__).parents[2] / "eval" / "figures_twins.jsonl"
LINES = [json.loads(line) for line in TWINS.read_text("utf-8").splitlines()]
EVIDENCE = {
    line["evidence"]: [CheckPassage(**passage) for passage in line["passages"]] for line in LINES if "evidence" in line
}
ANSWERS = [line for line in LINES if "answer" in line]
PAIRS = list(zip(ANSWERS[::2], ANSWERS[1::2], strict=True))


def _unsupported(report: Report) -> list[str]:
    return [figure.text for figure in report.figures if figure.verdict == "unsupported"]


def _checked(answer: dict[str, Any]) -> Report:
    return check_answer(answer["answer"], EVIDENCE[answer["of"]])


def test_there_are_twins() -> None:
    assert len(PAIRS) == 40
    assert all(one["language"] == "en" and other["language"] == "zh" for one, other in PAIRS)


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=[one["id"] for one, _ in PAIRS])
def test_a_twin_is_judged_as_the_other(english: dict[str, Any], chinese: dict[str, Any]) -> None:
    one, other = _checked(english), _checked(chinese)

    assert bool(_unsupported(one)) == bool(_unsupported(other)) == (not english["true"])
