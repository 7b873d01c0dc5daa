"""Figures of several companies are of one time, as far as all state it; where they are not, a note says so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Protocol

from quelea_fintext.dates import parse_iso
from quelea_fintext.notices import Note, NoteReason

from quelea_retriever.core.figures.fact_periods import YEAR, Target
from quelea_retriever.core.figures.figure_search import AskedFigure, FigureSearch

ONE_TIME = timedelta(days=45)
"""Periods of two companies that end within so many days of each other are compared."""


class CompanyFigures(Protocol):
    """What one company states of what is asked."""

    @property
    def newest(self) -> Target | None:
        """The period that is meant where the question names none."""

    def near(self, time: Target, within: timedelta) -> Target | None:
        """Its period of that length that ends within so many days of that one; None where it states none."""

    def figures(self, instead: Target | None = None) -> list[AskedFigure]:
        """What the question asks for; of its newest period where it names none, or of that one instead."""


def in_common_period(
    search: FigureSearch, companies: Sequence[CompanyFigures], each: Sequence[list[AskedFigure]]
) -> Sequence[list[AskedFigure]]:
    """Of several companies and no period: where one's newest filing is older, what the others state of its time.

    The last year of one beside the year before last of another compares nothing. Who does not state it keeps its own.
    """
    if len(companies) < 2 or search.periods.named or search.periods.relative or search.intent.latest:
        return each
    newest = [one.newest for one in companies]
    first = min((one for one in newest if one), key=lambda one: one.end, default=None)
    if first is None:
        return each
    found = []
    for company, own, figures in zip(companies, newest, each, strict=True):
        near = company.near(first, ONE_TIME) if own and own.end - first.end > ONE_TIME else None
        found.append((company.figures(near) if near else []) or figures)
    return found


def missing_periods(search: FigureSearch, figures: Sequence[AskedFigure]) -> tuple[Note, ...]:
    """Which companies' statements have fewer periods than are asked for; that their figures are of different ones."""
    count = search.series.count if search.series and not search.periods.named else 0
    notes = []
    for company, _ in search.companies:
        found = len({one.period_end for one in figures if one.company == company})
        if 0 < found < count:
            notes.append(Note(NoteReason.FEWER_PERIODS, (company,), count=found, total=count))
    companies = tuple(company for company, _ in search.companies)
    if len(companies) > 1 and not (search.series or search.periods.named or search.periods.relative):
        times = [_time_of([one for one in figures if one.company == company]) for company in companies]
        ends = [end for end, _ in times if end]
        lengths = {long for _, long in times if long}
        if ends and (max(ends) - min(ends) > ONE_TIME or len(lengths) > 1):
            notes.append(Note(NoteReason.DIFFERENT_PERIODS, companies))
    return tuple(notes)


def _time_of(figures: Sequence[AskedFigure]) -> tuple[date | None, frozenset[int]]:
    """(the last day of a company's figures, about how many months they are long; those of a day are not counted)."""
    ends = [end for one in figures if (end := parse_iso(one.period_end))]
    spans = [(parse_iso(one.period_start), parse_iso(one.period_end)) for one in figures]
    return max(ends, default=None), frozenset(
        round((last - first) / YEAR * 12) for first, last in spans if first and last
    )
