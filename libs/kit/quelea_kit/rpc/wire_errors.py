"""Errors on the wire: QueleaError <-> google.rpc.Status with ErrorInfo and RetryInfo (AIP-193)."""

from __future__ import annotations

import re
import time
from typing import Any

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from quelea_kit.errors import QueleaError, error_class
from quelea_kit.logging import get_logger

log = get_logger(__name__)

DOMAIN = "quelea"


def to_status(error: QueleaError) -> status_pb2.Status:
    """The google.rpc.Status that says all that the error says."""
    code: grpc.StatusCode = getattr(grpc.StatusCode, error.grpc_code)
    status = status_pb2.Status(code=code.value[0], message=error.message)
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=error.details)
    packed = any_pb2.Any()
    packed.Pack(info)
    status.details.append(packed)
    if error.retry_after is not None:
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(int(error.retry_after * 1e9))
        packed = any_pb2.Any()
        packed.Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        status.details.append(packed)
    return status


def from_rpc_error(error: grpc.RpcError) -> QueleaError:
    """The exception that the server raised, or the nearest one to a plain gRPC failure."""
    code: grpc.StatusCode = error.code()
    message = _plain(error.details() or code.name.lower().replace("_", " "))
    reason, details, retry_after = "", {}, None
    status = _status_of(error)
    if status is not None:
        for packed in status.details:
            if packed.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
                info = error_details_pb2.ErrorInfo()
                packed.Unpack(info)
                reason, details = info.reason, dict(info.metadata)
            elif packed.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
                retry = error_details_pb2.RetryInfo()
                packed.Unpack(retry)
                retry_after = retry.retry_delay.ToNanoseconds() / 1e9
    return error_class(reason, code.name)(message, details=details, retry_after=retry_after)


def is_from_server(error: grpc.RpcError) -> bool:
    """Whether one of our servers said so, and not this end of the wire that reached none."""
    return _status_of(error) is not None


_CONNECTING = re.compile(r"last error: \w+: (?:ipv[46]|unix):(?P<peer>\S+): (?P<why>.*)", re.DOTALL)
_REFUSED = re.compile(r"CERTIFICATE_VERIFY_FAILED: ([^:]+)")
_WHERE = "QUELEA_TLS_DIR is the folder of certificates at both ends."
_AGAIN_SECONDS = 10.0
_MOST_TOLD = 100
_told: dict[str, float] = {}


def _plain(message: str) -> str:
    """gRPC's words for a connection that could not be made, in ours where certificates are the reason."""
    match = _CONNECTING.search(message)
    said = _of_tls(match["peer"], match["why"]) if match else ""
    if not said:
        return message
    # Logged here too: on its way to a caller outside an error loses its addresses, and this reason with them.
    now = time.monotonic()
    if now - _told.get(said, -_AGAIN_SECONDS) >= _AGAIN_SECONDS:
        if len(_told) >= _MOST_TOLD:
            _told.clear()
        _told[said] = now
        log.warning("no_connection", why=said)
    return said


def _of_tls(peer: str, why: str) -> str:
    refused = _REFUSED.search(why)
    if refused:
        return f"TLS: the certificate of the server at {peer} is not accepted: {refused[1].strip()}. {_WHERE}"
    if "Hostname Verification" in why:
        return f"TLS: the certificate of the server at {peer} does not name the host that was called. {_WHERE}"
    if "WRONG_VERSION_NUMBER" in why:
        return f"TLS: the server at {peer} speaks none, this caller does. {_WHERE}"
    if "handshake failed" in why:
        return f"TLS: no agreement with the server at {peer}: {why}. {_WHERE}"
    if "Socket closed" in why or "Connection reset" in why:
        return (
            f"The server at {peer} closed the connection before the first call: it wants TLS, or does not accept this "
            f"caller's certificate (its log says which), or it is stopping. {_WHERE}"
        )
    return ""


def _status_of(error: grpc.RpcError) -> status_pb2.Status | None:
    metadata: Any = error.trailing_metadata()  # the stubs do not know that it is iterable
    for key, value in metadata or ():
        if key == "grpc-status-details-bin":
            return status_pb2.Status.FromString(value if isinstance(value, bytes) else value.encode())
    return None


_NOT_AGAIN = ("grpc-retry-pushback-ms", "-1")


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: QueleaError) -> None:
    """End the rpc with the error; does not return.

    An error that says when to come back is for the caller to hear: gRPC does not try the call again by itself (proposal
    A6), which would only repeat here, out of sight, what was tried already.
    """
    status = rpc_status.to_status(to_status(error))
    later = () if error.retry_after is None else (_NOT_AGAIN,)
    context.set_trailing_metadata((*status.trailing_metadata, *later))
    await context.abort(status.code, status.details)
