"""A document is replaced many times while it is searched: never is there no version of it, never are there two."""

import asyncio

from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.settings import Settings
from quelea_retriever.testing import memory_folder, running_retriever, upsert_request


async def replaced_under_search(service, rounds):
    def request(n):
        texts = [f"version {n} says one thing", f"version {n} says another thing", f"version {n} says no more"]
        return upsert_request(f"bytes {n}", texts, uri="upload:same.pdf", title=f"version {n}")

    await unary(service.stub.Upsert(request(0)))
    done, seen = asyncio.Event(), []

    async def watch():
        while not done.is_set():
            answer = await unary(service.stub.Search(pb.SearchRequest(query="what thing", ignore_reading=True, k=50)))
            seen.append((len(answer.passages), {p.metadata.title for p in answer.passages}))

    watchers = [asyncio.create_task(watch()) for _ in range(4)]
    for n in range(1, rounds):
        before = len(seen)
        await unary(service.stub.Upsert(request(n)))
        await wait_until_async(lambda: len(seen) >= before + 8)  # noqa: B023  # awaited before the next round
    done.set()
    await asyncio.gather(*watchers)
    assert {count for count, _ in seen} == {3}
    assert {len(titles) for _, titles in seen} == {1}
    assert len({title for _, titles in seen for title in titles}) >= rounds - 1


async def test_with_the_embedded_store():
    with memory_folder() as folder:
        async with running_retriever(folder) as service:
            await replaced_under_search(service, 25)


async def test_with_the_server_store(tmp_path):
    settings = Settings(qdrant_url=":memory:", catalogue_ttl_seconds=0.0, retire_grace_seconds=0.0)
    async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
        await replaced_under_search(service, 15)
