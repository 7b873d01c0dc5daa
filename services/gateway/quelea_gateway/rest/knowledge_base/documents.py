"""The documents of the knowledge base, and their pages, where citations open."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.parse import quote as url_quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2
from quelea_kit.errors import NotFound
from quelea_kit.paging import DEFAULT_PAGE_SIZE
from quelea_kit.reach import DEFAULT_COLLECTION, Reach, enter, within

from quelea_gateway.core.callers import audit
from quelea_gateway.core.callers.access import Principal, Right
from quelea_gateway.core.chats.conversations import Forgotten
from quelea_gateway.core.model import Citation
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.answers.question_schemas import FiltersIn
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Day, ListOut, PageSize, PageToken, Short, Time
from quelea_gateway.rest.knowledge_base.jobs import iso
from quelea_gateway.rest.knowledge_base.page_view import PageOut, SpanOut, render, span_of, wants_html
from quelea_gateway.rest.state import gateway_of, in_collections, principal_of
from quelea_gateway.rights import deletable

router = APIRouter(tags=["documents"])

DocumentId = Annotated[str, Path(max_length=128)]
_ID = re.compile(r"[0-9a-f]{32}")
_PROVENANCE = {
    common_pb2.PROVENANCE_UPLOAD: "upload",
    common_pb2.PROVENANCE_WEB: "web",
    common_pb2.PROVENANCE_SAMPLE: "sample",
}
MAX_PAGE = 2**31 - 1


class DocumentOut(BaseModel):
    """A document of the knowledge base."""

    id: str
    title: str
    uri: str
    filing_id: str = Field(description="Of a fetched filing: its number at its source; else empty.")
    collection: str
    language: str
    company: str
    ticker: str
    document_type: str
    period: str
    period_end: str
    published: str
    provenance: str
    pages: int
    passages: int
    fetched: Time | None

    @classmethod
    def of(cls, document: common_pb2.Document) -> DocumentOut:
        """From the wire's."""
        metadata = document.metadata
        return cls(
            id=document.id,
            title=metadata.title,
            uri=metadata.uri,
            filing_id=metadata.filing_id,
            collection=metadata.collection or DEFAULT_COLLECTION,
            language=metadata.language,
            company=metadata.company,
            ticker=metadata.ticker,
            document_type=metadata.document_type,
            period=metadata.period.label,
            period_end=metadata.period.end_date,
            published=metadata.published,
            provenance=_PROVENANCE.get(metadata.provenance, ""),
            pages=document.pages,
            passages=document.passages,
            fetched=iso(document.fetched),
        )


class DocumentsOut(ListOut):
    """Newest first."""

    documents: list[DocumentOut]
    total: int = Field(description="Of all pages of the list.")


class DeletedOut(BaseModel):
    """What was removed."""

    document_id: str
    passages: int
    answers_forgotten: int = Field(
        default=0, description="Saved answers that quoted it and do no longer: with `forget_quotes` alone."
    )
    unreadable: int = Field(
        default=0,
        description="Saved answers and thumbs that name it, could not be read, and are as they were; the gateway's log "
        "names their files (`not_forgotten`).",
    )


def page_url(base: str, citation: Citation) -> str:
    """Where a citation opens: the page with the quoted span marked."""
    return page_address(base, citation.document_id, citation.page, citation.start, citation.end)


def page_address(base: str, document_id: str, page: int, start: int, end: int) -> str:
    """Where a span of a page opens, marked."""
    return f"{base}/v1/documents/{url_quote(document_id, safe='')}/pages/{page}?start={start}&end={end}#quote"


def place_link(base: str) -> Callable[[Mapping[str, Any]], str]:
    """What gives the address of a place in a document, as an exported answer names it."""

    def link(place: Mapping[str, Any]) -> str:
        return page_address(base, place["document_id"], place["page"], place["start"], place["end"])

    return link


@router.get(
    "/v1/documents",
    response_model=DocumentsOut,
    responses=ERRORS,
    dependencies=[Depends(in_collections)],
    summary="List documents",
)
async def documents(
    request: Request,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
    company: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    ticker: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    document_type: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    period: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    language: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    published_from: Day = "",
    published_to: Day = "",
) -> DocumentsOut:
    """One page of the list; repeat a filter to allow several values."""
    filters = FiltersIn.model_construct(
        companies=company,
        tickers=ticker,
        document_types=document_type,
        periods=period,
        languages=language,
        published_from=published_from,
        published_to=published_to,
        document_ids=[],
    )
    found = await gateway_of(request).retriever.documents(
        page_size=page_size, page_token=page_token, filters=filters.core()
    )
    return DocumentsOut(
        documents=[DocumentOut.of(document) for document in found.documents],
        next_page_token=found.next_page_token or None,
        total=found.total,
    )


