"""Which collection is asked: the one that an alias of a Qdrant server names.

    <name>-live                  alias of the collection that is searched and written to
    <name>-v<schema>-<encoder>   a collection; one that is older than the alias is called <name> alone
    <name>-switching-<token>     alias of the collection that is about to take its place: while there is one, no write
                                 is acknowledged

Changes of aliases are atomic, and in a cluster they pass through its consensus. To switch, a re-embedding makes the
third, copies what was written until then, and renames it to the first. A write looks at the aliases *after* it was
made: with only the first unchanged, it is among what is copied; with the first changed, it is made again in the new
collection; with the third there, it waits for one or the other. A writer that has waited too long (the re-embedding
may be dead) deletes the third: then the renaming fails, and the re-embedding copies once more and tries again.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid

from qdrant_client import AsyncQdrantClient, models
from quelea_kit.errors import Conflict
from quelea_kit.logging import get_logger

from quelea_retriever.adapters.qdrant_filters import failures
from quelea_retriever.adapters.store import SCHEMA, Profile

log = get_logger(__name__)

HOLD_SECONDS = 20.0
"""How long a write waits for a switch to end."""
_LOOK_SECONDS = 0.1


def fingerprint(profile: Profile) -> str:
    """Eight hexadecimal digits for how vectors are made."""
    said = f"{profile.model} {profile.dimension} {profile.header}"
    return hashlib.sha256(said.encode()).hexdigest()[:8]


def collection_name(name: str, profile: Profile) -> str:
    """What a collection that is made now is called."""
    return f"{name}-v{SCHEMA}-{fingerprint(profile)}"


class Aliases:
    """The aliases of one knowledge base.

    Args:
        client: Of the server.
        name: Of the knowledge base (qdrant_collection).
    """

    def __init__(self, client: AsyncQdrantClient, name: str) -> None:
        self._client = client
        self._switching = f"{name}-switching-"
        self.live_alias = f"{name}-live"

    async def all(self) -> dict[str, str]:
        """Alias -> collection: those of this knowledge base."""
        with failures():
            found = (await self._client.get_aliases()).aliases
        ours = (self.live_alias, self._switching)
        return {a.alias_name: a.collection_name for a in found if a.alias_name.startswith(ours)}

    async def live(self) -> str | None:
        """The collection that is searched and written to; None when there is no alias."""
        return (await self.all()).get(self.live_alias)

    async def settled(self, collection: str) -> bool:
        """After a write to a collection: True when it counts; False when it must be made again in the live one."""
        end = time.monotonic() + HOLD_SECONDS
        while True:
            there = await self.all()
            if there.get(self.live_alias, collection) != collection:
                return False
            switching = [alias for alias in there if alias.startswith(self._switching)]
            if not switching:
                return True
            if time.monotonic() > end:
                log.warning("switch_revoked", aliases=switching)
                await self._change(*map(_deletion, switching))
            await asyncio.sleep(_LOOK_SECONDS)

    async def name_live(self, collection: str) -> None:
        """Have the alias name this collection, whatever it named before."""
        await self._change(_creation(self.live_alias, collection))

    async def begin_switch(self, target: str) -> str:
        """From now on no write is acknowledged; the alias to end the switch with."""
        alias = f"{self._switching}{uuid.uuid4().hex}"
        await self._change(_creation(alias, target))
        return alias

    async def end_switch(self, alias: str) -> None:
        """The live collection is another one, and writes go there. Conflict when the switch was revoked."""
        rename = models.RenameAlias(old_alias_name=alias, new_alias_name=self.live_alias)
        target = (await self.all()).get(alias)
        if target is None:
            raise Conflict("A writer that waited too long revoked the switch; try again.")
        try:
            await self._change(models.RenameAliasOperation(rename_alias=rename))
        except Exception:
            if await self.live() == target and alias not in await self.all():
                return  # it was done, and only the answer was lost
            raise

    async def give_up_switch(self, alias: str) -> None:
        """Writes go on where they went."""
        await self._change(_deletion(alias))

    async def _change(self, *operations: models.AliasOperations) -> None:
        with failures():
            await self._client.update_collection_aliases(list(operations))


def _creation(alias: str, collection: str) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=collection, alias_name=alias))


def _deletion(alias: str) -> models.DeleteAliasOperation:
    return models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
