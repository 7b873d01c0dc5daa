"""Documents as they came in: their bytes, the boxes of a quote on a PDF's page, HTML that runs and loads nothing."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import quote as url_quote

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field
from quelea.search.v1 import search_pb2

from quelea_gateway.rest.error_schemas import ERRORS, ErrorOut
from quelea_gateway.rest.knowledge_base.documents import MAX_PAGE, DocumentId
from quelea_gateway.rest.state import gateway_of
from quelea_gateway.rest.transport.errors import error_body

router = APIRouter(tags=["documents"])

_SEALED = "default-src 'none'; sandbox"
_HTML_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_BYTES: dict[str, Any] = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_ORIGINAL: dict[int | str, dict[str, Any]] = {
    200: {"description": "All bytes.", **_BYTES},
    206: {"description": "The bytes of the Range header.", **_BYTES},
    304: {"description": "They are those of If-None-Match."},
    416: {"model": ErrorOut, "description": "The original has no such bytes; Content-Range tells its size."},
    **ERRORS,
}


class BoxOut(BaseModel):
    """A piece of a quote that is printed in one line, in points of the PDF's own coordinates."""

    left: float
    bottom: float
    right: float
    top: float


class BoxesOut(BaseModel):
    """Where a quote is printed."""

    document_id: str
    page: int
    start: int
    end: int
    unit: str = Field(description="Points: 1/72 inch.")
    origin: str = Field(description="The page's lower left corner, before the page is rotated, as PDF counts.")
    boxes: list[BoxOut] = Field(description="In the order of the text.")
    found: float = Field(description="Share of the quote's characters, spaces aside, that are in the boxes; 0 to 1.")
    reason: str = Field(
        description="Why nothing was found: no_text (a scan, and no OCR is installed) or not_printed; else empty."
    )


def _disposition(filename: str, document_id: str) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in filename) or document_id
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{url_quote(filename or document_id, safe='')}"


def _part(header: str, size: int) -> tuple[int, int] | None:
    """From and to (behind the last byte) of a Range header; None: all. An empty part: there are no such bytes."""
    match = _RANGE.fullmatch(header.strip().replace(" ", ""))
    if match is None or match.group() == "bytes=-":  # several ranges, or another unit: a server may give all
        return None
    first, last = match[1], match[2]
    if not first:
        return max(0, size - int(last)), size
    end = min(int(last) + 1, size) if last else size
    if last and int(last) < int(first):
        return None
    return int(first), end


async def _answer(document_id: str, request: Request, *, body: bool) -> Response:
    search = gateway_of(request).search
    found = await search.original(document_id)
    etag = f'"{document_id}"'
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Disposition": _disposition(found.filename, document_id),
        "Content-Security-Policy": _SEALED,
        "Cache-Control": "private, no-cache",
        "ETag": etag,
    }
    if etag in (tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    wanted = request.headers.get("range", "")
    same = request.headers.get("if-range", etag) == etag
    part = _part(wanted, found.size) if body and wanted and same else None
    start, end = part or (0, found.size)
    if part is not None:
        if start >= end:
            message = f"The original has {found.size} bytes, got the range {wanted[:50]!r}."
            said = error_body("RANGE", message, {"size": str(found.size)}, status=416, path=request.url.path)
            return JSONResponse(said, 416, {**headers, "Content-Range": f"bytes */{found.size}"})
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    headers |= {"Content-Length": str(end - start), "Content-Type": found.media_type}
    if not body or start == end:
        return Response(headers=headers)
    return StreamingResponse(
        search.read_original(document_id, start, end - start), 206 if part is not None else 200, headers
    )


@router.get(
    "/v1/documents/{document_id}/original",
    response_class=Response,
    responses=_ORIGINAL,
    summary="Download a document as it came in",
)
async def original(document_id: DocumentId, request: Request) -> Response:
    """The bytes that were uploaded or fetched; HEAD tells type and size, `Range` takes a part."""
    return await _answer(document_id, request, body=True)


@router.head("/v1/documents/{document_id}/original", include_in_schema=False)
async def original_head(document_id: DocumentId, request: Request) -> Response:
    """Type and size."""
    return await _answer(document_id, request, body=False)


Position = Annotated[int, Query(ge=0, le=MAX_PAGE)]


@router.get(
    "/v1/documents/{document_id}/pages/{page}/boxes",
    response_model=BoxesOut,
    responses=ERRORS,
    summary="Where a quote is printed on the page of its PDF",
)
async def boxes(
    document_id: DocumentId,
    page: Annotated[int, Path(ge=1, le=MAX_PAGE)],
    start: Position,
    end: Position,
    request: Request,
) -> BoxesOut:
    """`start` and `end` as a citation has them: text[start:end] of the page's text. 409 when it is no PDF."""
    found = await gateway_of(request).search.locate(
        search_pb2.LocateSpanRequest(document_id=document_id, page=page, start=start, end=end)
    )
    return BoxesOut(
        document_id=document_id,
        page=page,
        start=start,
        end=end,
        unit="pt",
        origin="bottom-left",
        boxes=[BoxOut(left=one.left, bottom=one.bottom, right=one.right, top=one.top) for one in found.boxes],
        found=found.found,
        reason="" if found.boxes else "no_text" if found.no_text else "not_printed",
    )


_AS_FILED = {"description": "The document.", "content": {"text/html": {"schema": {"type": "string"}}}}


@router.get(
    "/v1/documents/{document_id}/html",
    response_class=Response,
    responses={200: _AS_FILED, **ERRORS},
    summary="An HTML document as it was filed, safe to show",
)
async def as_filed(
    document_id: DocumentId,
    request: Request,
    page: Annotated[int, Query(ge=0, le=MAX_PAGE)] = 0,
    start: Position = 0,
    end: Position = 0,
) -> Response:
    """With its tables and looks, without scripts, forms and whatever is loaded. 409 when it is no HTML.

    `page`, `start` and `end`, as a citation has them, name the quote to mark (its first mark has the id `quote`); the
    header `Quelea-Found` tells which share of it was found.
    """
    wanted = search_pb2.RenderOriginalRequest(document_id=document_id, page=page, start=start, end=end)
    pieces = gateway_of(request).search.render(wanted)
    first = await anext(pieces)

    async def body() -> AsyncIterator[bytes]:
        async with contextlib.aclosing(pieces):
            yield first.chunk
            async for piece in pieces:
                yield piece.chunk

    headers = {"Content-Security-Policy": _HTML_POLICY, "Quelea-Found": f"{first.found:.4f}"}
    return StreamingResponse(body(), 200, headers, "text/html; charset=utf-8")