@router.get("/v1/documents/{document_id}", response_model=DocumentOut, responses=ERRORS, summary="Get a document")
async def document(document_id: DocumentId, request: Request) -> DocumentOut:
    """What is known of a document."""
    return DocumentOut.of(await gateway_of(request).retriever.document(document_id))


@router.delete("/v1/documents/{document_id}", response_model=DeletedOut, responses=ERRORS, summary="Delete a document")
async def delete(
    document_id: DocumentId,
    request: Request,
    forget_quotes: Annotated[
        bool,
        Query(
            description="Also take its words out of the saved conversations and thumbs of everybody in the tenant; "
            "the key needs the right to manage its collection. Of a document that is not there any more an "
            "administrator may have them taken out, whichever tenant's it was. Left out: they keep their quotes, and "
            "show that it was removed."
        ),
    ] = False,
) -> DeletedOut:
    """Removes it everywhere: index, parsed text, original bytes. The key needs the right to write its collection."""
    gateway, principal = gateway_of(request), principal_of(request)
    answers = thumbs = Forgotten(changed=0, unreadable=0)
    enter(await deletable(gateway.retriever, principal, document_id))
    if forget_quotes:  # first, so that a call that fails half way can be made again
        audit.note("forget_quotes", "true")
        await _check_forgettable(gateway, principal, document_id)
        answers = await gateway.conversations.forget(document_id)
        thumbs = await gateway.feedback.forget(document_id)
    try:
        passages = await gateway.search.delete(document_id)
    except NotFound:
        if not any((*answers, *thumbs)):
            raise
        passages = 0
    return DeletedOut(
        document_id=document_id,
        passages=passages,
        answers_forgotten=answers.changed,
        unreadable=answers.unreadable + thumbs.unreadable,
    )


async def _check_forgettable(gateway: Gateway, principal: Principal, document_id: str) -> None:
    """Raises NotFound or PermissionDenied where a document's words are not his to take out of what is saved."""
    try:
        found = await gateway.retriever.document(document_id)
    except NotFound:
        # What is saved is searched for the id: of another form, "e" say, it would be found in everything.
        if not principal.administrator or not _ID.fullmatch(document_id):
            raise
        if await _is_in_tenant(gateway, principal.tenant, document_id):  # where he may not see it
            raise
    else:
        principal.require(Right.MANAGE, found.metadata.collection or DEFAULT_COLLECTION)


async def _is_in_tenant(gateway: Gateway, tenant: str, document_id: str) -> bool:
    with within(Reach(tenant)):
        try:
            await gateway.retriever.document(document_id)
        except NotFound:
            return False
    return True


def _out(page: search_pb2.GetPageResponse, span: tuple[int, int] | None) -> PageOut:
    metadata = page.metadata
    return PageOut(
        document_id=page.document_id,
        page=page.page,
        pages=page.pages,
        text=page.text,
        title=metadata.title,
        uri=metadata.uri,
        published=metadata.published,
        company=metadata.company,
        period=metadata.period.label,
        document_type=metadata.document_type,
        language=metadata.language,
        provenance=_PROVENANCE.get(metadata.provenance, ""),
        span=SpanOut(start=span[0], end=span[1]) if span else None,
    )


_PAGE_CONTENT = {
    "description": "The page; as HTML with the span marked when a browser asks.",
    "content": {"text/html": {"schema": {"type": "string"}}},
}


@router.get(
    "/v1/documents/{document_id}/pages/{page}",
    response_model=PageOut,
    responses={200: _PAGE_CONTENT, **ERRORS},
    summary="Get a page of a document",
)
async def page(
    document_id: DocumentId,
    page: Annotated[int, Path(ge=1, le=MAX_PAGE)],
    request: Request,
    start: Annotated[int | None, Query(ge=0, le=MAX_PAGE)] = None,
    end: Annotated[int | None, Query(ge=0, le=MAX_PAGE)] = None,
    quote: Annotated[str | None, Query(max_length=20_000)] = None,
) -> Response:
    """The parsed text of a page; `start` and `end`, or `quote`, name the span to mark. Pages count from 1."""
    gateway = gateway_of(request)
    found = await gateway.search.page(document_id, page)
    span = span_of(found.text, start, end, quote)
    if wants_html(request.headers.get("accept", "")):
        return HTMLResponse(render(_out(found, span), span), headers={"Vary": "Accept"})
    return Response(_out(found, span).model_dump_json(), media_type="application/json", headers={"Vary": "Accept"})
