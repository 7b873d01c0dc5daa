"""A model with recorded decisions: an OpenAI-compatible endpoint that replays, by sub-task, what was once written."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from quelea_gateway.core.model import Message
from support.agent_world import kind_of

NAME = "scripted"
CONTEXT = 8192


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, decisions: list[dict[str, str]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.left: dict[str, list[str]] = {}
        for one in decisions:
            self.left.setdefault(one["subtask"], []).append(one["output"])
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.lock = threading.Lock()

    def decide(self, body: dict[str, Any]) -> str:
        messages = [Message(one["role"], one["content"]) for one in body["messages"]]
        kind = kind_of(messages) if len(messages) > 1 else "?"
        with self.lock:
            self.asked.append((kind, body))
            outputs = self.left.get(kind, [])
            if not outputs:
                return ""
            return outputs.pop(0) if len(outputs) > 1 else outputs[0]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def _send(self, data: bytes, kind: str = "application/json", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:  # the base class's name
        if self.path == "/v1/models":
            listed = {"object": "list", "data": [{"id": NAME, "object": "model", "max_model_len": CONTEXT}]}
            self._send(json.dumps(listed).encode())
        else:
            self._send(b"", "text/plain", 404)

    def do_POST(self) -> None:  # the base class's name
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._send(b'{"detail": "Not Found"}', status=404)
            return
        head = {"id": "c", "created": 1, "model": NAME}
        if not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "1"}, "finish_reason": "length"}
            self._send(json.dumps({**head, "object": "chat.completion", "choices": [choice]}).encode())
            return
        text = self.server.decide(body)
        pieces = [text[i : i + 64] for i in range(0, len(text), 64)]
        chunks = [{"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
        chunks.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        lines = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [one]}) for one in chunks]
        self._send("".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode(), "text/event-stream")


@contextmanager
def scripted_model(decisions: Path) -> Iterator[tuple[str, _Server]]:
    """(base URL with /v1, the server, whose `asked` has every sub-task with its request)."""
    server = _Server(json.loads(decisions.read_text(encoding="utf-8"))["decisions"])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", server
    finally:
        server.shutdown()
        server.server_close()
