"""Removes what a failed job leaves behind."""

from __future__ import annotations

import asyncio

from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.retriever import Retriever


async def remove_leftovers(
    blobs: Blobs, retriever: Retriever | None, job_id: str, document_id: str, *, keep_bytes: bool = False
) -> bool:
    """Remove uncommitted passages and the files of a job that did not succeed.

    Args:
        blobs: The blob store.
        retriever: None when nothing was ever sent to it.
        job_id: The job.
        document_id: Its document, which no other worker may be at.
        keep_bytes: The job can be replayed, for which its bytes are needed.

    Returns:
        True when the document is in the index after all, so that all of it was left where it is.
    """
    stored = False
    if retriever is not None:
        stored = await retriever.get(document_id) is not None
        if not stored:
            await retriever.delete(document_id)
            await asyncio.to_thread(blobs.delete_document, document_id)
    if stored or not keep_bytes:
        await asyncio.to_thread(blobs.delete_incoming, job_id)
    return stored
