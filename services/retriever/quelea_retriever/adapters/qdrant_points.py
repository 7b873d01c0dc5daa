"""Passages and records in one collection on a Qdrant server: writing and reading."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from qdrant_client import AsyncQdrantClient, models
from quelea_kit.tls import trusting

from quelea_retriever.adapters.points import (
    DENSE,
    KIND,
    META_ID,
    ORDINAL,
    RECORD_KIND,
    SPARSE,
    VERSION,
    WRITTEN,
    meta_payload,
    passage_of,
    passage_payload,
    passage_point_id,
    record_of,
    record_payload,
    record_point_id,
)
from quelea_retriever.adapters.qdrant_filters import failures, has_id, keyword, scope_filter
from quelea_retriever.adapters.qdrant_filters import sparse as as_sparse
from quelea_retriever.adapters.store import DocumentRecord, Found, NewPassage, Profile, Scope, SparseVector
from quelea_retriever.core.model import PassageRecord
from quelea_retriever.settings import Settings

_PAGE = 1000
_BATCH = 200


class QdrantPoints:
    """What is in a collection; see adapters.store.Store.

    Args:
        settings: Address of the server.
        client: To be shared with others; else one is made.
        collection: Its name.
    """

    def __init__(self, settings: Settings, client: AsyncQdrantClient | None, collection: str) -> None:
        self._settings = settings
        self._client = client
        self.collection = collection
        """The one that is spoken with; empty before it is known."""
        self.profile: Profile | None = None
        self._local = settings.qdrant_url == ":memory:"
        # Records decide what is live: every copy that answers must have them, whatever the passages' factor is.
        self._consistency = models.ReadConsistencyType.MAJORITY if settings.qdrant_replication_factor > 1 else None

    @property
    def client(self) -> AsyncQdrantClient:
        """Made on first use, in the running event loop."""
        if self._client is None:
            self._client = make_client(self._settings)
        return self._client

    # Writing

    async def put_passages(self, passages: Sequence[NewPassage], *, written: float) -> None:
        """Add or overwrite passages."""
        for start in range(0, len(passages), _BATCH):
            points = []
            for new in passages[start : start + _BATCH]:
                vectors: dict[str, Any] = {DENSE: new.dense.tolist()}
                if len(new.sparse[0]):
                    vectors[SPARSE] = as_sparse(new.sparse)
                point_id = passage_point_id(new.version, new.passage.id)
                points.append(models.PointStruct(id=point_id, vector=vectors, payload=passage_payload(new, written)))
            with failures():
                await self.client.upsert(self.collection, points, wait=True)

    async def put_record(self, record: DocumentRecord) -> None:
        """Add or overwrite a record; then tell the other replicas."""
        with failures():
            await self.put_point(record_point_id(record.facts.name), record_payload(record))
            await self._touch()

    async def delete_record(self, name: str) -> None:
        """Remove a record; then tell the other replicas."""
        which = models.PointIdsList(points=[record_point_id(name)])
        with failures():
            await self.client.delete(self.collection, which, wait=True, ordering=models.WriteOrdering.STRONG)
            await self._touch()

    async def delete_passages(self, version: str, ordinals: Sequence[int] | None = None) -> int:
        """Remove passages of a version; how many there were."""
        must: list[Any] = [keyword(VERSION, [version])]
        if ordinals is not None:
            must.append(models.FieldCondition(key=ORDINAL, match=models.MatchAny(any=[int(n) for n in ordinals])))
        which = models.Filter(must=must)
        count = await self._count(which)
        if count:
            with failures():
                await self.client.delete(self.collection, models.FilterSelector(filter=which), wait=True)
        return count

    async def put_point(self, point_id: str, payload: dict[str, Any], collection: str = "") -> None:
        """Add or overwrite a point without vectors, all copies of it in one order."""
        point = models.PointStruct(id=point_id, vector={}, payload=payload)
        where = collection or self.collection
        await self.client.upsert(where, [point], wait=True, ordering=models.WriteOrdering.STRONG)

    async def _touch(self) -> None:
        if self.profile is not None:
            await self.put_point(META_ID, meta_payload(self.profile, f"{time.time()} {uuid.uuid4().hex}"))

    # Reading

    async def search(
        self, dense: npt.NDArray[np.float32], sparse: SparseVector, scope: Scope, limit: int
    ) -> list[Found]:
        """The best by cosine and the best by sparse score: two rounds, the second for the scores still missing."""
        if self.profile is None:
            return []
        which = scope_filter(scope)
        near, shared = dense.tolist(), as_sparse(sparse)
        cosine, overlap = await asyncio.gather(
            self._scores(near, DENSE, which, limit), self._scores(shared, SPARSE, which, limit)
        )
        only_near, only_shared = cosine.keys() - overlap.keys(), overlap.keys() - cosine.keys()
        more_cosine, more_overlap = await asyncio.gather(
            self._scores(near, DENSE, has_id(only_shared), len(only_shared)),
            self._scores(shared, SPARSE, has_id(only_near), len(only_near)),
        )
        cosine, overlap = cosine | more_cosine, overlap | more_overlap
        with failures():
            points = await self.client.retrieve(self.collection, list(cosine), with_payload=True)
        return [
            Found(point.payload[VERSION], passage_of(point.payload), cosine[key], overlap.get(key, 0.0))
            for point in points
            if point.payload and (key := str(point.id))
        ]

    async def records(self) -> list[DocumentRecord]:
        """Every record."""
        return [record_of(payload) for payload in await self._scroll(keyword(KIND, [RECORD_KIND]))]

    async def versions(self) -> dict[str, int]:
        """Every version with passages."""
        if self.profile is None:
            return {}
        with failures():
            answer = await self.client.facet(self.collection, VERSION, limit=1_000_000, exact=True)
        return {str(hit.value): int(hit.count) for hit in answer.hits if hit.count}

    async def count(self, version: str, *, written_since: float = 0.0) -> int:
        """Stored passages of a version."""
        since = models.FieldCondition(key=WRITTEN, range=models.Range(gte=written_since))
        return await self._count(models.Filter(must=[keyword(VERSION, [version]), since]))

    async def passages(self, version: str) -> list[PassageRecord]:
        """Every passage of a version, by ordinal."""
        found = [passage_of(payload) for payload in await self._scroll(keyword(VERSION, [version]))]
        return sorted(found, key=lambda passage: passage.ordinal)

    async def indexed(self) -> bool:
        """True when the server has built a dense index over some of the vectors."""
        if self.profile is None:
            return False
        with failures():
            return bool((await self.client.get_collection(self.collection)).indexed_vectors_count)

    async def get_point(self, point_id: str, collection: str = "") -> dict[str, Any] | None:
        """The payload of a point, None when it is not there."""
        where = collection or self.collection
        points = await self.client.retrieve(where, [point_id], True, consistency=self._consistency)
        return points[0].payload if points else None

    async def _scores(self, query: Any, using: str, which: Any, limit: int) -> dict[str, float]:
        if not limit or (using == SPARSE and not query.indices):
            return {}
        params = models.SearchParams(hnsw_ef=self._settings.hnsw_ef) if using == DENSE and not self._local else None
        with failures():
            answer = await self.client.query_points(
                self.collection,
                query=query,
                using=using,
                query_filter=which,
                limit=limit,
                search_params=params,
                with_payload=False,
            )
        return {str(point.id): float(point.score) for point in answer.points}

    async def _scroll(self, condition: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        which, offset = models.Filter(must=[condition]), None
        while self.profile is not None:
            with failures():
                points, offset = await self.client.scroll(
                    self.collection, which, limit=_PAGE, offset=offset, consistency=self._consistency
                )
            found.extend(point.payload for point in points if point.payload)
            if offset is None:
                break
        return found

    async def _count(self, which: Any) -> int:
        if self.profile is None:
            return 0
        with failures():
            return int((await self.client.count(self.collection, which, exact=True)).count)


def make_client(settings: Settings) -> AsyncQdrantClient:
    """A client as the settings say; to be made in the running event loop."""
    if settings.qdrant_url == ":memory:":
        return AsyncQdrantClient(location=":memory:")
    return AsyncQdrantClient(
        url=settings.qdrant_url,
        api_key=settings.qdrant_api_key or None,
        prefer_grpc=settings.qdrant_prefer_grpc,
        timeout=settings.qdrant_timeout_seconds,
        verify=trusting(settings.qdrant_ca),
        check_compatibility=False,  # asks at once and only warns; check() tells whether it can be reached
    )
