"""python -m quelea_sandbox: settings -> logging -> build -> serve."""

from __future__ import annotations

import grpc
from quelea.sandbox.v1 import sandbox_pb2_grpc as pb_grpc
from quelea.sandbox.v1 import tools_pb2_grpc
from quelea_kit.logging import setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, run, serve
from quelea_kit.tracing import setup_tracing

from quelea_sandbox.adapters.backend import Backend
from quelea_sandbox.registry import service as tools
from quelea_sandbox.registry.settings import ToolSettings
from quelea_sandbox.service import NAME, SandboxService
from quelea_sandbox.settings import SandboxSettings


def build(settings: SandboxSettings) -> Backend:
    """The backend that the settings ask for; its client library alone is loaded."""
    if settings.backend == "kubernetes":
        from quelea_sandbox.adapters.kubernetes import KubernetesBackend  # noqa: PLC0415  # 50 MB of memory

        return KubernetesBackend(settings)
    from quelea_sandbox.adapters.docker import DockerBackend  # noqa: PLC0415  # the same

    return DockerBackend(settings)


async def main() -> None:
    """Serve until told to stop; then every container of this service is removed."""
    settings = SandboxSettings()
    setup_logging("sandbox", settings)
    setup_tracing("sandbox", settings)
    start_metrics(settings)
    service = SandboxService(build(settings), settings)
    catalogue = tools.build(ToolSettings())

    def register(s: grpc.aio.Server) -> None:
        pb_grpc.add_SandboxServiceServicer_to_server(service, s)
        tools_pb2_grpc.add_ToolServiceServicer_to_server(catalogue, s)

    async def stop() -> None:
        catalogue.health.flush()
        await service.stop()

    server = Server(settings, [NAME, tools.SERVICE], register, ready=service.pool.ready)
    service.start()
    await serve(server, on_stop=stop)


if __name__ == "__main__":
    run(main())
