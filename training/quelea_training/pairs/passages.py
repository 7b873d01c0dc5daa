"""Passages of the documents in a knowledge base, over the gateway's REST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from quelea_evaluation.endpoints.client import Client

from quelea_training.pairs.model import Passage

_MOST = 200  # passages that one search gives
_LONGEST_QUERY = 300


async def collect(
    gateway: Client, documents: Mapping[str, Mapping[str, Any]], source: str, licence: str, say: Callable[[str], None]
) -> dict[str, Passage]:
    """Every passage that a search finds in these documents, by its id.

    A search gives at most 200, so a longer document is asked page by page, with the page's own words; what a search
    folds as a near-duplicate is left out, and said.

    Raises:
        EndpointError: The gateway did not answer, or not as a gateway does.
    """
    found: dict[str, Passage] = {}
    missing = 0
    for number, (document_id, document) in enumerate(documents.items(), 1):
        mine = await _of_document(gateway, document_id, document, source, licence)
        missing += max(int(document["passages"]) - len(mine), 0)
        found |= mine
        if number % 50 == 0 or number == len(documents):
            say(f"{source}: {len(found)} passages of {number} of {len(documents)} documents")
    if missing:
        say(f"{source}: {missing} passages repeat others so closely that a search does not show them; left out")
    return found


async def _of_document(
    gateway: Client, document_id: str, document: Mapping[str, Any], source: str, licence: str
) -> dict[str, Passage]:
    wanted = int(document["passages"])
    found = await _search(gateway, document_id, str(document["title"]) or document_id, source, licence)
    if wanted <= _MOST:
        return found
    for page in range(1, int(document["pages"]) + 1):
        if len(found) >= wanted:
            break
        path = f"/v1/documents/{quote(document_id, safe='')}/pages/{page}"
        text = " ".join(str((await gateway.get(path))["text"]).split())
        if text:
            found |= await _search(gateway, document_id, text[:_LONGEST_QUERY], source, licence)
    return found


async def _search(gateway: Client, document_id: str, query: str, source: str, licence: str) -> dict[str, Passage]:
    body = {"query": query, "k": _MOST, "filters": {"document_ids": [document_id]}}
    answer, _ = await gateway.post("/v1/search", body)
    made = (passage_of(one, source, licence) for one in answer["passages"])
    return {one.id: one for one in made}


def passage_id(found: Mapping[str, Any]) -> str:
    """The id of a passage as a search shows it."""
    return f"{found['document_id']}:{found['page']}:{found['start']}-{found['end']}"


def passage_of(found: Mapping[str, Any], source: str, licence: str) -> Passage:
    """A passage as a search shows it."""
    return Passage(
        id=passage_id(found),
        document=found["document_id"],
        page=found["page"],
        start=found["start"],
        end=found["end"],
        text=found["text"],
        head="\n".join(part for part in (found["header"], found["table_head"]) if part),
        title=found["title"],
        company=found["company"],
        language=found["language"] or "en",
        section=found["section"],
        is_table=found["is_table"],
        source=source,
        licence=licence,
    )
