"""Failures of an OpenAI-compatible endpoint as errors of ours. Messages carry no key and no prompt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
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

_DEFAULT_RETRY_AFTER = 1.0
_TOO_LONG = ("context length", "maximum context", "max_model_len", "maximum model length", "context_length_exceeded")


class GarbageError(Exception):
    """What came is no answer of a chat model: no JSON, of another shape, or without an end."""


def may_pass(error: Exception) -> bool:
    """Another try, here or elsewhere, may succeed."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in {500, 502, 503, 504}
    if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
        return False  # the whole allowance is used up already; a second one would outlive the caller
    return isinstance(error, (openai.APIConnectionError, httpx2.TransportError, GarbageError))


@contextlib.contextmanager
def no_garbage() -> Iterator[None]:
    """What reading another's data raises, as GarbageError."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, LookupError, openai.APIResponseValidationError) as error:
        raise GarbageError(f"{type(error).__name__}") from error


@contextlib.contextmanager
def mapped() -> Iterator[None]:
    """Every failure as a QueleaError."""
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
    except GarbageError as error:
        raise Unavailable(
            "The language model's endpoint sent what is no answer, or one without an end.",
            details={"cause": str(error)},
            retry_after=_DEFAULT_RETRY_AFTER,
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
    reason = _reason(error)
    if is_too_long(error):
        return TooLarge("The prompt is too long for the language model.", details=details)
    if code in {408, 504}:
        return DeadlineExceeded("The language model's endpoint ran out of time.", details=details)
    if 400 <= code < 500:
        return InvalidInput(f"The language model's endpoint refuses the request: {reason[:200]}", details=details)
    return Unavailable("The language model's endpoint failed.", details=details, retry_after=_DEFAULT_RETRY_AFTER)


def is_too_long(error: openai.APIStatusError) -> bool:
    """The endpoint refuses the prompt for its length."""
    reason = _reason(error).lower()
    return error.status_code == 413 or (error.status_code == 400 and any(word in reason for word in _TOO_LONG))


def _reason(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or f"status {error.status_code}")


def _retry_after(value: str | None) -> float:
    """Seconds of a Retry-After header, at most a minute; a date or nothing counts as one second."""
    try:
        return min(60.0, max(0.0, float(value or _DEFAULT_RETRY_AFTER)))
    except ValueError:
        return _DEFAULT_RETRY_AFTER
