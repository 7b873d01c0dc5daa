"""One tree of errors, one gRPC code and one HTTP status each.

QueleaError                 INTERNAL             500
├── InvalidInput            INVALID_ARGUMENT     400   the request is wrong; sending it again does not help
│   └── TooLarge            INVALID_ARGUMENT     413   the request is over a limit that the message names
├── Unauthenticated         UNAUTHENTICATED      401   no key, or one that is not known
├── PermissionDenied        PERMISSION_DENIED    403   the key is known and may not do this
├── NotFound                NOT_FOUND            404
├── Conflict                FAILED_PRECONDITION  409   the state does not allow it
├── Unsupported             UNIMPLEMENTED        415   a format or feature that is not offered
├── Overloaded              RESOURCE_EXHAUSTED   429   a queue is full; carries retry_after
│   └── DiskFull            RESOURCE_EXHAUSTED   507   a disk takes nothing new; carries retry_after
├── DeadlineExceeded        DEADLINE_EXCEEDED    504
├── Cancelled               CANCELLED            499   the caller has left
└── Unavailable             UNAVAILABLE          503   a dependency does not answer

A service raises one of these; the kit's server sends it as google.rpc.Status with ErrorInfo, and the kit's client
raises the same class again at the caller. This module needs nothing but the standard library, so that core code may
raise its errors.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "Cancelled",
    "Conflict",
    "DeadlineExceeded",
    "DiskFull",
    "InvalidInput",
    "NotFound",
    "Overloaded",
    "PermissionDenied",
    "QueleaError",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "Unsupported",
    "error_class",
]


class QueleaError(Exception):
    """Base of every error that may cross the wire.

    Args:
        message: One sentence for the caller: what is wrong and what to do.
        details: Facts for programs, for example {"limit": "64"}.
        retry_after: Seconds after which another try may succeed.
    """

    grpc_code: ClassVar[str] = "INTERNAL"
    http_status: ClassVar[int] = 500
    reason: ClassVar[str] = "INTERNAL"

    def __init__(
        self, message: str, *, details: dict[str, str] | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = dict(details or {})
        self.retry_after = retry_after


class InvalidInput(QueleaError):
    """The request is wrong; sending it again does not help."""

    grpc_code = "INVALID_ARGUMENT"
    http_status = 400
    reason = "INVALID_INPUT"


class TooLarge(InvalidInput):
    """The request is over a limit that the message names."""

    http_status = 413
    reason = "TOO_LARGE"


class Unauthenticated(QueleaError):
    """No key, or one that is not known."""

    grpc_code = "UNAUTHENTICATED"
    http_status = 401
    reason = "UNAUTHENTICATED"


class PermissionDenied(QueleaError):
    """The key is known and may not do this."""

    grpc_code = "PERMISSION_DENIED"
    http_status = 403
    reason = "PERMISSION_DENIED"


class NotFound(QueleaError):
    """The thing that was asked for does not exist."""

    grpc_code = "NOT_FOUND"
    http_status = 404
    reason = "NOT_FOUND"


class Conflict(QueleaError):
    """The present state does not allow it."""

    grpc_code = "FAILED_PRECONDITION"
    http_status = 409
    reason = "CONFLICT"


class Unsupported(QueleaError):
    """A format or feature that is not offered."""

    grpc_code = "UNIMPLEMENTED"
    http_status = 415
    reason = "UNSUPPORTED"


class Overloaded(QueleaError):
    """A queue is full; retry_after says when to come back."""

    grpc_code = "RESOURCE_EXHAUSTED"
    http_status = 429
    reason = "OVERLOADED"


class DiskFull(Overloaded):
    """A disk is full, nearly full or read-only, and takes nothing new; what is stored can be read."""

    http_status = 507
    reason = "DISK_FULL"


class DeadlineExceeded(QueleaError):
    """The time that the caller gave is used up."""

    grpc_code = "DEADLINE_EXCEEDED"
    http_status = 504
    reason = "DEADLINE_EXCEEDED"


class Cancelled(QueleaError):
    """The caller has left."""

    grpc_code = "CANCELLED"
    http_status = 499
    reason = "CANCELLED"


class Unavailable(QueleaError):
    """A dependency does not answer."""

    grpc_code = "UNAVAILABLE"
    http_status = 503
    reason = "UNAVAILABLE"


_TREE: tuple[type[QueleaError], ...] = (
    QueleaError,
    InvalidInput,
    TooLarge,
    Unauthenticated,
    PermissionDenied,
    NotFound,
    Conflict,
    Unsupported,
    Overloaded,
    DiskFull,
    DeadlineExceeded,
    Cancelled,
    Unavailable,
)


def error_class(reason: str, grpc_code: str) -> type[QueleaError]:
    """The class for an ErrorInfo reason, else for a gRPC code name, else QueleaError."""
    for cls in _TREE:
        if cls.reason == reason:
            return cls
    for cls in _TREE:
        if cls.grpc_code == grpc_code:
            return cls
    return QueleaError
