"""The companies of the stored documents, and their statements side by side over the years."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.adapters import exports as writers
from quelea_gateway.core.statements.comparison import MOST_COMPANIES, MOST_CONCEPTS, ComparisonQuery
from quelea_gateway.core.statements.statement_grid import (
    DEFAULT_YEARS,
    MOST_YEARS,
    SHOWN,
    GridLine,
    Length,
    Shown,
    StatementQuery,
)
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Short
from quelea_gateway.rest.state import base_url, gateway_of, in_collections
from quelea_gateway.rest.statements.facts import (
    FILES,
    AsOf,
    Basis,
    FactOut,
    Format,
    address_of,
    csv_response,
    fact_out,
    xlsx_response,
)

router = APIRouter(tags=["facts"])

_PERIOD = "Years or quarters. Left out: years, or quarters where no year is stored."
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


class CellOut(FactOut):
    """A figure of a statement."""

    earlier: list[FactOut] = Field(description="What older documents state otherwise; only with `doubtful`.")


class LineOut(BaseModel):
    """A line: one cell for each period, null where no stored document states it."""

    label: str
    concept: str
    group: str
    column: str = Field(description="Of a breakdown: what is said of the part that the label names.")
    unit: str
    cells: list[CellOut | None]


class StatementOut(BaseModel):
    """A statement: lines as the newest filing prints them, periods newest first."""

    company: str
    statement: str
    basis: str
    periods: list[str]
    lines: list[LineOut]


@router.get(
    "/v1/companies",
    response_model=CompaniesOut,
    responses=ERRORS,
    dependencies=[Depends(in_collections)],
    summary="List companies",
)
async def companies(
    request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> CompaniesOut:
    """Every company that a stored document is about."""
    found = await gateway_of(request).statements.companies()
    page, token = page_of(found, lambda one: one.name, page_size, page_token)
    return CompaniesOut(
        companies=[CompanyOut.model_validate(one, from_attributes=True) for one in page],
        next_page_token=token or None,
        total=len(found),
    )


@router.get(
    "/v1/companies/{company}/statements",
    response_model=StatementOut,
    responses={**FILES, **ERRORS},
    dependencies=[Depends(in_collections)],
    summary="Get a company's statement",
)
async def statements(
    request: Request,
    company: CompanyName,
    statement: Annotated[
        Shown | None,
        Query(
            description="`breakdown`: tables by industry, product, region, subsidiary. Left out: income; of a "
            "workbook, each on a sheet of its own."
        ),
    ] = None,
    period: Annotated[Length | None, Query(description=_PERIOD)] = None,
    years: Annotated[int, Query(ge=1, le=MOST_YEARS, description="How many years back.")] = DEFAULT_YEARS,
    basis: Basis = "consolidated",
    doubtful: Annotated[
        bool, Query(description="Figures too that break an identity, and what older documents state otherwise.")
    ] = False,
    as_of: AsOf = "",
    output: Format = "json",
) -> StatementOut | Response:
    """Years or quarters × lines; each cell opens to the place that prints it."""
    wanted = SHOWN if statement is None and output == "xlsx" else (statement or "income",)
    query = StatementQuery(company, wanted[0], period or "", years, basis, doubtful, as_of)
    found = await gateway_of(request).statements.statements(query, wanted)
    base = base_url(request)
    if output == "xlsx":
        address = address_of(base)
        return xlsx_response(await asyncio.to_thread(lambda: writers.spreadsheet.statements_workbook(found, address)))
    (one,) = found
    if output == "csv":
        head = ["label", "column", "concept", "group", "unit", *one.grid.periods]
        rows = [
            [
                *(line.label, line.column, line.concept, line.group, line.unit),
                *(cell.value if cell else "" for cell in line.cells),
            ]
            for line in one.grid.lines
        ]
        return csv_response([head, *rows])
    return StatementOut(
        company=one.company,
        statement=one.name,
        basis=one.basis,
        periods=list(one.grid.periods),
        lines=[_line(line, base) for line in one.grid.lines],
    )


def _line(line: GridLine, base: str) -> LineOut:
    return LineOut(
        label=line.label,
        concept=line.concept,
        group=line.group,
        column=line.column,
        unit=line.unit,
        cells=[
            CellOut(**dict(fact_out(cell, base)), earlier=[fact_out(one, base) for one in earlier]) if cell else None
            for cell, earlier in zip(line.cells, line.earlier, strict=True)
        ],
    )


class CompanyComparisonLineOut(BaseModel):
    """A concept of one company: one figure for each period, null where no stored document states it."""

    company: str
    concept: str
    label: str = Field(description="As its newest document prints it.")
    unit: str
    cells: list[FactOut | None]


class MissingFactOut(BaseModel):
    """A concept that no stored document states of a company for periods of this length."""

    company: str
    concept: str
    stated: Literal["", "annual", "quarterly"] = Field(
        description="The length of the periods for which it is stated instead; ask with this `period` to see it."
    )


class CompanyComparisonOut(BaseModel):
    """Companies side by side, by the calendar year or quarter in which the middle of a period lies, newest first."""

    period: str
    periods: list[str] = Field(description="2023, or 2023 Q2.")
    lines: list[CompanyComparisonLineOut] = Field(
        description="By concept in the order asked for, then by company in theirs."
    )
    missing: list[MissingFactOut]


@router.get(
    "/v1/comparison",
    response_model=CompanyComparisonOut,
    responses={**FILES, **ERRORS},
    dependencies=[Depends(in_collections)],
    summary="Compare companies",
)
async def comparison(
    request: Request,
    company: Annotated[
        list[Annotated[str, Query(min_length=1, max_length=200)]],
        Query(min_length=1, max_length=MOST_COMPANIES, description="Names or tickers, as documents have them."),
    ],
    concept: Annotated[
        list[Short],
        Query(min_length=1, max_length=MOST_CONCEPTS, description="`revenue`, a us-gaap name, or words: 净利润."),
    ],
    period: Annotated[Length | None, Query(description=_PERIOD)] = None,
    years: Annotated[int, Query(ge=1, le=MOST_YEARS, description="How many years back.")] = DEFAULT_YEARS,
    basis: Basis = "consolidated",
    as_of: AsOf = "",
    output: Format = "json",
) -> CompanyComparisonOut | Response:
    """Concepts × companies over the years; each cell opens to the place that prints it, and has its own dates."""
    query = ComparisonQuery(
        tuple(dict.fromkeys(company)), tuple(dict.fromkeys(concept)), period or "", years, basis, as_of
    )
    found = await gateway_of(request).statements.comparison(query)
    base = base_url(request)
    if output == "xlsx":
        address = address_of(base)
        data = await asyncio.to_thread(lambda: writers.spreadsheet.comparison_workbook(found, address))
        return xlsx_response(data, "comparison.xlsx")
    if output == "csv":
        rows = [
            [one.concept, one.company, one.label, one.unit, *(cell.value if cell else "" for cell in one.cells)]
            for one in found.lines
        ]
        return csv_response([["concept", "company", "label", "unit", *found.periods], *rows])
    return CompanyComparisonOut(
        period=found.period,
        periods=list(found.periods),
        lines=[
            CompanyComparisonLineOut(
                company=one.company,
                concept=one.concept,
                label=one.label,
                unit=one.unit,
                cells=[fact_out(cell, base) if cell else None for cell in one.cells],
            )
            for one in found.lines
        ],
        missing=[
            MissingFactOut(company=one[0], concept=one[1], stated=found.other if one in found.otherwise else "")
            for one in found.missing
        ],
    )
