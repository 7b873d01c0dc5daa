"""Uploads over real gRPC: what is refused, and that nothing is left of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator

import grpc
import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import server_errors, unary
from quelea_kit.errors import InvalidInput, Overloaded, QueleaError, TooLarge
from quelea_kit.testing import wait_until_async

TEXT = "\f".join(f"page {n}\nsecond line of {n}\nthird line of {n}" for n in range(1, 6)).encode()


def id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@pytest.mark.parametrize("size", [2001, 3500])
async def test_too_large_is_refused(search_room, size: int) -> None:
    with pytest.raises(TooLarge) as caught:
        await search_room.submit(b"x" * size, piece=10)
    assert caught.value.details == {"max_document_bytes": "2000"}
    assert search_room.files() == []
    assert (await search_room.submit(b"x" * 2000)).state == pb.JOB_STATE_QUEUED


async def test_an_endless_upload_is_cut_off(search_room) -> None:
    sent = 0

    async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
        nonlocal sent
        yield pb.SubmitDocumentRequest(info=pb.DocumentInfo(filename="a.txt"))
        while sent < 100_000:
            sent += 1
            yield pb.SubmitDocumentRequest(chunk=b"x" * 500)
            await asyncio.sleep(0)

    with pytest.raises(QueleaError):
        await unary(search_room.stub.SubmitDocument(messages(), timeout=60))
    assert sent < 100_000
    assert search_room.files() == []


@pytest.mark.parametrize("filename", ["", "/", "a/..", "\u0000"])
async def test_an_upload_needs_a_name(search_room, filename: str) -> None:
    with server_errors(), pytest.raises(InvalidInput):
        await unary(search_room.stub.SubmitDocument(_one(pb.DocumentInfo(filename=filename)), timeout=60))


async def test_an_upload_begins_with_its_info_and_has_it_once(search_room) -> None:
    async def chunk_first() -> AsyncIterator[pb.SubmitDocumentRequest]:
        yield pb.SubmitDocumentRequest(chunk=b"x")

    async def info_twice() -> AsyncIterator[pb.SubmitDocumentRequest]:
        for _ in range(2):
            yield pb.SubmitDocumentRequest(info=pb.DocumentInfo(filename="a"))

    async def nothing() -> AsyncIterator[pb.SubmitDocumentRequest]:
        return
        yield

    for messages in (chunk_first, info_twice, nothing):
        with pytest.raises(InvalidInput):
            await unary(search_room.stub.SubmitDocument(messages(), timeout=60))
    assert search_room.files() == []


async def test_a_client_that_leaves_in_the_middle_leaves_nothing(search_room) -> None:
    async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
        yield pb.SubmitDocumentRequest(info=pb.DocumentInfo(filename="a.txt"))
        yield pb.SubmitDocumentRequest(chunk=b"half")
        await asyncio.sleep(600)

    # The server sees the stream end as if it were complete, a moment before it is told that the caller has left.
    for _ in range(10):
        async with grpc.aio.insecure_channel(search_room.address) as line:
            call = search_pb2_grpc.SearchServiceStub(line).SubmitDocument(messages(), timeout=600)
            await wait_until_async(lambda: bool(search_room.files()), what="the first bytes")
            call.cancel()
            await wait_until_async(lambda: not search_room.files(), what="nothing is left")
    assert search_room.store.newest(10) == ([], None)


async def test_a_full_queue_refuses_before_it_stores_anything(search_room) -> None:
    for number in range(3):
        await search_room.submit(b"%d" % number, f"{number}.txt")
    files = search_room.files()
    with server_errors(), pytest.raises(Overloaded) as caught:
        await unary(search_room.stub.SubmitDocument(_one(pb.DocumentInfo(filename="x")), timeout=60))
    assert caught.value.retry_after
    assert search_room.files() == files
    assert (await search_room.stub.GetInfo(pb.GetInfoRequest())).queued == 3


async def _one(info: pb.DocumentInfo) -> AsyncIterator[pb.SubmitDocumentRequest]:
    yield pb.SubmitDocumentRequest(info=info)
