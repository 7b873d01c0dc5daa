"""What every request passes first: headers, host and origin, key, bounds, size. Pure ASGI: streams stay streams."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import propagate, trace
from quelea_kit import reach
from quelea_kit.errors import Cancelled, PermissionDenied, QueleaError, Unauthenticated
from quelea_kit.logging import get_logger
from quelea_kit.processes.memory import Shortages, is_out_of_memory, out_of_memory
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse

from quelea_gateway.access import Caller, is_loopback_name
from quelea_gateway.core.callers import audit
from quelea_gateway.core.callers.usage import REFUSED as REFUSED_STATUSES
from quelea_gateway.gateway import Gateway
from quelea_gateway.metrics import HTTP_IN_FLIGHT, HTTP_SECONDS, REFUSED
from quelea_gateway.rest.callers.cookies import session_cookie
from quelea_gateway.rest.callers.resource_metadata import challenge_of
from quelea_gateway.rest.knowledge_base.page_view import wants_html
from quelea_gateway.rest.transport.body import drain, read_whole, replay, within
from quelea_gateway.rest.transport.errors import response_of
from quelea_gateway.rest.transport.recorder import Recorder

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
    """Adds the headers, has the call recorded before its answer begins, and remembers what was sent."""

    def __init__(self, send: Send, recorder: Recorder) -> None:
        self._send = send
        self._recorder = recorder
        self.status = 0
        self.whole = False
        """Whether all of the answer went out."""
        self.unrecorded: QueleaError | None = None
        """Why the call, which must be recorded, could not be."""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if self.unrecorded is None:
                try:
                    await self._recorder.begin(message["status"], streamed=_is_stream(headers))
                except QueleaError as error:
                    self.unrecorded = error
                    raise
            self.status = message["status"]
            headers["X-Request-Id"] = self._recorder.record.request
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.whole = True


def _is_stream(headers: MutableHeaders) -> bool:
    return headers.get("content-type", "").startswith("text/event-stream")


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
        recorder = Recorder(self._gateway, scope)
        started, sender = time.perf_counter(), _Sender(send, recorder)
        headers = Headers(scope=scope)
        context = propagate.extract(headers)
        HTTP_IN_FLIGHT.inc()
        with _tracer.start_as_current_span(f"{scope['method']} {scope['path'][:80]}", context=context):
            try:
                with audit.recording(recorder.record):
                    await self._pass(scope, receive, sender, recorder)
            except (ClientDisconnect, Cancelled):
                sender.status = sender.status or Cancelled.http_status
            except QueleaError as error:
                REFUSED.labels(error.reason).inc()
                if sender.status == 0:
                    challenge = challenge_of(self._gateway, scope, with_credentials="authorization" in headers)
                    await response_of(error, scope["path"], challenge)(scope, receive, sender)
            except asyncio.CancelledError:
                sender.status = sender.status or Cancelled.http_status
                raise
            except Exception as error:  # noqa: BLE001  # the log has it, and the caller is told
                # What was raised while the answer began, Starlette tells as an error of its own.
                told = sender.unrecorded or self._to_error(scope["method"], error)
                if sender.status == 0:
                    await response_of(told, scope["path"])(scope, receive, sender)
            finally:
                HTTP_IN_FLIGHT.dec()
                await recorder.end(sender.status, whole=sender.whole)
                self._note(scope, sender.status, time.perf_counter() - started)
                owner = scope.get("state", {}).get("key", "")
                self._gateway.usage.count(owner, refusals=int(sender.status in REFUSED_STATUSES))

    def _to_error(self, method: str, error: Exception) -> QueleaError:
        """What a caller hears of an error that nobody foresaw."""
        if is_out_of_memory(error):
            log.error("out_of_memory", method=method, why=f"{type(error).__name__}: {error}")
            self._shortages.note()
            return out_of_memory()
        log.exception("request_failed", method=method)
        return QueleaError("Internal error; see the gateway's log.")

    async def _pass(self, scope: MutableMapping[str, Any], receive: Receive, send: _Sender, recorder: Recorder) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        limit = self._gateway.settings.max_body_bytes
        try:
            self._check_origin(headers)
            caller = None
            if path.startswith(_CLOSED) and scope["method"] != "OPTIONS":
                session_id = self._session_of(scope, headers)
                caller = await self._gateway.access.let_in(headers.get("authorization"), session_id)
                recorder.admit(caller)
                self._check_csrf(scope, headers, caller)
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
        async with self._gateway.counted(caller):
            with reach.within(caller.principal.reach()):
                if (scope["method"], path) in _UPLOADS:
                    bounded = await within(headers, receive, self._gateway.settings.max_upload_bytes)
                    await self._app(scope, bounded, send)
                else:
                    body = await read_whole(headers, receive, limit)
                    recorder.read(body)
                    await self._app(scope, replay(body, receive), send)

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
    def _session_of(scope: MutableMapping[str, Any], headers: Headers) -> str:
        """The session's id in the cookie, for calls of the page itself: not for MCP, nor for a page of another host."""
        origin = headers.get("origin")
        if not scope["path"].startswith("/v1/") or (origin and _host_of(origin) != headers.get("host", "").lower()):
            return ""
        return session_cookie(headers.get("cookie", ""))

    @staticmethod
    def _check_csrf(scope: MutableMapping[str, Any], headers: Headers, caller: Caller) -> None:
        """A browser sends a cookie whoever makes it call, but only our page can read what must come beside it."""
        if caller.session is None or scope["method"] in ("GET", "HEAD"):
            return
        if not hmac.compare_digest(headers.get("x-csrf-token", "").encode(), caller.session.csrf.encode()):
            raise PermissionDenied("The header X-CSRF-Token is missing or wrong; load the page again.")

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
