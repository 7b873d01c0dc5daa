"""One call of the code: token, allow-list, then bundle, cache or upstream, and a line in the log before the answer."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar

from quelea_kit.logging import get_logger

from quelea_search.core.web.errors import BadUrl
from quelea_search.core.web.urls import WebUrl, parse_url
from quelea_search.door import metrics
from quelea_search.door.adapters.store import Store
from quelea_search.door.core.budget import OneAtATime
from quelea_search.door.core.bundle import LONGEST_URL
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.headers import COOKIE_NAMES, FINAL_URL, cookie_names, cookie_stand_ins, outward
from quelea_search.door.core.hosts import HostRule
from quelea_search.door.core.matching import Match, is_private, match_of, redact, with_callback
from quelea_search.door.core.model import Answer, Call, Question, Recorded, Refused, Source
from quelea_search.door.core.nearest import nearest
from quelea_search.door.core.sessions import Session, Sessions
from quelea_search.door.settings import DoorSettings

log = get_logger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_METHODS = frozenset({"GET", "HEAD", "POST"})
_KEPT_STATUS = frozenset({200, 203})
_STORE_THREADS = 4


class Asks(Protocol):
    """The way out: adapters/upstream.py, or its fake."""

    def check(self, url: WebUrl) -> HostRule:
        """The rule of an address. Raises Refused (403)."""

    async def ask(self, question: Question, jar: CookieJar, validators: Mapping[str, str]) -> Answer:
        """An upstream's answer. Raises Refused."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as it came to the data side."""

    token: str
    upstream: str
    """X-Quelea-Upstream: scheme, host and, if unusual, port."""
    method: str
    target: str
    headers: Iterable[tuple[str, str]]
    body: bytes


@dataclass(frozen=True, slots=True)
class Given:
    """What goes back to the code."""

    call_id: str
    answer: Recorded
    body: bytes
    cookies: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    answer: Recorded
    body: bytes
    source: Source
    cookies: tuple[str, ...] = ()
    scope: str | None = None


