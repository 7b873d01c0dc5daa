"""Companies whose new filings are to come by themselves."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass

from quelea_kit.reach import DEFAULT_COLLECTION

from quelea_search.core.records import decode_fields
from quelea_search.filings.core.model import Company, Source, Wanted


@dataclass(frozen=True, slots=True)
class Watch:
    """A company, the forms that are wanted of it, and how the last look went. Times are seconds since 1970."""

    id: str
    source: Source
    company_id: str
    """EDGAR: the CIK. cninfo: the code."""
    ticker: str
    name: str
    forms: tuple[str, ...]
    added: float
    looked: float = 0.0
    due: float = 0.0
    """When it is looked at again."""
    error: str = ""
    """Of the last look; empty: it went well."""
    new: int = 0
    """Documents that the last look with any has queued."""
    new_at: float = 0.0
    collection: str = DEFAULT_COLLECTION

    def wanted(self) -> Wanted:
        """The fetch of one look: what was filed within a year and is not stored."""
        asked = f"CIK{self.company_id}" if self.source is Source.EDGAR else self.company_id
        return Wanted(asked, self.source, self.forms, years=1, collection=self.collection)


def watch_of(company: Company, forms: tuple[str, ...], *, now: float, collection: str = DEFAULT_COLLECTION) -> Watch:
    """A new watch; the same company with the same forms has the same id, in each collection another."""
    company_id = company.id.partition(",")[0]
    kind = [company.source, company_id, sorted(forms)]
    text = json.dumps(kind if collection == DEFAULT_COLLECTION else [*kind, collection])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Watch(
        digest,
        company.source,
        company_id,
        company.ticker,
        company.name,
        forms,
        added=now,
        due=now,
        collection=collection,
    )


def looked_at(watch: Watch, *, now: float, due: float, new: int = 0, error: str = "") -> Watch:
    """The watch after a look."""
    seen = dataclasses.replace(watch, looked=now, due=due, error=error)
    return dataclasses.replace(seen, new=new, new_at=now) if new else seen


def decode(text: str) -> Watch:
    """What `records.encode` made of one."""
    values = decode_fields(Watch, text)
    return Watch(**{**values, "source": Source(values["source"]), "forms": tuple(values["forms"])})
