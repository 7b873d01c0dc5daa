"""The door's way out: a question to an upstream's answer, within budget, deadline, retries and the allow-list."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import httpcore2

from quelea_search.adapters.web.exchange import Answer as Raw
from quelea_search.adapters.web.exchange import Exchange, Head
from quelea_search.adapters.web.guard import Guard, PinnedBackend, Resolver
from quelea_search.core.web.errors import BadUrl, FetchFailed, PageTooLarge, RefusedAddress
from quelea_search.core.web.failover import Breaker
from quelea_search.core.web.urls import WebUrl, join_url
from quelea_search.door.core.budget import CallSlots, TokenBucket
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.headers import CROSS_HOST_SECRETS, inward
from quelea_search.door.core.hosts import HostRule, HostTable
from quelea_search.door.core.model import Answer, Question, Refused
from quelea_search.door.settings import DoorSettings

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGAIN = frozenset({429, 500, 502, 503, 504})
_IDEMPOTENT = frozenset({"GET", "HEAD"})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 4.0
_LONGEST_RETRY_AFTER = 10.0
Count = Callable[[str, str, float], None]
"""Told (pattern, outcome, seconds) of every request to an upstream."""


@dataclass(slots=True)
class HostState:
    """How the hosts of one rule fare; since this process began."""

    rule: HostRule
    bucket: TokenBucket
    slots: CallSlots
    breaker: Breaker
    calls: int = 0
    failures: int = 0
    last_ok: float = 0.0
    last_error: float = 0.0
    last_reason: str = ""


@dataclass(slots=True)
class _Body:
    """Which answers have a body that is wanted (a Reading)."""

    method: str
    seen: list[Head] = field(default_factory=list)

    def wants_body(self, head: Head) -> bool:
        return self.method != "HEAD" and head.status not in (204, 304) and not _leads_on(head)

    def check_start(self, head: Head, start: bytes) -> None:
        """Whatever it is: the code asked for it."""


class Upstream:
    """Asks upstreams; one for each event loop.

    Args:
        settings: Limits.
        hosts: The allow-list.
        resolver: Says where names lead; the system's own when None.
        dial: Opens connections to literal addresses; real ones when None.
        count: For the metrics.
    """

    def __init__(
        self,
        settings: DoorSettings,
        hosts: HostTable,
        *,
        resolver: Resolver | None = None,
        dial: httpcore2.AsyncNetworkBackend | None = None,
        count: Count = lambda _pattern, _outcome, _seconds: None,
    ) -> None:
        self._settings = settings
        self._hosts = hosts
        self._count = count
        self._guard = Guard(settings, resolver)
        self._exchange = Exchange(
            PinnedBackend(self._guard, dial), settings.user_agent, settings.read_seconds, settings.connect_seconds
        )
        self._slots = CallSlots(settings.upstream_calls, settings.waiting_calls, "to all hosts")
        self.states = {rule.pattern: self._state(rule) for rule in hosts.rules}

    def _state(self, rule: HostRule) -> HostState:
        settings = self._settings
        return HostState(
            rule,
            TokenBucket(rule.per_minute, rule.burst),
            CallSlots(rule.concurrent, max(8, settings.waiting_calls // 4), f"to {rule.pattern}"),
            Breaker(settings.failures, settings.rest_seconds),
        )

    def check(self, url: WebUrl) -> HostRule:
        """The rule of an address. Raises Refused (403)."""
        rule = self._hosts.find(url)
        if rule is None:
            raise Refused(
                403, "HOST", f"{url.netloc} is not an allowed host; use another source, or "
                "ask the operator to add it (QUELEA_MARKET_EXTRA_HOSTS).",
            )  # fmt: skip
        try:
            self._guard.check(url)
        except RefusedAddress as error:
            raise Refused(403, "ADDRESS", error.message) from error
        return rule

    async def ask(self, question: Question, jar: CookieJar, validators: Mapping[str, str]) -> Answer:
        """An upstream's answer; also one that says that it failed.

        Args:
            question: Checked by `check`.
            jar: Of the session.
            validators: "if-none-match" or "if-modified-since" of the answer that is kept already.

        Raises:
            Refused: There is none: 403, 429, 502 or 504.
        """
        state = self.states[self.check(question.url).pattern]
        seconds = self._settings.call_seconds
        try:
            async with asyncio.timeout(seconds), state.slots.take(), self._slots.take():
                return await self._try(state, question, jar, validators)
        except TimeoutError:
            raise Refused(504, "TIMEOUT", f"{question.url.host} did not answer within {seconds:g} s.") from None

    async def close(self) -> None:
        """Close the connections and the resolver."""
        await self._exchange.close()
        self._guard.close()

    async def _try(self, state: HostState, question: Question, jar: CookieJar, validators: Mapping[str, str]) -> Answer:
        attempts = 1 + (self._settings.retries if question.method in _IDEMPOTENT else 0)
        for left in reversed(range(attempts)):
            try:
                answer = await self._once(state, question, jar, validators)
            except Refused as error:
                if not left or error.reason != "UPSTREAM":
                    raise
                pause = 0.0
            else:
                if not left or answer.status not in _AGAIN:
                    return answer
                pause = _retry_after(answer.headers) or 0.0
                if pause > _LONGEST_RETRY_AFTER:
                    return answer
            backoff = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempts - 1 - left))
            await asyncio.sleep(pause + random.uniform(0.0, backoff))  # noqa: S311  # spreads retries, no secret
        raise AssertionError("the last attempt returns or raises")

    async def _once(
        self, state: HostState, question: Question, jar: CookieJar, validators: Mapping[str, str]
    ) -> Answer:
        away = state.breaker.enter()
        if away:
            raise Refused(
                502, "RESTING", f"{state.rule.pattern} failed recently and is skipped for another {away:.0f} s.",
                retry_after=away,
            )  # fmt: skip
        settled, began = False, time.monotonic()
        try:
            await self._budget(state)
            began = time.monotonic()
            state.calls += 1
            answer = await self._follow(question, jar, validators)
            settled = True
            failed = answer.status in _AGAIN
            self._settle(state, f"status {answer.status}" if failed else "", began, _retry_after(answer.headers))
        except Refused as error:
            if error.reason in ("UPSTREAM", "TIMEOUT"):
                settled = True
                self._settle(state, error.message, began, None)
            raise
        except asyncio.CancelledError:
            # The deadline of the whole call, or the caller has left: only an upstream that was slow is to blame.
            if time.monotonic() - began >= min(self._settings.read_seconds, self._settings.call_seconds / 2):
                settled = True
                self._settle(state, "no answer in time", began, None)
            raise
        else:
            return answer
        finally:
            if not settled:
                state.breaker.abandoned()

    def _settle(self, state: HostState, failure: str, began: float, retry_after: float | None) -> None:
        if failure:
            state.failures += 1
            state.last_error, state.last_reason = time.time(), failure
            state.breaker.failed(retry_after)
        else:
            state.last_ok = time.time()
            state.breaker.succeeded()
        self._count(state.rule.pattern, "failed" if failure else "ok", time.monotonic() - began)

    async def _budget(self, state: HostState) -> None:
        wait = state.bucket.take(self._settings.budget_wait_seconds)
        if wait < 0:
            raise Refused(
                429, "BUDGET", f"The budget of {state.rule.per_minute} calls a minute to {state.rule.pattern} is used "
                f"up for another {-wait:.0f} s.", retry_after=-wait,
            )  # fmt: skip
        await asyncio.sleep(wait)

    async def _follow(self, question: Question, jar: CookieJar, validators: Mapping[str, str]) -> Answer:
        asked = question
        for _ in range(self._settings.redirects + 1):
            raw, cookies = await self._run_exchange(asked, jar, validators)
            if not _leads_on(raw.head):
                headers = inward(raw.head.headers)
                unchanged = raw.head.status == 304 and bool(validators)
                return Answer(raw.head.status, headers, raw.data, str(asked.url), cookies, unchanged)
            asked = await self._next(asked, raw.head)
        raise Refused(502, "REDIRECTS", f"{question.url.host} redirected more than {self._settings.redirects} times.")

    async def _run_exchange(
        self, asked: Question, jar: CookieJar, validators: Mapping[str, str]
    ) -> tuple[Raw, tuple[str, ...]]:
        url, settings = asked.url, self._settings
        headers = {**asked.headers, **validators}
        agent = self.check(url).user_agent
        if agent:
            headers["user-agent"] = agent
        if cookie := jar.header(url, headers.get("cookie", "")):
            headers["cookie"] = cookie
        try:
            raw = await self._exchange.send(
                asked.method,
                url,
                _Body(asked.method),
                headers=headers,
                limit=settings.body_bytes,
                body=asked.body,
                whole=True,
            )
        except RefusedAddress as error:
            raise Refused(403, "ADDRESS", error.message) from error
        except PageTooLarge as error:
            message = f"The answer of {url.host} is larger than {settings.body_bytes:,} bytes; request less data."
            raise Refused(502, "TOO_LARGE", message) from error
        except FetchFailed as error:
            raise Refused(502, "UPSTREAM", error.message) from error
        except httpcore2.TimeoutException as error:
            raise Refused(504, "TIMEOUT", f"{url.host} stopped responding.") from error
        except (httpcore2.ProtocolError, ValueError, UnicodeError) as error:
            raise Refused(502, "UPSTREAM", f"The exchange with {url.host} is not valid HTTP.") from error
        return raw, jar.store(url, raw.head.cookies)

    async def _next(self, asked: Question, head: Head) -> Question:
        try:
            url = join_url(asked.url, head.headers["location"])
        except BadUrl as error:
            raise Refused(502, "REDIRECTS", f"{asked.url.host} redirected to an invalid address.") from error
        rule = self.check(url)
        if url.host != asked.url.host:
            await self._budget(self.states[rule.pattern])
        method, body, headers = asked.method, asked.body, dict(asked.headers)
        if (head.status == 303 and method != "HEAD") or (head.status in (301, 302) and method == "POST"):
            method, body = "GET", b""
            headers.pop("content-type", None)
        if url.host != asked.url.host or (asked.url.scheme, url.scheme) == ("https", "http"):
            headers = {name: value for name, value in headers.items() if name not in CROSS_HOST_SECRETS}
        return replace(asked, method=method, url=url, headers=headers, body=body)


def _leads_on(head: Head) -> bool:
    return head.status in _REDIRECTS and bool(head.headers.get("location"))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    said = headers.get("retry-after", "")
    return float(said[:9]) if said.isascii() and said.isdigit() else None
