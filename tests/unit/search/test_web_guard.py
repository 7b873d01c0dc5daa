"""Tricks to make the page reader read what is inside: every one is refused, and nothing connects.

The listener counts connections on loopback, its port is allowed, and every name leads to 127.0.0.1: only the checks
stand between a trick and the listener.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from quelea_search.adapters.web.fake_web import FakeResolver, RecordingDial, TlsWitness
from quelea_search.adapters.web.fetch import Fetcher
from quelea_search.adapters.web.guard import Guard, SystemResolver
from quelea_search.core.web.addresses import is_public, parse_address
from quelea_search.core.web.errors import BadUrl, FetchFailed, PageError, RefusedAddress
from quelea_search.settings import SearchSettings

PUBLIC = "93.184.216.34"
LITERALS = [
    # loopback, written in every way that some resolver takes
    "http://127.0.0.1:{port}/", "http://127.0.0.1.:{port}/", "http://2130706433:{port}/", "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/", "http://0X7F.0x0.0x0.0x1:{port}/", "http://0177.0.0.1:{port}/",
    "http://017700000001:{port}/", "http://127.1:{port}/", "http://127.0.1:{port}/", "http://0x7f.1:{port}/",
    "http://0177.1:{port}/", "http://127.0x1:{port}/", "http://127.000.000.001:{port}/", "http://127.255.255.254:{port}/",
    "http://0:{port}/", "http://0.0.0.0:{port}/", "http://0.1.2.3:{port}/", "http://00:{port}/", "http://0x0:{port}/",
    # IPv6, alone and around an IPv4 address
    "http://[::1]:{port}/", "http://[0:0:0:0:0:0:0:1]:{port}/", "http://[::]:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/", "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/", "http://[::127.0.0.1]:{port}/",
    "http://[::ffff:0:127.0.0.1]:{port}/", "http://[64:ff9b::7f00:1]:{port}/", "http://[64:ff9b:1::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/", "http://[2002:a9fe:a9fe::1]:{port}/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{port}/", "http://[fe80::1]:{port}/", "http://[fe80::1%25lo]:{port}/",
    "http://[fe80::1%lo]:{port}/", "http://[fec0::1]:{port}/", "http://[fc00::1]:{port}/", "http://[fd00:ec2::254]:{port}/",
    "http://[ff02::1]:{port}/", "http://[2001:db8::1]:{port}/", "http://[100::1]:{port}/",
    "http://[2400:cb00::5efe:127.0.0.1]:{port}/", "http://[::ffff:169.254.169.254]:{port}/",
    # private, metadata, reserved
    "http://10.0.0.1:{port}/", "http://172.16.0.1:{port}/", "http://172.31.255.255:{port}/", "http://192.168.1.1:{port}/",
    "http://169.254.169.254:{port}/latest/meta-data/", "http://2852039166:{port}/", "http://0xA9FEA9FE:{port}/",
    "http://0251.0376.0251.0376:{port}/", "http://169.254.43518:{port}/", "http://100.64.0.1:{port}/",
    "http://100.100.100.200:{port}/", "http://168.63.129.16:{port}/", "http://192.0.0.192:{port}/",
    "http://192.0.2.1:{port}/", "http://198.18.0.1:{port}/", "http://198.51.100.1:{port}/", "http://203.0.113.1:{port}/",
    "http://192.88.99.1:{port}/", "http://224.0.0.1:{port}/", "http://239.255.255.250:{port}/", "http://240.0.0.1:{port}/",
    "http://255.255.255.255:{port}/",
    # other scripts' digits, dots and letters
    "http://①②⑦.⓪.⓪.①:{port}/", "http://127。0。0。1:{port}/", "http://１２７．０．０．１:{port}/", "http://127｡0｡0｡1:{port}/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{port}/", "http://⑯⑨.②⑤④.⑯⑨.②⑤④:{port}/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/",
    "http://ｌｏｃａｌｈｏｓｔ:{port}/", "http://０ｘ７ｆ.1:{port}/",
]  # fmt: skip
NAMES = [
    "http://localhost:{port}/", "http://LOCALHOST:{port}/", "http://localhost.:{port}/", "http://a.localhost:{port}/",
    "http://redis:{port}/", "http://metadata:{port}/", "http://metadata.google.internal:{port}/",
    "http://redis.default.svc:{port}/", "http://redis.default.svc.cluster.local:{port}/", "http://printer.local:{port}/",
    "http://router.lan:{port}/", "http://localtest.me:{port}/", "http://127.0.0.1.nip.io:{port}/",
    "http://rebind.example.com:{port}/", "http://xn--bcher-kva.example.com:{port}/", "http://bücher.example.com:{port}/",
    "http://www.example.com.:{port}/", "https://www.example.com:{port}/",
]  # fmt: skip
MALFORMED = [
    "http://user@127.0.0.1:{port}/", "http://www.example.com@127.0.0.1:{port}/",
    "http://user:pass@www.example.com:{port}/", "http://www.example.com:80@127.0.0.1:{port}/",
    "http://www.example.com＠127.0.0.1:{port}/", "http://www.example.com\\@127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}\\", "http://127.0.0.1:{port}\\@www.example.com/", "http://www.example.com#@127.0.0.1:{port}\n",
    "http://www.example.com:{port}\r\nHost: 127.0.0.1/", "http://www.example.com:{port}/\r\nX: y", "http://a\tb.com:{port}/",
    "http://www.example.com%0d%0a:{port}/", "http://127.0.0.1%00.example.com:{port}/", "http://%31%32%37.0.0.1:{port}/",
    "http://127.0.0.1\x00.example.com:{port}/", "http://www.exa mple.com:{port}/",
    "http://127.0.0.1 .example.com:{port}/",
    "http://www.example.com：{port}/", "http://www。example。com／:{port}/", "http://evil.c℀.example.com:{port}/",
    "http://1.2.3.4.5:{port}/", "http://256.256.256.256:{port}/", "http://08.0.0.1:{port}/", "http://0x:{port}.0xzz/",
    "http://127.0.0.4294967297:{port}/", "http://18446744073709551617:{port}/", "http://[127.0.0.1]:{port}/",
    "http://[::1:{port}/", "http://::1:{port}/", "http://[::1]evil:{port}/", "http://[v1.a]:{port}/", "http://:{port}/",
    "http:///127.0.0.1:{port}/", "http:127.0.0.1:{port}/", "http:/127.0.0.1:{port}/", "//127.0.0.1:{port}/",
    "127.0.0.1:{port}/", "http://www.example.com:99999/", "http://www.example.com:0/", "http://www.example.com:-1/",
    "http://www.example.com:８０/", "http://www.example.com:80:{port}/", "http://www.example.com:{port}abc/",
    "http://-a.example.com:{port}/", "http://a..example.com:{port}/", "http://.example.com:{port}/", "http://..:{port}/",
    "file:///etc/passwd", "gopher://127.0.0.1:{port}/_x", "ftp://127.0.0.1:{port}/", "dict://127.0.0.1:{port}/",
    "data:text/html,hello", "javascript:alert(1)", "ldap://127.0.0.1:{port}/", "unix:/var/run/docker.sock",
    "http+unix://%2fvar%2frun%2fdocker.sock/", "ws://127.0.0.1:{port}/", "jar:http://127.0.0.1:{port}/!/",
    "about:blank", "", " ", "http://", "http://" + "a" * 5000 + ".com/",
]  # fmt: skip


class Listener:
    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Counts connections on 127.0.0.1 and ::1, at the same port."""
    listener = Listener(0)

    def count(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        writer.close()

    first = await asyncio.start_server(count, "127.0.0.1", 0)
    listener.port = first.sockets[0].getsockname()[1]
    servers = [first]
    if socket.has_ipv6:
        with contextlib.suppress(OSError):  # a machine without IPv6: the other listener still counts
            servers.append(await asyncio.start_server(count, "::1", listener.port))
    try:
        yield listener
    finally:
        for server in servers:
            server.close()


def settings(port: int, **more: object) -> SearchSettings:
    values = {"page_ports": (80, 443, port), "robots": False, "page_seconds": 5.0, **more}
    return SearchSettings.model_validate(values)


@pytest.mark.parametrize("trick", [*LITERALS, *NAMES, *MALFORMED])
async def test_no_trick_reaches_the_listener(trick: str) -> None:
    async with listening() as listener:
        dial = RecordingDial()
        fetcher = Fetcher(settings(listener.port), resolver=FakeResolver(default=["127.0.0.1"]), dial=dial)
        url = trick.replace("{port}", str(listener.port))
        with pytest.raises(PageError) as caught:
            await fetcher.fetch(url)
        await fetcher.close()
        assert isinstance(caught.value, BadUrl if trick in MALFORMED else BadUrl | RefusedAddress)
        assert caught.value.reason in ("BAD_URL", "REFUSED_ADDRESS")
        assert dial.dialled == []
        assert listener.connections == 0


async def test_the_listener_would_have_noticed() -> None:
    async with listening() as listener:
        dial = RecordingDial()
        name = f"open.localhost:{listener.port}"
        known = settings(listener.port, environment="test", web_test_hosts={name: f"127.0.0.1:{listener.port}"})
        fetcher = Fetcher(known, resolver=FakeResolver(), dial=dial)
        with pytest.raises(FetchFailed):
            await fetcher.fetch(f"http://{name}/")
        await fetcher.close()
        assert listener.connections > 0


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "fd00:ec2::254", "100.64.0.1", "::ffff:127.0.0.1", "fe80::1%2",
     "0.0.0.0",  # noqa: S104  an answer of the DNS, nothing is bound
     "64:ff9b::a00:1", "2002:7f00:1::", "224.0.0.1", "not an address", ""],
)  # fmt: skip
@pytest.mark.parametrize("mixed", [False, True])
async def test_every_resolved_address_is_checked(address: str, mixed: bool) -> None:
    dial = RecordingDial()
    answer = [PUBLIC, address] if mixed else [address]
    fetcher = Fetcher(settings(80), resolver=FakeResolver({"www.example.com": [answer]}), dial=dial)
    with pytest.raises(RefusedAddress, match="resolves to a non-public address"):
        await fetcher.fetch("http://www.example.com/")
    await fetcher.close()
    assert dial.dialled == []


