"""Chat models and Quelea itself, over HTTP: the simulated user, the tested system and the judge.

Each is named in one text: `MODEL@http://host:port/v1` is any OpenAI-compatible endpoint; `quelea@http://host:port`,
without `/v1`, is `POST /v1/ask` of a Quelea gateway. Both ways to a gateway retrieve; without retrieval: name its model
where it is served.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx2

from quelea_evaluation.arena.errors import ArenaError
from quelea_evaluation.judging.endpoint import http_client

QUELEA = "quelea"
SECONDS = 200.0
TRIES = 5
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
_MOST_BYTES = 8_000_000
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}

Message = dict[str, str]


@dataclass(frozen=True)
class Sampling:
    """How words are chosen; what the endpoint does not know it passes over."""

    temperature: float
    seed: int
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0

    def body(self) -> dict[str, float]:
        """As fields of a request."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "frequency_penalty": self.frequency_penalty,
            "presence_penalty": self.presence_penalty,
        }


@dataclass
class Reply:
    """A text, and what it took."""

    text: str
    tokens: tuple[int, int] | None = None
    """Of the prompt and of the completion; None where the endpoint does not count."""
    milliseconds: float = 0.0
    tries: int = 1
    model: str = ""
    """As the endpoint calls what answered."""
    details: dict[str, Any] = field(default_factory=dict)


class CallError(Exception):
    """A call that failed in the end; the message is fit for the record.

    Args:
        message: What happened.
        down: No try reached anybody who could answer.
    """

    def __init__(self, message: str, *, down: bool = False) -> None:
        super().__init__(message)
        self.down = down


class Speaker(Protocol):
    """Whoever answers messages."""

    name: str

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The next message.

        Raises:
            CallError: It failed, after all tries.
        """

    async def close(self) -> None:
        """Give the connections back."""


@dataclass(frozen=True)
class Address:
    """Who is meant, read from `MODEL@URL`."""

    model: str
    url: str

    @property
    def text(self) -> str:
        """As it stands in a manifest."""
        return f"{self.model}@{self.url}"


def read_address(text: str, option: str) -> Address:
    """`MODEL@URL` in its two parts.

    Raises:
        ArenaError: It is not of that form.
    """
    model, _, url = text.rpartition("@http")
    if not model or not url.startswith(("://", "s://")):
        raise ArenaError(
            f"{option} must be MODEL@URL, for example qwen2.5@http://127.0.0.1:8000/v1, "
            f"or {QUELEA}@http://127.0.0.1:8080 for Quelea with its retrieval, got {text!r}"
        )
    try:
        parsed = httpx2.URL(f"http{url}")
    except httpx2.InvalidURL as error:
        raise ArenaError(f"{option}: {error}") from error
    if not parsed.host or parsed.userinfo:
        raise ArenaError(f"{option}: the URL must name a host, and no user; keys are in the environment")
    return Address(model, f"http{url}".rstrip("/"))


class _Http:
    """One address, tried again within bounds; what is read is bounded too, which `judging.endpoint` does not do."""

    def __init__(self, url: str, key: str, *, seconds: float, tries: int, first_pause: float) -> None:
        self._client = http_client(url, key, seconds)
        self._seconds = seconds
        self._tries = tries
        self._first_pause = first_pause
        self._spread = random.Random(0)  # noqa: S311  spreads tries over time, guards nothing

    async def post(self, url: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """The JSON object that was answered, and the number of tries.

        Raises:
            CallError: Refused for good, or failed in every try.
        """
        problem = ""
        for number in range(1, self._tries + 1):
            pause = min(_LONGEST_PAUSE, self._first_pause * 2 ** (number - 1)) * self._spread.uniform(0.8, 1.2)
            try:
                async with asyncio.timeout(self._seconds):
                    status, wait, raw = await self._send(url, body)
                if status < 300:
                    return _read_object(raw), number
                problem = f"status {status}: {_message(raw)}"
                if status not in _AGAIN:
                    raise CallError(problem)
                pause = max(pause, min(_LONGEST_PAUSE, wait))
            except TimeoutError:
                problem = f"no answer within {self._seconds:g} s"
            except _DamagedError as error:
                problem = str(error)
            except httpx2.HTTPError as error:
                problem = f"{type(error).__name__}: {error}"
            if number < self._tries:
                await asyncio.sleep(pause)
        raise CallError(f"{problem} ({self._tries} tries)", down=True)

    async def _send(self, url: str, body: Mapping[str, Any]) -> tuple[int, float, bytes]:
        async with self._client.stream("POST", url, json=body) as response:
            raw = bytearray()
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > _MOST_BYTES:
                    raise CallError(f"the answer holds more than {_MOST_BYTES:,} bytes")
            return response.status_code, _seconds(response.headers.get("retry-after", "")), bytes(raw)

    async def close(self) -> None:
        await self._client.aclose()


class ChatEndpoint:
    """A model at an OpenAI-compatible endpoint; Quelea's own `/v1/chat/completions` is one.

    Args:
        address: Model, and the URL up to and with `/v1`.
        key: Sent as a bearer token; empty for none.
        max_tokens: Longest reply; 0 leaves it to the endpoint.
        seconds: For one try.
        tries: How many, at most.
        first_pause: Seconds before the second try; each later pause is twice as long, up to half a minute.
    """

    def __init__(
        self,
        address: Address,
        key: str = "",
        *,
        max_tokens: int = 0,
        seconds: float = SECONDS,
        tries: int = TRIES,
        first_pause: float = _FIRST_PAUSE,
    ) -> None:
        self.name = address.model
        self._address = address
        self._max_tokens = max_tokens
        self._http = _Http(address.url, key, seconds=seconds, tries=tries, first_pause=first_pause)

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The next message; see Speaker."""
        body: dict[str, Any] = {"model": self._address.model, "messages": list(messages), **sampling.body()}
        if self._max_tokens:
            body["max_tokens"] = self._max_tokens
        begun = time.monotonic()
        answer, tries = await self._http.post(f"{self._address.url}/chat/completions", body)
        text, finish = _choice(answer)
        if not text.strip():
            raise CallError(f"the reply is empty (finish_reason {finish!r})")
        return Reply(
            text,
            _usage(answer.get("usage")),
            _since(begun),
            tries,
            str(answer.get("model", "")),
            {"finish_reason": finish} if finish not in ("stop", None) else {},
        )

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.close()


