"""The prompt templates: what is in force; and for administrators versions, a comparison, a try-out, roll back."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from quelea_fintext.text import language_of
from quelea_kit.errors import Conflict
from quelea_kit.paging import DEFAULT_PAGE_SIZE, page_of
from quelea_kit.prompt_text import MOST_CHARS

from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.prompts import PromptTemplate
from quelea_gateway.prompt_editor import MOST_NOTE, ListedVersion
from quelea_gateway.rest.answers.answer_schemas import AnswerOut
from quelea_gateway.rest.answers.ask import whole
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Day, ListOut, PageSize, PageToken, Short, Time
from quelea_gateway.rest.state import administrator_of, gateway_of, key_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["prompts"])

Name = Annotated[str, Path(max_length=100, description="As GET /v1/prompts has it.")]
Language = Annotated[Literal["en", "zh"], Path()]
Version = Annotated[str, Path(max_length=200)]
_PATH = "/v1/prompts/{name}/{language}"


class PromptOut(BaseModel):
    """One template."""

    name: str
    language: str
    version: str = Field(description="Changes with the text; the answers made with it report it as prompt_version.")
    text: str
    editable: bool = Field(description="Whether administrators can put another text in its place.")
    built_in: bool = Field(description="Whether the text in force came with the software.")

    @classmethod
    def of(cls, one: PromptTemplate) -> PromptOut:
        """As the wire has it."""
        return cls(
            name=one.name,
            language=one.language,
            version=one.version,
            text=one.text,
            editable=one.is_editable,
            built_in=one.is_built_in,
        )


class PromptsOut(ListOut):
    """Templates, by name and language."""

    prompts: list[PromptOut]
    problems: list[str] = Field(description="Why some could not be listed or are not in force, one line each.")


class PromptVersionIn(BaseModel):
    """POST /v1/prompts/{name}/{language}/versions."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, description=f"All parts with their $names; at most {MOST_CHARS:,} characters.")
    note: str = Field(default="", description=f"Why; at most {MOST_NOTE} characters.")
    based_on: Short = Field(default="", description="The version that it was made from.")


class PromptVersionOut(BaseModel):
    """A version of a template."""

    version: str
    text: str
    built_in: bool = Field(description="It came with the software; it cannot be changed.")
    active: bool = Field(description="Whether it is in force.")
    created: Time | None = Field(description="null for the built-in one.")
    author: str
    note: str
    based_on: str
    problems: list[str] = Field(description="Why it cannot be put in force in this release, a sentence each.")

    @classmethod
    def of(cls, one: ListedVersion) -> PromptVersionOut:
        """As the wire has it."""
        told = asdict(one)
        built_in, active = told.pop("is_built_in"), told.pop("is_active")
        told.update(created=one.created or None, problems=list(one.problems))
        return cls(built_in=built_in, active=active, **told)


class PromptVersionsOut(ListOut):
    """Versions, newest first; the built-in one is the last."""

    versions: list[PromptVersionOut]


class PromptLineOut(BaseModel):
    """A line of a comparison."""

    kind: Literal["same", "removed", "added"]
    text: str


class PromptDiffOut(BaseModel):
    """Two versions, line by line."""

    before: str
    after: str
    lines: list[PromptLineOut]


class ActivateIn(BaseModel):
    """POST /v1/prompts/{name}/{language}/activate."""

    model_config = ConfigDict(extra="forbid")

    version: str = Field(min_length=1, max_length=200, description='A version, or "built-in".')


