"""What the providers that are asked over HTTP share: the protocol, the client, and the reading of a reply.

Their addresses are the operator's own choice, so these calls do not pass the page reader's address checks: a SearXNG
instance usually is at a private address. What comes back is data of strangers all the same: it is bounded, and only
http and https addresses are taken out of it.
"""

from __future__ import annotations

import abc
import email.utils
import functools
import html
import ipaddress
import json
import logging
import re
import ssl
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2
import stamina
from pydantic import SecretStr

from quelea_search.core.metadata.stated_dates import stated_day
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

MAX_REPLY = 2 * 1024 * 1024
"""Bytes of a reply, packed and unpacked: fifty results take a tenth of it."""

_TITLE, _SNIPPET, _URL = 300, 1000, 2000
_TAG = re.compile(r"<[^<>]{0,200}>")
_WAIT, _JITTER = 0.05, 0.2
_SERVER_ERROR = 500
_TOO_MANY = 429
_REFUSED = (401, 403)
_REASONS = {_TOO_MANY: "RATE_LIMITED", **dict.fromkeys(_REFUSED, "KEY_REFUSED")}


class Provider(Protocol):
    """A search provider."""

    @property
    def name(self) -> str:
        """As in the setting web_providers."""

    async def search(self, query: WebQuery) -> list[Result]:
        """Its list for the query, best first, each address once, nothing that says a day after query.as_of.

        Raises:
            ProviderError: It gave no list.
        """

    async def close(self) -> None:
        """Close its connections."""


@dataclass(frozen=True, slots=True, repr=False)
class Ask:
    """One request. It holds the key, so it has no repr."""

    url: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    """Sent as JSON, by POST."""


@functools.cache
def _trusted() -> ssl.SSLContext:
    """The machine's CAs: to read them takes a twentieth of a second, so once for all providers."""
    return ssl.create_default_context()


