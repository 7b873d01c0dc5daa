"""How long a time the words about a figure speak of: a quarter is no half year, and no year to date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from quelea_gateway.core.checking import wording
from quelea_gateway.core.checking.matching import Claim
from quelea_gateway.core.checking.model import Period
from quelea_gateway.core.checking.passage_facts import Fact

_TO_DATE = -1
_SPANS = re.compile(
    r"(?P<q>\b(?:first|second|third|fourth) (?:fiscal )?quarter\b|\bthe quarter\b"
    r"|\bQ[1-4]\b|\b[1-4]Q\d|\bthree months\b"
    r"|(?<![前个])[一二三四]季度|单季度?|三个月)"
    r"|(?P<h>\b(?:first|second) half\b|\bhalf[- ]year\b|\bsix months\b|\b[12]H\d|\bH[12]\b|[上下]半年|六个月|6个月)"
    r"|(?P<n>\bnine months\b|前三季度|前三个季度|九个月|9个月)"
    r"|(?P<y>\btwelve months\b|\bfull[- ](?:fiscal )?year\b|\b(?:entire|whole) year\b|全年|十二个月|12个月)"
    r"|(?P<d>\bYTD\b|\byear[- ]to[- ]date\b|年初至(?:今|报告期末)|本年累计)",
    re.IGNORECASE,
)
_LENGTHS = {"q": 3, "h": 6, "n": 9, "y": 12, "d": _TO_DATE}
_FIRST = re.compile(r"\bfirst (?:fiscal )?quarter\b|\bQ1\b|\b1Q|(?<!第)一季度|第一季度", re.IGNORECASE)
"""The first quarter is the year to date."""


@lru_cache(maxsize=4096)
def _lengths(text: str) -> frozenset[int]:
    return frozenset(_LENGTHS[match.lastgroup or ""] for match in _SPANS.finditer(text))


def _said(text: str, start: int, end: int, periods: Sequence[Period] = ()) -> int:
    """Months of the one length of time that the clause of text[start:end] speaks of, or else its whole text.

    0 where it speaks of none or of several, or the figure is of a time of another length; -1 of the year to date.
    """
    first, last = wording.clause(text, start, end)
    found = _lengths(text[first:last])
    if not found and all(period.months or period.quarter for period in periods):
        found = _lengths(text)
    return next(iter(found)) if len(found) == 1 else 0


def fit(claim: Claim, fact: Fact) -> bool:
    """The evidence does not say the figure of another length of time than the sentence does."""
    figure, sentence = claim.figure, claim.sentence
    own = _said(sentence, figure.start, figure.end, claim.periods)
    if not own:
        return True
    if fact.table >= 0:
        months = {length for period in fact.periods if (length := _months(period))}
        timed = {length for period in claim.periods if (length := _months(period))}
        return len(months) != 1 or timed != {own} or months == timed
    found = _said(fact.words, fact.figure.start, fact.figure.end, fact.periods)
    return not found or own == found or not _differ(own, found, sentence)


def operands_fit(claim: Claim, operands: Sequence[Fact]) -> bool:
    """A sentence that speaks of one length of time is not computed from figures of two, nor of another."""
    own = _lengths(claim.sentence)
    if len(own) != 1 or _TO_DATE in own:
        return True
    months = {length for fact in operands for period in fact.periods if (length := _months(period))}
    timed = {_months(period) for period in claim.every}
    return months <= own or not (own <= months or (timed == own and len(months) == 1))


def _months(period: Period) -> int:
    """0 where they are not known."""
    return period.months or (3 if period.quarter else 6 if period.half else 0)


def _differ(one: int, other: int, sentence: str) -> bool:
    if _TO_DATE in {one, other}:
        return 3 in {one, other} and not _FIRST.search(sentence)
    return True