class PromptTrialIn(BaseModel):
    """POST /v1/prompts/{name}/{language}/try."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, description="The draft, as for a version; it is not saved.")
    question: str = Field(min_length=1, max_length=8000)
    as_of: Day = Field(default="", description="Answer as of this day; empty: today.")


@router.get("/v1/prompts", response_model=PromptsOut, responses=ERRORS, summary="List the prompt templates")
async def prompts(
    request: Request,
    name: Annotated[str, Query(max_length=200, description="Only the templates of this name.")] = "",
    language: Annotated[str, Query(max_length=20, description='Only those of this language, "en" or "zh".')] = "",
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> PromptsOut:
    """Every template as it is in force, with its version, by name and language."""
    found, problems = await while_there(request, gateway_of(request).prompts.templates())
    wanted = [one for one in found if name in ("", one.name) and language in ("", one.language)]
    page, next_page_token = page_of(wanted, lambda one: f"{one.name} {one.language}", page_size, page_token)
    return PromptsOut(
        prompts=[PromptOut.of(one) for one in page],
        problems=list(problems),
        next_page_token=next_page_token or None,
    )


@router.get(
    _PATH + "/versions", response_model=PromptVersionsOut, responses=ERRORS, summary="List the versions of a prompt"
)
async def versions(
    name: Name,
    language: Language,
    request: Request,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
) -> PromptVersionsOut:
    """Newest first; the built-in one is the last. Only for administrators."""
    administrator_of(request)
    found = await while_there(request, gateway_of(request).prompts.versions(name, language))
    places = {one.version: f"{place:06d}" for place, one in enumerate(found)}
    page, next_page_token = page_of(found, lambda one: places[one.version], page_size, page_token)
    return PromptVersionsOut(
        versions=[PromptVersionOut.of(one) for one in page], next_page_token=next_page_token or None
    )


@router.post(
    _PATH + "/versions",
    status_code=201,
    response_model=PromptVersionOut,
    responses=ERRORS,
    summary="Save a version of a prompt",
)
async def save(name: Name, language: Language, body: PromptVersionIn, request: Request) -> PromptVersionOut:
    """It is not in force until it is activated. Its first line, the label, is written here. Only for administrators.

    The text needs the parts of the built-in one, and each part the same $names; 400 says which are missing or unknown.
    """
    author = administrator_of(request).subject
    saved = gateway_of(request).prompts.add(
        name, language, body.text, author=author, note=body.note, based_on=body.based_on
    )
    return PromptVersionOut.of(await while_there(request, saved))


@router.delete(
    _PATH + "/versions/{version}",
    status_code=204,
    response_class=Response,
    responses=ERRORS,
    summary="Delete a version of a prompt",
)
async def delete(name: Name, language: Language, version: Version, request: Request) -> Response:
    """409 where it is in force, can be rolled back to, or is built in. Only for administrators."""
    author = administrator_of(request).subject
    await gateway_of(request).prompts.delete(name, language, version, author=author)
    return Response(status_code=204)


@router.get(_PATH + "/diff", response_model=PromptDiffOut, responses=ERRORS, summary="Compare two versions of a prompt")
async def diff(
    name: Name,
    language: Language,
    request: Request,
    before: Annotated[str, Query(max_length=200, description='A version, "built-in" or "active".')] = "built-in",
    after: Annotated[str, Query(max_length=200, description='A version, "built-in" or "active".')] = "active",
) -> PromptDiffOut:
    """Line by line. Only for administrators."""
    administrator_of(request)
    compared = gateway_of(request).prompts.compare(name, language, before, after)
    one, other, lines = await while_there(request, compared)
    return PromptDiffOut(
        before=one.version, after=other.version, lines=[PromptLineOut(kind=kind, text=text) for kind, text in lines]
    )


@router.post(_PATH + "/activate", response_model=PromptOut, responses=ERRORS, summary="Put a version in force")
async def activate(name: Name, language: Language, body: ActivateIn, request: Request) -> PromptOut:
    """Answers that begin now are made with it, those of other gateways within seconds. Only for administrators."""
    author = administrator_of(request).subject
    # Not given up when the caller leaves: half of it is written by then.
    now = await gateway_of(request).prompts.activate(name, language, body.version, author=author)
    return PromptOut.of(now)


@router.post(_PATH + "/roll-back", response_model=PromptOut, responses=ERRORS, summary="Roll a prompt back")
async def roll_back(name: Name, language: Language, request: Request) -> PromptOut:
    """What was in force before is again; repeated, it goes back to the built-in one. Only for administrators."""
    author = administrator_of(request).subject
    return PromptOut.of(await gateway_of(request).prompts.roll_back(name, language, author=author))


@router.post(_PATH + "/try", response_model=AnswerOut, responses=ERRORS, summary="Try a draft with a question")
async def attempt(name: Name, language: Language, body: PromptTrialIn, request: Request) -> AnswerOut:
    """One answer with a draft of the prompt that answers are written with; nobody else's is. Only for administrators.

    409 where no language model writes, or with another prompt ("short_answer" for small models, else "answer"), or the
    question is in the other language: the draft would not be used.
    """
    administrator_of(request)
    gateway = gateway_of(request)
    wanted = rules.build(body.question, gateway.limits, as_of=body.as_of, tenant=key_of(request))
    if language_of(wanted.text) != language:
        raise Conflict(
            f"The question is not in the language of this draft ({language}), so it would be answered with another "
            "prompt.",
            details={"field": "question"},
        )
    reader = await gateway.generator.info()
    if reader.reader == "extractive":
        raise Conflict("No language model is configured: the extractive reader quotes, and uses no prompt.")
    draft = await gateway.prompts.trial(name, language, body.text, reader.prompt_version)
    return AnswerOut.of(await while_there(request, whole(gateway, replace(wanted, prompts=draft))))
