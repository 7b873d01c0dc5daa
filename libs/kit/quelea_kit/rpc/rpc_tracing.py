"""Traces over gRPC: a server's call is a span of its caller's trace, and a caller's ids go along with each call.

Written here, as OpenTelemetry's interceptor of servers leaves the generator of a caller who went away to be closed by
the garbage collector, in another context ("Failed to detach context", with a traceback), and its interceptors of
clients put tasks and generators around every call. Where a collector takes spans, clients have those interceptors
(`quelea_kit.client`), for a span of each call; elsewhere they make ids that nobody would see, and are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

import grpc
from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from quelea_kit.rpc.channels import MetadataChannel, Metadatum

_tracer = trace.get_tracer(__name__)

_FAULTS = {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
"""Codes by which a server says that it failed, and not that the caller did (OpenTelemetry's conventions for gRPC)."""


@contextlib.contextmanager
def server_span(method: str, context: grpc.aio.ServicerContext[Any, Any]) -> Iterator[Span]:
    """The span of a call at its server, child of the caller's. Leave it in the task that entered it."""
    said = dict(context.invocation_metadata() or ())
    with _tracer.start_as_current_span(
        method, propagate.extract(said), SpanKind.SERVER, record_exception=False, set_status_on_exception=False
    ) as span:
        if span.is_recording():
            service, _, name = method.lstrip("/").partition("/")
            span.set_attributes({"rpc.system": "grpc", "rpc.service": service, "rpc.method": name})
            span.set_attributes({"rpc.user_agent": str(said.get("user-agent", "")), **_peer(context.peer())})
        yield span


def record_end(span: Span, code: str, error: BaseException | None = None) -> None:
    """Say of a server's span how its call ended: a code's name, and what it was that failed."""
    if not span.is_recording():
        return
    span.set_attribute("rpc.grpc.status_code", grpc.StatusCode[code].value[0])
    if code in _FAULTS:
        span.set_status(Status(StatusCode.ERROR, code))
        if error is not None:
            span.record_exception(error)


def _peer(said: str) -> dict[str, str]:
    """Of ipv4:127.0.0.1:57284 the address and the port; of a UNIX socket nothing."""
    kind, _, rest = said.partition(",")[0].partition(":")
    host, _, port = rest.rpartition(":")
    return {"net.peer.ip": unquote(host), "net.peer.port": port} if kind in ("ipv4", "ipv6") else {}


class PassingChannel(MetadataChannel):
    """Sends the ids of the caller's span along with each call, and makes no span of its own."""

    def metadata(self) -> Iterable[Metadatum]:
        """The ids."""
        ids: dict[str, str] = {}
        propagate.inject(ids)
        return ids.items()
