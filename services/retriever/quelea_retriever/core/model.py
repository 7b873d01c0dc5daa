"""What the retriever thinks in: documents, passages, candidates and what a question was read to ask about.

Dates are ISO 8601 strings (YYYY-MM-DD), empty where unknown, exactly as on the wire.

The search service has a `DocumentFacts` and a `Chunk` of its own. They stay apart: a core knows neither the
wire nor another service, and the two differ in what they are for. Here a document is stored, with id, counts and the
time of its fetching; there it is just being read. A field that is added goes through the proto to both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from quelea_fintext.notices import Note, write_notes
from quelea_fintext.times.periods import NO_PERIOD, ReportingPeriod
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT, name_in, place_of

Mode = Literal["fused", "dense", "sparse"]
Provenance = Literal["", "upload", "web", "sample"]


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A document and what it says of itself."""

    id: str
    title: str = ""
    uri: str = ""
    language: str = ""
    """ "en" or "zh"."""
    company: str = ""
    company_aliases: tuple[str, ...] = ()
    ticker: str = ""
    document_type: str = ""
    period: ReportingPeriod = NO_PERIOD
    published: str = ""
    provenance: Provenance = ""
    pages: int = 0
    passages: int = 0
    fetched: str = ""
    """When it was fetched: ISO 8601 timestamp, UTC."""
    uploader: str = ""
    """The key that it came with; empty for a page of the web."""
    filing_id: str = ""
    """Of a fetched filing: its number at its source, "edgar:0001065280-25-000044"."""
    tenant: str = DEFAULT_TENANT
    collection: str = DEFAULT_COLLECTION

    @property
    def place(self) -> str:
        """Its tenant and collection, in front of the names of its record and its versions."""
        return place_of(self.tenant, self.collection)

    @property
    def name(self) -> str:
        """The name under which a new version replaces an old one: what one uploader calls so says nothing of others."""
        return name_in(self.place, f"{self.uploader}\n{self.uri}" if self.uploader else self.uri)


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """A piece of a document: text == page_text[start:end], in Unicode code points."""

    id: str
    document_id: str
    ordinal: int
    page: int
    start: int
    end: int
    text: str
    is_table: bool = False
    section: str = ""
    """Headings above it, outermost first, joined by " › "."""
    table_head: str = ""
    """For a table that was cut: title, units and column header. Not part of text."""
    facts: str = ""
    """The figures that it prints, packed (core/figures/statement_facts.py); empty where there are none."""
    scanned: bool = False
    """OCR read it from a picture of its page."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that the store found, with both of its scores (0.0 for sparse when no word is shared)."""

    passage: PassageRecord
    facts: DocumentFacts
    cosine: float
    sparse: float


@dataclass(frozen=True, slots=True)
class RankText:
    """A text that is ranked without being stored, with what would be indexed with it."""

    text: str
    header: str = ""
    section: str = ""
    table_head: str = ""
    cosine: float | None = None
    """Between query and text, where it is known; None: to be found."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked candidate. The score is comparable within one answer only."""

    candidate: Candidate
    score: float
    list_number: int = 0
    """Which of the interleaved lists it comes from."""
    features: tuple[float, ...] = ()
    """What the second stage saw of it (core/ranking/ranking_features.py); empty where there was none."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question was understood to ask about, and which documents are searched because of it."""

    companies: tuple[str, ...] = ()
    """Display names, the missing ones too."""
    periods: tuple[str, ...] = ()
    """Labels, the missing ones too."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Document ids, one group for each list that is retrieved on its own, first to be shown first. Empty: all."""
    text: str = ""
    """One line to show: "Apple · FY2023 Q3 (quarter ended July 1, 2023)"."""
    notes: tuple[Note, ...] = ()
    """Where the search differs from what the question asks for."""
    company_missing: bool = False
    """The question names a company that no stored document is about."""
    period_missing: bool = False
    """The question names a period that no stored document of its companies covers."""
    is_comparison: bool = False
    asks_latest: bool = False
    period_newer: bool = False
    """The question names a period beyond every stored document of its companies (of all, when it names none)."""
    mentions: tuple[str, ...] = ()
    """The words of the question that name companies."""
    missing_names: tuple[str, ...] = ()
    """How a missing company may be written; `reading.settle_subject` looks for these in what was found."""
    called: tuple[tuple[str, str], ...] = ()
    """Display names of companies, each with what the question calls it; `noting` says it so."""

    def noting(self, *notes: Note) -> Reading:
        """With these notes too; every note calls a company as the question does."""
        called = dict(self.called)
        named = (replace(one, companies=tuple(called.get(n, n) for n in one.companies)) for one in self.notes + notes)
        return replace(self, notes=tuple(named))

    @property
    def fallback(self) -> str:
        """The notes as one English line."""
        return write_notes(self.notes, "en")

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Every document of every group, in order, each once."""
        return tuple(dict.fromkeys(document for group in self.groups for document in group))

    @property
    def filing_chosen(self) -> bool:
        """True when the search was narrowed to a company's documents."""
        return bool(self.groups)
