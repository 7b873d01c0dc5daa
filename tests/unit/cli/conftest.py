"""A small HTTP server that answers as the gateway does, and records what it was asked."""

from __future__ import annotations

import functools
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import typer.main
from quelea_cli import __main__ as command_line

CITATION = {
    "number": 1, "document_id": "d1", "title": "Apple 10-Q FY2023 Q3", "uri": "upload:a.pdf", "page": 4,
    "published": "2023-08-04", "quote": "Total net sales\n 81,797", "score": 0.9, "start": 10, "end": 33,
    "company": "Apple", "period": "FY2023 Q3",
}  # fmt: skip
ANSWER = {
    "answer": "Total net sales were 81,797 [1].", "citations": [CITATION],
    "further_reading": [{**CITATION, "number": 2, "document_id": "d2", "title": "[b]Other", "page": 2}],
    "route": "local", "as_of": "2026-11-21", "reader": "extractive", "declined": None, "language": "en",
    "checks": [{"name": "quotes_verbatim", "passed": True, "detail": ""}],
    "timings": {"retrieve": 120.4, "generate": 3.0, "total": 130.0},
    "reading": {"text": "Apple · FY2023 Q3", "fallback": "", "companies": ["Apple"], "periods": ["FY2023 Q3"]},
    "notices": [], "model": "", "prompt_version": "",
}  # fmt: skip
PASSAGE = {**CITATION, "text": "Total net sales 81,797", "cosine": 0.88}
DOCUMENT = {
    "id": "d1", "title": "Apple 10-Q", "uri": "upload:a.pdf", "language": "en", "company": "Apple", "ticker": "AAPL",
    "document_type": "10-Q", "period": "FY2023 Q3", "published": "2023-08-04", "pages": 28, "passages": 110,
}  # fmt: skip


class FakeGateway(ThreadingHTTPServer):
    """Set `answer` for the next answers; `seen` has every request as (method, path, query, body)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[tuple[str, str, dict[str, list[str]], bytes]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.canned: dict[str, list[tuple[int, Any]]] = {}
        self.jobs: dict[str, list[dict[str, Any]]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, *answers: tuple[int, Any]) -> None:
        """The next answers for a path; the last one stays."""
        self.canned[path] = list(answers)


class _Handler(BaseHTTPRequestHandler):
    server: FakeGateway

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        self.server.seen.append((self.command, parts.path, parse_qs(parts.query), body))
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        canned = self.server.canned.get(parts.path)
        if canned:
            self._send(*(canned.pop(0) if len(canned) > 1 else canned[0]))
        elif parts.path == "/v1/ask" and "event-stream" in self.headers.get("accept", ""):
            self._stream()
        elif parts.path.startswith("/v1/jobs/"):
            states = self.server.jobs[parts.path.rpartition("/")[2]]
            self._send(200, states.pop(0) if len(states) > 1 else states[0])
        else:
            self._send(*self._usual(parts.path))

    def _usual(self, path: str) -> tuple[int, Any]:
        if path == "/v1/ask":
            return 200, ANSWER
        if path == "/v1/search":
            return 200, {"passages": [PASSAGE], "timings": {"total": 12.0}, "reading": ANSWER["reading"]}
        if path == "/v1/documents":
            if self.command == "POST":
                uploads = [1 for method, seen, *_ in self.server.seen if (method, seen) == ("POST", path)]
                job = f"j{len(uploads)}"
                done = {
                    "id": job,
                    "filename": "f",
                    "state": "succeeded",
                    "progress": {"done": 3, "total": 3},
                    "error": None,
                }
                self.server.jobs.setdefault(job, [{**done, "state": "running", "stage": "index"}, done])
                return 202, {"jobs": [{"id": job, "filename": "f"}], "errors": []}
            return 200, {"documents": [DOCUMENT], "next_page_token": None, "total": 1}
        if path.endswith("/pages/4"):
            return 200, {"text": "Products [1] net\n81,797", "page": 4}
        if path == "/v1/documents/d1":
            return 200, DOCUMENT if self.command == "GET" else {"document_id": "d1", "passages": 110}
        return 404, {"error": {"code": "NOT_FOUND", "message": "There is no such document.", "details": {}}}

    def _send(self, status: int, value: Any) -> None:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if isinstance(value, bytes) else "application/json")
        self.send_header("content-length", str(len(raw)))
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        events = [("started", {"reading": ANSWER["reading"], "evidence": [CITATION], "further_reading": []})]
        events += [("delta", {"text": piece}) for piece in ("Total net sales ", "were 81,797 [1].")]
        for name, data in [*events, ("answer", ANSWER)]:
            self.wfile.write(f": comment\n\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode())

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815  # the standard library's names


@pytest.fixture(autouse=True, scope="session")
def commands_made_once() -> Iterator[None]:
    """Typer makes all hundred commands anew in each call; a process has one, the tests some hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.main.get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run quelea with arguments; returns exit code, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["quelea", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGateway]:
    server = FakeGateway()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    monkeypatch.setenv("QUELEA_URL", server.url)
    monkeypatch.delenv("QUELEA_API_KEY", raising=False)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
