"""A backend for OpenBB Workspace: an agent that answers with citations, and widgets of what is stored.

The payloads are those of docs.openbb.co/workspace/developers (agents.json, widgets.json, omni widgets), events and
requests the models of the package openbb-ai. None of it is part of this API's contract: Workspace's is.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Annotated, Any, Literal, get_args

import openbb_ai
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from openbb_ai.models import SSE, Citation, LlmClientMessage, QueryRequest, RoleEnum, SourceInfo
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput, QueleaError

from quelea_gateway.core import model as core
from quelea_gateway.core.answers.note import charts, decimal_of
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.model import Delta, Started, Turn
from quelea_gateway.core.statements.comparison import MOST_COMPANIES, MOST_CONCEPTS, ComparisonQuery
from quelea_gateway.core.statements.statement_grid import (
    DEFAULT_YEARS,
    MOST_YEARS,
    SHOWN,
    Figure,
    Shown,
    StatementQuery,
)
from quelea_gateway.metrics import observe_answer
from quelea_gateway.rest.answers.answer_schemas import AnswerOut
from quelea_gateway.rest.answers.ask import Item, whole
from quelea_gateway.rest.knowledge_base.documents import DocumentOut, page_url
from quelea_gateway.rest.state import base_url, gateway_of, key_of, principal_of
from quelea_gateway.rest.transport.streams import event, respond, while_there
from quelea_gateway.rights import may_fetch

PREFIX = "/openbb"
router = APIRouter(prefix=PREFIX, include_in_schema=False)

AGENT = "quelea"
_CATEGORY = "Quelea"
_DOCUMENTS = 500
_MOST_QUOTE = 2000
_ABOUT = (
    "Answers questions about companies from the filings, reports and news that are stored in Quelea, in English and "
    "Chinese. Every figure is cited and checked; what the documents do not say is declined."
)


def _widget(name: str, about: str, endpoint: str, params: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "name": name, "description": about, "category": _CATEGORY, "source": _CATEGORY, "type": "table",
        "endpoint": endpoint, "gridData": {"w": 30, "h": 14}, "params": params, **more,
    }  # fmt: skip


Period = Literal["any", "annual", "quarterly"]


def _choice(name: str, label: str, about: str, values: Sequence[str], value: str) -> dict[str, Any]:
    options = [{"label": one.replace("_", " ").capitalize(), "value": one} for one in values]
    return {
        "paramName": name, "type": "text", "label": label, "description": about, "value": value, "options": options
    }  # fmt: skip


def _company(name: str = "company", **more: Any) -> dict[str, Any]:
    about = "A company of the stored documents."
    return {
        "paramName": name, "type": "endpoint", "label": "Company", "description": about,
        "optionsEndpoint": "companies", "value": "", **more,
    }  # fmt: skip


_PERIOD = _choice(
    "period", "Period", "Years or quarters; any: years, or quarters where no year is stored.", get_args(Period), "any"
)
_YEARS = {
    "paramName": "years", "type": "number", "label": "Years", "description": "How many years back.",
    "value": DEFAULT_YEARS,
}  # fmt: skip
WIDGETS: dict[str, dict[str, Any]] = {
    "quelea_statements": _widget(
        "Financial statements",
        "A company's income statement, balance sheet or cash flows over the years, as its filings print them.",
        "statements",
        [_company(), _choice("statement", "Statement", "Which one.", SHOWN, "income"), _PERIOD, _YEARS],
    ),
    "quelea_metrics": _widget(
        "Companies side by side",
        "Figures of several companies, such as revenue or net income, by calendar year or quarter.",
        "metrics",
        [
            _company("company", multiSelect=True),
            {
                "paramName": "concept",
                "type": "text",
                "label": "Figures",
                "value": "revenue,net income",
                "description": "Names of figures with commas between: revenue, operating cash flow, 净利润.",
            },
            _PERIOD,
            _YEARS,
        ],
    ),
    "quelea_filings": _widget(
        "Filings", "The stored documents, newest first.", "filings", [{**_company(), "optional": True}]
    ),
    "quelea_answer": _widget(
        "Ask Quelea",
        "An answer from the stored documents with its sources.",
        "answer",
        [
            {
                "paramName": "prompt",
                "type": "text",
                "label": "Question",
                "value": "",
                "description": "A question about the companies of the stored documents.",
                "show": True,
            }
        ],
        type="omni",
        runButton=True,
    ),
}


@router.get("/agents.json")
async def agents(request: Request) -> JSONResponse:
    """What Workspace asks first of an agent."""
    base = base_url(request)
    return JSONResponse({
        AGENT: {
            "name": "Quelea", "description": _ABOUT, "image": f"{base}/page/icon.svg",
            "endpoints": {"query": f"{base}{PREFIX}/query"},
            "features": {"streaming": True, "widget-dashboard-select": False, "widget-dashboard-search": False},
        }
    })  # fmt: skip


@router.get("/widgets.json")
async def widgets() -> JSONResponse:
    """The widgets, and what each can be asked."""
    return JSONResponse(WIDGETS)


@router.get("/companies")
async def companies(request: Request) -> JSONResponse:
    """The options of a widget's company."""
    found = await gateway_of(request).statements.companies()
    return JSONResponse([
        {"label": f"{one.name} ({one.ticker})" if one.ticker else one.name, "value": one.name} for one in found
    ])  # fmt: skip


