"""The rpcs of originals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
from quelea.search.v1 import search_pb2 as pb

from quelea_search.originals.originals import PIECE, Originals

Context = grpc.aio.ServicerContext[Any, Any]


class OriginalRpcs:
    """To be mixed into the service, which sets `originals`."""

    originals: Originals

    async def GetOriginal(  # noqa: N802  # gRPC name
        self, request: pb.GetOriginalRequest, context: Context
    ) -> pb.GetOriginalResponse:
        """Name, media type, size."""
        found = await self.originals.describe(request.document_id)
        return pb.GetOriginalResponse(filename=found.filename, media_type=found.media_type, size=found.size)

    async def ReadOriginal(  # noqa: N802  # gRPC name
        self, request: pb.ReadOriginalRequest, context: Context
    ) -> AsyncIterator[pb.ReadOriginalResponse]:
        """The bytes."""
        async for piece in self.originals.read(request.document_id, request.offset, request.length):
            yield pb.ReadOriginalResponse(chunk=piece)

    async def LocateSpan(self, request: pb.LocateSpanRequest, context: Context) -> pb.LocateSpanResponse:  # noqa: N802  # gRPC name
        """Boxes on a page."""
        found = await self.originals.locate(request.document_id, request.page, request.start, request.end)
        boxes = [pb.Box(left=one.left, bottom=one.bottom, right=one.right, top=one.top) for one in found.boxes]
        return pb.LocateSpanResponse(boxes=boxes, found=found.found, no_text=found.no_text)

    async def RenderOriginal(  # noqa: N802  # gRPC name
        self, request: pb.RenderOriginalRequest, context: Context
    ) -> AsyncIterator[pb.RenderOriginalResponse]:
        """HTML, in pieces."""
        made = await self.originals.render(request.document_id, request.page, request.start, request.end)
        data = made.html.encode("utf-8", "replace")
        for at in range(0, len(data), PIECE):
            yield pb.RenderOriginalResponse(chunk=data[at : at + PIECE], found=made.found if at == 0 else 0.0)
