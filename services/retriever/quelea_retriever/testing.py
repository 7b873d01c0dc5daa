"""Helpers for tests: documents, passages, and a running service with a fake embedder."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_kit.client import channel
from quelea_kit.testing import running

from quelea_retriever.adapters.embedders import Embedders
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import NewPassage, Store, version_of
from quelea_retriever.core.model import DocumentFacts, PassageRecord
from quelea_retriever.core.sparse_vectors import sparse_document
from quelea_retriever.entries.entry_collections import Collections, stores
from quelea_retriever.library import Library
from quelea_retriever.service import SERVICE, RetrieverServicer
from quelea_retriever.settings import Settings

DIMENSION = 8


_MEMORY = Path("/dev/shm")  # noqa: S108  # only ever used through tempfile


@contextlib.contextmanager
def memory_folder() -> Iterator[Path]:
    """A temporary folder, in memory where the system offers it: the engine syncs a new shard for a second on disk."""
    with tempfile.TemporaryDirectory(prefix="quelea-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        yield Path(folder)


def document_id(name: str) -> str:
    """The id of a document whose bytes are the name."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def new_passages(facts: DocumentFacts, texts: Sequence[str]) -> list[NewPassage]:
    """Passages for a store, with vectors that depend on document and text only."""
    made = []
    for ordinal, text in enumerate(texts):
        seed = int.from_bytes(hashlib.sha256(f"{facts.id} {text}".encode()).digest()[:8])
        dense = np.random.default_rng(seed).normal(size=DIMENSION)
        dense /= np.linalg.norm(dense)
        passage_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{facts.id} {ordinal}"))
        passage = PassageRecord(passage_id, facts.id, ordinal, 1, 0, len(text), text, section="Item 2")
        vector = sparse_document("", "", "", text)
        made.append(
            NewPassage(
                version_of(facts),
                passage,
                dense.astype(np.float32),
                vector,
                facts.language,
                facts.tenant,
                facts.collection,
            )
        )
    return made


def upsert_request(
    name: str,
    texts: Sequence[str],
    *,
    commit: bool = True,
    passages: int | None = None,
    first: int = 0,
    **metadata: object,
) -> retriever_pb2.UpsertRequest:
    """A request for a document whose bytes are the name; `metadata` goes into its metadata."""
    one = document_id(name)
    said = common_pb2.DocumentMetadata(**{"uri": f"upload:{name}", "title": name, **metadata})  # type: ignore[arg-type]  # field types differ
    total = len(texts) + first if passages is None else passages
    return retriever_pb2.UpsertRequest(
        document=common_pb2.Document(id=one, metadata=said, pages=1, passages=total),
        passages=[
            common_pb2.Passage(
                id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{one} {ordinal}")),
                document_id=one,
                ordinal=ordinal,
                page=1,
                start=0,
                end=len(text),
                text=text,
            )
            for ordinal, text in enumerate(texts, start=first)
        ],
        commit=commit,
    )


@dataclass
class RunningRetriever:
    """A real server and what it is made of."""

    stub: retriever_pb2_grpc.RetrieverServiceAsyncStub
    library: Library
    embedder: FakeEmbedder
    servicer: RetrieverServicer
    address: str


@contextlib.asynccontextmanager
async def running_retriever(
    folder: Path,
    *,
    embedder: FakeEmbedder | None = None,
    store: Store | None = None,
    settings: Settings | None = None,
    next_embedder: FakeEmbedder | None = None,
) -> AsyncIterator[RunningRetriever]:
    """A retriever on loopback, over an embedded store unless another one is given."""
    settings = settings or Settings(data_dir=folder, sync_writes=False)
    embedder = embedder or FakeEmbedder()
    library = Library(
        store or QdrantEdgeStore(folder, sync=settings.sync_writes),
        catalogue_ttl=settings.catalogue_ttl_seconds,
        retire_grace=settings.retire_grace_seconds,
        orphan_seconds=settings.orphan_seconds,
    )
    await library.start()
    embedders = Embedders([one for one in (embedder, next_embedder) if one])
    collections = Collections(stores(settings), embedders, settings)
    servicer = RetrieverServicer(library, embedders, settings, collections)

    def register(server: grpc.aio.Server) -> None:
        retriever_pb2_grpc.add_RetrieverServiceServicer_to_server(servicer, server)

    try:
        async with (
            running(register, [SERVICE], ready=servicer.ready) as address,
            channel(address, SERVICE) as connection,
        ):
            stub = retriever_pb2_grpc.RetrieverServiceStub(connection)
            yield RunningRetriever(stub, library, embedder, servicer, address)
    finally:
        await collections.close()
        await library.close()
