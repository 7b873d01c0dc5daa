"""Stand-ins for the DNS and for the network below the guard, for tests: nothing leaves the machine."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping, Sequence

import httpcore2

from quelea_search.adapters.web.guard import SocketOption
from quelea_search.core.web.addresses import is_public, parse_address


class FakeResolver:
    """Names lead where a test says.

    Args:
        answers: Name -> its answers in order, each a list of addresses; the last one is given again and again.
        default: Answer for every other name; empty: such names do not exist.
    """

    def __init__(
        self, answers: Mapping[str, Sequence[Sequence[str]]] | None = None, default: Sequence[str] = ()
    ) -> None:
        self._answers = {name: list(lists) for name, lists in (answers or {}).items()}
        self._default = default
        self.asked: list[str] = []
        self.closed = False

    async def resolve(self, host: str) -> Sequence[str]:
        """The next answer."""
        self.asked.append(host)
        lists = self._answers.get(host)
        found = self._default if lists is None else lists.pop(0) if len(lists) > 1 else lists[0]
        if not found:
            raise OSError(f"{host} does not exist")
        return found

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


class RecordingDial(httpcore2.AsyncNetworkBackend):
    """Writes down every connection. Those to the public internet fail; those inside are really made, so that a
    listener there notices a guard that lets them through."""

    def __init__(self) -> None:
        self.dialled: list[tuple[str, int]] = []
        self._real = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Record, then fail or connect."""
        self.dialled.append((host, port))
        address = parse_address(host)
        if address is not None and is_public(address):
            raise httpcore2.ConnectError(f"{host} is not dialled in tests")
        return await self._real.connect_tcp(host, port, timeout, local_address, socket_options)


class TlsWitness(httpcore2.AsyncNetworkBackend):
    """Answers every connection and notes for which name, and how strictly, TLS is then begun; there it ends."""

    def __init__(self) -> None:
        self.dialled: list[str] = []
        self.hostnames: list[str | None] = []
        self.contexts: list[ssl.SSLContext] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection on which only TLS can be begun."""
        self.dialled.append(host)
        return _TlsStart(self)


class _TlsStart(httpcore2.AsyncNetworkStream):
    def __init__(self, witness: TlsWitness) -> None:
        self._witness = witness

    async def aclose(self) -> None:
        pass

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the signature is httpcore2's
    ) -> httpcore2.AsyncNetworkStream:
        self._witness.hostnames.append(server_hostname)
        self._witness.contexts.append(ssl_context)
        raise httpcore2.ConnectError("no further")
