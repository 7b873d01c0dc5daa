"""A retriever in memory, over real gRPC: same contract, no encoder. For tests."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea.retriever.v1 import retriever_pb2_grpc
from quelea_kit.errors import Conflict, DeadlineExceeded, InvalidInput, NotFound, QueleaError

from quelea_search.core.jobs import document_name

Context = grpc.aio.ServicerContext[Any, Any]
SERVICE = "quelea.retriever.v1.RetrieverService"


class FakeRetriever(retriever_pb2_grpc.RetrieverServiceServicer):
    """Keeps what it is given.

    Attributes:
        committed: Documents that a search would see, by id, each with its passages by id.
        staged: Passages of documents that are not committed.
        upserts: (document id, number of passages, commit) of every Upsert, in order.
        waiting: Upserts that are under way.
        in_flight: The most Upserts that were under way at once.
        delay: Seconds that one Upsert takes.
        gate: Upserts wait while it is cleared.
        failures: Errors that the next Upserts raise, first in first out.
        most: Passages of one Upsert that are done in time; 0: any number.
    """

    def __init__(self) -> None:
        self.documents: dict[str, common_pb2.Document] = {}
        self.committed: dict[str, dict[str, common_pb2.Passage]] = {}
        self.staged: dict[str, dict[str, common_pb2.Passage]] = {}
        self.upserts: list[tuple[str, int, bool]] = []
        self.in_flight = 0
        self.delay = 0.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.failures: list[QueleaError] = []
        self.waiting = 0
        self.most = 0

    def register(self, server: grpc.aio.Server) -> None:
        """Add the service to a server."""
        retriever_pb2_grpc.add_RetrieverServiceServicer_to_server(self, server)

    async def Upsert(self, request: pb.UpsertRequest, context: Context) -> pb.UpsertResponse:  # noqa: N802  # gRPC name
        """Stage, and commit when told to."""
        self.waiting += 1
        self.in_flight = max(self.in_flight, self.waiting)
        try:
            if self.failures:
                raise self.failures.pop(0)
            if 0 < self.most < len(request.passages):
                raise DeadlineExceeded("The encoder is slow.")
            await self.gate.wait()
            await asyncio.sleep(self.delay)
        finally:
            self.waiting -= 1
        document = request.document
        if not document.id or not document.metadata.uri:
            raise InvalidInput("A document needs an id and a uri.")
        self.upserts.append((document.id, len(request.passages), request.commit))
        stage = self.staged.setdefault(document.id, {})
        for passage in request.passages:
            stage[passage.id] = passage
        replaced = ""
        if request.commit:
            if len(stage.keys() | self.committed.get(document.id, {}).keys()) < document.passages:
                raise Conflict("Fewer passages are stored than the document declares.")
            for other in list(self.documents.values()):
                if _name(other) == _name(document) and other.id != document.id:
                    replaced = other.id
                    del self.documents[other.id], self.committed[other.id]
            self.documents[document.id] = document
            self.committed[document.id] = {**self.committed.get(document.id, {}), **self.staged.pop(document.id)}
        return pb.UpsertResponse(written=len(request.passages), replaced_document_id=replaced)

    async def Delete(self, request: pb.DeleteRequest, context: Context) -> pb.DeleteResponse:  # noqa: N802  # gRPC name
        """Forget a document."""
        gone = len(self.committed.pop(request.document_id, {})) + len(self.staged.pop(request.document_id, {}))
        if self.documents.pop(request.document_id, None) is None and not gone:
            raise NotFound("There is no document with this id.")
        return pb.DeleteResponse(passages=gone)

    async def GetDocument(  # noqa: N802  # gRPC name
        self, request: pb.GetDocumentRequest, context: Context
    ) -> pb.GetDocumentResponse:
        """A committed document."""
        if request.document_id not in self.documents:
            raise NotFound("There is no document with this id.")
        return pb.GetDocumentResponse(document=self.documents[request.document_id])

    async def ListDocuments(  # noqa: N802  # gRPC name
        self, request: pb.ListDocumentsRequest, context: Context
    ) -> pb.ListDocumentsResponse:
        """Committed documents, page by page."""
        ids = sorted(self.documents)
        first = int(request.page_token or 0)
        last = first + (request.page_size or 100)
        return pb.ListDocumentsResponse(
            documents=[self.documents[i] for i in ids[first:last]],
            next_page_token=str(last) if last < len(ids) else "",
            total=len(ids),
        )


def _name(document: common_pb2.Document) -> str:
    return document_name(document.metadata.uploader, document.metadata.uri)
