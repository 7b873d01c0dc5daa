"""Serve the catalogue alone, where no sandbox runs: `python -m quelea_sandbox.registry.serve`."""

from __future__ import annotations

import grpc
from quelea.sandbox.v1 import tools_pb2_grpc
from quelea_kit.logging import setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, serve
from quelea_kit.server import run as run_service
from quelea_kit.tracing import setup_tracing

from quelea_sandbox.registry.service import SERVICE, build
from quelea_sandbox.registry.settings import ToolSettings


async def run(settings: ToolSettings) -> None:
    """Serve until SIGTERM."""
    servicer = build(settings)

    def add(server: grpc.aio.Server) -> None:
        tools_pb2_grpc.add_ToolServiceServicer_to_server(servicer, server)

    async def stop() -> None:
        servicer.health.flush()

    await serve(Server(settings, [SERVICE], add), stop)


def main() -> None:
    """Settings, logs, traces, metrics, server."""
    settings = ToolSettings()
    setup_logging("tools", settings)
    setup_tracing("tools", settings)
    start_metrics(settings)
    run_service(run(settings))


if __name__ == "__main__":
    main()
