"""Times as tables abbreviate them are times."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.reading.periods import find_periods


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("December 31,2018", [(2018, 12, 31)]),
        ("December31, 2018", [(2018, 12, 31)]),
        ("30/9/2018", [(2018, 9, 30)]),
        ("9/30/18", [(2018, 9, 30)]),
        ("31.12.2018", [(2018, 12, 31)]),
        ("30-Sep-18", [(2018, 9, 30)]),
        ("30 June 18", [(2018, 6, 30)]),
        ("Dec-18", [(2018, 12, 0)]),
        ("Jun'19", [(2019, 6, 0)]),
        ("5/6/2019", [(2019, 0, 0)]),
        ("5/6/19", []),
        ("2019A", [(2019, 0, 0)]),
        ("CY19", [(2019, 0, 0)]),
        ("F2019", [(2019, 0, 0)]),
        ("1H19", [(2019, 0, 0)]),
        ("2020-24", [(2020, 0, 0), (2024, 0, 0)]),
        ("2018-12-31", [(2018, 12, 31)]),
        ("COVID-19", []),
        ("1/2 of 3", []),
    ],
)
def test_reads_short_times(text: str, times: list[tuple[int, int, int]]) -> None:
    assert [(p.year, p.month, p.day) for p in find_periods(text)] == times


def test_heads_with_short_dates_tell_the_columns_apart() -> None:
    passage = CheckPassage("€ million\t30/9/2018\t30/9/2019\nProvisions for pensions\t344\t414")
    (_, good), (_, bad) = (
        check_answer(f"Provisions for pensions were €414 million at 30 September {year}.", [passage]).figures
        if year == 2019
        else check_answer(f"At 30 September {year} provisions for pensions were €414 million.", [passage]).figures
        for year in (2019, 2018)
    )
    assert good.verdict == "supported"
    assert bad.verdict in UNSUPPORTED
