"""What a store must do. Two stores keep to it: qdrant_edge (in this process) and qdrant (a server or cluster);
tests/contract/retriever holds both to the same behaviour. points.py tells how things are written down in one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT, Reach, split_place

from quelea_retriever.core.model import DocumentFacts, PassageRecord

SparseVector = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]
"""Indices (unique) and weights, equally long."""

# Known only when the whole document has been read, so not part of what names a version.
_UNVERSIONED = frozenset({"pages", "passages", "fetched"})
_LATER = {"filing_id": "", "tenant": DEFAULT_TENANT, "collection": DEFAULT_COLLECTION}
"""Fields that came after versions were stored: while they have these values, a version keeps its name."""


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
    copied: bool = field(default=False, compare=False)
    """Written by a re-embedding, which may take back what it wrote itself and nothing else."""


@dataclass(frozen=True)
class NewPassage:
    """A passage to be stored."""

    version: str
    passage: PassageRecord
    dense: npt.NDArray[np.float32]
    """Shape (dimension,), unit length."""
    sparse: SparseVector
    """The store applies its own IDF."""
    language: str = ""
    """Of the document: stored with the passage, so that a search can be kept to languages in few words."""
    tenant: str = DEFAULT_TENANT
    """Of the document, as its collection: stored with the passage, so that a search is bounded where it is made."""
    collection: str = DEFAULT_COLLECTION


@dataclass(frozen=True)
class Found:
    """A stored passage with both of its scores."""

    version: str
    passage: PassageRecord
    cosine: float
    sparse: float


@dataclass(frozen=True)
class Scope:
    """Which versions to search: only these (None: any), none of those; and passages of which sections and languages."""

    only: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    sections: tuple[str, ...] | None = None
    """Exactly these; None for any. No index serves it: for small collections."""
    languages: tuple[str, ...] | None = None
    """Passages of documents in exactly these; None for any."""
    reach: Reach | None = None
    """Passages of documents within it; None for any, in stores without tenants (of entries)."""


class Store(Protocol):
    """A place for passages and records. Writes are durable when the call returns, and may be repeated.

    Failures of the store itself are raised as Unavailable.
    """

    name: str
    shared: bool
    """True when other processes may write to the same store."""

    @property
    def profile(self) -> Profile | None:
        """Of what is stored, as last seen; None while nothing is."""
        ...

    async def open(self) -> Profile | None:
        """Connect; the profile of what is stored, None while nothing is.

        Raises:
            Conflict: What is stored is written down in a way that this release does not know, or no longer; the
                message says which command to run.
        """
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

    async def delete_record(self, name: str) -> None:
        """Remove the record of a name (DocumentFacts.name), if there is one."""
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

    async def follow(self) -> Store | None:
        """The store to use from now on, when another has taken this one's place (it was re-embedded); else None."""
        ...

    async def settled(self) -> bool:
        """After a write: False when another store has taken this one's place, so that it must be made again there."""
        ...

    async def previous(self) -> Store | None:
        """The store whose place this one took, while it is kept: documents may have been begun there."""
        ...

    async def close(self) -> None:
        """Give everything back; durable writes stay."""
        ...


def version_of(facts: DocumentFacts) -> str:
    """The name of a version: its place, the document's id, a hyphen, and 16 hexadecimal digits over its metadata.

    Page and passage counts and the time of fetching do not count: a caller may not know them in the first of several
    requests, and a repeated request must name the same version.
    """
    said = {k: v for k, v in dataclasses.asdict(facts).items() if k not in _UNVERSIONED and v != _LATER.get(k)}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return f"{facts.place}{facts.id}-{digest[:16]}"


def is_version_of(version: str, document_id: str, reach: Reach) -> bool:
    """True when the version is one of that document, within the reach."""
    tenant, collection, named = split_place(version)
    return named.rpartition("-")[0] == document_id and reach.holds(tenant, collection)


def profile_conflict(stored: Profile, wanted: Profile) -> str:
    """What to say when a store was made with another encoder."""
    return (
        f"The knowledge base was indexed with {stored.model} ({stored.dimension} dimensions"
        f"{'' if stored.header else ', without headers'}), the embedder now has {wanted.model} ({wanted.dimension}"
        f"{'' if wanted.header else ', without headers'}). Their vectors cannot be mixed: start the embedder with the "
        "old model, or index again with `python -m quelea_retriever.admin reembed`."
    )


SCHEMA = 2
"""How things are written down (points.py). 0: before there was a number, without the language in passages; 1: without
tenant and collection in passages."""


def schema_conflict(found: int) -> str:
    """What to say of a store that is written down otherwise than this release does it."""
    if found > SCHEMA:
        return (
            f"The knowledge base was written by a newer Quelea (schema {found}, this one knows {SCHEMA}). Run that "
            "release, or go back with `python -m quelea_retriever.admin restore` and a backup that this one made."
        )
    return (
        f"The knowledge base was written by an older Quelea (schema {found}, this one needs {SCHEMA}): run "
        "`python -m quelea_retriever.admin migrate`, which keeps every document and may run while others search."
    )


class Stays:
    """What a store says whose place nothing takes while it is open."""

    async def follow(self) -> Store | None:
        """Never another one."""
        return None

    async def settled(self) -> bool:
        """Always."""
        return True

    async def previous(self) -> Store | None:
        """None."""
        return None
