"""Backup and restore of a knowledge base on a Qdrant server, by snapshots of every node.

A snapshot holds no alias, and what one node has at one moment, another has at another: the manifest tells the aliases,
and a restore leaves out documents that were being changed meanwhile, and names them.
"""

from __future__ import annotations

import dataclasses
import time
from importlib.metadata import version
from typing import Any

from qdrant_client import AsyncQdrantClient
from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.files.backups import Backup, Kept, keep

from quelea_retriever.adapters.points import ABOUT_ID, META_ID, about_payload, profile_of
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_filters import failures
from quelea_retriever.adapters.qdrant_snapshots import Node, Snapshots
from quelea_retriever.adapters.store import SCHEMA, schema_conflict
from quelea_retriever.maintenance.collection_copy import Say
from quelea_retriever.settings import Settings

KIND = "qdrant"
_NAMED = 10


async def backup(
    settings: Settings, client: AsyncQdrantClient, place: str, *, number: int, nodes: tuple[str, ...], say: Say
) -> str:
    """Snapshots of the live collection and of those of entries, on each node; what was done.

    Searches and writes go on.

    Args:
        settings: Of the server.
        client: Of the server.
        place: Folder or fsspec URL.
        number: How many backups to keep there; 0 for all.
        nodes: Addresses of the nodes, where they cannot be found out.
        say: Told how far it is.
    """
    store = QdrantStore(settings, client)
    profile = await store.open()
    if profile is None:
        raise InvalidInput("The Qdrant server holds no knowledge base of this name.")
    with failures():
        there = sorted(one.name for one in (await client.get_collections()).collections)
    base = settings.qdrant_collection
    wanted = [store.collection, *(name for name in there if name.startswith(f"{base}-entries-"))]
    snapshots, made = Snapshots(settings), Backup(place, KIND)
    try:
        parts = []
        every = await snapshots.nodes(nodes)
        for collection in wanted:
            for position, node in enumerate(every):
                name = f"{collection}.{position}.snapshot"
                with made.file(name) as out:
                    await snapshots.fetch(node, collection, out)
                parts.append({"collection": collection, "node": position, "file": name})
                say(f"{collection} of {node.url}: {out.size / 1e6:.1f} MB")
        made.finish(
            schema=SCHEMA,
            profile=dataclasses.asdict(profile),
            aliases={store.aliases.live_alias: store.collection},
            base=base,
            live=store.collection,
            nodes=len(every),
            parts=parts,
            release=version("quelea-retriever"),
        )
    except BaseException:
        made.abandon()
        raise
    finally:
        await snapshots.close()
    gone = keep(place, KIND, number) if number else []
    return f"{made.name}: {made.size / 1e6:.1f} MB in {len(parts)} snapshots" + (
        f"; removed {', '.join(gone)}" if gone else ""
    )


async def restore(settings: Settings, client: AsyncQdrantClient, path: str, *, nodes: tuple[str, ...], say: Say) -> str:
    """Put a backup beside what is there, check it, and have the alias name it; what was done.

    What was live stays (`reembed --drop-old` removes it). Collections of entries are restored where there are none.

    Raises:
        InvalidInput: The backup is damaged, or of a cluster of another size; nothing was changed.
        Conflict: It is of a newer release.
    """
    kept = Kept(path, KIND)
    told = kept.manifest
    if int(told["schema"]) > SCHEMA:
        raise Conflict(schema_conflict(int(told["schema"])))
    snapshots = Snapshots(settings)
    try:
        every = await snapshots.nodes(nodes)
        if len(every) != int(told["nodes"]):
            raise InvalidInput(
                f"{kept.name} was made of {told['nodes']} nodes, but the server has {len(every)}. Restore it to "
                "a server with as many nodes, then move shards with Qdrant's cluster API."
            )
        live = await _upload(settings, client, kept, snapshots, every, say)
    finally:
        await snapshots.close()
    store = QdrantStore(settings, client, collection=live)
    before = await store.aliases.live()
    with failures():
        await store.put_point(ABOUT_ID, about_payload(before or "", int(told["schema"])))
        meta = await store.get_point(META_ID)
    if meta is None:
        raise InvalidInput(f"{kept.name} has no meta point, so it was not made live. {live} can be deleted.")
    store.profile = profile_of(meta)
    torn = await _leave_out_torn(store)
    await store.aliases.name_live(live)
    documents = len(await store.records())
    said = f"{kept.name}: {documents} documents of {store.profile.model} are live in {live}"
    if before:
        said += f"; {before}, which was live, is kept"
    if int(told["schema"]) < SCHEMA:
        said += f". {schema_conflict(int(told['schema']))}"
    if torn:
        more = f" and {len(torn) - _NAMED} more" if len(torn) > _NAMED else ""
        said += (
            f". {len(torn)} documents were being changed during the backup and are left out, submit them again: "
            f"{', '.join(torn[:_NAMED])}{more}"
        )
    return said


async def _upload(
    settings: Settings, client: AsyncQdrantClient, kept: Kept, snapshots: Snapshots, every: list[Node], say: Say
) -> str:
    """Every part to its node; the name of the collection of documents."""
    told: dict[str, Any] = kept.manifest
    # A name of its own: what is live is not written over, and a restore can be made twice.
    live = f"{str(told['live']).partition('-r')[0]}-r{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
    names = {str(told["live"]): live}
    with failures():
        if await client.collection_exists(live):
            raise Conflict(f"There is a collection {live} already; try again in a second.")
        for part in told["parts"]:
            name = str(part["collection"])
            if name not in names:
                there = await client.collection_exists(_rename(name, told, settings))
                names[name] = "" if there else _rename(name, told, settings)
    for part in told["parts"]:
        into, file = names[str(part["collection"])], str(part["file"])
        if into:
            with kept.open(file) as opened:
                await snapshots.put(every[int(part["node"])], into, lambda opened=opened: opened, kept.files[file][1])  # type: ignore[misc]  # bound at once
            say(f"{file}: restored into {into}")
    return live


def _rename(name: str, told: dict[str, Any], settings: Settings) -> str:
    return settings.qdrant_collection + name.removeprefix(str(told["base"]))


async def _leave_out_torn(store: QdrantStore) -> list[str]:
    """Documents with fewer passages than they have: their records go, so that half of one is never found."""
    counts, torn = await store.versions(), []
    for record in await store.records():
        if counts.get(record.version, 0) < record.facts.passages:
            torn.append(record.facts.uri)
            await store.delete_record(record.facts.name)
    return sorted(torn)
