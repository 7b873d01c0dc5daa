"""One gRPC server for all services: health, reflection, metrics, traces, deadlines, errors, drain.

Names at the health service (grpc.health.v1): the service's full name, and "" for all of them, follow readiness;
"live" is SERVING for as long as the event loop turns, whatever the dependencies do, draining included. Kubernetes asks
the first for readiness and "live" for liveness. "writing", of a service that keeps data, is SERVING while its disk has
room for more.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from opentelemetry.trace import Span

from quelea_kit import stack_secret
from quelea_kit.errors import Conflict, DeadlineExceeded, DiskFull, InvalidInput, Overloaded, QueleaError
from quelea_kit.files.disk import Disk
from quelea_kit.logging import get_logger
from quelea_kit.metrics import READY, RPC_IN_FLIGHT, RPC_REFUSED, RPC_SECONDS
from quelea_kit.processes.memory import Shortages, is_out_of_memory, out_of_memory
from quelea_kit.reach import within
from quelea_kit.rpc.reach_channel import read_reach
from quelea_kit.rpc.rpc_tracing import record_end, server_span
from quelea_kit.rpc.wire_errors import abort
from quelea_kit.settings import ServiceSettings
from quelea_kit.tls import Callers, Folder, from_environment

log = get_logger(__name__)

T = TypeVar("T")

Ready = Callable[[], Awaitable[None]]
"""Raises when the service cannot do its work."""

LIVE = "live"
"""Name at the health service that says only that the server's loop turns."""

WRITING = "writing"
"""Name at the health service that is SERVING while new data is taken; of a service that keeps some."""

_MOST_PROBES = 32
_LEAVING_SECONDS = 5.0

_UNGUARDED = ("/grpc.health.v1.Health/", "/grpc.reflection.")


