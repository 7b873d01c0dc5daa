"""robots.txt (RFC 9309), read with protego and remembered within bounds.

- 2xx: its rules hold. 4xx but 429: there are none. 5xx, 429, no answer, a broken one: nothing is read there for a
  short while (section 2.3.1.4).
- Crawl-delay, which is not in the RFC, is honoured as the least pause between two pages of the same origin as far as a
  page's deadline allows; a longer pause refuses the page and says when to come back, instead of breaking the wish.
- Of a long file the first 500 KiB count, the least that section 2.5 asks for.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpcore2
from protego import Protego

from quelea_search.adapters.web.exchange import Answer
from quelea_search.core.web.errors import BadUrl, FetchFailed, PageError, RefusedAddress, RefusedByRobots
from quelea_search.core.web.urls import WebUrl, parse_url

ROBOTS_BYTES = 500 * 1024
ORIGINS = 1000
"""Files remembered; the ones not asked for longest are forgotten first."""
REMEMBERED_BYTES = 8 * 1024 * 1024
"""Text of all remembered files together: the rules take some times as much."""
LARGE_BYTES = 32 * 1024
"""Beyond it the rules are read in a thread: 25,000 wildcards take a quarter of a second."""
REFUSED_SECONDS = 60.0
"""How long an origin whose robots.txt cannot be had is left alone."""

Get = Callable[[WebUrl], Awaitable[Answer]]
"""Fetches a robots.txt, redirects followed."""


@dataclass(slots=True)
class _Known:
    until: float
    rules: Protego | None
    """None: everything may be read, or nothing when `problem` says why."""
    problem: str = ""
    size: int = 0
    pause: float = 0.0
    free: float = 0.0
    """When the next page may be asked for."""


@dataclass(slots=True)
class _Asking:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Robots:
    """What the sites allow.

    Args:
        get: Fetches a robots.txt.
        agent: Name by which we are known, for example "QueleaBot/0.1"; the part before the slash counts.
        seconds: How long a file is remembered.
        patience: Deadline of fetching one; also the longest pause that is waited for.
        clock: Seconds that only go forward.
    """

    def __init__(
        self, get: Get, agent: str, seconds: float, patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._get = get
        self._agent = agent.split("/", 1)[0].strip()
        self._seconds = seconds
        self._patience = patience
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._bytes = 0
        self._asking: dict[str, _Asking] = {}

    async def admit(self, url: WebUrl) -> None:
        """Return when the page may be asked for, after the pause that its site wants.

        Raises:
            RefusedByRobots: It may not be, or only later (retry_after).
            FetchFailed, RefusedAddress: The host cannot be reached or is not read at all.
        """
        known = await self._of(url)
        if known.problem:
            left = known.until - self._clock()
            raise RefusedByRobots(f"{url.origin}/robots.txt {known.problem}.", retry_after=max(left, 1.0))
        if known.rules is None:
            return
        allowed = (
            await asyncio.to_thread(known.rules.can_fetch, str(url), self._agent)
            if known.size > LARGE_BYTES
            else known.rules.can_fetch(str(url), self._agent)
        )
        if not allowed:
            raise RefusedByRobots(f"{url.origin}/robots.txt does not allow {self._agent} to read this page.")
        await self._pause(known, url)

    async def _pause(self, known: _Known, url: WebUrl) -> None:
        if not known.pause:
            return
        now = self._clock()
        wait = max(known.free - now, 0.0)
        if wait > self._patience:
            raise RefusedByRobots(
                f"{url.origin}/robots.txt asks for {known.pause:g} seconds between two pages.", retry_after=wait
            )
        known.free = now + wait + known.pause
        await asyncio.sleep(wait)

    async def _of(self, url: WebUrl) -> _Known:
        """One fetch at a time for each origin; who waits gets what the first one found."""
        asking = self._asking.setdefault(url.origin, _Asking())
        asking.users += 1
        try:
            async with asking.lock:
                known = self._known.get(url.origin)
                if known is None or known.until <= self._clock():
                    self._remember(url.origin, await self._ask(url))
                    known = self._known[url.origin]
                self._known.move_to_end(url.origin)
                return known
        finally:
            asking.users -= 1
            if not asking.users:
                del self._asking[url.origin]

    async def _ask(self, url: WebUrl) -> _Known:
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._get(parse_url(f"{url.origin}/robots.txt"))
        except (TimeoutError, httpcore2.TimeoutException):
            return self._refuse("did not arrive in time")
        except (RefusedAddress, FetchFailed):
            raise  # the page itself is not to be had either, for the same reason
        except (PageError, BadUrl) as error:
            return self._refuse(f"cannot be read: {error.message.rstrip('.')}")
        status = answer.head.status
        if 400 <= status < 500 and status != 429:
            return _Known(self._clock() + self._seconds, None)
        if not 200 <= status < 300:
            return self._refuse(f"could not be fetched (status {status})")
        rules = await asyncio.to_thread(_parse, answer.data)
        pause = rules.crawl_delay(self._agent) or 0.0
        return _Known(self._clock() + self._seconds, rules, size=len(answer.data), pause=pause)

    def _refuse(self, problem: str) -> _Known:
        return _Known(self._clock() + min(REFUSED_SECONDS, self._seconds), None, problem)

    def _remember(self, origin: str, known: _Known) -> None:
        old = self._known.pop(origin, None)
        if old is not None:
            known.free = old.free
            self._bytes -= old.size
        self._known[origin] = known
        self._bytes += known.size
        while len(self._known) > 1 and (len(self._known) > ORIGINS or self._bytes > REMEMBERED_BYTES):
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.size


def _parse(data: bytes) -> Protego:
    return Protego.parse(data.decode("utf-8", errors="replace").lstrip("\ufeff"))
