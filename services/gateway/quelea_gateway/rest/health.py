"""/healthz, /readyz, /metrics and what this deployment is."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, Field

from quelea_gateway.core.model import ReaderInfo
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import check_query
from quelea_gateway.rest.state import gateway_of, only_administrators, principal_of
from quelea_gateway.version import VERSION

router = APIRouter(tags=["operation"])


class HealthOut(BaseModel):
    """The process runs."""

    status: str


class DependencyOut(BaseModel):
    """One service."""

    ready: bool
    reason: str


class ReadyOut(BaseModel):
    """Whether the gateway can do all of its work, and what is in the way."""

    ready: bool
    dependencies: dict[str, DependencyOut]
    writing: DependencyOut
    """Whether new documents, pages and runs are stored; a full disk refuses them, and reading goes on."""
    audit: DependencyOut
    """Whether calls are recorded, where they are to be; `ready` is false while they are refused for want of it."""


class InfoOut(BaseModel):
    """What this deployment is and takes."""

    version: str
    reader: str
    model: str
    k: int
    j: int
    routes: list[str]
    web_providers: list[str]
    filing_sources: list[str] = Field(description="Where POST /v1/fetch gets filings: edgar, cninfo; empty: nowhere.")
    gate: str
    max_question_chars: int
    formats: list[str]
    max_document_bytes: int
    max_document_pages: int
    max_upload_files: int
    administrator: bool = Field(description="Whether the caller's key may administer.")


@router.get("/healthz", response_model=HealthOut, summary="The process runs")
async def healthz() -> HealthOut:
    """200 while the process answers at all."""
    return HealthOut(status="ok")


@router.get(
    "/readyz",
    response_model=ReadyOut,
    responses={503: {"model": ReadyOut, "description": "A service is down; the body names it."}},
    summary="Readiness of every service",
)
async def readyz(request: Request) -> JSONResponse:
    """200 when retriever, search and generator are serving; else 503 with the reason for each."""
    states = await gateway_of(request).dependencies()
    full = await gateway_of(request).writing()
    unrecorded = gateway_of(request).auditing()
    refused = bool(unrecorded) and gateway_of(request).settings.audit_failure == "refuse"
    ready = not any(states.values()) and not refused
    body = ReadyOut(
        ready=ready,
        dependencies={name: DependencyOut(ready=not why, reason=why) for name, why in states.items()},
        writing=DependencyOut(ready=not full, reason=full),
        audit=DependencyOut(ready=not unrecorded, reason=unrecorded),
    )
    return JSONResponse(body.model_dump(), 200 if ready else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, 401: ERRORS[401], 403: ERRORS[403]},
    dependencies=[Depends(only_administrators)],
    summary="Prometheus metrics",
)
async def metrics() -> Response:
    """Needs an administrator's key: they are of all tenants."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/v1/info",
    response_model=InfoOut,
    responses=ERRORS,
    dependencies=[Depends(check_query)],
    summary="Reader, limits and formats of this deployment",
)
async def info(request: Request) -> InfoOut:
    """Reader, limits and formats."""
    gateway = gateway_of(request)
    reader: ReaderInfo = await gateway.generator.info()
    search = await gateway.search.info()
    return InfoOut(
        version=VERSION,
        reader=reader.reader,
        model=reader.model,
        k=gateway.limits.k,
        j=gateway.limits.j,
        routes=["auto", "local", "web"] if search.web_providers else ["auto", "local"],
        web_providers=list(search.web_providers),
        filing_sources=list(search.filing_sources),
        gate=gateway.settings.gate,
        max_question_chars=gateway.limits.question_chars,
        formats=list(search.formats),
        max_document_bytes=search.max_document_bytes,
        max_document_pages=search.max_document_pages,
        max_upload_files=gateway.settings.max_upload_files,
        administrator=principal_of(request).administrator,
    )
