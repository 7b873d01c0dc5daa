"""What reaches the socket before any route: heads that are too long, never end, or are no HTTP; on real connections."""

import asyncio
import contextlib
import json

import pytest
from quelea_gateway.rest.transport import protocol
from quelea_gateway.testing import standing

ASK = json.dumps({"question": "What were Apple's total net sales?", "stream": True}).encode()


@contextlib.asynccontextmanager
async def connected(stand):
    reader, writer = await asyncio.open_connection("127.0.0.1", stand.running.http_port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def all_of(reader):
    """Until the gateway closes; a connection that it resets has been closed as well."""
    said = b""
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65536):
                said += piece
    return said


async def send(writer, data):
    """As much of it as is taken."""
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()


def refused(said):
    """(status, the error's code) of the one response."""
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert said.count(b"HTTP/1.1 ") == 1
    return int(head.split()[1]), json.loads(body)["error"]["code"]


async def alive(stand):
    """A fresh connection is served."""
    async with connected(stand) as (reader, writer):
        await send(writer, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (await all_of(reader)).startswith(b"HTTP/1.1 200")


LONG = {
    "one long header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 70_000 + b"\r\n\r\n",
    "a long address": b"GET /healthz?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "many headers": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: bbbb\r\n" * 7_000 + b"\r\n",
}


@pytest.mark.parametrize("head", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("whole", [True, False], ids=["at once", "never finished"])
async def test_a_head_that_is_too_long_is_refused_and_the_connection_closed(stand, head, whole):
    async with connected(stand) as (reader, writer):
        await send(writer, head if whole else head.rstrip())
        assert refused(await all_of(reader)) == (431, "TOO_LARGE")
    await alive(stand)


async def test_a_head_that_comes_drop_by_drop_is_bounded_too(stand):
    async with connected(stand) as (reader, writer):
        await send(writer, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        said = asyncio.create_task(all_of(reader))
        sent = 0
        while not said.done() and sent < 20_000_000:
            await send(writer, b"a" * 500)
            sent += 500
            await asyncio.sleep(0)
        assert refused(await said) == (431, "TOO_LARGE")
        assert sent < 20_000_000
    await alive(stand)


async def test_a_head_just_below_the_bound_is_read(stand):
    async with connected(stand) as (reader, writer):
        fill = b"a" * (protocol.MOST_HEAD_BYTES - 200)
        await send(
            writer, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: " + fill + b"\r\n\r\n"
        )
        assert (await all_of(reader)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("beginning", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b"])
async def test_a_head_that_never_ends_is_given_up(stand, monkeypatch, beginning):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    if not beginning:  # a connection on which nothing comes at all
        stand.running._http.config.timeout_keep_alive = 0.3
    async with connected(stand) as (reader, writer):
        await send(writer, beginning)
        said = await all_of(reader)
        assert said == b"" if not beginning else refused(said) == (408, "DEADLINE_EXCEEDED")
    await alive(stand)


async def test_a_head_that_never_ends_does_not_end_the_answer_before_it(stand, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.1)
    stand.world.word_seconds = 0.05
    async with connected(stand) as (reader, writer):
        ask = (
            b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        )
        await send(writer, ask % len(ASK) + ASK + b"GET /healthz HT")
        said = await all_of(reader)
    assert b"event: answer" in said
    assert said.endswith(b"}")  # and then the refusal of what was never finished
    assert b"HTTP/1.1 408" in said


CHUNKED = (
    b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@pytest.mark.parametrize(
    "body", [b"1;" + b"a" * 200_000, b"1\r\n{\r\n0\r\nX-A: " + b"a" * 200_000], ids=["a chunk's extension", "a trailer"]
)
async def test_what_is_no_body_behind_a_head_is_bounded(stand, body):
    async with connected(stand) as (reader, writer):
        await send(writer, CHUNKED)
        await send(writer, body)
        await all_of(reader)  # closed
    await alive(stand)


async def test_a_body_in_very_small_chunks_is_a_body(stand):
    async with connected(stand) as (reader, writer):
        await send(writer, CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        spaces = b" " * 9_000 + ASK  # each chunk of one byte: more framing than the bound of a head
        for start in range(0, len(spaces), 500):
            await send(writer, b"".join(b"1\r\n%c\r\n" % byte for byte in spaces[start : start + 500]))
        await send(writer, b"0\r\n\r\n")
        assert b"event: answer" in await all_of(reader)


BAD = {
    "no HTTP": b"\x16\x03\x01 hello\r\n\r\n",
    "no Host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: bad.test\r\n\r\n",
    "a length and chunks": CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"),
    "two lengths": b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    "a folded header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n c\r\nX-B: \x00\r\n\r\n",
}


@pytest.mark.parametrize("request_", BAD.values(), ids=BAD.keys())
async def test_what_is_no_request_is_refused(stand, request_):
    async with connected(stand) as (reader, writer):
        await send(writer, request_)
        assert refused(await all_of(reader)) == (400, "INVALID_INPUT")


async def test_a_request_for_another_protocol_is_answered_in_this_one(stand):
    async with connected(stand) as (reader, writer):
        upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n\r\n"
        await send(writer, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + upgrade)
        async with asyncio.timeout(60):
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")


async def test_requests_in_a_row_on_one_connection(stand):
    async with connected(stand) as (reader, writer):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        await send(writer, one * 3 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert (await all_of(reader)).count(b"HTTP/1.1 200") == 4


async def test_a_response_is_one_write(monkeypatch):
    writes = []
    flush = protocol.OneWrite.flush

    def counted(self):
        writes.extend([b"".join(self._waiting)] * bool(self._waiting))
        flush(self)

    monkeypatch.setattr(protocol.OneWrite, "flush", counted)
    async with standing() as stand, connected(stand) as (reader, writer):
        await send(writer, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = await all_of(reader)
    assert writes == [said]
