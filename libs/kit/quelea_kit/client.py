"""gRPC channels as every caller should have them: round robin, retries, deadlines, the server's own exceptions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Iterator
from typing import Any, TypeVar

import grpc
from opentelemetry.instrumentation.grpc import aio_client_interceptors

from quelea_kit import stack_secret, tls
from quelea_kit.rpc.channels import WrappedChannel
from quelea_kit.rpc.reach_channel import ReachChannel
from quelea_kit.rpc.renewing_channel import RenewingChannel
from quelea_kit.rpc.rpc_tracing import PassingChannel
from quelea_kit.rpc.wire_errors import from_rpc_error, is_from_server
from quelea_kit.stack_secret import SecretChannel
from quelea_kit.tracing import is_collected

T = TypeVar("T")

# A service that came back is found within a third of a second, not after the library's back-off of minutes, and the
# tries of an idempotent call (0.1, 0.2 and 0.4 s apart, give or take a fifth) last longer than that.
_TRIES = 4
_MOST_RECONNECT_MS = 300
# A pod that came back elsewhere has another address: names are asked again after a second, not after half a minute.
_RESOLVE_AGAIN_MS = 1000
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
_ASK_AGAIN_SECONDS = 0.2


def channel(
    target: str,
    service: str,
    *,
    idempotent: list[str] | None = None,
    wait_seconds: float = 0.0,
    max_message_bytes: int = 64 * 1024 * 1024,
    folder: tls.Folder | None = None,
) -> grpc.aio.Channel:
    """A channel to every replica behind a name. Keep a reference: a channel closes itself when nobody holds it.

    With QUELEA_TLS_DIR it is mutual TLS (quelea_kit.tls), and the server's certificate must name the target's host;
    without, calls carry QUELEA_STACK_SECRET where that is set (quelea_kit.stack_secret). Each call has the reach of the
    task that makes it (quelea_kit.reach).

    Args:
        target: host:port, or any gRPC target.
        service: Full service name, for example "quelea.embedder.v1.EmbedderService".
        idempotent: Methods that are sent again (four tries in all) when the server is UNAVAILABLE, or dropped the call
            unanswered because it was leaving; a stream only before its first message, and nothing where the server
            said when to come back.
        wait_seconds: Unary methods of `idempotent` wait so long for a server that is away, within their own deadline.
        max_message_bytes: Largest message either way.
        folder: Whose certificate it shows; None: that of QUELEA_TLS_DIR, and none where that is not set.

    Raises:
        Conflict: QUELEA_TLS_DIR names a folder that cannot be used.
    """
    methods = [{"service": service, "method": name} for name in idempotent or []]
    config = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [
            {
                "name": methods,
                "retryPolicy": {
                    "maxAttempts": _TRIES,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    # A call that reaches a server in the moment when it is told to end comes back as CANCELLED from the
                    # library, never seen by our code. What the caller cancels is not tried again, whatever stands here.
                    "retryableStatusCodes": [code.name for code in _AWAY],
                },
            }
        ]
        if methods
        else [],
    }
    if "://" not in target and not target.startswith(("dns:", "unix:", "ipv4:", "ipv6:")):
        target = f"dns:///{target}"
    options: list[tuple[str, Any]] = [
        ("grpc.service_config", json.dumps(config)),
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", _MOST_RECONNECT_MS),
        ("grpc.dns_min_time_between_resolutions_ms", _RESOLVE_AGAIN_MS),
        # Proxies of the environment are for the world outside, never for our own services.
        ("grpc.enable_http_proxy", 0),
    ]

    def interceptors() -> list[Any]:
        return [*aio_client_interceptors(), _CancelUnary(), _CancelUpload()] if is_collected() else []

    def secure(shown: grpc.ChannelCredentials) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(target, shown, options=options, interceptors=interceptors())

    folder = folder or tls.from_environment()
    made: grpc.aio.Channel
    if folder is not None:
        made = RenewingChannel(folder, secure)
    else:
        made = grpc.aio.insecure_channel(target, options=options, interceptors=interceptors())
        if secret := stack_secret.from_environment():
            made = SecretChannel(made, secret)
    if not is_collected():
        made = PassingChannel(made)
    made = ReachChannel(made)
    return (
        _WaitingChannel(made, {f"/{service}/{name}" for name in idempotent or []}, wait_seconds)
        if wait_seconds
        else made
    )


class _WaitingChannel(WrappedChannel):
    """Holds calls back while no server is there, as in the restart of one that cannot have a second beside it.

    gRPC's own waiting (wait_for_ready) ends at once where the name has no address, as that of a headless Service
    without a ready pod, and knows no other end than the call's deadline.

    Args:
        channel: Where the calls go.
        methods: Paths of those that wait; a method that streams does not.
        seconds: How long they wait.
    """

    def __init__(self, channel: grpc.aio.Channel, methods: set[str], seconds: float) -> None:
        super().__init__(channel)
        self._methods = methods
        self._seconds = seconds

    def method(self, kind: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The channel's method, tried again and again for as long as nobody is there."""
        inner = getattr(self._channel, kind)(*args, **named)
        if kind != "unary_unary" or args[0] not in self._methods:
            return inner

        async def call(request: Any, *, timeout: float | None = None, **options: Any) -> Any:  # noqa: ASYNC109  # gRPC's name
            began, left = time.monotonic(), timeout
            while True:
                try:
                    return await inner(request, timeout=left, **options)
                except grpc.RpcError as error:
                    passed = time.monotonic() - began + _ASK_AGAIN_SECONDS
                    left = None if timeout is None else timeout - passed
                    over = passed > self._seconds or (left is not None and left <= 0)
                    if over or error.code() not in _AWAY or is_from_server(error):
                        raise
                await asyncio.sleep(_ASK_AGAIN_SECONDS)

        return call


async def _to_the_end(call: Any) -> Any:
    """Wait for a call under an interceptor; a caller who leaves cancels it at the server.

    The tracing interceptor waits for the call's code, and cancelling that wait leaves the call itself running.
    """
    try:
        await call.code()
    except asyncio.CancelledError:
        call.cancel()
        raise
    return call


class _CancelUnary(grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await _to_the_end(await continuation(client_call_details, request))


class _CancelUpload(grpc.aio.StreamUnaryClientInterceptor):
    async def intercept_stream_unary(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return await _to_the_end(await continuation(client_call_details, request_iterator))


@contextlib.contextmanager
def server_errors() -> Iterator[None]:
    """Turn grpc.RpcError into the QueleaError that the server raised."""
    try:
        yield
    except grpc.RpcError as error:
        raise from_rpc_error(error) from error


async def unary(call: Awaitable[T]) -> T:
    """Await a unary call; failures come as QueleaError."""
    with server_errors():
        return await call


async def stream(call: AsyncIterable[T]) -> AsyncGenerator[T, None]:
    """Iterate a server stream; failures come as QueleaError; leaving early cancels the call at the server."""
    try:
        with server_errors():
            async for item in call:
                yield item
    finally:
        cancel = getattr(call, "cancel", None)
        if cancel:
            cancel()
