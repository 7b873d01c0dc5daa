"""The web half of a stack: off unless switched on, and the sample web that stands in for the internet."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from quelea_cli.sample_web.site import HOSTS, TRUSTED
from quelea_cli.stack.home import Home
from quelea_cli.stack.model import Service
from quelea_cli.stack.ports import free_ports, is_free
from quelea_cli.stack.probes import http_probe

LOOPBACK = "127.0.0.1"
_ON = ("1", "true", "t", "yes", "y", "on")


PATIENCE = {
    "QUELEA_SEARCH_WEB_SECONDS": "30",
    "QUELEA_SEARCH_PAGE_SECONDS": "15",
    "QUELEA_GATEWAY_WEB_SECONDS": "32",
    "QUELEA_GATEWAY_RANK_SECONDS": "90",
}
"""With the sample web, deadlines for a machine that is busy with something else: a demonstration should be slow there
and not fail. The environment wins."""


def is_on(asked: bool, environment: Mapping[str, str]) -> bool:
    """Whether questions may leave this machine: because the command says so, or the environment of search does."""
    return asked or environment.get("QUELEA_SEARCH_WEB", "").strip().lower() in _ON


def sample_port(home: Home) -> int:
    """The port that this home's sample web had last, so that the addresses of its pages stay; else a free one."""
    note = home.run / "sample-web.port"
    with contextlib.suppress(OSError, ValueError):
        port = int(note.read_text(encoding="ascii"))
        if is_free(LOOPBACK, port):
            return port
    port = free_ports(1)[0]
    note.write_text(str(port), encoding="ascii")
    return port


def sample_settings(port: int) -> dict[str, str]:
    """The settings with which search reads the sample web, and nothing but it: a test setting, refused in production.

    One of the hosts is not on the allow-list, so that the quarantine can be seen.
    """
    return {
        "QUELEA_SEARCH_WEB": "true",
        "QUELEA_SEARCH_ENVIRONMENT": "test",
        "QUELEA_SEARCH_WEB_PROVIDERS": json.dumps(["searxng"]),
        "QUELEA_SEARCH_SEARXNG_URL": f"http://{LOOPBACK}:{port}",
        "QUELEA_SEARCH_WEB_TEST_HOSTS": json.dumps({f"{host}:{port}": f"{LOOPBACK}:{port}" for host in HOSTS}),
        "QUELEA_SEARCH_PAGE_PORTS": json.dumps([port]),
        "QUELEA_SEARCH_ALLOW_HOSTS": json.dumps(TRUSTED),
    }


def sample_service(folder: Path, port: int, environment: Mapping[str, str]) -> Service:
    """The process that serves the sample web."""
    return Service(
        name="sample-web",
        command=(sys.executable, "-m", "quelea_cli.sample_web", "--port", str(port), "--folder", str(folder)),
        env={**environment, "PYTHONUNBUFFERED": "1"},
        probe=http_probe(f"http://{LOOPBACK}:{port}/healthz"),
        port=port,
        start_group=1,
        stop_group=6,
        grace_seconds=3.0,
    )
