"""A server of JSON whose replies a test decides: an OpenAI-shaped model, or a gateway's /v1/ask."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Decide = Callable[[str, dict[str, Any]], tuple[int, Any]]
"""Of path and body the status, and what is sent: bytes as they are, else as JSON."""


class Cut(bytes):
    """Sent as if more were to come."""


@dataclass
class Asked:
    """Where it listens, and what it was asked."""

    url: str
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Path and body of those with a body."""
    most_at_once: int = 0

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, body in self.requests]


def chat_reply(text: str, finish_reason: str = "stop") -> tuple[int, dict[str, Any]]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return 200, {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}


@contextmanager
def asked_server(decide: Decide) -> Iterator[Asked]:
    """Serve on loopback. `decide` is given path and body (a GET's is empty) and may be called by several threads."""
    lock = threading.Lock()
    now = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are two packets: the second would wait for an ACK

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:  # the base class's name
            self._serve({})

        def do_POST(self) -> None:  # the base class's name
            self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _serve(self, body: dict[str, Any]) -> None:
            nonlocal now
            with lock:
                if body:
                    asked.requests.append((self.path, body))
                now += 1
                asked.most_at_once = max(asked.most_at_once, now)
            try:
                status, found = decide(self.path, body)
            finally:
                with lock:
                    now -= 1
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.close_connection = isinstance(data, Cut)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data) + 100 * isinstance(data, Cut)))
            self.end_headers()
            self.wfile.write(data)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    asked = Asked(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)