async def test_rebinding_between_connections_is_seen() -> None:
    dial = RecordingDial()
    resolver = FakeResolver({"www.example.com": [[PUBLIC], ["127.0.0.1"]]})
    fetcher = Fetcher(settings(80), resolver=resolver, dial=dial)
    with pytest.raises(RefusedAddress):  # the first connection fails, the second one asks again
        await fetcher.fetch("http://www.example.com/")
    await fetcher.close()
    assert dial.dialled == [(PUBLIC, 80)]
    assert resolver.asked == ["www.example.com"] * 2


async def test_a_connection_goes_to_the_checked_address_and_tries_the_next() -> None:
    dial = RecordingDial()
    resolver = FakeResolver({"www.example.com": [[PUBLIC, "2606:2800:220:1::1"]]})
    fetcher = Fetcher(settings(80), resolver=resolver, dial=dial)
    with pytest.raises(FetchFailed):
        await fetcher.fetch("http://www.example.com/")
    await fetcher.close()
    assert set(dial.dialled) == {(PUBLIC, 80), ("2606:2800:220:1::1", 80)}
    assert len(dial.dialled) == 4  # both, and once more


async def test_tls_names_and_verifies_the_host_not_the_address() -> None:
    witness = TlsWitness()
    fetcher = Fetcher(settings(80), resolver=FakeResolver({"www.example.com": [[PUBLIC]]}), dial=witness)
    with pytest.raises(FetchFailed):
        await fetcher.fetch("https://www.example.com/")
    await fetcher.close()
    assert set(witness.dialled) == {PUBLIC}
    assert set(witness.hostnames) == {"www.example.com"}
    for context in witness.contexts:
        assert context.check_hostname
        assert context.verify_mode is ssl.CERT_REQUIRED


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening() as listener:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
        dial = RecordingDial()
        fetcher = Fetcher(settings(80), resolver=FakeResolver({"www.example.com": [[PUBLIC]]}), dial=dial)
        with pytest.raises(FetchFailed):
            await fetcher.fetch("http://www.example.com/")
        await fetcher.close()
        assert {address for address, _ in dial.dialled} == {PUBLIC}
        assert listener.connections == 0


