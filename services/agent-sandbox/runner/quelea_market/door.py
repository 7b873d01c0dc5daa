"""The connection to the door, what it refused, and a whole call for libraries that do not use http.client."""

from __future__ import annotations

import json
import os
import socket
import time
import urllib.parse
from typing import Any

from quelea_market.errors import MarketRefused, NoNetwork

TOKEN, SOCKET, URL = "QUELEA_MARKET_TOKEN", "QUELEA_MARKET_SOCKET", "QUELEA_MARKET_URL"
SECONDS = 120.0
"""Longest wait for a byte where the caller sets no time limit of its own; the door's own limits are shorter."""

_QUEUE_SECONDS = 10.0
_REFUSAL_BYTES = 64 * 1024


def _number(timeout: object) -> float:
    # urllib3 and http.client have marks of their own for "not said".
    return float(timeout) if isinstance(timeout, (int, float)) and timeout > 0 else SECONDS


def token() -> str:
    """The run's right to use the door.

    Raises:
        NoNetwork: the run was started without it.
    """
    found = os.environ.get(TOKEN, "")
    if not found:
        raise NoNetwork("This run has no network: it was started without access to the market-data door.")
    return found


def dial(timeout: object = None) -> socket.socket:
    """A connected socket to the door.

    Raises:
        NoNetwork: no door, or it does not answer.
    """
    token()
    path, url = os.environ.get(SOCKET, ""), os.environ.get(URL, "")
    seconds = _number(timeout)
    try:
        if path:
            door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            door.settimeout(seconds)
            _connect(door, path, seconds)
            return door
        if url:
            parts = urllib.parse.urlsplit(url)
            return socket.create_connection((parts.hostname, parts.port or 80), seconds)
    except OSError as error:
        raise NoNetwork(f"The market-data door does not answer ({error}).") from error
    raise NoNetwork(f"This run has no network: neither {SOCKET} nor {URL} is set.")


def _connect(door: socket.socket, path: str, seconds: float) -> None:
    """Connect; while others fill the door's queue (EAGAIN on a UNIX socket with a time limit), again."""
    end = time.monotonic() + min(seconds, _QUEUE_SECONDS)
    while True:
        try:
            door.connect(path)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


def upstream(scheme: str, host: str, port: int | None) -> str:
    """`https://push2his.eastmoney.com`; the port only where it is unusual."""
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    usual = {"http": 80, "https": 443}[scheme]
    return f"{scheme}://{name}" if port in (None, usual) else f"{scheme}://{name}:{port}"


def check(response: Any, target: str) -> None:
    """Raise what the door refused; an upstream's own 403 or 502 passes.

    Raises:
        MarketRefused: with the door's own words.
    """
    reason = response.headers.get("X-Quelea-Refused") if response.headers else None
    if reason is None:
        return
    body = response.read(_REFUSAL_BYTES)
    try:
        words = str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        words = f"HTTP {response.status}"
    retry_after = response.headers.get("Retry-After")
    later = f"; try again in {retry_after} s" if retry_after else ""
    message = f"The market-data door refused {target}: {words} ({reason}{later})."
    raise MarketRefused(message, reason=reason, status=response.status, retry_after=retry_after)


def exchange(
    method: str, url: str, headers: list[tuple[str, str]], body: bytes | None, timeout: object = None
) -> tuple[int, str, list[tuple[str, str]], bytes]:
    """One call through the door.

    Returns:
        Status, reason, headers as they came, body.

    Raises:
        MarketError: no way out, a refusal, or a URL that is no HTTP.
        OSError: the door hung up or was too slow.
    """
    import http.client  # noqa: PLC0415 - an interpreter that makes no call starts fast

    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NoNetwork(f"This run can only use HTTP(S) through the market-data door, not {url[:200]}.")
    # Patched by hooks: whatever the host, it connects to the door and says where the call is meant to go.
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=_number(timeout))
    left_out = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}
    sent = {name: value for name, value in headers if name.lower() not in left_out}
    target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    try:
        connection.request(method, target if target.startswith("/") else f"/{target}", body=body, headers=sent)
        response = connection.getresponse()
        return response.status, response.reason, response.getheaders(), response.read()
    finally:
        connection.close()


def leads_over_tcp() -> bool:
    """Whether the door is reached by a URL, as in a pod: then names must resolve."""
    return bool(os.environ.get(URL))
