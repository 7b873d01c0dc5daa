"""The page on which people vote: one file that opens offline, or served on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.votes import Ballot, VoteBox

LOOPBACK = "127.0.0.1"
_MOST_BYTES = 4096
_SECONDS = 30


def write_page(ballot: Ballot, questions: Iterable[dict[str, Any]], *, send: bool) -> str:
    """The whole page, with every dialogue and no name of a system.

    Args:
        ballot: Its id goes along with each vote.
        questions: What is shown of each comparison.
        send: Votes go to the server of the page; else they are kept in the browser and downloaded.
    """
    shown = json.dumps({"id": ballot.id, "send": send, "questions": list(questions)}, ensure_ascii=False)
    template = (Path(__file__).parent / "vote.html").read_text(encoding="utf-8")
    # "<" ends a script element early, and U+2028 a line of JavaScript.
    return template.replace("{{ballot}}", shown.replace("<", "\\u003c").replace("\u2028", "\\u2028"))


class VoteServer(ThreadingHTTPServer):
    """Serves the page on loopback and stores votes; `url` says where, `serve_forever` runs it.

    Args:
        page: The page's HTML.
        box: Where votes go.
        port: 0 takes a free one.
    """

    daemon_threads = True

    def __init__(self, page: str, box: VoteBox, port: int = 0) -> None:
        self.page = page.encode()
        self.box = box
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: VoteServer
    timeout = _SECONDS

    def do_GET(self) -> None:
        if not self._is_ours():
            self._refuse(HTTPStatus.FORBIDDEN, "open the page under the address that the command printed")
        elif self.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "the page is at /")
        else:
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not self._is_ours() or self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.FORBIDDEN, "votes come as JSON, from the page itself")
        elif self.path != "/votes":
            self._refuse(HTTPStatus.NOT_FOUND, "votes go to /votes")
        elif not length.isdecimal() or int(length) > _MOST_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a vote has a length, of {_MOST_BYTES} bytes at most")
        else:
            try:
                line = self.server.box.add(json.loads(self.rfile.read(int(length))))
            except ValueError as error:
                self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            except OSError as error:
                self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, f"cannot write the vote: {error.strerror}")
            else:
                body = json.dumps({"number": line["number"]}).encode()
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
