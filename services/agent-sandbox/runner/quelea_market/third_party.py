"""requests, urllib3 and httpx."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Any

from quelea_market import door
from quelea_market.errors import MarketError, MarketRefused
from quelea_market.standard import connect


def patch_urllib3(module: ModuleType) -> None:
    """Its connections are http.client's; only the way they connect is their own."""

    def verified(self: Any) -> None:
        connect(self)
        # The door speaks TLS to the upstream and checks its certificate; urllib3 would warn otherwise.
        self.is_verified = True

    module.HTTPConnection.connect = connect
    module.HTTPSConnection.connect = verified


def patch_requests(module: ModuleType) -> None:
    """What the door says becomes requests' own error; proxies mean nothing here."""
    original = module.HTTPAdapter.send

    def send(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        options["proxies"] = {}
        try:
            return original(self, request, *args[:4], **options)
        except MarketError as error:
            raise module.ConnectionError(str(error), request=request) from error

    module.HTTPAdapter.send = send


def patch_httpx(module: ModuleType) -> None:
    """Both transports hand the whole call to the door; the asynchronous one in a thread.

    What trying again cannot mend (no door, a refused host) stays a MarketError: edgartools tries every error of httpx
    again, for a quarter of a minute.
    """
    httpx_response, connect_error, read_error = module.Response, module.ConnectError, module.ReadError

    def through(request: Any, body: bytes) -> Any:
        timeout = (request.extensions.get("timeout") or {}).get("read")
        headers = [(name, value) for name, value in request.headers.multi_items()]
        try:
            status, reason, answer, data = door.exchange(request.method, str(request.url), headers, body, timeout)
        except MarketRefused as error:
            if error.status in (403, 451):
                raise
            raise connect_error(str(error), request=request) from error
        except OSError as error:
            raise read_error(str(error), request=request) from error
        return httpx_response(status, headers=answer, content=data, extensions={"reason_phrase": reason.encode()})

    def handle_request(self: Any, request: Any) -> Any:
        return through(request, request.read())

    async def handle_async_request(self: Any, request: Any) -> Any:
        body = await request.aread()
        return await asyncio.to_thread(through, request, body)

    module.HTTPTransport.handle_request = handle_request
    module.AsyncHTTPTransport.handle_async_request = handle_async_request
