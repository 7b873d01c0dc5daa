"""The door's own socket, used by code that means harm: every trick gets a reason or a closed connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from quelea_kit.testing import wait_until_async
from quelea_search.door.adapters import h11_messages, http_server
from support.web_sites import Site, response

HOST = "data.example-vendor.com"
URL = f"http://{HOST}/a"
Make = Callable[..., contextlib.AbstractAsyncContextManager[Any]]


async def raw(path: Path, data: bytes, *, end: bool = True) -> bytes:
    """Send bytes, read until the door closes."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
            if end:
                writer.write_eof()
        async with asyncio.timeout(60):
            with contextlib.suppress(ConnectionError):
                return await reader.read()
        return b""
    finally:
        writer.close()


def request(
    token: str, *, target: str = "/a", more: str = "", body: bytes = b"", upstream: str = f"http://{HOST}"
) -> bytes:
    head = f"GET {target} HTTP/1.1\r\nHost: d\r\nX-Quelea-Token: {token}\r\nX-Quelea-Upstream: {upstream}\r\n{more}\r\n"
    return head.encode("latin-1") + body


HARM = {
    "nothing": (b"", b""),
    "garbage": (b"\x16\x03\x01\x02\x00" * 50 + b"\r\n\r\n", b"400"),
    "no http": (b"hello\r\n\r\n", b"400"),
    "endless line": (b"GET /" + b"a" * 100_000, b"431"),
    "endless head": (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, b"431"),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", b"400"),
    "length and chunks": (
        request("t", more="Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", body=b"0\r\n\r\n"),
        b"400",
    ),
    "two lengths": (request("t", more="Content-Length: 3\r\nContent-Length: 4\r\n", body=b"abcd"), b"400"),
    "negative length": (request("t", more="Content-Length: -1\r\n"), b"400"),
    "bad chunk": (request("t", more="Transfer-Encoding: chunked\r\n", body=b"zz\r\n"), b"400"),
    "two tokens": (request("t", more="X-Quelea-Token: u\r\n"), b"400"),
    "two upstreams": (request("t", more="X-Quelea-Upstream: http://evil.io\r\n"), b"400"),
    "folded header": (request("t", more="A: b\r\n c\r\nX Y: z\r\n"), b"400"),
    "space before colon": (request("t", more="Transfer-Encoding : chunked\r\n"), b"400"),
    "nul": (request("t", more="A: \x00\r\n"), b"400"),
    "too much": (request("t", more="Content-Length: 99999999\r\n", body=b"x" * 3_000_000), b"413"),
    "no token": (request(""), b"403"),
    "guessed token": (request("A" * 43), b"403"),
    "absolute target": (request("t", target="http://evil.io/"), b"403"),
}


@pytest.mark.parametrize("name", HARM)
async def test_harm_gets_a_reason(name: str, site: Site, make_door: Make) -> None:
    data, status = HARM[name]
    site.paths["/a"] = response(b"good")
    async with make_door() as door:
        answer = await raw(door.path, data)
        assert answer.startswith(b"HTTP/1.1 " + status if status else b""), answer[:200]
        if status:
            assert b"x-quelea-refused: " in answer
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]
        assert (await door.call(door.open(), URL)).body == b"good"
        assert site.asked == ["/a"]


async def test_pipelined_requests_are_answered_in_turn_and_garbage_behind_one_ends_it(
    site: Site, make_door: Make
) -> None:
    site.paths["/a"], site.paths["/b"] = response(b"first"), response(b"second")
    async with make_door() as door:
        token = door.open()
        both = request(token) + request(token, target="/b", more="Connection: close\r\n")
        answer = await raw(door.path, both, end=False)
        assert answer.count(b"HTTP/1.1 200") == 2
        assert answer.find(b"first") < answer.find(b"second")
        answer = await raw(door.path, request(token) + b"\x00\x01garbage\r\n\r\n", end=False)
        assert answer.count(b"HTTP/1.1 200") == 1
        assert answer.count(b"HTTP/1.1 400") == 1
        smuggled = request(token, more="Content-Length: 5\r\n", body=b"12345" + request("stolen", target="/b"))
        answer = await raw(door.path, smuggled, end=True)
        assert b"second" not in answer


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400), st.integers(0, 300))
def test_any_bytes_leave_it_well(data: bytes, cut: int) -> None:
    """Against the parser alone: whatever comes, the connection ends and no task stays."""

    async def run() -> None:
        async def never(_asked: object) -> Any:
            raise AssertionError("nothing of this is a call with a token")

        server = http_server.HttpServer(never, request_bytes=100, connections=4)
        reader = asyncio.StreamReader()
        reader.feed_data(request("t", more="Content-Length: 9\r\n")[:cut] + b"\x00" + data)
        reader.feed_eof()
        sink = Sink()
        await asyncio.create_task(server._serve_connection(reader, sink))  # type: ignore[arg-type]  # as much of a writer as is used
        assert sink.closed
        assert not server._open

    asyncio.run(run())


