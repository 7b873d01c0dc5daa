"""What a store must do, and how documents and passages are written down in one. Two stores keep to it: qdrant_edge
(in this process) and qdrant (a server or cluster); tests/contract/retriever holds both to the same behaviour.

A store has points of three kinds in one collection:

- passage: dense and sparse vector; payload has the passage and the *version* of the document that it belongs to.
- record: no vector; one for each live document, under an id made from its uri. Writing it is the commit: the passages
  of its version are live from then on, those of the version that it overwrote are not.
- meta: no vector; the encoder that the vectors come from, and a stamp that changes with every commit.

A passage carries no facts of its document, so that there is one place to change them, and one write that does it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from quelea_retriever.core.model import DocumentFacts, PassageRecord, Period

SparseVector = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]
"""Indices (unique) and weights, equally long."""

DENSE = "dense"
SPARSE = "sparse"
KIND = "kind"
VERSION = "version"
WRITTEN = "written"
ORDINAL = "ordinal"
SECTION = "section"
PASSAGE_KIND = "passage"
RECORD_KIND = "record"

_NAMESPACE = uuid.UUID("6f1c3a52-8f0a-5d0e-9b7e-2f0c1f6f8a11")
META_ID = str(uuid.uuid5(_NAMESPACE, "meta"))

_PASSAGE_FIELDS = tuple(f.name for f in dataclasses.fields(PassageRecord))
_FACT_FIELDS = frozenset(f.name for f in dataclasses.fields(DocumentFacts))
_PERIOD_FIELDS = frozenset(f.name for f in dataclasses.fields(Period))
# Known only when the whole document has been read, so not part of what names a version.
_UNVERSIONED = frozenset({"pages", "passages", "fetched"})


@dataclass(frozen=True)
class Profile:
    """How the vectors of a store were made; vectors of two profiles must not be mixed."""

    model: str
    dimension: int
    header: bool = True
    """Whether contextual headers were indexed."""


@dataclass(frozen=True)
class DocumentRecord:
    """A live document: its facts, and the version whose passages are live."""

    version: str
    facts: DocumentFacts
    committed: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class NewPassage:
    """A passage to be stored."""

    version: str
    passage: PassageRecord
    dense: npt.NDArray[np.float32]
    """Shape (dimension,), unit length."""
    sparse: SparseVector
    """The store applies its own IDF."""


@dataclass(frozen=True)
class Found:
    """A stored passage with both of its scores."""

    version: str
    passage: PassageRecord
    cosine: float
    sparse: float


@dataclass(frozen=True)
class Scope:
    """Which versions to search: only these (None: any), and none of those; and passages of which sections."""

    only: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    sections: tuple[str, ...] | None = None
    """Exactly these; None for any. No index serves it: for small collections."""


class Store(Protocol):
    """A place for passages and records. Writes are durable when the call returns, and may be repeated.

    Failures of the store itself are raised as Unavailable.
    """

    name: str
    shared: bool
    """True when other processes may write to the same store."""

    async def open(self) -> Profile | None:
        """Connect; the profile of what is stored, None while nothing is."""
        ...

    async def ensure(self, profile: Profile) -> None:
        """Make the collection if it is not there; Conflict when it holds vectors of another profile."""
        ...

    async def put_passages(self, passages: Sequence[NewPassage], *, written: float) -> None:
        """Add or overwrite passages, by version and passage id. `written` is the time in seconds since 1970."""
        ...

    async def put_record(self, record: DocumentRecord) -> None:
        """Add or overwrite the record of the document's uri: one point, so all or nothing."""
        ...

    async def delete_record(self, uri: str) -> None:
        """Remove the record of a uri, if there is one."""
        ...

    async def records(self) -> list[DocumentRecord]:
        """Every record."""
        ...

    async def stamp(self) -> str:
        """Differs from an earlier one when a record was written or removed since, by whichever process."""
        ...

    async def search(
        self,
        dense: npt.NDArray[np.float32],
        sparse: SparseVector,
        scope: Scope,
        limit: int,
    ) -> list[Found]:
        """The best `limit` by cosine and the best `limit` by sparse score, as one list in no special order.

        Each passage comes once and has both scores; sparse is 0.0 where no term is shared.
        """
        ...

    async def versions(self) -> dict[str, int]:
        """Every version with stored passages, and how many."""
        ...

    async def count(self, version: str, *, written_since: float = 0.0) -> int:
        """Stored passages of a version, written at that time (seconds since 1970) or later."""
        ...

    async def passages(self, version: str) -> list[PassageRecord]:
        """Every stored passage of a version, by ordinal."""
        ...

    async def delete_passages(self, version: str, ordinals: Sequence[int] | None = None) -> int:
        """Remove the passages of a version, or those of the given ordinals; how many there were."""
        ...

    async def maintain(self) -> None:
        """What has to be done from time to time; may take long, and holds up nothing."""
        ...

    async def indexed(self) -> bool:
        """True when an index serves dense search, False when every vector is compared."""
        ...

    async def check(self) -> None:
        """Raises Unavailable when the store cannot be used."""
        ...

    async def close(self) -> None:
        """Give everything back; durable writes stay."""
        ...


