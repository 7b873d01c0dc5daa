"""A chat model behind any OpenAI-compatible endpoint: vLLM is called through this, and hosted services are too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import httpx2
import openai
from prometheus_client import Counter
from pydantic import SecretStr
from quelea_fintext.text import estimate_tokens
from quelea_kit.errors import DeadlineExceeded, QueleaError, Unavailable
from quelea_kit.tls import trusting

from quelea_generator.adapters.answer_bounds import AnswerBounds
from quelea_generator.adapters.bounded_http import HEADERS, bound_response
from quelea_generator.adapters.chunks import read_models, read_piece, read_running_context, read_token_count
from quelea_generator.adapters.endpoint_errors import (
    InvalidReplyError,
    is_too_long,
    map_errors,
    not_listed,
    reading_untrusted,
)
from quelea_generator.adapters.function_calls import (
    FunctionSupport,
    GatheredCalls,
    Wanted,
    is_call_of_probe,
    probe_request,
)
from quelea_generator.adapters.patience import Patience
from quelea_generator.adapters.request_body import (
    SchemaSupport,
    message_params,
    request_body,
    response_format,
    with_schema,
)
from quelea_generator.core.chat.chat_model import NO_FUNCTIONS, ChatPiece, ChatRequest, TokenCount
from quelea_generator.core.chat.prompt import Message

_SHORT_SECONDS = 5.0
"""For a list of models, for a count of tokens, and for what comes after an answer: what takes longer has failed."""
_UNCOUNTED_SECONDS = 60.0
"""After a count that took too long: nobody waits for another one."""

_Opened = tuple[openai.AsyncStream[object], AsyncIterator[object], object]
"""The response, its chunks as they stand in its JSON, and the first of them."""

STOPPED = Counter("quelea_generator_stopped_total", "Answers of a model that were ended here, by why.", ["why"])


class OpenAIEndpoint:
    """ChatModel over HTTP.

    A request is sent once; EnginePool tries again. A 429 carries the endpoint's own Retry-After.

    Args:
        base_url: Up to and with /v1.
        api_key: Sent as a bearer token; empty for an endpoint without keys.
        model: Its name at the endpoint.
        connect_seconds: Longest wait for a connection.
        stall_seconds: Longest silence: before the first token, and between two.
        first_stall_seconds: Longest wait for the first token where that is longer (see Patience).
        environment_proxy: Go through the proxy that the environment names.
        ca: File of the CA that signed the endpoint's certificate; empty: the usual ones.
        extra: Further fields of each request, such as a switch for thinking.
        function_calls: Whether the model is offered functions: after a trial, always, never.
    """

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr,
        model: str,
        *,
        connect_seconds: float = 5.0,
        stall_seconds: float = 60.0,
        first_stall_seconds: float = 0.0,
        environment_proxy: bool = False,
        ca: str = "",
        extra: Mapping[str, Any] = MappingProxyType({}),
        function_calls: Wanted = "probe",
    ) -> None:
        self.model = model
        self.name = str(httpx2.URL(base_url).copy_with(userinfo=b"", query=None, fragment=None))
        self._stall_seconds = stall_seconds
        self._patience = Patience(stall_seconds, first_stall_seconds)
        self._contexts: dict[str, int] = {}
        self._running_context = 0
        self._extra = extra
        self.adapters: tuple[str, ...] = ()
        root = base_url.rstrip("/").removesuffix("/v1")
        self._tokenizer, self._running = root + "/tokenize", root + "/api/ps"
        self._can_count = True
        self._counts_from = 0.0
        self._schemas = SchemaSupport()
        self._functions = FunctionSupport(function_calls, self._probe_functions)
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key.get_secret_value() or "none",
            max_retries=0,
            timeout=openai.Timeout(self._patience.most, connect=connect_seconds),  # whoever asks has a shorter one
            default_headers=HEADERS,
            http_client=openai.DefaultAsyncHttpxClient(
                trust_env=environment_proxy,
                event_hooks={"response": [bound_response]},
                verify=trusting(ca),
                follow_redirects=False,  # prompts and key go to the address that was named, and nowhere else
            ),
        )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Pieces of the answer as the endpoint sends them, ended here when the endpoint finds no end.

        A schema goes along as `response_format`; to an endpoint that refuses that, in the prompt. Where functions are
        asked for and the model calls none, the answer is one piece whose finish says so.
        """
        answer = _Answer(request.max_tokens)
        with map_errors(own_model=request.model == self.model):
            if request.functions and not await self._functions.has(request.model):
                yield ChatPiece(finish=NO_FUNCTIONS)
                return
            response, chunks, chunk = await self._open_for(request)
            try:
                finished = False
                piece = answer.read(chunk)
                while True:
                    finished = finished or bool(piece.finish)
                    if answer.progressed:
                        self._patience.progressed()
                    if answer.stopped and not finished:
                        STOPPED.labels(answer.stopped).inc()
                        yield ChatPiece(piece.text, "length")
                        return
                    if answer.stopped:
                        return  # it goes on after its own end
                    yield piece
                    following = await self._following(chunks, answer, finished=finished)
                    if following is None:
                        break
                    piece = following
                if not finished:
                    raise InvalidReplyError("the stream ended without finish_reason")
            finally:
                # Closing the response closes the connection, and that is how the endpoint learns to stop.
                await response.close()

    async def _following(self, chunks: AsyncIterator[object], answer: _Answer, *, finished: bool) -> ChatPiece | None:
        """The next piece; None at the end. What goes wrong after the answer's own end takes nothing from the answer."""
        try:
            with reading_untrusted():
                async with asyncio.timeout(_SHORT_SECONDS if finished else self._stall_seconds):
                    chunk = await anext(chunks, None)
            return None if chunk is None else answer.read(chunk)
        except (openai.APIError, httpx2.HTTPError, InvalidReplyError, TimeoutError):
            if finished:
                return None
            raise

    async def _probe_functions(self, model: str) -> bool:
        """Whether a model calls a function that it is told to call."""
        request = probe_request(model)
        answer = _Answer(request.max_tokens)
        async with asyncio.timeout(self._patience.most):
            response, chunks, chunk = await self._open(request_body(request))
            try:
                piece: ChatPiece | None = answer.read(chunk)
                while piece is not None and not piece.finish and not answer.stopped:
                    piece = await self._following(chunks, answer, finished=False)
            finally:
                await response.close()
        return piece is not None and is_call_of_probe(piece.calls)

    async def _open_for(self, request: ChatRequest) -> _Opened:
        """As _open; a schema is enforced by the endpoint where it can, else said in the prompt."""
        schema = request.schema
        if schema is None:
            return await self._open(request_body(request))
        in_prompt = request_body(replace(request, messages=with_schema(request.messages, schema)))
        if not self._schemas.may_enforce(schema):
            return await self._open(in_prompt)
        try:
            opened = await self._open(request_body(request, response_format(schema)))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if is_too_long(error):
                raise
        else:
            self._schemas.enforced()
            return opened
        opened = await self._open(in_prompt)
        self._schemas.refused(schema)  # only now: without the schema the request is a good one
        return opened

    async def _open(self, body: dict[str, Any]) -> _Opened:
        """The response and its first chunk."""
        tokens = sum(estimate_tokens(str(message["content"])) for message in body["messages"])
        # The client's own timeout begins again with every byte that comes.
        async with self._patience.first_word(body["model"], tokens):
            return await self._first(body)

    async def _first(self, body: dict[str, Any]) -> _Opened:
        with reading_untrusted():
            try:
                response = await self._post(body)
            except openai.APIConnectionError as error:
                if not isinstance(error.__cause__, httpx2.RemoteProtocolError):
                    raise
                response = await self._post(body)  # it had just closed a connection that was kept
        chunks = aiter(response)
        try:
            with reading_untrusted():
                first = await anext(chunks, None)
            if first is None:
                raise InvalidReplyError("the answer is no stream of events")
            return response, chunks, first
        except BaseException:
            await response.close()
            raise

    async def _post(self, body: dict[str, Any]) -> openai.AsyncStream[object]:
        # chat.completions.create would make objects of each token, which is half of what reading it costs.
        return await self._client.post(
            "/chat/completions",
            cast_to=object,
            body={**self._extra, **body},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )

    async def check(self) -> None:
        """The endpoint answers and lists the model; learns the models' contexts."""
        try:
            with map_errors():
                reply = await self._get("models")
                with reading_untrusted():
                    self._contexts, self.adapters = read_models(reply, self.model)
        except Unavailable:
            self._patience.forget()
            raise
        tagged = f"{self.model}:latest"  # Ollama lists every model with its tag, and answers without this one
        if tagged in self._contexts:
            self._contexts.setdefault(self.model, self._contexts[tagged])
        if self.model not in self._contexts:
            raise not_listed(self.model, list(self._contexts))

    async def probe(self) -> None:
        """A completion of one token comes back: the model is loaded and computes."""
        await self.check()
        with map_errors(), reading_untrusted():
            async with asyncio.timeout(self._patience.most):  # the first of a cold engine, as a rule
                reply = await self._client.chat.completions.create(
                    model=self.model, messages=[{"role": "user", "content": "1"}], max_tokens=1, temperature=0
                )
            if not reply.choices[0].finish_reason:
                raise InvalidReplyError("a completion without an end")
        if not self._contexts.get(self.model):
            self._running_context = await self._ask_running()
        self._can_count, self._counts_from = True, 0.0
        self._schemas = SchemaSupport()  # a restarted one may be another version
        self._functions.forget()

    def context(self, model: str) -> int:
        """Tokens that a model's prompt and answer may have together; 0 while it is not known."""
        return self._contexts.get(model) or self._contexts.get(self.model) or self._running_context

    async def _ask_running(self) -> int:
        """The context with which Ollama has loaded the model; 0 where the endpoint is another."""
        try:
            with map_errors(), reading_untrusted():
                return read_running_context((await self._get(self._running)), self.model)
        except QueleaError:
            return 0

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        """Tokens of the messages in the model's own chat template (vLLM's /tokenize).

        None where the endpoint offers no such thing, or fails at it: an estimate has to do then.
        """
        if not self._can_count or time.monotonic() < self._counts_from:
            return None
        try:
            with map_errors(), reading_untrusted():
                async with asyncio.timeout(_SHORT_SECONDS):
                    reply = await self._client.post(
                        self._tokenizer,
                        cast_to=httpx2.Response,
                        body={"model": model, "messages": message_params(messages), "add_generation_prompt": True},
                    )
                body = reply.json()
                tokens = read_token_count(body["count"])
                context = read_token_count(body.get("max_model_len")) or self.context(model)
                return TokenCount(tokens, context) if tokens else None
        except DeadlineExceeded:
            self._counts_from = time.monotonic() + _UNCOUNTED_SECONDS
            return None
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
        with reading_untrusted():
            async with asyncio.timeout(_SHORT_SECONDS):
                reply = await self._client.get(path, cast_to=httpx2.Response)
            return reply.json()


class _Answer:
    """The chunks of one answer, read without trust and within bounds.

    Attributes:
        progressed: The last chunk had something.
    """

    def __init__(self, max_tokens: int) -> None:
        self.progressed = False
        self._text, self._arguments = AnswerBounds(max_tokens), AnswerBounds(max_tokens)
        self._calls = GatheredCalls()

    @property
    def stopped(self) -> str:
        """Why it is to be ended; empty while it goes on."""
        return self._text.stopped or self._arguments.stopped

    def read(self, chunk: object) -> ChatPiece:
        """The piece to show of a chunk; calls come with the end. Raises InvalidReplyError."""
        with reading_untrusted():
            piece = read_piece(chunk)
            added = self._calls.feed(chunk)
            calls = self._calls.calls() if piece.finish else ()
        self.progressed = bool(piece.text or added)
        if added:
            self._arguments.feed(added)
        return replace(piece, text=self._text.feed(piece.text), calls=calls)
