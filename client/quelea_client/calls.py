"""Each request as a value: how it is sent, whether it may be sent again, how its answer is read. No network here."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
from pydantic import BaseModel, ValidationError

from quelea_client.errors import UnexpectedAnswer, api_error
from quelea_client.models import (
    Accepted,
    Answer,
    Citation,
    Company,
    Comparison,
    Conversation,
    Document,
    Fact,
    Grounding,
    Info,
    Job,
    Page,
    Quotes,
    Rows,
    Run,
    SearchResult,
    Started,
    Statement,
    Uploaded,
    UsageRow,
    WholeConversation,
)

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

PAGE = 1000
"""Items of one page of a list: the most that the gateway gives."""
RUNS = "/v1/agent/runs"
CONVERSATIONS = "/v1/conversations"
FORMATS = {".md": "markdown", ".xlsx": "xlsx", ".docx": "docx", ".pdf": "pdf"}
"""File endings that an answer can be saved under."""


@dataclass(frozen=True)
class UploadProgress:
    """How far a file is."""

    filename: str
    stage: str
    """"sending" (bytes), then the job's own: fetch, parse, chunk, index (pages)."""
    done: int
    total: int


OnProgress = Callable[[UploadProgress], None]


@dataclass(frozen=True)
class Delta:
    """A piece of an answer's text as it is written."""

    text: str


Event = Started | Quotes | Delta | Grounding | Answer
"""What a streamed answer consists of; the last is the Answer."""


@dataclass(frozen=True)
class RunEvent:
    """Something that happened in a run of the agent: state, plan, step, code, output, plot, reflection, answer."""

    name: str
    data: dict[str, Any]
    number: int


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request.

    Args:
        read: Makes the result of a successful answer.
        safe: It may be sent again after a failure in the middle: it changes nothing.
        body: Makes the arguments of the body anew for each try; files that it opens are closed after it.
    """

    method: str
    path: str
    read: Callable[[httpx2.Response], T]
    params: Mapping[str, Any] | None = None
    json: Any = None
    safe: bool = True
    body: Callable[[contextlib.ExitStack], dict[str, Any]] | None = None
    accept: str = "application/json"

    def arguments(self, files: contextlib.ExitStack) -> dict[str, Any]:
        """Of the HTTP library's request."""
        more = self.body(files) if self.body else {"json": self.json} if self.json is not None else {}
        if self.params:
            more["params"] = self.params
        return {**more, "headers": {"Accept": self.accept}}


@dataclass(frozen=True)
class PageOf(Generic[T]):
    """A page of a list."""

    items: list[T]
    next_page_token: str | None


def check_address(url: str) -> tuple[str, bool]:
    """The address without a slash at the end, and whether it is this machine's. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a gateway; use one such as http://127.0.0.1:8080.")
    local = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    return url.rstrip("/"), local


def failure_of(answer: httpx2.Response) -> Exception:
    """The error that a response from 400 up is."""
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


def _record(kind: type[M]) -> Callable[[httpx2.Response], M]:
    def read(answer: httpx2.Response) -> M:
        try:
            return kind.model_validate_json(answer.content)
        except ValidationError as error:
            raise UnexpectedAnswer(
                f"{answer.request.url} does not answer like a Quelea gateway of this client's version: "
                f"{error.error_count()} fields of {kind.__name__} are not as expected, the first at "
                f"{'.'.join(map(str, error.errors()[0]['loc'])) or 'its beginning'}."
            ) from error

    return read


def _page(name: str, kind: type[M]) -> Callable[[httpx2.Response], PageOf[M]]:
    def read(answer: httpx2.Response) -> PageOf[M]:
        try:
            body = answer.json()
            return PageOf([kind.model_validate(one) for one in body[name]], body["next_page_token"])
        except (ValueError, KeyError, TypeError) as error:  # a ValidationError is a ValueError
            raise UnexpectedAnswer(f"{answer.request.url} does not answer like a Quelea gateway: {error}") from error

    return read


def _bytes(answer: httpx2.Response) -> bytes:
    return answer.content


def _nothing(_: httpx2.Response) -> None:
    return None


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is not set, sequences as lists."""
    return {
        name: list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in options.items()
        if value is not None and value not in ("", [], ())
    }