@router.get("/statements")
async def statements(
    request: Request,
    company: Annotated[str, Query(max_length=200)] = "",
    statement: Shown = "income",
    period: Period = "any",
    years: Annotated[int, Query(ge=1, le=MOST_YEARS)] = DEFAULT_YEARS,
) -> JSONResponse:
    """Rows of a statement; none before a company is chosen."""
    if not company:
        return JSONResponse([])
    query = StatementQuery(company, statement, _length(period), years)
    grid = (await gateway_of(request).statements.statement(query)).grid
    return JSONResponse([
        {"line": line.name, **_values(grid.periods, line.cells), "unit": line.unit, "concept": line.concept}
        for line in grid.lines
    ])  # fmt: skip


@router.get("/metrics")
async def metrics(
    request: Request,
    company: Annotated[list[Annotated[str, Query(max_length=2000)]], Query()] = [],  # noqa: B006  # FastAPI copies it
    concept: Annotated[str, Query(max_length=1000)] = "revenue",
    period: Period = "any",
    years: Annotated[int, Query(ge=1, le=MOST_YEARS)] = DEFAULT_YEARS,
) -> JSONResponse:
    """Rows of figures of several companies; Workspace sends several values in one, with commas between."""
    reader = gateway_of(request).statements
    names = _named(company, {one.name for one in await reader.companies()})[:MOST_COMPANIES]
    concepts = [one.strip() for one in concept.split(",") if one.strip()][:MOST_CONCEPTS]
    if not names or not concepts:
        return JSONResponse([])
    query = ComparisonQuery(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(concepts)), _length(period), years)
    found = await reader.comparison(query)
    return JSONResponse([
        {"figure": one.concept, "company": one.company, **_values(found.periods, one.cells), "unit": one.unit}
        for one in found.lines
    ])  # fmt: skip


def _length(period: Period) -> str:
    return "" if period == "any" else period


def _named(given: Sequence[str], known: set[str]) -> list[str]:
    """Companies among what was sent: a name may have a comma itself ("Apple, Inc.")."""
    found: list[str] = []
    for text in given:
        rest = [part.strip() for part in text.split(",")]
        while rest:
            most = next((n for n in range(len(rest), 1, -1) if ", ".join(rest[:n]) in known), 1)
            found.append(", ".join(rest[:most]))
            rest = rest[most:]
    return [one for one in found if one]


def _values(periods: Sequence[str], cells: Sequence[Figure | None]) -> dict[str, float | int | None]:
    return {name: _json_number(cell.value) if cell else None for name, cell in zip(periods, cells, strict=True)}


def _json_number(text: str) -> float | int | None:
    value = decimal_of(text)
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


@router.get("/filings")
async def filings(request: Request, company: Annotated[str, Query(max_length=200)] = "") -> JSONResponse:
    """The newest documents, each with the address of its first page."""
    base = base_url(request)
    found = await gateway_of(request).retriever.documents(
        page_size=_DOCUMENTS, page_token="", filters=core.Filters(companies=(company,) if company else ())
    )
    rows = [
        {
            "published": one.published, "company": one.company, "ticker": one.ticker, "type": one.document_type,
            "period": one.period, "title": one.title, "pages": one.pages,
            "link": f"{base}/v1/documents/{one.id}/pages/1",
        }
        for one in map(DocumentOut.of, found.documents)
    ]  # fmt: skip
    return JSONResponse(rows)


class AnswerIn(BaseModel):
    """What Workspace sends of an omni widget: its parameters, and some of its own."""

    model_config = ConfigDict(extra="ignore")

    prompt: str = Field(default="", max_length=8000)


@router.post("/answer")
async def answer(body: AnswerIn, request: Request) -> JSONResponse:
    """An answer as an omni widget: Markdown and its citations."""
    if not body.prompt.strip():
        return JSONResponse({
            "content": "Ask a question.", "data_format": {"data_type": "object", "parse_as": "text"}, "citable": False
        })  # fmt: skip
    gateway, base = gateway_of(request), base_url(request)
    found = await while_there(request, whole(gateway, _question(request, body.prompt, [])))
    return JSONResponse({
        "content": _link_markers(found, base),
        "data_format": {"data_type": "object", "parse_as": "text"},
        "extra_citations": [one.model_dump(mode="json", exclude_none=True) for one in _citations(found, base)],
        "citable": True,
    })  # fmt: skip


def _link_markers(found: core.Answer, base: str) -> str:
    """The text, and below it where its markers open."""
    places = {one.number: f"[{one.number}] [{_label(one)}]({page_url(base, one)})" for one in found.citations}
    return "\n\n".join([found.answer, *places.values()])


def _label(one: core.Citation) -> str:
    return " ".join(f"{one.title or one.uri}, p. {one.page}".split()).translate(str.maketrans("[]", "()"))


