"""Words of scales and currencies come from Unicode's locale data and the folders of the languages."""

from __future__ import annotations

import pytest
from quelea_fintext.quantities import CURRENCIES, SCALES


@pytest.mark.parametrize(
    ("word", "times"),
    [("million", 10**6), ("bn", 10**9), ("万", 10**4), ("亿", 10**8), ("万亿", 10**12), ("十亿", 10**9)],
)
def test_a_word_multiplies(word: str, times: int) -> None:
    assert SCALES[word] == times


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("us dollars", "USD"),
        ("$", "$"),
        ("¥", "¥"),
        ("元", "CNY"),
        ("港元", "HKD"),
        ("hong kong dollars", "HKD"),
        ("€", "EUR"),
    ],
)
def test_a_currency_has_its_code(word: str, code: str) -> None:
    assert CURRENCIES[word] == code
