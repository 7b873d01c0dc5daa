"""The command, killed at its work, goes on where it was."""

import asyncio
import os
import signal
import subprocess
import sys

from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_kit.testing import running, wait_until_async
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.store import Profile
from quelea_retriever.testing import running_retriever
from support.qdrant_fake import fake_qdrant
from support.reembedding import new_model, old_model, put, settings_of


def start(command, environment):
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class EmbedderServicer(embedder_pb2_grpc.EmbedderServiceServicer):
    """The new model behind the real wire, slow enough to be interrupted."""

    def __init__(self):
        self.fake, self.texts = new_model(), 0

    async def GetModel(self, request, context):  # noqa: N802  # the name in the .proto
        return embedder_pb2.GetModelResponse(model="new", dimension=16, max_texts=8)

    async def Embed(self, request, context):  # noqa: N802  # the name in the .proto
        await asyncio.sleep(0.05)
        self.texts += len(request.texts)
        vectors = (await self.fake.embed(request.texts, "query", 1)).vectors
        return embedder_pb2.EmbedResponse(
            vectors=vectors.astype("<f4").tobytes(), count=len(vectors), dimension=16, model="new"
        )


async def test_the_command_goes_on_after_kill_9_where_it_was(tmp_path):
    servicer, documents = EmbedderServicer(), 30

    def register(server):
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)

    async with (
        fake_qdrant(key="secret") as fake,
        running(register, ["quelea.embedder.v1.EmbedderService"]) as embedder,
    ):
        os.environ["QUELEA_RETRIEVER_QDRANT_API_KEY"] = "secret"
        try:
            settings = settings_of(fake)
        finally:
            del os.environ["QUELEA_RETRIEVER_QDRANT_API_KEY"]
        async with running_retriever(
            tmp_path, store=QdrantStore(settings), settings=settings, embedder=old_model(), next_embedder=new_model()
        ) as service:
            for n in range(documents):
                await put(service, f"d{n}")
            environment = {
                **os.environ,
                "QUELEA_RETRIEVER_STORE": "qdrant",
                "QUELEA_RETRIEVER_QDRANT_URL": fake.url,
                "QUELEA_RETRIEVER_QDRANT_API_KEY": "secret",
                "QUELEA_RETRIEVER_EMBEDDER": "127.0.0.1:1",
                "QUELEA_RETRIEVER_NEXT_EMBEDDER": embedder,
            }
            command = [sys.executable, "-m", "quelea_retriever.admin", "reembed"]
            killed = 0
            for after in (10, 40):
                process = await asyncio.to_thread(start, command, environment)
                await wait_until_async(lambda: servicer.texts >= after)  # noqa: B023  # within the round
                process.send_signal(signal.SIGKILL)
                killed += await asyncio.to_thread(process.wait) == -signal.SIGKILL
            assert killed == 2
            await put(service, "d0", 1)
            last = await asyncio.to_thread(start, command, environment)
            _, told = await asyncio.to_thread(last.communicate, timeout=120)
            assert last.returncode == 0, told
            assert "round 1" in told
            # Nothing twice but what was under way when it was killed: a batch of one document each time.
            assert documents * 3 + 3 <= servicer.texts <= documents * 3 + 3 + 2 * 3
            store = QdrantStore(settings)
            assert await store.open() == Profile("new", 16)
            assert len(await store.records()) == documents
            assert set((await store.versions()).values()) == {3}
            await store.close()
