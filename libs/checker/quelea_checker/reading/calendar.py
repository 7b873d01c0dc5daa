"""Whether two times can be one, which times the evidence names, and what a header tells of the fiscal year."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from quelea_checker.model import Period


def merge_periods(column: Sequence[Period], row: Sequence[Period]) -> tuple[Period, ...]:
    """The times of a cell from those of its column and its row: "fourth quarter" under "2019" is Q4 2019."""
    if not column or not row:
        return tuple(column or row)
    return tuple(both for c in column for r in row if (both := _merge_pair(c, r)) is not None) or (*column, *row)


def _merge_pair(one: Period, other: Period) -> Period | None:
    fields = {}
    for name in ("year", "quarter", "half", "month", "day", "months"):
        a, b = getattr(one, name), getattr(other, name)
        if a and b and a != b:
            return None
        fields[name] = a or b
    return replace(one, **fields, fiscal=one.fiscal or other.fiscal)


def periods_contradict(said: Period, found: Period, years: frozenset[int]) -> bool:
    """Whether a statement about `said` cannot rest on a figure of `found`.

    Args:
        years: Years that the figure's table has columns for: a label that one of them has means that one.
    """
    if found.label and said.year and not said.month:
        named = said.explicit or (said.fiscal and not said.quarter)  # "Q3 2023" may be the calendar's
        if said.year != found.label and (named or said.year != found.year):
            return True
    elif said.year and found.year and said.year != found.year and not _same_fiscal(said, found, years):
        return True
    if said.explicit and said.quarter and found.ends and said.quarter != found.ends and found.months in {0, 3}:
        return True  # "Q3 2023", not called fiscal, may be the calendar's
    if said.month and found.month and said.month != found.month and not _is_late(said, found):
        return True
    if said.day and found.day and said.day != found.day:
        return True
    if said.quarter and found.quarter and said.quarter != found.quarter:
        return True
    if said.half and found.half and said.half != found.half:
        return True
    return bool(said.months and found.months and said.months != found.months)


def _is_late(one: Period, other: Period) -> bool:
    """July to September, and 13 weeks to October 1: those that count weeks end up to a week after the month."""
    span, date = (one, other) if other.day else (other, one)
    return bool(span.months and not span.day and 0 < date.day <= 7) and date.month == span.month % 12 + 1


def _same_fiscal(said: Period, found: Period, years: frozenset[int]) -> bool:
    """A fiscal label and a date in it: fiscal 2024 may end in 2023, and fiscal 2022 in January 2023."""
    label, date = (said, found) if found.month else (found, said)
    if label.month or not date.month or not label.fiscal or (label is said and label.year in years):
        return False
    return label.year == date.year + 1 or (label.year == date.year - 1 and date.month <= 2)


def periods_fit(said: Sequence[Period], found: Sequence[Period], years: frozenset[int]) -> bool:
    """Whether one of the times said can be one of the times found; where either names none, it can."""
    if not said or not found:
        return True
    for one in said:
        for other in found:
            if not periods_contradict(one, other, years):
                return True
    return False


class Calendar:
    """The times that evidence names, for the question whether it names one.

    Args:
        named: By passage: the times in its header, its heads and its text.
    """

    def __init__(self, named: Sequence[Sequence[Period]]) -> None:
        self._all = [{_key_of(period) for period in one} for one in named]
        self._periods = [tuple({_key_of(p): p for p in one}.values()) for one in named]

    def passages(self, period: Period) -> tuple[int, ...]:
        """Numbers of the passages that name the time, from 1."""
        return tuple(n for n, one in enumerate(self._periods, start=1) if self._names(period, n - 1, one))

    def _names(self, said: Period, index: int, periods: Sequence[Period]) -> bool:
        if _key_of(said) in self._all[index]:
            return True
        years = {p.year for p in periods} | {p.label for p in periods}
        if said.day:
            days = [p for p in periods if (p.month, p.day) == (said.month, said.day)]
            return any(p.year == said.year or not said.year for p in days)
        if said.month:
            return any(
                p.year == said.year and (p.month == said.month or _is_late(said, p) or _is_quarter(said, p))
                for p in periods
            )
        if said.quarter:
            return self._has_quarter(said, periods)
        if said.half:
            two = {1: {1, 2}, 2: {3, 4}}[said.half]
            own = [p for p in periods if p.year in {0, said.year} or not said.year]
            if said.half == 1 and any(p.months == 9 for p in own) and any(p.quarter == 3 for p in own):
                return True  # nine months without the third quarter
            if two <= {p.quarter for p in periods if p.year in {0, said.year} or not said.year}:
                return True
            return any(
                (not said.year or p.year == said.year)
                and (p.half == said.half or (said.half == 1 and p.months == 6) or p.month == 6 * said.half)
                for p in periods
            )
        return said.year in years if said.year else any(p.months == said.months for p in periods)

    def _has_quarter(self, said: Period, periods: Sequence[Period]) -> bool:
        labels = [p for p in periods if p.quarter]
        for label in labels:
            if label.quarter == said.quarter and (not said.year or label.year == said.year):
                return True
        loose = [label for label in labels if not label.year and label.quarter == said.quarter]
        if loose and any(p.year == said.year for p in periods):
            return True
        # A date says its quarter of the calendar year, where a label for the same year would say the fiscal one and the
        # text insists on it.
        if said.explicit and any(label.year == said.year for label in labels):
            return False
        return any(p.month and _quarter(p) == said.quarter and (not said.year or p.year == said.year) for p in periods)


def _is_quarter(span: Period, label: Period) -> bool:
    """July to September is the third quarter."""
    return span.months == 3 and bool(label.quarter) and not label.month and label.quarter * 3 == span.month


def _quarter(period: Period) -> int:
    """The calendar quarter that ends about a date: 52-week quarters end up to a week late."""
    month = period.month - 1 if 0 < period.day <= 7 and period.month % 3 == 1 else period.month
    return (max(month, 1) + 2) // 3


def _key_of(period: Period) -> tuple[int, ...]:
    return (period.year, period.quarter, period.half, period.month, period.day, period.months)


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
        _, month = _end_month(period)
        return (month - self.month - 1) % 12 // 3 + 1 if period.day and (month - self.month) % 3 == 0 else 0

    def _year_of(self, period: Period) -> int:
        year, month = _end_month(period)
        return year + (month > self.month) + self.shift

    def quarters(self, periods: Sequence[Period]) -> tuple[Period, ...]:
        """The fiscal quarters that end on days which are named: Q3 of fiscal 2021 of "June 26, 2021"."""
        if not self.month:
            return ()
        found = {}
        for period in periods:
            if period.year and period.month and period.day and period.months in {0, 3}:
                _, month = _end_month(period)
                if (month - self.month) % 3 == 0:
                    quarter = (month - self.month - 1) % 12 // 3 + 1
                    found[self._year_of(period), quarter] = period
        return tuple(
            Period(0, 0, year, quarter=quarter, months=3, fiscal=True, explicit=True) for year, quarter in found
        )

    def of_head(self, text: str) -> tuple[Period, ...]:
        """The time that a column's head names by the report: 本报告期, 上期发生额; empty where it names none."""
        if not self.quarter:
            return self._year_of_head(text)
        if not self.year:
            return ()
        to_date, this, last = _relative(text)
        year = self.year - last
        if to_date:
            months = 3 * self.quarter
            return (Period(0, 0, year, quarter=1 if months == 3 else 0, months=months),)
        if this:
            return (Period(0, 0, year, quarter=self.quarter, months=3, fiscal=True),)
        return ()

    def _year_of_head(self, text: str) -> tuple[Period, ...]:
        """The year that a column of an annual report is of: of 上期发生额 the one before it."""
        if not self.month or _CHANGED.search(text):
            return ()
        ago = 0 if _THIS.search(text) else 1 if _FLOW_BEFORE.search(text) else None
        return () if ago is None else (Period(0, 0, self.year - ago),)


