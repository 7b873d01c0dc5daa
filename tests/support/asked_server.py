"""A server of JSON whose replies a test decides: an OpenAI-shaped model, or a gateway's /v1/ask."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Decide = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]


@dataclass
class Asked:
    """Where it listens, and what it was asked."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0


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
                    asked.bodies.append(body)
                now += 1
                asked.most_at_once = max(asked.most_at_once, now)
            try:
                status, found = decide(self.path, body)
            finally:
                with lock:
                    now -= 1
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
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
