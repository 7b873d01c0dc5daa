"""What readers of an answer are told beside it, in their language: the sentences are data (`notices.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from quelea_fintext.dates import parse_iso, write_date
from quelea_fintext.languages import LANGUAGES


def say(key: str, language: str, **values: object) -> str:
    """A sentence of `notices.toml`, in English where the language has none. Raises KeyError without an English one."""
    sentences = LANGUAGES.of(f"notices.{key}")
    return str(sentences.get(language) or sentences["en"]).format(**values)


def sentences(part: str, language: str) -> dict[str, str]:
    """All sentences of a part, by name; English ones where the language has none."""
    found = LANGUAGES.of(f"notices.{part}")
    return {**found["en"], **found.get(language, {})}


_PERIOD = re.compile(r"(?P<fiscal>FY)?(?P<year>\d{4})(?: Q(?P<quarter>[1-4]))?")


def say_period(label: str, language: str) -> str:
    """A period's label as a sentence has it: FY2023 Q3, "2023财年第3季度". What is no such label stays as it is."""
    match = _PERIOD.fullmatch(label)
    if match is None:
        return label
    kind = "quarter" if match["quarter"] else "year"
    name = f"fiscal_{kind}" if match["fiscal"] else kind
    return say(f"period_label.{name}", language, year=match["year"], quarter=match["quarter"])


class NoteReason(StrEnum):
    """Why a search differs from what its question asks for; quelea.retriever.v1.ReadingNote has the meanings."""

    COMPANY_NOT_STORED = "company_not_stored"
    COMPANY_LEFT_OUT = "company_left_out"
    PERIOD_NOT_STORED = "period_not_stored"
    FILING_NOT_STORED = "filing_not_stored"
    FILING_LEFT_OUT = "filing_left_out"
    SHOWN_FOR_COMPARISON = "shown_for_comparison"
    FEWER_PERIODS = "fewer_periods"
    LATEST_OVERDUE = "latest_overdue"
    YEAR_BY_ITS_END = "year_by_its_end"
    NEWEST_ONLY = "newest_only"
    DIFFERENT_PERIODS = "different_periods"


@dataclass(frozen=True, slots=True)
class Note:
    """A reason and what it is about; the fields are those of quelea.retriever.v1.ReadingNote."""

    reason: NoteReason
    companies: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    filings: tuple[str, ...] = ()
    document_type: str = ""
    end: str = ""
    count: int = 0
    total: int = 0


def write_notes(notes: Iterable[Note], language: str) -> str:
    """The notes as one line."""
    return say("search.between", language).join(_write(note, language) for note in notes)


def _write(note: Note, language: str) -> str:
    day = parse_iso(note.end)
    return say(
        f"search.{note.reason}",
        language,
        companies=", ".join(note.companies),
        periods=", ".join(say_period(one, language) for one in note.periods),
        filings=", ".join(say_period(one, language) for one in note.filings),
        document_type=note.document_type,
        end=write_date(day, language) if day else note.end,
        count=note.count,
        total=note.total,
    )
