"""Releases, transcripts and current reports: what their first lines say of company, day and period.

They have no cover page as annual and quarterly reports do. A release names its company at its dateline ("CITY, May 4,
2023 – Name (NYSE: NAME) today reported …"), a transcript in its title, a current report the day of its event.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from quelea_fintext.dates import FoundDate, find_dates, parse_iso, write_date
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.period_words import NTH_OR_DIGIT, QUARTERS
from quelea_fintext.times.periods import ReportingPeriod

from quelea_search.core.metadata.companies import EXCHANGE

_OPENING = 2500
_RELEASE = LANGUAGES.pattern(
    "documents.release", r"(?m:^\s{0,8}+(?:<>)\b)|\((?:BUSINESS WIRE|GLOBE NEWSWIRE)\)|/PRNewswire/"
)
_EXHIBIT = re.compile(r"\b(?:exhibit\s{1,4}|EX-)99\b", re.I)
_FIRST = 120
_TELLS = LANGUAGES.pattern("documents.tells", r"\b(?:<>)\b")
_SYMBOL = re.compile(rf"[(\[](?:[^()\[\]\n]{{0,60}}[,;]\s{{0,4}})?{EXCHANGE}")
_BEFORE_NAME = re.compile(r"\s[-–—]{1,3}\s?|[–—]|--|\.\s?\.\s?\.|\)\s|/\s|:\s|(?<=\d{4}),\s|(?<=\d{4})\s?-\s?|\n")
_AFTER_NAME = re.compile(
    rf"\s{{1,4}}(?:today\b|(?:{LANGUAGES.alternatives('documents.tells')})\b)|\s{{0,4}}[(\[“\"]", re.I
)
_NAME = re.compile(r"(?:[A-Z0-9][\w.&'’\-]*|and|of|the|&|,)(?:,? (?:[A-Z0-9][\w.&'’\-]*|and|of|the|&)){0,7}\.?")
_NAME_CHARACTERS = 90
_QUARTER = re.compile(rf"\b(?:({NTH_OR_DIGIT})[\s-]{{1,4}}(?:fiscal[\s-]{{1,4}})?quarter|Q([1-4])\b|([1-4])Q)", re.I)
_YEAR = re.compile(r"(?<!\d)(?:FY\s?)?((?:19|20)\d\d)(?!\d)")
_OF_YEAR = re.compile(r"\W{0,3}(?:of )?(?:the )?(?:fiscal )?(?:year |FY ?)?((?:19|20)\d\d)", re.I)
_HEADLINE, _FIRST_LINES = 60, 8
_LATE = timedelta(days=150)
"""After the end of its period no release of results comes out."""
_RESULTS = LANGUAGES.pattern("documents.results", r"\b(?:<>)\b")
_TITLE_NAME = r"(?P<name>(?!Earnings|Conference|Results)[A-Z][\w.&'’, \-]{1,60}?)"
_CALL_TITLES = tuple(
    re.compile(rf"^[^\S\n]{{0,8}}+{title}", re.M)
    for title in (
        rf"(?:Q[1-4] (?:FY)?\d{{4}}|\d{{4}} Q[1-4]) {_TITLE_NAME} (?:Earnings|Conference) Call\b",
        rf"{_TITLE_NAME}(?: ?\([^()\n]{{1,40}}\))?[ \-–—:]{{1,4}}(?:Q[1-4]|(?:First|Second|Third|Fourth)[ -])"
        r"[^\n]{0,60}\bCall\b",
    )
)
_ITEM = re.compile(r"^\s{0,8}+item\s{1,8}\d{1,2}\.\d\d[.:\s]{1,8}([A-Z][^\n.]{3,120})", re.I | re.M)
_REPORT_DAY = re.compile(r"date\s+of\s+(?:report|earliest\s+event)", re.I)


def is_release(text: str) -> bool:
    """Whether the first page of a document is that of a company's release to the press."""
    opening = text[:_OPENING]
    if _RELEASE.search(opening):
        return True
    return _EXHIBIT.search(opening[:_FIRST]) is not None and _TELLS.search(opening) is not None


def dateline(text: str) -> FoundDate | None:
    """The day of a release: the first that is no end of a period."""
    opening = text[:_OPENING]
    for found in find_dates(opening):
        if not re.search(r"\b(?:ended|ending|end|of|at)\s{0,4}$", opening[: found.start][-12:], re.I):
            return found
    return None


def release_name(text: str) -> str:
    """The company that speaks in a release; empty where neither a symbol of an exchange nor a dateline tells."""
    opening = text[:_OPENING]
    day = dateline(opening)
    if symbol := _SYMBOL.search(opening):
        return _name_before(opening[: symbol.start()], day.end if day else 0, _headline_word(opening))
    if day is None:
        return ""
    after = opening[day.end : day.end + _NAME_CHARACTERS].lstrip(" ,.-–—\t()")
    ends = _AFTER_NAME.search(after)
    name = " ".join(after[: ends.start()].split()).strip(" ,") if ends else ""
    return name if _NAME.fullmatch(name) else ""


