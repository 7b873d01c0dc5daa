"""A language model behind an OpenAI-shaped address: the tested system, the writer of questions, a judge."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

_TRIES = 3
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 10.0
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))

Message = Mapping[str, str]


class EndpointError(Exception):
    """The endpoint gave nothing.

    Args:
        passing: It may be there later: it could not be reached, was busy, or took too long.
    """

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


class Unparseable(ValueError):
    """A reply that is not the JSON it should be."""


@dataclass(frozen=True)
class Reply:
    """What a model wrote; tokens are 0 where the endpoint does not say."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def http_client(url: str, key: str, seconds: float, connections: int = 100) -> httpx2.AsyncClient:
    """A client for an address; a proxy of the environment is for the world outside this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointError(f"{url!r} is no address; use one such as http://127.0.0.1:8000/v1", passing=False)
    local = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 10)),
        limits=httpx2.Limits(max_connections=connections),
        trust_env=not local,
    )


async def get_json(http: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    """GET, again where the failure may pass.

    Raises:
        EndpointError: See `post_json`.
    """
    return await _ask(url, lambda: http.get(url, headers={"Accept": "application/json"}), _TRIES)


async def post_json(http: httpx2.AsyncClient, url: str, body: Mapping[str, Any], tries: int = _TRIES) -> dict[str, Any]:
    """POST, again where the failure may pass.

    Raises:
        EndpointError: It could not be reached, or answered with an error or with something that is no JSON object.
    """
    return await _ask(url, lambda: http.post(url, json=dict(body)), tries)


async def _ask(url: str, send: Callable[[], Awaitable[httpx2.Response]], tries: int) -> dict[str, Any]:
    for attempt in range(1, tries + 1):
        try:
            response = await send()
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            failure = EndpointError(f"{url}: {type(error).__name__}: {error}".rstrip(": "), passing=True)
            pause = _FIRST_PAUSE * 2**attempt
        else:
            if response.status_code < 400:  # HTTP's own border
                return _object(url, response)
            passing = response.status_code in _PASSING
            failure = EndpointError(f"{url}: HTTP {response.status_code}: {response.text[:300]}", passing=passing)
            if not passing:
                raise failure
            pause = _FIRST_PAUSE * 2**attempt
            with contextlib.suppress(ValueError):
                pause = float(response.headers.get("retry-after", ""))
        if attempt < tries:
            await asyncio.sleep(min(pause, _LONGEST_PAUSE))
    raise failure


def _object(url: str, response: httpx2.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError as error:
        raise EndpointError(f"{url} answered no JSON: {response.text[:200]!r}", passing=False) from error
    if not isinstance(found, dict):
        raise EndpointError(f"{url} answered {type(found).__name__}, not an object", passing=False)
    return found


class Chat:
    """Chat completions of one model.

    Args:
        url: The endpoint, with or without /chat/completions: http://127.0.0.1:8000/v1.
        model: Its name there.
        key: Sent as bearer token when it is not empty.
        seconds: Deadline of one try.
    """

    def __init__(self, url: str, model: str, key: str = "", seconds: float = 300.0) -> None:
        self.url = url.rstrip("/").removesuffix("/chat/completions")
        self.model = model
        self._http = http_client(self.url, key, seconds)
        self._knows_schemas = True

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 2048,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Reply:
        """One reply; with a schema the endpoint is asked for JSON under it (one that refuses is asked without).

        Raises:
            EndpointError: See `post_json`.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [dict(one) for one in messages],
            "temperature": temperature,
            "seed": seed,
            "max_tokens": max_tokens,
        }
        started = time.perf_counter()
        address = f"{self.url}/chat/completions"
        if schema is not None and self._knows_schemas:
            form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
            try:
                return _reply(address, await post_json(self._http, address, {**body, "response_format": form}), started)
            except EndpointError as error:
                if "HTTP 400" not in str(error):
                    raise
                # 400 may be the schema's or the request's fault: without the schema it shows
        reply = _reply(address, await post_json(self._http, address, body), started)
        self._knows_schemas = self._knows_schemas and schema is None
        return reply

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _reply(url: str, found: dict[str, Any], started: float) -> Reply:
    try:
        choice = found["choices"][0]
        text = choice["message"]["content"]
    except (LookupError, TypeError) as error:
        raise EndpointError(f"{url}: the reply has no choices[0].message.content", passing=False) from error
    usage = found.get("usage") or {}
    return Reply(
        text=text if isinstance(text, str) else "",
        finish_reason=str(choice.get("finish_reason") or ""),
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        seconds=round(time.perf_counter() - started, 3),
    )


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object of a reply: the text itself, or what stands between its first and its last brace.

    Raises:
        Unparseable: There is none.
    """
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1]):
        with contextlib.suppress(ValueError):
            found = json.loads(candidate)
            if isinstance(found, dict):
                return found
    raise Unparseable(f"no JSON object: {text[:200]!r}")
