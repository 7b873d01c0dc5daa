"""The objects of the web half: what a provider finds, what the page reader brings, what is read out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quelea_search.core.model import Chunk, DocumentFacts, ParsedDocument
from quelea_search.core.statements.model import Fact


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a provider's list."""

    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    """YYYY-MM-DD; empty where the provider does not say."""


@dataclass(frozen=True, slots=True)
class Results:
    """A provider's list for one query."""

    provider: str
    items: tuple[Result, ...]
    searched: float
    """Seconds since 1970."""
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave to ask with whether a page has changed (RFC 9110, 13.1)."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came over the wire, unpacked."""

    url: str
    """As asked for."""
    final_url: str
    """After redirects."""
    canonical_url: str
    """Without tracking parameters and fragment (core/web/urls.py)."""
    status: int
    media_type: str
    """Of the Content-Type header, lower case, without parameters."""
    charset: str
    """Of the Content-Type header; empty where it does not say."""
    data: bytes
    """Empty when not_modified."""
    fetched: float
    """Seconds since 1970."""
    validators: Validators = Validators()
    not_modified: bool = False


@dataclass(frozen=True, slots=True)
class WebDocument:
    """A fetched page, read."""

    document_id: str
    """SHA-256 of the bytes, first 32 hexadecimal digits."""
    filename: str
    """A name that tells the parsers the format."""
    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    facts: DocumentFacts
    """facts.published is never after the day on which the page was fetched."""
    published_source: str
    """ "page", "url", "text", "provider" or ""."""
    kind: str
    """ "news", "filing", "reference" or "page": decides the time to live."""
    suspicious: tuple[int, ...] = ()
    """Ordinals of the chunks that read like instructions to a machine."""
    statement_facts: Sequence[Fact] = ()
    """What its statements say; only of a page that is to be stored."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong at one place; the rest went on."""

    where: str
    """A provider's name or a page's address."""
    reason: str
    """ "TIMEOUT", "ROBOTS", "TOO_LARGE", "REFUSED_ADDRESS", "STATUS", "WRONG_TYPE", ..."""
    message: str
