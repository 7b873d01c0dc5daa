"""Days of texts, and days so many months on."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.dates import find_dates, months_later


@pytest.mark.parametrize("text", ["July 1, 2023", "1 July 2023", "2023年7月1日", "2023-07-01", "2023/7/1"])
def test_a_day_however_it_is_written(text: str) -> None:
    (found,) = find_dates(f"as of {text}.")
    assert (found.day, found.start, found.end) == (date(2023, 7, 1), 6, 6 + len(text))


def test_what_is_no_day_is_not_found() -> None:
    assert not list(find_dates("February 30, 2023; March 2023; 2023-13-01; 12023-01-011"))


@pytest.mark.parametrize(
    ("day", "months", "later"),
    [
        ("2023-01-15", 1, "2023-02-15"),
        ("2023-01-30", 1, "2023-02-28"),
        ("2023-04-30", 1, "2023-05-31"),
        ("2024-02-29", 12, "2025-02-28"),
        ("2023-03-31", -13, "2022-02-28"),
        ("2023-12-05", 0, "2023-12-05"),
    ],
)
def test_months_later_the_last_of_a_month_stays_the_last(day: str, months: int, later: str) -> None:
    assert months_later(date.fromisoformat(day), months) == date.fromisoformat(later)


@given(st.dates(), st.integers(-200_000, 200_000))
def test_months_later_is_so_many_months_later_or_none(day: date, months: int) -> None:
    later = months_later(day, months)
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    assert (later is None) == (not 1 <= year <= 9999)
    assert later is None or (later.year, later.month) == (year, month + 1)
