"""Redis, the search server, two workers and the retriever on its real store as processes; only the encoder is cheap."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest_asyncio
from quelea.embedder.v1 import embedder_pb2 as pb
from quelea.embedder.v1 import embedder_pb2_grpc
from quelea_kit.testing import running
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_search.testing import Site, Stack

EMBEDDER = "quelea.embedder.v1.EmbedderService"
EMBED_SECONDS = 0.1
"""One call; it keeps the workers busy while they are killed."""
Context = grpc.aio.ServicerContext[Any, Any]


class CheapEmbedder(embedder_pb2_grpc.EmbedderServiceServicer):
    """Vectors from the words of a text, over real gRPC: the encoder is not what is tested."""

    def __init__(self) -> None:
        self._fake = FakeEmbedder()

    def register(self, server: grpc.aio.Server) -> None:
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(self, server)

    async def Embed(self, request: pb.EmbedRequest, context: Context) -> pb.EmbedResponse:  # noqa: N802  # gRPC name
        await asyncio.sleep(EMBED_SECONDS)
        found = await self._fake.embed(request.texts, "passage", 10.0)
        count, dimension = found.vectors.shape
        return pb.EmbedResponse(
            vectors=found.vectors.astype("<f4").tobytes(), count=count, dimension=dimension, model=found.model
        )

    async def GetModel(self, request: pb.GetModelRequest, context: Context) -> pb.GetModelResponse:  # noqa: N802  # gRPC name
        info = self._fake.info
        return pb.GetModelResponse(model=info.model, dimension=info.dimension, max_texts=info.max_texts)


class WholeStack(Stack):
    """With the real retriever."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self.site = Site()
        super().__init__(
            folder,
            {
                "BATCH_PASSAGES": "2",
                "WEB": "true",
                "WEB_PROVIDERS": "[]",
                "ALLOW_HOSTS": json.dumps([Site.HOST]),
                "ENVIRONMENT": "test",
                "WEB_TEST_HOSTS": json.dumps({Site.HOST: self.site.address}),
            },
        )
        self.index = folder / "index"
        self.environment |= {
            "QUELEA_RETRIEVER_LISTEN": f"127.0.0.1:{self.retriever_port}",
            "QUELEA_RETRIEVER_EMBEDDER": embedder,
            "QUELEA_RETRIEVER_DATA_DIR": str(self.index),
            "OMP_NUM_THREADS": "1",
        }

    def start_retriever(self) -> None:
        self.start("retriever", [sys.executable, "-m", "quelea_retriever"])

    def start_missing(self) -> None:
        """Whatever does not run."""
        for name in ("redis", "retriever", "server", "worker-1", "worker-2"):
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                continue
            if name.startswith("worker"):
                self.start_worker(name)
            else:
                getattr(self, f"start_{name}")()


@pytest_asyncio.fixture(loop_scope="module")
async def chaos_stack() -> AsyncIterator[WholeStack]:
    with tempfile.TemporaryDirectory(prefix="quelea-") as folder:
        async with running(CheapEmbedder().register, [EMBEDDER]) as embedder:
            stack = WholeStack(Path(folder), embedder)
            try:
                stack.start_missing()
                await stack.until_healthy()
                await stack.until_worker()
                yield stack
            finally:
                stack.stop()
                stack.site.close()
