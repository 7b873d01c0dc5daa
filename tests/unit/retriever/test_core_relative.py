"""Periods that a question names relative to its day, and nothing of what came out after that day."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from quelea_retriever.core.model import DocumentFacts, Reading
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.filings import is_known_by
from quelea_retriever.core.question.periods import find_asks
from quelea_retriever.core.question.reading import read_query
from quelea_retriever.core.question.relative_periods import Periods, find_relatives
from support.filings import CATALOGUE, FILINGS, HARBOR, TODAY, ZEBRA, ZEBRA_YEAR, filing

NOVEMBER = date(2023, 11, 10)


def read(question: str, as_of: date = NOVEMBER, catalogue: Catalogue = CATALOGUE) -> Reading:
    return read_query(question, catalogue, as_of)


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("What was Zebra's revenue last quarter?", ["2023-09-30"]),
        ("Zebra上季度的营收", ["2023-09-30"]),
        ("Zebra上个季度的营收", ["2023-09-30"]),
        ("Zebra's revenue one quarter ago", ["2023-09-30"]),
        ("Zebra's revenue in the quarter before last", ["2023-07-01"]),
        ("Zebra上上季度的营收", ["2023-07-01"]),
        ("Zebra revenue two quarters ago", ["2023-07-01"]),
        ("Zebra revenue 3 months ago", ["2023-09-30"]),
        ("Zebra三个月前的营收", ["2023-09-30"]),
        ("Zebra revenue 6 months ago", ["2023-07-01"]),
        ("What were Zebra's sales in the past 3 months?", ["2023-09-30"]),
        ("Zebra sales over the last three months", ["2023-09-30"]),
        ("Zebra过去三个月的营收", ["2023-09-30"]),
        ("Zebra revenue last month", []),
        ("Zebra上个月的营收", []),
        ("What was Zebra's net income last year?", ["2022-12-31"]),
        ("Zebra last fiscal year net income", ["2022-12-31"]),
        ("Zebra去年的净利润", ["2022-12-31"]),
        ("Zebra revenue in the third quarter of last year", ["2022-10-01"]),
        ("Zebra去年第三季度营收", ["2022-10-01"]),
        ("Zebra revenue in Q1 this year", ["2023-04-01"]),
        ("Zebra今年上半年的营收", ["2023-07-01"]),
        ("Zebra year-to-date revenue", ["2023-09-30"]),
        ("Zebra年初至今的营收", ["2023-09-30"]),
        ("Zebra revenue so far this year", ["2023-09-30"]),
        ("Zebra今年迄今的营收", ["2023-09-30"]),
        ("Zebra本年累计营收", ["2023-09-30"]),
        ("Zebra revenue this year", ["2023-09-30", "2023-07-01", "2023-04-01"]),
        ("Zebra今年的营收", ["2023-09-30", "2023-07-01", "2023-04-01"]),
        ("海天味业前年的营收", []),
    ],
)
def test_what_it_is_on_the_day(question: str, documents: list[str]) -> None:
    reading = read(question)
    if documents:
        assert [document.removeprefix("ZBRA ") for document in reading.document_ids] == documents
        assert " = " in reading.text
    assert reading.period_missing == (not documents)


def test_by_the_companys_own_calendar() -> None:
    # Harbor's quarters end in January, April, July and October: on July 15 the last one is April's.
    assert read("Harbor revenue last quarter", date(2023, 7, 15)).document_ids == ("HRBR 2023-04-30",)
    assert read("Harbor revenue last quarter", date(2023, 8, 15)).document_ids == ("HRBR 2023-07-30",)
    reading = read("Compare Zebra's and Harbor's revenue last quarter", date(2023, 8, 15))
    assert reading.groups == (("ZBRA 2023-07-01",), ("HRBR 2023-07-30",))
    year = filing("Harbor", "HRBR", "FY2023", "2023-01-29", form="10-K")
    catalogue = Catalogue.build([*HARBOR, year])
    for words in ("last fiscal year", "last year"):
        assert read(f"Harbor net income {words}", date(2023, 8, 15), catalogue).document_ids == (year.id,)


def test_last_month_names_no_quarter_where_documents_have_none() -> None:
    news = Catalogue.build([replace(FILINGS[0], id="news", period=replace(FILINGS[0].period, end_date="", label=""))])
    reading = read("Zebra revenue last month", catalogue=news)
    assert not reading.period_missing


@pytest.mark.parametrize("words", ["last quarter", "上个季度"])
def test_the_text_shows_it(words: str) -> None:
    assert read(f"Zebra {words} revenue").text == f"Zebra · {words} = FY2023 Q3 (quarter ended September 30, 2023)"
    missing = read(f"Zebra {words} revenue", date(2026, 8, 1))
    assert missing.text.startswith(f"Zebra · {words} = quarter ended ")
    assert missing.period_missing
    assert missing.period_newer
    assert "no filing of Zebra for " in missing.fallback
    assert missing.periods


def test_a_quarter_that_is_over_and_not_out_is_missing_and_newer() -> None:
    stored = Catalogue.build([d for d in ZEBRA if d.period.end_date < "2023-09"])
    reading = read("Zebra revenue last quarter", date(2023, 10, 10), stored)
    assert reading.period_missing
    assert reading.period_newer
    assert read("Zebra's latest revenue", date(2023, 10, 10), stored).document_ids == ("ZBRA 2023-07-01",)


def test_without_a_company_the_calendars_quarter() -> None:
    reading = read("Which revenue grew last quarter?", date(2023, 8, 15))
    assert set(reading.document_ids) == {"ZBRA 2023-07-01", "HRBR 2023-07-30", "AAPL 2023-07-01"}
    assert reading.text == "last quarter = 2023 Q2"


@pytest.mark.parametrize(
    "question",
    [
        "How did Zebra's sales compare with last year?",
        "Zebra sales were higher than last quarter, why?",
        "Zebra的净利润与去年同期相比如何",
        "Zebra营收较去年增长多少",
        "Zebra debt at last year end",
        "Zebra revenue in the last quarter of 2022",
        "Zebra revenue over the last two quarters",
        "Zebra's previous quarter",
        "Zebra's last reported quarter",
        "Zebra最近一季的营收",
        "2023年前的Zebra营收",
        "Zebra大前年",
    ],
)
def test_no_period_of_its_own(question: str) -> None:
    assert find_relatives(question) == []


def test_a_period_named_outright_settles_it() -> None:
    assert read("How did Zebra's Q2 2023 revenue do, last year aside?").document_ids == ("ZBRA 2023-07-01",)


def test_news_of_the_time_may_speak_of_it() -> None:
    news = DocumentFacts(
        "news", title="Zebra opens a plant", language="en", document_type="news", published="2024-03-01"
    )
    catalogue = Catalogue.build([*ZEBRA, news])
    for question in ("What did Zebra announce this year?", "Zebra今年宣布了什么？"):
        reading = read(question, date(2024, 6, 1), catalogue)
        assert not reading.period_missing
        assert "news" in reading.document_ids
        assert read(question, date(2025, 6, 1), catalogue).period_missing
    assert read("What does Zebra's annual report of this year say?", date(2024, 6, 1), catalogue).period_missing


def test_a_company_of_annual_reports() -> None:
    assert read("海天味业去年的营收", date(2021, 5, 1)).document_ids == ("603288 2020-12-31",)
    assert read("海天味业前年的营收", date(2021, 5, 1)).document_ids == ("603288 2019-12-31",)
    assert read("海天味业上季度的营收", date(2021, 11, 1)).period_missing
    assert read("海天味业上季度的营收", date(2021, 2, 1)).document_ids == ("603288 2020-12-31",)


@settings(deadline=None)  # other work shares the machine
@given(st.dates(), st.sampled_from(["last quarter", "the quarter before last", "3 months ago", "99 quarters ago"]))
@example(date(25, 7, 1), "99 quarters ago")  # the first day that there is
def test_a_quarter_on_any_day(day: date, words: str) -> None:
    reading = read(f"What was Zebra's revenue {words}?", day)
    assert reading.companies == ("Zebra",)
    assert set(reading.document_ids) <= {d.id for d in (*ZEBRA, ZEBRA_YEAR)}
    (ask,) = Periods.read(f"revenue {words}", day).of(ZEBRA) or [None]
    if ask is None:
        assert not date(100, 1, 1) <= day <= date(9900, 1, 1)
    elif words == "last quarter":
        assert ask.end is not None
        assert timedelta() <= day - ask.end < timedelta(days=125)


@settings(deadline=None)  # other work shares the machine
@given(
    st.dates(),
    st.sampled_from(
        [
            "this year",
            "去年",
            "前年",
            "年初至今",
            "last fiscal year",
            "上个月",
            "last month",
            "Q3 of last year",
            "yesterday",
        ]
    ),
)
def test_any_other_words_on_any_day(day: date, words: str) -> None:
    for company in ("Zebra", "Harbor", "Which company's"):
        reading = read(f"{company} revenue {words}?", day)
        assert reading.text or not reading.groups


@settings(deadline=None)  # other work shares the machine
@given(st.dates(), st.sampled_from(["Zebra revenue", "Zebra Q3 2023", "Zebra FY2022 net income", "Zebra 2023年年报"]))
def test_without_relative_words_nothing_is_resolved(day: date, question: str) -> None:
    assert Periods.read(question, day).of(ZEBRA) == tuple(find_asks(question))


def dated(document: DocumentFacts) -> DocumentFacts:
    """As filed a month after the end of its period."""
    return replace(document, published=(date.fromisoformat(document.period.end_date) + timedelta(days=30)).isoformat())


@settings(deadline=None)  # other work shares the machine
@given(
    st.dates(date(2022, 1, 1), date(2024, 12, 31)),
    st.sampled_from(["latest", "most recent", "last quarter's", "Q3 2023", "year to date", "risks and", "去年的"]),
)
def test_nothing_published_later_is_read(day: date, words: str) -> None:
    reading = read(
        f"Zebra {words} revenue", day, Catalogue.build([dated(d) for d in FILINGS if is_known_by(dated(d), day)])
    )
    out = {d.id for d in FILINGS if dated(d).published <= day.isoformat()}
    assert set(reading.document_ids) <= out


def test_between_two_filings_the_older_is_the_latest_and_the_younger_unknown() -> None:
    everything = [dated(d) for d in ZEBRA]
    day = date(2023, 10, 15)  # the third quarter is over; its filing is of October 30
    known = Catalogue.build([d for d in everything if is_known_by(d, day)])
    assert read("Zebra's latest revenue", day, known).document_ids == ("ZBRA 2023-07-01",)
    assert read("Zebra's latest revenue", day, Catalogue.build(everything)).document_ids == ("ZBRA 2023-07-01",)
    assert read("Zebra's Q3 2023 revenue", day, known).period_newer
    assert not read("Zebra's Q3 2023 revenue", date(2023, 10, 30), Catalogue.build(everything)).period_newer


def test_on_the_day_of_all_tests_the_latest_is_unchanged() -> None:
    assert read("Zebra's latest revenue", TODAY).document_ids == ("ZBRA 2023-09-30",)
