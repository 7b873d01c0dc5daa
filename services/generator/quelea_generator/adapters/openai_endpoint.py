"""A chat model behind any OpenAI-compatible endpoint: vLLM is called through this, and hosted services are too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import Any, cast

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from pydantic import SecretStr
from quelea_kit.errors import (
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    Overloaded,
    PermissionDenied,
    QueleaError,
    TooLarge,
    Unavailable,
)

from quelea_generator.core.chat import ChatPiece
from quelea_generator.core.prompt import Message

_BACKOFF_SECONDS = 0.2
_DEFAULT_RETRY_AFTER = 1.0


class OpenAIEndpoint:
    """ChatModel over HTTP.

    A request is tried again only while nothing of the answer has come, and only for failures that may pass: no
    connection, or a 500, 502, 503, 504. A 429 goes to the caller at once, with the endpoint's own Retry-After: the
    queue that is full is the endpoint's, and waiting here would only hide it.

    Args:
        base_url: Up to and with /v1.
        api_key: Sent as a bearer token; empty for an endpoint without keys.
        model: Its name at the endpoint.
        attempts: Tries in all.
        connect_seconds: Longest wait for a connection.
        stall_seconds: Longest silence: before the first token, and between two.
        environment_proxy: Go through the proxy that the environment names.
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
    ) -> None:
        self.model = model
        self._attempts = attempts
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key.get_secret_value() or "none",
            max_retries=0,
            timeout=openai.Timeout(stall_seconds, connect=connect_seconds),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=environment_proxy),
        )

    async def stream(
        self, messages: Sequence[Message], *, model: str, max_tokens: int, temperature: float
    ) -> AsyncGenerator[ChatPiece, None]:
        """Pieces of the answer as the endpoint sends them."""
        body = [cast("ChatCompletionMessageParam", {"role": m.role, "content": m.content}) for m in messages]
        with _mapped():
            response, chunks, first = await self._open(body, model, max_tokens, temperature)
            try:
                if first is not None:
                    yield _piece(first)
                async for chunk in chunks:
                    yield _piece(chunk)
            finally:
                # Closing the response closes the connection, and that is how the endpoint learns to stop.
                await response.close()

    async def _open(
        self, body: list[ChatCompletionMessageParam], model: str, max_tokens: int, temperature: float
    ) -> tuple[openai.AsyncStream[ChatCompletionChunk], AsyncIterator[ChatCompletionChunk], ChatCompletionChunk | None]:
        """The response and its first chunk, after as many tries as are allowed."""
        for attempt in range(1, self._attempts + 1):
            try:
                response = await self._client.chat.completions.create(
                    model=model,
                    messages=body,
                    max_tokens=max_tokens,
                    temperature=temperature,
                    stream=True,
                    stream_options={"include_usage": True},
                )
                chunks = aiter(response)
                try:
                    return response, chunks, await anext(chunks, None)
                except BaseException:
                    await response.close()
                    raise
            except (openai.APIError, httpx2.HTTPError) as error:
                if attempt == self._attempts or not _may_pass(error):
                    raise
            await asyncio.sleep(_BACKOFF_SECONDS * 2 ** (attempt - 1))
        raise AssertionError("attempts is at least 1")

    async def check(self) -> None:
        """The endpoint answers and lists the model."""
        with _mapped():
            page = await self._client.with_options(timeout=5.0).models.list()
        names = [model.id for model in page.data]
        if self.model not in names:
            raise Unavailable(
                f"The endpoint does not list the model {self.model!r}; it lists {', '.join(names) or '-'}."
            )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _piece(chunk: ChatCompletionChunk) -> ChatPiece:
    choice = chunk.choices[0] if chunk.choices else None
    return ChatPiece(
        text=(choice.delta.content or "") if choice else "",
        finish=(choice.finish_reason or "") if choice else "",
        prompt_tokens=chunk.usage.prompt_tokens if chunk.usage else 0,
        completion_tokens=chunk.usage.completion_tokens if chunk.usage else 0,
    )


def _may_pass(error: Exception) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in {500, 502, 503, 504}
    if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
        return False  # the whole allowance is used up already; a second one would outlive the caller
    return isinstance(error, (openai.APIConnectionError, httpx2.TransportError))


@contextlib.contextmanager
def _mapped() -> Iterator[None]:
    """Failures of the endpoint as errors of ours. Messages carry no key and no prompt."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _from_status(error) from error
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise DeadlineExceeded("The language model's endpoint fell silent for longer than is allowed.") from error
    except (openai.APIConnectionError, httpx2.HTTPError) as error:
        raise Unavailable(
            "The language model's endpoint does not answer, or broke off its answer.", retry_after=_DEFAULT_RETRY_AFTER
        ) from error
    except openai.APIError as error:  # an error event inside the stream
        raise Unavailable("The language model's endpoint reported an error while answering.") from error


def _from_status(error: openai.APIStatusError) -> QueleaError:
    code, details = error.status_code, {"endpoint_status": str(error.status_code)}
    if code == 429:
        return Overloaded(
            "The language model's endpoint has no room now.",
            details=details,
            retry_after=_retry_after(error.response.headers.get("retry-after")),
        )
    if code in {401, 403}:
        return PermissionDenied("The language model's endpoint refuses our key.", details=details)
    if code == 404:
        return NotFound("The language model's endpoint does not know this model.", details=details)
    if code == 413:
        return TooLarge("The prompt is too long for the language model.", details=details)
    if code in {408, 504}:
        return DeadlineExceeded("The language model's endpoint ran out of time.", details=details)
    if 400 <= code < 500:
        return InvalidInput(f"The language model's endpoint refuses the request: {_reason(error)}", details=details)
    return Unavailable("The language model's endpoint failed.", details=details, retry_after=_DEFAULT_RETRY_AFTER)


def _reason(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or f"status {error.status_code}")[:200]


def _retry_after(value: str | None) -> float:
    """Seconds of a Retry-After header, at most a minute; a date or nothing counts as one second."""
    try:
        return min(60.0, max(0.0, float(value or _DEFAULT_RETRY_AFTER)))
    except ValueError:
        return _DEFAULT_RETRY_AFTER
