"""What both clients do alike: settings, when a request is sent again, what a failure of the connection is called."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import httpx2

from quelea_client.calls import check_address
from quelea_client.errors import ApiError, QueleaError, TimedOut, Unreachable

DEFAULT_URL = "http://127.0.0.1:8080"
_LONGEST_PAUSE = 30.0
_AGAIN = {429, 502, 503, 504}
MAX_EVENT = 64 * 1024 * 1024
"""Bytes of one server-sent event: an answer with all its evidence."""


@dataclass(frozen=True)
class Connection:
    """How a gateway is reached.

    Args:
        url: Its address; QUELEA_URL, else this machine's usual one, when empty.
        api_key: Sent as bearer token; QUELEA_API_KEY when None.
        timeout: Longest silence of the gateway, in seconds.
        retries: How often a request is sent again, at most.
    """

    url: str
    api_key: str
    timeout: float
    retries: int
    is_local: bool

    @classmethod
    def of(cls, url: str, api_key: str | None, timeout: float, retries: int) -> Connection:
        """From what is given and the environment. Raises ValueError."""
        if timeout <= 0 or retries < 0:
            raise ValueError("timeout must be over 0 and retries 0 or more.")
        address, is_local = check_address(url or os.environ.get("QUELEA_URL") or DEFAULT_URL)
        key = os.environ.get("QUELEA_API_KEY", "") if api_key is None else api_key
        return cls(address, key, timeout, retries, is_local)

    def settings(self) -> dict[str, Any]:
        """Of the HTTP library's client. A proxy of the environment is for the world outside."""
        return {
            "base_url": self.url,
            "headers": {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {},
            "timeout": httpx2.Timeout(self.timeout, connect=min(10.0, self.timeout)),
            "trust_env": not self.is_local,
        }

    def pause(self, error: QueleaError, attempt: int, *, safe: bool) -> float | None:
        """Seconds to wait before the request is sent again; None: the error stands.

        429 was refused before anything was done, so every request may come again; after other failures only one that
        changes nothing.

        Args:
            attempt: How often it was sent.
        """
        if attempt > self.retries:
            return None
        if isinstance(error, ApiError):
            if error.status not in _AGAIN or not (safe or error.status == 429):
                return None
            if error.retry_after is not None:
                return error.retry_after if error.retry_after <= _LONGEST_PAUSE else None
        elif not (safe and isinstance(error, Unreachable)) or isinstance(error, TimedOut):
            return None
        return float(min(0.25 * 2**attempt, _LONGEST_PAUSE))

    def failed(self, error: Exception) -> QueleaError:
        """What a failure of the connection is called."""
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return Unreachable(
                f"No Quelea gateway answers at {self.url}. Start it with `quelea up`, or give url= or QUELEA_URL."
            )
        if isinstance(error, httpx2.TimeoutException):
            return TimedOut(f"{self.url} was silent for {self.timeout:g} s; give a larger timeout= or try again later.")
        return Unreachable(f"The connection to {self.url} broke ({error or type(error).__name__}); try again.")
