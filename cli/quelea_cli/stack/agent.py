"""The agent's half of a stack beside the market-data door: the sandbox in which its code runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.stack.home import Home
from quelea_cli.stack.model import Service
from quelea_cli.stack.probes import LIVE, grpc_probe

LOOPBACK = "127.0.0.1"
_IMAGE = "quelea-runner:latest"
_ENGINE = "unix:///var/run/docker.sock"
_CONTAINER_SECONDS = 150.0
"""Of a container's start, which loads its libraries while all the others start: 50 s on two cores that are busy."""
_START_SECONDS = 2 * _CONTAINER_SECONDS


def check_engine(environment: Mapping[str, str]) -> None:
    """Raises CliError, one line on what to do, when no engine answers here or it lacks the image."""
    address = environment.get("QUELEA_SANDBOX_DOCKER_HOST", _ENGINE)
    image = environment.get("QUELEA_SANDBOX_IMAGE", _IMAGE)
    if not address.startswith("unix://"):
        return  # another machine's: the sandbox itself says what is wrong with it
    try:
        transport = httpx2.HTTPTransport(uds=address.removeprefix("unix://"))
        with httpx2.Client(transport=transport, base_url="http://engine", timeout=10) as client:
            client.get("/_ping").raise_for_status()
            found = client.get(f"/images/{image}/json").status_code == 200
    except httpx2.HTTPError as error:
        raise CliError(
            f"The agent's code runs in Docker, and no engine answers at {address} ({error}); install it (Debian: "
            "apt-get install docker.io), see that you may use its socket, and start again.",
            EXIT_USAGE,
        ) from error
    if not found:
        raise CliError(
            f"The engine has no image {image}; pull or load it, or build it in a checkout: make runner-image.",
            EXIT_USAGE,
        )


def sandbox_service(home: Home, port: int, cache: Path, environment: Mapping[str, str], log_level: str) -> Service:
    """The sandbox.

    Args:
        home: Where its data are kept.
        port: Of gRPC.
        cache: Has the catalogue of tools.
        environment: The user's; wins, but for addresses and folders.
        log_level: Its own.
    """
    own = {
        "QUELEA_SANDBOX_LISTEN": f"{LOOPBACK}:{port}",
        "QUELEA_SANDBOX_MARKET_SOCKET_DIR": str(home.market_socket),
        "QUELEA_SANDBOX_TOOLS_FILE": str(cache / "tools/catalogue.jsonl"),
        "QUELEA_SANDBOX_TOOL_HEALTH_FILE": str(home.market / "tool-health.json"),
    }
    return Service(
        name="sandbox",
        command=(sys.executable, "-m", "quelea_sandbox"),
        env={
            "QUELEA_SANDBOX_LOG_LEVEL": log_level,
            "QUELEA_SANDBOX_START_SECONDS": f"{_CONTAINER_SECONDS:g}",
            **environment,
            **own,
            "PYTHONUNBUFFERED": "1",
        },
        probe=grpc_probe(f"{LOOPBACK}:{port}"),
        live=grpc_probe(f"{LOOPBACK}:{port}", LIVE),
        port=port,
        start_group=2,
        stop_group=3,
        grace_seconds=40.0,
        start_seconds=_START_SECONDS,
    )


def gateway_settings(home: Home, port: int) -> dict[str, str]:
    """The gateway's variables for it.

    Args:
        home: Where runs are kept.
        port: The sandbox's.
    """
    return {"QUELEA_GATEWAY_SANDBOX": f"{LOOPBACK}:{port}", "QUELEA_GATEWAY_RUNS_URL": str(home.runs)}