def _query(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in _given(options).items()}


def ask_body(question: str, options: Mapping[str, Any], *, stream: bool = False) -> dict[str, Any]:
    """The body of POST /v1/ask."""
    body = {"question": question, **_given(options)}
    if "filters" in body:
        body["filters"] = _given(body["filters"])
    return {**body, "stream": True} if stream else body


def ask(question: str, options: Mapping[str, Any]) -> Call[Answer]:
    """POST /v1/ask: it changes nothing that another question sees, so it may be sent again, unless it is saved."""
    safe = not options.get("conversation_id")
    return Call("POST", "/v1/ask", _record(Answer), json=ask_body(question, options), safe=safe)


def search(query: str, options: Mapping[str, Any]) -> Call[SearchResult]:
    """POST /v1/search."""
    body = ask_body("", options)
    body.pop("question")
    return Call("POST", "/v1/search", _record(SearchResult), json={"query": query, **body})


def export(answer: Answer, question: str, file_format: str) -> Call[bytes]:
    """POST /v1/export."""
    body = {"question": question or "?", "answer": answer.model_dump(mode="json"), "format": file_format}
    return Call("POST", "/v1/export", _bytes, json=body, accept="*/*")


def format_of(path: str | Path, file_format: str) -> str:
    """The format that is named, else that of the path's ending. Raises ValueError."""
    found = file_format or FORMATS.get(Path(path).suffix.lower(), "")
    if found not in FORMATS.values():
        raise ValueError(
            f"Cannot tell a format from {str(path)!r}; use an ending of {', '.join(FORMATS)}, or name one of "
            f"{', '.join(FORMATS.values())}."
        )
    return found


def companies(token: str) -> Call[PageOf[Company]]:
    """GET /v1/companies."""
    return Call("GET", "/v1/companies", _page("companies", Company), _paging(token))


def facts(filters: Mapping[str, Any], token: str, size: int) -> Call[PageOf[Fact]]:
    """GET /v1/facts."""
    return Call("GET", "/v1/facts", _page("facts", Fact), {**_query(filters), **_paging(token, size)})


def statement(company: str, name: str, options: Mapping[str, Any]) -> Call[Statement]:
    """GET /v1/companies/{company}/statements."""
    path = f"/v1/companies/{quote(company, safe='')}/statements"
    return Call("GET", path, _record(Statement), {"statement": name, **_query(options)})


def statements_workbook(company: str, options: Mapping[str, Any]) -> Call[bytes]:
    """The same as a workbook, with every statement."""
    path = f"/v1/companies/{quote(company, safe='')}/statements"
    return Call("GET", path, _bytes, {"format": "xlsx", **_query(options)}, accept="*/*")


def comparison(companies: Sequence[str], concepts: Sequence[str], options: Mapping[str, Any]) -> Call[Comparison]:
    """GET /v1/comparison."""
    params = {"company": list(companies), "concept": list(concepts), **_query(options)}
    return Call("GET", "/v1/comparison", _record(Comparison), params)


def comparison_workbook(companies: Sequence[str], concepts: Sequence[str], options: Mapping[str, Any]) -> Call[bytes]:
    """The same as a workbook."""
    params = {"company": list(companies), "concept": list(concepts), "format": "xlsx", **_query(options)}
    return Call("GET", "/v1/comparison", _bytes, params, accept="*/*")


def documents(filters: Mapping[str, Any], token: str, size: int) -> Call[PageOf[Document]]:
    """GET /v1/documents."""
    return Call("GET", "/v1/documents", _page("documents", Document), {**_query(filters), **_paging(token, size)})


