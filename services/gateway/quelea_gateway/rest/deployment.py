"""GET /v1/deployment: what serves here and in which version, for administrators."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from quelea_kit.errors import QueleaError

from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.state import administrator_of, gateway_of
from quelea_gateway.rest.transport.streams import while_there
from quelea_gateway.version import VERSION

router = APIRouter(tags=["operation"])


class ServingServiceOut(BaseModel):
    """One service."""

    name: str
    version: str = Field(description="Empty where it does not answer.")
    ready: bool
    reason: str = Field(description="Why it is not ready.")


class ServingReaderOut(BaseModel):
    """Who writes answers."""

    reader: str = Field(description="`extractive` quotes, `openai` is a language model.")
    model: str
    adapters: list[str] = Field(description="Further names that a question's model may have.")
    prompt_version: str
    evidence_tokens: int
    context_tokens: int = Field(description="Of a prompt and its answer together; 0 where unknown.")


class ServingEncoderOut(BaseModel):
    """What passages and questions are compared by, and what is stored."""

    model: str = Field(description="Empty where the retriever does not answer.")
    dimension: int
    store: str
    documents: int
    passages: int
    indexed: bool = Field(description="Whether the index is built; searches are right without it, and slower.")


class ServingGateOut(BaseModel):
    """When local evidence is enough."""

    kind: str
    verifier: str = Field(description="Who judges what words and figures cannot.")


class DeploymentOut(BaseModel):
    """What serves here."""

    services: list[ServingServiceOut]
    writing: str = Field(description="Why nothing new is stored just now; empty while it is.")
    reader: ServingReaderOut
    encoder: ServingEncoderOut
    gate: ServingGateOut
    agent: bool = Field(description="Whether runs of the agent can be started.")


@dataclass(frozen=True)
class _Stored:
    encoder: ServingEncoderOut
    version: str


async def _stored(gateway: Gateway) -> _Stored:
    try:
        told = await gateway.retriever.stats()
    except QueleaError:  # its line says that it is away
        return _Stored(ServingEncoderOut(model="", dimension=0, store="", documents=0, passages=0, indexed=False), "")
    encoder = ServingEncoderOut(
        model=told.model,
        dimension=told.dimension,
        store=told.store,
        documents=told.documents,
        passages=told.passages,
        indexed=told.indexed,
    )
    return _Stored(encoder, told.version)


async def _search_version(gateway: Gateway) -> str:
    try:
        return (await gateway.search.info()).version
    except QueleaError:
        return ""


async def _look(gateway: Gateway) -> DeploymentOut:
    states, stored, search, reader, writing = await asyncio.gather(
        gateway.dependencies(),
        _stored(gateway),
        _search_version(gateway),
        gateway.generator.info(),
        gateway.writing(),
    )
    versions = {"retriever": stored.version, "search": search, "generator": reader.version}
    services = [ServingServiceOut(name="gateway", version=VERSION, ready=True, reason="")]
    services += [
        ServingServiceOut(name=name, version="" if why else versions.get(name, ""), ready=not why, reason=why)
        for name, why in states.items()
    ]
    return DeploymentOut(
        services=services,
        writing=writing,
        reader=ServingReaderOut(
            reader=reader.reader,
            model=reader.model,
            adapters=list(reader.adapters),
            prompt_version=reader.prompt_version,
            evidence_tokens=reader.evidence_tokens,
            context_tokens=reader.context_tokens,
        ),
        encoder=stored.encoder,
        gate=ServingGateOut(kind=gateway.settings.gate, verifier=gateway.settings.verifier),
        agent=gateway.analyst.on,
    )


@router.get("/v1/deployment", response_model=DeploymentOut, responses=ERRORS, summary="What serves here")
async def deployment(request: Request) -> DeploymentOut:
    """Services with version and readiness, reader, encoder, gate; also while some are away. Only for administrators."""
    administrator_of(request)
    return await while_there(request, _look(gateway_of(request)))
