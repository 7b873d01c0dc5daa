"""Numbers in words, English and Chinese."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from quelea_fintext.numerals import (
    CARDINAL_WORD,
    HAN_NUMERAL,
    ORDINAL_WORD,
    chinese,
    english,
    how_many,
    number,
    ordinal,
)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("4", "4"),
        ("2.5", "2.5"),
        ("four", "4"),
        ("twenty-five", "25"),
        ("fourth", "4"),
        ("4th", "4"),
        ("twelfth", "12"),
        ("zeroth", "0"),
        ("twentieth", "20"),
        ("fifty-fourth", "54"),
        ("四", "4"),
        ("十四", "14"),
        ("五十四", "54"),
        ("二点五", "2.5"),
        ("二〇二三", "2023"),
        ("零", "0"),
        ("两", "2"),
    ],
)
def test_a_number_however_it_is_said(said: str, value: str) -> None:
    assert number(said) == Decimal(value)


@pytest.mark.parametrize("said", ["", "fourthly", "twenty-twenty", "点五", "twenty-tenth", "Q4", "四季", "ten-first"])
def test_what_is_no_number(said: str) -> None:
    assert number(said) is None


def test_every_ordinal_up_to_twelve_and_what_patterns_find() -> None:
    words = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
    assert [ordinal(word) for word in words] == list(range(1, 13))
    assert all(re.fullmatch(ORDINAL_WORD, word) for word in [*words, "fifty-fourth", "21st"])
    assert re.fullmatch(CARDINAL_WORD, "twenty-one")
    assert english("twenty-one") == 21
    assert re.fullmatch(HAN_NUMERAL, "二点五")
    assert chinese("三千五百万") == 35_000_000


@pytest.mark.parametrize(
    ("said", "count"), [("a", 1), ("A", 1), ("3", 3), ("Three", 3), ("两", 2), ("十", 10), ("", 0), ("some", 0)]
)
def test_how_many(said: str, count: int) -> None:
    assert how_many(said) == count
