"""What passes through the door: a question, its answer, and the line that the log keeps of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from quelea_search.core.web.urls import WebUrl


class Source(StrEnum):
    """Where the bytes of a call came from; as market.proto writes it."""

    UPSTREAM = "upstream"
    CACHE = "cache"
    BUNDLE = "bundle"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Question:
    """One call of the code, checked and without what only concerns the way to the door."""

    method: str
    """ "GET", "HEAD" or "POST"."""
    url: WebUrl
    headers: Mapping[str, str] = field(default_factory=dict)
    """Lower-case names; only those that an upstream may see."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """An upstream's answer, unpacked."""

    status: int
    headers: Mapping[str, str]
    """Lower-case names; those that the code may see."""
    body: bytes
    url: str
    """The last address, after redirects."""
    cookies: tuple[str, ...] = ()
    """Set-Cookie headers of the last address, as the code may see them."""
    unchanged: bool = False
    """304 to a conditional request: the body is the one that is kept."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An answer as the cache, the log and a bundle keep it; the body lies under its hash."""

    key: str
    """Of `Match`: hexadecimal SHA-256."""
    method: str
    url: str
    """As asked, without what `redacted` hides."""
    match: Mapping[str, str]
    """See `Match`."""
    fetched: float
    """Seconds since 1970."""
    status: int
    headers: Mapping[str, str]
    sha256: str
    bytes: int

    @property
    def media_type(self) -> str:
        """Of the Content-Type header, without parameters."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    def at(self, fetched: float) -> Recorded:
        """The same answer, seen to be unchanged at another time."""
        return replace(self, fetched=fetched)


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the attribution log."""

    id: str
    session_id: str
    run_id: str
    tenant: str
    method: str
    url: str
    asked: float
    fetched: float
    status: int
    media_type: str
    sha256: str
    bytes: int
    source: Source
    reason: str
    milliseconds: float


class Refused(Exception):
    """The door does not pass a call on, or has nothing to give back.

    Args:
        status: Of the answer to the code.
        reason: One word in capitals: "TOKEN", "HOST", "BUDGET", "NOT_RECORDED", …
        message: One sentence: what is wrong and what to do.
        retry_after: Seconds.
    """

    def __init__(self, status: int, reason: str, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after

    def body(self) -> dict[str, Any]:
        """As the answer's JSON has it."""
        return {"error": {"code": self.reason, "message": self.message}}
