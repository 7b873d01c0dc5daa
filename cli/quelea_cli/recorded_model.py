"""A language model whose decisions are recorded: an OpenAI-compatible endpoint that says them again, in their order.

A file of decisions is `{"question": …, "as_of": …, "decisions": [{"subtask": …, "output": …}, …]}`.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.output import Json

NAME = "recorded"
CONTEXT = 8192
_PIECE = 64
_USED_UP = "The recorded decisions are used up; start Quelea with a language model to ask more."


class RecordedModel(ThreadingHTTPServer):
    """The endpoint, on a free port of loopback.

    Args:
        recorded: What the file holds.
    """

    daemon_threads = True

    def __init__(self, recorded: Json) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._left = [one["output"] for one in recorded["decisions"]]
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """With /v1."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def decide(self, body: Json) -> str | None:
        """What the model says to a request; None when it has nothing left."""
        del body  # the decisions come in the order in which they were recorded
        with self._lock:
            return self._left.pop(0) if self._left else None


class _Handler(BaseHTTPRequestHandler):
    server: RecordedModel

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
        head: Json = {"id": "c", "created": 1, "model": NAME}
        if not body.get("stream"):  # whether the model answers at all
            choice: Json = {"index": 0, "message": {"role": "assistant", "content": "1"}, "finish_reason": "length"}
            self._send(json.dumps({**head, "object": "chat.completion", "choices": [choice]}).encode())
            return
        if body.get("tools"):  # what is recorded are decisions as JSON
            refusal = {"error": {"message": "This model calls no functions.", "code": "no_functions"}}
            self._send(json.dumps(refusal).encode(), status=400)
            return
        text = self.server.decide(body)
        if text is None:
            self._send(json.dumps({"error": {"message": _USED_UP, "code": "used_up"}}).encode(), status=400)
            return
        pieces = [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]
        chunks: list[Json] = [{"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
        chunks.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        lines = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [one]}) for one in chunks]
        self._send("".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode(), "text/event-stream")


def read_recorded(file: Path) -> Json:
    """A file of decisions. Raises CliError where it is none."""
    try:
        recorded: Json = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CliError(f"Cannot read the recorded decisions of {file}: {error}.", EXIT_USAGE) from error
    return recorded


@contextlib.contextmanager
def serving(model: RecordedModel) -> Iterator[RecordedModel]:
    """The endpoint answers inside the block."""
    thread = threading.Thread(target=model.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.shutdown()
        model.server_close()
