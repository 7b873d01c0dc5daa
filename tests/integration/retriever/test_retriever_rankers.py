"""The ranker of a knowledge base: over the wire, of the right encoder, through a re-embedding and back."""

import asyncio
import json

import pytest
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.core.ranking.ranking_features import FEATURES, VERSION
from quelea_retriever.maintenance import reembed
from quelea_retriever.testing import memory_folder, running_retriever, upsert_request
from support.qdrant_fake import fake_qdrant
from support.reembedding import new_model, old_model, put, settings_of

CALLERS = 20


def ranker(path, encoder, weight=1.0, version=VERSION):
    weights = {"dense": weight, "sparse": weight}
    said = {"features_version": version, "encoder": encoder, "anywhere": weights, "in_filing": weights}
    path.write_text(json.dumps(said))
    return str(path)


async def search(service, query="net sales grew", **more):
    return await unary(service.stub.Search(pb.SearchRequest(query=query, **more), timeout=60))


async def test_features_come_on_demand(service):
    await unary(service.stub.Upsert(upsert_request("apple", ["net sales grew in 2023", "margin fell"])))
    plain = await search(service)
    assert plain.encoder == "fake"
    assert not plain.HasField("ranker")
    assert all(not one.features for one in plain.passages)
    told = await search(service, with_features=True)
    assert list(told.ranker.features) == list(FEATURES)
    assert told.ranker.features_version == VERSION
    assert told.ranker.fitted == told.ranker.encoder == ""
    assert len(told.passages) == 2
    for one in told.passages:
        weighed = sum(x * w for x, w in zip(one.features, told.ranker.anywhere_weights, strict=True))
        assert one.score == pytest.approx(weighed)
    assert all(not one.features for one in (await search(service, with_features=True, plain_fusion=True)).passages)


async def test_a_ranker_of_another_encoder_is_refused_with_what_mends_it(tmp_path):
    settings = settings_of(type("Fake", (), {"url": ":memory:"}))
    with memory_folder() as folder:
        mixed = settings.model_copy(update={"ranker_file": ranker(tmp_path / "r.json", "other@1")})
        async with running_retriever(folder, settings=mixed, embedder=FakeEmbedder()) as service:
            with pytest.raises(Conflict, match="quelea models activate"):
                await search(service)
            with pytest.raises(Conflict, match="quelea train ranker"):
                await service.servicer.ready()


async def test_a_ranker_for_other_features_keeps_the_service_from_starting(tmp_path):
    settings = settings_of(type("Fake", (), {"url": ":memory:"}))
    old = settings.model_copy(update={"ranker_file": ranker(tmp_path / "r.json", "", version=VERSION + 1)})
    with memory_folder() as folder, pytest.raises(InvalidInput, match=f"version {VERSION + 1} of the ranking features"):
        async with running_retriever(folder, settings=old):
            pass


async def test_switch_and_roll_back_while_many_ask(tmp_path):
    async with fake_qdrant() as fake:
        settings = settings_of(fake).model_copy(
            update={
                "ranker_file": ranker(tmp_path / "old.json", "old"),
                "next_ranker_file": ranker(tmp_path / "new.json", "new", 2.0),
            }
        )
        async with running_retriever(
            tmp_path, store=QdrantStore(settings), settings=settings, embedder=old_model(), next_embedder=new_model()
        ) as service:
            for n in range(10):
                await put(service, f"still-{n}")
            done, seen = asyncio.Event(), []

            async def ask():
                while not done.is_set():
                    answer = await search(service, with_features=True)
                    seen.append((answer.encoder, answer.ranker.encoder, answer.ranker.anywhere_weights[0]))
                    assert answer.passages
                    await asyncio.sleep(0)

            callers = [asyncio.create_task(ask()) for _ in range(CALLERS)]
            job = QdrantStore(settings)
            for model in (new_model(), old_model()):
                await wait_until_async(lambda: len(seen) > CALLERS or any(one.done() for one in callers))
                await reembed.on_server(settings, job.client, model)
                wanted, before = (await model.model(5)).model, len(seen)
                await wait_until_async(
                    lambda wanted=wanted, before=before: (
                        wanted in {one[0] for one in seen[before:]} or any(one.done() for one in callers)
                    )
                )
            done.set()
            await asyncio.gather(*callers)
            await job.close()
        assert set(seen) == {("old", "old", 1.0), ("new", "new", 2.0)}
        order = [one for i, (one, *_) in enumerate(seen) if i == 0 or one != seen[i - 1][0]]
        assert order[0] == order[-1] == "old"
