"""Client of the retriever, which embeds and stores passages.

A gRPC channel does not survive a fork, so a worker makes this client in the child process, inside the event loop of
one job; opening a channel costs milliseconds and a job takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea.retriever.v1 import retriever_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import NotFound

_SERVICE = "quelea.retriever.v1.RetrieverService"
_QUICK_SECONDS = 10.0
_DELETE_SECONDS = 60.0
_LIST_SIZE = 500


class Retriever:
    """The index. Every method raises the errors of the retriever, Unavailable when it does not answer.

    Args:
        target: host:port.
        upsert_seconds: Deadline of one upsert.
    """

    def __init__(self, target: str, *, upsert_seconds: float = 120.0) -> None:
        # Writes are not sent again by the channel: the pipeline does it, and says meanwhile why it waits.
        self._channel = channel(target, _SERVICE, idempotent=["GetDocument", "ListDocuments"])
        self._stub = retriever_pb2_grpc.RetrieverServiceStub(self._channel)
        self._upsert_seconds = upsert_seconds

    async def get(self, document_id: str) -> common_pb2.Document | None:
        """A document that is committed, or None."""
        try:
            request = pb.GetDocumentRequest(document_id=document_id)
            return (await unary(self._stub.GetDocument(request, timeout=_QUICK_SECONDS))).document
        except NotFound:
            return None

    async def upsert(
        self, document: common_pb2.Document, passages: Sequence[common_pb2.Passage], *, commit: bool
    ) -> str:
        """Add passages; with commit, make the document searchable.

        Returns:
            The document that it replaced; empty when there was none.
        """
        request = pb.UpsertRequest(document=document, passages=passages, commit=commit)
        return (await unary(self._stub.Upsert(request, timeout=self._upsert_seconds))).replaced_document_id

    async def delete(self, document_id: str) -> int:
        """Remove every passage of a document, committed or not; how many there were."""
        try:
            request = pb.DeleteRequest(document_id=document_id)
            return (await unary(self._stub.Delete(request, timeout=_DELETE_SECONDS))).passages
        except NotFound:
            return 0

    async def document_ids(self) -> set[str]:
        """Every committed document."""
        found: set[str] = set()
        token = ""
        while True:
            request = pb.ListDocumentsRequest(page_size=_LIST_SIZE, page_token=token)
            page = await unary(self._stub.ListDocuments(request, timeout=_QUICK_SECONDS))
            found.update(document.id for document in page.documents)
            token = page.next_page_token
            if not token:
                return found

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
