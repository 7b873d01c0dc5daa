"""A Redis of its own, and pages and a SearXNG on loopback; everything else is the real thing."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import redis
from quelea_kit.processes.redis_server import redis_command, redis_url
from quelea_kit.testing import wait_until
from quelea_search.adapters.redis_base import connect


class RealRedis:
    """A Redis that a test may stop and start again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.url = redis_url(socket=folder / "redis.sock")

    def start(self) -> None:
        self._process = subprocess.Popen(redis_command(self._folder, socket=self._folder / "redis.sock"))
        wait_until(self._answers, what="Redis answers")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def _answers(self) -> bool:
        try:
            return bool(connect(self.url).ping())
        except redis.RedisError:
            return False


@pytest.fixture
def web_redis() -> Iterator[RealRedis]:
    with tempfile.TemporaryDirectory(prefix="quelea-") as folder:  # a socket's path must be short
        server = RealRedis(Path(folder))
        server.start()
        yield server
        server.stop()


class Pages:
    """Path -> (media type, bytes); /search is a SearXNG that finds `found`."""

    def __init__(self) -> None:
        self.paths: dict[str, tuple[str, bytes]] = {}
        self.found: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.port = 0


@pytest.fixture
def web_pages() -> Iterator[Pages]:
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            path = self.path.split("?", 1)[0]
            pages.asked.append(path)
            if path == "/search":
                kind, body = "application/json", json.dumps({"results": pages.found}).encode()
            else:
                kind, body = pages.paths.get(path, ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pages.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield pages
    server.shutdown()
    server.server_close()
    thread.join(10)
