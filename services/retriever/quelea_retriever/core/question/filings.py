"""Filings and periods: which filing covers what was asked for, which is newest, how a period is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from quelea_fintext.dates import parse_iso
from quelea_fintext.notices import Note, NoteReason

from quelea_retriever.core.header import period_phrase
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.periods import Ask

NEAR = timedelta(days=10)
"""A fiscal quarter ends on a weekday near the month's end; people name the month's end."""
_QUARTER_LATE, _GAP_LATE, _YEAR_LATE = timedelta(days=100), timedelta(days=190), timedelta(days=375)
_LABEL_YEAR = re.compile(r"(?:19|20)\d\d")
_LABEL_QUARTER = re.compile(r"(?:Q|第)\s*([1-4])|(?<!\d)([1-4])\s*Q|([一二三四])季", re.IGNORECASE)


def newest_first(documents: Iterable[DocumentFacts]) -> tuple[DocumentFacts, ...]:
    """By end of period, then by date of publication, else as given."""
    return tuple(sorted(documents, key=_when, reverse=True))


def is_released(document: DocumentFacts, as_of: date) -> bool:
    """False for a filing whose period ended, or that was published, after `as_of`."""
    end, published = parse_iso(document.period.end_date), parse_iso(document.published)
    return not ((end and end > as_of) or (published and published > as_of))


def is_known_by(document: DocumentFacts, day: date) -> bool:
    """Whether a document may be used for a question of that day: nothing that came out later is.

    Its date of publication decides; where that is unknown the last day of its period, before which it cannot have come
    out; where that is unknown too, the day on which it was fetched, for there is no sign that it is older. So a filing
    without a date of publication counts some weeks too early, and other documents without one rather too late.
    """
    said = document.published or document.period.end_date or document.fetched[:10]
    out = parse_iso(said)
    return out is not None and out <= day


def overdue(own: Sequence[DocumentFacts], others: Iterable[DocumentFacts], as_of: date) -> tuple[Note, ...]:
    """A note when a company's latest filing is probably not stored, for others have newer ones; else none.

    Args:
        own: the company's filings that are in question, newest first. Of a kind of which it has one only, it is
            not known when the next is due.
        others: the filings of other companies; one that was not out by `as_of` says nothing.
        as_of: the day of the question.
    """
    for kind in dict.fromkeys(d.document_type for d in own):
        same = [d for d in own if d.document_type == kind]
        last, newest = parse_iso(same[0].period.end_date), parse_iso(own[0].period.end_date)
        if not kind or len(same) < 2 or last is None or newest is None:
            continue
        limit = max(last + _patience(same), newest + _QUARTER_LATE).isoformat()
        if any(d.document_type == kind and d.period.end_date > limit and is_released(d, as_of) for d in others):
            last_end = same[0].period.end_date
            return (Note(NoteReason.LATEST_OVERDUE, (same[0].company,), document_type=kind, end=last_end),)
    return ()


def _patience(same: Sequence[DocumentFacts]) -> timedelta:
    """How far other companies may be ahead: a full turn of filings, for fiscal years end in any month.

    A year's last quarter has no report of its own kind, so after the third quarter's the next but one is due.
    """
    if len({d.period.fiscal_quarter for d in same}) == 1:
        return _YEAR_LATE
    return _GAP_LATE if same[0].period.fiscal_quarter == 3 else _QUARTER_LATE


def period_text(document: DocumentFacts, full: bool) -> str:
    """ "FY2024 Q1, filed as 2023 Q3 (quarter ended September 30, 2023)"; only its label unless `full`."""
    period = document.period
    label = period.label or period.file_label or period.end_date
    if not full:
        return label
    if period.file_label and parse_label(period.file_label) != (period.fiscal_year, period.fiscal_quarter):
        label = f"{label}, filed as {period.file_label}" if period.label else label
    phrase = period_phrase(document)
    return f"{label} ({phrase})" if phrase else label


def parse_label(label: str) -> tuple[int, int]:
    """(year, quarter) of "2023 Q3", "FY2023", "2023年三季度"; zeros where it says nothing."""
    year, quarter = _LABEL_YEAR.search(label), _LABEL_QUARTER.search(label)
    digit = next((part for part in quarter.groups() if part), "0") if quarter else "0"
    return (int(year.group()) if year else 0, int(digit) if digit.isdigit() else "一二三四".index(digit) + 1)


def covering(ask: Ask, filings: Sequence[DocumentFacts], annual: bool) -> list[DocumentFacts]:
    """The filings of the period asked for.

    A period has three names that may disagree: the filer's fiscal label, the label that the file was given, and the
    calendar's. "Fiscal" in the question means the first, "calendar" the last. Otherwise the file's own label decides
    where there is one (whoever gave it also asks by it), else the fiscal label, else the calendar. A year that no
    filing has by these names is the one that ends in it.
    """
    if ask.newest:
        return list(newest_first(covering(replace(ask, newest=False), filings, annual)))[:1]
    if ask.end is not None:
        ended = [d for d in filings if (end := parse_iso(d.period.end_date)) and abs(end - ask.end) <= NEAR]
        return ended or [d for d in filings if _was_written(d, ask.end)]
    if ask.kind == "month" and ask.alone:
        holding = [d for d in filings if _holds_month(d, ask)]
        quarters = [d for d in holding if d.period.fiscal_quarter]
        return holding if annual else quarters or holding
    if ask.kind == "month":
        return [d for d in filings if _near_month(parse_iso(d.period.end_date), ask)]
    if ask.kind == "year":
        return _of_year(ask, filings, annual)
    if not ask.year:
        return list(newest_first(d for d in filings if _named_quarter(d, ask) == ask.quarter))[:1]
    wanted = (ask.year, ask.quarter)
    fitting = [d for d in filings if period_name(d, ask) == wanted]
    if not fitting and ask.fiscal:
        fitting = [d for d in filings if not d.period.fiscal_year and parse_label(d.period.file_label) == wanted]
    if not fitting and ask.quarter == 4:
        fitting = [
            d for d in filings if period_name(d, ask) == (ask.year, 0)
        ]  # the fourth quarter is in the annual report
    return fitting


def _was_written(document: DocumentFacts, day: date) -> bool:
    """The day lies between the end of the filing's period and its publication: its cover counts shares on such a day,
    and notes tell of what happened since."""
    end, published = parse_iso(document.period.end_date), parse_iso(document.published)
    return end is not None and published is not None and end < day <= published < end + _QUARTER_LATE


def period_name(document: DocumentFacts, ask: Ask) -> tuple[int, int]:
    """(year, quarter) of a filing by the name that the question uses, quarter 0 for a year; zeros where unknown."""
    period = document.period
    calendar = _calendar_quarter(
        parse_iso(period.end_date), whole_year=not period.fiscal_quarter and period.fiscal_year > 0
    )
    if ask.calendar:
        return calendar
    if period.file_label and not ask.fiscal and not (ask.half and period.fiscal_year):
        return parse_label(period.file_label)
    return (period.fiscal_year, period.fiscal_quarter) if period.fiscal_year else calendar


def _named_quarter(document: DocumentFacts, ask: Ask) -> int:
    return period_name(document, ask)[1]


def _of_year(ask: Ask, filings: Sequence[DocumentFacts], annual: bool) -> list[DocumentFacts]:
    fitting = [d for d in filings if period_name(d, ask)[0] == ask.year]
    if not fitting and not ask.fiscal:
        fitting = [d for d in filings if d.period.fiscal_year == ask.year]
    fitting = fitting or [d for d in filings if is_by_readers(d, ask)]
    whole = [d for d in fitting if period_name(d, ask)[1] == 0 and not d.period.fiscal_quarter]
    return whole if whole or annual else fitting


def is_by_readers(document: DocumentFacts, ask: Ask) -> bool:
    """It reports the year that ends in the one asked for, and its filer calls it otherwise: a year ended in January
    2023 is FY2023 to many who read it, and fiscal 2022 to the company."""
    period = document.period
    if ask.kind != "year" or ask.calendar or not period.fiscal_year or period.fiscal_quarter:
        return False
    return period.end_date.startswith(f"{ask.year}-") and period.fiscal_year != ask.year


def _near_month(end: date | None, ask: Ask) -> bool:
    if end is None:
        return False
    shifted = end - NEAR
    return (end.year, end.month) == (ask.year, ask.month) or (shifted.year, shifted.month) == (ask.year, ask.month)


def _holds_month(document: DocumentFacts, ask: Ask) -> bool:
    """Whether the middle of the month lies in the document's period: a quarter's, or a whole year's."""
    end = parse_iso(document.period.end_date)
    if end is None:
        return False
    whole_year = document.period.fiscal_year and not document.period.fiscal_quarter
    return end - timedelta(days=365 if whole_year else 91) < date(ask.year, ask.month, 15) <= end


def _calendar_quarter(end: date | None, whole_year: bool) -> tuple[int, int]:
    """The calendar's name of a period: where its middle lies."""
    if end is None:
        return (0, 0)
    middle = end - timedelta(days=182 if whole_year else 45)
    return (middle.year, 0 if whole_year else (middle.month - 1) // 3 + 1)


def _when(document: DocumentFacts) -> tuple[str, str]:
    return (document.period.end_date, document.published)
