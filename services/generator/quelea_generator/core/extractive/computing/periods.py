"""Which times a question about a change names: the later one, and how many months before it the earlier one lies."""

from __future__ import annotations

import re
from dataclasses import replace

from quelea_fintext.period_words import HAN_NTH, NTH, QUARTERS, YEAR
from quelea_fintext.text import normalise

from quelea_generator.core.extractive.question import Asked

_PERIOD = re.compile(
    rf"\bq(?P<q1>[1-4])\W{{0,3}}(?:of )?(?:fy ?|fiscal )?(?:year )?(?P<y1>{YEAR})"
    rf"|\b(?:fy ?)?(?P<y2>{YEAR})[ -]?q(?P<q2>[1-4])"
    rf"|\b(?P<q3>{NTH})(?: fiscal)? quarter (?:of |in )?(?:fiscal )?(?:year )?(?P<y3>{YEAR})"
    rf"|(?P<y4>{YEAR})(?:财年|年度?)?第?(?P<q4>{HAN_NTH})季度?"
)
_MONTHS_APART = 60


def later_and_months(asked: Asked, question: str, months: int) -> tuple[Asked, int] | None:
    """The question as one about its later time, and the months to the earlier; None when it names three times and more.

    Args:
        asked: The question, read.
        question: Its text.
        months: What its other words say: 3 for "sequentially", 12 for "year over year", 0 for nothing.
    """
    text = normalise(question)
    said = set()
    for match in _PERIOD.finditer(text):
        quarter = next(match[name] for name in ("q1", "q2", "q3", "q4") if match[name])
        year = next(match[name] for name in ("y1", "y2", "y3", "y4") if match[name])
        said.add((int(year), QUARTERS[quarter]))
    if len(asked.days) > 1:
        first, last = min(asked.days), max(asked.days)
        apart = round((last - first).days / 365.25 * 12)
        if len(set(asked.days)) > 2 or apart > _MONTHS_APART:
            return None
        return replace(asked, days=(last,), years=frozenset({last.year})), apart
    if len(said) > 2 or len(asked.years) > 2:
        return None
    if len(said) == 2:
        (y0, q0), (y1, q1) = sorted(said)
        return replace(asked, years=frozenset({y1}), quarter=q1), 12 * (y1 - y0) + 3 * (q1 - q0)
    if len(asked.years) == 2 and not asked.days:
        apart = 12 * (max(asked.years) - min(asked.years))
        return (replace(asked, years=frozenset({max(asked.years)})), apart) if apart <= _MONTHS_APART else None
    return asked, months
