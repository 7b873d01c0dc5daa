"""The server store: a Qdrant server or cluster by URL, one collection behind an alias, shared by every replica.

A store object speaks with one collection from its opening on, so that a search begins and ends in the same one; when
the alias names another (it was re-embedded), `follow` gives a store for that.
"""

from __future__ import annotations

import uuid

from qdrant_client import AsyncQdrantClient
from quelea_kit.errors import Conflict

from quelea_retriever.adapters.points import ABOUT_ID, META_ID, about_payload, meta_payload, profile_of, schema_of
from quelea_retriever.adapters.qdrant_alias import Aliases, collection_name
from quelea_retriever.adapters.qdrant_collection import create_collection
from quelea_retriever.adapters.qdrant_filters import failures
from quelea_retriever.adapters.qdrant_points import QdrantPoints
from quelea_retriever.adapters.store import SCHEMA, Profile, profile_conflict, schema_conflict
from quelea_retriever.settings import Settings


class QdrantStore(QdrantPoints):
    """See adapters.store.Store.

    Args:
        settings: Address, name of the knowledge base, and how a collection is made.
        client: To be shared with other stores; else one is made from the settings.
        collection: Speak with this one, whatever the alias names.
        direct: The settings' name is a collection's, without an alias or a schema (collections of entries, which are
            made again and not migrated).
    """

    name = "qdrant"
    shared = True

    def __init__(
        self,
        settings: Settings,
        client: AsyncQdrantClient | None = None,
        *,
        collection: str = "",
        direct: bool = False,
    ) -> None:
        self._base = settings.qdrant_collection
        super().__init__(settings, client, self._base if direct else collection)
        self._direct = direct
        self._previous = ""

    @property
    def aliases(self) -> Aliases:
        """Of the knowledge base."""
        return Aliases(self.client, self._base)

    async def open(self) -> Profile | None:
        """The profile of the collection, None when there is none yet."""
        if not self.collection:
            live = await self.aliases.live()
            if live is None:
                with failures():
                    if await self.client.collection_exists(self._base):  # of a release without aliases
                        raise Conflict(schema_conflict(0))
                return None
            self.collection = live
        with failures():
            if not await self.client.collection_exists(self.collection):
                return None
            meta, about = await self.get_point(META_ID), await self.get_point(ABOUT_ID)
        if meta is None:
            return None
        if not self._direct:
            if schema_of(about) != SCHEMA:
                raise Conflict(schema_conflict(schema_of(about)))
            self._previous = str((about or {}).get("previous", ""))
        self.profile = profile_of(meta)
        return self.profile

    async def ensure(self, profile: Profile, *, previous: str = "") -> None:
        """Make the collection; Conflict when there is one of another profile."""
        stored = self.profile or await self.open()
        if stored is None:
            name = self.collection or collection_name(self._base, profile)
            with failures():
                await create_collection(self.client, self._settings, name, profile.dimension)
                if await self.get_point(ABOUT_ID, name) is None:
                    await self.put_point(ABOUT_ID, about_payload(previous), name)
                if await self.get_point(META_ID, name) is None:
                    await self.put_point(META_ID, meta_payload(profile, uuid.uuid4().hex), name)
            if not self.collection and await self.aliases.live() is None:
                await self.aliases.name_live(name)
            stored = await self.open()  # another replica may have been faster
        if stored != profile:
            raise Conflict(profile_conflict(stored or profile, profile))

    async def follow(self) -> QdrantStore | None:
        """A store for the collection that the alias names by now, None while it is this one's."""
        if self._direct or not self.collection:
            return None
        live = await self.aliases.live()
        if live in (None, self.collection):
            return None
        moved = QdrantStore(self._settings, self.client, collection=str(live))
        await moved.open()
        return moved

    async def settled(self) -> bool:
        """False when a write to this collection may count for nothing, because another takes its place."""
        return self._direct or not self.collection or await self.aliases.settled(self.collection)

    async def previous(self) -> QdrantStore | None:
        """The collection that was searched before this one, while it is there."""
        if not self._previous:
            return None
        store = QdrantStore(self._settings, self.client, collection=self._previous)
        if await store.open() is None:
            self._previous = ""
            return None
        return store

    async def stamp(self) -> str:
        """Changed by every commit of every replica, and when the alias names another collection."""
        with failures():
            meta = await self.get_point(META_ID) if self.profile else None
        live = self.collection if self._direct else await self.aliases.live()
        return f"{live} {meta['stamp']}" if meta else ""

    async def check(self) -> None:
        """Raises Unavailable when the server does not answer."""
        with failures():
            await self.client.collection_exists(self._base)

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()

    async def maintain(self) -> None:
        """Nothing: the server keeps its indexes by itself."""