class _Guard(grpc.aio.ServerInterceptor):
    """Deadline, concurrency bound, errors, metrics and a span around every rpc but health and reflection."""

    def __init__(self, settings: ServiceSettings, callers: Callers, secret: str, shortages: Shortages) -> None:
        self._shortages = shortages
        self._callers = callers
        self._secret = secret
        self._max_deadline = settings.max_deadline_seconds
        self._max_calls = settings.max_concurrent_calls
        self._calls = 0

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        handler = await continuation(details)
        if handler is None or details.method.startswith(_UNGUARDED):
            return handler
        method = details.method
        wrap = grpc.unary_unary_rpc_method_handler
        if handler.unary_unary:
            inner = self._unary(method, handler.unary_unary)
        elif handler.stream_unary:
            inner, wrap = self._unary(method, handler.stream_unary), grpc.stream_unary_rpc_method_handler
        elif handler.unary_stream:
            inner, wrap = self._stream(method, handler.unary_stream), grpc.unary_stream_rpc_method_handler
        else:
            inner, wrap = self._stream(method, handler.stream_stream), grpc.stream_stream_rpc_method_handler
        return wrap(
            inner,
            request_deserializer=_decoder(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    def _unary(self, method: str, behaviour: Any) -> Any:
        async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            async with self._call(method, context):
                return await behaviour(_decode(request), context)

        return call

    def _stream(self, method: str, behaviour: Any) -> Any:
        # A coroutine that writes, no generator: that one, left by its caller, gRPC leaves to the garbage collector.
        async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
            async with (
                self._call(method, context),
                contextlib.aclosing(behaviour(_decode(request), context)) as events,
            ):
                async for event in events:
                    try:
                        await context.write(event)
                    except grpc.aio.InternalError:
                        # The caller left in this moment. What cancels a call whose caller has left is on its way.
                        await asyncio.sleep(_LEAVING_SECONDS)
                        raise

        return call

    @contextlib.asynccontextmanager
    async def _call(self, method: str, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[None]:
        with server_span(method, context) as span:
            async with self._count_call(method, context, span):
                yield

    @contextlib.asynccontextmanager
    async def _count_call(
        self, method: str, context: grpc.aio.ServicerContext[Any, Any], span: Span
    ) -> AsyncIterator[None]:
        started, code = time.perf_counter(), "OK"
        failed: Exception | None = None
        remaining = context.time_remaining()
        limit = self._max_deadline if remaining is None else min(remaining, self._max_deadline)
        self._calls += 1
        RPC_IN_FLIGHT.labels(method).inc()
        try:
            self._callers.check(context)
            stack_secret.check(self._secret, context)
            if self._calls > self._max_calls:
                RPC_REFUSED.labels(method).inc()
                raise Overloaded(
                    f"{self._max_calls} calls are already under way here; try again in a second.", retry_after=1.0
                )
            async with asyncio.timeout(limit):
                with within(read_reach(context)):
                    yield
        except QueleaError as error:
            code = error.grpc_code
            await abort(context, error)
        except TimeoutError:
            code = "DEADLINE_EXCEEDED"
            await abort(context, DeadlineExceeded(f"The call did not finish within {limit:.1f} s."))
        except (asyncio.CancelledError, GeneratorExit):
            code = "CANCELLED"
            raise
        except grpc.aio.AbortError:
            code = "ABORTED"
            raise
        except grpc.aio.InternalError:  # the caller's connection is gone, and gRPC knows it
            code = "CANCELLED"
            raise
        except Exception as error:  # noqa: BLE001  # the log has it, and the caller is told
            told, failed = self._to_error(method, error), error
            code = told.grpc_code
            await abort(context, told)
        finally:
            record_end(span, code, failed)
            self._calls -= 1
            RPC_IN_FLIGHT.labels(method).dec()
            RPC_SECONDS.labels(method, code).observe(time.perf_counter() - started)

    def _to_error(self, method: str, error: Exception) -> QueleaError:
        """What a caller hears of an error that nobody foresaw."""
        if not is_out_of_memory(error):
            log.exception("rpc_failed", method=method)
            return QueleaError("Internal error; the service's log has it under this trace.")
        log.error("out_of_memory", method=method, why=f"{type(error).__name__}: {error}")
        self._shortages.note()
        return out_of_memory()


class _Undecodable:
    """Stands for a request that is no valid message. gRPC itself would answer INTERNAL, as if the fault were ours."""


def _decoder(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def attempt(data: bytes) -> Any:
        try:
            return decode(data)
        except DecodeError:
            return _Undecodable()

    return attempt


def _decode(request: Any) -> Any:
    """The request, or the stream of them. Raises InvalidInput for one that is no valid message."""
    if isinstance(request, _Undecodable):
        raise InvalidInput("The request is no valid message of this rpc; its texts must be UTF-8 without surrogates.")
    return _each_decoded(request) if hasattr(request, "__aiter__") else request


async def _each_decoded(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _decode(request)


class Server:
    """A grpc.aio server with health, reflection and the guard.

    Args:
        settings: Address and limits.
        services: Full service names, for health and reflection.
        register: Adds the servicers to the server.
        ready: Checked every few seconds; health says NOT_SERVING while it raises.
        tls: Certificate of the listener; None: that of QUELEA_TLS_DIR, and none where that is not set.
        disk: Where the service's data lie; None: it keeps none on a disk.
        outside: Callers come from outside and have no certificate of ours: neither QUELEA_TLS_DIR nor
            QUELEA_STACK_SECRET is for them.

    Raises:
        Conflict: The certificate cannot be used, or callers are listed and there is none.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        services: list[str],
        register: Callable[[grpc.aio.Server], None],
        ready: Ready | None = None,
        *,
        tls: Folder | None = None,
        disk: Disk | None = None,
        outside: bool = False,
    ) -> None:
        self._tls = tls if tls or outside else from_environment()
        secret = "" if self._tls or outside else stack_secret.from_environment()
        self.given_up = asyncio.Event()
        """Set when the process is of no more use, and has to be started again."""
        guard = _Guard(settings, Callers(settings.allowed_callers, self._tls), secret, Shortages(self.give_up))
        size = settings.max_message_bytes
        self._settings = settings
        self._services = services
        self._ready = ready
        self._disk = disk
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            interceptors=[guard],
            options=[
                ("grpc.max_receive_message_length", size),
                ("grpc.max_send_message_length", size),
                ("grpc.max_connection_age_ms", settings.max_connection_age_seconds * 1000),
                ("grpc.max_connection_age_grace_ms", int(settings.max_deadline_seconds * 1000)),
                ("grpc.so_reuseport", 0),
                # A client may keep an idle connection alive: it notices a dead server sooner.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
            ],
        )
        register(self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection([*services, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server)
        if self._tls:
            self.port = self._server.add_secure_port(settings.listen, self._tls.server_credentials())
        else:
            self.port = self._server.add_insecure_port(settings.listen)
        # Kubernetes' own probes speak no TLS. This one tells the same truth and nothing else.
        self._probed: grpc.aio.Server | None = None
        self.health_port = 0
        if settings.health_listen:
            self._probed = grpc.aio.server(options=[("grpc.so_reuseport", 0)], maximum_concurrent_rpcs=_MOST_PROBES)
            health_pb2_grpc.add_HealthServicer_to_server(self._health, self._probed)
            self.health_port = self._probed.add_insecure_port(settings.health_listen)
        self._watch: asyncio.Task[None] | None = None
        self._disk_short = False

    async def start(self) -> None:
        """Listen; health is NOT_SERVING until ready() has succeeded once."""
        await self._set(serving=False)
        await self._health.set(LIVE, health_pb2.HealthCheckResponse.SERVING)
        await self._server.start()
        if self._probed:
            await self._probed.start()
        self._watch = self.depend_on(asyncio.create_task(self._watch_ready()))

    def give_up(self, why: str) -> None:
        """Have the process drained and ended, to be started again by whoever started it."""
        if not self.given_up.is_set():
            log.error("gives_up", why=why)
            self.given_up.set()

    def depend_on(self, task: asyncio.Task[T]) -> asyncio.Task[T]:
        """Give up when a task of the background fails: without it the process would only look alive."""

        def ended(done: asyncio.Task[T]) -> None:
            if not done.cancelled() and (error := done.exception()):
                self.give_up(f"a task of the background failed ({type(error).__name__}: {error})")

        task.add_done_callback(ended)
        return task

    async def stop(self) -> None:
        """NOT_SERVING, then wait for running calls, then stop."""
        if self._watch:
            self._watch.cancel()
        await self._set(serving=False)
        await self._server.stop(self._settings.drain_seconds)
        if self._probed:
            await self._probed.stop(None)

    async def wait(self) -> None:
        """Until the server has stopped."""
        await self._server.wait_for_termination()

    async def _set(self, *, serving: bool) -> None:
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        READY.set(1 if serving else 0)
        for name in ("", *self._services):
            await self._health.set(name, status)

    async def _watch_disk(self, disk: Disk) -> None:
        status = health_pb2.HealthCheckResponse.SERVING
        try:
            await asyncio.to_thread(disk.check)
        except DiskFull as error:
            status = health_pb2.HealthCheckResponse.NOT_SERVING
            if not self._disk_short:
                log.warning("disk_short", why=error.message)
        self._disk_short = status != health_pb2.HealthCheckResponse.SERVING
        await self._health.set(WRITING, status)

    async def _watch_ready(self) -> None:
        was: bool | None = None
        told = ""
        while True:
            try:
                if self._tls:
                    self._tls.check()
                if self._ready:
                    async with asyncio.timeout(10):
                        await self._ready()
                now, why, lasting = True, "", False
            except Exception as error:  # noqa: BLE001  # whatever it is, the service is not ready, and the log says why
                now, why = False, f"{type(error).__name__}: {error}"
                lasting = isinstance(error, Conflict)
            if self._disk:
                await self._watch_disk(self._disk)
            if now != was or why != told:  # what is in the way now may be another thing than at first
                # Lasting: something must be changed, and whoever waits for the service may stop.
                log.info("serving" if now else "not_serving", why=why, **({"lasting": True} if lasting else {}))
                told = why
            if now != was:
                await self._set(serving=now)
                was = now
            await asyncio.sleep(5.0 if now else 0.5)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a service's main; where it cannot start, its log says why in one line, and the exit code is 1."""
    try:
        return asyncio.run(main)
    except QueleaError as error:
        log.error("cannot_start", why=error.message)
        raise SystemExit(1) from error


async def first_of(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def serve(
    server: Server,
    on_stop: Callable[[], Awaitable[None]] | None = None,
    background: Iterable[asyncio.Task[Any]] = (),
) -> None:
    """Run until SIGTERM or SIGINT, then drain, then call on_stop.

    Args:
        server: Not started.
        on_stop: Called at the end.
        background: Tasks without which the service is of no use; when one fails, all of this ends with exit code 1.
    """
    # At its end Python looks for garbage among all that is loaded: half a second of a processor, for nothing.
    atexit.register(gc.freeze)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sig in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sig, stop.set)
    for task in background:
        server.depend_on(task)
    await server.start()
    log.info("listening", port=server.port)
    await first_of(stop, server.given_up)
    log.info("draining")
    await server.stop()
    if on_stop:
        await on_stop()
    log.info("stopped")
    if server.given_up.is_set():
        raise SystemExit(1)
