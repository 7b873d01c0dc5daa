"""What was before, and rows of several tables."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

CASH = CheckPassage("Cash was 22.4 billion at September 30, 2023, an increase of 310 million from June 30, 2023.")
ORDERS = CheckPassage("In 2023, orders were 130 million, an increase of 39 million from 2022.")
NINE = CheckPassage("(in millions)\n\tNine months ended September 30, 2023\nRevenue\t900", header="Beta · 10-Q")
YEAR = CheckPassage("(in millions)\n\tYear ended December 31, 2023\nRevenue\t1,250", header="Beta · 10-K")
MARGIN = [
    CheckPassage("(in millions)\n\t2023\nNet income\t210", header="Beta · 10-K · FY2023", document="b"),
    CheckPassage("(in millions)\n\t2023\nRevenue\t1,250", header="Beta · 10-K · FY2023", document="b"),
]


def doubted(answer, passages):
    return any(f.verdict in UNSUPPORTED for f in check_answer(answer, passages).figures)


@pytest.mark.parametrize(
    ("passages", "true", "false"),
    [
        ([CASH], "Three months earlier, cash was 22.1 billion.", "Three months earlier, cash was 22.7 billion."),
        ([ORDERS], "In 2022, orders were 91 million.", "In 2022, orders were 169 million."),
    ],
)  # fmt: skip
def test_a_true_one_passes_and_a_false_one_is_doubted(passages, true, false):
    assert not doubted(true, passages)
    assert doubted(false, passages)


def test_a_quarter_of_a_year_is_no_part():
    passages = [CheckPassage("In the first half of 2023 and the third quarter of 2023, sales rose.")]
    assert [f.text for f in check_answer("Sales rose in the first half of 2023.", passages).figures] == [
        "first half of 2023"
    ]


def test_years_before_nouns_stay_years():
    passages = [CheckPassage("In 2019 stores closed. 2019 sales rose.")]
    assert not doubted("In 2019 stores closed, and 2019 sales rose.", passages)


SEGMENTS = CheckPassage(
    "(in millions)\n\t2022\t2021\nFulfillment\t20,583\t18,498\nTechnology and content\t19,485\t14,380\n"
    "Sales and marketing\t11,014\t8,010\nCost of sales\t70,268\t62,930\nOperating income\t2,525\t4,852"
)
SHARES = CheckPassage("(in millions)\n\t2022\t2021\nFulfillment\t11\t26\nSales and marketing\t38\t27")
AWS = CheckPassage("(in millions)\n\t2022\t2021\nAWS\nNet sales\t20,538\t16,110\nOperating income\t5,403\t4,883")


@pytest.mark.parametrize(
    ("true", "false"),
    [


        ("AWS operating income rose 10.6% in 2022.", "AWS operating income rose 9.6% in 2022."),
    ],
)  # fmt: skip
def test_rows_of_several_tables_are_told_apart(true, false):
    passages = [SEGMENTS, SHARES, AWS]
    assert not doubted(true, passages)
    assert doubted(false, passages)


WEEKS = CheckPassage(
    "(in millions)\nThree Months Ended\nJuly 1, 2023\tJune 25, 2022\n"
    "Kites\t$ 39,669\t$ 40,665\nTotal net sales\t81,797\t82,959"
)


@pytest.mark.parametrize(
    "said",
    ["against {} a year earlier", "compared with {} in the same period a year earlier", "down from {} a year ago"],
)
def test_the_year_before_one_of_52_weeks_ends_on_another_day(said):
    true = f"Kites were $39,669 million in the quarter ended July 1, 2023, {said.format('$40,665 million')}."
    assert not doubted(true, [WEEKS])
    assert doubted(true.replace("40,665", "41,656"), [WEEKS])


def test_a_length_of_time_over_the_labels_is_that_of_all_columns():
    costs = [CheckPassage("Year Ended December 31,\t2024\t2023\nPurchases of property\t$ 2,064\t$ 1,852")]
    said = "Purchases of property during the years ended December 31, 2024 and 2023 were 2,064 and {}, respectively."
    assert not doubted(said.format("1,852"), costs)
    assert doubted(said.format("1,582"), costs)