def version_of(facts: DocumentFacts) -> str:
    """The name of a version: the document's id, a hyphen, and 16 hexadecimal digits over its metadata.

    Page and passage counts and the time of fetching do not count: a caller may not know them in the first of several
    requests, and a repeated request must name the same version.
    """
    said = {k: v for k, v in dataclasses.asdict(facts).items() if k not in _UNVERSIONED}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return f"{facts.id}-{digest[:16]}"


def is_version_of(version: str, document_id: str) -> bool:
    """True when the version is one of that document."""
    return version.rpartition("-")[0] == document_id


def passage_point_id(version: str, passage_id: str) -> str:
    """Point id of a passage; two versions of one document never share a point."""
    return str(uuid.uuid5(_NAMESPACE, f"passage {version} {passage_id}"))


def record_point_id(uri: str) -> str:
    """Point id of the record of a uri."""
    return str(uuid.uuid5(_NAMESPACE, f"record {uri}"))


def passage_payload(new: NewPassage, written: float) -> dict[str, Any]:
    """Payload of a passage point."""
    payload = {name: getattr(new.passage, name) for name in _PASSAGE_FIELDS}
    return {KIND: PASSAGE_KIND, VERSION: new.version, WRITTEN: int(written), **payload}


def passage_of(payload: dict[str, Any]) -> PassageRecord:
    """The passage that a payload holds."""
    return PassageRecord(*[payload[name] for name in _PASSAGE_FIELDS])


def record_payload(record: DocumentRecord) -> dict[str, Any]:
    """Payload of a record point. Its version is under another name, so that filters on passages do not see it."""
    return {
        KIND: RECORD_KIND,
        "live": record.version,
        "committed": record.committed,
        "facts": dataclasses.asdict(record.facts),
    }


def record_of(payload: dict[str, Any]) -> DocumentRecord:
    """The record that a payload holds. Fields of a later release are left out, missing ones get their default."""
    facts = {k: v for k, v in payload["facts"].items() if k in _FACT_FIELDS}
    period = {k: v for k, v in (facts.pop("period", None) or {}).items() if k in _PERIOD_FIELDS}
    aliases = tuple(facts.pop("company_aliases", ()))
    return DocumentRecord(
        version=payload["live"],
        facts=DocumentFacts(**facts, company_aliases=aliases, period=Period(**period)),
        committed=float(payload["committed"]),
    )


def meta_payload(profile: Profile, stamp: str) -> dict[str, Any]:
    """Payload of the meta point."""
    return {KIND: "meta", "profile": dataclasses.asdict(profile), "stamp": stamp}


def profile_of(payload: dict[str, Any]) -> Profile:
    """The profile that a meta payload holds."""
    return Profile(**payload["profile"])


def profile_conflict(stored: Profile, wanted: Profile) -> str:
    """What to say when a store was made with another encoder."""
    return (
        f"The knowledge base was indexed with {stored.model} ({stored.dimension} dimensions"
        f"{'' if stored.header else ', without headers'}), the embedder now has {wanted.model} ({wanted.dimension}"
        f"{'' if wanted.header else ', without headers'}). Their vectors cannot be mixed: start the embedder with the "
        "old model, or index again with `python -m quelea_retriever.admin reembed`."
    )
