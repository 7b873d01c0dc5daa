"""How documents and passages are written down in a store.

A store has points of four kinds in one collection:

- passage: dense and sparse vector; payload has the passage and the *version* of the document that it belongs to.
- record: no vector; one for each live document, under an id made from its name. Writing it is the commit: the passages
  of its version are live from then on, those of the version that it overwrote are not.
- meta: no vector; the encoder that the vectors come from, and a stamp that changes with every commit.
- about: no vector; the schema, and the collection whose place this one took. Not in meta, which every commit of every
  release writes anew.

A passage carries no facts of its document but its language, tenant and collection, by which searches are bounded, so
that there is one place to change the others, and one write that does it. (A document in another language, or of another
tenant or collection, is another version, so these do not change under its passages.)
"""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

from quelea_fintext.times.periods import ReportingPeriod

from quelea_retriever.adapters.store import SCHEMA, DocumentRecord, NewPassage, Profile
from quelea_retriever.core.model import DocumentFacts, PassageRecord

DENSE = "dense"
SPARSE = "sparse"
KIND = "kind"
VERSION = "version"
WRITTEN = "written"
ORDINAL = "ordinal"
SECTION = "section"
LANGUAGE = "language"
TENANT = "tenant"
COLLECTION = "collection"
PASSAGE_KIND = "passage"
RECORD_KIND = "record"

_NAMESPACE = uuid.UUID("6f1c3a52-8f0a-5d0e-9b7e-2f0c1f6f8a11")
META_ID = str(uuid.uuid5(_NAMESPACE, "meta"))
ABOUT_ID = str(uuid.uuid5(_NAMESPACE, "about"))

_PASSAGE_FIELDS = tuple(f.name for f in dataclasses.fields(PassageRecord))
_SELDOM = ("facts", "scanned")
"""Fields that few passages have: the others leave them out."""
_FACT_FIELDS = frozenset(f.name for f in dataclasses.fields(DocumentFacts))
_PERIOD_FIELDS = frozenset(f.name for f in dataclasses.fields(ReportingPeriod))


def passage_point_id(version: str, passage_id: str) -> str:
    """Point id of a passage; two versions of one document never share a point."""
    return str(uuid.uuid5(_NAMESPACE, f"passage {version} {passage_id}"))


def record_point_id(name: str) -> str:
    """Point id of the record of a document's name."""
    return str(uuid.uuid5(_NAMESPACE, f"record {name}"))


def passage_payload(new: NewPassage, written: float) -> dict[str, Any]:
    """Payload of a passage point."""
    payload = {name: getattr(new.passage, name) for name in _PASSAGE_FIELDS}
    for name in _SELDOM:
        if not payload[name]:
            del payload[name]
    about = {VERSION: new.version, LANGUAGE: new.language, TENANT: new.tenant, COLLECTION: new.collection}
    return {KIND: PASSAGE_KIND, WRITTEN: int(written), **about, **payload}


def passage_of(payload: dict[str, Any]) -> PassageRecord:
    """The passage that a payload holds."""
    return PassageRecord(**{name: payload[name] for name in _PASSAGE_FIELDS if name in payload or name not in _SELDOM})


def record_payload(record: DocumentRecord) -> dict[str, Any]:
    """Payload of a record point. Its version is under another name, so that filters on passages do not see it."""
    return {
        KIND: RECORD_KIND,
        "live": record.version,
        "committed": record.committed,
        "facts": dataclasses.asdict(record.facts),
        **({"copied": True} if record.copied else {}),
    }


def record_of(payload: dict[str, Any]) -> DocumentRecord:
    """The record that a payload holds. Fields of a later release are left out, missing ones get their default."""
    facts = {k: v for k, v in payload["facts"].items() if k in _FACT_FIELDS}
    period = {k: v for k, v in (facts.pop("period", None) or {}).items() if k in _PERIOD_FIELDS}
    aliases = tuple(facts.pop("company_aliases", ()))
    return DocumentRecord(
        version=payload["live"],
        facts=DocumentFacts(**facts, company_aliases=aliases, period=ReportingPeriod(**period)),
        committed=float(payload["committed"]),
        copied=bool(payload.get("copied")),
    )


def meta_payload(profile: Profile, stamp: str) -> dict[str, Any]:
    """Payload of the meta point."""
    return {KIND: "meta", "profile": dataclasses.asdict(profile), "stamp": stamp}


def profile_of(payload: dict[str, Any]) -> Profile:
    """The profile that a meta payload holds."""
    return Profile(**payload["profile"])


def about_payload(previous: str = "", schema: int = SCHEMA) -> dict[str, Any]:
    """Payload of the about point."""
    return {KIND: "about", "schema": schema, "previous": previous}


def schema_of(payload: dict[str, Any] | None) -> int:
    """The schema that an about payload tells; 0 where there is none."""
    return int(payload["schema"]) if payload else 0
