"""Reporting periods: what a filing says of its own quarter or year, and what its file's name says."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta

from quelea_fintext.dates import find_dates
from quelea_fintext.times.period_words import NTH_OR_DIGIT, QUARTERS
from quelea_fintext.times.periods import ReportingPeriod

_ENDED = re.compile(
    r"(?P<what>quarter(?:ly\s+period)?|three\s+months|thirteen\s+weeks|13\s+weeks|six\s+months|half[\s-]year"
    r"|(?:fiscal\s+|financial\s+)?year|(?:twelve|12)\s+months|52\s+weeks|53\s+weeks|transition\s+period|period)\s+end(?:ed|ing)\s*:?\s+",
    re.I,
)
_WHOLE_YEAR = re.compile(r"(?<!half )(?<!half-)year|twelve|12|5[23]")
_YEAR_END = re.compile(
    r"(?:10-K|annual\s+report|20-F)\s.{0,60}?(?:fiscal\s+)?year\s+ended\s+|(?:fiscal|financial)\s+year\s+ended\s+",
    re.I | re.S,
)
_OWN_QUARTER = re.compile(
    rf"(?:({NTH_OR_DIGIT})\s{{1,8}}(?:fiscal\s{{1,8}})?quarters?\s{{1,8}}(?:of\s{{1,8}}|of\s{{1,8}}the\s{{1,8}})?(?:fiscal\s{{1,8}}(?:years?\s{{1,8}})?|FY\s?)?(20\d\d))"
    r"|\bQ([1-4])\s{0,8}+(?:FY|fiscal)?\s{0,8}+'?(20\d\d|\d\d)\b|\b(?:fiscal|FY)\s{0,8}+(20\d\d)\s{0,8}+Q([1-4])\b",
    re.I,
)
_OWN_YEAR = re.compile(r"\b(?:fiscal(?:\s+years?)?|FY)\s*'?(20\d\d)\b", re.I)
_CHINESE = re.compile(
    r"(?P<year>(?:19|20)\d\d)\s{0,8}+年?\s{0,8}+(?:度)?\s{0,8}+(?P<what>(?:第?\s{0,8}+[一二三四1-4]\s{0,8}+季度?|[一1]季度|三季度)(?:报告|报)|半年度?(?:报告|报)|中期报告|年度?(?:报告|报)|年年报)"
)
_FILE = (
    re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)[\s_.-]{0,8}(?:FY|fiscal)?[\s_.-]{0,8}Q(?P<q>[1-4])(?!\d)", re.I),
    re.compile(r"(?<![A-Za-z])Q(?P<q>[1-4])[\s_.-]{0,8}(?:FY|fiscal)?[\s_.-]{0,8}'?(?P<y>(?:19|20)\d\d)(?!\d)", re.I),
    re.compile(r"(?<![A-Za-z])(?P<q>[1-4])Q[\s_.-]{0,8}'?(?P<y>(?:19|20)\d\d|\d\d)(?!\d)", re.I),
    re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)\s{0,8}+年[\s_]*第?(?P<q>[一二三四])季"),
    re.compile(r"(?<![A-Za-z])FY[\s_.-]{0,8}'?(?P<y>(?:19|20)\d\d)(?!\d)", re.I),
    re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)\s{0,8}+年"),
    re.compile(
        r"10-?K[\s_.-]{0,8}(?P<y>(?:19|20)\d\d)(?!\d|[-_.]\d\d[-_.]\d\d)|(?<!\d)(?P<y2>(?:19|20)\d\d)[\s_.-]{0,8}10-?K",
        re.I,
    ),
)


def file_label(filename: str) -> str:
    """The period in a file's name: "2023 Q3", "2019"; empty where there is none: a day is when it was filed."""
    for pattern in _FILE:
        match = pattern.search(filename)
        if match:
            groups = match.groupdict()
            year = groups.get("y") or groups.get("y2") or ""
            year = f"20{year}" if len(year) == 2 else year
            quarter = groups.get("q") or ""
            return f"{year} Q{QUARTERS.get(quarter, quarter)}" if quarter else year
    return ""


def english_period(document_type: str, cover: str, body: str) -> ReportingPeriod:
    """ReportingPeriod of an English filing.

    Args:
        document_type: "10-Q", "10-K", "annual report" and so on: it decides between quarter and year.
        cover: Text of the first pages, where the period is stated.
        body: The whole text, for the filing's own name of its year and the end of its fiscal year.
    """
    found = _period_end(cover)
    if found is None:
        return ReportingPeriod()
    what, end = found
    yearly = document_type in ("10-K", "20-F", "annual report") or (
        document_type != "10-Q" and _WHOLE_YEAR.search(what) is not None
    )
    if yearly:
        year = _own_year(body, end)
        return ReportingPeriod(f"FY{year}", year, 0, end.isoformat())
    if document_type != "10-Q" and not any(word in what for word in ("quarter", "three", "13", "thirteen")):
        return ReportingPeriod("", 0, 0, end.isoformat())
    year, quarter = _quarter(body, end)
    return ReportingPeriod(f"FY{year} Q{quarter}", year, quarter, end.isoformat())


