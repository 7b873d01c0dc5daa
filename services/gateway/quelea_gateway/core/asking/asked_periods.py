"""The periods that a question asks about, held against what was found: which make the evidence incomplete, and what is
said of them beside the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from quelea_fintext.dates import MONTHS, find_dates, parse_iso
from quelea_fintext.text import normalise
from quelea_fintext.times.short_periods import ShortPeriod, asks_whole_year, find_short_periods
from quelea_fintext.times.unreal_periods import Unreal, find_unreal_periods, is_spoken_of

from quelea_gateway.core.model import Citation, Passage

_END_NAMED = re.compile(r"(?:ended|ending|as of|as at|at|截至)\s*$", re.IGNORECASE)
_NEAR, _SOON = timedelta(days=10), timedelta(days=75)
_QUARTER, _YEAR = timedelta(days=92), timedelta(days=366)
_QUARTERLY = re.compile(r"Q[1-4]|季")
_SHOWN = 3


@dataclass(frozen=True)
class AskedPeriods:
    """Those that do not exist or are out of any report's reach, and those that no report counts by."""

    question: str = ""
    unreal: Unreal = field(default_factory=Unreal)
    short: tuple[ShortPeriod, ...] = ()

    @classmethod
    def of(cls, question: str, as_of: str) -> AskedPeriods:
        """Of a question that stands alone, asked on that day (YYYY-MM-DD)."""
        return cls(question, find_unreal_periods(question, as_of), find_short_periods(question, as_of))

    @property
    def impossible(self) -> bool:
        """Nothing is evidence of them, whatever fits the other words, and nobody can have any."""
        return bool(self.unreal.none_such)

    def unanswered(self, evidence: Sequence[Passage]) -> bool:
        """Whether nothing of the evidence is of the period: no figure in it can be the one that is asked for."""
        return self._unspoken(self.unreal.out_of_reach, evidence) or bool(find_uncovered(self.short, evidence))

    def incomplete(self, evidence: Sequence[Passage]) -> bool:
        """Whether the evidence says nothing of a period that has not begun; plans and forecasts may."""
        return self._unspoken(self.unreal.not_begun, evidence)

    @staticmethod
    def _unspoken(periods: Sequence[str], evidence: Sequence[Passage]) -> bool:
        texts = [f"{passage.header} {passage.text}" for passage in evidence]
        return any(not is_spoken_of(period, texts) for period in periods)

    def notices(self, evidence: Sequence[Passage], citations: Sequence[Citation]) -> list[tuple[str, str]]:
        """Names of notices, each with the periods that it is about.

        Args:
            evidence: What the reader was shown, in the order of its numbers.
            citations: Of the answer; none when it was declined.
        """
        unreal = self.unreal
        said = (
            ("no_such_period", unreal.none_such),
            ("period_not_begun", unreal.not_begun),
            ("out_of_reach", unreal.out_of_reach),
        )
        found = [(name, ", ".join(periods)) for name, periods in said if periods]
        if found:
            return found
        numbered = [one for one in citations if 0 < one.number <= len(evidence)]
        cited = [replace(evidence[one.number - 1], text=one.quote) for one in numbered]
        parts = year_in_parts(self.question, cited)
        return [*note_periods(self.short, evidence, cited), *([("part_of_year", parts)] if parts else [])]


def find_uncovered(periods: Iterable[ShortPeriod], passages: Sequence[Passage]) -> tuple[ShortPeriod, ...]:
    """Those that no passage names, that lie in the reporting period of none, and that no news may tell of.

    A vague one ("late 2022") is narrowed to its year like any other, and only told beside the answer.
    """
    periods = [period for period in periods if not period.is_vague]
    return tuple(p for p in periods if not any(named_in(p, q) or _holds(q, p) or _may_tell(q, p) for q in passages))


def find_unnamed(periods: Iterable[ShortPeriod], passages: Sequence[Passage]) -> tuple[ShortPeriod, ...]:
    """Those that no passage names."""
    return tuple(period for period in periods if not any(named_in(period, passage) for passage in passages))


def year_in_parts(question: str, cited: Sequence[Passage]) -> str:
    """The periods of what is quoted, where a whole year is asked for and all of it is of quarters; else ""."""
    if not cited or not asks_whole_year(question):
        return ""
    if not all(passage.period_end and _QUARTERLY.search(passage.period) for passage in cited):
        return ""
    return ", ".join(dict.fromkeys(passage.period for passage in cited))


def note_periods(
    periods: Sequence[ShortPeriod], evidence: Sequence[Passage], cited: Sequence[Passage]
) -> list[tuple[str, str]]:
    """Names of notices, each with what fills it in.

    Args:
        periods: That the question asks for.
        evidence: All that the reader was shown.
        cited: What the answer quotes, each passage cut to its quote; empty when it was declined.
    """
    found: list[tuple[str, str]] = []
    for period in find_unnamed(periods, cited or evidence):
        others = longer(period, cited or evidence)
        if period.first is None:
            found.append(("no_such_kind", period.words))
        elif others:
            found.append(("longer_period", f"{period.words} ({', '.join(others)})"))
        else:
            found.append(("period_unnamed", period.words))
    return found


def longer(period: ShortPeriod, passages: Iterable[Passage]) -> tuple[str, ...]:
    """The reporting periods that hold it, of these passages, by their labels."""
    return tuple(dict.fromkeys(p.period or p.period_end for p in passages if _holds(p, period)))[:_SHOWN]


def named_in(period: ShortPeriod, passage: Passage) -> bool:
    """Whether the passage speaks of it by name; a day also where it is the last one of the passage's period."""
    text = f"{passage.table_head}\n{passage.text}"
    if period.first is None:
        return normalise(period.words) in normalise(text)
    if period.first == period.last:
        end = parse_iso(passage.period_end)
        return bool(end and abs(end - period.first) <= _NEAR) or any(d.day == period.first for d in find_dates(text))
    if not period.is_month:
        return normalise(period.words) in normalise(text)
    return _names_month(text, period.first, passage)


def _names_month(text: str, first: date, passage: Passage) -> bool:
    names = "|".join(name for name, number in MONTHS.items() if number == first.month)
    published = parse_iso(passage.published)
    # News say "in October" of the October that has just been.
    just_been = not passage.period_end and (published is None or timedelta() <= published - first <= _SOON)
    year = rf"(?:,?\s+(?:of\s+)?{first.year}\b){'?' if just_been else ''}"
    pattern = (
        rf"\b(?:{names})\b\.?{year}(?!\s*\d)"
        rf"|(?:(?<!\d){first.year}\s*年\s*){'?' if just_been else ''}(?<!\d)0?{first.month}\s*月(?!\s*\d+\s*[日号])"
    )
    return any(not _END_NAMED.search(text[: match.start()]) for match in re.finditer(pattern, text, re.IGNORECASE))


def _may_tell(passage: Passage, period: ShortPeriod) -> bool:
    """What reports no period and came out soon after it, or nobody knows when: it may say "last month"."""
    if passage.period_end or period.first is None:
        return False
    published = parse_iso(passage.published)
    return published is None or timedelta() <= published - period.first <= _SOON


def _holds(passage: Passage, period: ShortPeriod) -> bool:
    end = parse_iso(passage.period_end)
    if end is None or period.first is None or period.last is None:
        return False
    span = _QUARTER if _QUARTERLY.search(passage.period) else _YEAR
    middle = period.first + (period.last - period.first) / 2
    return end - span < middle <= end
