"""What must hold before a document's record is written."""

from __future__ import annotations

from quelea_kit.errors import Conflict

from quelea_retriever.adapters.store import Store, version_of
from quelea_retriever.core.header import contextual_header
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.snapshot import Snapshot


async def version_to_commit(store: Store, snapshot: Snapshot, facts: DocumentFacts) -> str:
    """The version of these facts; the live one where only its record is to be renewed.

    Raises:
        Conflict: That cannot be, as what is indexed with each passage would change.
    """
    version, live = version_of(facts), snapshot.live(facts)
    if live is None or live.version == version or await store.count(version):
        return version
    if (live.facts.name, live.facts.passages) != (facts.name, facts.passages):
        return version  # of which nothing is stored: a conflict
    if (live.facts.language, contextual_header(live.facts, "")) != (facts.language, contextual_header(facts, "")):
        raise Conflict(
            f"Document {facts.id} cannot be renewed without its passages: its title, company, type, period, date or "
            "language would change, and these are indexed with every passage. Send all passages again.",
            details={"stored": "0", "expected": str(facts.passages)},
        )
    return live.version


async def check_count(store: Store, version: str, facts: DocumentFacts) -> None:
    """Conflict when fewer passages are stored than the document has; what is too much is removed."""
    stored = await store.count(version)
    if stored < facts.passages:
        raise Conflict(
            f"Document {facts.id} declares {facts.passages} passages, but only {stored} are stored. "
            "Send all of them, with the same metadata in every request, and commit again.",
            details={"stored": str(stored), "expected": str(facts.passages)},
        )
    if stored > facts.passages:  # written before with the same metadata, cut into more pieces
        ordinals = [passage.ordinal for passage in await store.passages(version)]
        await store.delete_passages(version, ordinals[facts.passages :])
