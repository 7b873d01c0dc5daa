"""Backup, restore and re-embedding by command, with the service stopped and with it running."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
import qdrant_edge as qe
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea.retriever.v1 import retriever_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.testing import free_port, running
from quelea_retriever import admin
from quelea_retriever.adapters import edge_files
from quelea_retriever.adapters.edge_shard import EdgeShard
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.points import ABOUT_ID, COLLECTION, LANGUAGE, TENANT, about_payload
from quelea_retriever.adapters.store import SCHEMA
from quelea_retriever.maintenance import reembed
from quelea_retriever.testing import document_id, memory_folder, running_retriever, upsert_request


class EmbedderServicer(embedder_pb2_grpc.EmbedderServiceServicer):
    """The fake embedder, behind the real wire."""

    def __init__(self):
        self.fake = FakeEmbedder()

    async def GetModel(self, request, context):  # noqa: N802  # the name in the .proto
        return embedder_pb2.GetModelResponse(model="fake", dimension=32, max_texts=2)

    async def Embed(self, request, context):  # noqa: N802  # the name in the .proto
        assert 0 < len(request.texts) <= 2
        vectors = (await self.fake.embed(request.texts, "query", 1)).vectors
        return embedder_pb2.EmbedResponse(
            vectors=vectors.astype("<f4").tobytes(), count=len(vectors), dimension=32, model="fake"
        )


@pytest.fixture
def stores():
    with memory_folder() as folder:
        yield folder


async def fill(folder, name):
    async with running_retriever(folder) as service:
        await unary(service.stub.Upsert(upsert_request(name, ["net sales grew", "margin fell"])))


async def titles(folder, **more):
    async with running_retriever(folder, **more) as service:
        answer = await unary(service.stub.Search(pb.SearchRequest(query="net sales", ignore_reading=True)))
        return [(p.metadata.title, p.passage.text) for p in answer.passages]


async def test_a_backup_brings_back_what_was_there(stores, capsys):
    await fill(stores / "a", "first")
    place = stores / "new folder"
    assert admin.main(["--data-dir", str(stores / "a"), "backup", "--to", str(place)]) == 0
    (made,) = place.iterdir()
    assert made.name in capsys.readouterr().out
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["profile"] == {"model": "fake", "dimension": 32, "header": True}
    assert (manifest["schema"], list(manifest["files"])) == (SCHEMA, ["shard.tar.gz"])
    before = await titles(stores / "a")
    await fill(stores / "a", "second")
    for target in ("a", "b"):  # over what is there, and into an empty folder
        assert admin.main(["--data-dir", str(stores / target), "restore", "--from", str(place)]) == 0
        assert await titles(stores / target) == before
    assert len(list((stores / "a").glob("shard-*"))) == 1


async def test_a_backup_in_a_bucket_brings_back_what_was_there(stores, capsys, bucket):
    await fill(stores / "a", "first")
    before = await titles(stores / "a")
    assert admin.main(["--data-dir", str(stores / "a"), "backup", "--to", bucket.url, "--keep", "1"]) == 0
    name = bucket.objects()[0].partition("/")[0]
    assert name in capsys.readouterr().out
    assert bucket.objects() == [f"{name}/manifest.json", f"{name}/shard.tar.gz"]
    assert admin.main(["--data-dir", str(stores / "b"), "restore", "--from", f"{bucket.url}/{name}"]) == 0
    assert await titles(stores / "b") == before
    assert admin.main(["--data-dir", str(stores / "a"), "backup", "--to", "s3://no-such-bucket/x"]) == 1
    assert "there is no bucket no-such-bucket: create it" in capsys.readouterr().err


async def test_a_restore_waits_for_nobody_and_harms_nothing(stores, capsys):
    await fill(stores / "a", "first")
    assert admin.main(["--data-dir", str(stores / "a"), "backup", "--to", str(stores / "kept")]) == 0
    (made,) = (stores / "kept").iterdir()
    async with running_retriever(stores / "a") as service:
        assert admin.main(["--data-dir", str(stores / "a"), "restore", "--from", str(made)]) == 1
        assert f"in use by process {os.getpid()}" in capsys.readouterr().err
        assert (await unary(service.stub.GetStats(pb.GetStatsRequest()))).documents == 1
    (made / "shard.tar.gz").write_bytes(b"\x1f\x8bnot a tar")
    for place in (made, stores / "nowhere"):
        assert admin.main(["--data-dir", str(stores / "a"), "restore", "--from", str(place)]) == 1
    assert "is damaged: shard.tar.gz" in capsys.readouterr().err
    assert len(await titles(stores / "a")) == 2


async def test_a_backup_of_nothing_says_so(stores, capsys):
    assert admin.main(["--data-dir", str(stores / "x"), "backup", "--to", str(stores / "o")]) == 1
    assert "no knowledge base" in capsys.readouterr().err
    assert not (stores / "o").exists()


async def test_a_reembedding_that_ended_half_way_goes_on(stores):
    for name in ("first", "second", "third"):
        await fill(stores, name)
    before = sorted(await titles(stores))

    class Dying(FakeEmbedder):
        left = 2

        async def embed(self, texts, kind, seconds):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return await super().embed(texts, kind, seconds)

    with pytest.raises(KeyboardInterrupt):
        await reembed.in_folder(stores, Dying(16, "newer"), header=True, seconds=5, say=print)
    assert sorted(await titles(stores)) == before  # the old one is whole
    async with running_retriever(stores) as service:
        await unary(service.stub.Delete(pb.DeleteRequest(document_id=document_id("first"))))
    await fill(stores, "fourth")
    newer = FakeEmbedder(16, "newer")
    said = await reembed.in_folder(stores, newer, header=True, seconds=5, say=print)
    assert "3 documents are live" in said
    assert len(newer.asked) == 4, "two documents of two passages: the others were there already"
    async with running_retriever(stores, embedder=newer) as service:
        listed = (await unary(service.stub.ListDocuments(pb.ListDocumentsRequest()))).documents
        assert {one.metadata.title for one in listed} == {"second", "third", "fourth"}
        assert set((await service.library.store.versions()).values()) == {2}
    assert "nothing to do" in await reembed.in_folder(stores, newer, header=True, seconds=5, say=print)
    assert not list(stores.glob("reembed-*"))


async def test_reembedding_keeps_documents_and_changes_vectors(stores):
    await fill(stores, "first")
    before = await titles(stores)
    newer = FakeEmbedder(16, "newer")
    assert "2 passages" in await reembed.in_folder(stores, newer, header=True, seconds=5, say=print)
    assert await titles(stores, embedder=newer) == before


async def test_a_failed_reembedding_leaves_the_old_store(stores):
    await fill(stores, "first")

    class Failing(FakeEmbedder):
        async def embed(self, texts, kind, seconds):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        await reembed.in_folder(stores, Failing(16, "newer"), header=True, seconds=5, say=print, patience=0.1)
    assert len(await titles(stores)) == 2


def start(environment):
    return subprocess.Popen(
        [sys.executable, "-m", "quelea_retriever"], env=environment, stderr=subprocess.PIPE, text=True
    )


def stopped(process):
    """Exit code and log, after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    return process.returncode, log