class QueleaEndpoint:
    """`POST /v1/ask` of a gateway: the last message is the question, earlier ones its history.

    A gateway takes no system message, so what the item tells the system is not sent in conversations.
    """

    def __init__(
        self,
        address: Address,
        key: str = "",
        *,
        seconds: float = SECONDS,
        tries: int = TRIES,
        first_pause: float = _FIRST_PAUSE,
    ) -> None:
        self.name = QUELEA
        self._url = address.url
        self._http = _Http(address.url, key, seconds=seconds, tries=tries, first_pause=first_pause)

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The answer's text, with its citations among the details; a declined question is answered so too."""
        del sampling  # a gateway chooses words by its own settings
        turns = [m for m in messages if m["role"] != "system"]
        begun = time.monotonic()
        body = {"question": turns[-1]["content"], "history": turns[:-1]}
        answer, tries = await self._http.post(f"{self._url}/v1/ask", body)
        text = answer.get("answer")
        if not isinstance(text, str) or not text.strip():
            raise CallError("the answer has no text in 'answer'")
        citations = answer.get("citations")
        details = {
            "citations": len(citations) if isinstance(citations, list) else 0,
            **{name: answer[name] for name in ("route", "reader", "model", "declined") if answer.get(name)},
        }
        return Reply(text, None, _since(begun), tries, str(answer.get("reader", "")), details)

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.close()


def connect(address: Address, key: str = "", *, max_tokens: int = 0, seconds: float = SECONDS) -> Speaker:
    """Whoever is at an address."""
    if address.model == QUELEA and not address.url.endswith("/v1"):
        return QueleaEndpoint(address, key, seconds=seconds)
    return ChatEndpoint(address, key, max_tokens=max_tokens, seconds=seconds)


class _DamagedError(Exception):
    """An answer that is not what it should be; another try may be better."""


def _read_object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise _DamagedError(f"the answer is not JSON: {raw[:100].decode(errors='replace')!r}") from error
    if not isinstance(value, dict):
        raise _DamagedError("the answer is no object of JSON")
    return value


def _choice(answer: Mapping[str, Any]) -> tuple[str, str | None]:
    try:
        choice = answer["choices"][0]
        text = choice["message"]["content"] or choice["message"].get("refusal") or ""
        finish = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise CallError("the answer is no chat completion: choices[0].message.content is missing") from error
    if not isinstance(text, str):
        raise CallError("the answer is no chat completion: content must be a text")
    return text, finish if isinstance(finish, str) else None


def _usage(usage: object) -> tuple[int, int] | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int or prompt < 0 or completion < 0:
        return None
    return prompt, completion


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


def _since(begun: float) -> float:
    return round((time.monotonic() - begun) * 1000, 1)
