"""The extractive reader declines where what it would quote is not of the kind or the time that is asked for."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.extractive.reader import answer
from quelea_generator.core.model import Evidence, Task

HEADER = "Norbert Mills (NBM) · 10-Q · FY2024 Q3 · quarter ended March 30, 2024 · MD&A"
LOOMS = "Our looms run on Zephyr, which our customers know, and in 2023 we joined their Zephyr 365 applications."
GROWTH = "Zephyr grew 35% in the third quarter of fiscal 2024."
STATEMENT = """Three Months Ended
March 30, 2024\tApril 1, 2023
Operating income\t10,417\t6,954"""
STORES = "As of March 30, 2024, we operate 445 stores in 42 states."


def decline(question: str, *texts: str) -> str:
    """Why; empty where it answers."""
    evidence = tuple(
        Evidence(
            number, text, header=HEADER, is_table="\t" in text, company="Norbert Mills", period_end="2024-03-30",
            period_label="FY2024 Q3",
        )
        for number, text in enumerate(texts, 1)
    )  # fmt: skip
    found = answer(Task(question, evidence, date(2024, 6, 1)))
    return found.decline.detail if found.decline else ""


@pytest.mark.parametrize(
    ("question", "text", "other", "why"),
    [
        ("How fast is Zephyr growing?", GROWTH, LOOMS, "has a figure"),
        ("How many stores does Norbert Mills operate?", STORES, STATEMENT, "wants the number of"),
        ("How many leased stores does Norbert Mills operate?", STORES, STATEMENT, "wants the number of"),
        ("What was the operating income in Q3 2024?", STATEMENT, "", ""),
        ("织机业务的收入增长了多少？", "织机业务的收入增长了三成。", "织机业务的收入有所增长。", "has a figure"),
        ("What was the operating income in 2019?", STATEMENT.replace("24", "19"), STATEMENT, "other years"),
    ],
)
def test_what_is_of_another_kind_or_time_is_no_answer(question: str, text: str, other: str, why: str) -> None:
    if other:
        assert why in decline(question, other)
    assert not decline(question, text)


MARGINS = """Three Months Ended
March 30, 2024\tApril 1, 2023
Gross margin:
Services\t$ 14,965\t$ 14,015
Gross margin percentage:
Services\t70.5%\t71.5%"""


def test_a_metric_that_is_a_percentage_is_answered_by_one() -> None:
    """The amount has the same label."""
    evidence = Evidence(1, MARGINS, header=HEADER, is_table=True, company="Norbert Mills", period_end="2024-03-30")
    found = answer(Task("What gross margin did its services make in March 2024?", (evidence,), date(2024, 6, 1)))
    assert found.quotes[0].text == "Services\t70.5%\t71.5%"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("商誉减值是多少？", "本年度未计提商誉减值。"),
        ("收入增长了多少？", "织机业务的收入翻了一番。"),
    ],
)
def test_a_figure_in_words_is_one_and_so_is_that_there_is_none(question: str, text: str) -> None:
    assert not decline(question, text)
