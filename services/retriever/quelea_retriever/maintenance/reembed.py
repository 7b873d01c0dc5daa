"""Indexes everything again from the stored texts after a change of encoder.

On a Qdrant server without a pause: a new collection is filled beside the old one, which goes on being searched and
written to; what was written meanwhile is copied in ever shorter rounds, and the last one is made while writes wait
(qdrant_alias.py). The old collection stays until it is dropped. In a folder: the service must be stopped, the old
shard stays until the new one takes its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

from qdrant_client import AsyncQdrantClient
from quelea_kit.errors import Conflict, InvalidInput, Unavailable

from quelea_retriever.adapters import edge_files
from quelea_retriever.adapters.embedder import Embedder
from quelea_retriever.adapters.points import ABOUT_ID, about_payload
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_alias import HOLD_SECONDS, collection_name, fingerprint
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.qdrant_filters import failures
from quelea_retriever.adapters.store import Profile
from quelea_retriever.maintenance.collection_copy import Copier, Say
from quelea_retriever.settings import Settings

PATIENCE_SECONDS = 1800.0
"""How long the embedder may be away or busy."""
_MODEL_SECONDS = 10.0
_ROUNDS = 1000
_SWITCHES = 10
_FEW = 8
"""Documents that the last round, for which writes wait, is expected to copy at most."""


async def in_folder(
    folder: Path, embedder: Embedder, *, header: bool, seconds: float, say: Say, patience: float = PATIENCE_SECONDS
) -> str:
    """Make a shard with new vectors beside the old one, then put it in its place; what to tell the user.

    Passages that were never committed are left behind. A failure or a kill leaves the old shard as it was, and what
    was made of the new one: the next run goes on from there.
    """
    source = QdrantEdgeStore(folder, index_above=0)
    try:
        if await source.open() is None:
            raise InvalidInput(f"{folder} holds no knowledge base.")
        info = await embedder.model(_MODEL_SECONDS)
        profile = Profile(info.model, info.dimension, header)
        if source.profile == profile:
            _clear(folder)
            return f"{folder} is indexed with {info.model} already: there was nothing to do."
        half = folder / f"reembed-{fingerprint(profile)}"
        begun = edge_files.current_shard(half)
        if begun is not None and not begun.is_dir():  # killed while it took its place
            shutil.rmtree(half)
        target = QdrantEdgeStore(half, sync=False, index_above=0)
        try:
            await target.open()
            await target.ensure(profile)
            copier = Copier(source, target, embedder, header=header, seconds=seconds, say=say, patience=patience)
            await copier.round()
            documents = len(await target.records())
        finally:
            await target.close()
        made = edge_files.current_shard(half)
        if made is None:
            raise Unavailable(f"{half} has no shard.")
        into = edge_files.next_shard(folder)
        shutil.rmtree(into, ignore_errors=True)
        made.rename(into)
        edge_files.set_current(folder, into)
        _clear(folder)
    finally:
        await source.close()
    return f"{copier.passages} passages were indexed again with {info.model}; {documents} documents are live"


def _clear(folder: Path) -> None:
    for half in folder.glob("reembed-*"):
        shutil.rmtree(half, ignore_errors=True)


async def on_server(
    settings: Settings,
    client: AsyncQdrantClient,
    embedder: Embedder,
    *,
    into: str = "",
    drop_old: bool = False,
    say: Say = lambda _: None,
) -> str:
    """Fill a collection with new vectors, have the alias name it, and perhaps drop the old ones; what was done.

    May be run again after a death at any place: it goes on from there.

    Raises:
        InvalidInput: There is no knowledge base, or `into` is not a name beside it.
        Conflict: The knowledge base has another schema (the message says what to run), or another run was faster.
    """
    source = QdrantStore(settings, client)
    if await source.open() is None:
        raise InvalidInput("The Qdrant server holds no knowledge base of this name.")
    info = await embedder.model(_MODEL_SECONDS)
    profile = Profile(info.model, info.dimension, settings.header)
    said = f"{source.collection} is indexed with {info.model} already: there was nothing to do."
    live = source
    if source.profile != profile:
        name = into or collection_name(settings.qdrant_collection, profile)
        base = settings.qdrant_collection
        if name == source.collection or not (name == base or name.startswith(f"{base}-")):
            raise InvalidInput(f"--into must begin with {base}- and not be the live collection.")
        live = QdrantStore(settings, client, collection=name)
        await live.ensure(profile, previous=source.collection)
        with failures():
            await live.put_point(ABOUT_ID, about_payload(source.collection))
        copier = Copier(source, live, embedder, header=settings.header, seconds=settings.embed_timeout_seconds, say=say)
        await copier.own()
        await _fill(source, copier, say)
        await _switch(source, live, copier, say)
        said = (
            f"{copier.passages} passages were indexed with {info.model}; {live.aliases.live_alias} names "
            f"{live.collection} now. {source.collection} is kept."
        )
    if drop_old:
        said += " " + await _drop_old(settings, live, say)
    return said


async def _fill(source: QdrantStore, copier: Copier, say: Say) -> None:
    """Rounds, until few documents are left for the last one."""
    for number in range(1, _ROUNDS + 1):
        if await source.follow() is not None:
            raise Conflict(f"{source.collection} is no longer live: another run has replaced it.")
        changed = await copier.round()
        say(f"round {number}: {changed} documents, {copier.passages} passages in all")
        if changed <= _FEW:
            return
    raise Unavailable("Documents arrive faster than they can be embedded; run it again when fewer do.")


async def _switch(source: QdrantStore, target: QdrantStore, copier: Copier, say: Say) -> None:
    """The last round, while writes wait; then the target is live."""
    aliases = source.aliases
    for _ in range(_SWITCHES):
        if await aliases.live() == target.collection:  # its answer came too late
            return
        await copier.round()
        alias = await aliases.begin_switch(target.collection)
        try:
            async with asyncio.timeout(HOLD_SECONDS / 2):
                while await copier.round():  # until nothing came that was acknowledged before the switch began
                    if await source.follow() is not None:
                        raise Conflict(f"{source.collection} is no longer live: another run has replaced it.")
                await aliases.end_switch(alias)
        except TimeoutError:
            say("too much came in for the last round; once more")
        except Conflict:
            if await aliases.live() != source.collection:
                raise
            say("writers had waited too long; once more")
        else:
            return
        finally:
            with contextlib.suppress(Unavailable):
                await aliases.give_up_switch(alias)
    raise Unavailable("Documents arrive faster than the last round can copy them; run it again when fewer do.")


async def _drop_old(settings: Settings, live: QdrantStore, say: Say) -> str:
    """Remove what was live before, once no search can be in it any more."""
    old = await live.previous()
    if old is None:
        return "There is no older collection."
    grace = settings.retire_grace_seconds + settings.catalogue_ttl_seconds
    say(f"waiting {grace:.0f} s for searches in {old.collection}")
    await asyncio.sleep(grace)
    if await live.aliases.live() != live.collection:
        raise Conflict(f"{live.collection} is no longer live; nothing was dropped.")
    with failures():
        await live.put_point(ABOUT_ID, about_payload())
        await live.client.delete_collection(old.collection)
    return f"{old.collection} is dropped."
