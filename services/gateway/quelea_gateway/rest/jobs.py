"""Jobs: what became of an upload."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel
from quelea.search.v1 import search_pb2
from quelea_kit.errors import QueleaError

from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.errors import body_of
from quelea_gateway.rest.schemas import ERRORS
from quelea_gateway.rest.state import gateway_of
from quelea_gateway.rest.streams import EVENTS, event, respond, while_there

router = APIRouter(tags=["documents"])

JobId = Annotated[str, Path(max_length=128)]
State = Literal["queued", "running", "succeeded", "failed"]
_STATES: dict[int, State] = {
    search_pb2.JOB_STATE_UNSPECIFIED: "queued",
    search_pb2.JOB_STATE_QUEUED: "queued",
    search_pb2.JOB_STATE_RUNNING: "running",
    search_pb2.JOB_STATE_SUCCEEDED: "succeeded",
    search_pb2.JOB_STATE_FAILED: "failed",
}


def iso(stamp: Timestamp) -> str | None:
    """RFC 3339 in UTC; None where unset."""
    return stamp.ToJsonString() if stamp.seconds else None


class ProgressOut(BaseModel):
    """Pages."""

    done: int
    total: int


class JobOut(BaseModel):
    """The way of one uploaded file into the knowledge base."""

    id: str
    filename: str
    state: State
    stage: str
    progress: ProgressOut
    document_id: str | None
    error: str | None
    error_reason: str | None
    created: str | None
    updated: str | None
    finished: str | None
    attempts: int
    unchanged: bool

    @classmethod
    def of(cls, job: search_pb2.Job) -> JobOut:
        """From the wire's."""
        return cls(
            id=job.id,
            filename=job.filename,
            state=_STATES.get(job.state, "queued"),
            stage=job.stage,
            progress=ProgressOut(done=job.done, total=job.total),
            document_id=job.document_id or None,
            error=job.error or None,
            error_reason=job.error_reason or None,
            created=iso(job.created),
            updated=iso(job.updated),
            finished=iso(job.finished),
            attempts=job.attempts,
            unchanged=job.unchanged,
        )


class JobsOut(BaseModel):
    """Newest first."""

    jobs: list[JobOut]


@router.get("/v1/jobs", response_model=JobsOut, responses=ERRORS, summary="The newest jobs")
async def jobs(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> JobsOut:
    """Newest first."""
    return JobsOut(jobs=[JobOut.of(job) for job in await gateway_of(request).search.jobs(limit)])


@router.get("/v1/jobs/{job_id}", response_model=JobOut, responses=ERRORS, summary="One job")
async def job(job_id: JobId, request: Request) -> JobOut:
    """State, progress and, when it failed, the reason."""
    return JobOut.of(await gateway_of(request).search.job(job_id))


async def _events(gateway: Gateway, job_id: str) -> AsyncGenerator[bytes, None]:
    try:
        async with contextlib.aclosing(gateway.search.watch(job_id)) as states:
            async for state in states:
                yield event("job", JobOut.of(state).model_dump_json())
    except QueleaError as error:
        yield event("error", json.dumps(body_of(error, "/v1/jobs"), ensure_ascii=False))


@router.get(
    "/v1/jobs/{job_id}/events",
    response_class=Response,
    responses={200: {"content": EVENTS}, **ERRORS},
    summary="A job's progress as server-sent events",
)
async def job_events(job_id: JobId, request: Request) -> Response:
    """The event `job` now and on every change; the stream ends when the job has ended."""
    gateway = gateway_of(request)
    await while_there(request, gateway.search.job(job_id))
    return respond(_events(gateway, job_id), gateway.settings.keep_alive_seconds)
