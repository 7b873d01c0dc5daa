"""`quelea up --tls`: mutual TLS between the processes of a stack, with a CA that lasts as long as the stack."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from quelea_cli.stack.certificates import Authority
from quelea_cli.stack.model import Service
from quelea_cli.stack.ports import free_ports
from quelea_cli.stack.probes import LIVE, grpc_probe
from quelea_cli.stack.web import LOOPBACK

OPERATOR = "operator"
"""Name of one more certificate, for whoever calls services by hand: QUELEA_TLS_DIR=HOME/run/tls/operator."""

CALLERS = {
    "EMBEDDER": ("retriever",),
    "RETRIEVER": ("gateway", "search", "worker"),
    "SEARCH": ("gateway",),
    "GENERATOR": ("gateway",),
    "SANDBOX": ("gateway",),
    "MARKET": ("gateway", "search", "worker"),
}
"""Who calls whom: the chart's networkPolicy.arrows, by the prefix of the settings of the service that is called."""

_SERVERS = {"door": "MARKET", **{prefix.lower(): prefix for prefix in CALLERS if prefix != "MARKET"}}
_CLIENTS = ("gateway", "worker", "beat")


def secure_services(folder: Path, services: Sequence[Service]) -> list[Service]:
    """The same services, each of ours with a certificate, a list of its callers, and a plain port for its probe.

    Args:
        folder: Where the certificates are written, a folder each; their owner alone can read them.
        services: Redis, engines and the sample web stay as they are: loopback, Redis with a password.
    """
    authority = Authority()
    authority.issue(folder / OPERATOR, OPERATOR)
    result = []
    for service in services:
        if service.name in (*_SERVERS, *_CLIENTS):
            own = {"QUELEA_TLS_DIR": str(authority.issue(folder / service.name, service.name))}
            probe, live = service.probe, service.live
            if service.name in _SERVERS:
                prefix, health = _SERVERS[service.name], f"{LOOPBACK}:{free_ports(1)[0]}"
                own[f"QUELEA_{prefix}_ALLOWED_CALLERS"] = json.dumps([*CALLERS[prefix], OPERATOR])
                own[f"QUELEA_{prefix}_HEALTH_LISTEN"] = health
                probe, live = grpc_probe(health), grpc_probe(health, LIVE)
            result.append(replace(service, env={**service.env, **own}, probe=probe, live=live))
        else:
            result.append(service)
    return result
