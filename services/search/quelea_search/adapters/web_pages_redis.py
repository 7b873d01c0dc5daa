"""Records of pages of the web in Redis (core/web/pages.py has the rules).

<prefix>:webpage:<url's hash>    string  the record, as JSON
<prefix>:webpages                zset    every canonical address, by the time at which it was added
<prefix>:webpages:<state>        zset    those in that state
<prefix>:webpages:host:<host>    zset    those of that host
<prefix>:webpages:hosts          set     the hosts
<prefix>:webpages:due            zset    those that are to be read again, by when
<prefix>:webpages:removals       hash    address -> what is still to be taken out of the knowledge base, as JSON

A decision to take a page out is one transaction that changes the record and notes the removal; whoever finds the note
does the rest, so a decision that was interrupted is finished all the same.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import redis
from quelea_kit.paging import Position
from quelea_kit.reach import DEFAULT_COLLECTION, Reach, within

from quelea_search.adapters.redis_base import TenantRecords
from quelea_search.core import records
from quelea_search.core.jobs import Job, JobState
from quelea_search.core.web import pages as web_pages
from quelea_search.core.web.pages import PageFilter, PageState, WebPage

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Removal:
    """A page that is to leave the knowledge base."""

    canonical_url: str
    document_id: str
    collection: str = DEFAULT_COLLECTION


class WebPages(TenantRecords):
    """What is remembered of pages of the web, by the tenant that calls.

    Args:
        client: With decoded responses.
        prefix: Begins every key, as in JobStore.
        max_pending: Pages in quarantine; the oldest leave when there are more.
    """

    def __init__(
        self, client: redis.Redis, *, prefix: str, max_pending: int = 2000, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(client, prefix)
        self._max_pending = max_pending
        self._now = clock

    @property
    def _all(self) -> str:
        return self._key("webpages")

    @property
    def _hosts(self) -> str:
        return self._key("webpages", "hosts")

    @property
    def _due(self) -> str:
        return self._key("webpages", "due")

    @property
    def _removals(self) -> str:
        return self._key("webpages", "removals")

    # -- reading ---------------------------------------------------------------------------------------------------

    def find(self, canonical_url: str) -> WebPage | None:
        """One record, or None."""
        with self._answering():
            text = self._redis.get(self._record(canonical_url))
        return web_pages.decode(text) if text else None

    def rejected(self, canonical_urls: Collection[str]) -> set[str]:
        """Those of the addresses that are rejected."""
        return {page.canonical_url for page in self._load(canonical_urls) if page.state is PageState.REJECTED}

    def select(
        self, wanted: PageFilter, covers: Callable[[str], bool], page_size: int, after: Position | None = None
    ) -> tuple[list[WebPage], int, Position | None]:
        """A page of the records that a filter lets pass, newest first.

        Args:
            wanted: The filter.
            covers: Whether a known host is one of the filter's hosts.
            page_size: At most so many.
            after: The position of the last record of the page before.

        Returns:
            The records, how many there are on all pages, and the position behind which the next page begins; None on
            the last page.
        """
        with self._answering():
            hosts = {host for host in self._redis.smembers(self._hosts) if covers(host)} if wanted.hosts else None
            if wanted.urls:
                urls: list[str] = sorted(wanted.urls)
            else:
                span = (wanted.added_to or "+inf", wanted.added_from or "-inf")
                keys = [self._all]
                if hosts is not None:
                    keys = [self._host(host) for host in sorted(hosts)]
                elif wanted.states:
                    keys = [self._state(state) for state in sorted(wanted.states)]
                if len(keys) == 1 and not (hosts is not None and wanted.states):  # the index alone answers
                    total = int(self._redis.zcount(keys[0], span[1], span[0]))
                    page, last = self._page_of_index(keys[0], span, page_size, after)
                    return page, total, last
                urls = [url for key in keys for url in self._redis.zrevrangebyscore(key, *span)]
        found = [page for page in self._load(urls) if wanted.matches(page, hosts)]
        found.sort(key=_position, reverse=True)
        rest = [page for page in found if after is None or _position(page) < after]
        page = rest[:page_size]
        return page, len(found), _position(page[-1]) if len(rest) > page_size else None

    def _page_of_index(
        self, index: str, span: tuple[Any, Any], page_size: int, after: Position | None
    ) -> tuple[list[WebPage], Position | None]:
        start, (newest, oldest) = 0, span
        if after is not None:
            newest = after[0]  # what was added at the same moment comes again, and is passed over
            start = int(self._redis.zcount(index, newest, newest))
        found = self._redis.zrevrangebyscore(index, newest, oldest, start=0, num=start + page_size + 1, withscores=True)
        rest = [(score, url) for url, score in found if after is None or (score, url) < after]
        page = rest[:page_size]
        return self._load([url for _, url in page]), page[-1] if len(rest) > page_size else None

    def due(self, limit: int) -> list[WebPage]:
        """Pages that are to be read again by now, the longest overdue first."""
        with self._answering():
            urls = self._redis.zrangebyscore(self._due, "-inf", self._now(), start=0, num=limit)
        return self._load(urls)

    def count(self, state: PageState) -> int:
        """How many pages are in a state, of all tenants together."""
        count = 0
        for tenant in self.tenants():
            with within(Reach(tenant)), self._answering():
                count += int(self._redis.zcard(self._state(state)))
        return count

    # -- writing ---------------------------------------------------------------------------------------------------

    def update(self, canonical_url: str, decide: Callable[[WebPage | None], WebPage | None]) -> WebPage | None:
        """Write what a function of core/web/pages.py makes of the record, in one transaction.

        Args:
            canonical_url: Of the page.
            decide: From the record, or None, to the new record; None leaves it as it is.

        Returns:
            The record as it is now.
        """
        key = self._record(canonical_url)

        def change(pipe: Any) -> WebPage | None:
            before = self._parse(pipe.get(key))
            after = decide(before)
            pipe.multi()
            if after is None or after == before:
                return before
            self._write(pipe, after)
            return after

        page = self._transact([key], change)
        if page is not None and page.state is PageState.PENDING:
            self._bound()
        return page

    def job_failed(self, job: Job) -> None:
        """The job that was to bring a page in has failed; nothing happens for any other job."""
        if job.url and job.state is JobState.FAILED:
            failed = functools.partial(web_pages.mark_failed, job_id=job.id, reason=job.error_reason)
            self.update(job.uri, lambda page: failed(page) if page else None)

    def take_out(self, canonical_url: str, *, reject: bool, reason: str) -> WebPage | None:
        """Reject a page, or forget it; what it brought in is noted for removal. None when there is no such page."""
        key = self._record(canonical_url)

        def change(pipe: Any) -> WebPage | None:
            before = self._parse(pipe.get(key))
            pipe.multi()
            if before is None:
                return None
            if before.indexed or before.job_id:
                brought = before.document_id if before.indexed else ""
                removal = Removal(canonical_url, brought, before.collection)
                pipe.hset(self._removals, canonical_url, json.dumps(dataclasses.asdict(removal)))
            if not reject:
                self._forget(pipe, before)
                return before
            after = dataclasses.replace(
                before,
                state=PageState.REJECTED,
                reason=reason,
                indexed=False,
                job_id="",
                due=0.0,
                expires=0.0,
                looks=0,
            )
            self._write(pipe, after)
            return after

        return self._transact([key], change)

    def forget(self, canonical_url: str, document_id: str) -> None:
        """Somebody deletes a page's document: it is not to come back by being read again."""
        self._forget_if(canonical_url, lambda page: page.document_id == document_id)

    def removals(self) -> list[Removal]:
        """What is still to be taken out."""
        with self._answering():
            return [Removal(**json.loads(text)) for text in self._redis.hvals(self._removals)]

    def is_leaving(self, canonical_url: str) -> bool:
        """Whether the page is rejected, or is just being taken out."""
        with self._answering():
            if self._redis.hexists(self._removals, canonical_url):
                return True
        return bool(self.rejected([canonical_url]))

    def is_noted(self, removal: Removal) -> bool:
        """Whether it is still to be done; another process may have done it."""
        with self._answering():
            return bool(self._redis.hexists(self._removals, removal.canonical_url))

    def taken_out(self, removal: Removal) -> None:
        """Nothing is left of it."""
        key = self._record(removal.canonical_url)

        def change(pipe: Any) -> None:
            noted = pipe.hexists(self._removals, removal.canonical_url)
            page = self._parse(pipe.get(key))
            pipe.multi()
            if not noted:  # done by another process, and the page may have come back since
                return
            pipe.hdel(self._removals, removal.canonical_url)
            # A job that was just ending may have written it once more.
            if page is not None and page.state in (PageState.KEPT, PageState.VANISHED):
                self._forget(pipe, page)

        self._transact([key, self._removals], change)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _state(self, state: PageState) -> str:
        return self._key("webpages", state.value)

    def _host(self, host: str) -> str:
        return self._key("webpages", "host", host)

    def _record(self, url: str) -> str:
        return self._key("webpage", hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32])

    def _parse(self, text: str | None) -> WebPage | None:
        return web_pages.decode(text) if text else None

    def _load(self, urls: Collection[str]) -> list[WebPage]:
        keys, texts = [self._record(url) for url in urls], []
        with self._answering():
            for first in range(0, len(keys), _CHUNK):
                texts += self._redis.mget(keys[first : first + _CHUNK])
        return [web_pages.decode(text) for text in texts if text]

    def _write(self, pipe: Any, page: WebPage) -> None:
        url = page.canonical_url
        self._note_tenant(pipe)
        pipe.set(self._record(url), records.encode(page))
        pipe.zadd(self._all, {url: page.added})
        for state in PageState:
            if state is page.state:
                pipe.zadd(self._state(state), {url: page.added})
            else:
                pipe.zrem(self._state(state), url)
        pipe.zadd(self._host(page.host), {url: page.added})
        pipe.sadd(self._hosts, page.host)
        if page.due:
            pipe.zadd(self._due, {url: page.due})
        else:
            pipe.zrem(self._due, url)

    def _forget(self, pipe: Any, page: WebPage) -> None:
        url = page.canonical_url
        pipe.delete(self._record(url))
        for key in (self._all, self._due, self._host(page.host), *(self._state(state) for state in PageState)):
            pipe.zrem(key, url)

    def _forget_if(self, url: str, condition: Callable[[WebPage], bool]) -> None:
        key = self._record(url)

        def change(pipe: Any) -> None:
            page = self._parse(pipe.get(key))
            pipe.multi()
            if page is not None and condition(page):
                self._forget(pipe, page)

        self._transact([key], change)

    def _bound(self) -> None:
        """The oldest pages in quarantine leave when there are too many."""
        with self._answering():
            surplus = int(self._redis.zcard(self._state(PageState.PENDING))) - self._max_pending
            urls = self._redis.zrange(self._state(PageState.PENDING), 0, surplus - 1) if surplus > 0 else []
        for url in urls:
            self._forget_if(url, lambda page: page.state is PageState.PENDING)

    def trim(self) -> None:
        """Forget hosts that no page is left of."""
        with self._answering():
            for host in self._redis.smembers(self._hosts):
                key = self._host(host)

                def change(pipe: Any, key: str = key, host: str = host) -> None:
                    empty = not pipe.exists(key)
                    pipe.multi()
                    if empty:
                        pipe.srem(self._hosts, host)

                self._transact([key], change)


def _position(page: WebPage) -> Position:
    return page.added, page.canonical_url