class Door:
    """Serves calls.

    Args:
        settings: Limits.
        store: The memory.
        upstream: The way out.
        sessions: Who may call.
    """

    def __init__(self, settings: DoorSettings, store: Store, upstream: Asks, sessions: Sessions) -> None:
        self._settings = settings
        self._store = store
        self._upstream = upstream
        self._sessions = sessions
        self._turns = OneAtATime()
        self._threads = ThreadPoolExecutor(_STORE_THREADS, thread_name_prefix="store")

    async def call(self, asked: Asked) -> Given:
        """Serve one call. Raises Refused; the log has its line in both cases, unless the token is worth nothing."""
        began, now = time.monotonic(), time.time()
        try:
            session = self._sessions.find(asked.token)
        except Refused as error:
            metrics.CALLS.labels(Source.REFUSED.value, error.reason).inc()
            raise
        task = asyncio.current_task()
        if task is not None:
            session.tasks.add(task)
        call = Call(
            secrets.token_hex(8), session.id, session.run_id, session.tenant, asked.method[:16],
            redact(f"{asked.upstream}{asked.target}")[:1000], now, 0.0, 0, "", "", 0, Source.REFUSED, "", 0.0,
        )  # fmt: skip
        try:
            self._sessions.admit(session)
            question = self._question(asked)
            call = replace(call, url=redact(question.url), method=question.method)
            seconds = max(0.001, min(self._sessions.seconds_left(session), self._settings.call_seconds + 5.0))
            try:
                async with asyncio.timeout(seconds), session.slots.take(), self._turn(session, question):
                    found = await self._find(session, question)
                    return await self._give(session, call, question, found, began)
            except TimeoutError:
                raise Refused(504, "TIMEOUT", f"The call did not finish within {seconds:.0f} s.") from None
        except Refused as error:
            await self._refuse(session, call, error, began)
            raise
        finally:
            if task is not None:
                session.tasks.discard(task)

    def _question(self, asked: Asked) -> Question:
        if asked.method not in _METHODS:
            raise Refused(403, "METHOD", f"{asked.method[:16]} is not allowed; use GET, HEAD or POST.")
        if not asked.target.startswith("/"):
            raise Refused(400, "BAD_URL", "The request's target must be a path; the host is in X-Quelea-Upstream.")
        try:
            origin = parse_url(asked.upstream, LONGEST_URL)
            if origin.target != "/" or "#" in asked.upstream or "?" in asked.upstream:
                raise Refused(
                    400, "BAD_URL", "X-Quelea-Upstream must be a scheme and host, such as https://example.com."
                )
            url = parse_url(origin.origin + asked.target, LONGEST_URL)
        except BadUrl as error:
            raise Refused(400, "BAD_URL", error.message) from error
        self._upstream.check(url)
        return Question(asked.method, url, outward(asked.headers), asked.body)

    async def _find(self, session: Session, question: Question) -> _Found:
        match = match_of(question)
        before = _end(session.as_of) if session.as_of else float("inf")
        if session.replay:
            return await self._replay(session, question, match, before)
        scope = session.run_id if is_private(question) else ""
        if session.as_of and session.as_of < datetime.now(UTC).date():
            kept = await self._blocking(self._store.cached, match.key, ("", session.run_id), before)
            if kept is None:
                raise Refused(
                    451, "PINNED", f"The run is pinned to {session.as_of}, and the door has no answer to this call "
                    "from that day or before; use recorded data or another as_of.",
                )  # fmt: skip
            return _Found(kept, await self._blocking(self._store.body, kept.sha256), Source.CACHE)
        return await self._live(session, question, match, scope)

    def _turn(self, session: Session, question: Question) -> AbstractAsyncContextManager[None]:
        """Equal live calls follow one another until the answer is kept: the second finds it in the cache."""
        if session.replay:
            return nullcontext()
        return self._turns.of(f"{session.run_id if is_private(question) else ''} {match_of(question).key}")

    async def _replay(self, session: Session, question: Question, match: Match, before: float) -> _Found:
        kept = await self._blocking(self._store.bundled, match.key, session.bundle_ids, before)
        if not kept:
            near = nearest(match, await self._blocking(self._store.neighbours, session.bundle_ids, question.url.netloc))
            day = f" up to {session.as_of}" if session.as_of else ""
            raise Refused(
                451, "NOT_RECORDED", f"This call was not recorded{day}, and the run can only replay recorded calls. "
                f"{near or f'Nothing of {question.url.host} is recorded.'}",
            )  # fmt: skip
        number = session.served[match.key]
        session.served[match.key] += 1
        # Pinned to a day, the newest answer of it holds; else the answers come in the order of the recorded run.
        answer = max(kept, key=lambda each: each.fetched) if session.as_of else kept[min(number, len(kept) - 1)]
        body = await self._blocking(self._store.body, answer.sha256)
        return _Found(answer, body, Source.BUNDLE, cookie_stand_ins(answer.headers))

    async def _live(self, session: Session, question: Question, match: Match, scope: str) -> _Found:
        rule = self._upstream.check(question.url)
        kept = await self._blocking(self._store.cached, match.key, (scope,), float("inf"))
        if kept is not None and 0 <= time.time() - kept.fetched < rule.fresh_seconds:
            return _Found(kept, await self._blocking(self._store.body, kept.sha256), Source.CACHE)
        if self._store.full:
            message = "The door keeps all that it may (QUELEA_MARKET_DATA_BYTES); try again when other runs have ended."
            raise Refused(429, "FULL", message, retry_after=60.0)
        answer = await self._upstream.ask(question, session.jar, _validators(kept))
        now = time.time()
        if answer.unchanged and kept is not None:
            body = await self._blocking(self._store.body, kept.sha256)
            return _Found(kept.at(now), body, Source.UPSTREAM, answer.cookies, scope)
        headers = dict(answer.headers)
        if answer.url != str(question.url):
            headers[FINAL_URL] = redact(parse_url(answer.url, LONGEST_URL))
        if names := cookie_names(answer.cookies):
            headers[COOKIE_NAMES] = names
        recorded = Recorded(
            match.key, question.method, redact(question.url), match.facts(), now, answer.status, headers,
            hashlib.sha256(answer.body).hexdigest(), len(answer.body),
        )  # fmt: skip
        keep = scope if answer.status in _KEPT_STATUS else None
        return _Found(recorded, answer.body, Source.UPSTREAM, answer.cookies, keep)

    async def _give(self, session: Session, call: Call, question: Question, found: _Found, began: float) -> Given:
        answer, body = found.answer, with_callback(found.body, found.answer.url, str(question.url))
        if body is not found.body:  # the same data under the name that this call gave; the log has what was given
            answer = replace(answer, url=call.url, sha256=hashlib.sha256(body).hexdigest(), bytes=len(body))
        session.bytes += len(body)
        call = replace(
            call, fetched=answer.fetched, status=answer.status, media_type=answer.media_type, sha256=answer.sha256,
            bytes=answer.bytes, source=found.source, milliseconds=(time.monotonic() - began) * 1000,
        )  # fmt: skip
        # A caller who leaves now does not keep the line from being written: what was fetched stays on record.
        await asyncio.shield(self._blocking(self._store.record, call, answer, body, scope=found.scope))
        metrics.CALLS.labels(found.source.value, "").inc()
        metrics.BYTES.inc(len(body))
        return Given(call.id, answer, body, found.cookies)

    async def _refuse(self, session: Session, call: Call, error: Refused, began: float) -> None:
        metrics.CALLS.labels(Source.REFUSED.value, error.reason).inc()
        if error.reason in ("CALLS", "BYTES"):
            if session.full:
                return
            session.full = True
        reason = f"{error.reason}: {error.message}"[:1000]
        line = replace(call, status=error.status, reason=reason, milliseconds=(time.monotonic() - began) * 1000)
        await asyncio.shield(self._blocking(self._store.record, line, None, b""))

    async def _blocking(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, functools.partial(work, *arguments, **named))

    async def close(self) -> None:
        """Let the last lines be written."""
        await asyncio.to_thread(self._threads.shutdown)


def _validators(kept: Recorded | None) -> dict[str, str]:
    if kept is None:
        return {}
    found = {"if-none-match": kept.headers.get("etag", ""), "if-modified-since": kept.headers.get("last-modified", "")}
    return {name: value for name, value in found.items() if value}


def _end(day: date) -> float:
    """The first moment after a day, UTC."""
    return datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC).timestamp()
