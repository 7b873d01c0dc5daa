"""What is remembered of a page of the web, and the rules by which it enters the knowledge base and stays in it.

                used: host trusted, or by a second question, or approved
    (unknown) ──► pending ───────────────────────────────────────────────► kept ◄──► vanished
                     │                                                       │
                     └──────────────── rejected ◄────────────────────────────┘      rolled back: forgotten

Times are seconds since 1970; 0 where it has not happened.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from quelea_kit.reach import DEFAULT_COLLECTION

from quelea_search.core.records import decode_fields

MAX_QUERIES = 10
MAX_LOOKS = 3
"""A page that has vanished is looked for so many times more."""
_QUERY_CHARACTERS = 500


class PageState(StrEnum):
    """Where a page stands."""

    PENDING = "pending"
    KEPT = "kept"
    REJECTED = "rejected"
    VANISHED = "vanished"


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """Seconds after which a kept page is read again, by kind."""

    news: float
    page: float
    reference: float
    filing: float

    def of(self, kind: str) -> float:
        """For a kind; an unknown one counts as "page"."""
        return {"news": self.news, "reference": self.reference, "filing": self.filing}.get(kind, self.page)


@dataclass(frozen=True, slots=True)
class WebPage:
    """The record of one page."""

    canonical_url: str
    host: str
    state: PageState
    added: float
    title: str = ""
    document_id: str = ""
    """Of the version that is kept, or that would be."""
    queries: tuple[str, ...] = ()
    """The questions for which it was useful, oldest first, at most MAX_QUERIES."""
    uses: int = 0
    """How often it was useful, the same question counted each time."""
    provider: str = ""
    score: float = 0.0
    published: str = ""
    published_source: str = ""
    kind: str = "page"
    fetched: float = 0.0
    expires: float = 0.0
    due: float = 0.0
    """When it is to be read again; 0: never."""
    reason: str = ""
    etag: str = ""
    last_modified: str = ""
    looks: int = 0
    """How often it was looked for since it vanished."""
    indexed: bool = False
    """Its document has been in the index; else its job is on the way or has failed."""
    job_id: str = ""
    """The last job that was to bring it in."""
    collection: str = DEFAULT_COLLECTION
    """In which its document lies."""


@dataclass(frozen=True, slots=True)
class Use:
    """A page was useful for an answer."""

    query: str
    provider: str
    score: float
    document_id: str
    now: float
    title: str = ""
    published: str = ""
    published_source: str = ""
    kind: str = "page"
    fetched: float = 0.0


@dataclass(frozen=True, slots=True)
class PageContent:
    """What was read of a page whose document is in the index."""

    kind: str
    title: str
    published: str
    published_source: str
    fetched: float
    etag: str
    last_modified: str


def normalise_query(query: str) -> str:
    """A question without what does not make it another one: case, width, punctuation, spaces."""
    folded = unicodedata.normalize("NFKC", query).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split())


def record_use(before: WebPage | None, use: Use, *, url: str, host: str, trusted: str) -> tuple[WebPage, bool]:
    """The record after a use, and whether a job is to bring the page in now.

    Args:
        before: What is remembered.
        use: The use.
        url: Canonical.
        host: Of the url.
        trusted: Why the page need not wait; empty when it must.
    """
    page = before or WebPage(url, host, PageState.PENDING, use.now)
    if page.state is PageState.REJECTED:
        return page, False
    asked = {normalise_query(query) for query in page.queries}
    another = normalise_query(use.query) not in asked
    queries = (*page.queries, use.query[:_QUERY_CHARACTERS]) if another else page.queries
    counted = dataclasses.replace(
        page,
        queries=(queries[0], *queries[1:][-(MAX_QUERIES - 1) :]),
        uses=page.uses + 1,
        score=max(page.score, use.score),
        provider=page.provider or use.provider,
    )
    if page.state is not PageState.PENDING and page.document_id == use.document_id and page.indexed:
        return counted, False
    known = dataclasses.replace(
        counted,
        document_id=use.document_id or page.document_id,
        title=use.title or page.title,
        published=use.published or page.published,
        published_source=use.published_source or page.published_source,
        kind=use.kind,
        fetched=use.fetched or page.fetched,
    )
    if page.state is not PageState.PENDING:  # other bytes than those that are kept, or a job that has failed
        return known, True
    reason = trusted or ("second use" if before is not None and asked and another else "")
    if not reason:
        return dataclasses.replace(known, reason=page.reason or "host not on the allow-list"), False
    return dataclasses.replace(known, state=PageState.KEPT, reason=reason), True


def keep(
    before: WebPage | None,
    content: PageContent,
    *,
    url: str,
    host: str,
    now: float,
    ttl: TimeToLive,
    document_id: str,
    collection: str = DEFAULT_COLLECTION,
) -> WebPage:
    """The record of a page whose document is in the index."""
    page = before or WebPage(url, host, PageState.KEPT, now, reason="submitted by a user")
    back = page.state is PageState.VANISHED
    expires = content.fetched + ttl.of(content.kind)
    return dataclasses.replace(
        page,
        **dataclasses.asdict(content),
        state=PageState.KEPT,
        reason="found again" if back else page.reason,
        document_id=document_id,
        collection=collection,
        expires=expires,
        due=expires,
        looks=0,
        indexed=True,
    )


def renew(page: WebPage, *, now: float, ttl: TimeToLive) -> WebPage:
    """The page was read again and has not changed."""
    expires = now + ttl.of(page.kind)
    back = page.state is PageState.VANISHED
    return dataclasses.replace(
        page,
        state=PageState.KEPT if back else page.state,
        reason="found again" if back else page.reason,
        fetched=now,
        expires=expires,
        due=expires,
        looks=0,
    )


def mark_vanished(page: WebPage, *, now: float, ttl: TimeToLive, status: str, today: str) -> WebPage:
    """The page is no longer there. It is looked for with growing intervals, and then no more."""
    first = page.state is not PageState.VANISHED
    looks = 0 if first else page.looks + 1
    due = now + ttl.of(page.kind) * 2 ** (looks + 1) if looks < MAX_LOOKS else 0.0
    reason = f"{status} since {today}" if first else page.reason
    return dataclasses.replace(page, state=PageState.VANISHED, reason=reason, looks=looks, due=due)


def postpone(page: WebPage, *, now: float, seconds: float) -> WebPage:
    """It could not be read again just now, or is being read: it is looked at again after a while."""
    return dataclasses.replace(page, due=now + seconds)


def mark_failed(page: WebPage, *, job_id: str, reason: str) -> WebPage:
    """The job that was to bring it in has failed: nothing of it is in the index, unless an earlier version is."""
    if page.state is not PageState.KEPT or page.indexed or page.job_id != job_id:
        return page
    return dataclasses.replace(page, state=PageState.PENDING, reason=f"could not be brought in: {reason}")


@dataclass(frozen=True, slots=True)
class PageFilter:
    """All given fields must hold."""

    urls: frozenset[str] = frozenset()
    """Canonical."""
    hosts: tuple[str, ...] = ()
    states: frozenset[PageState] = frozenset()
    added_from: float = 0.0
    added_to: float = 0.0

    @property
    def empty(self) -> bool:
        """Whether every page passes."""
        return not (self.urls or self.hosts or self.states or self.added_from or self.added_to)

    def matches(self, page: WebPage, hosts: Collection[str] | None) -> bool:
        """Whether a page passes.

        Args:
            page: The page.
            hosts: The known hosts that `hosts` covers; None when any host will do.
        """
        return (
            (not self.urls or page.canonical_url in self.urls)
            and (hosts is None or page.host in hosts)
            and (not self.states or page.state in self.states)
            and (not self.added_from or page.added >= self.added_from)
            and (not self.added_to or page.added <= self.added_to)
        )


def decode(text: str) -> WebPage:
    """What `records.encode` made of one."""
    values = decode_fields(WebPage, text)
    return WebPage(**{**values, "state": PageState(values["state"]), "queries": tuple(values["queries"])})
