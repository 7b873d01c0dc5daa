"""The gateway's REST interface, as the commands use it: JSON, event streams, and errors that say what to do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from quelea_cli.errors import EXIT_FAILED, EXIT_KEY, EXIT_NOT_FOUND, EXIT_UNREACHABLE, CliError

Json = dict[str, Any]

_EXIT_CODES = {401: EXIT_KEY, 403: EXIT_KEY, 404: EXIT_NOT_FOUND, 503: EXIT_UNREACHABLE}
_BUSY_TRIES = 6
_LONGEST_PAUSE = 10.0


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    name: str
    data: Json


class Gateway:
    """A gateway by its URL.

    Args:
        url: For example http://127.0.0.1:8080.
        api_key: Sent as Bearer token when it is not empty.
        transport: For tests.
        seconds: Longest silence of the server.
    """

    def __init__(
        self, url: str, api_key: str = "", *, transport: httpx2.BaseTransport | None = None, seconds: float = 300.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CliError(f"{url!r} is not the address of a gateway; use one such as http://127.0.0.1:8080.", 2)
        self.url = url.rstrip("/")
        local = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
        headers = {"Accept": "application/json"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx2.Client(
            base_url=self.url,
            headers=headers,
            timeout=httpx2.Timeout(seconds, connect=5),
            transport=transport,
            trust_env=not local,  # a proxy of the environment is for the world outside
        )

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def request(self, method: str, path: str, **more: Any) -> Json:
        """One call for JSON; CliError unless it succeeds. A busy server (429) is asked again a few times."""
        answer = self._answered(method, path, **more)
        if not answer.content:
            return {}
        try:
            body = answer.json()
        except ValueError as error:
            raise CliError(f"{self.url} does not answer like a Quelea gateway; check the address.") from error
        return body if isinstance(body, dict) else {"items": body}

    def text(self, method: str, path: str, **more: Any) -> str:
        """One call for text; CliError unless it succeeds."""
        return self._answered(method, path, **more).text

    def _answered(self, method: str, path: str, **more: Any) -> httpx2.Response:
        for attempt in range(1, _BUSY_TRIES + 1):
            try:
                answer = self._client.request(method, path, **more)
            except httpx2.HTTPError as error:
                raise self._unreachable(error) from error
            if answer.status_code == 429 and attempt < _BUSY_TRIES:
                time.sleep(_pause(answer, attempt))
                continue
            break
        if answer.is_error:
            raise failure(answer)
        return answer

    def download(self, path: str, **more: Any) -> bytes:
        """A file; CliError unless there is one."""
        return self.bytes_of("GET", path, **more)

    def bytes_of(self, method: str, path: str, **more: Any) -> bytes:
        """One call for a file; CliError unless it succeeds."""
        return self._answered(method, path, **more).content

    def events(self, method: str, path: str, **more: Any) -> Iterator[Event]:
        """The events of a stream, until it ends. An event `error` becomes the CliError it describes."""
        headers = {"Accept": "text/event-stream"}
        try:
            with self._client.stream(method, path, headers=headers, **more) as answer:
                if answer.is_error:
                    answer.read()
                    raise failure(answer)
                for sent in httpx2.EventSource(answer):
                    if not sent.data or sent.data == "[DONE]":
                        continue
                    data = json.loads(sent.data)
                    if sent.event == "error":
                        raise _error_of(data, EXIT_FAILED)
                    yield Event(sent.event, data)
        except (httpx2.HTTPError, httpx2.SSEError, ValueError) as error:
            raise self._unreachable(error) from error

    def page_url(self, citation: Json) -> str:
        """Where a citation opens, with its span marked."""
        address = f"{self.url}/v1/documents/{citation['document_id']}/pages/{citation['page']}"
        if citation.get("end"):
            address += f"?start={citation['start']}&end={citation['end']}#quote"
        return address

    def _unreachable(self, error: Exception) -> CliError:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return CliError(
                f"Quelea is not running at {self.url}. Start it with `quelea up`, or set QUELEA_URL.", EXIT_UNREACHABLE
            )
        if isinstance(error, httpx2.TimeoutException):
            return CliError(f"{self.url} did not answer in time; try again later.", EXIT_UNREACHABLE)
        return CliError(f"The connection to {self.url} broke ({error}); try again.", EXIT_UNREACHABLE)


def failure(answer: httpx2.Response) -> CliError:
    """The error that a response describes."""
    code = _EXIT_CODES.get(answer.status_code, EXIT_FAILED)
    try:
        return _error_of(answer.json(), code)
    except (ValueError, AttributeError):
        return CliError(f"{answer.request.url} answered {answer.status_code} {answer.reason_phrase}.", code)


def _error_of(body: Json, code: int) -> CliError:
    error = body["error"] if isinstance(body.get("error"), dict) else body
    message = str(error.get("message") or error.get("code") or "The request failed.")
    if code == EXIT_KEY and "QUELEA_API_KEY" not in message:
        message += " Set QUELEA_API_KEY; `quelea keys create NAME` creates a key."
    return CliError(message, code)


def _pause(answer: httpx2.Response, attempt: int) -> float:
    try:
        wanted = float(answer.headers.get("retry-after", ""))
    except ValueError:
        wanted = 0.5 * 2**attempt
    return min(max(wanted, 0.1), _LONGEST_PAUSE)
