"""Periods that a question names and that do not exist (Q5 2023, February 30), or that have not begun (fiscal 2031)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from quelea_kit.dates import parse_iso

_MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct"
        "|november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:FY|fiscal(?:\s+year)?\s*|calendar(?:\s+year)?\s*)?'?(?:19|20)\d\d"
_NO_PART = re.compile(
    rf"(?<![\w-])(?:Q(?:0|[5-9]|1\d)|(?:0|[5-9]|1\d)Q|H(?:0|[3-9]))[\s,/-]*(?:of\s+)?(?:the\s+)?{_YEAR}\b"
    rf"|\b{_YEAR}[\s,/-]*(?:Q(?:0|[5-9]|1\d)|H(?:0|[3-9]))(?!\w)"
    rf"|\b(?:zeroth|fifth|sixth|seventh|eighth|ninth|tenth|5th|6th|7th|8th|9th|10th)\s+(?:fiscal\s+)?quarter"
    rf"\s+(?:of\s+|in\s+)?(?:the\s+)?{_YEAR}\b"
    rf"|\b(?:third|fourth|fifth|3rd|4th|5th)\s+half\s+(?:of\s+|in\s+)?(?:the\s+)?{_YEAR}\b"
    rf"|\b{_YEAR}(?:'s)?\s+(?:fifth|sixth|seventh|eighth|5th|6th|7th|8th)\s+(?:fiscal\s+)?quarter\b"
    r"|(?:19|20)\d\d\s*(?:年|财年|年度|财政年度)\s*的?\s*(?:第\s*)?(?:[五六七八九十零〇]|0|[5-9]|1\d)\s*个?(?:季度|财季|季报)"
    r"|(?:19|20)\d\d\s*(?:年|财年|年度)?\s*Q(?:0|[5-9]|1\d)(?!\d)"
    r"|(?:19|20)\d\d\s*(?:年|财年|年度)\s*的?\s*第\s*(?:[三四五3-9])\s*个?半年"
    r"|(?:19|20)\d\d\s*年\s*(?:0|1[3-9]|[2-9]\d)\s*月"
    r"|(?<!\d)(?:19|20)\d\d-(?:00|1[3-9]|[2-9]\d)-\d\d(?!\d)",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"\b(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:\s*,?\s+(?P<y1>(?:19|20)\d\d))?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})\b\.?(?:,?\s+(?P<y2>(?:19|20)\d\d))?"
    r"|(?:(?P<y3>(?:19|20)\d\d)\s*年\s*)?(?<!\d)(?P<m3>\d{1,2})\s*月\s*(?P<d3>\d{1,2})\s*[日号]"
    r"|(?<!\d)(?P<y4>(?:19|20)\d\d)[-/.](?P<m4>\d{1,2})[-/.](?P<d4>\d{1,2})(?!\d)",
    re.IGNORECASE,
)
_CARS = re.compile(r"\b(?:Audi|Infiniti|Volvo)\b|奥迪|英菲尼迪", re.IGNORECASE)
"""Their models are called Q5."""
_FUTURE_QUARTER = re.compile(
    r"(?<![\w-])(?:Q(?P<q1>[1-4])|(?P<o>first|second|third|fourth)\s+(?:fiscal\s+)?quarter)[\s,]*(?:of\s+)?(?:the\s+)?"
    r"(?:FY|fiscal(?:\s+year)?\s*)?(?P<y1>20\d\d)\b"
    r"|(?P<y2>20\d\d)\s*(?:年|财年|年度)?\s*(?:Q(?P<q2>[1-4])(?!\d)|第?\s*(?P<z>[一二三四1-4])\s*个?(?:季度|财季))",
    re.IGNORECASE,
)
_FUTURE_YEAR = re.compile(
    r"(?:\b(?:FY|fiscal(?:\s+year)?)\s*'?(?P<f>20\d\d)\b)"
    r"|\b(?:in|for|during|of)\s+(?:the\s+year\s+)?(?P<y>20\d\d)\b(?=\s*[?.!,]|\s*$|\s+(?:compared|and|versus|vs)\b)"
    r"|(?<!\d)(?P<z>20\d\d)\s*(?:财年|财政年度|年度?(?!\d|到期|目标|\s*\d+\s*月))",
    re.IGNORECASE,
)
_ANY_YEAR = re.compile(r"20\d\d")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}


@dataclass(frozen=True)
class Unreal:
    """As the question writes them."""

    none_such: tuple[str, ...] = ()
    """They do not exist."""
    not_begun: tuple[str, ...] = ()
    """They begin after the day of the question, also by the calendar of a filer whose year begins months early."""


def spoken_of(period: str, texts: Iterable[str]) -> bool:
    """Whether a text names the year of a period that has not begun: a forecast may be asked for."""
    years = set(_ANY_YEAR.findall(period))
    return any(year in text for year in years for text in texts)


def unreal_periods(question: str, as_of: str) -> Unreal:
    """What of the periods that the question names nothing can have been reported for.

    Args:
        question: Standing alone.
        as_of: The day of the question, YYYY-MM-DD.
    """
    parts = [] if _CARS.search(question) else [_tidy(match.group()) for match in _NO_PART.finditer(question)]
    days = [_tidy(match.group()) for match in _DAY.finditer(question) if not _exists(match)]
    today = parse_iso(as_of)
    begun = [] if today is None else [_tidy(match) for match in _future(question, today)]
    return Unreal(tuple(dict.fromkeys(parts + days)), tuple(dict.fromkeys(begun)))


def _exists(match: re.Match[str]) -> bool:
    for n in "1234":
        if match[f"m{n}"]:
            month = _MONTHS.get(match[f"m{n}"].lower()) or int(match[f"m{n}"])
            year = match[f"y{n}"]
            most = monthrange(int(year) if year else 2024, month)[1] if 1 <= month <= 12 else 0
            day = int(match[f"d{n}"])
            # "May 40" and such are no dates at all but numbers beside a word; a year makes them one.
            return 1 <= day <= most or not (1 <= day <= 31 or year)
    return True


def _future(question: str, today: date) -> list[str]:
    """A fiscal year may begin up to eleven months before the calendar's of the same name."""
    found: list[str] = []
    for match in _FUTURE_QUARTER.finditer(question):
        said = match["q1"] or match["q2"] or match["o"] or match["z"]
        quarter = int(said) if said.isdigit() else _ORDINALS[said.lower()]
        index = 4 * int(match["y1"] or match["y2"]) + quarter - 1
        if index - 4 > 4 * today.year + (today.month - 1) // 3:
            found.append(match.group())
    for match in _FUTURE_YEAR.finditer(question):
        year = next(value for value in match.groups() if value)
        if int(year) > today.year + 1 and not any(year in one for one in found):
            found.append(match.group())
    return found


def _tidy(text: str) -> str:
    return re.sub(r"^(?:in|for|during|of)\s+", "", " ".join(text.split()).strip(" ,"))
