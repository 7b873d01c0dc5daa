"""Periods that a question names, in English and Chinese; matching them to filings is `reading`'s."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from quelea_fintext.dates import FoundDate, find_dates
from quelea_fintext.period_words import (
    ENDS,
    FISCAL,
    FLOWS,
    HAN_FLOWS,
    HAN_GOES_ON,
    HAN_NTH,
    HAN_YEAR,
    NTH_OR_DIGIT,
    QUARTERS,
    SPANS,
    YEAR,
    MonthOfYear,
    find_months,
    usual,
)

Kind = Literal["quarter", "year", "date", "month"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One period that a question names."""

    kind: Kind
    year: int = 0
    """0: no year was said."""
    quarter: int = 0
    month: int = 0
    end: date | None = None
    fiscal: bool = False
    """The question says "fiscal"."""
    calendar: bool = False
    """The question says "calendar"."""
    weak: bool = False
    """A year that may well not be the period asked about: used when it fits, forgotten when it does not."""
    newest: bool = False
    """Of the filings that fit only the newest: a year to date."""
    half: bool = False
    """A half of the year, by the quarter that ends it: in whose filing its figures are."""
    said: str = field(default="", compare=False)
    """The words, where the question names it relative to its day."""
    alone: bool = False
    """A month by itself, for what a report counts by the quarter: whatever holds the month comes nearest."""

    @property
    def label(self) -> str:
        """ "FY2023 Q3", "2023 Q3", "2023", "July 1, 2023"."""
        if self.end is not None:
            return f"{self.end:%B} {self.end.day}, {self.end.year}"
        if self.kind == "month":
            return f"{self.year}-{self.month:02d}"
        parts = [
            f"{'FY' if self.fiscal else ''}{self.year}" if self.year else "",
            f"Q{self.quarter}" if self.quarter else "",
        ]
        return " ".join(part for part in parts if part)


_FISCAL = rf"{FISCAL}|财年|财政年度"
_LINK = r"[\s,'\-]*(?:(?:of|in|for|the|year|ended|ending)\s+)*(?:the\s+)?"

_QUARTER = re.compile(
    r"(?<![A-Za-z])(?P<q>[Qq])(?P<n>[1-4])(?=\D|20\d\d|$)|\b(?P<n2>[1-4])Q(?=\W|\d\d|FY|$)"
    rf"|\b(?P<o>{NTH_OR_DIGIT}|final)[\s-]+(?:fiscal[\s-]+|calendar[\s-]+)?quarters?\b"
    rf"|(?:第\s*)?(?P<z>{HAN_NTH})\s*(?:季度|季报|财季)|前三季度|前(?P<z3>三)季"
    r"|\b(?:first|1st)\s+(?P<nine>nine|9|six|6)\s+months\b|\b(?P<nine2>nine|six)\s+months\s+(?:of|ended|ending)\b"
    r"|\b(?P<half>first|second|1st|2nd)[\s-]+half\b|(?<![A-Za-z])H(?P<h>[12])(?=\W|\d\d|$)|\b(?P<h2>[12])H(?=\W"
    r"|\d\d|$)"
    r"|(?P<zh>上半年|下半年|上半财年|下半财年|半年度?报告?|中报|中期报告)",
    re.IGNORECASE,
)
_YEAR = re.compile(
    rf"(?P<pre>(?:{_FISCAL})[\s']*)(?P<y>{YEAR}|\d\d)(?![\d%])"
    rf"|(?<![\d.,\-$£€¥/])(?P<y2>{YEAR})(?![\d%]|[.,]\d|-\d\d\b(?!\d))(?P<post>\s*(?:{HAN_YEAR}))?"
    r"|(?<=[QqHh][1-4])[\s'-]*(?P<y3>(?:20)?\d\d)(?![\d%])"
    r"|(?<=[1-4][QqHh])[\s'-]*(?:FY)?(?P<y4>(?:20)?\d\d)(?![\d%])"
    r"|(?<!\d)(?P<y5>\d\d)(?=年[第前一二三四上下度]?)年",
    re.IGNORECASE,
)
COUNTED = re.compile(
    rf"\b(?:{FLOWS}|expen(?:ses?|ditures?)|costs?|cash\s+flows?|spend(?:ing)?|spent|made?|shipments?|deliver(?:y|ies|ed)"
    rf"|bookings?|dividends?)\b|{HAN_FLOWS}|出货|交付|支出|现金流",
    re.IGNORECASE,
)
"""What is counted over a span of time, as against what happened on some day of it."""
OF_MARKETS = re.compile(
    r"\bshipments?\b|\bmarket\s+shares?\b|\bunits?\s+sold\b|出货|销量|市场份额|市占率|排名", re.IGNORECASE
)
"""What is counted of a whole market: news and research have it, and no filing."""
_RANGE_BEFORE = re.compile(rf"{SPANS}\s*$", re.IGNORECASE)
_RANGE_AFTER = re.compile(
    rf"^份?\s*(?:(?:to|through|until|till|and|onwards?)\b|{HAN_GOES_ON}|到期|notes?\b|bonds?\b)", re.IGNORECASE
)
_ENDED = re.compile(rf"(?:{ENDS}|止)[\s:]*$", re.IGNORECASE)
_QUARTER_AFTER = re.compile(
    r"^\s*(?:fiscal\s+)?(?:quarter|period)|^份?[底末]?(?:结束|截止|为止|止)?的?(?:那个?|一个)?(?:财季|季)",
    re.IGNORECASE,
)
_STRONG_BEFORE = re.compile(
    r"(?:\b(?:in|for|during|of|by end of|end of|year|years|and|to|from|between|versus|vs\.?|than|with|year ended"
    r"|as of|at)"
    r"(?:\s+the)?|'s|s'|根据|在|从|至|到|和|与|对比|相比|，|,|^|公司|报告期)\s*$",
    re.IGNORECASE,
)
_STRONG_AFTER = re.compile(
    r"^\s*(?:annual|10-k|report|full[- ]year|results|revenue|net|total|gross|operating|sales|earnings|financial"
    r"|income|fiscal"
    r"|\?|$|年|,|and\b|to\b|compared|versus|vs|-)",
    re.IGNORECASE,
)
_NOT_A_PERIOD = re.compile(
    r"(?:\b(?:asu|asc|ifrs|no\.?|topic|rule|section|act of|plan of|due|by|until|maturing|since|before|after"
    r"|founded in)\s*)$",
    re.IGNORECASE,
)
_NOT_A_PERIOD_AFTER = re.compile(
    r"^\s*(?:notes?|bonds?|plan|act|convertible|senior|goal|target|programme|program)\b", re.IGNORECASE
)


