"""Years are read as years; four digits under heads of years, in a row that is called something, are counts."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.reading.periods import find_periods

TABLE = CheckPassage(
    "Headcount at December 31\n\t2024\t2023\nEngineers\t2041\t1963\nDrivers\t1994\t2019\n"
    "First lease expires in year\t2031\t2027"
)
PROSE = CheckPassage("The company was founded in 1974. It had 1987 stores at the end of 2024, and 门店总数：2016。")


def unsupported(answer, *passages):
    return [f.text for f in check_answer(answer, passages).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    "text", ["in 2019 stores closed", "2019 results", "2019 and employees", "fiscal 2019 customers",
     "at the end of 2019",
             "2019年员工", "sales in 2019", "2019 Tonnes", "2019 net sales"]
)  # fmt: skip
def test_years_stay_years(text):
    assert [p.year for p in find_periods(text)] == [2019]


@pytest.mark.parametrize(
    "answer",
    ["It had 2,041 engineers in 2024.",
     "Engineers and drivers together numbered 4,035 in 2024.", "It was founded in 1974.", "The lease expires in 2031."],
)  # fmt: skip
def test_true_counts_pass(answer):
    assert unsupported(answer, TABLE, PROSE) == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("It had 2,041 engineers in 2023.", "2,041"),
        ("In 2024 there were 2019 drivers.", "2019"),
        ("It has 1978 stores.", "1978"),
        ("It was founded in 1994.", "1994"),
    ],
)
def test_false_counts_are_caught(answer, text):
    assert text in unsupported(answer, TABLE, PROSE)