async def test_the_program_serves_backs_up_while_it_runs_and_stops_cleanly(stores):
    def register(server):
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(EmbedderServicer(), server)

    async with running(register, ["quelea.embedder.v1.EmbedderService"]) as embedder:
        address, data, out = f"127.0.0.1:{free_port()}", str(stores / "data"), stores / "live"
        environment = {
            **os.environ,
            "QUELEA_RETRIEVER_LISTEN": address,
            "QUELEA_RETRIEVER_EMBEDDER": embedder,
            "QUELEA_RETRIEVER_DATA_DIR": data,
        }
        process = await asyncio.to_thread(start, environment)
        try:
            async with channel(address, "quelea.retriever.v1.RetrieverService") as connection:
                stub = retriever_pb2_grpc.RetrieverServiceStub(connection)
                request = upsert_request("apple", ["net sales grew", "margin fell", "cash rose"])
                await stub.Upsert(request, wait_for_ready=True, timeout=60)
                found = await unary(stub.Search(pb.SearchRequest(query="net sales", ignore_reading=True)))
                assert found.passages[0].passage.text == "net sales grew"
                assert await asyncio.to_thread(admin.main, ["--data-dir", data, "backup", "--to", str(out)]) == 0
                assert (await unary(stub.GetStats(pb.GetStatsRequest()))).passages == 3
            second = await asyncio.to_thread(start, environment)
            _, log = await asyncio.to_thread(second.communicate, timeout=60)
            assert second.returncode == 1
            assert f"in use by process {process.pid}" in log
        finally:
            code, log = await asyncio.to_thread(stopped, process)
        assert code == 0, log
        assert admin.main(["--data-dir", str(stores / "restored"), "restore", "--from", str(out)]) == 0
        assert len(await titles(stores / "restored")) == 3


async def test_a_folder_of_an_older_release_is_migrated_at_its_opening(stores, capsys):
    await fill(stores, "first")
    shard = EdgeShard.load(edge_files.current_shard(stores))
    shard._update(qe.UpdateOperation.delete_points([ABOUT_ID]))
    every = [record.version for record in shard.records()]
    shard._update(qe.UpdateOperation.delete_payload_by_filter(_of(every), [LANGUAGE, TENANT, COLLECTION]))
    shard.close()
    before = await titles(stores)
    assert len(before) == 2  # the service did it at its start
    assert await asyncio.to_thread(admin.main, ["--data-dir", str(stores), "migrate"]) == 0
    assert f"schema {SCHEMA}" in capsys.readouterr().out
    shard = EdgeShard.load(edge_files.current_shard(stores))
    assert shard.schema() == SCHEMA
    assert shard.migrate() == 0
    shard._upsert([qe.Point(ABOUT_ID, {}, about_payload(schema=SCHEMA + 1))])
    shard.close()
    assert await asyncio.to_thread(admin.main, ["--data-dir", str(stores), "migrate"]) == 1
    assert "newer Quelea" in capsys.readouterr().err


def _of(versions):
    return qe.Filter(must=[qe.FieldCondition("version", match=qe.MatchAny(versions))])