MENTION = re.compile(
    rf"(?:{_QUARTER.pattern.replace('(?P<', '(?P<a_')})|(?:{_YEAR.pattern.replace('(?P<', '(?P<b_')})"
    r"|\b(?:fiscal|ended|months?|quarters?)\b|季度|年度|报告期内?",
    re.IGNORECASE,
)
"""Words that only name a period."""


def find_asks(query: str) -> list[Ask]:
    """Every period that the question names, in order, each once."""
    query = usual(query)
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, Ask]] = []
    for day in find_dates(query):
        taken.append((day.start, day.end))
        found.append((day.start, _date_ask(query, day)))
    for month in find_months(query):
        if _free((month.start, month.end), taken) and (ask := _month_ask(query, month)):
            taken.append((month.start, month.end))
            found.append((month.start, ask))
    years = [match for match in _YEAR.finditer(query) if _free(match.span(), taken)]
    quarters = [match for match in _QUARTER.finditer(query) if _free(match.span(), taken)]
    used: set[int] = set()
    for quarter in quarters:
        year = _year_of(query, quarter, years)
        if year is not None:
            used.add(year.start())
        elif any(ask.kind == "date" for _, ask in found):
            continue  # "three and nine months ended July 1, 2023": the date says it
        found.append((quarter.start(), _quarter_ask(query, quarter, year)))
    left = [year for year in years if year.start() not in used]
    found += [(year.start(), ask) for year in left if (ask := _year_ask(query, year))]
    found.sort(key=lambda item: item[0])
    found = _span_of_years(query, found)
    asks = list(dict.fromkeys(ask for _, ask in found))
    for kind in ("date", "year"):  # "July 1, 2023 and June 25, 2022": what holds for one holds for the other
        if any(ask.kind == kind and not ask.weak for ask in asks):
            asks = [replace(ask, weak=False) if ask.kind == kind else ask for ask in asks]
    if any(not ask.weak for ask in asks):
        asks = [ask for ask in asks if not ask.weak]
    return asks