@pytest.mark.parametrize(
    "url", ["http://www.example.com:22/", "http://www.example.com:6379/", "https://a.example.com:8443/"]
)
def test_ports_are_listed(url: str) -> None:
    with pytest.raises(RefusedAddress, match="page_ports"):
        Guard(settings(80), FakeResolver()).check(url)


def test_denied_hosts_are_not_read() -> None:
    guard = Guard(settings(80, deny_hosts=["example.com"]), FakeResolver())
    with pytest.raises(RefusedAddress, match="deny_hosts"):
        guard.check("http://www.EXAMPLE.com/")
    assert guard.check("http://notexample.com/").host == "notexample.com"


@pytest.mark.parametrize(
    "url",
    ["http://open.localhost/", "http://open.localhost:8124/", "http://a.open.localhost:8123/",
     "http://open.localhost.evil.com:8123/", "http://127.0.0.1:8123/", "http://[::1]:8123/"],
)  # fmt: skip
def test_a_test_host_opens_only_itself(url: str) -> None:
    known = settings(80, environment="test", web_test_hosts={"open.localhost:8123": "127.0.0.1:9"})
    guard = Guard(known, FakeResolver())
    assert guard.check("http://OPEN.localhost:8123/x").netloc == "open.localhost:8123"
    with pytest.raises(RefusedAddress):
        guard.check(url)


async def test_a_test_host_without_a_port_means_the_schemes_own() -> None:
    known = settings(80, environment="test", web_test_hosts={"open.localhost": "localhost:9"})
    guard = Guard(known, FakeResolver())
    assert await guard.addresses("open.localhost", 80) == [("127.0.0.1", 9)]
    assert await guard.addresses("open.localhost", 443) == [("127.0.0.1", 9)]
    with pytest.raises(RefusedAddress):
        await guard.addresses("open.localhost", 8080)


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1",
                                     "2606:2800:220:1::1", "2a00:1450:4001::1"])  # fmt: skip
def test_public_addresses_are_public(address: str) -> None:
    parsed = parse_address(address)
    assert parsed is not None
    assert is_public(parsed)


async def test_the_systems_resolver_asks_for_the_name_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(host: str, _port: object, **_more: object) -> list[tuple[object, ...]]:
        asked.append(host)
        v4 = (socket.AF_INET, socket.SOCK_STREAM, 6, "", (PUBLIC, 0))
        return [v4, v4, (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fe80::1%eth0", 0, 0, 2))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    resolver = SystemResolver()
    try:
        assert await resolver.resolve("www.example.com") == [PUBLIC, "fe80::1%eth0"]
        assert asked == ["www.example.com."]
        with pytest.raises(RefusedAddress):
            await Guard(settings(80), resolver).addresses("www.example.com", 80)
    finally:
        resolver.close()
