"""How a job brings a filing in, kept in its record: whom to ask, and what the source says of the document."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from quelea_search.core.model import DocumentFacts
from quelea_search.core.records import decode_fields


@dataclass(frozen=True, slots=True)
class FilingOrder:
    """One document of a filing."""

    url: str
    run_id: str
    """Of the fetch; the door's log and its bundle have all calls under it."""
    bundle_ids: tuple[str, ...] = ()
    """Recordings to replay; empty: the source itself is asked."""
    company: str = ""
    """These three stand where the document does not say it itself."""
    document_type: str = ""
    title: str = ""

    def complete(self, facts: DocumentFacts) -> DocumentFacts:
        """What a document says of itself, and where it says nothing, what its source says."""
        return dataclasses.replace(
            facts,
            company=facts.company or self.company,
            document_type=facts.document_type or self.document_type,
            title=facts.title or self.title,
        )


def decode(text: str) -> FilingOrder:
    """What `records.encode` made of one."""
    values = decode_fields(FilingOrder, text)
    return FilingOrder(**{**values, "bundle_ids": tuple(values.get("bundle_ids", ()))})
