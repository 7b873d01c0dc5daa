"""Failures of an OpenAI-compatible endpoint as errors of ours. Messages carry no key and no prompt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import httpx2
import openai
from quelea_kit.errors import (
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    Overloaded,
    QueleaError,
    TooLarge,
    Unavailable,
)

_DEFAULT_RETRY_AFTER = 1.0
BEHIND = {"behind": "engine"}
"""Detail of an error whose cause is not this service but the engine behind it: callers may be told the message."""
_NAMES, _NAME_CHARS = 5, 80
"""Of the models that an endpoint lists, in an error: it must fit a gRPC header."""
_TOO_LONG = ("context length", "maximum context", "max_model_len", "maximum model length", "context_length_exceeded")


class InvalidReplyError(Exception):
    """What came is no answer of a chat model: no JSON, of another shape, or without an end."""


@contextlib.contextmanager
def reading_untrusted() -> Iterator[None]:
    """What reading another's data raises, as GarbageError."""
    try:
        yield
    except (
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
        RecursionError,
        openai.APIResponseValidationError,
    ) as error:
        raise InvalidReplyError(f"{type(error).__name__}") from error


@contextlib.contextmanager
def map_errors(*, own_model: bool = True) -> Iterator[None]:
    """Every failure as a QueleaError.

    Args:
        own_model: The request is for the model of the settings, so that an endpoint that does not know it is at fault,
            and not the caller who named it.
    """
    try:
        yield
    except openai.APIStatusError as error:
        raise _from_status(error, own_model=own_model) from error
    except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError) as error:
        if _is_unreachable(error):
            raise _failure("does not answer: connecting timed out.") from error
        raise DeadlineExceeded("The language model's endpoint sent nothing for too long.", details=BEHIND) from error
    except (openai.APIConnectionError, httpx2.HTTPError) as error:
        raise _failure("does not answer, or broke off its answer.") from error
    except InvalidReplyError as error:
        raise _failure("sent an invalid or incomplete reply.", cause=str(error)) from error
    except openai.APIError as error:  # an error event inside the stream
        raise _failure("reported an error while answering.") from error


def _is_unreachable(error: Exception) -> bool:
    """No connection came about in its time: nothing was asked, as of a machine that is off."""
    return isinstance(error, httpx2.ConnectTimeout) or isinstance(error.__cause__, httpx2.ConnectTimeout)


def not_listed(model: str, names: Sequence[str]) -> Unavailable:
    """The error for an endpoint that serves other models than the one it is there for."""
    shown = ", ".join(plain(name)[:_NAME_CHARS] for name in names[:_NAMES]) or "none"
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return _failure(f"does not list the model {model!r}; it lists {shown}{more}.")


def _failure(how: str, **details: str) -> Unavailable:
    return Unavailable(
        f"The language model's endpoint {how}", details=BEHIND | details, retry_after=_DEFAULT_RETRY_AFTER
    )


def _from_status(error: openai.APIStatusError, *, own_model: bool) -> QueleaError:
    code, details = error.status_code, {"endpoint_status": str(error.status_code)}
    if code == 429:
        return Overloaded(
            "The language model's endpoint is at capacity.",
            details=details,
            retry_after=_retry_after(error.response.headers.get("retry-after")),
        )
    if code in {401, 403}:  # our key, not the caller's
        return _failure("refuses our key. Check QUELEA_GENERATOR_API_KEY.", **details)
    if code == 404 and own_model:
        return _failure(
            "does not know the configured model. Check QUELEA_GENERATOR_MODEL and the address (with /v1).",
            **details,
        )
    if code == 404:
        return NotFound("The language model's endpoint does not know this model.", details=details)
    if 300 <= code < 400:
        return _failure(
            "redirects elsewhere. Set QUELEA_GENERATOR_ENDPOINT to the final address.",
            **details,
        )
    if is_too_long(error):
        return TooLarge("The prompt is too long for the language model.", details=details)
    if code in {408, 504}:
        return DeadlineExceeded("The language model's endpoint timed out.", details=BEHIND | details)
    if 400 <= code < 500:
        return InvalidInput(
            f"The language model's endpoint refuses the request: {_reason(error)[:200]}", details=details
        )
    return _failure("failed.", **details)


def is_too_long(error: openai.APIStatusError) -> bool:
    """The endpoint refuses the prompt for its length."""
    reason = _reason(error).lower()
    return error.status_code == 413 or (error.status_code == 400 and any(word in reason for word in _TOO_LONG))


def _reason(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return plain(str(message or f"status {error.status_code}"))


def plain(text: str) -> str:
    """Another's text in a line that a terminal and a header can show."""
    return "".join(character if character.isprintable() else " " for character in text)


def _retry_after(value: str | None) -> float:
    """Seconds of a Retry-After header, at most a minute; a date or nothing counts as one second."""
    try:
        return min(60.0, max(0.0, float(value or _DEFAULT_RETRY_AFTER)))
    except ValueError:
        return _DEFAULT_RETRY_AFTER
