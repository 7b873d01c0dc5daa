"""Upstreams that hang, lie, lead inside or unpack to gigabytes: the code gets a reason, the door stays well."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from quelea_kit.testing import wait_until_async
from quelea_search.adapters.web.fake_web import FakeResolver
from support.web_sites import Site, Writer, response

HOST = "data.example-vendor.com"
URL = f"http://{HOST}/a"
Make = Callable[..., contextlib.AbstractAsyncContextManager[Any]]


def error(body: bytes) -> str:
    return str(json.loads(body)["error"]["code"])


async def test_an_answer_comes_through_with_what_the_code_needs(site: Site, make_door: Make) -> None:
    site.paths["/a"] = response(
        gzip.compress(b'{"a": "\xe4\xb8\xad"}'),
        kind="application/json; charset=utf-8",
        headers={
            "Content-Encoding": "gzip",
            "ETag": '"1"',
            "X-Rate": "5",
            "Set-Cookie": "a=b; Domain=example-vendor.com; Path=/",
            "X-Quelea-Call": "forged",
            "Strict-Transport-Security": "max-age=1",
        },
    )
    async with make_door() as door:
        reply = await door.call(door.open(), f"{URL}?x=%E4%B8%AD&_=1")
    assert (reply.status, reply.body) == (200, b'{"a": "\xe4\xb8\xad"}')
    assert reply.headers["Content-Type"] == "application/json; charset=utf-8"
    assert (reply.headers["ETag"], reply.headers["X-Rate"]) == ('"1"', "5")
    assert reply.headers["Set-Cookie"] == "a=b; Path=/"
    assert reply.headers["Content-Encoding"] is None
    assert reply.headers.get_all("X-Quelea-Call") != ["forged"]
    assert len(reply.headers.get_all("X-Quelea-Call")) == 1
    assert reply.headers["X-Quelea-Fetched"].endswith("Z")
    assert site.asked == ["/a?x=%E4%B8%AD&_=1"]


async def test_head_and_post(site: Site, make_door: Make) -> None:
    seen: list[bytes] = []

    async def echo(_target: str, writer: Writer) -> None:
        writer.write(response(b"posted"))
        await writer.drain()
        seen.append(b"")

    site.paths["/a"] = echo
    site.paths["/h"] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n"
    async with make_door() as door:
        token = door.open()
        assert (
            await door.call(token, URL, method="POST", body=b"t=1", headers={"Content-Type": "x/y"})
        ).body == b"posted"
        head = await door.call(token, f"http://{HOST}/h", method="HEAD")
        assert (head.status, head.body) == (200, b"")


async def _endless(_target: str, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def _drip(_target: str, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


BOMB = gzip.compress(bytes(64 * 2**20))
SMUGGLED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
BAD: dict[str, tuple[Any, int, str]] = {
    "hangs": ("hang", 504, "TIMEOUT"),
    "endless": (_endless, 502, "TOO_LARGE"),
    "drips": (_drip, 504, "TIMEOUT"),
    "garbage": (b"\x00\xff\xfe" * 300, 502, "UPSTREAM"),
    "no status": (b"HTTP/1.1 abc\r\n\r\n", 502, "UPSTREAM"),
    "closes": (b"", 502, "UPSTREAM"),
    "cut": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", 502, "UPSTREAM"),
    "endless head": (b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 300_000 + b"\r\n\r\n", 502, "UPSTREAM"),
    "announces too much": (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", 502, "TOO_LARGE"),
    "bomb": (response(BOMB, headers={"Content-Encoding": "gzip"}), 502, "TOO_LARGE"),
    "deflate bomb": (
        response(zlib.compress(bytes(64 * 2**20)), headers={"Content-Encoding": "deflate"}),
        502,
        "TOO_LARGE",
    ),
    "not gzip": (response(b"plain", headers={"Content-Encoding": "gzip"}), 502, "UPSTREAM"),
    "unknown packing": (response(b"plain", headers={"Content-Encoding": "br"}), 502, "UPSTREAM"),
    "split header": (b"HTTP/1.1 200 OK\r\nX-A: b\rX-Quelea-Refused: c\r\nContent-Length: 0\r\n\r\n", 502, "UPSTREAM"),
    "redirect to loopback": (response(b"", status=302, headers={"Location": "http://127.0.0.1/x"}), 403, "HOST"),
    "redirect to metadata": (response(b"", status=302, headers={"Location": "http://169.254.169.254/"}), 403, "HOST"),
    "redirect to another host": (response(b"", status=302, headers={"Location": "https://evil.io/"}), 403, "HOST"),
    "redirect to a listed name that is inside": (
        response(b"", status=307, headers={"Location": "http://inside.example-bank.com/"}),
        403,
        "ADDRESS",
    ),
    "redirect to another port": (response(b"", status=302, headers={"Location": f"http://{HOST}:22/"}), 403, "HOST"),
    "redirect to a file": (response(b"", status=302, headers={"Location": "file:///etc/passwd"}), 502, "REDIRECTS"),
    "redirect in a circle": (response(b"", status=302, headers={"Location": "/a"}), 502, "REDIRECTS"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_upstream_costs_its_call(name: str, site: Site, make_door: Make) -> None:
    behaviour, status, code = BAD[name]
    site.paths["/a"] = site.hang if behaviour == "hang" else behaviour
    site.paths["/good"] = response(b"good")
    resolver = FakeResolver({"inside.example-bank.com": [["10.0.0.7"]]})
    for seconds in (0.5, 5.0, 30.0) if code == "TIMEOUT" else (30.0,):  # the good call needs its time as well
        limits = {"read_seconds": seconds, "call_seconds": 4 * seconds, "retries": 0, "body_bytes": 2**20}
        async with make_door(resolver, **limits) as door:
            token = door.open()
            reply = await door.call(token, URL)
            assert (reply.status, reply.refused, error(reply.body)) == (status, code, code)
            good = await door.call(token, f"http://{HOST}/good")
            line = door.store.calls("r", "", 9)[0]
            assert (line.source, line.sha256, line.status) == ("refused", "", status)
            assert line.reason.startswith(code)
        if good.body == b"good":
            break
    assert good.body == b"good"


async def test_a_second_answer_behind_the_first_is_never_taken_for_the_next(site: Site, make_door: Make) -> None:
    site.paths["/a"] = SMUGGLED
    site.paths["/b"] = response(b"honest")
    async with make_door() as door:
        token = door.open()
        assert (await door.call(token, URL)).body == b"hello"
        assert (await door.call(token, f"http://{HOST}/b")).body == b"honest"


async def test_redirects_within_the_list_keep_cookies_and_drop_secrets(site: Site, make_door: Make) -> None:
    heads: list[str] = []
    site.paths["/a"] = response(
        b"",
        status=302,
        headers={"Location": "http://other.example-vendor.com/b", "Set-Cookie": "way=1; Domain=.example-vendor.com"},
    )
    site.paths["/b"] = response(b"there")
    async with make_door() as door:
        token, other = door.open("one"), door.open("two")
        original = door.upstream._exchange.send

        async def spy(method: str, url: Any, *args: Any, headers: Any, **more: Any) -> Any:
            heads.append(f"{url.host} {sorted(headers)} {headers.get('cookie', '')}")
            return await original(method, url, *args, headers=headers, **more)

        door.upstream._exchange.send = spy
        secrets = {"Authorization": "Bearer s", "Cookie": "mine=1"}
        reply = await door.call(token, URL, headers=secrets)
        assert reply.body == b"there"
        assert reply.headers["X-Quelea-Url"] == "http://other.example-vendor.com/b"
        assert "authorization" in heads[0]
        assert "authorization" not in heads[1]
        assert heads[1].endswith(" way=1")
        await door.call(other, "http://other.example-vendor.com/b")
        assert heads[2].endswith(" ")  # another session's cookies are not sent
        await door.call(token, "http://other.example-vendor.com/b")
        assert heads[3].endswith(" way=1")


async def test_get_is_tried_again_and_post_is_not(site: Site, make_door: Make) -> None:
    async def flaky(_target: str, writer: Writer) -> None:
        good = len(site.asked) % 3 == 0
        writer.write(response(b"good") if good else response(b"bad", status=503))
        await writer.drain()

    site.paths["/a"] = flaky
    async with make_door(retries=2, failures=50) as door:
        token = door.open()
        assert (await door.call(token, URL)).body == b"good"
        assert len(site.asked) == 3
        reply = await door.call(token, URL, method="POST", body=b"x")
        assert (reply.status, reply.body, reply.refused) == (503, b"bad", "")
        assert len(site.asked) == 4


async def test_a_host_that_fails_is_left_alone_then_tried(site: Site, make_door: Make) -> None:
    site.paths["/a"] = response(b"bad", status=500)
    async with make_door(retries=0, failures=2, rest_seconds=600) as door:
        token = door.open()
        assert [(await door.call(token, URL)).status for _ in range(2)] == [500, 500]
        reply = await door.call(token, URL)
        assert (reply.status, reply.refused) == (502, "RESTING")
        assert int(reply.headers["Retry-After"]) >= 1
        assert len(site.asked) == 2
        state = door.upstream.states["example-vendor.com"]
        assert (state.calls, state.failures, state.last_reason) == (2, 2, "status 500")
        site.paths["/a"] = response(b"good")
        state.breaker._open_until = time.monotonic()  # its rest is over
        assert (await door.call(token, URL)).body == b"good"
        assert state.last_ok


async def test_the_budget_of_a_host(site: Site, make_door: Make) -> None:
    site.paths["/a"] = response(b"good")
    async with make_door(calls_per_minute={"example-vendor.com": 12}, budget_wait_seconds=0) as door:
        token = door.open()
        replies = [await door.call(token, URL) for _ in range(4)]
        assert [reply.status for reply in replies] == [200, 200, 429, 429]
        assert replies[2].refused == "BUDGET"
        assert 1 <= int(replies[2].headers["Retry-After"]) <= 6
        assert len(site.asked) == 2


async def test_no_more_at_once_than_a_host_may_have(site: Site, make_door: Make) -> None:
    now, most, full = 0, 0, asyncio.Event()

    async def count(_target: str, writer: Writer) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        if now == limit:
            full.set()
        await full.wait()
        await asyncio.sleep(0.1)  # time for one too many
        now -= 1
        writer.write(response(b"good"))
        await writer.drain()

    site.paths["/a"] = count
    async with make_door() as door:
        limit = door.upstream.states["example-vendor.com"].rule.concurrent
        token = door.open()
        replies = await asyncio.gather(*(door.call(token, f"{URL}?n={n}") for n in range(12)))
        assert {reply.status for reply in replies} == {200}
        assert most == limit > 1


async def test_more_than_may_wait_is_refused(site: Site, make_door: Make) -> None:
    site.paths["/a"] = site.hang
    async with make_door(call_seconds=30.0) as door:
        token = door.open()
        waiting = [asyncio.create_task(door.call(token, f"{URL}?n={n}")) for n in range(16)]
        session = door.sessions.find(token)
        await wait_until_async(lambda: session.slots.inside == 16)
        reply = await door.call(token, f"{URL}?n=99")
        assert (reply.status, reply.refused, reply.headers["Retry-After"]) == (429, "BUSY", "1")
        door.sessions.close(session.id)  # ends the calls under way
        await asyncio.gather(*waiting, return_exceptions=True)
        assert (await door.call(token, URL)).refused == "TOKEN"


async def test_names_that_lead_inside(site: Site, make_door: Make) -> None:
    for inside in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "100.100.100.200", "::1", "fd00:ec2::254"):
        resolver = FakeResolver(default=["93.184.216.34", inside])
        async with make_door(resolver) as door:
            reply = await door.call(door.open(), "http://inside.example-bank.com/latest/meta-data")
            assert (reply.status, reply.refused) == (403, "ADDRESS"), inside
    assert site.asked == []