def _name_before(text: str, day: int, word: str) -> str:
    """The name at the end of a text, from the dateline or from the word that the headline begins with."""
    first = max(day, len(text) - _NAME_CHARACTERS)
    tail = text[first:].rstrip()
    if first == day and text[day : day + 2].strip(" \t")[:1] not in ("", "\n"):
        # The sentence that the dateline begins may break its name in two lines.
        tail = " " + " ".join(tail.split())
    name = _BEFORE_NAME.split(tail)[-1].strip(" ,")
    if word and (at := re.search(rf"(?<=[.,] )(?:The )?{re.escape(word)}\b", name, re.I)):
        name = name[at.start() :]
    return name if _NAME.fullmatch(name) else ""


def _headline_word(text: str) -> str:
    """The first word of the line that says what the company does: "NASDAQ OMX ANNOUNCES …"."""
    for line in _headlines(text):
        if (tells := _TELLS.search(line)) and (words := re.findall(r"[\w&]{3,}", line[: tells.start()])):
            return next((word for word in words if word.lower() != "the"), "")
    return ""


def call_name(text: str) -> str:
    """The company in the title of a transcript: "Name (SYMBOL) Q2 2023 Earnings Call"; else empty."""
    found = next(filter(None, (title.search(text[:_OPENING]) for title in _CALL_TITLES)), None)
    return found["name"].strip(" ,-") if found else ""


def headline_period(text: str, found: ReportingPeriod, day: date | None) -> ReportingPeriod:
    """The period that a release or transcript is of, by its headline.

    The results of a fourth quarter are those of the year too, as in the year's report: their period is the year.

    Args:
        text: Of the first page.
        found: By the first "quarter ended DATE" in the text; its quarter is the calendar's where the text says no more.
        day: When it came out.
    """
    lines = _headlines(text)
    end = parse_iso(found.end_date)
    if end and day and not timedelta(0) < day - end < _LATE:
        end = None  # of the year before, for comparison
    found = replace(found, end_date=end.isoformat() if end else "")
    for line in lines:
        quarter = _QUARTER.search(line)
        if quarter is None:
            continue
        number = _number(quarter)
        year = _year_beside(line, quarter) or _own_year(text, number) or found.fiscal_year
        if not year:
            return found
        whole = number == 4
        label = f"FY{year}" if whole else f"FY{year} Q{number}"
        return ReportingPeriod(label, year, 0 if whole else number, found.end_date)
    return found if any(_RESULTS.search(line) for line in lines) else ReportingPeriod()


def _headlines(text: str) -> list[str]:
    """The lines above the sentence that names the company's symbol, or above the dateline; else the first ones."""
    opening = text[:_OPENING]
    symbol, day = _SYMBOL.search(opening), dateline(opening)
    end = symbol.start() if symbol else day.start if day else 0
    lines = [line[:300] for line in opening[:end].splitlines() if line.strip()]
    first = [line[:300] for line in opening.splitlines() if line.strip()][:_FIRST_LINES]
    return lines if len(lines) > 1 else first


def _number(quarter: re.Match[str]) -> int:
    return QUARTERS[next(part for part in quarter.groups() if part).lower()]


def _year_beside(line: str, quarter: re.Match[str]) -> int:
    """A year near the quarter that is no part of a day."""
    low, high = max(0, quarter.start() - _HEADLINE), quarter.end() + _HEADLINE
    days = [range(one.start, one.end) for one in find_dates(line)]
    years = (year for year in _YEAR.finditer(line, low, high) if not any(year.start() in day for day in days))
    return next((int(year[1]) for year in years), 0)


def _own_year(text: str, number: int) -> int:
    """The year that the text gives to a quarter of this number, the newest of them: "third quarter of fiscal 2024"."""
    named = (match for match in _QUARTER.finditer(text[: 4 * _OPENING]) if _number(match) == number)
    return max((int(said[1]) for match in named if (said := _OF_YEAR.match(text, match.end()))), default=0)


def report_day(cover: str) -> date | None:
    """The day on the cover of a current report, before or after "Date of Report (Date of earliest event reported)"."""
    caption = _REPORT_DAY.search(cover)
    if caption is None:
        return None
    after = next(find_dates(cover[caption.end() : caption.end() + 120]), None)
    before = list(find_dates(cover[max(0, caption.start() - 60) : caption.start()]))
    chosen = before[-1] if before else after
    return chosen.day if chosen else None


def items(text: str) -> list[str]:
    """What the items of a current report are called: "Results of Operations and Financial Condition"."""
    found = [re.sub(r"\s+", " ", match[1]).strip(" .") for match in _ITEM.finditer(text)]
    return [one for one in dict.fromkeys(found) if not one.lower().startswith("financial statements and exhibits")]


def title_of(name: str, kind: str, day: str, about: Sequence[str]) -> str:
    """ "Name 8-K, March 5, 2024: Departure of Directors"."""
    title = f"{name} {kind}, {write_date(date.fromisoformat(day), 'en')}" if day else f"{name} {kind}"
    return f"{title}: {'; '.join(about[:3])}" if about else title
