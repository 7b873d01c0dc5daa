"""The MCP server as part of the gateway's HTTP app: POST /mcp, behind the same middleware as every route."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from quelea_gateway.access import letting_in

PATH = "/mcp"

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class McpApp:
    """Answers each POST by itself: no sessions, so any replica may answer.

    Host and origin are checked by the middleware, so the SDK's own check of them is off.

    Args:
        server: Its tools.
        most_bytes: Longest request.
    """

    def __init__(self, server: MCPServer[Any], *, most_bytes: int) -> None:
        off = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(
            json_response=True, stateless_http=True, transport_security=off, max_request_body_size=most_bytes
        )
        self._manager = server.session_manager
        self._running: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["method"] != "POST":
            body = {"error": {"code": "METHOD_NOT_ALLOWED", "message": "/mcp accepts only POST; it keeps no sessions."}}
            await JSONResponse(body, 405, {"Allow": "POST"})(scope, receive, send)
            return
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await self._ready.wait()
        with letting_in(scope["state"]["caller"]):
            await self._manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """Let go of what the SDK holds."""
        self._stop.set()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._stop.wait()
