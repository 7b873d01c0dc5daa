"""A knowledge base gets vectors of another encoder while it is asked and written to, and nobody notices."""

import asyncio
import random

import pytest
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, Unavailable
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters import qdrant_alias
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.store import SCHEMA, Profile
from quelea_retriever.maintenance import reembed
from quelea_retriever.maintenance.collection_copy import Copier
from quelea_retriever.testing import document_id, running_retriever, upsert_request
from support.qdrant_fake import fake_qdrant
from support.reembedding import TEXTS, new_model, old_model, put, settings_of, stored, two_replicas


class Writer:
    """Adds, replaces, deletes and uploads in parts, through any replica, and knows what must be there."""

    def __init__(self, services, seed):
        self.services, self.random, self.expected, self.number, self.failed = services, random.Random(seed), {}, 0, []
        self.seed = seed

    def name(self, n):
        return f"{self.seed}-{n}"

    async def step(self):
        service = self.random.choice(self.services)
        self.number += 1
        name = self.name(self.random.randrange(12))
        what = self.random.choice(["put", "put", "parts", "delete"])
        if what == "delete" and name in self.expected:
            version = self.expected.pop(name)
            await unary(service.stub.Delete(pb.DeleteRequest(document_id=document_id(f"{name} {version}")), timeout=60))
        elif what == "parts":
            texts = [f"{text} {name} v{self.number}" for text in TEXTS]
            for n, text in enumerate(texts):  # each part to another replica, perhaps on two sides of the switch
                request = upsert_request(
                    f"{name} {self.number}", [text], uri=f"u:{name}", first=n, passages=3, commit=n == 2
                )
                await unary(self.random.choice(self.services).stub.Upsert(request, timeout=60))
                await asyncio.sleep(self.random.random() * 0.1)
            self.expected[name] = self.number
        else:
            await put(service, name, self.number)
            self.expected[name] = self.number

    async def run(self, done):
        while not done.is_set():
            try:
                await self.step()
            except Exception as error:  # noqa: BLE001  # every failure counts
                self.failed.append(error)
                return
            await asyncio.sleep(0.005)


async def ask(services, done, failed, asked):
    """A document that nobody touches is in every answer, whole, whichever collection it comes from."""
    steady = pb.Filters(document_ids=[document_id("steady 0")])
    request = pb.SearchRequest(query="net sales grew steady", k=200, ignore_reading=True, filters=steady)
    while not done.is_set():
        for service in services:
            try:
                answer = await unary(service.stub.Search(request, timeout=60))
            except Exception as error:  # noqa: BLE001  # every failure counts
                failed.append(error)
                return
            if sorted(p.passage.text for p in answer.passages) != sorted(f"{text} steady v0" for text in TEXTS):
                failed.append(AssertionError(str(answer)))
            asked.append(1)
        await asyncio.sleep(0.005)


async def test_no_request_fails_and_no_document_is_lost_or_doubled(tmp_path):
    async with fake_qdrant() as fake, two_replicas(fake, tmp_path) as services:
        for n in range(15):
            await put(services[0], f"still-{n}")
        await put(services[0], "steady")
        done, failed, asked = asyncio.Event(), [], []
        writers = [Writer(services, seed) for seed in range(3)]
        tasks = [asyncio.create_task(writer.run(done)) for writer in writers]
        tasks.append(asyncio.create_task(ask(services, done, failed, asked)))
        await asyncio.sleep(0.3)
        old = await QdrantStore(settings_of(fake)).aliases.live()
        settings, said = settings_of(fake), []
        job = QdrantStore(settings)
        told = await reembed.on_server(settings, job.client, new_model(), say=said.append)
        assert f"names quelea-v{SCHEMA}-" in told
        assert any("round 1" in line for line in said)
        before, written = len(asked), sum(writer.number for writer in writers)
        await wait_until_async(lambda: failed or len(asked) > before + 6)
        await wait_until_async(
            lambda: any(w.failed for w in writers) or sum(w.number for w in writers) > written + 10, seconds=60
        )
        done.set()
        await asyncio.gather(*tasks)
        await job.close()
        assert failed == []
        assert [writer.failed for writer in writers] == [[], [], []]
        profile, found, counts = await stored(fake)
        assert profile == Profile("new", 16)
        expected = {f"u:{name}": v for writer in writers for name, v in writer.expected.items()}
        expected |= {f"u:still-{n}": 0 for n in range(15)} | {"u:steady": 0}
        assert found == {
            uri: sorted(f"{text} {uri[2:]} v{version}" for text in TEXTS) for uri, version in expected.items()
        }
        assert set(counts.values()) == {3}
        assert await fake.client.collection_exists(old), "kept until it is dropped"
        for service in services:
            stats = await unary(service.stub.GetStats(pb.GetStatsRequest()))
            assert (stats.model, stats.documents) == ("new", len(expected))
        again = QdrantStore(settings)
        told = await reembed.on_server(settings, again.client, new_model(), drop_old=True)
        assert "nothing to do" in told
        assert f"{old} is dropped" in told
        assert not await fake.client.collection_exists(old)
        await put(services[0], "after")
        assert "no older" in await reembed.on_server(settings, again.client, new_model(), drop_old=True)
        await again.close()


