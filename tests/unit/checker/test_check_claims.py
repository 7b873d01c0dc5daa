"""Sentences that claim an order or a basis, true ones beside false ones."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer


def doubted(answer, passages, question=""):
    return [f.text for f in check_answer(answer, passages, question=question).figures if f.verdict in UNSUPPORTED]


def table(*lines, header="Corvane (CRV) · 10-K · FY2024 · year ended December 31, 2024"):
    return [CheckPassage("\n".join(lines), header=header)]


STATEMENT = table("(in millions)", "\t2024\t2023", "Net sales\t9,412\t8,730", "Cost of sales\t5,930\t5,601",
                  "Selling expenses\t1,204\t1,150", "Research\t612\t588")  # fmt: skip


def test_line_items_are_no_set_that_one_is_the_largest_of():
    assert doubted("Cost of sales was the largest expense, at $5,930 million in 2024.", STATEMENT) == []


REGIONS = table("Sales by region (in millions)", "\t2024\t2023", "Americas\t5,120\t4,655", "Europe\t2,734\t2,760",
                "Asia\t1,558\t1,315", "Total\t9,412\t8,730")  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        "Europe was the largest region outside the Americas, with $2,734 million in 2024.",
        "Europe was not the largest region, with $2,734 million in 2024.",
        "The Americas, at $5,120 million in 2024, were the largest region, followed by Europe with $2,734 million.",
        "The Americas were by far the largest region with $5,120 million while Asia was the smallest with "
        "$1,558 million in 2024.",
        "Of the three regions Asia had the lowest sales, $1,558 million in 2024.",
        "Sales in Europe of $2,734 million were more than half of the $5,120 million of the Americas in 2024.",
    ],
)
def test_claims_that_are_no_mistake(answer):
    assert doubted(answer, REGIONS) == []


def test_heads_that_a_page_broke_are_put_together_again():
    passage = table(
        "Three Months Ended\tSix Months Ended",
        "June 30, 2024\tJune 30, 2023\tChange\t$\tChange\t%\tJune 30, 2024\tJune 30, 2023\tChange\t$\t% Change",
        "(in millions)",
        "Freight\t$ 1,200\t$ 1,000\t$ 200\t20%\t$ 2,310\t$ 2,100\t$ 210\t10%",
        header="Corvane (CRV) · 10-Q · FY2024 Q2 · quarter ended June 30, 2024",
    )
    assert doubted("Freight revenue was $1,200 million in the three months ended June 30, 2024.", passage) == []
    assert doubted("Freight revenue was $2,310 million in the three months ended June 30, 2024.", passage)
    assert doubted("Freight revenue was $1,000 million in the three months ended June 30, 2024.", passage)


def test_percentages_of_two_years_may_be_compared_year_on_year():
    rates = table("", "\t2024\t2023", "Discount rate, domestic\t2.8%\t3.0%")
    question = "What is the year on year percentage change in the domestic discount rate between 2023 and 2024?"
    assert doubted("The change was -6.67%.", rates, question) == []
