"""A period that nothing states, as what is left of a longer one without what comes before it: a fourth quarter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from quelea_fintext.asked_lines import Line
from quelea_fintext.concepts import goes_on
from quelea_fintext.dates import parse_iso
from quelea_fintext.languages import LANGUAGES

from quelea_retriever.core.figures.fact_periods import YEAR, Target
from quelea_retriever.core.figures.stated_lines import StatedLines, concept_of, kind_of
from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.question.filings import NEAR

_TO_DATE = (6, 9, 12)
"""Months from the beginning of a year to the end of its quarters, but the first."""
_OF_DAY = LANGUAGES.pattern("passages.of_day")


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left of a line's longer period without the part of it that comes first."""

    whole: StatedFact
    part: StatedFact

    @property
    def amount(self) -> Decimal:
        """Exact and unscaled."""
        return self.whole.amount - self.part.amount

    @property
    def unit(self) -> str:
        """As Fact.unit."""
        return self.whole.unit

    @property
    def start(self) -> str:
        """The day after the first part."""
        after = parse_iso(self.part.fact.period_end)
        return (after + timedelta(days=1)).isoformat() if after else ""


def remainder(lines: StatedLines, line: Line, target: Target) -> Remainder | None:
    """The shortest longer period that ends with this one and what comes before this one in it."""
    before = replace(target, end=target.end - YEAR * target.months / 12, is_span=True)
    for months in (one for one in _TO_DATE if one > target.months):
        whole = lines.stated(line, replace(target, months=months, is_span=True))
        part = lines.stated(line, replace(before, months=months - target.months))
        if (
            whole
            and part
            and _is_first_part(part, whole, months, target.months)
            and lines.is_restated(whole) is lines.is_restated(part)
        ):
            return Remainder(whole, part)
    return None


def _is_first_part(part: StatedFact, whole: StatedFact, months: int, rest: int) -> bool:
    """Both begin with the year, and are of one line that adds up over time: no rate, no number of shares, no cash at
    the end of the period."""
    starts = [parse_iso(one.fact.period_start) for one in (part, whole)]
    return (
        all(starts)
        and abs(starts[0] - starts[1]) <= NEAR  # type: ignore[operator]  # both are days
        and abs(whole.fact.months - months) <= 1
        and abs(part.fact.months - (months - rest)) <= 1
        and whole.unit == part.unit
        and whole.fact.statement == part.fact.statement
        and concept_of(whole) == concept_of(part)  # not with what answers instead: income with minorities' share
        and goes_on(whole.fact.label) == goes_on(part.fact.label)
        and not kind_of(whole)
        and not _OF_DAY.search(whole.fact.label)
        and whole.unit not in ("percent", "points", "times", "days")
    )
