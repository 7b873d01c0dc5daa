"""The market-data door of a stack: the way out of the agent's code, and of fetches of filings."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.stack.home import Home
from quelea_cli.stack.model import Service
from quelea_cli.stack.probes import LIVE, grpc_probe
from quelea_cli.stack.web import LOOPBACK

CONTACT = "QUELEA_SEARCH_FILINGS_CONTACT"
_SOCKET = "door.sock"
_LONGEST_SOCKET = 100
"""Bytes of a UNIX socket's path (sun_path of unix(7) has 108)."""
_BODY_BYTES = 64 << 20
"""An annual report of an A share may have 30 MB."""


def fetches(asked: bool, environment: Mapping[str, str]) -> bool:
    """Whether filings are fetched: because the command says so, or the environment has a contact for the SEC."""
    return asked or bool(environment.get(CONTACT, "").strip())


def door_service(home: Home, port: int, environment: Mapping[str, str], log_level: str) -> Service:
    """The door's process.

    Args:
        home: Where its data are kept.
        port: Of gRPC.
        environment: The user's; wins, but for addresses and folders.
        log_level: Its own.

    Raises:
        CliError: The home's path is too long for a socket.
    """
    socket = home.market_socket / _SOCKET
    if len(str(socket).encode()) > _LONGEST_SOCKET:
        raise CliError(f"The path {socket} is too long for a socket; choose a shorter --home.", EXIT_USAGE)
    own = {
        "QUELEA_MARKET_LISTEN": f"{LOOPBACK}:{port}",
        "QUELEA_MARKET_DATA_DIR": str(home.market),
        "QUELEA_MARKET_SOCKET": str(socket),
    }
    usual = {"QUELEA_MARKET_LOG_LEVEL": log_level, "QUELEA_MARKET_BODY_BYTES": str(_BODY_BYTES)}
    return Service(
        name="door",
        command=(sys.executable, "-m", "quelea_search.door"),
        env={**usual, **environment, **own, "PYTHONUNBUFFERED": "1"},
        probe=grpc_probe(f"{LOOPBACK}:{port}"),
        live=grpc_probe(f"{LOOPBACK}:{port}", LIVE),
        port=port,
        start_group=2,
        stop_group=4,
        grace_seconds=40.0,
    )


def search_settings(home: Home, port: int) -> dict[str, str]:
    """The search service's variables for fetching through the door."""
    return {
        "QUELEA_SEARCH_FILINGS_DOOR": f"{LOOPBACK}:{port}",
        "QUELEA_SEARCH_FILINGS_DOOR_DATA": str(home.market_socket / _SOCKET),
    }
