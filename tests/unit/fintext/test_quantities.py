"""Amounts in digits are read with scale, unit, currency and sign, where they stand."""

from __future__ import annotations

from decimal import Decimal

import pytest
from quelea_fintext.quantities import Quantity, QuantityReader, find_quantities


def only(text: str) -> Quantity:
    (found,) = find_quantities(text)
    return found


@pytest.mark.parametrize(
    ("text", "value", "unit", "currency"),
    [
        ("Net sales were $81.8 billion.", "81.8e9", "", "$"),
        ("up 12.5 percent", "12.5", "percent", ""),
        ("a margin of -12.7%", "-12.7", "percent", ""),
        ("a loss of (1,234)", "-1234", "", ""),
        ("$(3.4) million", "-3.4e6", "", "$"),
        ("RMB 1.2bn", "1.2e9", "", "CNY"),
        ("25 US dollars", "25", "", "USD"),
        ("€5m", "5e6", "", "EUR"),
        ("minus 4 basis points", "-4", "basis points", ""),
        ("营收3.2亿元", "3.2e8", "", "CNY"),
        ("30亿美元", "3e9", "", "USD"),
        ("提高了1.5个百分点", "1.5", "points", ""),
        ("2.3倍", "2.3", "times", ""),
        ("1,000万港币", "1e7", "", "HKD"),
    ],
)
def test_an_amount_is_read(text: str, value: str, unit: str, currency: str) -> None:
    found = only(text)
    assert (found.value, found.unit, found.currency) == (Decimal(value), unit, currency)


def test_the_span_is_what_is_printed() -> None:
    text = "Sales (about $1,234.5 million) rose"
    (found,) = find_quantities(text)
    assert text[found.start : found.end] == "about $1,234.5 million"
    assert found.about
    assert not found.negative  # the parenthesis is the sentence's: it opens before "about"


def test_letters_of_a_word_are_no_scale_and_no_currency() -> None:
    assert [one.value for one in find_quantities("5 members, 3 books, 7 times")] == [5, 3, 7]
    assert [one.unit for one in find_quantities("5 members, 3 books, 7 times")] == ["", "", "times"]


def test_decimals_are_set_apart_as_the_language_does() -> None:
    (found,) = QuantityReader(language="de").read("1.234,5")
    assert found.value == Decimal("1234.5")
    assert only("1,234.5").value == Decimal("1234.5")
