"""The mocks' own door: a gateway's answer played back after the mocks' delays, to callers who ask the mocks directly.

What callers see beyond the ideal here is the mocks' and their own, on the same cores: late timers, reading, waiting for
a processor. The rest of what they see at a gateway is the gateway's.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"
_ASKED_SECONDS = 60


class Direct:
    """An HTTP server that plays back what was sent to /played.

    Args:
        retrieve: Seconds until the evidence.
        dues: Seconds until each piece of text, from the evidence on.
    """

    def __init__(self, retrieve: float, dues: list[float]) -> None:
        self._evidence = retrieve
        self._dues = [retrieve + due for due in dues]
        self._played: list[tuple[float, bytes]] = []

    async def serve(self) -> int:
        """Listen; gives the port."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**20)
        port: int = server.sockets[0].getsockname()[1]
        self._server = server
        return port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
                body = await reader.readexactly(size)
                if head.startswith(b"post /played"):
                    self._plays(body)
                    writer.write(_TAKEN)
                else:
                    await self._play(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the caller has left
        finally:
            writer.close()

    def _plays(self, answer: bytes) -> None:
        """Keep the events, each with its time: evidence, pieces of text, and all that follows with the last piece."""
        parts: dict[float, list[bytes]] = {}
        texts = 0
        for event in answer.split(b"\n\n")[:-1]:
            texts += event.startswith(b"event: delta")
            due = self._dues[min(texts, len(self._dues)) - 1] if texts else self._evidence
            if not event.startswith(b":"):
                parts.setdefault(due, []).append(event + b"\n\n")
        chunks = [(due, b"".join(events)) for due, events in parts.items()]
        self._played = [(due, b"%x\r\n%b\r\n" % (len(chunk), chunk)) for due, chunk in chunks]

    async def _play(self, writer: asyncio.StreamWriter) -> None:
        began, head = time.perf_counter(), _HEAD
        for due, chunk in self._played:
            wait = began + due - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            last = b"0\r\n\r\n" if due == self._played[-1][0] else b""
            writer.write(head + chunk + last)
            head = b""


def copied(gateway: str, question: str, mocks: str) -> None:
    """Ask the gateway once, and have the mocks play its answer."""
    asked = json.dumps({"question": question, "stream": True}).encode()
    _post(f"{mocks}/played", _post(f"{gateway}/v1/ask", asked))


def _post(url: str, body: bytes) -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310  # loopback
    with urllib.request.urlopen(request, timeout=_ASKED_SECONDS) as reply:  # noqa: S310  # the same
        return bytes(reply.read())
