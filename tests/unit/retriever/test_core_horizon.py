"""Whether a question names a period beyond everything that is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.filings import is_known_by
from quelea_retriever.core.question.reading import read_query
from quelea_retriever.core.question.relative_periods import relative_spans
from support.filings import APPLE, CATALOGUE, HARBOR, NEWS, TODAY, ZEBRA, filing


def newer(question: str, catalogue: Catalogue = CATALOGUE, as_of: date = TODAY) -> bool:
    return read_query(question, catalogue, as_of).period_newer


@pytest.mark.parametrize(
    "question",
    [
        "What was Zebra's revenue in Q1 2024?",
        "Zebra FY2025 annual revenue",
        "Zebra net sales for the quarter ended March 30, 2024",
        "Zebra annual revenue for 2023",  # of 2023 there are quarters only
        "Zebra revenue in Q3 2024 against Q3 2023",
        "Zebra 2024年第一季度毛利率",
        "海天味业2021年的营业收入是多少？",
        "What did Zebra say last month?",
        "Zebra上个月发生了什么",
        "What did Zebra report yesterday?",
        "Zebra revenue last year",
        "Zebra去年的营收",
        "Zebra news of the past two weeks",
        "Zebra近30天的新闻",
        "Harbor Q3 2023 revenue",  # as its files are named
        "Harbor revenue in the third quarter of fiscal 2024",  # as the filer counts
        "Harbor third calendar quarter of calendar 2023",
        "Compare Zebra and Harbor revenue in Q1 2024",
    ],
)
def test_newer_than_anything_of_the_company(question: str) -> None:
    assert newer(question)


@pytest.mark.parametrize(
    "question",
    [
        "What was Zebra's revenue in Q3 2023?",
        "What was Zebra's revenue in Q1 2022?",  # missing, but not for being new
        "Zebra's revenue in 2023",  # its quarters are there
        "Zebra revenue of the nine months ended September 30, 2023",
        "Zebra's latest gross margin",
        "What are Zebra's notes due 2030?",
        "Zebra lease payments in 2027",  # had not begun: a plan, which its filings may state
        "Harbor second quarter of fiscal 2024 revenue",
        "Harbor Q2 of fiscal 2023",
        "Compare Zebra and Harbor revenue in Q3 2023",  # one of them is there
        "How did Zebra's sales compare with the same quarter last year?",
        "Zebra的净利润与去年同期相比如何",
        "What risks does Zebra face?",
        "What was Nvidia's revenue in Q3 2025?",  # nothing of the company: company_missing says it
    ],
)
def test_not_newer(question: str) -> None:
    assert not newer(question)


def test_a_fiscal_year_that_runs_ahead_is_judged_by_the_filers_own_calendar() -> None:
    # FY2025 Q1 ended in April 2024; on the first of June 2024 it was over, on the first of January not begun.
    question = "Harbor revenue in the first quarter of fiscal 2025"
    assert newer(question, as_of=date(2024, 6, 1))
    assert not newer(question, as_of=date(2024, 1, 1))


def test_without_a_company_every_document_counts() -> None:
    assert newer("Which revenue grew in Q2 2024?")
    assert newer("What happened to interest rates in 2025?")
    assert not newer("Which revenue grew in Q3 2023?")
    assert not newer("What happened to interest rates in 2023?")
    assert newer("What did the market do yesterday?")


def test_news_may_speak_of_any_period_that_had_begun() -> None:
    catalogue = Catalogue.build(NEWS)
    assert not newer("2023年9月的央行动向", catalogue)
    assert not newer("How did the market do in the third quarter of 2023?", catalogue)
    assert newer("How did the market do in the fourth quarter of 2023?", catalogue)
    assert newer("What did the central bank do on September 20, 2023?", catalogue)
    assert not newer("What did the central bank do on September 14, 2023?", catalogue)


def test_an_undated_document_may_tell_of_anything_before_it_was_fetched() -> None:
    undated = DocumentFacts("x", title="A table", fetched="2026-10-01T00:00:00+00:00")
    assert not newer("What was revenue in 2024?", Catalogue.build([undated]))
    assert newer("What happened on October 5, 2026?", Catalogue.build([undated]))
    assert not newer("What was revenue in 2024?", Catalogue.build([]))
    # Of a named company only what is dated counts.
    assert newer("Zebra Q1 2024 sales", Catalogue.build([*ZEBRA, replace(undated, company="Zebra", ticker="ZBRA")]))


def test_news_of_the_company_published_since_may_tell() -> None:
    told = DocumentFacts("n", title="Apple falls", language="en", document_type="news", published="2024-08-02")
    assert newer("Apple revenue in Q2 2024", Catalogue.build(APPLE))
    assert not newer("Apple revenue in Q2 2024", Catalogue.build([*APPLE, told]))
    assert newer("Apple revenue in Q1 2025", Catalogue.build([*APPLE, told]))  # begins on September 28, 2024


def test_a_filing_published_within_the_span_is_not_older() -> None:
    published = replace(filing("Zebra", "ZBRA", "FY2026 Q3", "2026-09-30"), published="2026-10-28")
    assert not newer("What did Zebra say last month?", Catalogue.build([published]))
    assert newer("What did Zebra say this month?", Catalogue.build([published]))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "2026-11-21", "2026-11-21"),
        ("昨日", "2026-11-20", "2026-11-20"),
        ("this week", "2026-11-16", "2026-11-21"),
        ("上周", "2026-11-09", "2026-11-15"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("本月", "2026-11-01", "2026-11-21"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("上个季度", "2026-07-01", "2026-09-30"),
        ("current quarter", "2026-10-01", "2026-11-21"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("今年", "2026-01-01", "2026-11-21"),
        ("the past 10 days", "2026-11-11", "2026-11-21"),
        ("过去两周", "2026-11-07", "2026-11-21"),
    ],
)
def test_relative_spans(text: str, first: str, last: str) -> None:
    assert relative_spans(text, TODAY) == [(date.fromisoformat(first), date.fromisoformat(last))]


@pytest.mark.parametrize(
    "text", ["", "the same quarter last year", "去年同期", "yesteryear", "last but not least", "近三年"]
)
def test_no_span(text: str) -> None:
    assert relative_spans(text, TODAY) == []


def test_january_looks_back_over_the_new_year() -> None:
    assert relative_spans("last month and last quarter", date(2026, 1, 5)) == [
        (date(2025, 12, 1), date(2025, 12, 31)),
        (date(2025, 10, 1), date(2025, 12, 31)),
    ]


@pytest.mark.parametrize(
    ("known", "facts"),
    [
        (True, DocumentFacts("d", published="2023-08-04")),
        (False, DocumentFacts("d", published="2023-08-05")),
        (True, replace(HARBOR[1], published="")),  # its period ended on July 30
        (False, replace(HARBOR[1], published="2023-09-01")),
        (False, ZEBRA[3]),
        (False, DocumentFacts("d", fetched="2026-01-01T00:00:00+00:00")),
        (True, DocumentFacts("d", fetched="2023-08-04T23:00:00+00:00")),
        (False, DocumentFacts("d")),
    ],
)
def test_what_had_come_out_by_a_day(known: bool, facts: DocumentFacts) -> None:
    assert is_known_by(facts, date(2023, 8, 4)) is known
