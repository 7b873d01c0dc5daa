"""Draining of a gateway that stops: callers are told to open a new connection, which goes to another gateway."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_CLOSE = (b"connection", b"close")
_GONE = json.dumps({"status": "leaving"}).encode()


class ConnectionDrain:
    """An application that can be drained: answers close their connection, and /healthz is 503.

    A kept connection stays with this process when a balancer has long taken it off its list, and a server that closes
    one while the next request is on its way has lost that request. So nothing is refused here: each answer says
    `Connection: close`, and the client's next request opens a connection, which goes elsewhere.

    Args:
        app: The application.

    Attributes:
        draining: Set it when the process is told to end.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self.draining = False

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_closing(message: Message) -> None:
            if self.draining and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), _CLOSE]}
            await send(message)

        if self.draining and scope["path"] == "/healthz":
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(_GONE)).encode())]
            await send_closing({"type": "http.response.start", "status": 503, "headers": headers})
            await send_closing({"type": "http.response.body", "body": _GONE})
            return
        await self._app(scope, receive, send_closing)
