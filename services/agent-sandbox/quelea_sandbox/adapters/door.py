"""Where code in a container finds the market-data door: what its environment says."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

from quelea_kit.errors import Unavailable

from quelea_sandbox.core.model import MARKET_SOCKET
from quelea_sandbox.settings import SandboxSettings

_LOOKUP_SECONDS = 5.0


class Door:
    """The door of a deployment.

    Args:
        url: http://host:port where containers reach it over TCP; empty: by the socket that is mounted into them.
    """

    def __init__(self, url: str = "") -> None:
        self._url = urlsplit(url) if url else None

    async def environment(self) -> dict[str, str]:
        """Variables for one run. A pod can look no name up, so it is told the address; and each run afresh, since a
        door that was restarted has another.

        Raises:
            Unavailable: The door has no address now.
        """
        if self._url is None:
            return {"QUELEA_MARKET_SOCKET": MARKET_SOCKET}
        host, port = self._url.hostname or "", self._url.port or 80
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError) as error:
            raise Unavailable(
                f"Cannot resolve the address of the market-data door ({error}).", retry_after=5.0
            ) from error
        address = str(found[0][4][0])
        return {"QUELEA_MARKET_URL": f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"}


def door_of(settings: SandboxSettings) -> Door:
    """The door that the settings name."""
    return Door(settings.market_url if settings.backend == "kubernetes" else "")
