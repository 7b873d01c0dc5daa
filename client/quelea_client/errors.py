"""What can go wrong, one class for each way; the message is the server's own where it sent one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class QueleaError(Exception):
    """The root of all."""


class MissingExtra(QueleaError):
    """An optional package is not installed; the message says how to get it."""


class Unreachable(QueleaError):
    """No gateway answers at the address, or the connection broke."""


class NotRunning(Unreachable):
    """Nothing listens at the address."""


class TimedOut(Unreachable):
    """The gateway was silent for longer than `timeout`."""


class UnexpectedAnswer(QueleaError):
    """Something answers at the address that is no Quelea gateway, or one that this client does not understand."""


class JobFailed(QueleaError):
    """A document could not be taken in; the message is the job's reason."""


class ApiError(QueleaError):
    """The gateway refused or failed.

    Args:
        message: Its own sentence: what is wrong and what to do.
        status: HTTP status; 0 of an error inside a stream.
        code: Its name of the error: INVALID_INPUT.
        details: What else it said: the field that is wrong, the evidence that was found.
        retry_after: Seconds after which to try again; None where it said nothing.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details = dict(details or {})
        self.retry_after = retry_after


class InvalidInput(ApiError):
    """The request is not valid (400, 413, 415); `details["field"]` names the field."""


class Unauthenticated(ApiError):
    """The API key is missing, unknown or revoked (401)."""


class PermissionDenied(ApiError):
    """The caller may not do this (403)."""


class NotFound(ApiError):
    """There is no such thing (404)."""


class Conflict(ApiError):
    """Not possible in the current state (409)."""


class RateLimited(ApiError):
    """Too many requests (429); `retry_after` says when to come back."""


class ServerFailed(ApiError):
    """An error inside the gateway (500)."""


class Unavailable(ApiError):
    """A service is away or did not answer in time (502, 503, 504), or a disk is full (507)."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    413: InvalidInput,
    415: InvalidInput,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
    507: Unavailable,
}
_BY_CODE: dict[str, type[ApiError]] = {
    "INVALID_INPUT": InvalidInput,
    "TOO_LARGE": InvalidInput,
    "UNSUPPORTED": InvalidInput,
    "UNAUTHENTICATED": Unauthenticated,
    "PERMISSION_DENIED": PermissionDenied,
    "NOT_FOUND": NotFound,
    "CONFLICT": Conflict,
    "OVERLOADED": RateLimited,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": Unavailable,
    "DISK_FULL": Unavailable,
}


def api_error(body: Any, *, status: int = 0, reason: str = "", retry_after: float | None = None) -> ApiError:
    """The error of a response, or of the event `error` of a stream (no status: its code decides)."""
    said = body.get("error", body) if isinstance(body, dict) else {}
    said = said if isinstance(said, dict) else {"message": str(said)}
    code = str(said.get("code") or "")
    message = str(said.get("message") or code or f"The gateway answered {status} {reason}.".strip())
    fallback = ServerFailed if status >= 500 or not status else ApiError
    kind = _BY_STATUS.get(status) if status else _BY_CODE.get(code)
    details = said.get("details")
    return (kind or fallback)(
        message,
        status=status,
        code=code,
        details=details if isinstance(details, dict) else {},
        retry_after=retry_after,
    )
