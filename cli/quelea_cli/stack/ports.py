"""Loopback ports for one stack."""

from __future__ import annotations

import random
import socket

from quelea_cli.errors import CliError

_LOWEST, _HIGHEST = 20_000, 32_000  # below the range from which the system takes ports for outgoing connections
_claims: list[socket.socket] = []
"""Until this process ends: UDP sockets of the numbers that it has chosen. Services take a while before they listen, and
another stack that starts meanwhile sees by these that the numbers are taken."""


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((host, port))
        except OSError:
            return False
    return True


def _claim(host: str, port: int) -> bool:
    """Whether no other stack has chosen it; none will as long as this process lives."""
    one = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        one.bind((host, port))
    except OSError:
        one.close()
        return False
    _claims.append(one)
    return True


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Different ports on which nobody listens, and which no other stack has chosen."""
    source = random.SystemRandom()
    found: list[int] = []
    for _ in range(1000):
        port = source.randrange(_LOWEST, _HIGHEST)
        if is_free(host, port) and _claim(host, port):
            found.append(port)
            if len(found) == count:
                return found
    raise CliError("Not enough free ports on this machine.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host in ("localhost", "::1") or host.startswith("127.")
