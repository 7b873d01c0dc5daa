"""Kubernetes' probes, asked as a kubelet asks them: from the node, at the pod's address, or inside the container."""

from __future__ import annotations

import socket
from collections.abc import Mapping

import grpc
import httpx2
from docker.models.containers import Container
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support.chart_render import Object


def passes(container: Container, address: str, ports: Mapping[str, int], probe: Object) -> str:
    """Why the probe fails now; empty when it passes."""
    seconds = float(probe.get("timeoutSeconds", 1))

    def port(value: int | str) -> int:
        return ports[value] if isinstance(value, str) else value

    if "exec" in probe:
        code, output = container.exec_run(probe["exec"]["command"])
        return "" if code == 0 else f"exec says {code}: {output.decode(errors='replace')[-300:]}"
    try:
        if "tcpSocket" in probe:
            socket.create_connection((address, port(probe["tcpSocket"]["port"])), timeout=seconds).close()
        elif "httpGet" in probe:
            asked = probe["httpGet"]
            url = f"{asked.get('scheme', 'HTTP').lower()}://{address}:{port(asked['port'])}{asked['path']}"
            answer = httpx2.get(url, timeout=seconds, trust_env=False, verify=False)  # as a kubelet does
            return "" if answer.status_code < 400 else f"{url} says {answer.status_code}: {answer.text[:300]}"
        else:
            asked = probe["grpc"]
            with grpc.insecure_channel(f"{address}:{asked['port']}", (("grpc.enable_http_proxy", 0),)) as channel:
                request = health_pb2.HealthCheckRequest(service=asked.get("service", ""))
                status = health_pb2_grpc.HealthStub(channel).Check(request, timeout=seconds).status
            name = health_pb2.HealthCheckResponse.ServingStatus.Name(status)
            return "" if name == "SERVING" else f"{asked} says {name}"
    except (OSError, httpx2.HTTPError, grpc.RpcError) as error:
        return f"{probe}: {error!r}"[:400]
    return ""
