from datetime import date

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.filters import DocumentFilter, fold, fold_all

APPLE = DocumentFacts(
    id="a1",
    company="Apple",
    company_aliases=("Apple Inc.", "苹果公司"),
    ticker="AAPL",
    language="en",
    document_type="10-Q",
    period=ReportingPeriod("FY2023 Q3", 2023, 3, "2023-07-01", "2023 CQ2"),
    published="2023-08-04",
)
NEWS = DocumentFacts(id="n1", title="some news", language="zh")


@pytest.mark.parametrize(
    ("field", "value", "fits"),
    [
        ("companies", "apple", True),
        ("companies", "APPLE INC", True),
        ("companies", "苹果公司", True),
        ("companies", "ａａｐｌ", True),
        ("companies", "Apple Bank", False),
        ("tickers", "aapl", True),
        ("tickers", "Apple", False),
        ("document_types", "10q", True),
        ("document_types", "10-K", False),
        ("periods", "fy2023 q3", True),
        ("periods", "FY2023Q3", True),
        ("periods", "2023 Q3", True),
        ("periods", "2023 CQ2", True),
        ("periods", "2023-07-01", True),
        ("periods", "FY2023 Q2", False),
        ("periods", "FY2023", False),
        ("languages", "EN", True),
        ("languages", "zh", False),
    ],
)
def test_a_field_is_compared_without_regard_to_case_and_punctuation(field, value, fits):
    assert DocumentFilter(**{field: fold_all([value])}).matches(APPLE) is fits
    assert DocumentFilter(**{field: fold_all(["nothing like it", value])}).matches(APPLE) is fits


def test_every_field_must_hold():
    both = DocumentFilter(companies=fold_all(["Apple"]), periods=fold_all(["FY2023 Q2"]))
    assert not both.matches(APPLE)


def test_nothing_asked_for_matches_everything_and_is_false():
    assert DocumentFilter().matches(NEWS)
    assert not DocumentFilter()
    assert DocumentFilter(document_ids=frozenset(["a1"]))


def test_ids_are_compared_exactly():
    assert DocumentFilter(document_ids=frozenset(["a1", "b"])).matches(APPLE)
    assert not DocumentFilter(document_ids=frozenset(["A1"])).matches(APPLE)


@pytest.mark.parametrize(
    ("since", "until", "fits"),
    [
        ("2023-08-04", None, True),
        ("2023-08-05", None, False),
        (None, "2023-08-04", True),
        (None, "2023-08-03", False),
        ("2023-01-01", "2023-12-31", True),
    ],
)
def test_dates_are_inclusive(since, until, fits):
    days = [None if day is None else date.fromisoformat(day) for day in (since, until)]
    assert DocumentFilter(published_from=days[0], published_to=days[1]).matches(APPLE) is fits


def test_a_document_without_a_date_is_in_no_range_of_dates():
    assert not DocumentFilter(published_from=date(1900, 1, 1)).matches(NEWS)
    assert not DocumentFilter(published_to=date(2100, 1, 1)).matches(NEWS)


def test_an_empty_value_matches_no_document_that_lacks_the_field():
    assert fold_all(["", " - "]) == frozenset()
    assert not DocumentFilter(companies=frozenset([fold("x")])).matches(NEWS)
