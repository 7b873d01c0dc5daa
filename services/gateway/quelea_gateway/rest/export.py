"""POST /v1/export: an answer that was given, as Markdown; POST /v1/ask uses the same for `format: "markdown"`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from quelea_gateway.core.export import markdown
from quelea_gateway.rest.documents import page_address
from quelea_gateway.rest.schemas import ERRORS, AnswerOut
from quelea_gateway.rest.state import base_url

router = APIRouter(tags=["ask"])

MARKDOWN: dict[str, Any] = {"text/markdown": {"schema": {"type": "string"}}}


class ExportIn(BaseModel):
    """POST /v1/export."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=8000)
    answer: AnswerOut = Field(description="As POST /v1/ask gave it.")


def as_markdown(question: str, answer: AnswerOut, request: Request) -> Response:
    """The answer with its sources, as a response."""
    base = base_url(request)

    def link(citation: Mapping[str, Any]) -> str:
        return page_address(base, citation["document_id"], citation["page"], citation["start"], citation["end"])

    return Response(markdown(question, answer.model_dump(), link), media_type="text/markdown; charset=utf-8")


@router.post(
    "/v1/export",
    response_class=Response,
    responses={200: {"description": "The answer as Markdown.", "content": MARKDOWN}, **ERRORS},
    summary="Export an answer as Markdown",
)
async def export(body: ExportIn, request: Request) -> Response:
    """An answer that was given, with its sources, as Markdown. Answers are not stored: it is sent along."""
    return as_markdown(body.question, body.answer, request)
