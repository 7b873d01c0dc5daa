"""Periods that no report counts by: a month, week or day by itself, a season, a month of the moon.

A filing that covers a month reports the quarter or the year that holds it, so its figures are no answer to a question
about the month: what is quoted has to name it, or it is said that it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from quelea_fintext.dates import MONTHS, find_dates, parse_iso
from quelea_fintext.period_words import (
    ENDS,
    FISCAL,
    FLOWS,
    HAN_FLOWS,
    HAN_GOES_ON,
    HAN_NTH,
    NTH,
    RELATIVE,
    SPANS,
    YEAR,
    MonthOfYear,
    find_months,
    usual,
)
from quelea_fintext.text import normalise

from quelea_gateway.core.model import Passage

_FLOW = re.compile(
    rf"\b(?:{FLOWS}|spent|spend(?:ing)?|cash\s+flows?|expenses?|costs?|shipments?|deliver(?:ies|ed))\b"
    rf"|{HAN_FLOWS}|现金流|出货|交付",
    re.IGNORECASE,
)
"""What is counted over a span of time. Cash and debt are of a day."""
_ENDS = re.compile(rf"(?:{ENDS}|{SPANS})(?:\s+the)?[\s:：]*$", re.IGNORECASE)
_GOES_ON = re.compile(
    r"^(?:\s*(?:fiscal\s+)?(?:quarter|period|10-?[QK])\b|份?\s*(?:to|through|until|and)\b"
    rf"|份?\s*(?:{HAN_GOES_ON}|止|季|财季))",
    re.IGNORECASE,
)
"""It is the end of a period, or of a span of several months."""
_AFTER_A_DAY = re.compile(r"\d(?:[a-z]{2})? $", re.IGNORECASE)
_NEAR_TODAY = re.compile(
    rf"(?P<day>{RELATIVE['yesterday']})|(?P<last>{RELATIVE['last month']})"
    rf"|(?:{RELATIVE['this month']})(?!底|末)",
    re.IGNORECASE,
)
_WEEK = re.compile(
    rf"\bweek\s+(?P<w>\d{{1,2}})\s+(?:of|in)\s+(?P<y>{YEAR})\b|\b(?P<w2>\d{{1,2}})(?:st|nd|rd|th)\s+week\s+(?:of|in)\s+(?P<y2>{YEAR})\b"
    rf"|(?<!\d)(?P<y3>{YEAR})\s*年?\s*第\s*(?P<w3>\d{{1,2}})\s*(?:周|个?星期)|(?P<last>{RELATIVE['last week']})",
    re.IGNORECASE,
)
_NAMED_ALONE = re.compile(
    rf"\b(?:spring|summer|autumn|winter|fall(?=\s+(?:of\s+)?{YEAR}))\s+(?:of\s+)?{YEAR}\b|(?<!\d){YEAR}\s*年?\s*的?[春夏秋冬][季天]"
    rf"|(?:农历|阴历|旧历)[^，。？?的]{{0,12}}|(?:正|腊|冬)月(?!饼)|闰[一二三四五六七八九十正冬腊]+月|\blunar\s+(?:month|year)\w*"
    rf"|\b(?:first|second)\s+half\s+of\s+(?:the\s+)?(?:Q[1-4]|(?:{NTH})\s+quarter)\b[^?.]{{0,12}}"
    r"|\bhalf[- ]quarters?\b|\bquarter[\s-]+and[\s-]+a[\s-]+half\b"
    rf"|(?:{YEAR}\s*年?)?\s*第?{HAN_NTH}季度的?[前后上下]半(?:段|期|部分)?"
    r"|[上中下]旬|\b(?:\w+\s+)?trimester\b"
    rf"|\b(?:early|mid|late)[\s-]{YEAR}\b|(?<!\d){YEAR}\s*年[初末底]"
    r"|\b(?:Black\s+Friday|Cyber\s+Monday|Christmas|Thanksgiving|Easter|Halloween|Singles['’]?\s+Day|Prime\s+Day|Diwali)\b"
    r"|春节|国庆|中秋|端午|元旦|清明节?|圣诞节?|黄金周|双(?:十[一二]|1[12])",
    re.IGNORECASE,
)
"""Kinds of periods that reports do not have; no dates are made of them."""
_VAGUE = re.compile(r"^(?:early|mid|late)|年[初末底]$", re.IGNORECASE)
_WHOLE_YEAR = re.compile(
    rf"\b(?:{FISCAL}|(?:in|for|during|of)(?:\s+the)?(?:\s+year)?)\s*{YEAR}\b(?!\s*(?:[-–—]|to\b|through\b))"
    rf"|\b(?:annual|full[- ]year)\b|\blast\s+(?:fiscal\s+)?year\b(?!['’-])"
    rf"|(?<!\d){YEAR}\s*(?:财年|年度?)(?![\s的]*(?:第|[上下]半|初|底|末|以|前|至|到|\d))|(?:去年|前年)(?!同期|底|末|初)|全年",
    re.IGNORECASE,
)
_PART_OF_YEAR = re.compile(
    r"\b(?:quarter\w*|half|halves|months?|weeks?|10-?Qs?|Q[1-4]|[1-4]Q|H[12]|year[\s-]to[\s-]date|YTD|over\s+time|trend\w*|than|compar\w+|same|corresponding)\b"
    r"|季|半年|月|至今|以来|趋势|同期|比|较",
    re.IGNORECASE,
)
_END_NAMED = re.compile(r"(?:ended|ending|as of|as at|at|截至)\s*$", re.IGNORECASE)
_NEAR, _SOON = timedelta(days=10), timedelta(days=75)
_QUARTER, _YEAR = timedelta(days=92), timedelta(days=366)
_QUARTERLY = re.compile(r"Q[1-4]|季")
_SHOWN = 3


@dataclass(frozen=True)
class ShortPeriod:
    """As the question writes it; its days where they are known."""

    words: str
    first: date | None = None
    last: date | None = None

    @property
    def is_month(self) -> bool:
        """From the first day of a month on, and not one day."""
        return self.first is not None and self.first.day == 1 and self.first != self.last


def short_periods(question: str, as_of: str) -> tuple[ShortPeriod, ...]:
    """Those that a question asks a figure for, as of its day (YYYY-MM-DD); empty where it asks for no such figure."""
    if not _FLOW.search(question):
        return ()
    found = _found(question, as_of)
    if all(one.first is None for one in found):
        return found
    plain = usual(question)
    if plain == question:
        return found
    # "the quarter that ended in October 2022" asks for no month; what it is called stays as the question writes it.
    days = {(one.first, one.last) for one in _found(plain, as_of)}
    return tuple(one for one in found if one.first is None or (one.first, one.last) in days)


def _found(question: str, as_of: str) -> tuple[ShortPeriod, ...]:
    found = [ShortPeriod(" ".join(match.group().split())) for match in _NAMED_ALONE.finditer(question)]
    today = parse_iso(as_of)
    if not found:
        found += _months(question, today)
        found += [one for match in _WEEK.finditer(question) if (one := _week(match, today))]
        found += [
            ShortPeriod(question[day.start : day.end], day.day, day.day)
            for day in find_dates(question)
            if not _ENDS.search(question[: day.start]) and not _GOES_ON.search(question[day.end :])
        ]
    return tuple(dict.fromkeys(found))


def _months(question: str, today: date | None) -> list[ShortPeriod]:
    """Months and days that the question names by themselves or from its own day, in order."""
    if today is None:
        return []
    found = [
        (month.start, _month_of(question[month.start : month.end], date(month.year, month.month, 1)))
        for month in find_months(question)
        if not month.ends_quarter and _is_alone(question, month)
    ]
    for match in _NEAR_TODAY.finditer(question):
        first = today.replace(day=1)
        before = today - timedelta(days=1) if match["day"] else first - timedelta(days=1)
        if match["day"]:
            found.append((match.start(), ShortPeriod(match.group(), before, before)))
        else:
            found.append((match.start(), _month_of(match.group(), before.replace(day=1) if match["last"] else first)))
    return [one for _, one in sorted(found, key=lambda item: item[0])]


def _is_alone(question: str, month: MonthOfYear) -> bool:
    before, after = question[: month.start], question[month.end :]
    return not (_AFTER_A_DAY.search(before) or _ENDS.search(before) or _GOES_ON.search(after))


def _month_of(words: str, first: date) -> ShortPeriod:
    return ShortPeriod(words, first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1))


def _week(match: re.Match[str], today: date | None) -> ShortPeriod | None:
    if match["last"]:
        monday = today - timedelta(days=today.weekday() + 7) if today else None
        return ShortPeriod(match.group(), monday, monday + timedelta(days=6)) if monday else None
    week, year = int(match["w"] or match["w2"] or match["w3"]), int(match["y"] or match["y2"] or match["y3"])
    if not 1 <= week <= 53:
        return None
    first = date(year, 1, 1) + timedelta(days=7 * (week - 1))
    return ShortPeriod(match.group(), first, first + timedelta(days=6))


def uncovered(periods: Iterable[ShortPeriod], passages: Sequence[Passage]) -> tuple[ShortPeriod, ...]:
    """Those that no passage names, that lie in the reporting period of none, and that no news may tell of.

    A vague one ("late 2022") is narrowed to its year like any other, and only told beside the answer.
    """
    periods = [period for period in periods if not _VAGUE.search(period.words)]
    return tuple(p for p in periods if not any(named_in(p, q) or _holds(q, p) or _may_tell(q, p) for q in passages))


def unnamed(periods: Iterable[ShortPeriod], passages: Sequence[Passage]) -> tuple[ShortPeriod, ...]:
    """Those that no passage names."""
    return tuple(period for period in periods if not any(named_in(period, passage) for passage in passages))


def year_in_parts(question: str, cited: Sequence[Passage]) -> str:
    """The periods of what is quoted, where a whole year is asked for and all of it is of quarters; else ""."""
    if not cited or not _FLOW.search(question) or _PART_OF_YEAR.search(question) or not _WHOLE_YEAR.search(question):
        return ""
    if not all(passage.period_end and _QUARTERLY.search(passage.period) for passage in cited):
        return ""
    return ", ".join(dict.fromkeys(passage.period for passage in cited))


def told(
    periods: Sequence[ShortPeriod], evidence: Sequence[Passage], cited: Sequence[Passage]
) -> list[tuple[str, str]]:
    """Names of notices, each with what fills it in.

    Args:
        periods: That the question asks for.
        evidence: All that the reader was shown.
        cited: What the answer quotes, each passage cut to its quote; empty when it was declined.
    """
    found: list[tuple[str, str]] = []
    for period in unnamed(periods, cited or evidence):
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