class HttpProvider(abc.ABC):
    """A provider with a JSON API. A subclass gives `name`, `ask` and `read`.

    Args:
        proxies: Whether HTTPS_PROXY and its like are honoured.
        transport: For tests.
    """

    name = ""
    reasons: Mapping[int, str] = _REASONS
    """HTTP status -> reason."""
    hint = ""
    """Said when the reply is no JSON or is refused: what an operator should look at."""

    def __init__(self, *, proxies: bool = True, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        # httpx2 writes every address, with its parameters, at INFO: one of them may be a key.
        for logger in ("httpx2", "httpcore2"):
            logging.getLogger(logger).setLevel(logging.WARNING)
        self._client = httpx2.AsyncClient(
            trust_env=proxies,
            verify=_trusted(),
            follow_redirects=False,
            timeout=None,  # the caller's deadline (core/web/failover.py) covers the whole call
            headers={"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "Quelea"},
            transport=transport,
        )

    async def search(self, query: WebQuery) -> list[Result]:
        """See Provider."""
        payload = await self._reply(self.ask(query))
        return tidy(self.read(payload, query), query)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @abc.abstractmethod
    def ask(self, query: WebQuery) -> Ask:
        """The request for a query."""

    @abc.abstractmethod
    def read(self, payload: dict[str, Any], query: WebQuery) -> Iterable[Result]:
        """The results of a reply, as they are. Raises ProviderError when it says that there are none to be had."""

    async def _reply(self, ask: Ask) -> dict[str, Any]:
        caller = stamina.AsyncRetryingCaller(
            attempts=2, timeout=None, wait_initial=_WAIT, wait_max=1.0, wait_jitter=_JITTER
        )
        return await caller.on(_worth_another)(self._once, ask)

    async def _once(self, ask: Ask) -> dict[str, Any]:
        return self._payload(*await self._bytes(ask))

    async def _bytes(self, ask: Ask) -> tuple[str, bytes]:
        """Media type and body of a reply of status 200."""
        try:
            async with self._client.stream(
                "GET" if ask.body is None else "POST",
                ask.url,
                params=dict(ask.params),
                headers=dict(ask.headers),
                json=ask.body,
            ) as response:
                self._check(response)
                declared = response.headers.get("content-length", "")
                if declared.isdigit() and int(declared) > MAX_REPLY:
                    raise _too_large()
                packed = bytearray()
                async for piece in response.aiter_raw():
                    packed += piece
                    if len(packed) > MAX_REPLY:
                        raise _too_large()
                media_type = response.headers.get("content-type", "").split(";")[0].strip().lower()
                return media_type, _unpack(bytes(packed), response.headers.get("content-encoding", ""))
        # Nothing of httpx2's errors goes on: their requests hold addresses and headers with keys.
        except httpx2.ConnectError:
            raise ProviderError("CONNECTION", "no connection to it could be made") from None
        except httpx2.HTTPError as error:
            raise ProviderError("CONNECTION", f"the connection broke ({type(error).__name__})") from None
        except (httpx2.InvalidURL, UnicodeError):
            raise ProviderError("BAD_ADDRESS", "its address in the settings is invalid") from None

    def _check(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status == httpx2.codes.OK:
            return
        reason = self.reasons.get(status, "STATUS")
        wait = _retry_after(response.headers.get("retry-after", "")) if reason == "RATE_LIMITED" else None
        hint = f"; {self.hint}" if self.hint and status in _REFUSED else ""
        raise _BadStatus(status, reason, f"it answered with status {status}{hint}", retry_after=wait)

    def _payload(self, media_type: str, data: bytes) -> dict[str, Any]:
        try:
            payload = json.loads(data)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            hint = f"; {self.hint}" if self.hint else ""
            raise ProviderError("NOT_JSON", f"it answered with {media_type[:50] or 'something'}, not with JSON{hint}")
        return payload


class KeyedProvider(HttpProvider):
    """One with an address of its own, asked with a key.

    Args:
        key: The subscription's.
        url: For tests: another address than the provider's own.
        transport: For tests.
    """

    url: str

    def __init__(self, key: SecretStr, *, url: str = "", transport: httpx2.AsyncBaseTransport | None = None) -> None:
        super().__init__(transport=transport)
        self._key = key
        self._url = url or self.url


class _BadStatus(ProviderError):
    def __init__(self, status: int, reason: str, message: str, *, retry_after: float | None) -> None:
        super().__init__(reason, message, retry_after=retry_after)
        self.status = status


def _worth_another(error: Exception) -> bool:
    if isinstance(error, _BadStatus):
        return error.status >= _SERVER_ERROR
    return isinstance(error, ProviderError) and error.reason == "CONNECTION"


def _too_large() -> ProviderError:
    return ProviderError("TOO_LARGE", f"its reply is longer than {MAX_REPLY} bytes")


def _unpack(data: bytes, encoding: str) -> bytes:
    if encoding.strip().lower() in ("", "identity"):
        return data
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    try:
        unpacked = unpacker.decompress(data, MAX_REPLY + 1)
    except zlib.error:
        raise ProviderError("NOT_JSON", "its reply cannot be unpacked") from None
    if len(unpacked) > MAX_REPLY:
        raise _too_large()
    return unpacked


def _retry_after(value: str) -> float | None:
    """Seconds of a Retry-After header: a number, or a date (RFC 9110, 10.2.3)."""
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def inside(url: str) -> bool:
    """Whether an address is on this machine or in the operator's own network, where no proxy leads."""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".svc", ".localdomain"))


def rows(payload: Any, *path: str) -> list[dict[str, Any]]:
    """The objects in the list at a path; an empty list when there is none."""
    for name in path:
        payload = payload.get(name) if isinstance(payload, dict) else None
    return [row for row in payload if isinstance(row, dict)] if isinstance(payload, list) else []


def text_of(row: Mapping[str, Any], *names: str) -> str:
    """The first of the fields that is a text and not empty."""
    return next((value for name in names if isinstance(value := row.get(name), str) and value.strip()), "")


def day_of(today: date, *values: object) -> str:
    """The first value that is a day, as YYYY-MM-DD."""
    return next((day for value in values if value and (day := stated_day(value, today))), "")


def tidy(found: Iterable[Result], query: WebQuery) -> list[Result]:
    """Addresses of the web only, each once; texts without markup and cut; nothing after query.as_of; at most count."""
    until = query.as_of.isoformat()
    kept: dict[str, Result] = {}
    for item in found:
        url = item.url.strip()
        if url in kept or len(url) > _URL or not url.lower().startswith(("http://", "https://")):
            continue
        if any(character.isspace() or not character.isprintable() for character in url):
            continue
        if item.published and item.published > until:
            continue
        kept[url] = Result(url, _plain(item.title, _TITLE), _plain(item.snippet, _SNIPPET), item.published)
        if len(kept) == query.count:
            break
    return list(kept.values())


def _plain(text: str, longest: int) -> str:
    plain = html.unescape(_TAG.sub("", text[: longest * 4]))
    return " ".join("".join(c if c.isprintable() else " " for c in plain).split())[:longest]
