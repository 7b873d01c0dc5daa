"""Amounts in words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from quelea_fintext.amount_format import decimals_of, scale_of, write_amount


@pytest.mark.parametrize(
    ("printed", "value", "scale"),
    [("$ 47,061", "47061000000", 6), ("(2,064)", "-2064000", 3), ("1,598,221.32", "1598221.32", 0), ("-", "0", 0),
     ("12.5", "1250000000", 8), (".46", "0.46", 0)],
)  # fmt: skip
def test_the_scale_of_a_table(printed: str, value: str, scale: int) -> None:
    assert scale_of(printed, Decimal(value)) == scale


@pytest.mark.parametrize(
    ("value", "unit", "scale", "printed", "english", "chinese"),
    [
        ("47061000000", "USD", 6, "47,061", "$47,061 million", "47,061百万美元"),
        ("-2524000000", "USD", 6, "(2,524)", "−$2,524 million", "−2,524百万美元"),
        ("1598221013.32", "CNY", 0, "1,598,221,013.32", "1,598,221,013.32 CNY", "1,598,221,013.32元"),
        ("2.46", "USD/share", 0, "2.46", "$2.46 per share", "每股2.46美元"),
        ("4320000000", "shares", 6, "4,320", "4,320 million shares", "4,320百万股"),
    ],
)
def test_money_and_shares(value: str, unit: str, scale: int, printed: str, english: str, chinese: str) -> None:
    for language, expected in (("en", english), ("zh", chinese)):
        said = write_amount(Decimal(value), unit, language, scale=scale, decimals=decimals_of(printed))
        assert said == expected


@pytest.mark.parametrize(
    ("value", "unit", "english", "chinese"),
    [
        ("61.063", "percent", "61.1%", "61.1%"),
        ("-0.504", "percent", "−0.50%", "−0.50%"),
        ("4.638", "points", "4.64 percentage points", "4.64个百分点"),
        ("1.429", "times", "1.43", "1.43"),
        ("45.25", "days", "45.3 days", "45.3天"),
    ],
)
def test_rates(value: str, unit: str, english: str, chinese: str) -> None:
    assert write_amount(Decimal(value), unit, "en") == english
    assert write_amount(Decimal(value), unit, "zh") == chinese
