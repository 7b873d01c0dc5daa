"""A chat model behind any OpenAI-compatible endpoint: vLLM is called through this, and hosted services are too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import ResponseFormat
from prometheus_client import Counter
from pydantic import SecretStr
from quelea_kit.errors import QueleaError, Unavailable
from quelea_kit.tls import trusting

from quelea_generator.adapters.answer_bounds import AnswerBounds
from quelea_generator.adapters.bounded_http import HEADERS, bound_response
from quelea_generator.adapters.endpoint_errors import GarbageError, is_too_long, mapped, may_pass, no_garbage
from quelea_generator.adapters.structured import SchemaSupport, response_format, told
from quelea_generator.core.chat import ChatPiece, Counted, JsonSchema
from quelea_generator.core.prompt import Message

_BACKOFF_SECONDS = 0.2
_SHORT_SECONDS = 5.0
"""For a list of models and for a count of tokens: what takes longer has failed."""

_Opened = tuple[openai.AsyncStream[object], AsyncIterator[object], object]
"""The response, its chunks as they stand in its JSON, and the first of them."""

STOPPED = Counter("quelea_generator_stopped_total", "Answers of a model that were ended here, by why.", ["why"])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request but for its messages."""

    model: str
    max_tokens: int
    temperature: float
    response_format: ResponseFormat | None = None

    def body(self, messages: list[ChatCompletionMessageParam]) -> dict[str, Any]:
        """As the endpoint reads it."""
        return {
            "model": self.model,
            "messages": messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"response_format": self.response_format} if self.response_format else {}),
        }


