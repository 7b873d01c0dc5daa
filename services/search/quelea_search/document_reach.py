"""Whether a stored document is within the reach of the call that names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quelea_kit import reach
from quelea_kit.errors import NotFound
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT

from quelea_search.adapters.blobs import Blobs


def is_reached(header: Mapping[str, Any]) -> bool:
    """By the header that is stored with it."""
    tenant = header.get("tenant", DEFAULT_TENANT)
    bounds = reach.current()
    collection = header["metadata"].get("collection", "")
    if not collection and "tenant" in header:  # a page of the web, read for an answer; it lies in no collection yet
        return bool(tenant == bounds.tenant)
    return bounds.holds(tenant, collection or DEFAULT_COLLECTION)


def reached_header(blobs: Blobs, document_id: str) -> dict[str, Any]:
    """The header of a document, or of a page that was read for an answer, within the reach of the call.

    For one that is out of reach the store is asked as often as for one that is not there.

    Raises:
        NotFound: There is none.
    """
    for header in blobs.headers(document_id):
        if is_reached(header):
            return header
    raise no_document()


def no_document() -> NotFound:
    """The same of what is not there and of what is out of reach."""
    return NotFound("There is no document with this id.")