def _free(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    return all(span[1] <= start or span[0] >= end for start, end in taken)


def _date_ask(query: str, day: FoundDate) -> Ask:
    weak = _ENDED.search(query[: day.start]) is None and _QUARTER_AFTER.search(query[day.end :]) is None
    return Ask("date", year=day.day.year, end=day.day, weak=weak)


def _month_ask(query: str, month: MonthOfYear) -> Ask | None:
    """The period that ends in the month, where the question says so; else the month alone, where it is counted by."""
    before, after = query[: month.start], query[month.end :]
    ends = month.ends_quarter or _ENDED.search(before) or _QUARTER_AFTER.search(after)
    if not ends and (_RANGE_BEFORE.search(before) or _RANGE_AFTER.search(after) or not COUNTED.search(query)):
        return None
    return Ask("month", year=month.year, month=month.month, alone=not ends)


def _full_year(match: re.Match[str]) -> int:
    digits = next(match[n] for n in ("y", "y2", "y3", "y4", "y5") if match[n])
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def _says(match: re.Match[str] | None) -> tuple[bool, bool]:
    """(fiscal, calendar) as said with a year."""
    if match is None:
        return False, False
    said = ((match["pre"] or "") + (match["post"] or "")).lower()
    return any(word in said for word in ("fiscal", "fy", "财")), "calendar" in said


def _year_of(query: str, quarter: re.Match[str], years: list[re.Match[str]]) -> re.Match[str] | None:
    """The year that belongs to a quarter: right before it, else the next one after it, else the last one before it."""
    before = [y for y in years if y.end() <= quarter.start()]
    after = [y for y in years if y.start() >= quarter.end()]
    if before and re.fullmatch(
        r"[\s\-,'的]*(?:s\s+)?(?:年度?)?(?:第)?(?:fiscal\s+)?", query[before[-1].end() : quarter.start()]
    ):
        return before[-1]
    if after and len(between := query[quarter.end() : after[0].start()]) <= 60:
        rest = _QUARTER.sub("", between)
        if re.fullmatch(
            rf"(?:{_LINK}|[\s,/&\-–]|and|to|through|vs\.?|versus|or|results?|report|和|与|到|至|、|的)*",
            rest,
            re.IGNORECASE,
        ):
            return after[0]
    if before and not re.search(r"[?？。]", query[before[-1].end() : quarter.start()]):
        return before[-1]
    return None


def _quarter_ask(query: str, match: re.Match[str], year: re.Match[str] | None) -> Ask:
    fiscal, calendar = _says(year)
    said = match.group().lower()
    around = query[max(0, match.start() - 10) : match.end() + 12].lower()
    fiscal = fiscal or "fiscal" in said or "财季" in said or "fiscal" in around
    if match["o"]:
        quarter = QUARTERS[match["o"].lower()]
    elif match["z"]:
        quarter = QUARTERS[match["z"]]
    elif match["nine"] or match["nine2"]:
        quarter = 3 if (match["nine"] or match["nine2"]).lower() in ("nine", "9") else 2
    elif match["half"] or match["h"] or match["h2"] or match["zh"]:
        second = (
            (match["half"] or "").lower() in ("second", "2nd")
            or "2" in (match["h"], match["h2"])
            or said in ("下半年", "下半财年")
        )
        quarter = 4 if second else 2
    else:
        quarter = int(match["n"] or match["n2"] or 3)
    half = any(match[name] for name in ("half", "h", "h2", "zh"))
    return Ask("quarter", _full_year(year) if year else 0, quarter, fiscal=fiscal, calendar=calendar, half=half)


def _year_ask(query: str, match: re.Match[str]) -> Ask | None:
    before, after = query[: match.start()], query[match.end() :]
    fiscal, calendar = _says(match)
    year = _full_year(match)
    if not fiscal and not calendar and (_NOT_A_PERIOD.search(before) or _NOT_A_PERIOD_AFTER.search(after)):
        return None
    if match["y5"] and not match["post"]:
        return None  # "23年" alone: as likely a number of years
    strong = (
        fiscal or calendar or bool(match["post"]) or bool(_STRONG_BEFORE.search(before) and _STRONG_AFTER.search(after))
    )
    return Ask("year", year, fiscal=fiscal, calendar=calendar, weak=not strong)


def _span_of_years(query: str, found: list[tuple[int, Ask]]) -> list[tuple[int, Ask]]:
    """ "2019 to 2021", "2019年至2021年": the years between are asked too."""
    years = [(at, ask) for at, ask in found if ask.kind == "year"]
    if len(years) != 2 or not 1 < years[1][1].year - years[0][1].year <= 10:
        return found
    between = query[years[0][0] : years[1][0]]
    if not re.search(r"\bto\b|through|\d\s*[-–—~]\s*$|至|到", between, re.IGNORECASE):
        return found
    first, last = years[0][1], years[1][1]
    middle = [
        (years[0][0], Ask("year", y, fiscal=first.fiscal, weak=first.weak)) for y in range(first.year + 1, last.year)
    ]
    return sorted([*found, *middle], key=lambda item: item[0])
