"""HTTP and gRPC in one process: start both, drain both."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import Iterator
from typing import Any

import grpc
import uvicorn
from google.protobuf.descriptor import ServiceDescriptor
from quelea.gateway.v1 import agent_pb2, agent_pb2_grpc, gateway_pb2, gateway_pb2_grpc, prompts_pb2, prompts_pb2_grpc
from quelea_kit.errors import Conflict
from quelea_kit.logging import get_logger
from quelea_kit.processes.memory import Shortages
from quelea_kit.server import Server, first_of
from quelea_kit.tls import Folder

from quelea_gateway.access import host_of
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.app import build_app
from quelea_gateway.rest.transport.connection_drain import ConnectionDrain
from quelea_gateway.rest.transport.protocol import HttpProtocol
from quelea_gateway.rpc import agent_service, prompt_service
from quelea_gateway.rpc.agent_service import AgentServicer
from quelea_gateway.rpc.middleware import RpcMiddleware
from quelea_gateway.rpc.prompt_service import PromptServicer
from quelea_gateway.service import SERVICE, GatewayServicer

log = get_logger(__name__)

_KEPT_SECONDS = 75
"""How long a connection is kept without a request: longer than balancers do (60), so that they close it and not we."""
_QUIET_SECONDS = 1.0
"""Connections on which nothing has come for so long, are closed once the gateway drains."""
_COLLECT_AFTER = (10_000, 20, 20)
"""Python's (700, 10, 10) looks through the objects of every answer under way each time that a few answers are made."""


class _Http(uvicorn.Server):
    """Uvicorn that leaves the signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _bind(address: str) -> socket.socket:
    """A listening socket. Raises Conflict when the address is taken or not ours."""
    host, port = host_of(address), int(address.rsplit(":", 1)[1])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named: asyncio turns Nagle's delay off (40 ms an answer) only for a socket that says it is TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise Conflict(f"The gateway cannot listen on {address}: {error.strerror or error}.") from error
    return listener


def _rpcs(module: Any, service: str) -> ServiceDescriptor:
    descriptor: ServiceDescriptor = module.DESCRIPTOR.services_by_name[service]
    return descriptor


class Running:
    """Both servers on one gateway.

    Args:
        gateway: The clients and rules.

    Attributes:
        http_port: The port that HTTP listens on.
        grpc_port: The port that gRPC listens on.
        given_up: Set when the process is of no more use.
    """

    def __init__(self, gateway: Gateway) -> None:
        settings = gateway.settings
        public = Folder(settings.public_tls_dir, mutual=False) if settings.public_tls_dir else None
        self._gateway = gateway
        self._socket = _bind(settings.http_listen)
        self.http_port: int = self._socket.getsockname()[1]

        def register(server: grpc.aio.Server) -> None:
            answers: Any = RpcMiddleware(GatewayServicer(gateway), _rpcs(gateway_pb2, "GatewayService"), gateway)
            gateway_pb2_grpc.add_GatewayServiceServicer_to_server(answers, server)
            runs: Any = RpcMiddleware(AgentServicer(gateway), _rpcs(agent_pb2, "AgentService"), gateway)
            agent_pb2_grpc.add_AgentServiceServicer_to_server(runs, server)
            prompts: Any = RpcMiddleware(PromptServicer(gateway), _rpcs(prompts_pb2, "PromptService"), gateway)
            prompts_pb2_grpc.add_PromptServiceServicer_to_server(prompts, server)

        services = [SERVICE, agent_service.SERVICE, prompt_service.SERVICE]
        self._grpc = Server(settings, services, register, gateway.ready, tls=public, outside=True)
        self.grpc_port = self._grpc.port
        self.given_up = self._grpc.given_up
        self._app = ConnectionDrain(build_app(gateway, Shortages(self._grpc.give_up)))
        app: Any = self._app
        self._http = _Http(
            uvicorn.Config(
                app,
                timeout_keep_alive=_KEPT_SECONDS,
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                ssl_context_factory=(lambda *_: public.server_context()) if public else None,
                timeout_graceful_shutdown=max(1, int(settings.drain_seconds)),
                http=HttpProtocol,
                ws="none",
            )
        )
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen on both."""
        await self._gateway.begin()
        await self._grpc.start()
        self._serving = asyncio.create_task(self._http.serve(sockets=[self._socket]))
        while not self._http.started and not self._serving.done():  # noqa: ASYNC110  # uvicorn has a flag, no event
            await asyncio.sleep(0.01)
        log.info("listening", http_port=self.http_port, grpc_port=self.grpc_port)

    async def stop(self) -> None:
        """Send callers elsewhere, let what runs finish within drain_seconds, close."""
        await asyncio.gather(self._grpc.stop(), self._stop_http())
        await self._gateway.close()

    async def _stop_http(self) -> None:
        # Whoever has a connection here may send one request more on it; half of the time is for such latecomers.
        drain = self._gateway.settings.drain_seconds
        state, clock = self._http.server_state, asyncio.get_running_loop().time
        began = busy = clock()
        self._app.draining = True
        while state.connections and clock() - began < drain / 2 and clock() - busy < _QUIET_SECONDS:
            await asyncio.sleep(0.05)
            if state.tasks:
                busy = clock()
        self._http.config.timeout_graceful_shutdown = max(1, int(drain - (clock() - began)))
        self._http.should_exit = True
        if self._serving:
            await self._serving


def _keep_for_good() -> None:
    """Take what is loaded by now out of the garbage collector's sight, before the first call.

    A full collection goes through every object there is, modules, models and patterns, and stops every stream
    meanwhile: for a quarter of a second and more on a loaded machine, every ten seconds
    (docs/experiments/2026-11-22-gateway-load.md).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


async def run(gateway: Gateway) -> None:
    """Until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    running = Running(gateway)
    _keep_for_good()
    await running.start()
    await first_of(stop, running.given_up)
    log.info("draining")
    await running.stop()
    log.info("stopped")
    if running.given_up.is_set():
        raise SystemExit(1)