def document(document_id: str) -> Call[Document]:
    """GET /v1/documents/{id}."""
    return Call("GET", f"/v1/documents/{quote(document_id, safe='')}", _record(Document))


def delete_document(document_id: str, *, forget_quotes: bool) -> Call[None]:
    """DELETE /v1/documents/{id}."""
    params = {"forget_quotes": "true"} if forget_quotes else {}
    return Call("DELETE", f"/v1/documents/{quote(document_id, safe='')}", _nothing, params, safe=False)


def page(document_id: str, number: int) -> Call[Page]:
    """GET /v1/documents/{id}/pages/{n}."""
    return Call("GET", f"/v1/documents/{quote(document_id, safe='')}/pages/{number}", _record(Page))


class _Watched(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, file: BinaryIO, name: str, on_progress: OnProgress) -> None:
        super().__init__()
        self._file = file
        self._name = name
        self._on_progress = on_progress
        self._total = os.fstat(file.fileno()).st_size

    def fileno(self) -> int:
        return self._file.fileno()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._on_progress(UploadProgress(self._name, "sending", self._file.tell(), self._total))
        return data


def upload(
    path: Path, metadata: Mapping[str, Any] | None, on_progress: OnProgress | None, collection: str = ""
) -> Call[Accepted]:
    """POST /v1/documents with one file."""

    def body(files: contextlib.ExitStack) -> dict[str, Any]:
        file: Any = files.enter_context(path.open("rb"))
        if on_progress:
            file = _Watched(file, path.name, on_progress)
        data = {"metadata": json.dumps(dict(metadata))} if metadata else {}
        data |= {"collection": collection} if collection else {}
        return {"files": [("files", (path.name, file, "application/octet-stream"))], "data": data}

    return Call("POST", "/v1/documents", _accepted, safe=False, body=body)


def add_page(url: str, metadata: Mapping[str, Any] | None, collection: str = "") -> Call[Accepted]:
    """POST /v1/documents with a web page's address."""
    body: dict[str, Any] = {"url": url, **({"metadata": dict(metadata)} if metadata else {})}
    body |= {"collection": collection} if collection else {}
    return Call("POST", "/v1/documents", _accepted, json=body, safe=False)


def _accepted(answer: httpx2.Response) -> Accepted:
    taken = _record(Uploaded)(answer)
    if not taken.jobs:
        raise UnexpectedAnswer("The gateway took the document without naming its job.")
    return taken.jobs[0]


def jobs(token: str, size: int) -> Call[PageOf[Job]]:
    """GET /v1/jobs."""
    return Call("GET", "/v1/jobs", _page("jobs", Job), _paging(token, size))


def usage(options: Mapping[str, Any], token: str, size: int) -> Call[PageOf[UsageRow]]:
    """GET /v1/usage."""
    return Call("GET", "/v1/usage", _page("usage", UsageRow), {**_query(options), **_paging(token, size)})


def job(job_id: str) -> Call[Job]:
    """GET /v1/jobs/{id}."""
    return Call("GET", f"/v1/jobs/{quote(job_id, safe='')}", _record(Job))


def start_run(question: str, options: Mapping[str, Any]) -> Call[Run]:
    """POST /v1/agent/runs: each call starts one, so it is not sent again."""
    return Call("POST", RUNS, _record(Run), json={"question": question, **_given(options)}, safe=False)


def runs(token: str, size: int) -> Call[PageOf[Run]]:
    """GET /v1/agent/runs."""
    return Call("GET", RUNS, _page("runs", Run), _paging(token, size))


def run(run_id: str) -> Call[Run]:
    """GET /v1/agent/runs/{id}."""
    return Call("GET", f"{RUNS}/{quote(run_id, safe='')}", _record(Run))


def cancel_run(run_id: str) -> Call[bool]:
    """POST /v1/agent/runs/{id}/cancel."""
    return Call("POST", f"{RUNS}/{quote(run_id, safe='')}/cancel", lambda found: bool(found.json()["cancelled"]))


