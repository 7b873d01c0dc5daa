"""The server store: a Qdrant server or cluster by URL, one collection, shared by every replica of the retriever."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException
from quelea_kit.errors import Conflict, Unavailable

from quelea_retriever.adapters.qdrant_collection import create_collection
from quelea_retriever.adapters.store import (
    DENSE,
    KIND,
    META_ID,
    ORDINAL,
    RECORD_KIND,
    SECTION,
    SPARSE,
    VERSION,
    WRITTEN,
    DocumentRecord,
    Found,
    NewPassage,
    Profile,
    Scope,
    SparseVector,
    meta_payload,
    passage_of,
    passage_payload,
    passage_point_id,
    profile_conflict,
    profile_of,
    record_of,
    record_payload,
    record_point_id,
)
from quelea_retriever.core.model import PassageRecord
from quelea_retriever.settings import Settings

_PAGE = 1000
_BATCH = 200


class QdrantStore:
    """See adapters.store.Store.

    Args:
        settings: Address, collection, and how a collection is made.
        client: For tests; else one is made from the settings.
    """

    name = "qdrant"
    shared = True

    def __init__(self, settings: Settings, client: AsyncQdrantClient | None = None) -> None:
        self._settings = settings
        self._client = client
        self._collection = settings.qdrant_collection
        self._profile: Profile | None = None
        self._local = settings.qdrant_url == ":memory:"
        # Records decide what is live: every copy that answers must have them, whatever the passages' factor is.
        self._consistency = models.ReadConsistencyType.MAJORITY if settings.qdrant_replication_factor > 1 else None

    @property
    def client(self) -> AsyncQdrantClient:
        """Made on first use, in the running event loop."""
        if self._client is None:
            settings = self._settings
            if self._local:
                self._client = AsyncQdrantClient(location=":memory:")
            else:
                self._client = AsyncQdrantClient(
                    url=settings.qdrant_url,
                    api_key=settings.qdrant_api_key or None,
                    prefer_grpc=settings.qdrant_prefer_grpc,
                    timeout=settings.qdrant_timeout_seconds,
                    check_compatibility=False,  # asks at once and only warns; check() tells whether it can be reached
                )
        return self._client

    async def open(self) -> Profile | None:
        """The profile of the collection, None when there is none yet."""
        with _failures():
            if not await self.client.collection_exists(self._collection):
                return None
            meta = await self._meta()
        self._profile = profile_of(meta) if meta else None
        return self._profile

    async def ensure(self, profile: Profile) -> None:
        """Make the collection; Conflict when there is one of another profile."""
        stored = self._profile or await self.open()
        if stored is None:
            with _failures():
                await create_collection(self.client, self._settings, profile.dimension)
                if await self._meta() is None:
                    await self._put(META_ID, {}, meta_payload(profile, uuid.uuid4().hex))
            stored = await self.open()  # another replica may have been faster
        if stored != profile:
            raise Conflict(profile_conflict(stored or profile, profile))

    async def check(self) -> None:
        """Raises Unavailable when the server does not answer."""
        with _failures():
            await self.client.collection_exists(self._collection)

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()

    async def maintain(self) -> None:
        """Nothing: the server keeps its indexes by itself."""

    # Writing

    async def put_passages(self, passages: Sequence[NewPassage], *, written: float) -> None:
        """Add or overwrite passages."""
        for start in range(0, len(passages), _BATCH):
            points = []
            for new in passages[start : start + _BATCH]:
                vectors: dict[str, Any] = {DENSE: new.dense.tolist()}
                if len(new.sparse[0]):
                    vectors[SPARSE] = _sparse(new.sparse)
                point_id = passage_point_id(new.version, new.passage.id)
                points.append(models.PointStruct(id=point_id, vector=vectors, payload=passage_payload(new, written)))
            with _failures():
                await self.client.upsert(self._collection, points, wait=True)

    async def put_record(self, record: DocumentRecord) -> None:
        """Add or overwrite a record; then tell the other replicas."""
        with _failures():
            await self._put(record_point_id(record.facts.uri), {}, record_payload(record))
            await self._touch()

    async def delete_record(self, uri: str) -> None:
        """Remove a record; then tell the other replicas."""
        which = models.PointIdsList(points=[record_point_id(uri)])
        with _failures():
            await self.client.delete(self._collection, which, wait=True, ordering=models.WriteOrdering.STRONG)
            await self._touch()

    async def delete_passages(self, version: str, ordinals: Sequence[int] | None = None) -> int:
        """Remove passages of a version; how many there were."""
        must: list[Any] = [_keyword(VERSION, [version])]
        if ordinals is not None:
            must.append(models.FieldCondition(key=ORDINAL, match=models.MatchAny(any=[int(n) for n in ordinals])))
        which = models.Filter(must=must)
        count = await self._count(which)
        if count:
            with _failures():
                await self.client.delete(self._collection, models.FilterSelector(filter=which), wait=True)
        return count

    async def _put(self, point_id: str, vectors: dict[str, Any], payload: dict[str, Any]) -> None:
        point = models.PointStruct(id=point_id, vector=vectors, payload=payload)
        await self.client.upsert(self._collection, [point], wait=True, ordering=models.WriteOrdering.STRONG)

    async def _touch(self) -> None:
        if self._profile is not None:
            await self._put(META_ID, {}, meta_payload(self._profile, f"{time.time()} {uuid.uuid4().hex}"))

    # Reading

    async def search(
        self, dense: npt.NDArray[np.float32], sparse: SparseVector, scope: Scope, limit: int
    ) -> list[Found]:
        """The best by cosine and the best by sparse score: two rounds, the second for the scores still missing."""
        if self._profile is None:
            return []
        which = _scope_filter(scope)
        near, shared = dense.tolist(), _sparse(sparse)
        cosine, overlap = await asyncio.gather(
            self._scores(near, DENSE, which, limit), self._scores(shared, SPARSE, which, limit)
        )
        only_near, only_shared = cosine.keys() - overlap.keys(), overlap.keys() - cosine.keys()
        more_cosine, more_overlap = await asyncio.gather(
            self._scores(near, DENSE, _has_id(only_shared), len(only_shared)),
            self._scores(shared, SPARSE, _has_id(only_near), len(only_near)),
        )
        cosine, overlap = cosine | more_cosine, overlap | more_overlap
        with _failures():
            points = await self.client.retrieve(self._collection, list(cosine), with_payload=True)
        return [
            Found(point.payload[VERSION], passage_of(point.payload), cosine[key], overlap.get(key, 0.0))
            for point in points
            if point.payload and (key := str(point.id))
        ]

    async def records(self) -> list[DocumentRecord]:
        """Every record."""
        return [record_of(payload) for payload in await self._scroll(_keyword(KIND, [RECORD_KIND]))]

    async def stamp(self) -> str:
        """Changed by every commit of every replica."""
        with _failures():
            meta = await self._meta() if self._profile else None
        return str(meta["stamp"]) if meta else ""

    async def versions(self) -> dict[str, int]:
        """Every version with passages."""
        if self._profile is None:
            return {}
        with _failures():
            answer = await self.client.facet(self._collection, VERSION, limit=1_000_000, exact=True)
        return {str(hit.value): int(hit.count) for hit in answer.hits if hit.count}

    async def count(self, version: str, *, written_since: float = 0.0) -> int:
        """Stored passages of a version."""
        since = models.FieldCondition(key=WRITTEN, range=models.Range(gte=written_since))
        return await self._count(models.Filter(must=[_keyword(VERSION, [version]), since]))

    async def passages(self, version: str) -> list[PassageRecord]:
        """Every passage of a version, by ordinal."""
        found = [passage_of(payload) for payload in await self._scroll(_keyword(VERSION, [version]))]
        return sorted(found, key=lambda passage: passage.ordinal)

    async def indexed(self) -> bool:
        """True when the server has built a dense index over some of the vectors."""
        if self._profile is None:
            return False
        with _failures():
            return bool((await self.client.get_collection(self._collection)).indexed_vectors_count)

    async def _meta(self) -> dict[str, Any] | None:
        points = await self.client.retrieve(self._collection, [META_ID], True, consistency=self._consistency)
        return points[0].payload if points else None

    async def _scores(self, query: Any, using: str, which: Any, limit: int) -> dict[str, float]:
        if not limit or (using == SPARSE and not query.indices):
            return {}
        params = models.SearchParams(hnsw_ef=self._settings.hnsw_ef) if using == DENSE and not self._local else None
        with _failures():
            answer = await self.client.query_points(
                self._collection,
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
        while self._profile is not None:
            with _failures():
                points, offset = await self.client.scroll(
                    self._collection, which, limit=_PAGE, offset=offset, consistency=self._consistency
                )
            found.extend(point.payload for point in points if point.payload)
            if offset is None:
                break
        return found

    async def _count(self, which: Any) -> int:
        if self._profile is None:
            return 0
        with _failures():
            return int((await self.client.count(self._collection, which, exact=True)).count)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except (ApiException, grpc.RpcError, OSError) as error:
        raise Unavailable(f"Qdrant does not answer as it should: {error}") from error


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=vector[0].tolist(), values=vector[1].tolist())


def _keyword(field: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def _has_id(ids: set[str]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids))])


def _scope_filter(scope: Scope) -> models.Filter | None:
    must: list[Any] = [] if scope.only is None else [_keyword(VERSION, scope.only)]
    if scope.sections is not None:
        must.append(_keyword(SECTION, scope.sections))
    if not must and not scope.exclude:
        return None
    return models.Filter(
        must=must or None,
        must_not=[_keyword(VERSION, scope.exclude)] if scope.exclude else None,
    )
