"""What a document's header tells of its times: which fiscal year a date is in, and what "this period" is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from quelea_checker.model import Period

_YEAR_TO_DATE = re.compile(r"年初至(?:本?报告期末?|期末)|\byear[- ]to[- ]date\b", re.IGNORECASE)
_THIS = re.compile(r"本报告期(?!末)|本期(?!末)|\b(?:this|current) quarter\b", re.IGNORECASE)
_LAST = re.compile(r"上年同期|去年同期|\b(?:prior|previous|last)[- ]year\b", re.IGNORECASE)
_THAN = re.compile(r"比(?:上年同期|去年同期)")


@dataclass(frozen=True, slots=True)
class Fiscal:
    """How a document counts its years.

    Attributes:
        month: The month in which its fiscal year ends; 0 where the header does not say.
        shift: What its fiscal year is called, less the calendar year in which it ends: -1 of fiscal 2025, which ended
            in January 2026.
        quarter: Of a quarter's report, the quarter; 0 of others.
        year: The year that the header names it by.
    """

    month: int = 0
    shift: int = 0
    quarter: int = 0
    year: int = 0

    def labelled(self, periods: Sequence[Period]) -> tuple[Period, ...]:
        """The periods, dates with the fiscal year that the document calls them by, where that is not the usual one."""
        if not self.month or (self.month == 12 and not self.shift):
            return tuple(periods)
        return tuple(
            replace(p, label=label if (label := self._year_of(p)) != p.year else 0, ends=self._quarter_of(p))
            if p.year and p.month else p
            for p in periods
        )  # fmt: skip

    def _quarter_of(self, period: Period) -> int:
        _, month = _month(period)
        return (month - self.month - 1) % 12 // 3 + 1 if period.day and (month - self.month) % 3 == 0 else 0

    def _year_of(self, period: Period) -> int:
        year, month = _month(period)
        return year + (month > self.month) + self.shift

    def quarters(self, periods: Sequence[Period]) -> tuple[Period, ...]:
        """The fiscal quarters that end on days which are named: Q3 of fiscal 2021 of "June 26, 2021"."""
        if not self.month:
            return ()
        found = {}
        for period in periods:
            if period.year and period.month and period.day and period.months in {0, 3}:
                _, month = _month(period)
                if (month - self.month) % 3 == 0:
                    quarter = (month - self.month - 1) % 12 // 3 + 1
                    found[self._year_of(period), quarter] = period
        return tuple(
            Period(0, 0, year, quarter=quarter, months=3, fiscal=True, explicit=True) for year, quarter in found
        )

    def of_head(self, text: str) -> tuple[Period, ...]:
        """The time that a column's head names by the report: 本报告期, 年初至报告期末; empty where it names none."""
        if not self.quarter or not self.year:
            return ()
        to_date, this, last = _relative(text)
        year = self.year - last
        if to_date:
            months = 3 * self.quarter
            return (Period(0, 0, year, quarter=1 if months == 3 else 0, months=months),)
        if this:
            return (Period(0, 0, year, quarter=self.quarter, months=3, fiscal=True),)
        return ()


@lru_cache(maxsize=4096)
def _relative(text: str) -> tuple[bool, bool, bool]:
    """Whether a head says "year to date", "this period", and that it is of the year before."""
    last = bool(_LAST.search(_THAN.sub(" ", text)))
    return bool(_YEAR_TO_DATE.search(text)), bool(_THIS.search(text)), last


def read(header: Sequence[Period]) -> Fiscal:
    """What the times of a header tell: "FY2025 Q3 · quarter ended October 31, 2025"."""
    labels = [p for p in header if p.fiscal and p.year and not p.month]
    dates = [p for p in header if p.year and p.month and p.day]
    if not labels:
        return Fiscal()
    label = labels[0]
    if not dates or label.half:
        return Fiscal(quarter=label.quarter, year=label.year)
    year, month = _month(dates[0])
    month += 3 * (4 - label.quarter) if label.quarter else 0
    year, month = (year + 1, month - 12) if month > 12 else (year, month)
    shift = label.year - year
    return Fiscal(month, shift if abs(shift) == 1 else 0, label.quarter, label.year)


def _month(period: Period) -> tuple[int, int]:
    """The year and month that a date ends: years of 52 weeks end up to a week late."""
    if 0 < period.day <= 7:
        return (period.year - 1, 12) if period.month == 1 else (period.year, period.month - 1)
    return period.year, period.month
