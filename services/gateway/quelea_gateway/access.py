"""Who may come in: keys, or nobody asked while only this machine can reach the door."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from quelea_kit.errors import InvalidInput, Unauthenticated

from quelea_gateway.keys import KeyRing
from quelea_gateway.settings import Settings

LOCAL = "local"
"""The name that calls go by when no key is asked for."""


def host_of(address: str) -> str:
    """The host of host:port, [v6]:port or unix:path."""
    if address.startswith("unix:"):
        return "localhost"
    host = address.rsplit(":", 1)[0] if ":" in address else address
    return host.strip("[]")


def is_loopback_name(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach the listener."""
    return is_loopback_name(host_of(address))


class Access:
    """Names the caller of a key.

    Raises:
        InvalidInput: keys are off and a listener can be reached from elsewhere.
    """

    def __init__(self, settings: Settings) -> None:
        open_to_all = [a for a in (settings.http_listen, settings.listen) if not is_loopback(a)]
        if settings.auth == "off" and open_to_all:
            raise InvalidInput(
                f"API keys are off (QUELEA_GATEWAY_AUTH=off), but {', '.join(open_to_all)} can be reached from other "
                "machines. Listen on 127.0.0.1 or set QUELEA_GATEWAY_AUTH=keys."
            )
        self.required = settings.auth == "keys"
        self.ring = KeyRing(Path(settings.keys_file))

    def admit(self, authorization: str | None) -> str:
        """The name of the key in an Authorization value. Raises Unauthenticated."""
        if not self.required:
            return LOCAL
        scheme, _, key = (authorization or "").partition(" ")
        key = key.strip()
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated("An API key is required; send it as Authorization: Bearer KEY.")
        name = self.ring.name_of(key)
        if name is None:
            raise Unauthenticated("Unknown API key.")
        return name
