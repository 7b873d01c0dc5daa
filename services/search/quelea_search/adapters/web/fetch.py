"""The page reader's way out: an address to the bytes of a page, within its deadline, its limits and its manners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpcore2

from quelea_search.adapters.web.exchange import Answer, Exchange, Head
from quelea_search.adapters.web.guard import Guard, PinnedBackend, Resolver
from quelea_search.adapters.web.robots import ROBOTS_BYTES, Robots
from quelea_search.core.media_types import ACCEPT, SUFFIXES, UNKNOWN, sniff
from quelea_search.core.web.errors import (
    BadStatus,
    PageGone,
    PageTimeout,
    RefusedAddress,
    RefusedByRobots,
    TooManyRedirects,
    WrongType,
)
from quelea_search.core.web.model import Fetched, Validators
from quelea_search.core.web.urls import WebUrl, canonical, join_url
from quelea_search.web.settings import WebSettings

PAGES_PER_HOST = 2
"""Pages read from one host at once; the others wait within their deadlines."""
ROBOTS_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LONGEST_VALIDATOR = 512
_LONGEST_WAIT = 24 * 3600.0


class Fetcher:
    """Fetches pages of the web; one for each event loop, used by many tasks at once.

    Args:
        settings: Limits, robots, user agent and the test hosts.
        resolver: Says where names lead; the system's own when None.
        dial: Opens connections to literal addresses; real ones when None.
    """

    def __init__(
        self,
        settings: WebSettings,
        *,
        resolver: Resolver | None = None,
        dial: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._settings = settings
        self._guard = Guard(settings, resolver)
        self._exchange = Exchange(PinnedBackend(self._guard, dial), settings.user_agent, settings.page_seconds)
        # Half of a page's time, so that a robots.txt that hangs is told apart from a page that does.
        self._robots = Robots(self._robots_txt, settings.user_agent, settings.robots_seconds, settings.page_seconds / 2)
        self._hosts = _Hosts()

    async def fetch(self, url: str, validators: Validators | None = None) -> Fetched:
        """Read a page.

        Redirects are followed, each checked like the first address; also from https to http, since no secret is sent
        and nothing that a page says is trusted.

        Args:
            url: Address of the page.
            validators: Of the version that the caller has; then the answer may be `not_modified`, without bytes.

        Raises:
            quelea_search.core.web.errors.PageError: Why there is no page; `reason` names the kind.
        """
        try:
            async with asyncio.timeout(self._settings.page_seconds):
                return await self._follow(url, validators)
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise PageTimeout(
                f"The page did not load within {self._settings.page_seconds:g} seconds (page_seconds)."
            ) from error

    async def close(self) -> None:
        """Close the connections and the resolver."""
        await self._exchange.close()
        self._guard.close()

    async def _follow(self, url: str, validators: Validators | None) -> Fetched:
        address = self._guard.check(url)
        seen: set[str] = set()
        while True:
            if str(address) in seen:
                raise TooManyRedirects(f"{url} redirects in a loop; it may require cookies, so try it in a browser.")
            seen.add(str(address))
            async with self._hosts.slot(address.host):
                if self._settings.robots:
                    await self._robots.admit(address)
                headers = _headers(validators)
                page = _Page(asked="If-None-Match" in headers or "If-Modified-Since" in headers)
                answer = await self._exchange.get(address, page, headers=headers, limit=self._settings.page_bytes)
            if answer.head.status not in _REDIRECTS:
                return self._fetched(url, address, page, answer)
            if len(seen) > self._settings.page_redirects:
                raise TooManyRedirects(f"{url} redirects more than {self._settings.page_redirects} times.")
            address = self._next(address, answer.head)

    def _next(self, address: WebUrl, head: Head) -> WebUrl:
        location = head.headers.get("location", "")
        if not location:
            raise BadStatus(
                f"{address.host} answered {head.status} without a Location header.",
                details={"status": str(head.status)},
            )
        return self._guard.check(join_url(address, location))

    def _fetched(self, url: str, address: WebUrl, page: _Page, answer: Answer) -> Fetched:
        not_modified = answer.head.status == 304
        return Fetched(
            url=url,
            final_url=str(address),
            canonical_url=canonical(str(address)),
            status=answer.head.status,
            media_type=page.media_type,
            charset=answer.head.charset,
            data=answer.data,
            fetched=time.time(),
            validators=Validators(
                _validator(answer.head.headers.get("etag", "")),
                _validator(answer.head.headers.get("last-modified", "")),
            ),
            not_modified=not_modified,
        )

    async def _robots_txt(self, url: WebUrl) -> Answer:
        address = self._guard.check(url)
        for _ in range(ROBOTS_REDIRECTS + 1):
            answer = await self._exchange.get(
                address,
                _RobotsTxt(),
                headers={"Accept": "text/plain,*/*;q=0.5"},
                limit=ROBOTS_BYTES,
                cut=True,
                whole=True,
            )
            if answer.head.status not in _REDIRECTS or not answer.head.headers.get("location"):
                return answer
            try:
                address = self._next(address, answer.head)
            except RefusedAddress as error:
                raise RefusedByRobots("it redirects to an address that is not allowed") from error
        raise TooManyRedirects(f"it redirects more than {ROBOTS_REDIRECTS} times")


@dataclass(slots=True)
class _Page:
    """Which answers are pages (a Reading)."""

    asked: bool
    """Whether the question had validators, so that 304 is an answer to it."""
    media_type: str = ""

    def wants_body(self, head: Head) -> bool:
        status = head.status
        if status in _REDIRECTS or (status == 304 and self.asked):
            return False
        if status in (404, 410):
            raise PageGone(f"The page is gone (status {status}).", details={"status": str(status)})
        if status not in (200, 203):
            raise BadStatus(
                f"The server answered with status {status}.",
                details={"status": str(status)},
                retry_after=_retry_after(head),
            )
        self.media_type = head.media_type
        if self.media_type not in SUFFIXES and self.media_type not in UNKNOWN:
            raise WrongType(
                f"{self.media_type} is not supported for web pages; HTML, PDF, Markdown and plain text are."
            )
        return True

    def check_start(self, head: Head, start: bytes) -> None:
        self.media_type = sniff(head.media_type, start)
        if not self.media_type:
            raise WrongType("The page has no media type and is neither HTML, PDF nor text.")


class _RobotsTxt:
    """Any answer; only a good one has a body that counts (a Reading)."""

    def wants_body(self, head: Head) -> bool:
        return 200 <= head.status < 300

    def check_start(self, head: Head, start: bytes) -> None:
        """Whatever it is: lines that are no rules are left out by the parser."""


class _Hosts:
    """At most PAGES_PER_HOST pages of one host at once; hosts that nobody reads take no memory."""

    def __init__(self) -> None:
        self._slots: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncIterator[None]:
        semaphore, users = self._slots.get(host, (asyncio.Semaphore(PAGES_PER_HOST), 0))
        self._slots[host] = (semaphore, users + 1)
        try:
            async with semaphore:
                yield
        finally:
            left = self._slots[host][1] - 1
            if left:
                self._slots[host] = (semaphore, left)
            else:
                del self._slots[host]


def _headers(validators: Validators | None) -> dict[str, str]:
    headers = {"Accept": ACCEPT, "Accept-Language": "en,zh;q=0.9,*;q=0.5"}
    if validators is not None:
        if etag := _validator(validators.etag):
            headers["If-None-Match"] = etag
        if modified := _validator(validators.last_modified):
            headers["If-Modified-Since"] = modified
    return headers


def _validator(text: str) -> str:
    """Nothing instead of a validator that could not be sent back."""
    return text if len(text) <= _LONGEST_VALIDATOR and text.isascii() and text.isprintable() else ""


def _retry_after(head: Head) -> float | None:
    said = head.headers.get("retry-after", "")
    return min(float(said), _LONGEST_WAIT) if said.isascii() and said.isdigit() else None
