"""The MCP server as part of the gateway's HTTP app: POST /mcp, behind the same middleware as every route."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from quelea_gateway.access import letting_in

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from quelea_gateway.gateway import Gateway

PATH = "/mcp"

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class McpApp:
    """Answers each POST by itself: no sessions, so any replica may answer.

    Most gateways never get such a call, and the SDK takes a second and 13 MB: the first call loads it.

    Args:
        gateway: What its tools act on.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._running: asyncio.Task[None] | None = None
        self._started: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._stop = asyncio.Event()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["method"] != "POST":
            body = {"error": {"code": "METHOD_NOT_ALLOWED", "message": "/mcp accepts only POST; it keeps no sessions."}}
            await JSONResponse(body, 405, {"Allow": "POST"})(scope, receive, send)
            return
        if self._started is None:
            self._started = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._started))
        manager = await asyncio.shield(self._started)  # a caller who leaves does not end it for those who wait
        with letting_in(scope["state"]["caller"]):
            await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """Let go of what the SDK holds."""
        self._stop.set()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            manager = await asyncio.to_thread(_make, self._gateway)  # other calls go on meanwhile
            async with manager.run():
                started.set_result(manager)
                await self._stop.wait()
        except Exception as error:
            if started.done():
                raise
            self._started = None  # the next call tries again
            started.set_exception(error)


def _make(gateway: Gateway) -> StreamableHTTPSessionManager:
    from quelea_gateway.mcp.server import session_manager  # noqa: PLC0415  # see McpApp

    return session_manager(gateway)
