"""Whether a question asks for a computed figure, and of what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quelea_fintext.asked_lines import names_said, read_asked_lines
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import metrics
from quelea_fintext.text import normalise
from quelea_fintext.times.period_words import HAN_NTH, NTH, QUARTERS, YEAR

from quelea_generator.core.extractive.question import Query

Kind = Literal["change", "share", "ratio", "sum", "difference"]
_MOST_OPERANDS = 4


@dataclass(frozen=True, slots=True)
class Computation:
    """A computation that a question asks for.

    Attributes:
        kind: What is computed. "change" also means growth: one thing at two times.
        operands: The words for each operand, as the question has them; one for a change. Of a share or ratio the part
            first, then the whole.
        months: Of a change: how long before the later time the earlier one lies; 0 where the question does not say.
            Of a share: how long before its time it is asked for once more; 0 where it is not.
    """

    kind: Kind
    operands: tuple[str, ...]
    months: int = 0


def _patterns(key: str) -> tuple[re.Pattern[str], ...]:
    return LANGUAGES.patterns(key, re.IGNORECASE | re.MULTILINE)


# Work must grow with the question's length, not with its square: what may be long begins at the start of the line, and
# what comes before it is never tried again (atomic groups) or bounded.
_SHARES = _patterns("questions.shares")
_RATIOS = _patterns("questions.ratios")
_DIFFERENCES = _patterns("questions.differences")
_SUMS = _patterns("questions.sums")
_AND = LANGUAGES.pattern("questions.and", r"<>|, ")
_CHANGE = LANGUAGES.pattern("questions.change", ignore_case=False)
_TREND = LANGUAGES.pattern("questions.trend", ignore_case=False)
_SEQUENTIAL = LANGUAGES.pattern("questions.sequential", ignore_case=False)
_YEARLY = LANGUAGES.pattern("questions.yearly", ignore_case=False)
_WORDS_OF_CHANGE = LANGUAGES.pattern("questions.words_of_change")
_HIGHER_BY = re.compile(r"[多少高低增减降升]$|了$")


_RATE = LANGUAGES.pattern("questions.rate")


def is_rate(question: str) -> bool:
    """What is asked for is itself a percentage: its change is one of points."""
    return _RATE.search(question) is not None


def find_computations(question: str) -> Iterator[Computation]:
    """The computations that a question may ask for, the likeliest first; most questions ask for none.

    Args:
        question: Normalised: lower case, full-width signs made ordinary.
    """
    changes = _CHANGE.search(question) is not None
    yield from _pairs("share", _SHARES, question)
    yield from _pairs("ratio", _RATIOS, question)
    for pattern in _SUMS:
        if match := pattern.search(question):
            parts = tuple(part for part in _AND.split(match["all"]) if part.strip())
            if 2 <= len(parts) <= _MOST_OPERANDS:
                yield Computation("sum", parts)
                break
    yield from _pairs("difference", _DIFFERENCES, question)
    if changes and not _TREND.search(question):
        item = _HIGHER_BY.sub("", _WORDS_OF_CHANGE.sub(" ", question).strip(" ?？。"))
        months = 3 if _SEQUENTIAL.search(question) else 12 if _YEARLY.search(question) else 0
        yield Computation("change", (item,), months)


def _pairs(kind: Kind, patterns: Sequence[re.Pattern[str]], question: str) -> Iterator[Computation]:
    """The computation of the first pattern that the question has."""
    match = next(filter(None, (pattern.search(question) for pattern in patterns)), None)
    if match:
        yield Computation(kind, (match["part"], match["whole"]))


_WITHOUT = LANGUAGES.pattern("questions.without", ignore_case=False)
_SHARE_OF = re.compile(r"(?:any\()?(?P<part>\w+)(?:, [\w, ]+\))? / (?:any\()?(?P<whole>\w+)(?:, [\w, ]+\))?")
"""A formula of one concept as a share of another; `any(a, b)` is named by the first."""


def margin_of_part(question: str, query: Query) -> Computation | None:
    """The share that a metric of a part of the company is: "AWS operating income" of "AWS revenue".

    Statements have metrics of the whole company only. A part is what the question names and is no company of it. None
    where more than one margin is asked for, how one changed, or that of all but the part.

    Args:
        question: As asked.
        query: The same, read.
    """
    if query.moves or query.compares or query.yes_no or query.other or _WITHOUT.search(normalise(question)):
        return None
    part = " ".join(sorted((query.names | query.spelled_out) - query.known))
    lines = [line for line in read_asked_lines(question).lines if line.kind == "metric"]
    if not part or len(lines) != 1:
        return None
    metric = metrics()[lines[0].id]
    match = _SHARE_OF.fullmatch(metric.formula)
    if match is None or metric.unit != "percent" or any(match[name] in metrics() for name in ("part", "whole")):
        return None
    said = [next(iter(names_said(match[name], query.language)), "") for name in ("part", "whole")]
    months = 12 if _YEARLY.search(normalise(question)) else 0
    return Computation("share", (f"{part} {said[0]}", f"{part} {said[1]}"), months) if all(said) else None


_PERIOD = re.compile(
    rf"\bq(?P<q1>[1-4])\W{{0,3}}(?:of )?(?:fy ?|fiscal )?(?:year )?(?P<y1>{YEAR})"
    rf"|\b(?:fy ?)?(?P<y2>{YEAR})[ -]?q(?P<q2>[1-4])"
    rf"|\b(?P<q3>{NTH})(?: fiscal)? quarter (?:of |in )?(?:fiscal )?(?:year )?(?P<y3>{YEAR})"
    rf"|(?P<y4>{YEAR})(?:财年|年度?)?第?(?P<q4>{HAN_NTH})季度?"
)
_MONTHS_APART = 60


def later_and_months(query: Query, question: str, months: int) -> tuple[Query, int] | None:
    """The question as one about its later time, and the months to the earlier; None when it names three times and more.

    Args:
        query: The question, read.
        question: Its text.
        months: What its other words say: 3 for "sequentially", 12 for "year over year", 0 for nothing.
    """
    text = normalise(question)
    said = set()
    for match in _PERIOD.finditer(text):
        quarter = next(match[name] for name in ("q1", "q2", "q3", "q4") if match[name])
        year = next(match[name] for name in ("y1", "y2", "y3", "y4") if match[name])
        said.add((int(year), QUARTERS[quarter]))
    if len(query.days) > 1:
        first, last = min(query.days), max(query.days)
        apart = round((last - first).days / 365.25 * 12)
        if len(set(query.days)) > 2 or apart > _MONTHS_APART:
            return None
        return replace(query, days=(last,), years=frozenset({last.year})), apart
    if len(said) > 2 or len(query.years) > 2:
        return None
    if len(said) == 2:
        (y0, q0), (y1, q1) = sorted(said)
        return replace(query, years=frozenset({y1}), quarter=q1), 12 * (y1 - y0) + 3 * (q1 - q0)
    if len(query.years) == 2 and not query.days:
        apart = 12 * (max(query.years) - min(query.years))
        return (replace(query, years=frozenset({max(query.years)})), apart) if apart <= _MONTHS_APART else None
    return query, months
