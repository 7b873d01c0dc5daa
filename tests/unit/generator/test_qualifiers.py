"""Every word that a question names counts for the row: the data center's revenue is not the company's."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.model import Evidence, Quote, Task
from support.generator import lines_and_quotes

MARKETS = """Three Months Ended
March 30, 2024\tApril 1, 2023
(In millions)
Revenue:
Data Center\t$ 3,833\t$ 2,936
Gaming\t1,574\t3,221
Total revenue\t$ 5,931\t$ 7,103"""
SUMMARY = """Three Months Ended
March 30, 2024\tApril 1, 2023
($ in millions)
Revenue\t$ 5,931\t$ 7,103
Net income\t680\t2,464"""
UNEARNED = """NOTE 11 - UNEARNED REVENUE
Unearned revenue was as follows:
March 30, 2024\tJuly 1, 2023
(In millions)
Data Center\t9,471\t8,563"""
LEASES = """We have operating leases, primarily for our data centers, that begin between the fourth quarter of
fiscal year 2023 and fiscal year 2025, for $647 million.
Revenue for the third quarter of fiscal year 2024 was $5.93 billion."""


def norbert(number: int, text: str, *, table: bool = True) -> Evidence:
    header = "Norbert Mills (NBM) · 10-Q · FY2024 Q3 · quarter ended March 30, 2024 · MD&A"
    return Evidence(
        number, text, header=header, is_table=table, company="Norbert Mills", period_end="2024-03-30",
        period_label="FY2024 Q3",
    )  # fmt: skip


EVIDENCE = (norbert(1, LEASES, table=False), norbert(2, SUMMARY), norbert(3, UNEARNED), norbert(4, MARKETS))


def ask(question: str) -> tuple[list[str], list[Quote]]:
    return lines_and_quotes(Task(question, EVIDENCE, date(2024, 6, 1)))


@pytest.mark.parametrize(
    "question",
    [
        "What was the Data Center revenue of Norbert Mills in Q3 2024?",
        "Norbert Mills 2024财年第三季度数据中心收入是多少？",
        "Norbert Mills 2024年第三季度数据中心的收入是多少？",
    ],
)
def test_the_row_of_the_part_answers_and_nothing_needless_follows(question: str) -> None:
    lines, quotes = ask(question)
    assert [quote.text for quote in quotes] == ["Data Center\t$ 3,833\t$ 2,936"]
    assert "3,833" in lines[1].split("“")[0]


@pytest.mark.parametrize(
    "question",
    [
        "What were revenue and net income of Norbert Mills in Q3 2024?",
        "Norbert Mills 2024年第三季度收入和净利润分别是多少？",
    ],
)
def test_each_of_several_items_has_its_row_in_the_order_of_the_question(question: str) -> None:
    lines, quotes = ask(question)
    assert len(lines) == 3
    assert "5,931" in quotes[0].text
    assert quotes[1].text == "Net income\t680\t2,464"


def test_the_whole_companys_row_answers_where_no_part_is_named() -> None:
    _, quotes = ask("What was the revenue of Norbert Mills in Q3 2024?")
    assert "5,931" in quotes[0].text


def test_what_is_left_over_is_not_the_thing_itself() -> None:
    text = "March 30, 2024\tJuly 1, 2023\nOther current assets\t13,640\t21,223\nTotal current assets\t122,659\t135,405"
    _, quotes = lines_and_quotes(
        Task("What were the current assets of Norbert Mills in Q3 2024?", (norbert(1, text),), date(2024, 6, 1))
    )
    assert quotes[0].text.startswith("Total current assets")
