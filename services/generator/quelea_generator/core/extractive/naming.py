"""Periods and units that code writes beside a quote, in the question's language: the quote itself is never touched."""

from __future__ import annotations

import re
from functools import lru_cache

from quelea_fintext.dates import find_dates

from quelea_generator.core.extractive.spans import Span
from quelea_generator.core.extractive.units import units_of
from quelea_generator.core.model import Evidence

_SPAN = re.compile(
    r"(?P<months>three|six|nine|twelve|3|6|9|12)[ -]months?(?: ended)?"
    r"|(?P<fiscal>fiscal )?(?P<what>years?|quarters?) ended",
    re.IGNORECASE,
)
_NUMBERS = {"three": "三", "six": "六", "nine": "九", "twelve": "十二", "3": "三", "6": "六", "9": "九", "12": "十二"}
_QUARTER = re.compile(r"Q([1-4]) ?(FY)?((?:19|20)\d\d)", re.IGNORECASE)
_YEAR = re.compile(r"(?:FY ?)?((?:19|20)\d\d)", re.IGNORECASE)
_CHANGE = re.compile(r"[a-z$€£% /()-]*\b(?:change|variance|increase|decrease)\b[a-z /()-]*", re.IGNORECASE)
_SCALES = {"hundreds": "百", "thousands": "千", "millions": "百万", "billions": "十亿"}
_SCALE = re.compile(r"in (?P<scale>hundreds|thousands|millions|billions)(?P<of> of .+)?", re.IGNORECASE)
_DOLLARS = re.compile(r"(?<![A-Za-z])(?:US)?\$|\bUSD\b")
_OF_DOLLARS = re.compile(r"of (?:u\.?s|dollars)", re.IGNORECASE)
_OTHER_MONEY = re.compile(r"(?<![A-Za-z])(?:HK|NT|AU?|CA?|S|R)\$|[€£¥￥]|\b(?:RMB|CNY|EUR|GBP|JPY|HKD)\b")
_NO_MONEY = re.compile(
    r"\b(?:shares?|units?|number|employees|headcount|customers|users|subscribers|stores|options|awards|days)\b",
    re.IGNORECASE,
)


def _quarter(match: re.Match[str]) -> str:
    return f"{match[3]}{'财年' if match[2] else '年'}第{'一二三四'[int(match[1]) - 1]}季度"


@lru_cache(maxsize=1024)
def period(language: str, text: str) -> str:
    """A column's head as the question's language says it: 截至2023年7月1日的三个月. What is not known stays."""
    if language != "zh" or not text.isascii():
        return text
    if match := _QUARTER.fullmatch(text):
        return _quarter(match)
    if _CHANGE.fullmatch(text):
        return "变动"
    span = _SPAN.match(text)
    rest = text[span.end() :].strip() if span else text
    if span and (match := _QUARTER.fullmatch(rest)):
        return _quarter(match)
    days = [one.day for one in find_dates(rest)]
    if len(days) == 1:
        at = f"{days[0].year}年{days[0].month}月{days[0].day}日"
    elif year := _YEAR.fullmatch(rest):
        at = f"{year[1]}年"
    else:
        return text
    if span is None:
        return at
    if span["months"]:
        return f"截至{at}的{_NUMBERS[span['months'].lower()]}个月"
    if span["what"].lower().startswith("quarter"):
        return f"截至{at}的季度"
    return f"截至{at}的{'财年' if span['fiscal'] else '年度'}"


def units(language: str, evidence: Evidence, span: Span) -> str:
    """The unit of a row's figures as the question's language says it: 百万美元; empty when the table says nothing.

    The currency is added only where the table's figures have one sign, and the row is one of money.
    """
    said = units_of(evidence, span)
    match = _SCALE.fullmatch(said)
    if language != "zh" or match is None:
        return said
    scale = _SCALES[match["scale"].lower()]
    around = f"{evidence.table_head}\n{evidence.text}"
    label = span.row.label if span.row else " ".join(row.label for row in span.rows)
    if _OF_DOLLARS.search(match["of"] or "") or (
        not match["of"] and _DOLLARS.search(around) and not _OTHER_MONEY.search(around) and not _NO_MONEY.search(label)
    ):
        return f"{scale}美元"
    return f"单位：{scale}" if not match["of"] else said
