"""What is wrong when a call cannot be made.

    MarketError                 an HTTP call that could not be made
    ├── NoNetwork               this run has no door, or what was tried is no HTTP
    └── MarketRefused           the door said no; `reason`, `status`, `retry_after`

requests, httpx, urllib and curl_cffi raise their own ConnectionError (URLError) with the same words, from one of these.
"""

from __future__ import annotations

ONLY_HTTP = (
    "This run has no network but the market-data door: use requests, urllib, httpx or curl_cffi for HTTP(S); "
    "other protocols (WebSocket, FTP, raw sockets) lead nowhere."
)


class MarketError(Exception):
    """A call that could not be made. No OSError, so that no library takes it for something worth trying again."""


class NoNetwork(MarketError):
    """There is no way out for this."""


class MarketRefused(MarketError):
    """The door answered, and said no."""

    def __init__(self, message: str, *, reason: str, status: int, retry_after: str | None) -> None:
        super().__init__(message)
        self.reason, self.status, self.retry_after = reason, status, retry_after


class NoRoute(OSError, NoNetwork):
    """For code that waits for an OSError from a socket."""
