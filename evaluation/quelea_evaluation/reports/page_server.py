"""A page of ours on loopback, whose scripts send back what a person says: votes, reviewed questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from quelea_evaluation.reports.store import Row

LOOPBACK = "127.0.0.1"
_SECONDS = 30


def fill_page(template: Path, place: str, value: Any) -> str:
    """A page with a value as JSON where `{{place}}` stands, inside a script element."""
    shown = json.dumps(value, ensure_ascii=False)
    # "<" ends a script element early, and U+2028 a line of JavaScript.
    safe = shown.replace("<", "\\u003c").replace("\u2028", "\\u2028")
    return template.read_text(encoding="utf-8").replace(f"{{{{{place}}}}}", safe)


class PageServer(ThreadingHTTPServer):
    """Serves the page on loopback and takes what it sends; `url` says where, `serve_forever` runs it.

    Args:
        page: Gives the page's HTML, at each request.
        path: Where it posts JSON to.
        take: Stores one document and says what is answered; its ValueError is a refusal, its OSError a full disk.
        port: 0 takes a free one.
        most_bytes: Of a document.
    """

    daemon_threads = True

    def __init__(
        self,
        page: Callable[[], str],
        path: str,
        take: Callable[[object], Row],
        port: int = 0,
        most_bytes: int = 4096,
    ) -> None:
        self.page = page
        self.path = path
        self.take = take
        self.most_bytes = most_bytes
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = _SECONDS

    def do_GET(self) -> None:
        if not self._is_ours():
            self._refuse(HTTPStatus.FORBIDDEN, "open the page under the address that the command printed")
        elif self.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "the page is at /")
        else:
            try:
                page = self.server.page()
            except ValueError as error:
                self._refuse(HTTPStatus.CONFLICT, str(error))
            else:
                self._answer(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())

    def do_POST(self) -> None:
        length, most = self.headers.get("content-length", ""), self.server.most_bytes
        if not self._is_ours() or self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.FORBIDDEN, "this takes JSON, from the page itself")
        elif self.path != self.server.path:
            self._refuse(HTTPStatus.NOT_FOUND, f"documents go to {self.server.path}")
        elif not length.isdecimal() or int(length) > most:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a document has a length, of {most} bytes at most")
        else:
            try:
                told = self.server.take(json.loads(self.rfile.read(int(length))))
            except ValueError as error:
                self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            except OSError as error:
                self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, f"cannot be written: {error.strerror}")
            else:
                body = json.dumps(told, ensure_ascii=False).encode()
                self._answer(HTTPStatus.CREATED, "application/json", body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it so
        """Say nothing of each request."""

    def _is_ours(self) -> bool:
        """No page of the web speaks to this server, also not through a name that it made point here."""
        known = {f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")}
        origin = self.headers.get("origin")
        return self.headers.get("host") in known and (origin is None or origin.removeprefix("http://") in known)

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        body = json.dumps({"error": {"code": status.name.lower(), "message": message, "details": {}}}).encode()
        self._answer(status, "application/json", body)

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in (
            ("content-type", kind),
            ("content-length", str(len(body))),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True
