"""GET /v1/prompts: the prompt templates in use, with the versions that answers report."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of

from quelea_gateway.core.prompts import collect
from quelea_gateway.rest.lists import ListOut, PageSize, PageToken
from quelea_gateway.rest.schemas import ERRORS
from quelea_gateway.rest.state import gateway_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["prompts"])


class PromptOut(BaseModel):
    """One template."""

    name: str
    language: str
    version: str = Field(description="Changes with the text; the answers made with it report it as prompt_version.")
    text: str


class PromptsOut(ListOut):
    """Templates, by name and language."""

    prompts: list[PromptOut]
    problems: list[str] = Field(description="Why some could not be listed, one line each.")


@router.get(
    "/v1/prompts",
    response_model=PromptsOut,
    responses=ERRORS,
    summary="List the prompt templates",
)
async def prompts(
    request: Request,
    name: Annotated[str, Query(max_length=200, description="Only the templates of this name.")] = "",
    language: Annotated[str, Query(max_length=20, description='Only those of this language, "en" or "zh".')] = "",
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> PromptsOut:
    """Every template with its version, by name and language."""
    found, problems = await while_there(request, collect(gateway_of(request).prompt_sources))
    wanted = [one for one in found if name in ("", one.name) and language in ("", one.language)]
    page, next_page_token = page_of(wanted, lambda one: f"{one.name} {one.language}", page_size, page_token)
    return PromptsOut(
        prompts=[PromptOut(**vars(one)) for one in page],
        problems=list(problems),
        next_page_token=next_page_token or None,
    )
