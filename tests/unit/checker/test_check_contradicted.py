"""What is not borne out is contradicted where the evidence says otherwise, and not found where it is silent."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, check_answer

TABLE = CheckPassage("(in millions)\n\t2019\t2018\nNet sales\t1,452\t1,146\nService costs\t411\t302")
PROSE = CheckPassage("Revenue was $5.2 million. Orders came from 31 countries.")
CHINESE = CheckPassage("2023年营业收入为158.5亿元，净利润为12.4亿元。")


def verdicts(answer: str) -> tuple[str, str]:
    """Of its first figure that is no time, and of its sentence."""
    report = check_answer(answer, [TABLE, PROSE, CHINESE])
    return next(f.verdict for f in report.figures if f.text not in {"2018", "2019"}), report.sentences[0].verdict


@pytest.mark.parametrize(
    "answer",
    [
        "Net sales were $1,521 million in 2019.",
        "Net sales were $1,452 million in 2018.",
        "Service costs were $1,452 million in 2019.",
        "Revenue was $6.4 million.",
        "营业收入为168.5亿元。",
    ],
    ids=["another value", "another time's", "another row's", "prose", "Chinese"],
)
def test_what_the_evidence_says_otherwise_is_contradicted(answer: str) -> None:
    figure, sentence = verdicts(answer)

    assert figure == "contradicted"
    assert sentence in {"contradicted", "partly"}


@pytest.mark.parametrize("answer", ["Headcount was 3,141.", "Goodwill was $77 million.", "员工人数为3141人。"])
def test_what_the_evidence_does_not_speak_of_is_not_found(answer: str) -> None:
    assert verdicts(answer) == ("not_found", "not_found")


def test_a_sentence_is_contradicted_when_none_of_its_figures_holds_and_one_is_contradicted() -> None:
    assert verdicts("Revenue was $6.4 million.")[1] == "contradicted"
