"""An embedder that keeps its vectors on disk, in front of the real one: what was embedded once costs nothing again.

`python -m quelea_evaluation.tools.vector_cache LISTEN UPSTREAM FILE`. A vector is found by the hash of its model,
kind and text, so another encoder or another text is another vector. Evaluations index the same texts again and again.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.server import Server, run, serve
from quelea_kit.settings import ServiceSettings

SERVICE = "quelea.embedder.v1.EmbedderService"
_SECONDS = 600.0


def key_of(model: str, kind: int, text: str) -> str:
    """Where a vector is kept."""
    return hashlib.sha256(f"{model}\0{kind}\0{text}".encode()).hexdigest()


class Vectors:
    """Vectors in a file (SQLite).

    Args:
        path: Made when it is not there.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, check_same_thread=False)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Those that are there."""
        found = {}
        for key in keys:
            row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = bytes(row[0])
        return found

    def put(self, vectors: dict[str, bytes]) -> None:
        """Keep some more."""
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(vectors.items()))


class CachingEmbedder(embedder_pb2_grpc.EmbedderServiceServicer):
    """The embedder's service, asked only for what is not kept.

    Args:
        upstream: Address of the real one.
        vectors: What is kept.
    """

    def __init__(self, upstream: str, vectors: Vectors) -> None:
        self._stub = embedder_pb2_grpc.EmbedderServiceStub(channel(upstream, SERVICE, idempotent=["Embed", "GetModel"]))
        self._vectors = vectors
        self._model: embedder_pb2.GetModelResponse | None = None

    async def GetModel(  # noqa: N802  # the wire's name
        self, request: embedder_pb2.GetModelRequest, context: Any
    ) -> embedder_pb2.GetModelResponse:
        """The real one's."""
        self._model = await unary(self._stub.GetModel(request, timeout=_SECONDS))
        return self._model

    async def Embed(  # noqa: N802  # the wire's name
        self, request: embedder_pb2.EmbedRequest, context: Any
    ) -> embedder_pb2.EmbedResponse:
        """Kept vectors, and those of the real one for the rest."""
        model = self._model or await self.GetModel(embedder_pb2.GetModelRequest(), context)
        keys = [key_of(model.model, request.kind, text) for text in request.texts]
        found = await asyncio.to_thread(self._vectors.get, keys)
        wanted = [n for n, key in enumerate(keys) if key not in found]
        if wanted:
            asked = embedder_pb2.EmbedRequest(texts=[request.texts[n] for n in wanted], kind=request.kind)
            made = await unary(self._stub.Embed(asked, timeout=_SECONDS))
            rows = np.frombuffer(made.vectors, "<f4").reshape(made.count, made.dimension)
            fresh = {keys[n]: row.tobytes() for n, row in zip(wanted, rows, strict=True)}
            await asyncio.to_thread(self._vectors.put, fresh)
            found |= fresh
        joined = b"".join(found[key] for key in keys)
        return embedder_pb2.EmbedResponse(vectors=joined, count=len(keys), dimension=model.dimension, model=model.model)

    async def Entail(  # noqa: N802  # the wire's name
        self, request: embedder_pb2.EntailRequest, context: Any
    ) -> embedder_pb2.EntailResponse:
        """The real one's; nothing is kept."""
        return await unary(self._stub.Entail(request, timeout=_SECONDS))


async def _serve(listen: str, upstream: str, path: Path) -> None:
    caching = CachingEmbedder(upstream, Vectors(path))

    def add(server: grpc.aio.Server) -> None:
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(caching, server)

    await serve(Server(ServiceSettings(listen=listen), [SERVICE], add))


if __name__ == "__main__":
    run(_serve(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
