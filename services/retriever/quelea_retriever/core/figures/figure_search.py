"""Whose statements a question asks about and when, and what a figure found in them says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise

from quelea_fintext.asked_lines import Series, read_asked_lines
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.nouns import in_nouns

from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.model import DocumentFacts, Reading
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.companies import Mention
from quelea_retriever.core.question.filings import newest_first
from quelea_retriever.core.question.relative_periods import Periods
from quelea_retriever.core.question.time_intent import TimeIntent, read_time_intent

_MOST_FILINGS = 16
_NEWEST = 4
"""Filings that are looked into where a question names no period: the newest, and an annual one among them."""
_BETWEEN = LANGUAGES.pattern("questions.between_companies", r"(?:'s)?[\s,、，]*(?:<>)?\s*")


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """quelea.common.v1.Figure says what the fields are."""

    company: str
    value: Decimal
    unit: str
    period_start: str
    period_end: str
    operands: tuple[StatedFact, ...]
    metric: str = ""
    formula: str = "{0}"
    formula_before: str = ""
    fiscal_year: int = 0
    asked_year: int = 0
    absent: tuple[str, ...] = ()
    growth: Decimal | None = None
    later: Decimal | None = None
    earlier: Decimal | None = None
    of: str = ""


@dataclass(frozen=True)
class FigureSearch:
    """Whose statements a question asks about, and when."""

    question: str
    companies: tuple[tuple[str, tuple[DocumentFacts, ...]], ...]
    """Display names, each with the filings that may state it."""
    mentions: tuple[str, ...]
    """Words of the question that name companies."""
    periods: Periods
    intent: TimeIntent
    series: Series | None = None

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of all of these filings."""
        return tuple(dict.fromkeys(one.id for _, filings in self.companies for one in filings))


def plan_figures(question: str, reading: Reading, catalogue: Catalogue, as_of: date) -> FigureSearch | None:
    """Where to look for figures; None where the question names none, or no company with filings."""
    asked = in_nouns(question)
    named = catalogue.book.find(asked)
    keys = list(dict.fromkeys(mention.key for mention in named))
    if reading.company_missing:
        return None
    if not keys and not catalogue.unowned and len(catalogue.by_company) == 1:
        keys = list(catalogue.by_company)
    strange = _beside(named, asked, [key for key in keys if not catalogue.by_company.get(key)], catalogue)
    keys = [key for key in keys if key not in strange]
    if not keys or any(key not in catalogue.by_company for key in keys):
        return None
    mentions = tuple(asked[mention.start : mention.end] for mention in named)
    periods = Periods.read(asked, as_of)
    series = read_asked_lines(asked, companies=mentions).series
    chosen = []
    for key in keys:
        filings = [one for one in catalogue.by_company[key] if one.period.end_date]
        if filings:
            chosen.append((catalogue.book.display[key], tuple(_nearest(filings, periods, several=series is not None))))
    if not chosen or len(chosen) < len(keys):
        return None
    return FigureSearch(asked, tuple(chosen), mentions, periods, read_time_intent(asked), series)


def _beside(named: Sequence[Mention], asked: str, keys: Sequence[str], catalogue: Catalogue) -> frozenset[str]:
    """Those of these companies that nothing is stored of, and that the question only names beside another.

    What it asks of both is then answered of the other ("Tesla and Apple"); a note says who is missing. A company that
    is named otherwise ("Apple's sales to Tesla") is part of what is asked.
    """
    joined = {
        one.key
        for left, right in pairwise(named)
        if _BETWEEN.fullmatch(asked[left.end : right.start])
        for one in (left, right)
    }
    return frozenset(key for key in keys if key in joined and not catalogue.about(key))


def _nearest(filings: Sequence[DocumentFacts], periods: Periods, *, several: bool) -> list[DocumentFacts]:
    """The newest filings, or those next to the years that are named: the years after them print them too."""
    years = [ask.year for ask in periods.named if ask.year]
    if years:
        filings = [
            one for one in filings if min(years) - 1 <= int(one.period.end_date[:4]) <= max(years) + 3
        ] or filings
    most = _MOST_FILINGS if years or periods.relative or several else _NEWEST
    return list(newest_first(filings))[:most]
