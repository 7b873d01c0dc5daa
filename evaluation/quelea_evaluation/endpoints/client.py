"""JSON over HTTP, asked again where a failure may pass; waits, tries and what is read have limits."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx2

from quelea_evaluation.inputs import BadInput

TRIES = 5
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_MOST_BYTES = 8_000_000
_MOST_PAGES = 10_000
_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504))

Json = dict[str, Any]


class EndpointError(Exception):
    """The endpoint gave nothing; the message is fit for the record.

    Args:
        passing: It may be there later: no try reached anybody who could answer.
        status: Of HTTP, where it refused.
    """

    def __init__(self, message: str, *, passing: bool, status: int = 0) -> None:
        super().__init__(message)
        self.passing = passing
        self.status = status


class _DamagedError(Exception):
    """An answer that is not what it should be; another try may be better."""


STACK = "stack"
"""In place of `MODEL@URL`: the language model that the stack on this machine runs."""


@dataclass(frozen=True)
class Address:
    """Who is meant, read from `MODEL@URL` or from a stack's folder.

    Args:
        model: Its name there.
        url: Up to /v1.
        key: What the stack's own model asks for; empty for others, whose keys come by the environment.
    """

    model: str
    url: str
    key: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        """As it stands in a manifest; a stack's model has another port and key after each start."""
        return f"{self.model}@{STACK if self.key else self.url}"


def read_address(text: str, option: str, home: Path = Path()) -> Address:
    """`MODEL@URL` in its two parts; `stack` is the model that runs in the stack of this home.

    Raises:
        BadInput: It is not of that form, or the stack has no model of its own.
    """
    if text == STACK:
        return _read_stack(home, option)
    model, _, url = text.rpartition("@http")
    if not model or not url.startswith(("://", "s://")):
        raise BadInput(
            f"{option} must be MODEL@URL, for example qwen2.5@http://127.0.0.1:8000/v1, "
            f"quelea@http://127.0.0.1:8080 for Quelea with its retrieval, or stack for the model that the stack on "
            f"this machine runs, got {text!r}"
        )
    try:
        parsed = httpx2.URL(f"http{url}")
    except httpx2.InvalidURL as error:
        raise BadInput(f"{option}: {error}") from error
    if not parsed.host or parsed.userinfo:
        raise BadInput(f"{option}: the URL must name a host, and no user; keys are in the environment")
    return Address(model, f"http{url}".rstrip("/"))


def _read_stack(home: Path, option: str) -> Address:
    """What `quelea up --reader llama` notes for its owner alone: address, name and key of its model."""
    file = home / "run" / "model.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Address(str(found["model"]), str(found["url"]), str(found["key"]))
    except FileNotFoundError as error:
        raise BadInput(
            f"{option} stack: no stack with a language model of its own runs in {home}; start one with "
            "`quelea up --reader llama`, say where it is with --home, or name an endpoint as MODEL@URL"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{option} stack: {file} cannot be read: {error}; start the stack again") from error


class Client:
    """One address; a proxy of the environment is for the world outside this machine.

    Args:
        url: What paths are added to.
        key: Sent as a bearer token when it is not empty.
        seconds: Deadline of one try.

    Raises:
        EndpointError: The URL is none.
    """

    def __init__(self, url: str, key: str = "", seconds: float = 300.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EndpointError(f"{url} is no address; use one such as http://127.0.0.1:8000/v1", passing=False)
        local = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
        self.url = url.rstrip("/")
        self._seconds = seconds
        self._spread = random.Random(0)  # noqa: S311  spreads tries over time, guards nothing
        self._http = httpx2.AsyncClient(
            headers={"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=httpx2.Timeout(seconds, connect=min(seconds, 10)),
            trust_env=not local,
        )

    async def get(self, path: str) -> Json:
        """The JSON object of a GET.

        Raises:
            EndpointError: It could not be reached, or answered with an error or with something that is no JSON object.
        """
        return (await self._ask("GET", path, None))[0]

    async def each(self, path: str, field: str, page_size: int) -> AsyncIterator[Json]:
        """Every item of a list that a gateway gives a page at a time, under `field`.

        Raises:
            EndpointError: See `get`; also where the answer is no such list, or does not end.
        """
        token = ""
        for _ in range(_MOST_PAGES):
            more = f"&page_token={quote(token, safe='')}" if token else ""
            found = await self.get(f"{path}?page_size={page_size}{more}")
            if not isinstance(found.get(field), list):
                raise EndpointError(f"{self.url}{path} answered without {field}: is it a gateway?", passing=False)
            for one in found[field]:
                yield one
            token = found.get("next_page_token") or ""
            if not token:
                return
        raise EndpointError(f"{self.url}{path} has more than {_MOST_PAGES:,} pages", passing=False)

    async def post(self, path: str, body: Mapping[str, Any]) -> tuple[Json, int]:
        """The JSON object of a POST, and the number of tries.

        Raises:
            EndpointError: See `get`.
        """
        return await self._ask("POST", path, body)

    async def ask(self, body: Mapping[str, Any]) -> tuple[Json, int]:
        """The answer of a gateway to `POST /v1/ask`, and the number of tries.

        Raises:
            EndpointError: See `get`; also where the answer has no text.
        """
        found, tries = await self.post("/v1/ask", body)
        if not isinstance(found.get("answer"), str):
            raise EndpointError(f"{self.url}/v1/ask: the reply has no answer", passing=False)
        return found, tries

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[Json, int]:
        url = self.url + path
        problem, status = "", 0
        for number in range(1, TRIES + 1):
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (number - 1)) * self._spread.uniform(0.8, 1.2)
            status = 0
            try:
                async with asyncio.timeout(self._seconds):
                    status, wait, raw = await self._send(method, url, body)
                if status < 400:  # HTTP's own border
                    return _read_object(raw), number
                problem = f"HTTP {status}: {_message(raw)}"
                if status not in _PASSING:
                    raise EndpointError(f"{url}: {problem}", passing=False, status=status)
                pause = max(pause, min(_LONGEST_PAUSE, wait))
            except TimeoutError:
                problem = f"no answer within {self._seconds:g} s"
            except _DamagedError as error:
                problem = str(error)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                problem = f"{type(error).__name__}: {error}".rstrip(": ")
            if number < TRIES:
                await asyncio.sleep(pause)
        raise EndpointError(f"{url}: {problem} ({TRIES} tries)", passing=True, status=status)

    async def _send(self, method: str, url: str, body: Mapping[str, Any] | None) -> tuple[int, float, bytes]:
        async with self._http.stream(method, url, json=body) as response:
            raw = bytearray()
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > _MOST_BYTES:
                    raise EndpointError(f"{url}: the answer holds more than {_MOST_BYTES:,} bytes", passing=False)
            return response.status_code, _seconds(response.headers.get("retry-after", "")), bytes(raw)

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _read_object(raw: bytes) -> Json:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise _DamagedError(f"the answer is not JSON: {raw[:100].decode(errors='replace')!r}") from error
    if not isinstance(value, dict):
        raise _DamagedError("the answer is no object of JSON")
    return value


def _message(raw: bytes) -> str:
    try:
        return str(json.loads(raw)["error"]["message"])[:300]
    except (ValueError, KeyError, TypeError):
        return raw[:300].decode(errors="replace")


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0
