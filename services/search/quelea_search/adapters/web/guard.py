"""The gate to the internet: every connection of the page reader goes to an address that was checked right before it.

Where a name leads is asked once per connection, every answer is checked, and the connection is made to that very
address: the name is not asked again, so the DNS cannot change its mind between the check and the use. TLS still names
and verifies the host. The pool of httpcore2 calls `PinnedBackend` for each new connection, also after redirects, so
that nothing can go around it; it reads no proxy from the environment.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import httpcore2

from quelea_search.core.web.addresses import is_public, parse_address
from quelea_search.core.web.errors import FetchFailed, RefusedAddress
from quelea_search.core.web.urls import DEFAULT_PORTS, WebUrl, host_matches, parse_url

ADDRESSES = 4
"""Addresses of one host that are tried, in the resolver's order."""
_RESOLVER_THREADS = 8
_INSIDE = """localhost local internal intranet lan home corp private arpa onion test example invalid alt kubernetes
    cluster svc consul""".split()
"""Last labels of names that are not of the public internet (RFC 6761, 6762, 8375, ICANN's reserved ones)."""
SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class AddressRules(Protocol):
    """What the guard is told: the page reader's settings, or the market-data door's."""

    @property
    def page_ports(self) -> Sequence[int]:
        """Ports that may be connected to."""

    @property
    def deny_hosts(self) -> Sequence[str]:
        """Hosts that are never read."""

    @property
    def web_test_hosts(self) -> Mapping[str, str]:
        """Host -> loopback address, the only way past the checks; for tests."""


class Resolver(Protocol):
    """Who says where a name leads."""

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses of a host as text. Raises OSError when there are none."""

    def close(self) -> None:
        """Let go of what it holds."""


class SystemResolver:
    """getaddrinfo() in threads of its own: a name server that hangs holds up these only."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_RESOLVER_THREADS, thread_name_prefix="resolve")

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses of a host, in the system's order."""

        def ask() -> list[str]:
            # The dot at the end keeps the search list of a cluster out: "redis" never becomes "redis.default.svc".
            found = socket.getaddrinfo(f"{host}.", None, type=socket.SOCK_STREAM)
            return list(dict.fromkeys(str(entry[4][0]) for entry in found))

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except UnicodeError as error:  # a label that the system's own IDNA does not take
            raise OSError(f"{host} is not a host name") from error

    def close(self) -> None:
        """Ask no more; questions under way end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Guard:
    """Decides which addresses are read.

    Args:
        settings: Ports, denied hosts, and the test hosts.
        resolver: Where names lead; the system's own when None.
    """

    def __init__(self, settings: AddressRules, resolver: Resolver | None = None) -> None:
        self._ports = frozenset(settings.page_ports)
        self._denied = settings.deny_hosts
        self._test_hosts = dict(_test_hosts(settings.web_test_hosts))
        self._resolver = resolver or SystemResolver()

    def check(self, url: str | WebUrl) -> WebUrl:
        """The address in normal form when nothing about it is wrong before the DNS is asked.

        Raises:
            BadUrl: See `parse_url`.
            RefusedAddress: A port, a host or a literal address that is not read.
        """
        address = parse_url(url) if isinstance(url, str) else url
        if host_matches(address.host, self._denied):
            raise RefusedAddress(f"{address.host} is on the deny list (deny_hosts).")
        if (address.host, address.port) not in self._test_hosts:
            self._check_host(address.host, address.port)
        return address

    def _check_host(self, host: str, port: int) -> None:
        if port not in self._ports:
            raise RefusedAddress(
                f"Port {port} of {host} is not allowed; allowed ports: {sorted(self._ports)} (page_ports)."
            )
        literal = parse_address(host)
        if literal is not None:
            if not is_public(literal):
                raise RefusedAddress(f"{host} is not a public address and is not read.")
            return
        labels = host.split(".")
        if len(labels) == 1 or labels[-1] in _INSIDE:
            raise RefusedAddress(f"{host} is not a public host name and is not read.")

    async def addresses(self, host: str, port: int) -> list[tuple[str, int]]:
        """Where to connect for a host, all of it checked; asked anew for each connection.

        Raises:
            RefusedAddress: One of the host's addresses is not public; one is enough to refuse them all, since mixed
                answers are how names are rebound.
            FetchFailed: The host has no address.
        """
        mapped = self._test_hosts.get((host, port))
        if mapped is not None:
            return [mapped]
        self._check_host(host, port)
        if parse_address(host) is not None:
            return [(host, port)]
        try:
            found = await self._resolver.resolve(host)
        except OSError as error:
            raise FetchFailed(f"{host} cannot be resolved: the name is wrong, or the DNS does not answer.") from error
        if not found:
            raise FetchFailed(f"{host} has no address.")
        for text in found:
            address = parse_address(text)
            if address is None or not is_public(address):
                raise RefusedAddress(f"{host} resolves to a non-public address ({text}), so it is not read.")
        return [(text, port) for text in found[:ADDRESSES]]

    def close(self) -> None:
        """Let go of the resolver."""
        self._resolver.close()


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections for the pool, to checked addresses only.

    Args:
        guard: Gives the addresses.
        dial: Opens a connection to a literal address; httpcore2's own when None.
    """

    def __init__(self, guard: Guard, dial: httpcore2.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        self._dial = dial or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first of the host's checked addresses that answers."""
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address, number in await self._guard.addresses(host, port):
            try:
                return await self._dial.connect_tcp(address, number, timeout, local_address, socket_options)
            except httpcore2.ConnectError as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  the signature is httpcore2's
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never."""
        raise RefusedAddress("Pages cannot be read from sockets of this machine.")

    async def sleep(self, seconds: float) -> None:
        """Wait, as the pool asks."""
        await asyncio.sleep(seconds)


def _test_hosts(mapping: Mapping[str, str]) -> Iterable[tuple[tuple[str, int], tuple[str, int]]]:
    """(host, port) as in the address -> (loopback address, port). A host without a port means the schemes' own."""
    for written, target in mapping.items():
        known = parse_url(f"http://{written}/")
        name, _, port = target.rpartition(":")
        loopback = "127.0.0.1" if name == "localhost" else name.strip("[]")
        explicit = written.endswith(f":{known.port}")
        for number in (known.port,) if explicit else DEFAULT_PORTS.values():
            yield (known.host, number), (loopback, int(port))