def delete_run(run_id: str) -> Call[None]:
    """DELETE /v1/agent/runs/{id}."""
    return Call("DELETE", f"{RUNS}/{quote(run_id, safe='')}", _nothing, safe=False)


def run_file(run_id: str, name: str) -> Call[bytes]:
    """A file of a run: notebook, report.pdf, bundle, or what its code made."""
    own = name if name in ("notebook", "report.pdf", "bundle") else f"artifacts/{quote(name, safe='')}"
    return Call("GET", f"{RUNS}/{quote(run_id, safe='')}/{own}", _bytes, accept="*/*")


def conversations(query: str, token: str, size: int) -> Call[PageOf[Conversation]]:
    """GET /v1/conversations."""
    params = {**_query({"query": query}), **_paging(token, size)}
    return Call("GET", CONVERSATIONS, _page("conversations", Conversation), params)


def conversation(conversation_id: str) -> Call[WholeConversation]:
    """GET /v1/conversations/{id}."""
    return Call("GET", f"{CONVERSATIONS}/{quote(conversation_id, safe='')}", _record(WholeConversation))


def create_conversation(title: str) -> Call[Conversation]:
    """POST /v1/conversations: each call makes one, so it is not sent again."""
    return Call("POST", CONVERSATIONS, _record(Conversation), json={"title": title}, safe=False)


def rename_conversation(conversation_id: str, title: str) -> Call[Conversation]:
    """PATCH /v1/conversations/{id}."""
    path = f"{CONVERSATIONS}/{quote(conversation_id, safe='')}"
    return Call("PATCH", path, _record(Conversation), json={"title": title})


def delete_conversation(conversation_id: str) -> Call[None]:
    """DELETE /v1/conversations/{id}."""
    return Call("DELETE", f"{CONVERSATIONS}/{quote(conversation_id, safe='')}", _nothing, safe=False)


def export_conversation(conversation_id: str, path: str | Path, file_format: str) -> Call[bytes]:
    """GET /v1/conversations/{id}/export; JSON where that is named or the path ends with it."""
    as_json = file_format == "json" or (not file_format and Path(path).suffix.lower() == ".json")
    params = {} if as_json else {"format": format_of(path, file_format)}
    return Call("GET", f"{CONVERSATIONS}/{quote(conversation_id, safe='')}/export", _bytes, params, accept="*/*")


def info() -> Call[Info]:
    """GET /v1/info."""
    return Call("GET", "/v1/info", _record(Info))


def _paging(token: str, size: int = PAGE) -> dict[str, Any]:
    return {"page_size": max(1, min(size, PAGE)), **({"page_token": token} if token else {})}


def page_url(base: str, place: Citation | Any) -> str:
    """Where a citation, a passage or an operand opens, with its span marked."""
    address = f"{base}/v1/documents/{quote(place.document_id, safe='')}/pages/{place.page}"
    return f"{address}?start={place.start}&end={place.end}#quote" if place.end else address


def ask_event(name: str, data: Any) -> Event | None:
    """An event of a streamed answer; None of one that this client does not know."""
    if name == "delta":
        return Delta(str(data["text"]))
    kinds: dict[str, type[Started | Quotes | Grounding | Answer]] = {
        "started": Started,
        "quotes": Quotes,
        "verdicts": Grounding,
        "answer": Answer,
    }
    try:
        return kinds[name].model_validate(data) if name in kinds else None
    except ValidationError as error:
        raise UnexpectedAnswer(f"The event {name} of the stream is not as this client expects it: {error}") from error


def event_data(name: str, text: str) -> Any:
    """The JSON of an event. Raises the ApiError that the event `error` carries."""
    data = json.loads(text)
    if name == "error":
        raise api_error(data)
    return data


def collected(found: Iterable[Any]) -> Rows[Any]:
    """What pages brought, as one list."""
    return Rows(found)
