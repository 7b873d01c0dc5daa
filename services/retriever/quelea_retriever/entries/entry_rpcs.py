"""The rpcs about entries, of quelea.retriever.v1.RetrieverService."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_kit.errors import InvalidInput, TooLarge

from quelea_retriever import wire
from quelea_retriever.adapters.store import Profile
from quelea_retriever.core.entries import Entry
from quelea_retriever.entries.entry_collections import Collections, EntryQuery
from quelea_retriever.settings import Settings

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ID_CHARS = 200
_VERSION_CHARS = 128
_CATEGORY_CHARS = 100
_MOST_CATEGORIES = 64

Context = grpc.aio.ServicerContext[Any, Any]


class EntryRpcs(retriever_pb2_grpc.RetrieverServiceServicer):
    """Wire to collections; what the servicer of the whole service takes over."""

    collections: Collections
    meet: Callable[[], Awaitable[Profile]]
    """The profile that the store and the embedder agree on."""
    seconds: Callable[[Context], float]
    """What is left of a call's time for the encoder."""
    limits: Settings

    async def UpsertEntries(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.UpsertEntriesRequest, context: Context
    ) -> retriever_pb2.UpsertEntriesResponse:
        """Add entries; with commit, make the version live and remove the others."""
        name, version = _collection(request.collection), _version(request.version)
        if len(request.entries) > self.limits.max_upsert_passages:
            raise TooLarge(f"entries has {len(request.entries)} items; the limit is {self.limits.max_upsert_passages}.")
        if request.commit and not 0 < request.total <= self.limits.max_entries:
            raise InvalidInput(f"With commit, total must be from 1 to {self.limits.max_entries}.")
        entries = [self._entry(one, f"entries[{n}]") for n, one in enumerate(request.entries)]
        if len({entry.id for entry in entries}) < len(entries):
            raise InvalidInput("Two entries of one request have the same id.")
        if not entries and not request.commit:
            raise InvalidInput("Nothing to do: the request has no entries, and commit is false.")
        profile = await self.meet()
        if entries:
            await self.collections.upsert(name, version, entries, profile, self.seconds(context))
        if request.commit:
            await self.collections.commit(name, version, request.total, profile)
        return retriever_pb2.UpsertEntriesResponse(written=len(entries))

    async def SearchEntries(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.SearchEntriesRequest, context: Context
    ) -> retriever_pb2.SearchEntriesResponse:
        """The best entries of a collection for a query."""
        started = time.perf_counter()
        if len(request.categories) > _MOST_CATEGORIES:
            raise InvalidInput(f"At most {_MOST_CATEGORIES} categories.")
        name = _collection(request.collection)
        asked = EntryQuery(
            query=wire.query_in(request.query, self.limits.max_query_chars),
            k=wire.k_in(request.k, self.limits.default_k),
            categories=tuple(request.categories),
            mode=wire.mode_in(request.mode),
        )
        answer = await self.collections.search(name, asked, await self.meet(), self.seconds(context))
        return retriever_pb2.SearchEntriesResponse(
            entries=[
                retriever_pb2.ScoredEntry(
                    id=one.id,
                    category=one.category,
                    payload=one.payload,
                    score=one.score,
                    cosine=one.cosine,
                    sparse=one.sparse,
                )
                for one in answer.entries
            ],
            version=answer.version,
            timings=retriever_pb2.SearchTimings(
                embed_ms=answer.embed_ms,
                store_ms=answer.store_ms,
                rank_ms=answer.rank_ms,
                total_ms=(time.perf_counter() - started) * 1000,
            ),
        )

    async def GetCollection(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.GetCollectionRequest, context: Context
    ) -> retriever_pb2.GetCollectionResponse:
        """The live version of a collection."""
        version, count = await self.collections.state(_collection(request.collection), await self.meet())
        return retriever_pb2.GetCollectionResponse(version=version, count=count)

    def _entry(self, said: retriever_pb2.Entry, where: str) -> Entry:
        if not said.id or len(said.id) > _ID_CHARS or not said.text.strip():
            raise InvalidInput(f"{where} must have a text, and an id of at most {_ID_CHARS} characters.")
        longest = self.limits.max_passage_chars
        if len(said.category) > _CATEGORY_CHARS or max(map(len, (said.text, said.lexical, said.payload))) > longest:
            raise TooLarge(f"{where} is longer than {longest} characters.", details={"limit": str(longest)})
        return Entry(said.id, said.text, said.lexical, said.category, said.payload)


def _collection(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"collection must be 1 to 40 lower-case letters, digits or hyphens, got {name[:60]!r}.")
    return name


def _version(version: str) -> str:
    if not version or len(version) > _VERSION_CHARS:
        raise InvalidInput(f"version must have 1 to {_VERSION_CHARS} characters.")
    return version
