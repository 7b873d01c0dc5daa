"""Periods that a question names and that do not exist (Q5 2023, February 30), or that have not begun (fiscal 2031)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from quelea_fintext.dates import parse_iso
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.no_such_periods import narrow, no_such_periods
from quelea_fintext.numerals import chinese
from quelea_fintext.period_words import (
    FISCAL,
    FLOWS,
    HAN_NTH,
    HAN_YEAR,
    NTH,
    QUARTERS,
    find_months,
    written_days,
)

_FAR = r"1[0-8]\d\d|2[1-9]\d\d|[3-9]\d{3}"
_NO_YEAR = r"0|zero|\d{3}|\d{5,6}"
"""Digits of none, after "fiscal year", or before 财年."""
_FAR_YEAR = re.compile(
    rf"\b(?:{FISCAL}|(?:in|of|for|during)(?:\s{{1,8}}the)?(?:\s{{1,8}}year)?|year)\s{{0,8}}+(?P<y>{_FAR})(?:s\b|\b)"
    r"(?!\s{0,8}+(?:[,.]\d|%|million|billion|thousand|shares|people|employees|customers|units|stores))"
    r"|(?<!\w)Q[1-4]\s{0,8}+,?\s{0,8}+(?P<q>1[0-8]\d\d)\b|\bthe\s{1,8}year\s{1,8}\d{1,3}\b(?!\s{0,8}+(?:of|in)\b)"
    rf"|\b(?:FY|(?:fiscal|financial|calendar)(?:\s{{1,8}}year)?)\s{{0,8}}+(?:{_NO_YEAR})(?![\w%]|[.,]\d)"
    rf"|(?<![\d.,])(?:{_NO_YEAR})\s{{0,8}}+(?:财年|财政年度)|(?<![\d.,])\d{{5}}\s{{0,8}}+年"
    r"|\b(?!2[01])\d{1,2}(?:st|nd|rd|th)\s{1,8}century\b|(?<!\d)(?!2[01])\d{1,2}\s{0,8}+世纪"
    r"|\b\d{1,4}\s{0,8}+(?:BCE?|B\.C\.)(?!\w)|公元前[\d一二三四五六七八九十百千]*年?|(?:三国|[清明唐宋汉秦隋]朝|民国)(?:时期?|年间)?"
    rf"|(?<![\d.,])(?P<z>{_FAR})\s{{0,8}}+(?:{HAN_YEAR})",
    re.IGNORECASE,
)
"""Years of which no report can be: of three centuries ago, or hence."""
_FINANCE = re.compile(rf"{FLOWS}|{LANGUAGES.alternatives('time.finance')}", re.IGNORECASE)
"""With it Q5 is meant for a quarter; without, it may be a car or a question's number."""
_FUTURE_QUARTER = re.compile(
    rf"(?<![\w-])(?:Q(?P<q1>[1-4])|(?P<o>{NTH})\s{{1,8}}(?:fiscal\s{{1,8}})?quarter)[\s,]*(?:of\s{{1,8}})?(?:the\s{{1,8}})?"
    r"(?:FY|fiscal(?:\s{1,8}year)?\s{0,8}+)?(?P<y1>20\d\d)\b"
    rf"|(?P<y2>20\d\d)\s{{0,8}}+(?:年|财年|年度)?\s{{0,8}}+(?:Q(?P<q2>[1-4])(?!\d)|第?\s{{0,8}}+(?P<z>{HAN_NTH})\s{{0,8}}+个?(?:季度|财季))",
    re.IGNORECASE,
)
_FUTURE_YEAR = re.compile(
    r"(?:\b(?:FY|fiscal(?:\s+year)?)\s*'?(?P<f>20\d\d|\d\d)\b)"
    rf"|\b(?P<m>20\d\d)(?:'s)?\s+(?:(?:annual|gross|operating|net|total|free|capital)\s+)?(?:{LANGUAGES.of('time.flows')['en']}"
    r"|cash|expenses|dividends?|capex|R&D)\b"
    r"|(?:\bH[12]|\b(?:first|second)\s+half)\s*(?:of\s+)?(?:the\s+)?(?:FY|fiscal(?:\s+year)?\s*)?(?P<h>20\d\d)\b"
    r"|\b(?:in|for|during|of)\s+(?:the\s+year\s+)?(?P<y>20\d\d)\b(?=\s*[?.!,]|\s*$|\s+(?:compared|and|versus|vs)\b)"
    r"|(?<!\d)(?P<z>20\d\d)\s*(?:财年|财政年度|年度?(?!\d|到期|目标|\s*\d+\s*月))",
    re.IGNORECASE,
)
_NEXT = re.compile(LANGUAGES.alternatives("time.next"), re.IGNORECASE)
_AHEAD = re.compile(LANGUAGES.alternatives("time.ahead"), re.IGNORECASE)
"""What lies ahead may be asked for: a forecast, or what falls due."""
_HAN_YEAR = re.compile(r"[一二][〇零一二三四五六七八九]{3}(?=年|财年)")
_HAN_DAY = re.compile(r"([一二三四五六七八九十]{1,2})月([一二三四五六七八九十]{1,3})(?=[日号])")
_ANY_YEAR = re.compile(r"(?<!\d)[1-9]\d{3}(?!\d)")


