"""A collection of an older release is adopted where it is; nothing is lost, whoever does it how often."""

import asyncio

import pytest
from qdrant_client import AsyncQdrantClient, models
from quelea_kit.errors import Conflict
from quelea_kit.reach import Reach
from quelea_retriever.adapters.points import ABOUT_ID, COLLECTION, LANGUAGE, META_ID, TENANT, about_payload
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_alias import fingerprint
from quelea_retriever.adapters.store import SCHEMA, DocumentRecord, Profile, Scope, version_of
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.sparse_vectors import sparse_query
from quelea_retriever.maintenance.migration import migrate
from quelea_retriever.settings import Settings
from quelea_retriever.testing import DIMENSION, document_id, new_passages

SETTINGS = Settings(qdrant_url=":memory:")
PROFILE = Profile("m", DIMENSION)
NEW = dict.fromkeys((LANGUAGE, TENANT, COLLECTION))
DOCUMENTS = [
    DocumentFacts(id=document_id(name), uri=name, language=language, passages=2)
    for name, language in (("a", "en"), ("b", "zh"), ("c", ""))
]


@pytest.fixture
async def client():
    made = AsyncQdrantClient(location=":memory:")
    yield made
    await made.close()


async def everything(client, collection):
    points, _ = await client.scroll(collection, limit=1000, with_payload=True, with_vectors=True)
    return {str(point.id): point for point in points}


async def older(client, documents=DOCUMENTS):
    """What the release before wrote: a collection without an alias, no about point, passages without a language."""
    store = QdrantStore(SETTINGS, client, direct=True)
    if await store.open() is None:
        await store.ensure(PROFILE)
        await client.delete("quelea", models.PointIdsList(points=[ABOUT_ID]))
    for facts in documents:
        await store.put_passages(new_passages(facts, [f"{facts.uri} one", f"{facts.uri} two"]), written=1000)
        which = models.Filter(
            must=[models.FieldCondition(key="version", match=models.MatchValue(value=version_of(facts)))]
        )
        await client.delete_payload("quelea", [LANGUAGE, TENANT, COLLECTION], which)
        await store.put_record(DocumentRecord(version_of(facts), facts, 1000.0))


async def test_an_older_collection_is_refused_with_the_command_and_then_adopted(client):
    await older(client)
    before = await everything(client, "quelea")
    store = QdrantStore(SETTINGS, client)
    with pytest.raises(Conflict, match=r"quelea_retriever\.admin migrate"):
        await store.open()
    said = await migrate(SETTINGS, client)
    for words in (
        "alias quelea-live",
        "6 passages were given to the default tenant",
        "6 passages",
        f"schema 0 to {SCHEMA}",
    ):
        assert any(words in line for line in said), words
    assert len(said) == 4
    assert await store.open() == PROFILE
    after = await everything(client, "quelea")
    assert set(after) == {*before, ABOUT_ID}, "no point is lost"
    for key, point in before.items():
        assert {**after[key].payload, **NEW} == {**point.payload, **NEW}
        assert after[key].vector == point.vector
    for wanted in (["en"], ["zh"]):
        found = await store.search(
            new_passages(DOCUMENTS[0], ["x"])[0].dense,
            sparse_query("one"),
            Scope(languages=tuple(wanted), reach=Reach()),
            10,
        )
        assert {one.version for one in found} == {version_of(f) for f in DOCUMENTS if f.language in wanted}
    assert "nothing to do" in (await migrate(SETTINGS, client))[0]


async def test_two_at_once_do_what_one_does(client):
    await older(client)
    await asyncio.gather(*(migrate(SETTINGS, client) for _ in range(3)))
    assert "nothing to do" in (await migrate(SETTINGS, client))[0]
    assert len(await QdrantStore(SETTINGS, client).records()) == 0  # not opened: asks nothing
    store = QdrantStore(SETTINGS, client)
    await store.open()
    assert {record.facts for record in await store.records()} == set(DOCUMENTS)


async def test_what_an_older_replica_still_writes_is_found_by_the_next_run(client):
    await older(client, DOCUMENTS[:1])
    await migrate(SETTINGS, client)
    await older(client, DOCUMENTS[1:2])  # its commit writes the meta point anew, as it knows it
    store = QdrantStore(SETTINGS, client)
    assert await store.open() == PROFILE, "what an older release writes does not take the schema away"
    assert "2 passages" in (await migrate(SETTINGS, client))[0]
    assert "nothing to do" in (await migrate(SETTINGS, client))[0]


async def test_passages_without_a_document_wait(client):
    await older(client, DOCUMENTS[:1])
    unfinished = DOCUMENTS[1]
    store = QdrantStore(SETTINGS, client, direct=True)
    await store.open()
    await store.put_passages(new_passages(unfinished, ["x"]), written=1000)
    await client.delete_payload(
        "quelea",
        [LANGUAGE],
        models.Filter(
            must=[models.FieldCondition(key="version", match=models.MatchValue(value=version_of(unfinished)))]
        ),
    )
    assert any("1 passages belong to no document" in line for line in await migrate(SETTINGS, client))


async def test_nothing_to_adopt_and_nothing_of_ours(client):
    assert "no knowledge base yet" in (await migrate(SETTINGS, client))[0]
    await client.create_collection("quelea", vectors_config={})
    with pytest.raises(Conflict, match="does not belong to Quelea"):
        await migrate(SETTINGS, client)


async def test_a_newer_schema_is_refused_by_both(client):
    store = QdrantStore(SETTINGS, client)
    await store.ensure(PROFILE)
    await store.put_point(ABOUT_ID, about_payload(schema=SCHEMA + 1))
    for call in (QdrantStore(SETTINGS, client).open(), migrate(SETTINGS, client)):
        with pytest.raises(Conflict, match=r"newer Quelea.*admin restore"):
            await call


async def test_a_new_collection_is_behind_an_alias_and_named_after_its_encoder(client):
    store = QdrantStore(SETTINGS, client)
    assert await store.open() is None
    await store.ensure(PROFILE)
    name = f"quelea-v{SCHEMA}-{fingerprint(PROFILE)}"
    assert {a.alias_name: a.collection_name for a in (await client.get_aliases()).aliases} == {"quelea-live": name}
    assert store.collection == name
    assert {META_ID, ABOUT_ID} == set(await everything(client, name))
    assert fingerprint(PROFILE) != fingerprint(Profile("m", DIMENSION, header=False))
    assert "nothing to do" in (await migrate(SETTINGS, client))[0]
