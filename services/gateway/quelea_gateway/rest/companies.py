"""The companies of the stored documents, and their statements side by side over the years."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_kit.errors import NotFound
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.adapters.retriever import filters_to_wire
from quelea_gateway.core.model import Filters
from quelea_gateway.core.statement_grid import Figure, Length, grid
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.facts import Basis, FactOut, Format, csv_response, fact_out, figure_of
from quelea_gateway.rest.lists import ListOut, PageSize, PageToken
from quelea_gateway.rest.schemas import ERRORS
from quelea_gateway.rest.state import gateway_of

router = APIRouter(tags=["facts"])
_PAGE = 1000
_MOST_DOCUMENTS = 20_000
_MOST_FACTS = 20_000

CompanyName = Annotated[str, Path(max_length=200, description="Name, other name or ticker, as documents have it.")]


class CompanyOut(BaseModel):
    """A company that documents are about."""

    name: str
    ticker: str
    documents: int
    newest_period: str = Field(description="Last day of the newest period that a document covers.")


class CompaniesOut(ListOut):
    """By name."""

    companies: list[CompanyOut]
    total: int = Field(description="Of all pages of the list.")


class LineOut(BaseModel):
    """A line: one cell for each period, null where no stored document states it."""

    label: str
    concept: str
    group: str
    unit: str
    cells: list[FactOut | None]


class StatementOut(BaseModel):
    """A statement: lines as the newest filing prints them, periods newest first."""

    company: str
    statement: str
    basis: str
    periods: list[str]
    lines: list[LineOut]


@router.get("/v1/companies", response_model=CompaniesOut, responses=ERRORS, summary="List companies")
async def companies(
    request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> CompaniesOut:
    """Every company that a stored document is about."""
    found: dict[str, CompanyOut] = {}
    for metadata in await _metadata(gateway_of(request)):
        if not metadata.company:
            continue
        one = found.setdefault(
            metadata.company, CompanyOut(name=metadata.company, ticker="", documents=0, newest_period="")
        )
        one.documents += 1
        one.ticker = one.ticker or metadata.ticker
        one.newest_period = max(one.newest_period, metadata.period.end_date)
    by_name = sorted(found.values(), key=lambda one: one.name.lower())
    page, token = page_of(by_name, lambda one: one.name, page_size, page_token)
    return CompaniesOut(companies=page, next_page_token=token or None, total=len(found))


async def _metadata(gateway: Gateway) -> list[common_pb2.DocumentMetadata]:
    found: list[common_pb2.DocumentMetadata] = []
    token = ""
    while len(found) < _MOST_DOCUMENTS:
        page = await gateway.retriever.documents(page_size=_PAGE, page_token=token, filters=Filters())
        found += [one.metadata for one in page.documents]
        token = page.next_page_token
        if not token:
            break
    return found


@router.get(
    "/v1/companies/{company}/statements",
    response_model=StatementOut,
    responses=ERRORS,
    summary="Get a company's statement",
)
async def statements(
    request: Request,
    company: CompanyName,
    statement: Literal["income", "balance", "cash_flow", "comprehensive_income"] = "income",
    period: Annotated[Length, Query(description="Years or quarters.")] = "annual",
    years: Annotated[int, Query(ge=1, le=20, description="How many years back.")] = 3,
    basis: Basis = "consolidated",
    output: Format = "json",
) -> StatementOut | Response:
    """Years or quarters × lines; each cell opens to the place that prints it."""
    figures = await _figures(gateway_of(request), company, basis)
    made = grid(figures, statement, period, years if period == "annual" else 4 * years)
    base = str(request.base_url).rstrip("/")
    if output == "csv":
        head = ["label", "concept", "group", "unit", *made.periods]
        rows = [
            [line.label, line.concept, line.group, line.unit, *(cell.value if cell else "" for cell in line.cells)]
            for line in made.lines
        ]
        return csv_response([head, *rows])
    return StatementOut(
        company=figures[0].company,
        statement=statement,
        basis=basis,
        periods=list(made.periods),
        lines=[
            LineOut(
                label=line.label,
                concept=line.concept,
                group=line.group,
                unit=line.unit,
                cells=[fact_out(cell, base) if cell else None for cell in line.cells],
            )
            for line in made.lines
        ],
    )


async def _figures(gateway: Gateway, company: str, basis: str) -> list[Figure]:
    """Every figure of a company's statements. Raises NotFound when there are none."""
    found: list[Figure] = []
    token = ""
    while len(found) < _MOST_FACTS:
        page = await gateway.retriever.facts(
            retriever_pb2.ListFactsRequest(
                filters=filters_to_wire(Filters(companies=(company,))), basis=basis, page_size=_PAGE, page_token=token
            )
        )
        found += [figure_of(one) for one in page.facts]
        token = page.next_page_token
        if not token:
            break
    if not found:
        raise NotFound(
            f'No stored document has {basis} statements of "{company}"; see GET /v1/companies for the names.',
            details={"company": company},
        )
    return found
