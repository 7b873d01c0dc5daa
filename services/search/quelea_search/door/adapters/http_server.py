"""The data side: HTTP/1.1 over a UNIX socket or TCP, read with h11 and with a bound on everything.

The peer is code that nobody trusts. No web framework stands between, since each adds what is not wanted here: parsing
of addresses and forms, endless waits for a head, queues without a bound. One request at a time on a connection; what
comes pipelined waits unread. A peer that closes its side has left, and its call is cancelled.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import h11
from quelea_kit.logging import get_logger

from quelea_search.door.adapters.h11_messages import (
    HEAD_BYTES,
    PIECE,
    PROTOCOL,
    Reply,
    linger,
    read_request,
    refusal,
    reply_of,
    send,
)
from quelea_search.door.core.model import Refused
from quelea_search.door.door import Asked, Given

log = get_logger(__name__)
_BACKLOG = 4096
"""Connections that are made and not taken yet; the kernel caps it. One run that floods must not fill it for all."""
Serve = Callable[[Asked], Awaitable[Given]]


class HttpServer:
    """Serves the data side.

    Args:
        serve: Does the call.
        request_bytes: Of a request's body.
        connections: Open at once; for one more, the one that has waited longest without a request is closed, or, when
            calls are under way on all of them, it is answered 429 and closed. So nobody keeps others out by holding
            connections open.
    """

    def __init__(self, serve: Serve, *, request_bytes: int, connections: int) -> None:
        self._serve = serve
        self._request_bytes = request_bytes
        self._limit = connections
        self._servers: list[asyncio.Server] = []
        self._open: dict[asyncio.Task[None], bool] = {}
        """Connections; whether a call is under way. Those without come in the order in which they began to wait."""
        self._draining = False
        self.port = 0

    async def listen_unix(self, path: Path, mode: int) -> None:
        """Listen on a socket; one that a dead process left is replaced. Raises OSError."""
        await asyncio.to_thread(_make_room, path)
        self._servers.append(await asyncio.start_unix_server(self._serve_connection, str(path), backlog=_BACKLOG))
        await asyncio.to_thread(path.chmod, mode)

    async def listen_tcp(self, address: str) -> None:
        """Listen on host:port. Raises OSError."""
        host, _, port = address.rpartition(":")
        server = await asyncio.start_server(self._serve_connection, host.strip("[]"), int(port))
        self.port = server.sockets[0].getsockname()[1]
        self._servers.append(server)

    def check(self) -> None:
        """Raises when it does not listen."""
        if not self._servers or not all(server.is_serving() for server in self._servers):
            raise OSError("the door's HTTP server is not listening")

    async def stop(self, seconds: float) -> None:
        """Take no more; give the calls under way some seconds."""
        self._draining = True
        for server in self._servers:
            server.close()
        for task, busy in list(self._open.items()):
            if not busy:
                task.cancel()
        if self._open:
            await asyncio.wait(list(self._open), timeout=seconds)
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # asyncio runs this callback in a task
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        try:
            if len(self._open) >= self._limit and not self._make_place():
                busy = Refused(
                    429, "BUSY", f"{self._limit} connections are open; try again in a second.", retry_after=1.0
                )
                await send(connection, writer, refusal(busy))
                return
            self._open[task] = False
            while not self._draining and await self._one(task, connection, reader, writer):
                pass
        except (ConnectionError, TimeoutError, h11.ProtocolError, asyncio.CancelledError):
            pass  # the peer has left, is too slow, or we stop: nothing to tell anybody
        except Exception:  # the log has it; the server goes on
            log.exception("data_side_failed")
        finally:
            self._open.pop(task, None)
            writer.close()

    def _make_place(self) -> bool:
        """Close the connection that has waited longest; False when none waits."""
        waiting = next((task for task, busy in self._open.items() if not busy), None)
        if waiting is None:
            return False
        del self._open[waiting]
        waiting.cancel()
        return True

    async def _one(
        self,
        task: asyncio.Task[None],
        connection: h11.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """One request and its answer. Returns whether the connection goes on."""
        try:
            request = await read_request(connection, reader, writer, self._request_bytes)
        except h11.RemoteProtocolError as error:
            await send(connection, writer, refusal(Refused(error.error_status_hint, PROTOCOL, f"No HTTP: {error}.")))
            return await linger(reader, writer)
        except Refused as error:
            await send(connection, writer, refusal(error))
            return await linger(reader, writer)
        if request is None:
            return False
        self._open[task] = True
        try:
            reply = await self._reply_to(connection, reader, request)
        finally:
            self._open.pop(task, None)  # behind those that wait already
            self._open[task] = False
        if reply is None:
            return False
        head_only = request.method == "HEAD"
        await send(connection, writer, reply, head_only=head_only)
        if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
            return False
        connection.start_next_cycle()
        return True

    async def _reply_to(self, connection: h11.Connection, reader: asyncio.StreamReader, asked: Asked) -> Reply | None:
        """The reply, or None when the peer leaves before there is one."""
        call = asyncio.ensure_future(self._reply(asked))
        peer: asyncio.Task[bytes] = asyncio.create_task(reader.read(PIECE))
        try:
            await asyncio.wait({call, peer}, return_when=asyncio.FIRST_COMPLETED)
            if peer.done() and not call.done() and not _read(peer):
                return None
            return await call
        finally:
            call.cancel()
            peer.cancel()
            await asyncio.gather(call, peer, return_exceptions=True)
            if data := _read(peer):
                connection.receive_data(data)  # the start of the next request; no more was read of it

    async def _reply(self, asked: Asked) -> Reply:
        try:
            return reply_of(await self._serve(asked))
        except Refused as error:
            return refusal(error)
        except Exception:
            log.exception("call_failed")
            return refusal(Refused(500, "INTERNAL", "A fault of the door; its log has it."))


def _read(peer: asyncio.Task[bytes]) -> bytes:
    """What a finished task has read; empty when the peer has left, or nothing came."""
    return b"" if peer.cancelled() or peer.exception() is not None else peer.result()


def _make_room(path: Path) -> None:
    """Make the folder; remove a socket on which nobody listens."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_socket():
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            try:
                probe.connect(str(path))
            except OSError:
                path.unlink(missing_ok=True)
            else:
                raise OSError(f"{path} is in use by another process.")
