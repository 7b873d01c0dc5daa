"""A language model behind an OpenAI-shaped address: tested system, simulated user, writer of questions, judge."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quelea_evaluation.endpoints.client import Client, EndpointError, Json

Message = Mapping[str, str]


class Unparseable(ValueError):
    """A reply that is not the JSON it should be."""


@dataclass(frozen=True)
class Sampling:
    """How words are chosen; what the endpoint does not know it passes over."""

    temperature: float = 0.0
    seed: int = 0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0

    def body(self) -> dict[str, float]:
        """As fields of a request; penalties only where there are some."""
        penalties = {"frequency_penalty": self.frequency_penalty, "presence_penalty": self.presence_penalty}
        some = {name: value for name, value in penalties.items() if value}
        return {"temperature": self.temperature, "seed": self.seed, **some}


GREEDY = Sampling()


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
    finish_reason: str = ""
    details: Json = field(default_factory=dict)

    @property
    def prompt_tokens(self) -> int:
        """0 where the endpoint does not count."""
        return self.tokens[0] if self.tokens else 0

    @property
    def completion_tokens(self) -> int:
        """0 where the endpoint does not count."""
        return self.tokens[1] if self.tokens else 0


class Chat:
    """Chat completions of one model; Quelea's own `/v1/chat/completions` is one.

    Args:
        url: The endpoint, with or without /chat/completions: http://127.0.0.1:8000/v1.
        model: Its name there.
        key: Sent as bearer token when it is not empty.
        seconds: Deadline of one try.
        max_tokens: Longest `reply`; 0 leaves it to the endpoint.
    """

    def __init__(self, url: str, model: str, key: str = "", seconds: float = 300.0, *, max_tokens: int = 0) -> None:
        self.name = self.model = model
        self._client = Client(url.rstrip("/").removesuffix("/chat/completions"), key, seconds)
        self._max_tokens = max_tokens
        self._knows_schemas = True

    async def reply(self, messages: Sequence[Message], sampling: Sampling = GREEDY) -> Reply:
        """The next message.

        Raises:
            EndpointError: See `Client.get`; also where the message is empty.
        """
        reply = await self.complete(messages, max_tokens=self._max_tokens, sampling=sampling)
        if not reply.text.strip():
            raise EndpointError(f"the reply is empty (finish_reason {reply.finish_reason!r})", passing=False)
        return reply

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 2048,
        sampling: Sampling = GREEDY,
    ) -> Reply:
        """One reply; with a schema the endpoint is asked for JSON under it (one that refuses is asked without).

        Raises:
            EndpointError: See `Client.get`.
        """
        body: Json = {"model": self.model, "messages": [dict(one) for one in messages], **sampling.body()}
        if max_tokens:
            body["max_tokens"] = max_tokens
        if schema is not None and self._knows_schemas:
            form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
            try:
                return await self._post({**body, "response_format": form})
            except EndpointError as error:
                if error.status != 400:
                    raise
                # 400 may be the schema's or the request's fault: without the schema it shows
        reply = await self._post(body)
        self._knows_schemas = self._knows_schemas and schema is None
        return reply

    async def _post(self, body: Json) -> Reply:
        begun = time.monotonic()
        found, tries = await self._client.post("/chat/completions", body)
        try:
            choice = found["choices"][0]
            text = choice["message"]["content"] or choice["message"].get("refusal") or ""
            finish = choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError) as error:
            raise EndpointError(
                f"{self._client.url}: no chat completion: choices[0].message.content is missing", passing=False
            ) from error
        if not isinstance(text, str):
            raise EndpointError(f"{self._client.url}: no chat completion: content must be a text", passing=False)
        return Reply(
            text,
            _tokens(found.get("usage")),
            milliseconds_since(begun),
            tries,
            str(found.get("model", "")),
            finish if isinstance(finish, str) else "",
        )

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.close()


def milliseconds_since(begun: float) -> float:
    """Of a reading of the monotonic clock, with one digit."""
    return round((time.monotonic() - begun) * 1000, 1)


def _tokens(usage: object) -> tuple[int, int] | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int or prompt < 0 or completion < 0:
        return None
    return prompt, completion


def parse_object(text: str) -> Json:
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