class Sink:
    def __init__(self) -> None:
        self.closed = False

    def write(self, data: bytes) -> None:
        assert data.startswith(b"HTTP/1.1 ")

    async def drain(self) -> None:
        pass

    def write_eof(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


async def test_slow_heads_and_idle_connections_end(make_door: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h11_messages, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(h11_messages, "IDLE_SECONDS", 0.3)
    monkeypatch.setattr(h11_messages, "BODY_SECONDS", 0.3)
    async with make_door() as door:
        for begun in (b"", b"GET / HT", request("t", more="Content-Length: 10\r\n", body=b"12")):
            assert await raw(door.path, begun, end=False) == b""
        await wait_until_async(lambda: not door.http._open)


async def test_connections_are_bounded_and_who_holds_them_keeps_nobody_out(site: Site, make_door: Make) -> None:
    site.paths["/a"] = response(b"good")
    async with make_door(connections=3) as door:
        token = door.open()
        held = [await asyncio.open_unix_connection(str(door.path)) for _ in range(3)]
        await wait_until_async(lambda: len(door.http._open) == 3)
        assert (await door.call(token, URL)).body == b"good"
        assert await held[0][0].read() == b""  # it has waited longest
        await wait_until_async(lambda: len(door.http._open) == 2)
        for _, writer in held:
            writer.close()
        await wait_until_async(lambda: not door.http._open)


async def test_more_connections_than_there_are_places_for_calls(site: Site, make_door: Make) -> None:
    async with make_door(connections=2) as door:
        token, never = door.open(), asyncio.Event()

        async def hangs(_target: str, _writer: Any) -> None:
            await never.wait()

        site.paths["/a"] = hangs
        calls = [asyncio.create_task(door.call(token, URL)) for _ in range(2)]
        await wait_until_async(lambda: list(door.http._open.values()) == [True, True])
        answer = await raw(door.path, b"", end=False)
        assert answer.startswith(b"HTTP/1.1 429")
        assert b"retry-after: 1" in answer
        never.set()
        await asyncio.gather(*calls, return_exceptions=True)


async def test_a_caller_who_leaves_ends_the_call(site: Site, make_door: Make) -> None:
    site.paths["/a"] = site.hang
    async with make_door(call_seconds=60.0) as door:
        session = door.sessions.find(token := door.open())
        _, writer = await asyncio.open_unix_connection(str(door.path))
        writer.write(request(token))
        await wait_until_async(lambda: site.asked == ["/a"])
        writer.close()
        await wait_until_async(lambda: session.slots.inside == 0)
        await wait_until_async(lambda: site.left == 1)


async def test_a_running_call_is_finished_on_stop(site: Site, make_door: Make) -> None:
    go = asyncio.Event()

    async def slow(_target: str, writer: Any) -> None:
        await go.wait()
        writer.write(response(b"late"))
        await writer.drain()

    site.paths["/a"] = slow
    async with make_door() as door:
        calling = asyncio.create_task(door.call(door.open(), URL))
        await wait_until_async(lambda: site.asked == ["/a"])
        stopping = asyncio.create_task(door.http.stop(20.0))
        go.set()
        assert (await calling).body == b"late"
        await stopping


async def test_the_socket_has_its_mode_and_replaces_a_dead_one(make_door: Make) -> None:
    async with make_door() as door:
        assert stat.S_IMODE(door.path.stat().st_mode) == 0o600
        second = http_server.HttpServer(door.door.call, request_bytes=1, connections=1)
        with pytest.raises(OSError, match="in use"):
            await second.listen_unix(door.path, 0o600)
        await door.http.stop(1.0)
        await second.listen_unix(door.path, 0o666)
        second.check()
        assert (await door.call(door.open(), "https://example.com/")).refused == "HOST"
        await second.stop(1.0)


async def test_over_tcp_too(site: Site, make_door: Make) -> None:
    site.paths["/a"] = response(b"good")
    async with make_door() as door:
        await door.http.listen_tcp("127.0.0.1:0")
        reader, writer = await asyncio.open_connection("127.0.0.1", door.http.port)
        writer.write(request(door.open(), more="Connection: close\r\n"))
        async with asyncio.timeout(60):
            assert (await reader.read()).endswith(b"good")
        writer.close()


async def test_a_caller_who_waits_to_be_told_to_go_on(site: Site, make_door: Make) -> None:
    site.paths["/a"] = response(b"good")
    async with make_door() as door:
        reader, writer = await asyncio.open_unix_connection(str(door.path))
        head = request(door.open(), more="Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n")
        writer.write(head.replace(b"GET", b"POST", 1))
        async with asyncio.timeout(60):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
            writer.write(b"ab")
            assert (await reader.read()).endswith(b"good")
        writer.close()