_FLOW_BEFORE = re.compile(r"上年同期|去年同期|上期(?!末)|\b(?:prior|previous|last) year\b", re.IGNORECASE)
_CHANGED = re.compile(r"比|较|增减|变动|\bchange|\b(?:in|de)crease|\bvs\b|\bversus\b", re.IGNORECASE)
_PRIOR = re.compile(r"上年同期|去年同期|上期|上年度?|\b(?:prior|previous|last) (?:year|period|quarter)", re.IGNORECASE)
_CURRENT = re.compile(r"本报告期|本期|本年度?|\b(?:this|current) (?:year|period|quarter)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def read_relative(text: str) -> int:
    """2 of words for "this period", 1 of words for "the one before", 0 where nothing is said."""
    return 1 if _PRIOR.search(text) else 2 if _CURRENT.search(text) else 0


@lru_cache(maxsize=4096)
def _relative(text: str) -> tuple[bool, bool, bool]:
    """Whether a head says "year to date", "this period", and that it is of the year before."""
    last = bool(_LAST.search(_THAN.sub(" ", text)))
    return bool(_YEAR_TO_DATE.search(text)), bool(_THIS.search(text)), last


def read_fiscal(header: Sequence[Period]) -> Fiscal:
    """What the times of a header tell: "FY2025 Q3 · quarter ended October 31, 2025"."""
    labels = [p for p in header if p.fiscal and p.year and not p.month]
    dates = [p for p in header if p.year and p.month and p.day]
    if not labels:
        return Fiscal()
    label = labels[0]
    if not dates or label.half:
        return Fiscal(quarter=label.quarter, year=label.year)
    year, month = _end_month(dates[0])
    month += 3 * (4 - label.quarter) if label.quarter else 0
    year, month = (year + 1, month - 12) if month > 12 else (year, month)
    shift = label.year - year
    return Fiscal(month, shift if abs(shift) == 1 else 0, label.quarter, label.year)


def year_before(period: Period) -> Period:
    """The same time of the year before. Years of 52 weeks end on another day, up to a week late in the next month."""
    year, month = _end_month(period)
    return replace(period, year=year - 1, month=month, day=0)


def _end_month(period: Period) -> tuple[int, int]:
    """The year and month that a date ends: years of 52 weeks end up to a week late."""
    if 0 < period.day <= 7:
        return (period.year - 1, 12) if period.month == 1 else (period.year, period.month - 1)
    return period.year, period.month
