"""Figures of the stored documents' financial statements."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field
from quelea.retriever.v1 import retriever_pb2
from quelea_kit.paging import DEFAULT_PAGE_SIZE

from quelea_gateway.adapters import exports as writers
from quelea_gateway.adapters.services.retriever import filters_to_wire
from quelea_gateway.core.model import Filters
from quelea_gateway.core.statements.statement_grid import Figure
from quelea_gateway.exports import XLSX
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Day, ListOut, PageSize, PageToken, Short
from quelea_gateway.rest.knowledge_base.documents import page_address
from quelea_gateway.rest.state import base_url, gateway_of, in_collections
from quelea_gateway.statement_reader import figure_of, past_day

router = APIRouter(tags=["facts"])

Statement = Literal["income", "balance", "cash_flow", "comprehensive_income", "note", "breakdown"]
Basis = Literal["consolidated", "parent"]
Format = Annotated[Literal["json", "csv", "xlsx"], Query(alias="format")]
AsOf = Annotated[Day, Query(description="Only what had come out by this day.")]
_SAFE = "'"
_FORMULA = ("=", "+", "@", "\t", "\r")


class FactOut(BaseModel):
    """A figure, and the place that prints it."""

    company: str
    concept: str = Field(description="`operating_income`; empty where the label is no standard concept's.")
    label: str = Field(description="As printed.")
    statement: str
    group: str = Field(description="Heading of the rows among which it stands.")
    column: str = Field(description="Of a breakdown: what is said of the part that the label names.")
    value: str = Field(description="Decimal, exact and unscaled, in the sense of its concept.")
    unit: str = Field(description="ISO 4217 code, that code per share, `shares` or `pure`.")
    period_start: str = Field(description="Empty of an instant.")
    period_end: str
    printed: str = Field(description="The printed cell.")
    basis: str
    source: str = Field(description="`tag`: inline XBRL says it. `table`: read from the printed table.")
    tag: str = Field(description="Name in its taxonomy.")
    passed: list[str] = Field(description="Identities of accounting that hold with it.")
    failed: list[str] = Field(description="Those that do not.")
    restated: bool = Field(description="A later document states this concept and period with another value.")
    document_id: str
    title: str
    page: int
    start: int = Field(description="Span of the cell on its page, in code points.")
    end: int
    url: str = Field(description="Opens the page with the cell marked.")


class FactsOut(ListOut):
    """By company, newest period first, in the order of the statements."""

    facts: list[FactOut]
    total: int = Field(description="Of all pages of the list.")


def address_of(base: str) -> Callable[[Figure], str]:
    """Where a figure opens, marked."""
    return lambda one: page_address(base, one.document_id, one.page, one.start, one.end)


def fact_out(one: Figure, base: str) -> FactOut:
    """As a caller sees it."""
    told = {name: getattr(one, name) for name in FactOut.model_fields if name != "url"}
    return FactOut(**told, url=address_of(base)(one))


FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            XLSX: {"schema": {"type": "string", "format": "binary"}},
        }
    }
}
"""What a route answers that knows `format`, beside JSON."""


@router.get(
    "/v1/facts",
    response_model=FactsOut,
    responses={**FILES, **ERRORS},
    dependencies=[Depends(in_collections)],
    summary="List figures of financial statements",
)
async def facts(
    request: Request,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
    company: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    ticker: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    document_id: Annotated[list[Short], Query()] = [],  # noqa: B006  # FastAPI copies it
    concept: Annotated[
        list[Short],
        Query(
            description="`operating_income`, a us-gaap name, or words: `operating cash flow`, 归母净利润; of a "
            "breakdown what its column says, a part or a kind of parts."
        ),
    ] = [],  # noqa: B006  # FastAPI copies it
    statement: Annotated[
        list[Statement],
        Query(
            description="`breakdown`: tables by industry, product, region, subsidiary. Left out: not these, nor notes."
        ),
    ] = [],  # noqa: B006  # FastAPI copies it
    period_from: Day = "",
    period_to: Day = "",
    months: Annotated[
        list[Annotated[int, Query(ge=1, le=60)]], Query(description="Lengths of periods: 12 for years, 3 for quarters.")
    ] = [],  # noqa: B006  # FastAPI copies it
    basis: Basis = "consolidated",
    doubtful: Annotated[
        bool, Query(description="Those too that break an identity, or that a later document restates.")
    ] = False,
    as_of: AsOf = "",
    output: Format = "json",
) -> FactsOut | Response:
    """One page of the list; repeat a filter to allow several values."""
    found = await gateway_of(request).retriever.facts(
        retriever_pb2.ListFactsRequest(
            filters=filters_to_wire(
                Filters(companies=tuple(company), tickers=tuple(ticker), document_ids=tuple(document_id))
            ),
            concepts=concept,
            statements=statement,
            period_from=period_from,
            period_to=period_to,
            months=months,
            basis=basis,
            include_doubtful=doubtful,
            as_of=past_day(as_of),
            page_size=page_size,
            page_token=page_token,
        )
    )
    base = base_url(request)
    figures = [figure_of(one) for one in found.facts]
    if output == "xlsx":
        address = address_of(base)
        return xlsx_response(await asyncio.to_thread(lambda: writers.spreadsheet.facts_workbook(figures, address)))
    out = [fact_out(one, base) for one in figures]
    if output == "csv":
        return csv_response([list(FactOut.model_fields)] + [_cells(one) for one in out])
    return FactsOut(facts=out, next_page_token=found.next_page_token or None, total=found.total)


def _cells(one: FactOut) -> list[str]:
    return [
        "; ".join(value) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)
        for value in one.model_dump().values()
    ]


def csv_response(rows: list[list[str]]) -> Response:
    """Rows as CSV (RFC 4180), with a byte order mark, without which Excel reads Chinese wrongly."""
    text = io.StringIO()
    csv.writer(text).writerows([[_inert(cell) for cell in row] for row in rows])
    return Response("\ufeff" + text.getvalue(), media_type="text/csv; charset=utf-8")


def xlsx_response(data: bytes, name: str = "statements.xlsx") -> Response:
    """A workbook as a download."""
    return Response(data, media_type=XLSX, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _inert(cell: str) -> str:
    """A document's words must not become a formula of the reader's spreadsheet."""
    return _SAFE + cell if cell.startswith(_FORMULA) else cell