def _period_end(cover: str) -> tuple[str, date] | None:
    """The first "quarterly period ended DATE" or "fiscal year ended DATE"."""
    for match in _ENDED.finditer(cover):
        what = match["what"].lower()
        after = cover[match.end() : match.end() + 40]
        day = next(find_dates(after), None)
        if day is not None and day.start < 12 and not what.startswith("transition"):
            return what, day.day
    return None


def _quarter(body: str, end: date) -> tuple[int, int]:
    """Fiscal year and quarter of a quarter, from the last year's end, then from the filing's own words."""
    year_end = fiscal_year_end(body, end)
    if year_end is None:
        year, quarter = end.year, (end.month - 1) // 3 + 1
        if end.day <= 7 and end.month % 3 == 1:  # a 13-week quarter that ends in the first days of the next month
            before = end - timedelta(days=10)
            year, quarter = before.year, (before.month - 1) // 3 + 1
    else:
        quarter = max(1, min(4, round((end - year_end).days / 91.3)))
        next_end = year_end + timedelta(days=365)
        year = (next_end - timedelta(days=10)).year if next_end.month == 1 and next_end.day <= 7 else next_end.year
    own = Counter[tuple[int, int]]()
    for match in _OWN_QUARTER.finditer(body):
        if match[1]:
            own[(int(match[2]), QUARTERS[match[1].lower()])] += 1
        elif match[3]:
            own[(int(match[4]) if len(match[4]) == 4 else 2000 + int(match[4]), int(match[3]))] += 1
        else:
            own[(int(match[5]), int(match[6]))] += 1
    near = {key: n for key, n in own.items() if abs(key[0] - year) <= 1 and (year_end is None or key[1] == quarter)}
    if near:
        most = max(near.values())
        often = [key for key, n in near.items() if n >= max(2, most * 0.25)]
        if often:
            year, quarter = max(often)
    return year, quarter


def fiscal_year_end(body: str, before: date) -> date | None:
    """The last fiscal year's end before a day: as the annual report's period, else from the balance sheet."""
    counts: Counter[date] = Counter()
    for match in _YEAR_END.finditer(body):
        found = next(find_dates(body[match.end() : match.end() + 40]), None)
        if found and found.start < 12 and timedelta(days=20) < before - found.day < timedelta(days=345):
            counts[found.day] += 1
    if not counts:
        for match in re.finditer(r"balance\s+sheets?", body, re.I):
            for found in find_dates(body[match.end() : match.end() + 300]):
                if timedelta(days=20) < before - found.day < timedelta(days=345):
                    counts[found.day] += 1
    return counts.most_common(1)[0][0] if counts else None


def _own_year(body: str, end: date) -> int:
    """The fiscal year that ends on a day: the newest year near it that the filing often names."""
    usual = end.year if end.month > 1 or end.day > 7 else end.year - 1
    counts = Counter(int(match[1]) for match in _OWN_YEAR.finditer(body))
    near = {year: counts[year] for year in (usual - 1, usual) if counts[year]}
    if not near or end.month > 3:
        return usual
    most = max(near.values())
    return max(year for year, n in near.items() if n >= max(2, most * 0.25)) if most >= 2 else usual


def chinese_period(cover: str) -> ReportingPeriod:
    """ReportingPeriod of a Chinese report, from its title: 2020 年年度报告, 2021年第三季度报告, 2021年半年度报告."""
    match = _CHINESE.search(re.sub(r"(?<=\d)\s+(?=年)", "", cover))
    if match is None:
        return ReportingPeriod()
    year, what = int(match["year"]), match["what"]
    if "季" in what:
        quarter = next(QUARTERS[c] for c in what if c in QUARTERS)
        end = {1: "03-31", 2: "06-30", 3: "09-30", 4: "12-31"}[quarter]
        return ReportingPeriod(f"FY{year} Q{quarter}", year, quarter, f"{year}-{end}")
    if "半年" in what or "中期" in what:
        return ReportingPeriod(f"FY{year} H1", year, 0, f"{year}-06-30")
    return ReportingPeriod(f"FY{year}", year, 0, f"{year}-12-31")
