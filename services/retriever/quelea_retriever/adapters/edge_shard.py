"""One shard of Qdrant's engine, spoken to directly: what the store protocol needs, without threads or files around it.

The engine holds Python's lock during each of its calls (measured: two threads search no faster than one).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import qdrant_edge as qe
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT

from quelea_retriever.adapters.points import (
    ABOUT_ID,
    COLLECTION,
    DENSE,
    KIND,
    LANGUAGE,
    META_ID,
    ORDINAL,
    PASSAGE_KIND,
    RECORD_KIND,
    SECTION,
    SPARSE,
    TENANT,
    VERSION,
    WRITTEN,
    about_payload,
    meta_payload,
    passage_of,
    passage_payload,
    passage_point_id,
    profile_of,
    record_of,
    record_payload,
    record_point_id,
    schema_of,
)
from quelea_retriever.adapters.store import DocumentRecord, Found, NewPassage, Profile, Scope, SparseVector
from quelea_retriever.core.model import PassageRecord

_PAGE = 1000
_INDEXED = "INDEXED"
_WORDS = (KIND, VERSION, LANGUAGE, TENANT, COLLECTION)
_INDEXES = {**dict.fromkeys(_WORDS, "Keyword"), WRITTEN: "Integer", ORDINAL: "Integer"}


class EdgeShard:
    """An open shard.

    Args:
        path: Its folder; `load` and `create` are the ways to open one.
        shard: The engine's object.
    """

    def __init__(self, path: Path, shard: Any) -> None:
        self.path = path
        self._shard = shard
        marker = path / _INDEXED
        self.indexed = int(marker.read_text()) if marker.exists() else 0
        """How many points the index was built over; 0 when there is none."""

    @classmethod
    def create(cls, path: Path, profile: Profile) -> EdgeShard:
        """Make an empty shard in a folder that is not there yet."""
        path.mkdir()
        config = qe.EdgeConfig(
            vectors={DENSE: qe.EdgeVectorParams(size=profile.dimension, distance=qe.Distance.Cosine)},
            sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
            wal_enabled=True,
        )
        made = cls(path, qe.EdgeShard.create(str(path), config))
        for field, kind in _INDEXES.items():
            made._update(qe.UpdateOperation.create_field_index(field, getattr(qe.PayloadSchemaType, kind)))
        made._upsert([qe.Point(META_ID, {}, meta_payload(profile, "")), qe.Point(ABOUT_ID, {}, about_payload())])
        made.flush()
        return made

    @classmethod
    def load(cls, path: Path) -> EdgeShard:
        """Open a shard, with all that its write-ahead log holds."""
        return cls(path, qe.EdgeShard.load(str(path)))

    def profile(self) -> Profile:
        """How its vectors were made."""
        return profile_of(self._shard.retrieve([META_ID], with_payload=True, with_vector=False)[0].payload)

    def schema(self) -> int:
        """How it is written down; 0 in a shard of before there was a number."""
        found = self._shard.retrieve([ABOUT_ID], with_payload=True, with_vector=False)
        return schema_of(found[0].payload if found else None)

    def migrate(self) -> int:
        """Bring a shard of an older schema to this one; may be run again.

        Passages learn their language, and that they are of the default tenant and collection. How many did.
        """
        for field in (LANGUAGE, TENANT, COLLECTION):
            self._update(qe.UpdateOperation.create_field_index(field, qe.PayloadSchemaType.Keyword))
        bare = qe.Filter(must=[_keyword(KIND, [PASSAGE_KIND]), qe.IsEmptyCondition(TENANT)])
        if count := self._count(bare):
            place = {TENANT: DEFAULT_TENANT, COLLECTION: DEFAULT_COLLECTION}
            self._update(qe.UpdateOperation.set_payload_by_filter(bare, place))
        for record in self.records():
            bare = qe.Filter(must=[_keyword(VERSION, [record.version]), qe.IsEmptyCondition(LANGUAGE)])
            if some := self._count(bare):
                self._update(qe.UpdateOperation.set_payload_by_filter(bare, {LANGUAGE: record.facts.language}))
                count = max(count, some)
        self._upsert([qe.Point(ABOUT_ID, {}, about_payload())])
        self.flush()
        return count

    def flush(self) -> None:
        """Fold the write-ahead log into the segments and sync them."""
        self._shard.flush()

    def close(self) -> None:
        """Flush and let go of the files."""
        self._shard.flush()
        self._shard.close()

    def optimize(self) -> None:
        """Build the HNSW index and drop deleted points. Minutes long, and nothing else in the process runs."""
        self._shard.optimize()
        (self.path / _INDEXED).write_text(str(self.total()))

    # Writing

    def put_passages(self, passages: Sequence[NewPassage], written: float) -> None:
        """Add or overwrite passages."""
        points = []
        for new in passages:
            vectors: dict[str, Any] = {DENSE: new.dense.tolist()}
            if len(new.sparse[0]):
                vectors[SPARSE] = _sparse(new.sparse)
            point_id = passage_point_id(new.version, new.passage.id)
            points.append(qe.Point(point_id, vectors, passage_payload(new, written)))
        self._upsert(points)

    def put_record(self, record: DocumentRecord) -> None:
        """Add or overwrite a record."""
        self._upsert([qe.Point(record_point_id(record.facts.name), {}, record_payload(record))])

    def delete_record(self, name: str) -> None:
        """Remove a record."""
        self._update(qe.UpdateOperation.delete_points([record_point_id(name)]))

    def delete_passages(self, version: str, ordinals: Sequence[int] | None = None) -> int:
        """Remove passages of a version; how many there were."""
        must = [_keyword(VERSION, [version])]
        if ordinals is not None:
            must.append(qe.FieldCondition(ORDINAL, match=qe.MatchAny([int(n) for n in ordinals])))
        which = qe.Filter(must=must)
        count = self._count(which)
        if count:
            self._update(qe.UpdateOperation.delete_points_by_filter(which))
        return count

    def _upsert(self, points: list[Any]) -> None:
        self._update(qe.UpdateOperation.upsert_points(points))

    def _update(self, operation: Any) -> None:
        self._shard.update(operation)

    # Reading

    def search(
        self, dense: npt.NDArray[np.float32], sparse: SparseVector, scope: Scope, limit: int, *, hnsw_ef: int | None
    ) -> list[Found]:
        """The best by cosine and the best by sparse score; every vector is compared when hnsw_ef is None."""
        exact = qe.SearchParams(exact=True)
        which = _scope_filter(scope)
        near = qe.Query.Nearest(dense.tolist(), using=DENSE)
        cosine = self._scores(near, which, limit, exact if hnsw_ef is None else qe.SearchParams(hnsw_ef=hnsw_ef))
        overlap: dict[uuid.UUID, float] = {}
        if len(sparse[0]):
            shared = qe.Query.Nearest(_sparse(sparse), using=SPARSE)
            overlap = self._scores(shared, which, limit)
            if unscored := cosine.keys() - overlap.keys():
                overlap |= self._scores(shared, _has_id(unscored), len(unscored))
        if unscored := overlap.keys() - cosine.keys():
            cosine |= self._scores(near, _has_id(unscored), len(unscored), exact)
        found = []
        for point in self._shard.retrieve(list(cosine), with_payload=True, with_vector=False):
            payload, key = point.payload, point.id
            found.append(Found(payload[VERSION], passage_of(payload), cosine[key], overlap.get(key, 0.0)))
        return found

    def records(self) -> list[DocumentRecord]:
        """Every record."""
        return [record_of(payload) for payload in self._scroll(_keyword(KIND, [RECORD_KIND]))]

    def passages(self, version: str) -> list[PassageRecord]:
        """Every passage of a version, by ordinal."""
        found = [passage_of(payload) for payload in self._scroll(_keyword(VERSION, [version]))]
        return sorted(found, key=lambda passage: passage.ordinal)

    def versions(self) -> dict[str, int]:
        """Every version with passages, and how many."""
        answer = self._shard.facet(qe.FacetRequest(VERSION, limit=10_000_000, exact=True))
        return {str(hit.value): int(hit.count) for hit in answer.hits if hit.count}

    def count(self, version: str, written_since: float) -> int:
        """Passages of a version, written at that time or later."""
        since = qe.FieldCondition(WRITTEN, range=qe.RangeFloat(gte=written_since))
        return self._count(qe.Filter(must=[_keyword(VERSION, [version]), since]))

    def total(self) -> int:
        """Points, of every kind."""
        return self._count(None)

    def _scores(self, query: Any, which: Any, limit: int, params: Any = None) -> dict[uuid.UUID, float]:
        request = qe.QueryRequest(
            limit=limit, query=query, filter=which, params=params, with_payload=False, with_vector=False
        )
        return {point.id: float(point.score) for point in self._shard.query(request)}

    def _scroll(self, condition: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        which, offset = qe.Filter(must=[condition]), None
        while True:
            request = qe.ScrollRequest(offset=offset, limit=_PAGE, filter=which, with_payload=True, with_vector=False)
            points, offset = self._shard.scroll(request)
            found.extend(point.payload for point in points)
            if offset is None:
                return found

    def _count(self, which: Any) -> int:
        return int(self._shard.count(qe.CountRequest(exact=True, filter=which)))


def _sparse(vector: SparseVector) -> Any:
    return qe.SparseVector(vector[0].tolist(), vector[1].tolist())


def _keyword(field: str, values: Sequence[str]) -> Any:
    return qe.FieldCondition(field, match=qe.MatchAny(list(values)))


def _has_id(ids: set[uuid.UUID]) -> Any:
    return qe.Filter(must=[qe.HasIdCondition({*ids})])


def _scope_filter(scope: Scope) -> Any:
    must = [] if scope.only is None else [_keyword(VERSION, scope.only)]
    if scope.sections is not None:
        must.append(_keyword(SECTION, scope.sections))
    if scope.languages is not None:
        must.append(_keyword(LANGUAGE, scope.languages))
    if scope.reach is not None:
        must.append(_keyword(TENANT, [scope.reach.tenant]))
        if scope.reach.collections is not None:
            must.append(_keyword(COLLECTION, scope.reach.collections))
    if not must and not scope.exclude:
        return None
    return qe.Filter(
        must=must or None,
        must_not=[_keyword(VERSION, scope.exclude)] if scope.exclude else None,
    )