def _question(request: Request, text: str, history: list[Turn]) -> core.Question:
    gateway = gateway_of(request)
    return rules.build(
        text,
        gateway.limits,
        history=rules.trim_history(history, gateway.limits),
        tenant=key_of(request),
        strict=gateway.settings.strict,
        may_fetch=may_fetch(principal_of(request)),
    )


def conversation(messages: Sequence[Any]) -> tuple[str, list[Turn]]:
    """(the question, the turns before it); calls of tools and their results are left out.

    Raises:
        InvalidInput: The last message is no person's.
    """
    said = [one for one in messages if isinstance(one, LlmClientMessage) and isinstance(one.content, str)]
    if not said or messages[-1] is not said[-1] or said[-1].role is not RoleEnum.human:
        raise InvalidInput("The last message must be a person's question.", details={"field": "messages"})
    turns = [Turn("user" if one.role is RoleEnum.human else "assistant", str(one.content)) for one in said[:-1]]
    return str(said[-1].content), turns


@router.post("/query")
async def query(body: QueryRequest, request: Request) -> Response:
    """The agent: what it reads, the answer as it is written, figures as table and chart, citations."""
    gateway, base = gateway_of(request), base_url(request)
    text, history = conversation(body.messages)
    rest = gateway.pipeline.ask(_question(request, text, history))
    first = await while_there(request, _first(rest))
    return respond(_events(first, rest, base), gateway.settings.keep_alive_seconds)


async def _first(events: AsyncGenerator[Item, None]) -> Item:
    return await anext(events)


async def _events(first: Item, rest: AsyncGenerator[Item, None], base: str) -> AsyncGenerator[bytes, None]:
    streamed = ""
    try:
        async with contextlib.aclosing(rest):
            for sent in _sse(first, base, streamed):
                yield _wire(sent)
            async for item in rest:
                for sent in _sse(item, base, streamed):
                    yield _wire(sent)
                streamed += item.text if isinstance(item, Delta) else ""
    except QueleaError as error:
        yield _wire(openbb_ai.reasoning_step(str(error), "ERROR"))
        yield _wire(openbb_ai.message_chunk(f"\n\n{error}"))


def _wire(sent: SSE) -> bytes:
    dumped = sent.model_dump()
    return event(dumped["event"], dumped["data"])


def _sse(item: Item, base: str, streamed: str) -> Iterator[SSE]:
    """An event of the pipeline as events of Workspace."""
    if isinstance(item, Started):
        read = item.reading.text or "all stored documents"
        yield openbb_ai.reasoning_step(f"Reading: {read}", details={"Passages": len(item.evidence)})
    elif isinstance(item, Delta):
        if item.text:
            yield openbb_ai.message_chunk(item.text)
    elif isinstance(item, core.Answer):
        observe_answer(item)
        yield from _ended(item, base, streamed)


def _ended(found: core.Answer, base: str, streamed: str) -> Iterator[SSE]:
    if not streamed.strip():
        yield openbb_ai.message_chunk(found.answer)
    elif streamed.strip() != found.answer.strip():  # what was streamed cannot be taken back
        yield openbb_ai.message_chunk(f"\n\n**As checked:**\n\n{found.answer}")
    for notice in found.notices:
        yield openbb_ai.reasoning_step(notice, "WARNING")
    figures = AnswerOut.of(found).model_dump()["figures"]
    if figures:
        rows = [
            {
                "company": one["company"],
                "figure": one["metric"].replace("_", " ") or one["operands"][0]["label"],
                "from": one["period_start"],
                "to": one["period_end"],
                "value": _json_number(one["value"]),
                "unit": one["unit"],
            }
            for one in figures
            if one["metric"] or one["operands"]
        ]
        yield openbb_ai.table(data=rows, name="Figures", description="The figures of the answer.")
    for chart in charts(figures, found.language):
        names = [name or "value" for name, _ in chart.series]
        points = [
            {"period": period, **{name: values[n] for name, (_, values) in zip(names, chart.series, strict=True)}}
            for n, period in enumerate(chart.categories)
        ]
        yield openbb_ai.chart(
            type="bar", data=points, x_key="period", y_keys=names, name=f"{chart.title} ({chart.unit})",
            description="From the figures of the answer.",
        )  # fmt: skip
    cited = list(_citations(found, base))
    if cited:
        yield openbb_ai.citations(cited)


def _citations(found: core.Answer, base: str) -> Iterator[Citation]:
    for one in {(c.number, c.document_id, c.page, c.start): c for c in found.citations}.values():
        yield Citation(
            source_info=SourceInfo(
                type="web" if one.source == "web" else "direct retrieval",
                name=f"[{one.number}] {_label(one)}",
                description=one.quote[:_MOST_QUOTE],
                metadata={"input_args": {"document": one.document_id, "page": one.page, "start": one.start}},
            ),
            details=[{
                "Number": one.number, "Document": one.title or one.uri, "Page": one.page, "Published": one.published,
                "Quote": one.quote[:_MOST_QUOTE], "Link": page_url(base, one),
            }],
        )  # fmt: skip
