"""Receives an upload and creates its job."""

from __future__ import annotations

import asyncio
import time
import unicodedata
import uuid
from collections.abc import AsyncIterator

from quelea.common.v1 import common_pb2
from quelea_kit import reach
from quelea_kit.errors import DeadlineExceeded, InvalidInput, Overloaded, QueleaError, TooLarge, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.reach import DEFAULT_COLLECTION, id_in, place_of

from quelea_search.adapters.blobs import Upload
from quelea_search.adapters.retriever import Retriever
from quelea_search.components import Components
from quelea_search.core.jobs import Job, Lane
from quelea_search.wire import check_days, given_to_text

log = get_logger(__name__)
_NAME_CHARACTERS = 255
_URI_CHARACTERS = 2048
_KNOWN_SECONDS = 2.0
_SHOWN_OF_ID = 12


class Submission:
    """Takes documents in."""

    def __init__(self, shared: Components, retriever: Retriever) -> None:
        self._shared = shared
        self._retriever = retriever

    async def take(self, filename: str, metadata: common_pb2.DocumentMetadata, pieces: AsyncIterator[bytes]) -> Job:
        """Store the bytes and queue their job.

        Raises:
            InvalidInput: No usable file name, a field that is too long, or a day that does not exist.
            TooLarge: More bytes than max_document_bytes; the rest of the stream is not read.
            Overloaded: Too many jobs are waiting.
            DiskFull: The disk takes nothing new.
            NotFound: There is no such collection.
        """
        name = clean_filename(filename)
        if len(metadata.uri) > _URI_CHARACTERS:
            raise InvalidInput(f"The document's uri has more than {_URI_CHARACTERS} characters.")
        check_days(metadata)
        tenant, collection = await self._place(metadata.collection)
        most = self._shared.settings.max_queued_jobs
        await asyncio.to_thread(self._shared.check_disk)
        # Before a byte is stored: a full queue must not cost disk.
        await asyncio.to_thread(self._shared.store.check_room, Lane.UPLOAD, metadata.uploader, most)
        job_id = uuid.uuid4().hex
        document_id = id_in(place_of(tenant, collection), await self._receive(job_id, pieces))
        now = time.time()
        new = Job(
            id=job_id,
            filename=name,
            document_id=document_id,
            # Files of one name may be anything: only who names a uri says that one is a newer version of another.
            uri=metadata.uri or f"upload:{document_id[:_SHOWN_OF_ID]}/{name}",
            uploader=metadata.uploader,
            created=now,
            updated=now,
            given=given_to_text(metadata),
            tenant=tenant,
            collection=collection,
        )
        try:
            pages = await self._stored_pages(document_id)
            job = await asyncio.to_thread(self._shared.store.submit, new, stored_pages=pages, max_queued=most)
        except Unavailable:
            # The record may have been written although the answer was lost: then its job needs the bytes. Otherwise
            # the reaper removes them.
            raise
        except QueleaError:
            await asyncio.to_thread(self._shared.blobs.delete_incoming, job_id)
            raise
        if job.id != job_id or job.state.ended:
            await asyncio.to_thread(self._shared.blobs.delete_incoming, job_id)
            return job
        try:
            await asyncio.to_thread(self._shared.send, job)
        except Unavailable as error:
            # The record is safe, and the reaper sends a message for it.
            log.warning("message_not_sent", job=job_id, why=error.message)
        return job

    async def _place(self, named: str) -> tuple[str, str]:
        """Tenant and collection of a document that names a collection, or none."""
        collection = named or DEFAULT_COLLECTION
        await asyncio.to_thread(self._shared.collections.check, collection)
        return reach.current().tenant, collection

    async def _receive(self, job_id: str, pieces: AsyncIterator[bytes]) -> str:
        upload: Upload = await asyncio.to_thread(self._shared.blobs.upload, job_id)
        limit = self._shared.settings.max_document_bytes
        try:
            async for piece in pieces:
                if upload.size + len(piece) > limit:
                    raise TooLarge(
                        f"The file is larger than {limit} bytes; split it.", details={"max_document_bytes": str(limit)}
                    )
                await asyncio.to_thread(upload.write, piece)
            return await asyncio.to_thread(upload.commit)
        except BaseException:
            # In a thread, where it goes on even if this task is cancelled again.
            await asyncio.shield(asyncio.to_thread(upload.abort))
            raise

    async def _stored_pages(self, document_id: str) -> int | None:
        """Pages of the document when it is indexed; None otherwise, and when the retriever cannot tell just now."""
        try:
            async with asyncio.timeout(_KNOWN_SECONDS):
                known = await self._retriever.get(document_id)
        except (Unavailable, Overloaded, DeadlineExceeded, TimeoutError):
            return None  # the worker asks again
        return known.pages if known else None


def clean_filename(filename: str) -> str:
    """The last part of a path, without control characters; InvalidInput when nothing is left."""
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(c for c in last if unicodedata.category(c)[0] != "C").strip()
    if name in ("", ".", ".."):
        raise InvalidInput("The upload needs a file name.")
    if len(name) <= _NAME_CHARACTERS:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix) > 10:
        return name[:_NAME_CHARACTERS]
    return f"{stem[: _NAME_CHARACTERS - len(suffix) - 1]}.{suffix}"
