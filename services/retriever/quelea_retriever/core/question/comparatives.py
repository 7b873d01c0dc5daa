"""Periods that no filing is of, and that a later filing shows beside its own: the year before, in the next column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.filings import covering, newest_first, period_name
from quelea_retriever.core.question.periods import Ask

_YEARS = 2
"""Annual statements show one year before their own, or two; quarterly ones the same quarter of the year before."""
_YEAR = timedelta(days=365)


def filings_with_comparatives(
    asks: Sequence[Ask], filings: Sequence[DocumentFacts], annual: bool
) -> list[DocumentFacts]:
    """The filings whose statements have the periods asked for as comparison, newest first; empty when one has none.

    Only of what is counted over a span of time: a balance sheet is compared with the one of the last year's end.
    """
    found: list[DocumentFacts] = []
    for ask in asks:
        if not ask.year or ask.newest or ask.said or ask.alone:
            return []
        later = next((some for years in range(1, _YEARS + 1) if (some := _later(ask, filings, annual, years))), [])
        if not later:
            return []
        found += later
    return list(newest_first(dict.fromkeys(found)))


def _later(ask: Ask, filings: Sequence[DocumentFacts], annual: bool, years: int) -> list[DocumentFacts]:
    end = ask.end + years * _YEAR if ask.end else None
    later = replace(ask, year=ask.year + years, end=end)
    fitting = [d for d in covering(later, filings, annual) if later.end or _is_surely(d, later)]
    if ask.kind == "year":
        return [d for d in fitting if not d.period.fiscal_quarter]
    if years > 1 or (ask.quarter == 4 and not ask.half):
        return []
    return [d for d in fitting if d.period.fiscal_quarter]


def _is_surely(document: DocumentFacts, ask: Ask) -> bool:
    """The filing is of the period by the name that the question uses for it, and by no other name of another one."""
    wanted = (ask.year, ask.quarter)
    period = document.period
    if ask.fiscal:
        return (period.fiscal_year, period.fiscal_quarter) == wanted
    return ask.kind == "month" or period_name(document, replace(ask, calendar=True)) == wanted