async def test_a_write_in_the_last_moment_is_acknowledged_only_in_the_new_collection(tmp_path):
    async with fake_qdrant() as fake, two_replicas(fake, tmp_path) as services:
        await put(services[0], "first")
        await put(services[0], "gone")
        source = QdrantStore(settings_of(fake))
        await source.open()
        target = QdrantStore(settings_of(fake), source.client, collection="quelea-next")
        await target.ensure(Profile("new", 16), previous=source.collection)
        await Copier(source, target, new_model(), header=True, seconds=5).round()
        alias = await source.aliases.begin_switch("quelea-next")  # the last round is over, for what this test does
        late = asyncio.create_task(put(services[0], "late"))
        request = pb.DeleteRequest(document_id=document_id("gone 0"))
        dropped = asyncio.ensure_future(unary(services[1].stub.Delete(request, timeout=60)))

        async def written():
            return {record.facts.uri for record in await source.records()} == {"u:first", "u:late"}

        async with asyncio.timeout(60):
            while not await written():  # noqa: ASYNC110  # in the old one, where nobody copies it any more: no event tells
                await asyncio.sleep(0.02)
        await source.aliases.end_switch(alias)
        await asyncio.gather(late, dropped)
        _, found, counts = await stored(fake)
        assert set(found) == {"u:first", "u:late"}
        assert set(counts.values()) == {3}
        await source.close()


async def test_an_upload_that_was_begun_before_the_switch_is_finished_after_it(tmp_path):
    async with fake_qdrant() as fake, two_replicas(fake, tmp_path) as services:
        await put(services[0], "first")
        begun = upsert_request("long", ["one"], passages=2, commit=False)
        await unary(services[0].stub.Upsert(begun))
        job = QdrantStore(settings_of(fake))
        await reembed.on_server(settings_of(fake), job.client, new_model())
        await unary(services[1].stub.Upsert(upsert_request("long", ["two"], passages=2, first=1)))
        _, found, _ = await stored(fake)
        assert found["upload:long"] == ["one", "two"]
        await job.close()


async def test_a_writer_revokes_a_switch_whose_maker_is_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(qdrant_alias, "HOLD_SECONDS", 0.3)
    async with fake_qdrant() as fake, two_replicas(fake, tmp_path) as services:
        await put(services[0], "first")
        store = QdrantStore(settings_of(fake))
        await store.open()
        alias = await store.aliases.begin_switch(store.collection)  # and is killed here
        await put(services[0], "second")
        assert alias not in await store.aliases.all()
        with pytest.raises(Conflict, match="revoked"):
            await store.aliases.end_switch(alias)
        assert await store.aliases.live() == store.collection
        await store.close()


async def test_back_to_the_encoder_of_before_with_what_came_meanwhile(tmp_path):
    async with fake_qdrant() as fake, two_replicas(fake, tmp_path) as services:
        await put(services[0], "kept")
        await put(services[0], "replaced")
        job = QdrantStore(settings_of(fake))
        await reembed.on_server(settings_of(fake), job.client, new_model())
        await put(services[1], "replaced", 1)
        await put(services[1], "new")
        await reembed.on_server(settings_of(fake), job.client, old_model())
        profile, found, counts = await stored(fake)
        assert profile == Profile("old", 32)
        assert set(found) == {"u:kept", "u:replaced", "u:new"}
        assert found["u:replaced"][0].endswith("v1")
        assert set(counts.values()) == {3}
        await job.close()


async def test_an_embedder_that_is_busy_is_waited_for_and_one_that_changes_ends_it(tmp_path):
    class Busy(FakeEmbedder):
        refusals = 3

        async def embed(self, texts, kind, seconds):
            assert len(texts) <= 64
            if self.refusals:
                self.refusals -= 1
                raise Overloaded("full", retry_after=0.01)
            return await super().embed(texts, kind, seconds)

    async with fake_qdrant() as fake, two_replicas(fake, tmp_path) as services:
        await put(services[0], "first")
        job = QdrantStore(settings_of(fake))
        with pytest.raises(InvalidInput, match="--into"):
            await reembed.on_server(settings_of(fake), job.client, new_model(), into="elsewhere")
        busy = Busy(16, "new")
        await reembed.on_server(settings_of(fake), job.client, busy, into="quelea-mine")
        assert busy.refusals == 0
        assert await job.aliases.live() == "quelea-mine"
        await job.close()


async def test_a_retriever_without_the_new_encoder_refuses_and_says_what_to_do(tmp_path):
    async with fake_qdrant() as fake:
        settings = settings_of(fake)
        async with running_retriever(
            tmp_path, store=QdrantStore(settings), settings=settings, embedder=old_model()
        ) as service:
            await put(service, "first")
            job = QdrantStore(settings)
            await reembed.on_server(settings, job.client, new_model())
            with pytest.raises(Conflict, match="admin reembed"):
                async with asyncio.timeout(60):
                    while True:
                        await unary(service.stub.Search(pb.SearchRequest(query="net")))
                        await asyncio.sleep(0.02)
            await job.close()


async def test_a_server_that_goes_away_is_said_so():
    async with fake_qdrant() as fake:
        settings = settings_of(fake)
    job = QdrantStore(settings)
    with pytest.raises(Unavailable, match="Qdrant"):
        await reembed.on_server(settings, job.client, new_model())
    await job.close()
