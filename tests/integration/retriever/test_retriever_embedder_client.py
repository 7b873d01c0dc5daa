"""The embedder's client against a real gRPC server with a made-up embedder behind it."""

import numpy as np
import pytest
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.testing import free_port, running
from quelea_retriever.adapters.embedder import GrpcEmbedder


class Servicer(embedder_pb2_grpc.EmbedderServiceServicer):
    """Vectors whose first number is the text's length."""

    def __init__(self):
        self.requests, self.refuse, self.models = [], 0, ["m"]

    async def GetModel(self, request, context):  # noqa: N802  # the name in the .proto
        return embedder_pb2.GetModelResponse(model="m", dimension=2, max_texts=3)

    async def Embed(self, request, context):  # noqa: N802  # the name in the .proto
        self.requests.append(request)
        if self.refuse:
            self.refuse -= 1
            raise Overloaded("full", retry_after=0.01)
        vectors = np.array([[len(text), 1] for text in request.texts], "<f4")
        model = self.models[min(len(self.requests), len(self.models)) - 1]
        return embedder_pb2.EmbedResponse(vectors=vectors.tobytes(), count=len(vectors), dimension=2, model=model)


@pytest.fixture
async def pair():
    servicer = Servicer()

    def register(server):
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)

    async with running(register, ["quelea.embedder.v1.EmbedderService"]) as address:
        client = GrpcEmbedder(address)
        yield servicer, client
        await client.close()


async def test_more_texts_than_a_request_may_have(pair):
    servicer, client = pair
    texts = ["x" * n for n in range(1, 8)]
    embedding = await client.embed(texts, "passage", 5)
    assert embedding.vectors.shape == (7, 2)
    assert list(embedding.vectors[:, 0]) == [1, 2, 3, 4, 5, 6, 7]
    assert [len(r.texts) for r in servicer.requests] == [3, 3, 1]
    assert {r.kind for r in servicer.requests} == {embedder_pb2.EMBED_KIND_PASSAGE}


async def test_a_full_queue_is_waited_for_with_passages_and_not_with_a_question(pair):
    servicer, client = pair
    servicer.refuse = 2
    assert len((await client.embed(["a"], "passage", 5)).vectors) == 1
    servicer.refuse = 100
    with pytest.raises(Overloaded):
        await client.embed(["a"], "passage", 5)
    assert len(servicer.requests) == 3 + 6
    with pytest.raises(Overloaded):
        await client.embed(["a"], "query", 5)
    assert len(servicer.requests) == 3 + 6 + 1


async def test_vectors_of_two_models_are_not_joined(pair):
    servicer, client = pair
    servicer.models = ["m", "n"]
    with pytest.raises(Unavailable, match="changed its model"):
        await client.embed(list("abcd"), "passage", 5)


async def test_nobody_there():
    client = GrpcEmbedder(f"127.0.0.1:{free_port()}")
    with pytest.raises(Unavailable, match="The embedder does not answer") as caught:
        await client.model(5)
    assert caught.value.details["behind"] == "embedder"  # so the gateway says this and not that the retriever is away
    await client.close()
