"""Snapshots of every node of a (fake) Qdrant cluster, what is missing in them, and their way back."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, InvalidInput, Unavailable
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_snapshots import Snapshots
from quelea_retriever.adapters.store import SCHEMA, version_of
from quelea_retriever.maintenance import backup_server
from quelea_retriever.settings import Settings
from quelea_retriever.testing import document_id, running_retriever, upsert_request
from support.qdrant_fake import fake_qdrant


def settings_of(fake, **more):
    return Settings(
        store="qdrant", qdrant_url=fake.url, qdrant_api_key=fake.key, catalogue_ttl_seconds=0.02,
        retire_grace_seconds=0.1, qdrant_timeout_seconds=20, **more,
    )  # fmt: skip


async def fill(service, *names):
    for name in names:
        await unary(service.stub.Upsert(upsert_request(name, [f"net sales {name}", f"margin {name}", f"cash {name}"])))


async def titles(service):
    answer = await unary(service.stub.Search(pb.SearchRequest(query="net sales", k=200, ignore_reading=True)))
    return sorted(p.passage.text for p in answer.passages)


async def titles_become(service, wanted):
    """The service follows the alias when it is asked, not at once: what it held before may answer for a while."""
    async with asyncio.timeout(60):
        while await titles(service) != wanted:  # noqa: ASYNC110  # only asking tells
            await asyncio.sleep(0.02)


async def saved(settings, place, **more):
    store = QdrantStore(settings)
    try:
        return await backup_server.backup(
            settings, store.client, str(place), number=0, nodes=(), say=lambda _: None, **more
        )
    finally:
        await store.close()


async def restored(settings, place, nodes=()):
    store = QdrantStore(settings)
    try:
        return await backup_server.restore(settings, store.client, str(place), nodes=nodes, say=lambda _: None)
    finally:
        await store.close()


@pytest.mark.parametrize("nodes", [1, 3])
@pytest.mark.filterwarnings("ignore:Api key")
async def test_every_node_is_saved_and_comes_back_under_the_alias(tmp_path, nodes):
    async with fake_qdrant(nodes, key="secret") as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, *(f"d{n}" for n in range(8)))
            before = await titles(service)
            said = await saved(settings, tmp_path / "kept")
            assert f"in {nodes} snapshots" in said
            assert fake.snapshots == {}, "none is left on a node"
            (made,) = (tmp_path / "kept").iterdir()
            manifest = json.loads((made / "manifest.json").read_text())
            live = manifest["live"]
            assert manifest["aliases"] == {"quelea-live": live}
            assert (manifest["schema"], manifest["nodes"], manifest["profile"]["model"]) == (SCHEMA, nodes, "fake")
            assert all(of["bytes"] == (made / name).stat().st_size for name, of in manifest["files"].items())
            await fill(service, "later")
            await unary(service.stub.Delete(pb.DeleteRequest(document_id=document_id("d3"))))
            said = await restored(settings, tmp_path / "kept")
            assert "8 documents of fake are live" in said
            assert f"{live}, which was live, is kept" in said
            await titles_become(service, before)
            await fill(service, "after")
            assert len(await titles(service)) == len(before) + 3
        async with fake_qdrant(nodes, key="secret") as other:  # another, empty cluster
            elsewhere = settings_of(other, qdrant_collection="moved")
            assert "8 documents" in await restored(elsewhere, tmp_path / "kept")
            async with running_retriever(tmp_path, store=QdrantStore(elsewhere), settings=elsewhere) as service:
                assert await titles(service) == before


async def test_snapshots_go_into_a_bucket_and_come_back(tmp_path, bucket):
    async with fake_qdrant(2) as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "a", "b")
            before = await titles(service)
            await saved(settings, bucket.url)
            assert sum(name.endswith(".snapshot") for name in bucket.objects()) == 2
            await fill(service, "later")
            assert "2 documents of fake are live" in await restored(settings, bucket.url)
            await titles_become(service, before)


async def test_a_document_torn_by_the_backup_is_left_out_and_named(tmp_path):
    async with fake_qdrant() as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "whole", "torn")
            store = QdrantStore(settings)
            await store.open()
            facts = next(r.facts for r in await store.records() if r.facts.uri == "upload:torn")
            await store.delete_passages(version_of(facts), [1])  # as when it was written after its node's snapshot
            await saved(settings, tmp_path / "kept")
            said = await restored(settings, tmp_path / "kept")
            assert "1 documents were being changed" in said
            assert said.endswith("upload:torn")
            await titles_become(service, sorted(f"{text} whole" for text in ("net sales", "margin", "cash")))
            await store.close()


async def test_nothing_is_changed_by_a_backup_that_does_not_fit(tmp_path):
    async with fake_qdrant(2) as two, fake_qdrant(1) as one:
        settings = settings_of(two)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "a")
        await saved(settings, tmp_path / "kept")
        (made,) = (tmp_path / "kept").iterdir()
        with pytest.raises(InvalidInput, match="of 2 nodes, but the server has 1"):
            await restored(settings_of(one), made)
        manifest = json.loads((made / "manifest.json").read_text())
        (made / "manifest.json").write_text(json.dumps(manifest | {"schema": SCHEMA + 1}))
        with pytest.raises(Conflict, match="newer Quelea"):
            await restored(settings, made)
        (made / "manifest.json").write_text(json.dumps(manifest))
        part = made / next(iter(manifest["files"]))
        part.write_bytes(part.read_bytes()[:-1])
        with pytest.raises(InvalidInput, match="damaged"):
            await restored(settings, made)
        assert one.calls == ["GET 0 /cluster"]
        assert not [call for call in two.calls if call.endswith("upload")]


async def test_a_server_that_fails_half_way_leaves_no_backup(tmp_path):
    async with fake_qdrant(2) as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "a")
        store = QdrantStore(settings)
        with pytest.raises(Unavailable):
            await backup_server.backup(
                settings, store.client, str(tmp_path / "kept"), number=0, nodes=(fake.url, "http://127.0.0.1:1"),
                say=lambda _: None,
            )  # fmt: skip
        assert list((tmp_path / "kept").iterdir()) == []
        await store.close()


async def test_what_is_sent_is_compared_with_what_was_made(tmp_path, monkeypatch):
    async with fake_qdrant() as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "a")

        class Short(dict):
            def __getitem__(self, key):
                return super().__getitem__(key)[:-1]

        fake.snapshots = Short()
        with pytest.raises(Unavailable, match="differs from"):
            await saved(settings, tmp_path / "kept")


async def test_nodes_are_found_by_their_peers_or_as_told():
    async with fake_qdrant(3) as fake:
        asked = Snapshots(settings_of(fake))
        assert [node.url for node in await asked.nodes()] == [f"http://127.0.0.{n}:{fake.port}" for n in (1, 2, 3)]
        assert [node.url for node in await asked.nodes(("http://x/", "http://y"))] == ["http://x", "http://y"]
        await asked.close()


async def test_an_older_schema_is_restored_as_it_was_and_migrated_then(tmp_path):
    async with fake_qdrant() as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "a")
        await saved(settings, tmp_path / "kept")
        (made,) = (tmp_path / "kept").iterdir()
        manifest = json.loads((made / "manifest.json").read_text())
        (made / "manifest.json").write_text(json.dumps(manifest | {"schema": 0}))
        said = await restored(settings, made)
        assert "run `python -m quelea_retriever.admin migrate`" in said
        store = QdrantStore(settings)
        with pytest.raises(Conflict, match=r"admin migrate"):
            await store.open()
        await store.close()


@pytest.mark.slow(reason="six runs of the command, one after the other")
async def test_the_command_line_does_it_and_keeps_the_newest(tmp_path):
    async with fake_qdrant() as fake:
        settings = settings_of(fake)
        async with running_retriever(tmp_path, store=QdrantStore(settings), settings=settings) as service:
            await fill(service, "a")
        environment = {**os.environ, "QUELEA_RETRIEVER_STORE": "qdrant", "QUELEA_RETRIEVER_QDRANT_URL": fake.url}

        def run(*words):
            return subprocess.run(
                [sys.executable, "-m", "quelea_retriever.admin", *words],
                env=environment, capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip

        place = str(tmp_path / "kept")
        for _ in range(3):
            done = await asyncio.to_thread(run, "backup", "--to", place, "--keep", "2")
            assert done.returncode == 0, done.stderr
        assert "removed qdrant-" in done.stdout
        assert len(list((tmp_path / "kept").iterdir())) == 2
        done = await asyncio.to_thread(run, "restore", "--from", place)
        assert done.returncode == 0, done.stderr
        assert "1 documents" in done.stdout
        done = await asyncio.to_thread(run, "migrate")
        assert "nothing to do" in done.stdout
        done = await asyncio.to_thread(run, "restore", "--from", str(tmp_path / "nowhere"))
        assert done.returncode == 1
        assert "no backup" in done.stderr
        assert await QdrantStore(settings).aliases.live() is not None
