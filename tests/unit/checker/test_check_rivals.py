"""What is evidence that a figure is of another thing, and what is none: sentences of this test's own."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

MILL = CheckPassage(
    "(In millions)\n\tMarch 31, 2024\tMarch 31, 2023\nOperating expenses:\nResearch and development\t$ 3,318\t$ 3,104\n"
    "Selling, general and administrative\t2,716\t2,655\nRestructuring\t144\t93",
    header="Tamarind Mills · 10-Q",
)
PAID = CheckPassage(
    "In the March quarter of 2024 the Board declared a dividend of $0.48 a share, in all $3.2 billion.",
    header="Tamarind Mills · 10-Q",
)
SALES = CheckPassage(
    "(In millions)\n\tMarch 31, 2024\nOats\t20,115\nBarley\t11,206\nTotal\t31,321", header="Tamarind Mills"
)
BOUGHT = CheckPassage(
    "In the quarter and the half year to June 2024 we repurchased 14 million shares for $2.27 billion and 31 million "
    "shares for $4.86 billion. Since the program began we have repurchased shares for $17.90 billion in all."
)


def unsupported(answer: str, *passages: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, passages).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("研发费用为33.18亿美元，高于销售、一般及行政费用的27.16亿美元。", []),
        ("研发费用为27.16亿美元。", ["27.16亿美元"]),
        ("Research and development came to $3,318 million.", []),
        ("Research and development came to $2,716 million.", ["$2,716 million"]),
    ],
)
def test_words_that_are_carried_over_are_no_evidence_for_a_rival(answer: str, flagged: list[str]) -> None:
    assert unsupported(answer, MILL) == flagged


@pytest.mark.parametrize(
    "answer",
    [
        "董事会宣布派息每股0.48美元，总额32亿美元。",
        "The Board declared a dividend of $0.48 a share, a total of $3.2 billion.",
    ],
)
def test_a_total_is_a_total_of_something(answer: str) -> None:
    assert unsupported(answer, PAID, SALES) == []


def test_a_word_that_the_sentence_says_as_well_is_no_evidence_for_another_sentence() -> None:
    assert unsupported("In the half year it repurchased 31 million shares for $4.86 billion.", BOUGHT) == []


def test_what_the_fact_says_in_another_of_the_ways_to_say_it_is_said() -> None:
    texts = (
        CheckPassage("东岭纸业2024年实现营业收入52.6亿元，同比增长8%。"),
        CheckPassage("2024年西岭纸业营收91.4亿元。"),
    )
    assert unsupported("Revenue of 东岭纸业 was 5.26 billion yuan in 2024.", *texts) == []
