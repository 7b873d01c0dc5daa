"""The catalogue of tools for other agents: search, list, describe, select."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.core.tools import descriptions
from quelea_gateway.core.tools.model import Hit, Tool
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.state import gateway_of, key_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["tools"])

Category = Annotated[str, Field(max_length=60, description="One of GET /v1/tools/categories; empty: all.")]
_MOST_FOUND = 100


class ParameterOut(BaseModel):
    """One argument of a call."""

    name: str
    type: str = Field(description="As Python writes it; empty where unknown.")
    description: str
    required: bool
    default: str = Field(description="Python source; empty when required.")


class ColumnOut(BaseModel):
    """One column of what comes back."""

    name: str
    type: str
    description: str


class ToolHealthOut(BaseModel):
    """How calls of a tool came out."""

    score: float = Field(description="1: nothing is known against it; 0: broken, just now.")
    last_ok: Time | None
    last_error: Time | None
    error: str | None
    failures_in_row: int
    calls: int
    failures: int


class ToolLineOut(BaseModel):
    """A tool, to choose by."""

    name: str
    provider: str
    category: str
    description: str
    score: float | None = Field(None, description="Of a search; comparable within one answer only.")
    cosine: float | None = None
    lexical: float | None = None
    health: float = Field(description="As in ToolOut.health.score.")

    @classmethod
    def of(cls, tool: Tool, hit: Hit | None = None) -> ToolLineOut:
        """From the core's."""
        return cls(
            name=tool.name,
            provider=tool.provider,
            category=tool.category,
            description=descriptions.line(tool).partition(": ")[2],
            score=hit.score if hit else None,
            cosine=hit.cosine if hit else None,
            lexical=hit.lexical if hit else None,
            health=tool.health.score,
        )


class ToolsOut(ListOut):
    """Tools: with `q` the best first, else by name."""

    tools: list[ToolLineOut]
    total: int = Field(description="Of all pages of the list; a search finds at most 100.")


class CategoryOut(BaseModel):
    """A category."""

    name: str
    tools: int


class CategoriesOut(ListOut):
    """The categories in the order to show them in."""

    categories: list[CategoryOut]


class ToolOut(BaseModel):
    """A tool with all that is needed to call it."""

    name: str
    provider: str
    category: str
    description: str
    limits: str = Field(description="What and how much one call returns, where the provider says so.")
    path: list[str]
    parameters: list[ParameterOut]
    outputs: list[ColumnOut]
    example: str = Field(description="Python.")
    sample: str = Field(description="The first rows of a result.")
    hosts: list[str]
    docs_url: str
    health: ToolHealthOut
    document: str = Field(description="All of it as text for a prompt.")

    @classmethod
    def of(cls, tool: Tool) -> ToolOut:
        """From the core's."""
        health = tool.health
        return cls(
            name=tool.name,
            provider=tool.provider,
            category=tool.category,
            description=tool.description,
            limits=tool.limits,
            path=list(tool.path),
            parameters=[ParameterOut(**vars(one)) for one in tool.parameters],
            outputs=[ColumnOut(**vars(one)) for one in tool.outputs],
            example=tool.example,
            sample=tool.sample,
            hosts=list(tool.hosts),
            docs_url=tool.docs_url,
            health=ToolHealthOut(
                score=health.score,
                last_ok=health.last_ok or None,
                last_error=health.last_error or None,
                error=health.error or None,
                failures_in_row=health.failures_in_row,
                calls=health.calls,
                failures=health.failures,
            ),
            document=descriptions.details(tool),
        )


class SelectIn(BaseModel):
    """What tools are needed for."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=4000, description="What is to be found out.")
    category: Category = ""
    k: int = Field(5, ge=1, le=20, description="Maximum number of results.")


class SelectOut(BaseModel):
    """The selected tools."""

    tools: list[ToolLineOut]
    category: str = Field(description="The category that was searched; empty: all.")
    candidates: int = Field(description="Among how many they were picked.")
    selected_by: Literal["model", "retrieval"] = Field(
        description="retrieval: this deployment has no language model, or its answer could not be used."
    )


@router.get("/v1/tools", response_model=ToolsOut, responses=ERRORS, summary="Search or list the catalogue of tools")
async def list_tools(
    request: Request,
    q: Annotated[str, Query(max_length=4000, description="What is to be found out; empty: list by name.")] = "",
    category: Annotated[str, Query(max_length=60, description="One of /v1/tools/categories; empty: all.")] = "",
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
    mode: Annotated[Literal["both", "dense", "lexical"], Query(description="How to search.")] = "both",
) -> ToolsOut:
    """The best tools for a question, or the tools of a category by name."""
    catalogue = gateway_of(request).toolkit.catalogue
    if q.strip():
        hits = await while_there(request, catalogue.search(q, category=category, k=_MOST_FOUND, mode=mode))
    else:
        hits = [Hit(tool, 0.0) for tool in await while_there(request, catalogue.in_category(category))]
    page, next_page_token = page_of(hits, lambda hit: hit.tool.name, page_size, page_token)
    return ToolsOut(
        tools=[ToolLineOut.of(hit.tool, hit if q.strip() else None) for hit in page],
        total=len(hits),
        next_page_token=next_page_token or None,
    )


@router.get(
    "/v1/tools/categories", response_model=CategoriesOut, responses=ERRORS, summary="List the categories of tools"
)
async def categories(
    request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = ""
) -> CategoriesOut:
    """The categories, with how many tools each has."""
    counted = await while_there(request, gateway_of(request).toolkit.catalogue.counted())
    page, next_page_token = page_of(list(counted), lambda one: one[0], page_size, page_token)
    return CategoriesOut(
        categories=[CategoryOut(name=name, tools=count) for name, count in page],
        next_page_token=next_page_token or None,
    )


@router.post("/v1/tools/select", response_model=SelectOut, responses=ERRORS, summary="Select tools for a question")
async def select(request: Request, asked: SelectIn) -> SelectOut:
    """The language model picks category and tools; without one, retrieval does."""
    catalogue = gateway_of(request).toolkit.catalogue
    chosen = await while_there(
        request, catalogue.choose(asked.question, category=asked.category, k=asked.k, tenant=key_of(request))
    )
    return SelectOut(
        tools=[ToolLineOut.of(hit.tool, hit) for hit in chosen.tools],
        category=chosen.category,
        candidates=chosen.candidates,
        selected_by="model" if chosen.by == "model" else "retrieval",
    )


@router.get("/v1/tools/{name}", response_model=ToolOut, responses=ERRORS, summary="Describe a tool")
async def get_tool(request: Request, name: str) -> ToolOut:
    """Parameters, columns, example, first rows, health; 404 names the nearest."""
    return ToolOut.of(await while_there(request, gateway_of(request).toolkit.catalogue.get(name)))
