"""A knowledge base on a fake Qdrant server, two retrievers before it, and the old and the new encoder."""

import contextlib

from quelea_kit.client import unary
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.settings import Settings
from quelea_retriever.testing import running_retriever, upsert_request

TEXTS = ("net sales grew", "margin fell", "cash rose")


def old_model():
    return FakeEmbedder(32, "old")


def new_model():
    return FakeEmbedder(16, "new")


def settings_of(fake):
    return Settings(
        qdrant_url=fake.url,
        store="qdrant",
        catalogue_ttl_seconds=0.02,
        retire_grace_seconds=0.1,
        embed_timeout_seconds=5,
        qdrant_timeout_seconds=20,
    )


@contextlib.asynccontextmanager
async def two_replicas(fake, folder):
    settings = settings_of(fake)
    async with contextlib.AsyncExitStack() as stack:
        services = [
            await stack.enter_async_context(
                running_retriever(
                    folder / name,
                    store=QdrantStore(settings),
                    settings=settings,
                    embedder=old_model(),
                    next_embedder=new_model(),
                )
            )
            for name in ("a", "b")
        ]
        yield services


async def put(service, name, version=0, **more):
    texts = [f"{text} {name} v{version}" for text in TEXTS]
    await unary(service.stub.Upsert(upsert_request(f"{name} {version}", texts, uri=f"u:{name}", **more), timeout=60))


async def stored(fake):
    """uri -> version and texts, as they are in the live collection, every passage counted."""
    store = QdrantStore(settings_of(fake))
    profile = await store.open()
    records = await store.records()
    found = {r.facts.uri: sorted([p.text for p in await store.passages(r.version)]) for r in records}
    counts = {r.facts.uri: (await store.versions())[r.version] for r in records}
    await store.close()
    return profile, found, counts