class OpenAIEndpoint:
    """ChatModel over HTTP.

    A request is tried again only while nothing of the answer has come, and only for failures that may pass: no
    connection, garbage, or a 500, 502, 503, 504. A 429 goes to the caller at once, with the endpoint's own
    Retry-After: the queue that is full is the endpoint's, and waiting here would only hide it.

    Args:
        base_url: Up to and with /v1.
        api_key: Sent as a bearer token; empty for an endpoint without keys.
        model: Its name at the endpoint.
        attempts: Tries in all.
        connect_seconds: Longest wait for a connection.
        stall_seconds: Longest silence: before the first token, and between two.
        environment_proxy: Go through the proxy that the environment names.
        ca: File of the CA that signed the endpoint's certificate; empty: the usual ones.
    """

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr,
        model: str,
        *,
        attempts: int = 3,
        connect_seconds: float = 5.0,
        stall_seconds: float = 60.0,
        environment_proxy: bool = False,
        ca: str = "",
    ) -> None:
        self.model = model
        self.name = str(httpx2.URL(base_url).copy_with(userinfo=b"", query=None, fragment=None))
        self._attempts = attempts
        self._stall_seconds = stall_seconds
        self._contexts: dict[str, int] = {}
        self._tokenizer = base_url.rstrip("/").removesuffix("/v1") + "/tokenize"
        self._can_count = True
        self._schemas = SchemaSupport()
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key.get_secret_value() or "none",
            max_retries=0,
            timeout=openai.Timeout(stall_seconds, connect=connect_seconds),
            default_headers=HEADERS,
            http_client=openai.DefaultAsyncHttpxClient(
                trust_env=environment_proxy, event_hooks={"response": [bound_response]}, verify=trusting(ca)
            ),
        )

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        model: str,
        max_tokens: int,
        temperature: float,
        tenant: str = "",  # one endpoint alone has no queue
        prompt_tokens: int = 0,  # as above
        schema: JsonSchema | None = None,
    ) -> AsyncGenerator[ChatPiece, None]:
        """Pieces of the answer as the endpoint sends them, ended here when the endpoint finds no end.

        A schema goes along as `response_format`; to an endpoint that refuses that, in the prompt.
        """
        bounds = AnswerBounds(max_tokens)
        with mapped():
            asked = _Asked(model, max_tokens, temperature)
            response, chunks, chunk = await self._open_for(messages, asked, schema)
            try:
                finished = False
                while True:
                    with no_garbage():
                        piece = _piece(chunk)
                    finished = finished or bool(piece.finish)
                    shown = bounds.feed(piece.text)
                    if bounds.stopped and not finished:
                        STOPPED.labels(bounds.stopped).inc()
                        yield ChatPiece(shown, "length")
                        return
                    if bounds.stopped:
                        return  # it goes on after its own end
                    yield ChatPiece(shown, piece.finish, piece.prompt_tokens, piece.completion_tokens)
                    with no_garbage():
                        following = await anext(chunks, None)
                    if following is None:
                        break
                    chunk = following
                if not finished:
                    raise GarbageError("the stream ended without finish_reason")
            finally:
                # Closing the response closes the connection, and that is how the endpoint learns to stop.
                await response.close()

    async def _open_for(self, messages: Sequence[Message], asked: _Asked, schema: JsonSchema | None) -> _Opened:
        """As _open; a schema is enforced by the endpoint where it can, else said in the prompt."""
        if schema is None:
            return await self._open(_body(messages), asked)
        if self._schemas.may_enforce(schema):
            try:
                opened = await self._open(_body(messages), replace(asked, response_format=response_format(schema)))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if is_too_long(error):
                    raise
            else:
                self._schemas.enforced()
                return opened
            opened = await self._open(_body(told(messages, schema)), asked)
            self._schemas.refused(schema)  # only now: without the schema the request is a good one
            return opened
        return await self._open(_body(told(messages, schema)), asked)

    async def _open(self, body: list[ChatCompletionMessageParam], asked: _Asked) -> _Opened:
        """The response and its first chunk, after as many tries as are allowed."""
        for attempt in range(1, self._attempts + 1):
            try:
                # chat.completions.create would make objects of each token, which is half of what reading it costs.
                response = await self._client.post(
                    "/chat/completions",
                    cast_to=object,
                    body=asked.body(body),
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
                chunks = aiter(response)
                try:
                    with no_garbage():
                        first = await anext(chunks, None)
                    if first is None:
                        raise GarbageError("the answer is no stream of events")
                    return response, chunks, first
                except BaseException:
                    await response.close()
                    raise
            except (openai.APIError, httpx2.HTTPError, GarbageError) as error:
                if attempt == self._attempts or not may_pass(error):
                    raise
            await asyncio.sleep(_BACKOFF_SECONDS * 2 ** (attempt - 1))
        raise AssertionError("attempts is at least 1")

    async def check(self) -> None:
        """The endpoint answers and lists the model; learns the models' contexts."""
        with mapped():
            reply = await self._get("models")
            with no_garbage():
                listed = {str(one["id"]): one.get("max_model_len") for one in reply["data"]}
        own = listed.get(self.model)
        self._contexts = {name: _whole(size) or _whole(own) for name, size in listed.items()}
        if self.model not in listed:
            raise Unavailable(
                f"The endpoint does not list the model {self.model!r}; it lists {', '.join(listed) or '-'}."
            )

    async def probe(self) -> None:
        """A completion of one token comes back: the model is loaded and computes."""
        await self.check()
        with mapped(), no_garbage():
            reply = await self._client.chat.completions.create(
                model=self.model, messages=[{"role": "user", "content": "1"}], max_tokens=1, temperature=0
            )
            if not reply.choices[0].finish_reason:
                raise GarbageError("a completion without an end")
        self._can_count = True
        self._schemas = SchemaSupport()  # a restarted one may be another version

    def context(self, model: str) -> int:
        """Tokens that a model's prompt and answer may have together; 0 while it is not known."""
        return self._contexts.get(model) or self._contexts.get(self.model, 0)

    async def count(self, messages: Sequence[Message], *, model: str) -> Counted | None:
        """Tokens of the messages in the model's own chat template (vLLM's /tokenize).

        None where the endpoint offers no such thing, or fails at it: an estimate has to do then.
        """
        if not self._can_count:
            return None
        try:
            with mapped(), no_garbage():
                reply = await self._client.post(
                    self._tokenizer,
                    cast_to=httpx2.Response,
                    body={"model": model, "messages": _body(messages), "add_generation_prompt": True},
                    options={"timeout": _SHORT_SECONDS},
                )
                told = reply.json()
                return Counted(int(told["count"]), _whole(told.get("max_model_len")) or self.context(model))
        except QueleaError as error:
            none = error.details.get("endpoint_status") in {"404", "405", "501"} or "cause" in error.details
            if none and model == self.model:  # an unknown model is a 404 too
                self._can_count = False
            return None

    async def refuse_when_full(self, tenant: str) -> None:
        """Never: only the endpoint itself knows."""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _get(self, path: str) -> Any:
        reply = await self._client.get(path, cast_to=httpx2.Response, options={"timeout": _SHORT_SECONDS})
        with no_garbage():
            return reply.json()


def _body(messages: Sequence[Message]) -> list[ChatCompletionMessageParam]:
    return [cast("ChatCompletionMessageParam", {"role": m.role, "content": m.content}) for m in messages]


def _piece(chunk: Any) -> ChatPiece:
    choices, usage = chunk.get("choices"), chunk.get("usage")
    choice = choices[0] if choices else None
    delta = choice.get("delta") if choice else None
    text = (delta.get("content") if delta else None) or ""
    if not isinstance(text, str):
        raise TypeError("content is no text")
    return ChatPiece(
        text=text,
        finish=str(choice.get("finish_reason") or "") if choice else "",
        prompt_tokens=int(usage["prompt_tokens"]) if usage else 0,
        completion_tokens=int(usage["completion_tokens"]) if usage else 0,
    )


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
