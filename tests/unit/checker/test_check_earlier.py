"""What was before, what is left of a year, parts and multiples in words: computed and compared."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

CASH = CheckPassage("Cash was 22.4 billion at September 30, 2023, an increase of 310 million from June 30, 2023.")
ORDERS = CheckPassage("In 2023, orders were 130 million, an increase of 39 million from 2022.")
STAFF = CheckPassage("Of 3,000 employees, 1,000 work in Asia and 1,500 in Europe. We run 1,962 locomotives.")
SALES = CheckPassage(
    "(in millions)\n\t2019\t2018\nEurope\t5,686\t6,092\nAsia\t407\t814\nAfrica\t507\t104\nTotal\t7,821\t8,290"
)
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
        ([STAFF], "Half of the employees work in Europe.", "A quarter of the employees work in Europe."),
        ([SALES], "Asia halved in 2019.", "Europe halved in 2019."),
        ([SALES], "2019年Asia减半。", "2019年Europe减半。"),
        ([SALES], "2019年Africa翻了两番多。", "2019年Europe翻了两番多。"),
        ([SALES], "2019年Europe约占Total的四分之三。", "2019年Europe约占Total的三分之一。"),
        ([SALES], "Europe accounted for nearly three quarters of the total in 2019.",
         "Europe accounted for two thirds of the total in 2019."),
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


def test_a_growth_by_the_sentences_own_amounts():
    loans = [CheckPassage("截至2018年末，不良贷款余额为6.3亿元，较年初增长1.62亿元。存款占比由14.65%升至18.36%。")]
    assert not doubted("2018年末不良贷款余额6.3亿元，较年初增加1.62亿元，增幅约35%。", loans)
    assert doubted("2018年末不良贷款余额6.3亿元，较年初增加1.62亿元，增幅约26%。", loans)


COUNTED = CheckPassage(
    "(in thousands)\n\t2019\t2018\nDiluted EPS shares outstanding\t9,159\t8,841\nDiluted EPS\t1.20\t1.10"
)


def test_shares_that_are_counted_have_the_tables_scale():
    assert not doubted("Diluted EPS shares outstanding were 9,159 thousand in 2019.", [COUNTED])
    assert doubted("Diluted EPS shares outstanding were 9,159 million in 2019.", [COUNTED])
    assert doubted("Diluted EPS was 1.20 thousand in 2019.", [COUNTED])
