"""Serves the sample web on loopback: its sites by their host names, and a search as a SearXNG instance gives it."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from quelea_cli.sample_web.ranking import Ranking, snippet
from quelea_cli.sample_web.site import HOSTS, ROBOTS, Page, Site

LOOPBACK = "127.0.0.1"
PER_PAGE = 10
"""Results on one page of the search."""

_SEARCH_HOSTS = (LOOPBACK, "localhost")


class SampleWeb(ThreadingHTTPServer):
    """The sample web; `with SampleWeb(site) as web:` serves it from a thread of its own.

    Args:
        site: Its pages. What is changed in it is served from then on.
        port: On 127.0.0.1, and nowhere else; 0 takes a free one.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, site: Site, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.site = site
        self.asked: list[tuple[str, str]] = []
        """Host and path (with query) of the latest requests; tests look here."""
        self._ranking: tuple[int, Ranking] | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """127.0.0.1:port."""
        return f"{LOOPBACK}:{self.server_port}"

    @property
    def search_url(self) -> str:
        """What searxng_url is set to."""
        return f"http://{self.address}"

    def url(self, page: Page) -> str:
        """The address of a page."""
        return f"http://{page.host}:{self.server_port}{page.path}"

    def ranking(self) -> Ranking:
        """The index of the pages as they are."""
        with self._lock:
            version = hash(tuple(self.site.pages.items()))
            if self._ranking is None or self._ranking[0] != version:
                self._ranking = (version, Ranking(list(self.site.pages.values())))
            return self._ranking[1]

    def __enter__(self) -> SampleWeb:
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.shutdown()
        self.server_close()
        if self._thread:
            self._thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    server: SampleWeb
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two packets: the second would wait for an ACK
    server_version = "QueleaSampleWeb"
    timeout = 30
    _MOST_ASKED: ClassVar[int] = 1000

    def log_message(self, *_: object) -> None:
        """Quiet: the gateway's and search's logs say what was asked."""

    def do_GET(self) -> None:
        """One page, or one page of results."""
        host = urlsplit(f"//{self.headers.get('host', '')}").hostname or ""
        parts = urlsplit(self.path)
        self.server.asked.append((host, self.path))
        del self.server.asked[: -self._MOST_ASKED]
        if host in _SEARCH_HOSTS:
            if parts.path == "/search":
                self._search(parse_qs(parts.query))
            elif parts.path == "/healthz":
                self._send(HTTPStatus.OK, b"OK")
            else:
                self._send(HTTPStatus.NOT_FOUND, b"not found")
        elif host not in HOSTS:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, b"no site of this name is here")
        elif parts.path == "/robots.txt":
            self._send(HTTPStatus.OK, ROBOTS.encode())
        else:
            self._page(self.server.site.pages.get((host, parts.path)))

    do_HEAD = do_GET  # noqa: N815  # the standard library's name

    def _page(self, page: Page | None) -> None:
        if page is None:
            self._send(HTTPStatus.NOT_FOUND, b"not found")
            return
        validators = {"ETag": page.etag, "Last-Modified": page.last_modified}
        asked = self.headers.get("if-none-match")
        if asked is not None:
            same = any(one.strip().removeprefix("W/") in (page.etag, "*") for one in asked.split(","))
        else:
            same = self.headers.get("if-modified-since") == page.last_modified
        if same:
            self._send(HTTPStatus.NOT_MODIFIED, b"", page.media_type, validators)
        else:
            self._send(HTTPStatus.OK, page.body, page.media_type, validators)

    def _search(self, query: dict[str, list[str]]) -> None:
        """As SearXNG: https://docs.searxng.org/dev/search_api.html ."""
        words = query.get("q", [""])[0].strip()
        if query.get("format", [""])[0] != "json":
            self._send(HTTPStatus.FORBIDDEN, b"only format=json is enabled")
            return
        if not words:
            self._send(HTTPStatus.BAD_REQUEST, b'{"error": "No query"}', "application/json")
            return
        number = query.get("pageno", ["1"])[0]
        first = (max(1, int(number)) - 1) * PER_PAGE if number.isdecimal() else 0
        found = self.server.ranking().rank(words)
        results = [
            self._result(page, score, place, words)
            for place, (score, page) in enumerate(found[first : first + PER_PAGE], start=first + 1)
        ]
        answer = {
            "query": words, "number_of_results": len(found), "results": results,
            "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [],
        }  # fmt: skip
        self._send(HTTPStatus.OK, json.dumps(answer, ensure_ascii=False).encode(), "application/json")

    def _result(self, page: Page, score: float, place: int, words: str) -> dict[str, Any]:
        url = self.server.url(page)
        parts = urlsplit(url)
        return {
            "url": url,
            "title": page.title,
            "content": snippet(page, words),
            "publishedDate": f"{page.published}T00:00:00" if page.told else None,
            "thumbnail": "",
            "engine": "quelea sample",
            "template": "default.html",
            "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
            "engines": ["quelea sample"],
            "positions": [place],
            "score": round(score, 4),
            "category": page.category,
        }

    def _send(
        self, status: HTTPStatus, body: bytes, kind: str = "text/plain", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status is not HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
