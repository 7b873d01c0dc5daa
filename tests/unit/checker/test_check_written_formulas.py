"""Formulas that the answer itself writes, remarks in parentheses, and heads of changes beside a time over two years."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, check_answer

BALANCE = CheckPassage(
    "(In millions)\nJuly 1, 2023\tSeptember 24, 2022\nTotal current assets\t122,659\t135,405\n"
    "Total non-current assets\t212,379\t217,350\nTotal current liabilities\t124,963\t153,982"
)
_TIMES = "Three Months Ended December 31,\tPercentage Change\tSix Months Ended December 31,\tPercentage Change"
SUMMARY = CheckPassage(
    f"(In millions, except percentages)\t{_TIMES}\n2022\t2021\t2022\t2021\n"
    "Research and development\t$ 6,844\t$ 5,758\t19%\t$ 13,472\t$ 11,357\t19%\n"
    "As a percent of revenue\t13%\t11%\t2ppt\t13%\t12%\t1ppt",
    header="Larch (LRC) · 10-Q · FY2023 Q2 · quarter ended December 31, 2022",
)


def _figures(answer: str, passage: CheckPassage) -> list[tuple[str, str, str]]:
    return [(f.text, f.verdict, f.formula) for f in check_answer(answer, [passage]).figures]


def test_the_formula_that_the_sentence_has_is_shown() -> None:
    found = _figures("Ratio of total current assets to current liabilities: 122,659 / 124,963 = 0.98.", BALANCE)
    assert found[-1] == ("0.98", "derived", "= 122,659 ÷ 124,963")

    found = _figures("Ratio of total current assets to current liabilities: 122,659 / 124,963 = 0.89.", BALANCE)
    assert found[-1][:2] == ("0.89", "contradicted")


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ("Research and development rose $1,086 million (18.9%) in the three months ended December 31, 2022.",
         ["derived", "derived", "supported"]),
        ("Research and development was $5,758 million in the three months ended December 31, 2021.",
         ["supported", "supported"]),
        ("Research and development rose $2,115 million in the six months ended December 31, 2022.",
         ["derived", "supported"]),
        ("Research and development rose $2,115 million in the three months ended December 31, 2022.",
         ["not_found", "supported"]),
        ("Research and development was $6,844 million in the three months ended December 31, 2021.",
         ["contradicted", "supported"]),
    ],
)  # fmt: skip
def test_a_time_over_two_years_and_a_change_beside_it(answer: str, verdicts: list[str]) -> None:
    assert [verdict for _, verdict, _ in _figures(answer, SUMMARY)] == verdicts
