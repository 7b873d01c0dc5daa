"""Captions are no answers, and the row that was asked for needs no neighbours."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.extractive.spans import is_caption
from quelea_generator.core.model import Evidence, Task
from support.generator import lines_and_quotes


@pytest.mark.parametrize(
    "text",
    [
        "The following tables show the Company’s cash and cash equivalents as of July 1, 2023 and September 24, 2022"
        " (in millions):",
        "CONDENSED CONSOLIDATED BALANCE SHEETS (Unaudited) (In millions, except par value) July 1, 2023",
        "Net sales by category were as follows (dollars in millions):",
        "主要会计数据如下：",
        "2019年度现金流量表 单位：元 币种：人民币",
    ],
)
def test_what_announces_figures_is_a_caption(text: str) -> None:
    assert is_caption(text)


@pytest.mark.parametrize(
    "text",
    [
        "Cash and cash equivalents were $28,408 million as of July 1, 2023 (in millions):",
        "Revenue grew 4% in 2023.",
        "The Company opened stores in 2023.",
        "出货量达5740万部，具体如下：",
    ],
)
def test_what_says_something_is_none(text: str) -> None:
    assert not is_caption(text)


SHEET = """The following tables show cash and cash equivalents as of July 1, 2023 and September 24, 2022 (in millions):
July 1, September 24,
2023 2022
Cash and cash equivalents $ 28,408 $ 23,646
Restricted cash equivalents 1,100 900
Total assets 335,038 352,755"""
INCOME = """Three Months Ended
July 1, June 25,
2023 2022
Net income $ 19,881 $ 19,442
Net income included in adjustment for gains 103 121
Total other income, net (265) (10)
Total net sales 81,797 82,959"""


def said(question: str, text: str) -> list[str]:
    evidence = Evidence(1, text, header="Apple · 10-Q · FY2023 Q3", company="Apple", is_table=True)
    return lines_and_quotes(Task(question, (evidence,), date(2024, 1, 1)))[0]


def test_the_figure_is_quoted_and_not_what_announces_it() -> None:
    text = "\n".join(said("What were Apple's cash and cash equivalents as of July 1, 2023?", SHEET))
    assert "28,408" in text
    assert "following tables" not in text


def test_the_row_that_was_asked_for_stands_without_its_neighbours() -> None:
    lines = said("What was Apple's net income in the third quarter of fiscal 2023?", INCOME)
    assert "19,881" in lines[1]
    assert len(lines) == 2
    both = "\n".join(said("What were Apple's net income and total net sales?", INCOME))
    assert "19,881" in both
    assert "81,797" in both


SEGMENTS = """Three Months Ended
July 1, June 25,
2023 2022
Americas:
Operating income $ 13,117 $ 13,914
Europe:
Operating income 7,500 7,300
Total operating income $ 22,998 $ 23,076"""
STATEMENT = """Three Months Ended
September 30, September 30,
2023 2022
Revenue 56,517 50,122
Cost of revenue:
Product 1,302 1,460
Operating income 26,895 21,518"""


def test_of_two_companies_the_whole_is_compared_and_named_by_no_heading_that_is_not_its_own() -> None:
    apple = {"company": "Apple", "period_label": "FY2023 Q3", "period_end": "2023-07-01"}
    evidence = (
        Evidence(1, SEGMENTS, header="Apple · 10-Q · FY2023 Q3", is_table=True, **apple),
        Evidence(2, STATEMENT, header="Microsoft · 10-Q · FY2024 Q1", company="Microsoft", is_table=True),
    )
    question = "Compare the operating income of Microsoft and Apple in Q3 2023."
    text = "\n".join(lines_and_quotes(Task(question, evidence, date(2024, 1, 1)))[0])
    assert "22,998" in text
    assert "26,895" in text
    assert "Cost of revenue –" not in text
    assert "13,117" not in text.partition("22,998")[0]
    part = "\n".join(
        lines_and_quotes(Task("What was the operating income of Apple in Europe?", evidence[:1], date(2024, 1, 1)))[0]
    )
    assert "Europe – Operating income: 7,500" in part