@dataclass(frozen=True)
class Unreal:
    """As the question writes them."""

    none_such: tuple[str, ...] = ()
    """They do not exist."""
    not_begun: tuple[str, ...] = ()
    """They begin after the day of the question, also by the calendar of a filer whose year begins months early."""
    out_of_reach: tuple[str, ...] = ()
    """Centuries before or after any report."""


def is_spoken_of(period: str, texts: Iterable[str]) -> bool:
    """Whether a text names the year of a period: a forecast may be asked for."""
    years = set(_ANY_YEAR.findall(period))
    said = [re.compile(rf"(?<![\d.,]){year}(?!\d|[.,]\d)") for year in years]
    return any(year.search(text) for text in texts for year in said)


def unreal_periods(question: str, as_of: str) -> Unreal:
    """What of the periods that the question names nothing can have been reported for.

    Args:
        question: Standing alone.
        as_of: The day of the question, YYYY-MM-DD.
    """
    if not question.isascii():
        question = _HAN_YEAR.sub(lambda match: str(chinese(match.group())), narrow(question))
        question = _HAN_DAY.sub(lambda match: f"{chinese(match[1])}月{chinese(match[2])}", question)
    bare = bool(_FINANCE.search(question))
    seasons = bare and bool(_ANY_YEAR.search(question))
    none = [one.words for one in no_such_periods(question, bare=bare, seasons=seasons)]
    today = parse_iso(as_of)
    far = [match for match in _FAR_YEAR.finditer(question) if _FINANCE.search(question)]
    reach = tuple(dict.fromkeys(_tidy(match.group()) for match in far))
    begun = [] if today is None else [_tidy(match) for match in _future(question, today)]
    return Unreal(tuple(dict.fromkeys(none)), tuple(dict.fromkeys(begun)), reach)


def _days_ahead(question: str, today: date) -> list[str]:
    """Next year, and months and days by the calendar: unless it is asked for what lies ahead."""
    if _AHEAD.search(question):
        return []
    found = [match.group() for match in _NEXT.finditer(question)]
    days = [(day.start, day.end, (day.year, day.month, day.day)) for day in written_days(question) if day.month <= 12]
    days += [
        (month.start, month.end, (month.year, month.month, 1))
        for month in find_months(question)
        if not month.ends_quarter and all(month.end <= start or month.start >= end for start, end, _ in days)
    ]
    now = (today.year, today.month, today.day)
    return found + [question[start:end] for start, end, day in sorted(days) if day > now]


def _future(question: str, today: date) -> list[str]:
    """A fiscal year may begin up to eleven months before the calendar's of the same name."""
    found: list[str] = []
    for match in _FUTURE_QUARTER.finditer(question):
        said = match["q1"] or match["q2"] or match["o"] or match["z"]
        quarter = QUARTERS[said.lower()]
        index = 4 * int(match["y1"] or match["y2"]) + quarter - 1
        if index - 4 > 4 * today.year + (today.month - 1) // 3:
            found.append(match.group())
    for match in _FUTURE_YEAR.finditer(question):
        year = next(value for value in match.groups() if value)
        year = year if len(year) == 4 else f"20{year}"
        if int(year) > today.year + 1 and not any(year in one for one in found):
            found.append(match.group())
    found += _days_ahead(question, today)
    return [one for one in found if not any(one in other and one != other for other in found)]


def _tidy(text: str) -> str:
    return re.sub(r"^(?:in|for|during|of)\s+", "", " ".join(text.split()).strip(" ,"))
