"""The page reader against servers that behave, lie, hang, drip, flood and lead astray."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from quelea_kit.testing import wait_until_async
from quelea_search.adapters.web.fetch import PAGES_PER_HOST, Fetcher
from quelea_search.core.web.errors import (
    BadStatus,
    FetchFailed,
    PageError,
    PageGone,
    PageTimeout,
    PageTooLarge,
    WrongType,
)
from quelea_search.core.web.model import Validators

if TYPE_CHECKING:
    from .conftest import Asked, Site

HOST = "site.localhost:8123"
PAGE = b"<html><body><article><p>Revenue rose 12% to 1.1 billion dollars.</p></article></body></html>"
URL = f"http://{HOST}/page"
SLOW = 60.0
"""Far beyond the deadlines of the tests: reached only when one does not hold."""
Open = Callable[..., Fetcher]


async def test_a_page_comes_with_what_is_known_of_it(site: Site, open_fetcher: Open) -> None:
    site.answers["/b?utm_source=x&id=3"] = site.answer(
        PAGE, media_type='Text/HTML; Charset="GBK"', ETag='"v1"', Last_Modified="Fri, 27 Oct 2023 08:00:00 GMT"
    )
    page = await open_fetcher().fetch(f"http://{HOST}/a/../b?utm_source=x&id=3#part")
    assert (page.status, page.media_type, page.charset, page.data) == (200, "text/html", "gbk", PAGE)
    assert page.final_url == f"http://{HOST}/b?utm_source=x&id=3"
    assert page.canonical_url == f"http://{HOST}/b?id=3"
    assert page.validators == Validators('"v1"', "Fri, 27 Oct 2023 08:00:00 GMT")
    assert abs(page.fetched - time.time()) < 60
    asked = site.requests[-1]
    assert asked.method == "GET"
    assert asked.headers["host"] == HOST
    assert asked.headers["user-agent"] == "queleabot/0.1"
    assert "cookie" not in asked.headers


async def test_unchanged_pages_come_without_bytes(site: Site, open_fetcher: Open) -> None:
    async def conditional(asked: Asked, writer: asyncio.StreamWriter) -> None:
        same = asked.headers.get("if-none-match") == '"v1"' and "if-modified-since" in asked.headers
        writer.write(site.answer(status="304 Not Modified", ETag='"v1"', length=0) if same else site.answer(PAGE))
        await writer.drain()

    site.answers["/page"] = conditional
    fetcher = open_fetcher()
    old = await fetcher.fetch(URL, Validators('"v1"', "Fri, 27 Oct 2023 08:00:00 GMT"))
    assert (old.not_modified, old.data, old.status) == (True, b"", 304)
    new = await fetcher.fetch(URL, Validators('"v0"', ""))
    assert (new.not_modified, new.data) == (False, PAGE)


async def test_a_304_that_was_not_asked_for_is_no_page(site: Site, open_fetcher: Open) -> None:
    site.answers["/page"] = site.answer(status="304 Not Modified", length=0)
    for validators in (None, Validators(), Validators("bad\r\nvalue", "\x00")):
        with pytest.raises(BadStatus):
            await open_fetcher().fetch(URL, validators)


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [("404 Not Found", PageGone, "GONE"), ("410 Gone", PageGone, "GONE"), ("403 Forbidden", BadStatus, "STATUS"),
     ("500 Oops", BadStatus, "STATUS"), ("503 Busy", BadStatus, "STATUS"), ("204 No Content", BadStatus, "STATUS"),
     ("206 Partial Content", BadStatus, "STATUS"), ("300 Choices", BadStatus, "STATUS")],
)  # fmt: skip
async def test_statuses(site: Site, open_fetcher: Open, status: str, error: type[PageError], reason: str) -> None:
    site.answers["/page"] = site.answer(b"" if status.startswith("204") else b"<p>no</p>", status=status, length=0)
    with pytest.raises(error) as caught:
        await open_fetcher().fetch(URL)
    assert caught.value.reason == reason
    assert caught.value.details["status"] == status[:3]


async def test_a_busy_server_says_when_to_come_back(site: Site, open_fetcher: Open) -> None:
    site.answers["/page"] = site.answer(b"busy", status="429 Too Many Requests", Retry_After="120")
    with pytest.raises(BadStatus) as caught:
        await open_fetcher().fetch(URL)
    assert caught.value.retry_after == 120


@pytest.mark.parametrize("media_type", ["image/png", "video/mp4", "application/zip", "application/json", "text/css",
                                        "application/rss+xml", "application/xml", "multipart/form-data"])  # fmt: skip
async def test_other_types_are_refused_without_reading_the_body(
    site: Site, open_fetcher: Open, media_type: str
) -> None:
    async def endless(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(site.answer(b"x", media_type=media_type, length=10))
        await writer.drain()
        await site.release.wait()

    site.answers["/page"] = endless
    with pytest.raises(WrongType, match="is not supported"):
        await open_fetcher(page_seconds=SLOW).fetch(URL)


@pytest.mark.parametrize(
    ("media_type", "body", "found"),
    [("", PAGE, "text/html"), ("", b"%PDF-1.7 ...", "application/pdf"), ("", "一段文字".encode(), "text/plain"),
     ("application/octet-stream", b"%PDF-1.4", "application/pdf"), ("application/octet-stream", b"\x00\x01binary", ""),
     ("", b"\x89PNG\r\n\x1a\n\x00\x00", ""), ("nonsense", PAGE, "text/html"),
     ("application/octet-stream", b"words", "")],
)  # fmt: skip
async def test_the_bytes_decide_when_the_server_does_not_know(
    site: Site, open_fetcher: Open, media_type: str, body: bytes, found: str
) -> None:
    site.answers["/page"] = site.answer(body, media_type=media_type)
    if found:
        assert (await open_fetcher().fetch(URL)).media_type == found
    else:
        with pytest.raises(WrongType):
            await open_fetcher().fetch(URL)


# Size


async def test_a_page_that_says_it_is_too_large_is_not_read(site: Site, open_fetcher: Open) -> None:
    site.answers["/page"] = site.answer(b"x", length=10**12)
    with pytest.raises(PageTooLarge):
        await open_fetcher(page_seconds=SLOW).fetch(URL)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_gigabyte_is_cut_off(site: Site, open_fetcher: Open, chunked: bool) -> None:
    sent = 0

    async def flood(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        piece = b"x" * 65536
        head = b"Transfer-Encoding: chunked\r\n" if chunked else b""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head + b"\r\n")
        for _ in range(1024**3 // len(piece)):
            writer.write(b"10000\r\n" + piece + b"\r\n" if chunked else piece)
            await writer.drain()
            sent += len(piece)

    site.answers["/page"] = flood
    with pytest.raises(PageTooLarge):
        await open_fetcher(page_seconds=SLOW, page_bytes=1_000_000).fetch(URL)
    await asyncio.wait_for(site.gone.wait(), SLOW)
    assert sent < 64 * 1024 * 1024  # what the buffers of the system hold, by far not all


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate"])
async def test_bombs_are_cut_off(site: Site, open_fetcher: Open, encoding: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if "gzip" in encoding else 15)
    bomb = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(200)), packer.flush()])
    assert len(bomb) < 300_000
    site.answers["/page"] = site.answer(bomb, Content_Encoding=encoding)
    with pytest.raises(PageTooLarge):
        await open_fetcher().fetch(URL)


def _bare(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(PAGE * 5000)), ("gzip", gzip.compress(PAGE) + gzip.compress(PAGE * 4999)),
     ("gzip", gzip.compress(PAGE * 5000) + bytes(20)), ("deflate", zlib.compress(PAGE * 5000)),
     ("deflate", _bare(PAGE * 5000)), ("identity", PAGE * 5000), ("GZIP", gzip.compress(PAGE * 5000, 0))],
)  # fmt: skip
async def test_packed_pages_are_unpacked(site: Site, open_fetcher: Open, encoding: str, packed: bytes) -> None:
    site.answers["/page"] = site.answer(packed, Content_Encoding=encoding)
    assert (await open_fetcher().fetch(URL)).data == PAGE * 5000


@pytest.mark.parametrize(("encoding", "body"), [("br", b"\x0b\x02"), ("gzip, gzip", b"x"), ("gzip", b"no gzip at all")])
async def test_what_cannot_be_unpacked_fails(site: Site, open_fetcher: Open, encoding: str, body: bytes) -> None:
    site.answers["/page"] = site.answer(body, Content_Encoding=encoding)
    with pytest.raises(FetchFailed):
        await open_fetcher().fetch(URL)


async def test_a_server_may_lie_about_the_length(site: Site, open_fetcher: Open) -> None:
    async def too_long(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(site.answer(PAGE, length=len(PAGE) + 1000))
        await writer.drain()

    site.answers["/short"] = too_long
    site.answers["/page"] = site.answer(PAGE, length=50)
    site.answers["/nonsense"] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: -5\r\n\r\n" + PAGE
    fetcher = open_fetcher()
    assert (await fetcher.fetch(f"http://{HOST}/short")).data == PAGE
    assert (await fetcher.fetch(URL)).data == PAGE[:50]
    with pytest.raises(FetchFailed):
        await fetcher.fetch(f"http://{HOST}/nonsense")


# Time


async def test_a_server_that_hangs_is_left_at_the_deadline(site: Site, open_fetcher: Open) -> None:
    site.answers["/page"] = site.hang
    async with asyncio.timeout(SLOW):
        with pytest.raises(PageTimeout) as caught:
            await open_fetcher(page_seconds=0.5).fetch(URL)
    assert caught.value.reason == "TIMEOUT"


@pytest.mark.parametrize("where", ["body", "headers"])
async def test_a_server_that_drips_is_left_at_the_deadline(site: Site, open_fetcher: Open, where: str) -> None:
    async def drip(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + (b"\r\n" if where == "body" else b"X-Y: "))
        while True:  # until the client goes
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    site.answers["/page"] = drip
    with pytest.raises(PageTimeout):
        await open_fetcher(page_seconds=0.6).fetch(URL)
    await asyncio.wait_for(site.gone.wait(), SLOW)


async def test_a_caller_that_leaves_frees_the_place(site: Site, open_fetcher: Open) -> None:
    site.answers["/hang"] = site.hang
    site.answers["/page"] = site.answer(PAGE)
    fetcher = open_fetcher(page_seconds=SLOW)
    tasks = [asyncio.create_task(fetcher.fetch(f"http://{HOST}/hang")) for _ in range(PAGES_PER_HOST)]
    await wait_until_async(lambda: site.asked["/hang"] == PAGES_PER_HOST, what="the places are taken")
    waiting = asyncio.create_task(fetcher.fetch(URL))
    tasks[0].cancel()
    assert (await waiting).data == PAGE
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_few_pages_of_a_host_at_once(site: Site, open_fetcher: Open) -> None:
    async def slowly(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        writer.write(site.answer(PAGE, Connection="close"))
        await writer.drain()

    paths = [f"/{n}" for n in range(8)]
    site.answers.update(dict.fromkeys(paths, slowly))
    fetcher = open_fetcher(page_seconds=SLOW, robots=False)
    await asyncio.gather(*(fetcher.fetch(f"http://{HOST}{path}") for path in paths))
    assert site.most_at_once <= PAGES_PER_HOST
    assert sum(site.asked[path] for path in paths) == 8


# Connections


async def test_a_broken_connection_is_tried_once_more(site: Site, open_fetcher: Open) -> None:
    async def first_time_broken(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if site.asked[asked.path] > 1:
            writer.write(site.answer(PAGE))
            await writer.drain()

    async def always_broken(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.close()

    site.answers |= {"/page": first_time_broken, "/broken": always_broken}
    fetcher = open_fetcher()
    assert (await fetcher.fetch(URL)).data == PAGE
    with pytest.raises(FetchFailed):
        await fetcher.fetch(f"http://{HOST}/broken")
    assert site.asked["/broken"] == 2


@pytest.mark.parametrize(
    "said", [b"SSH-2.0-OpenSSH_9\r\n\r\n", b"\x00" * 500, b"HTTP/1.1 200 OK\r\nA: " + b"x" * 500_000]
)
async def test_what_is_no_http_fails(site: Site, open_fetcher: Open, said: bytes) -> None:
    async def other(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    site.answers["/page"] = other
    with pytest.raises(FetchFailed):
        await open_fetcher(robots=False).fetch(URL)
