"""Which period a follow-up means, counted from the former question's, and where that names its own."""

from __future__ import annotations

import re
from datetime import date

from quelea_generator.core.dialogue.parts import Part, Parts
from quelea_generator.core.dialogue.periods import Found, Period, of_day

_FULL_YEAR = re.compile(r"(?:(?:in|for)\s+)?(?:the\s+)?(?:full|whole|entire)[\s-]year|全年", re.IGNORECASE)
_JOIN = re.compile(
    r"[\s,，、]*(?:and|to|through|versus|vs\.?|compared (?:to|with)|with|or|和|与|至|到|、|-|–|the|of)*[\s,，、]*"
)


def period_of(said: Parts, base: Parts, as_of: date) -> Period | None:
    """The period that the follow-up names, counted from the former question's."""
    before = [found.period for found in base.periods]
    if not before and base.shift and not base.shift.same:
        counted = _counted(of_day(as_of, base.shift.kind), base)
        before = [counted] if counted else []
    if before and not said.periods and _FULL_YEAR.fullmatch(said.text.strip()):
        year = before[0].year or (before[0].day.year if before[0].day else as_of.year)
        return Period("year", year, fiscal=before[0].fiscal)
    if said.periods:
        own = said.periods[0].period
        if before:
            return before[0].joined(own)
        return own if own.year else Period(own.kind, as_of.year, own.part, own.fiscal)
    if said.shift is None:
        return None
    if said.shift.this:
        return of_day(as_of, said.shift.kind if "quarter" not in said.text and "季" not in said.text else "quarter")
    if not before:
        return _counted(of_day(as_of, said.shift.kind), said)
    backwards = said.shift.years + said.shift.quarters + said.shift.months < 0
    counted = _counted((min if backwards else max)(before, key=lambda one: one.order), said)
    return counted or _counted(of_day(as_of, said.shift.kind), said)


def periods_said(said: Parts, base: Parts, period: Period) -> str:
    """Every period that the follow-up names, in words for the former question; `period` where it names but one."""
    if len(said.periods) < 2:
        return period.text(base.language)
    year = next((one.period for one in said.periods if one.period.year), None)
    named = []
    for one in said.periods:
        begun = year.joined(one.period) if year else one.period
        named.append((base.periods[0].period.joined(begun) if base.periods else begun).text(base.language))
    return ("和" if base.language == "zh" else " and ").join(dict.fromkeys(named))


def _counted(start: Period, parts: Parts) -> Period | None:
    shift = parts.shift
    return start.moved(shift.years, shift.quarters, shift.months) if shift else None


def time_spans(base: Parts) -> tuple[int, int] | tuple[()]:
    """Where the former question names its period; of several that follow one another all of them."""
    spans: list[Found | Part] = list(base.periods)
    if not spans and base.shift and not base.shift.same:
        return base.shift.start, base.shift.end
    if not spans:
        return ()
    start, end = spans[0].start, spans[0].end
    for one in spans[1:]:
        if not _JOIN.fullmatch(base.text[end : one.start]):
            break
        end = one.end
    return start, end
