"""Periods are read with the year that belongs to them, where they stand."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_fintext.times.periods import Period, find_periods


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("Revenue in Q3 FY2023", [Period("quarter", 2023, 3, fiscal=True)]),
        ("the third quarter of calendar 2023", [Period("quarter", 2023, 3, calendar=True)]),
        ("3Q23 and 1H FY24", [Period("quarter", 2023, 3), Period("half", 2024, 1, fiscal=True)]),
        ("the first nine months of 2023", [Period("months", 2023, 9)]),
        ("first and second quarters of 2022", [Period("quarter", 2022, 2)]),
        ("Q1 and Q2 2022", [Period("quarter", 2022, 1), Period("quarter", 2022, 2)]),
        ("in 2022 compared with 2021", [Period("year", 2022), Period("year", 2021)]),
        ("March 2023", [Period("month", 2023, 3)]),
        ("July 1, 2023", [Period("date", 2023, day=date(2023, 7, 1))]),
        ("2023财年第三季度", [Period("quarter", 2023, 3, fiscal=True)]),
        ("2023年上半年", [Period("half", 2023, 1)]),
        ("2022年前三季度", [Period("months", 2022, 9)]),
        ("notes due 2030", []),
        ("23 products", []),
    ],
)
def test_what_is_named_is_read(text: str, periods: list[Period]) -> None:
    assert list(find_periods(text)) == periods


def test_a_year_that_may_be_a_figure_is_uncertain() -> None:
    (year,) = find_periods("The Gadget 2023 edition")
    assert not year.certain
    (year,) = find_periods("in fiscal 2023")
    assert year.certain


def test_the_span_is_where_the_part_is_named() -> None:
    text = "sales of the second quarter, 2021"
    (found,) = find_periods(text)
    assert text[found.start : found.end] == "second quarter"
