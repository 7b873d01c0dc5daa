"""What the fake services know and how they behave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from quelea.generator.v1 import generator_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2
from quelea_fintext.text import terms
from quelea_kit.errors import NotFound, QueleaError

from quelea_gateway.adapters.services.fake_documents import DOCUMENTS, WEB_PAGES, Stored


@dataclass(frozen=True)
class Original:
    """A document as it came in.

    Attributes:
        filename: Its name.
        media_type: What it is.
        data: Its bytes.
        boxes: Of a PDF: where each span that is looked for is printed.
        html: Of HTML: how it is shown.
        found: Share of each span that is found.
    """

    filename: str
    media_type: str
    data: bytes
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    html: str = ""
    found: float = 1.0


@dataclass
class World:
    """What the fake services know and how they behave; tests change it while it runs."""

    documents: dict[str, Stored] = field(default_factory=dict)
    encoder: str = ""
    """That the knowledge base is indexed with."""
    facts: list[retriever_pb2.StatedFact] = field(default_factory=list)
    fact_requests: list[retriever_pb2.ListFactsRequest] = field(default_factory=list)
    jobs: dict[str, search_pb2.Job] = field(default_factory=dict)
    uploads: list[tuple[search_pb2.DocumentInfo, bytes, int]] = field(default_factory=list)
    searches: list[retriever_pb2.SearchRequest] = field(default_factory=list)
    asked: list[generator_pb2.GenerateRequest] = field(default_factory=list)
    reading: retriever_pb2.Reading | None = None
    retriever_error: QueleaError | None = None
    generator_error: QueleaError | None = None
    error_after_deltas: int = 0
    generator_hangs: bool = False
    retriever_hangs: bool = False
    cancelled: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    max_document_bytes: int = 64 * 1024 * 1024
    page_seconds: float = 0.0
    word_seconds: float = 0.0
    events: list[generator_pb2.GenerateResponse] | None = None
    evidence_tokens: int = 3000
    originals: dict[str, Original] = field(default_factory=dict)
    """By document; that of any other is its text."""
    completions: list[list[str] | QueleaError] | None = None
    """What Complete says, one entry per call, the last one again and again; None: there is no language model."""
    function_calls: list[generator_pb2.FunctionCall] | None = None
    """What a completion calls that is offered functions; None: the model calls none."""
    completion_requests: list[generator_pb2.CompleteRequest] = field(default_factory=list)
    completion_hangs: bool = False
    rewrites: dict[str, str] = field(default_factory=dict)
    """Follow-ups as they stand alone; every other question is left as it is."""
    rewrite_requests: list[generator_pb2.RewriteRequest] = field(default_factory=list)
    rewrite_error: QueleaError | None = None
    context_tokens: int = 0
    prompt: str = "answer"
    web_providers: list[str] = field(default_factory=list)
    """Empty: no web."""
    filing_sources: list[str] = field(default_factory=list)
    """Empty: filings are not fetched."""
    fetches: list[search_pb2.FetchFilingsRequest] = field(default_factory=list)
    fetch_error: QueleaError | None = None
    watches: dict[str, search_pb2.Watch] = field(default_factory=dict)
    """By id."""
    web_pages: list[Stored] = field(default_factory=lambda: list(WEB_PAGES))
    web_searches: list[search_pb2.SearchWebRequest] = field(default_factory=list)
    web_problems: list[search_pb2.WebProblem] = field(default_factory=list)
    web_error: QueleaError | None = None
    web_hangs: bool = False
    trusted_hosts: set[str] = field(default_factory=lambda: {"news.test"})
    """Their pages are kept at once; those of others wait."""
    rank_requests: list[retriever_pb2.RankRequest] = field(default_factory=list)
    rank_error: QueleaError | None = None
    keep_requests: list[search_pb2.KeepPagesRequest] = field(default_factory=list)
    keep_error: QueleaError | None = None
    keep_hangs: bool = False
    records: dict[str, search_pb2.WebPageRecord] = field(default_factory=dict)
    """By address."""
    collections: dict[str, search_pb2.Collection] = field(default_factory=dict)
    """By name, beside the default one."""

    @classmethod
    def with_samples(cls) -> World:
        """A world with a few filings and news items."""
        return cls(documents={stored.id: stored for stored in DOCUMENTS})

    @classmethod
    def with_web(cls) -> World:
        """The same, and a web of three pages."""
        world = cls.with_samples()
        world.web_providers = ["searxng"]
        return world


@contextlib.asynccontextmanager
async def noting(world: World, name: str) -> AsyncIterator[None]:
    """Write down how a call ended."""
    try:
        yield
        world.finished.append(name)
    except (asyncio.CancelledError, GeneratorExit):
        world.cancelled.append(name)
        raise


def score(query: set[str], text: str) -> float:
    """Share of the query's words in the text."""
    found = set(terms(text))
    return len(query & found) / (1 + len(query))


def stored_document(world: World, document_id: str) -> Stored:
    """A document, or a page of the web that was read. Raises NotFound."""
    pages = {page.id: page for page in world.web_pages} if world.web_providers else {}
    stored = world.documents.get(document_id) or pages.get(document_id)
    if stored is None:
        raise NotFound(f"There is no document {document_id[:64]!r}.")
    return stored


def stored_original(world: World, document_id: str) -> Original:
    """A document as it came in. Raises NotFound."""
    stored = stored_document(world, document_id)
    text = "\f".join(stored.pages).encode()
    return world.originals.get(document_id) or Original(f"{stored.metadata.title}.txt", "text/plain", text)
