"""How a gateway is reached: settings, when a request is sent again, what failures are called, how answers are read."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
from pydantic import BaseModel, ValidationError

from quelea_client.errors import ApiError, NotRunning, QueleaError, TimedOut, UnexpectedAnswer, Unreachable, api_error
from quelea_client.events import OnProgress, UploadProgress
from quelea_client.views import Rows

M = TypeVar("M", bound=BaseModel)

DEFAULT_URL = "http://127.0.0.1:8080"
PAGE = 1000
"""Items of one page of a list: the most that the gateway gives."""
MAX_EVENT = 64 * 1024 * 1024
"""Bytes of one server-sent event: an answer with all its evidence."""
FORMATS = {".md": "markdown", ".xlsx": "xlsx", ".docx": "docx", ".pdf": "pdf"}
"""File endings that an answer can be saved under."""
_LONGEST_PAUSE = 30.0
_AGAIN = {429, 502, 503, 504}


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
        address = url or os.environ.get("QUELEA_URL") or DEFAULT_URL
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is not the address of a gateway; use one such as {DEFAULT_URL}.")
        is_local = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
        key = os.environ.get("QUELEA_API_KEY", "") if api_key is None else api_key
        return cls(address.rstrip("/"), key, timeout, retries, is_local)

    def settings(self) -> dict[str, Any]:
        """Of the HTTP library's client. A proxy of the environment is for the world outside."""
        return {
            "base_url": self.url,
            "headers": {"Accept": "application/json"}
            | ({"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}),
            "timeout": httpx2.Timeout(self.timeout, connect=min(10.0, self.timeout)),
            "trust_env": not self.is_local,
        }

    def pause(self, error: QueleaError, attempt: int, *, safe: bool, is_followed: bool = False) -> float | None:
        """Seconds to wait before the request is sent again; None: the error stands.

        429 was refused before anything was done, so every request may come again; after other failures only one that
        changes nothing.

        Args:
            error: What came of it.
            attempt: How often it was sent.
            safe: It changes nothing.
            is_followed: It watches what goes on without it, so that silence and a restart are waited out.
        """
        if attempt > self.retries:
            return None
        if isinstance(error, ApiError):
            if error.status not in _AGAIN or not (safe or error.status == 429):
                return None
            if error.retry_after is not None:
                return error.retry_after if error.retry_after <= _LONGEST_PAUSE else None
        elif not (safe and isinstance(error, Unreachable)) or (isinstance(error, self._lasting) and not is_followed):
            return None
        return float(min(0.25 * 2**attempt, _LONGEST_PAUSE))

    @property
    def _lasting(self) -> tuple[type[Unreachable], ...]:
        """What waiting does not help against; where nothing listens on this machine, nothing will."""
        return (TimedOut, NotRunning) if self.is_local else (TimedOut,)

    def failed(self, error: Exception) -> QueleaError:
        """What a failure of the connection is called."""
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return NotRunning(f"Quelea is not running at {self.url}. Start it with `quelea up`, or set QUELEA_URL.")
        if isinstance(error, httpx2.TimeoutException):
            return TimedOut(f"{self.url} was silent for {self.timeout:g} s; give a larger timeout= or try again later.")
        if isinstance(error, httpx2.SSEError):
            return UnexpectedAnswer(f"{self.url} does not stream events: {error}")
        return Unreachable(f"The connection to {self.url} broke ({error or type(error).__name__}); try again.")


def failure_of(answer: httpx2.Response) -> QueleaError:
    """The error that a response is which is no success."""
    if answer.is_redirect:  # followed, a POST would become a GET; taken for the answer, nothing would have been done
        to = answer.headers.get("location", "another address")
        return UnexpectedAnswer(f"{answer.request.url} sends on to {to}; give the gateway's own address.")
    try:
        body = answer.json()
    except ValueError:
        body = None
    after = answer.headers.get("retry-after", "")
    return api_error(
        body,
        status=answer.status_code,
        reason=answer.reason_phrase,
        retry_after=float(after) if after.isdecimal() else None,
    )


def json_of(answer: httpx2.Response) -> Any:
    """What a response says; None where it has no body. Raises UnexpectedAnswer."""
    if not answer.content:
        return None
    try:
        return answer.json()
    except ValueError as error:
        raise UnexpectedAnswer(
            f"{answer.request.url} does not answer like a Quelea gateway; check the address."
        ) from error


def record(kind: type[M], data: Any, where: str) -> M:
    """An answer as a model. Raises UnexpectedAnswer."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise UnexpectedAnswer(
            f"{where} does not answer like a Quelea gateway of this client's version: {error.error_count()} fields of "
            f"{kind.__name__} are not as expected, the first at "
            f"{'.'.join(map(str, error.errors()[0]['loc'])) or 'its beginning'}."
        ) from error


def records(kind: type[M], found: list[Any], where: str) -> Rows[M]:
    """Items of a list as models. Raises UnexpectedAnswer."""
    return Rows(record(kind, one, where) for one in found)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is not set, sequences as lists."""
    return {
        name: list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in options.items()
        if value is not None and value not in ("", [], ())
    }


def query(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is set, as parameters of an address."""
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in given(options).items()}


def body(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is set, as a body with filters."""
    wanted = given(options)
    return {**wanted, **({"filters": given(wanted["filters"])} if "filters" in wanted else {})}


def route(*parts: str) -> str:
    """ "/v1/documents/a%2Fb" of "documents" and an id."""
    return "/".join(("/v1", *(quote(part, safe="") for part in parts)))


def format_of(path: str | Path, file_format: str) -> str:
    """The format that is named, else that of the path's ending. Raises ValueError."""
    found = file_format or FORMATS.get(Path(path).suffix.lower(), "")
    if found not in FORMATS.values():
        raise ValueError(
            f"Cannot tell a format from {str(path)!r}; use an ending of {', '.join(FORMATS)}, or name one of "
            f"{', '.join(FORMATS.values())}."
        )
    return found


def written(path: str | Path, data: bytes) -> Path:
    """Save bytes; where they are."""
    found = Path(path)
    found.write_bytes(data)
    return found


class WatchedFile(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, file: BinaryIO, name: str, on_progress: OnProgress) -> None:
        super().__init__()
        self._file = file
        self._name = name
        self._on_progress = on_progress
        self._total = os.fstat(file.fileno()).st_size

    def fileno(self) -> int:  # noqa: D102  # as of every file, like those below
        return self._file.fileno()

    def readable(self) -> bool:  # noqa: D102
        return True

    def seekable(self) -> bool:  # noqa: D102
        return True

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: D102
        return self._file.seek(offset, whence)

    def tell(self) -> int:  # noqa: D102
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:  # noqa: D102
        data = self._file.read(size)
        self._on_progress(UploadProgress(self._name, "sending", self._file.tell(), self._total))
        return data
