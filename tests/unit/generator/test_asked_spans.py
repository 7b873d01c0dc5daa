"""Spans of time that a question asks about, and the words around them."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.extractive.spans import Span, find_spans
from quelea_generator.core.extractive.table_heads import choose_column, head_of, match_columns, table_fit
from quelea_generator.core.model import Evidence, Task

CUMULATIVE = (
    "Three Months Ended\tSix Months Ended\nJuly 30, 2023\tJuly 31, 2022\tJuly 30, 2023\tJuly 31, 2022\n"
    "Revenue\t$ 13,507\t$ 6,704\t$ 20,699\t$ 14,992\n"
)
QUARTERS = "Three Months Ended\nJuly 30, 2023\tApril 30, 2023\tJuly 31, 2022\nRevenue\t$ 13,507\t$ 7,192\t$ 6,704\n"


def read(question: str) -> Query:
    return read_question(Task(question, (), date(2023, 11, 22)))


def row_of(text: str) -> tuple[Evidence, Span]:
    evidence = Evidence(1, text, is_table=True, period_end="2023-07-30", period_label="FY2024 Q2", company="NVIDIA")
    return evidence, next(span for span in find_spans(text, is_table=True) if span.row)


@pytest.mark.parametrize(
    "question",
    [
        "NVIDIA's revenue for 1H FY2024",
        "NVIDIA year-to-date revenue",
        "NVIDIA revenue, six months through July 30, 2023",
        "英伟达2024财年上半财年收入",
        "英伟达年初至今的收入",
        "英伟达截至2023年7月30日止六个月的收入",
    ],
)
def test_the_longer_column_is_quoted_where_it_is_asked_for(question: str) -> None:
    evidence, span = row_of(CUMULATIVE)
    assert span.row is not None
    heads = match_columns(head_of(evidence, span), span.row.cells)
    assert choose_column(read(question), evidence, heads) == 2


@pytest.mark.parametrize("question", ["NVIDIA revenue FY24Q2", "英伟达24财年二季报收入"])
def test_a_quarter_stays_a_quarter(question: str) -> None:
    evidence, span = row_of(CUMULATIVE)
    assert span.row is not None
    asked = read(question)
    assert asked.quarter == 2
    assert choose_column(asked, evidence, match_columns(head_of(evidence, span), span.row.cells)) == 0


def test_a_table_of_quarters_is_no_answer_to_half_a_year() -> None:
    asked, quarter = read("英伟达2024财年上半年收入"), read("英伟达2024财年二季度收入")
    assert table_fit(asked, *row_of(QUARTERS)) < 0
    assert table_fit(asked, *row_of(CUMULATIVE)) == table_fit(quarter, *row_of(QUARTERS)) == 0


@pytest.mark.parametrize("question", ["英特尔2023年三季报的净营收是多少？", "英特尔第三季度净营收为多少"])
def test_how_much_is_not_cut_into_the_item_before_it(question: str) -> None:
    units = [unit for unit in read(question).facets if unit.weight == 1]
    assert len(units) == 2  # the company and the item
    assert ("total", "net", "sale") in units[1].others


def test_a_column_of_one_year_against_another_is_a_change() -> None:
    """Its two years are no two columns; it may head an amount and a percentage."""
    evidence, span = row_of(
        "Year Ended December 31,\tChange\n2024\t2023\t2024 vs. 2023\nSales\t$ 120\t$ 100\t$ 20\t20%\n"
    )
    assert span.row is not None
    heads = match_columns(head_of(evidence, span), span.row.cells)
    assert [(head.year, head.is_change) if head else None for head in heads] == [
        (2024, False), (2023, False), (0, True), None,
    ]  # fmt: skip
