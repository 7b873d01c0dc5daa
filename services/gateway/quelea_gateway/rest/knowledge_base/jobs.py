"""Jobs: what became of an upload or of a page of the web, and those that can be tried once more."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel, ConfigDict, Field
from quelea.search.v1 import search_pb2
from quelea_kit.errors import QueleaError
from quelea_kit.paging import DEFAULT_PAGE_SIZE
from quelea_kit.reach import DEFAULT_COLLECTION, enter

from quelea_gateway.core.callers.access import Right
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import ListOut, PageSize, PageToken, Time
from quelea_gateway.rest.openapi import events
from quelea_gateway.rest.state import gateway_of, principal_of
from quelea_gateway.rest.transport.errors import body_of
from quelea_gateway.rest.transport.streams import event, respond, while_there

router = APIRouter(tags=["documents"])

JobId = Annotated[str, Path(max_length=128)]
State = Literal["queued", "running", "succeeded", "failed"]
Lane = Literal["upload", "refresh", "reread"]
_STATES: dict[int, State] = {
    search_pb2.JOB_STATE_UNSPECIFIED: "queued",
    search_pb2.JOB_STATE_QUEUED: "queued",
    search_pb2.JOB_STATE_RUNNING: "running",
    search_pb2.JOB_STATE_SUCCEEDED: "succeeded",
    search_pb2.JOB_STATE_FAILED: "failed",
}

_LANES: dict[int, Lane] = {
    search_pb2.LANE_UNSPECIFIED: "upload",
    search_pb2.LANE_UPLOAD: "upload",
    search_pb2.LANE_REFRESH: "refresh",
    search_pb2.LANE_REREAD: "reread",
}
_MOST_REPLAYED = 1000


def iso(stamp: Timestamp) -> str | None:
    """RFC 3339 in UTC; None where unset."""
    return stamp.ToJsonString() if stamp.seconds else None


class ProgressOut(BaseModel):
    """Pages."""

    done: int
    total: int


class JobOut(BaseModel):
    """The way of one uploaded file, or of one page of the web, into the knowledge base."""

    id: str
    filename: str
    state: State
    stage: str
    progress: ProgressOut
    document_id: str | None
    error: str | None
    error_reason: str | None
    created: Time | None
    updated: Time | None
    finished: Time | None
    attempts: int
    unchanged: bool
    lane: Lane = Field(description="The queue: what users bring in, pages useful for an answer, pages read again.")
    url: str | None = Field(description="The page's address; null for an upload.")
    replaced: str | None = Field(description="The document of which this is a newer version; it is gone.")
    collection: str
    replayable: bool = Field(description="Failed for a reason outside the document: POST /v1/jobs/replay tries again.")

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
            lane=_LANES.get(job.lane, "upload"),
            url=job.url or None,
            replaced=job.replaced or None,
            collection=job.collection or DEFAULT_COLLECTION,
            replayable=job.replayable,
        )


class JobsOut(ListOut):
    """Newest first."""

    jobs: list[JobOut]


class ReplayedOut(BaseModel):
    """The jobs that were queued again."""

    jobs: list[JobOut]


@router.get(
    "/v1/jobs",
    response_model=JobsOut,
    responses=ERRORS,
    summary="List jobs",
)
async def jobs(
    request: Request,
    page_size: PageSize = DEFAULT_PAGE_SIZE,
    page_token: PageToken = "",
    replayable: Annotated[bool, Query(description="Only failed jobs that can be replayed.")] = False,
) -> JobsOut:
    """Newest first."""
    found = await gateway_of(request).search.jobs(page_size, page_token, replayable=replayable)
    return JobsOut(jobs=[JobOut.of(job) for job in found.jobs], next_page_token=found.next_page_token or None)


class ReplayIn(BaseModel):
    """POST /v1/jobs/replay; without ids, every job that can be replayed."""

    model_config = ConfigDict(extra="forbid")

    ids: list[Annotated[str, Field(min_length=1, max_length=128)]] = Field(default=[], max_length=_MOST_REPLAYED)


@router.post("/v1/jobs/replay", response_model=ReplayedOut, responses=ERRORS, summary="Replay failed jobs")
async def replay(request: Request, body: ReplayIn | None = None) -> ReplayedOut:
    """Queues jobs of the dead-letter list again: failed for a reason outside the document. Answers with them."""
    ids, principal = body.ids if body else [], principal_of(request)
    for one in ids:
        job = await while_there(request, gateway_of(request).search.job(one))
        principal.require(Right.WRITE, job.collection or DEFAULT_COLLECTION)
    enter(principal.reach(Right.WRITE))
    queued = await while_there(request, gateway_of(request).search.replay(ids))
    return ReplayedOut(jobs=[JobOut.of(job) for job in queued])


@router.get("/v1/jobs/{job_id}", response_model=JobOut, responses=ERRORS, summary="Get a job")
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
    responses={200: {"content": events(job="JobOut", error="ErrorOut")}, **ERRORS},
    summary="A job's progress as server-sent events",
)
async def job_events(job_id: JobId, request: Request) -> Response:
    """The event `job` now and on every change; the stream ends when the job has ended."""
    gateway = gateway_of(request)
    await while_there(request, gateway.search.job(job_id))
    return respond(_events(gateway, job_id), gateway.settings.keep_alive_seconds)
