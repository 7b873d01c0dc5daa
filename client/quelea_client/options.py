"""What requests can be told, as keyword arguments; the gateway's README says what each does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Filters(TypedDict, total=False):
    """Which documents: all given fields must hold, and within a field any of its values."""

    companies: Sequence[str]
    tickers: Sequence[str]
    document_types: Sequence[str]
    periods: Sequence[str]
    languages: Sequence[str]
    document_ids: Sequence[str]
    published_from: str
    published_to: str


class AskOptions(TypedDict, total=False):
    """Of a question."""

    history: Sequence[Mapping[str, str]]
    """Turns so far: [{"role": "user", "content": "…"}, …]."""
    as_of: str
    """Answer as of this day, YYYY-MM-DD."""
    route: Literal["auto", "local", "web"]
    k: int
    """Passages retrieved."""
    j: int
    """How many of them the reader may see."""
    filters: Filters
    collections: Sequence[str]
    """Only these; all that the key may read when left out."""
    model: str
    conversation_id: str
    """A saved conversation: it is gone on with, and the answer is saved in it."""
    group: str
    """Your name for questions of one conversation that are asked side by side."""
    strict: bool
    """Leave out sentences whose figures the evidence does not support."""


class SearchOptions(TypedDict, total=False):
    """Of a search for passages."""

    k: int
    as_of: str
    filters: Filters
    collections: Sequence[str]
    """Only these; all that the key may read when left out."""


class FactFilters(TypedDict, total=False):
    """Which figures: all given fields must hold, and within a field any of its values."""

    collection: str | Sequence[str]
    ticker: str | Sequence[str]
    document_id: str | Sequence[str]
    statement: str | Sequence[str]
    """income, balance, cash_flow, comprehensive_income, note, or breakdown: by industry, product, region."""
    period_from: str
    period_to: str
    months: int | Sequence[int]
    """Lengths of periods: 12 for years, 3 for quarters."""
    basis: Literal["consolidated", "parent"]
    doubtful: bool
    """Those too that break an identity of accounting, or that were restated."""
    as_of: str


class StatementOptions(TypedDict, total=False):
    """Of a statement."""

    collection: str | Sequence[str]
    period: Literal["annual", "quarterly"]
    years: int
    basis: Literal["consolidated", "parent"]
    doubtful: bool
    as_of: str


class ComparisonOptions(TypedDict, total=False):
    """Of companies side by side."""

    collection: str | Sequence[str]
    period: Literal["annual", "quarterly"]
    years: int
    basis: Literal["consolidated", "parent"]
    as_of: str


class DocumentFilters(TypedDict, total=False):
    """Which documents of the list."""

    collection: str | Sequence[str]
    company: str | Sequence[str]
    ticker: str | Sequence[str]
    document_type: str | Sequence[str]
    period: str | Sequence[str]
    language: str | Sequence[str]
    published_from: str
    published_to: str


class RunOptions(TypedDict, total=False):
    """Of a run of the agent."""

    as_of: str
    model: str
    limits: Mapping[str, Any]
    """steps, tokens, seconds, calls."""
    bundle_ids: Sequence[str]
    collections: Sequence[str]
    follows: str
    """Id of a finished run that this one goes on from."""


class FetchOptions(TypedDict, total=False):
    """Which filings of a company."""

    forms: Sequence[str]
    """Of EDGAR 10-K, 10-Q, 8-K, 20-F, …; of cninfo 年报, 半年报, 一季报, 三季报. Left out: 10-K and 10-Q, or 年报."""
    years: int
    """Filed within so many years."""
    collection: str
    """Where they go; left out: the default one."""
    bundle_ids: Sequence[str]
    """Recordings to replay instead of asking the source; for administrators."""


Reason = Literal[
    "accurate", "complete", "well_sourced", "wrong_figure", "wrong_company_or_period", "wrong_source", "incomplete",
    "off_topic", "should_have_answered",
]  # fmt: skip
"""Why a thumb: the first three of one up, the others of one down."""
