"""What every request passes first: headers, host and origin, key, bounds, size. Pure ASGI: streams stay streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import propagate, trace
from quelea_kit import reach
from quelea_kit.errors import Cancelled, PermissionDenied, QueleaError, Unauthenticated
from quelea_kit.logging import get_logger
from quelea_kit.memory import Shortages, is_out_of_memory, out_of_memory
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse

from quelea_gateway.access import Caller, is_loopback_name
from quelea_gateway.gateway import Gateway
from quelea_gateway.metrics import HTTP_IN_FLIGHT, HTTP_SECONDS, REFUSED
from quelea_gateway.rest.page_view import wants_html
from quelea_gateway.rest.transport.body import drain, read_whole, replay, within
from quelea_gateway.rest.transport.errors import response_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

log = get_logger(__name__)
_tracer = trace.get_tracer(__name__)

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_UPLOADS = {("POST", "/v1/documents"), ("POST", "/v1/agent/bundles")}
_CLOSED = ("/v1/", "/metrics", "/mcp", "/openbb/")


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # http://[ and the like: nobody's page
        return ""


def _is_this_machine(host: str) -> bool:
    try:
        return is_loopback_name(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


class _Sender:
    """Adds the headers, and remembers what was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)


class AccessMiddleware:
    """The outermost layer of the HTTP app.

    Args:
        app: The routes.
        gateway: Its rules.
        shortages: Hears of requests that found no memory.
    """

    def __init__(self, app: App, gateway: Gateway, shortages: Shortages) -> None:
        self._app = app
        self._shortages = shortages
        self._gateway = gateway
        own = gateway.settings.public_url
        self._origins = {
            *gateway.settings.cors_origins,
            *gateway.settings.openbb_origins,
            *([f"{urlsplit(own).scheme}://{urlsplit(own).netloc}"] if own else []),
        }

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, sender = time.perf_counter(), _Sender(send)
        context = propagate.extract(Headers(scope=scope))
        HTTP_IN_FLIGHT.inc()
        with _tracer.start_as_current_span(f"{scope['method']} {scope['path'][:80]}", context=context):
            try:
                await self._pass(scope, receive, sender)
            except (ClientDisconnect, Cancelled):
                sender.status = sender.status or Cancelled.http_status
            except QueleaError as error:
                REFUSED.labels(error.reason).inc()
                if sender.status == 0:
                    await response_of(error, scope["path"])(scope, receive, sender)
            except asyncio.CancelledError:
                sender.status = sender.status or Cancelled.http_status
                raise
            except Exception as error:  # noqa: BLE001  # the log has it, and the caller is told
                told = self._told(scope["method"], error)
                if sender.status == 0:
                    await response_of(told, scope["path"])(scope, receive, sender)
            finally:
                HTTP_IN_FLIGHT.dec()
                self._note(scope, sender.status, time.perf_counter() - started)

    def _told(self, method: str, error: Exception) -> QueleaError:
        """What a caller hears of an error that nobody foresaw."""
        if is_out_of_memory(error):
            log.error("out_of_memory", method=method, why=f"{type(error).__name__}: {error}")
            self._shortages.note()
            return out_of_memory()
        log.exception("request_failed", method=method)
        return QueleaError("Internal error; see the gateway's log.")

    async def _pass(self, scope: MutableMapping[str, Any], receive: Receive, send: _Sender) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        limit = self._gateway.settings.max_body_bytes
        try:
            self._check_origin(headers)
            caller = None
            if path.startswith(_CLOSED) and scope["method"] != "OPTIONS":
                caller = Caller(self._gateway.access, headers.get("authorization"))
        except QueleaError as error:
            if isinstance(error, Unauthenticated) and self._is_citation(scope, headers):
                # A browser follows a citation's link without a key; the page at / can ask for one.
                await RedirectResponse(self._page_target(scope), 303)(scope, receive, send)
                return
            await drain(headers, receive)
            raise
        if caller is None:
            await self._app(scope, replay(await read_whole(headers, receive, limit), receive), send)
            return
        scope.setdefault("state", {}).update(key=caller.name, caller=caller)
        with reach.within(caller.principal.reach()), self._gateway.limiter.call(caller.name):
            if (scope["method"], path) in _UPLOADS:
                bounded = await within(headers, receive, self._gateway.settings.max_upload_bytes)
                await self._app(scope, bounded, send)
            else:
                await self._app(scope, replay(await read_whole(headers, receive, limit), receive), send)

    def _check_origin(self, headers: Headers) -> None:
        """Keep other web pages out.

        A browser sends Origin with what a foreign page asks for. Without keys, the Host header must also be a name of
        this machine, else a foreign name that resolves to 127.0.0.1 would make a foreign page look like our own.
        """
        host = headers.get("host", "")
        if not self._gateway.access.required and host and not _is_this_machine(host):
            raise PermissionDenied(
                f"API keys are off, so only requests to this machine (localhost) are answered, not to {host[:100]!r}."
            )
        origin = headers.get("origin")
        if origin and origin not in self._origins and _host_of(origin) != host.lower():
            raise PermissionDenied(
                f"Web pages from {origin[:100]!r} may not call this gateway; allow them with "
                "QUELEA_GATEWAY_CORS_ORIGINS."
            )

    @staticmethod
    def _is_citation(scope: MutableMapping[str, Any], headers: Headers) -> bool:
        parts = scope["path"].split("/")
        is_page = len(parts) == 6 and parts[2] == "documents" and parts[4] == "pages"
        return scope["method"] == "GET" and is_page and wants_html(headers.get("accept", ""))

    @staticmethod
    def _page_target(scope: MutableMapping[str, Any]) -> str:
        query = scope.get("query_string", b"").decode("ascii", "ignore")
        raw = scope.get("raw_path") or scope["path"].encode()
        return f"/#{raw.decode('ascii', 'ignore').removeprefix('/v1')}" + (f"?{query}" if query else "")

    @staticmethod
    def _note(scope: MutableMapping[str, Any], status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "other"
        HTTP_SECONDS.labels(scope["method"] if route != "other" else "other", route, str(status)).observe(seconds)
        if scope["path"] not in ("/healthz", "/readyz", "/metrics"):
            log.info(
                "request",
                method=scope["method"],
                route=route,
                status=status,
                ms=round(seconds * 1000, 1),
                key=scope.get("state", {}).get("key", ""),
            )
