"""Upgrades the data of an older release on a Qdrant server, while retrievers search and write.

Every step may be done twice, by two at once, and after a death at any place: aliases and points are set to what they
are to be, nothing is removed or moved.
"""

from __future__ import annotations

from qdrant_client import AsyncQdrantClient
from quelea_kit.errors import Conflict
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT

from quelea_retriever.adapters.points import (
    ABOUT_ID,
    COLLECTION,
    LANGUAGE,
    META_ID,
    TENANT,
    VERSION,
    about_payload,
    profile_of,
    schema_of,
)
from quelea_retriever.adapters.qdrant_alias import Aliases
from quelea_retriever.adapters.qdrant_collection import create_indexes
from quelea_retriever.adapters.qdrant_filters import failures, without_language, without_tenant
from quelea_retriever.adapters.qdrant_points import QdrantPoints
from quelea_retriever.adapters.store import SCHEMA, schema_conflict
from quelea_retriever.settings import Settings

_MOST_VERSIONS = 1_000_000


async def migrate(settings: Settings, client: AsyncQdrantClient) -> list[str]:
    """Adopt a collection of before there were aliases, and bring the live one to this release's schema.

    Returns:
        What was done, as sentences.

    Raises:
        Conflict: The collection was written by a newer release.
    """
    said: list[str] = []
    aliases = Aliases(client, settings.qdrant_collection)
    live = await aliases.live()
    if live is None:
        live = settings.qdrant_collection
        with failures():
            if not await client.collection_exists(live):
                return ["There is no knowledge base yet; the first retriever creates it with the current schema."]
        await aliases.name_live(live)
        said.append(f"Collection {live} is now live under the alias {aliases.live_alias}.")
    store = QdrantPoints(settings, client, live)
    with failures():
        meta = await store.get_point(META_ID)
        if meta is None:
            raise Conflict(f"Collection {live} does not belong to Quelea: it has no meta point. Nothing was changed.")
        store.profile = profile_of(meta)
        about = await store.get_point(ABOUT_ID)
    schema = schema_of(about)
    if schema > SCHEMA:
        raise Conflict(schema_conflict(schema))
    with failures():
        await create_indexes(client, settings, live)
    said += await _tenants(store)
    said += await _languages(store)
    if schema < SCHEMA:
        with failures():
            await store.put_point(ABOUT_ID, about_payload(str((about or {}).get("previous", ""))))
        said.append(f"Collection {live} was upgraded from schema {schema} to {SCHEMA}.")
    return said or [f"Collection {live} already has schema {SCHEMA}; nothing to do."]


async def _tenants(store: QdrantPoints) -> list[str]:
    """Passages of before there were tenants are of the default one, and of its default collection."""
    which = without_tenant()
    with failures():
        bare = (await store.client.count(store.collection, which, exact=True)).count
        if bare:
            place = {TENANT: DEFAULT_TENANT, COLLECTION: DEFAULT_COLLECTION}
            await store.client.set_payload(store.collection, place, which, wait=True)
    return [f"{bare} passages were given to the default tenant."] if bare else []


async def _languages(store: QdrantPoints) -> list[str]:
    """Passages learn the language of their document, those too that an older release still writes meanwhile."""
    languages = {record.version: record.facts.language for record in await store.records()}
    done = waiting = 0
    with failures():
        bare = await store.client.facet(
            store.collection, VERSION, facet_filter=without_language(), limit=_MOST_VERSIONS, exact=True
        )
        for hit in bare.hits:
            version = str(hit.value)
            if version not in languages:
                waiting += hit.count
                continue
            which = without_language(version)
            await store.client.set_payload(store.collection, {LANGUAGE: languages[version]}, which, wait=True)
            done += hit.count
    said = [f"{done} passages were given the language of their document."] if done else []
    if waiting:
        said.append(f"{waiting} passages belong to no document yet; run this command again once uploads have finished.")
    return said
