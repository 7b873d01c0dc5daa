"""The life of a job, as pure functions: queued -> running -> succeeded | failed, and back to queued when it was lost.

A job record is the only truth. A message in the queue is a hint that there may be work: it can be lost, doubled or
late without harm, because `claim` decides from the record.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT, Reach, name_in, place_of


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self in (JobState.SUCCEEDED, JobState.FAILED)


class Lane(StrEnum):
    """Which queue a job waits in; a flood of one does not hold up another."""

    UPLOAD = "upload"
    """What users bring in, files and addresses."""
    REFRESH = "refresh"
    """Web pages that were useful for an answer."""
    REREAD = "reread"
    """Web pages whose time to live has run out."""


class Stage(StrEnum):
    """What a running job is doing."""

    FETCH = "fetch"
    PARSE = "parse"
    CHUNK = "chunk"
    INDEX = "index"


OUTSIDE = frozenset(
    {"UNAVAILABLE", "OVERLOADED", "DEADLINE_EXCEEDED", "TIMEOUT", "WORKER_LOST", "INTERNAL", "FETCH_FAILED"}
)
"""Reasons of failure that are not the document's: it may come in when it is tried again later."""


def document_name(uploader: str, uri: str, place: str = "") -> str:
    """What one uploader calls so says nothing of another's documents, nor of those in another place (Job.place)."""
    return name_in(place, f"{uploader}\n{uri}" if uploader else uri)


@dataclass(frozen=True, slots=True)
class Job:
    """One submission of one document. Times are seconds since 1970; 0 where it has not happened."""

    id: str
    filename: str
    document_id: str
    uri: str
    created: float
    updated: float
    given: str = ""
    """What the uploader said of the document, as JSON."""
    uploader: str = ""
    """The key that it came with; empty for a page of the web."""
    state: JobState = JobState.QUEUED
    stage: str = ""
    note: str = ""
    """Why it waits, when it does."""
    done: int = 0
    total: int = 0
    error: str = ""
    error_reason: str = ""
    finished: float = 0.0
    attempts: int = 0
    unchanged: bool = False
    sent: float = 0.0
    """When a message for it was last put into the queue."""
    owner: str = ""
    """The process that runs it."""
    token: str = ""
    """Of the present attempt: who does not hold it may not write (fencing)."""
    stage_started: float = 0.0
    committing: bool = False
    """The commit may have happened: a later attempt that finds the document stored has only to clean up."""
    replaces: str = ""
    """The document that this one's commit retires, as was known before it."""
    replaced: str = ""
    """The document that this one's commit retired."""
    passages: int = 0
    """Passages of the document, known when it is committed."""
    lane: Lane = Lane.UPLOAD
    url: str = ""
    """Of a page of the web: where it is read. Until it has been, document_id is provisional and uri is the address."""
    page: str = ""
    """Of a page of the web whose bytes are stored: how they came, as JSON."""
    filing: str = ""
    """Of a filing: how its source is asked for it, as JSON. Until it has been, document_id is provisional."""
    replayable: bool = False
    """Failed for a reason outside the document, and its bytes are kept."""
    tenant: str = DEFAULT_TENANT
    collection: str = DEFAULT_COLLECTION
    """Into which it brings its document."""

    @property
    def place(self) -> str:
        """Tenant and collection, in front of names; its document's id is of the bytes in this place (id_in)."""
        return place_of(self.tenant, self.collection)

    @property
    def reach(self) -> Reach:
        """Of the calls that its work makes: nothing but its own collection."""
        return Reach(self.tenant, (self.collection,))

    @property
    def name(self) -> str:
        """The name under which a new version replaces an old one, as the retriever has it (DocumentFacts.name)."""
        return document_name(self.uploader, self.uri, self.place)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued job, as far as its turn goes."""

    id: str
    uploader: str


def share_of(slots: int) -> int:
    """Of so many slots how many one uploader's jobs may have: all but one, so that another's begins at once."""
    return max(1, slots - 1)


def most_waiting(length: int) -> int:
    """Of a queue of this length how many one uploader's jobs may have: others find room too."""
    return math.ceil(0.8 * length)


def in_turn(waiting: Iterable[Waiting], running: Iterable[str], share: int) -> Iterator[str]:
    """Ids of the jobs that may begin, in their turn.

    First those of the uploaders who have the fewest jobs running, then those who have waited longest, each uploader's
    in their order; none of an uploader who has his share.

    Args:
        waiting: Oldest first.
        running: The uploader of each running job, in all lanes.
        share: Of one uploader.
    """
    busy = Counter(running)
    queues: dict[str, deque[str]] = {}
    for job in waiting:
        if busy[job.uploader] < share:
            queues.setdefault(job.uploader, deque()).append(job.id)
    order = sorted(queues, key=lambda name: busy[name])  # stable: of equals, the one whose first job is the oldest
    while order:
        for name in order:
            yield queues[name].popleft()
        order = [name for name in order if queues[name]]


def claim(job: Job, *, owner: str, token: str, now: float) -> Job:
    """A worker takes the job; one more attempt."""
    return dataclasses.replace(
        job,
        state=JobState.RUNNING,
        stage=Stage.FETCH,
        note="",
        stage_started=now,
        updated=now,
        attempts=job.attempts + 1,
        owner=owner,
        token=token,
    )


def advance(
    job: Job,
    *,
    now: float,
    stage: Stage | None = None,
    note: str | None = None,
    done: int | None = None,
    total: int | None = None,
) -> Job:
    """The job as it is now. Progress never goes back, and is never over the total."""
    new_total = max(job.total, total or 0)
    entered = stage is not None and stage != job.stage
    return dataclasses.replace(
        job,
        stage=job.stage if stage is None else stage,
        stage_started=now if entered else job.stage_started,
        note=job.note if note is None else note,
        total=new_total,
        done=min(max(job.done, done or 0), new_total),
        updated=now,
    )


def succeed(job: Job, *, now: float, pages: int, unchanged: bool = False, replaced: str = "") -> Job:
    """The document is in the knowledge base."""
    total = max(job.total, pages)
    return dataclasses.replace(
        _rest(job, now),
        state=JobState.SUCCEEDED,
        done=total,
        total=total,
        unchanged=unchanged,
        replaced=replaced,
        finished=now,
    )


def fail(job: Job, *, now: float, reason: str, error: str, replayable: bool | None = None) -> Job:
    """The document is not in the knowledge base, and the error says why.

    Args:
        job: Running.
        now: The time.
        reason: Machine-readable.
        error: One sentence.
        replayable: Whether another try may succeed; None: as the reason says.
    """
    return dataclasses.replace(
        _rest(job, now),
        state=JobState.FAILED,
        error=error,
        error_reason=reason,
        finished=now,
        replayable=reason in OUTSIDE if replayable is None else replayable,
    )


def replay(job: Job, *, now: float) -> Job:
    """A job of the dead-letter list waits once more, as if it had just been submitted."""
    return dataclasses.replace(
        _rest(job, now),
        state=JobState.QUEUED,
        stage="",
        error="",
        error_reason="",
        finished=0.0,
        attempts=0,
        sent=0.0,
        replayable=False,
        committing=False,
    )


def fetched(job: Job, *, now: float, document_id: str, uri: str, page: str, waits: bool) -> Job:
    """A page of the web has been read: the job takes the id of its bytes, and goes on or waits its turn for it."""
    known = dataclasses.replace(job, document_id=document_id, uri=uri, page=page, updated=now)
    return give_back(known, now=now) if waits else known


def give_back(job: Job, *, now: float) -> Job:
    """A worker that is shutting down puts the job back; the attempt does not count."""
    return dataclasses.replace(_rest(job, now), state=JobState.QUEUED, stage="", attempts=max(0, job.attempts - 1))


def lost(job: Job, max_attempts: int, *, now: float) -> Job:
    """What becomes of a running job whose worker has vanished: another attempt, or failure with the reason.

    Never the file's fault: what it does to its reader happens in a process of its own, whose end the worker outlives
    and tells.
    """
    if job.attempts >= max_attempts:
        return fail(
            job,
            now=now,
            reason="WORKER_LOST",
            error=f"{job.attempts} workers died while processing the file, killed or out of memory; replay the job.",
        )
    return dataclasses.replace(_rest(job, now), state=JobState.QUEUED, stage="")


def _rest(job: Job, now: float) -> Job:
    return dataclasses.replace(job, note="", owner="", token="", updated=now)


def encode(job: Job) -> dict[str, str]:
    """The record as flat text fields."""
    return {field.name: _text(getattr(job, field.name)) for field in dataclasses.fields(job)}


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def decode(record: Mapping[str, str]) -> Job:
    """The job of a record that `encode` made; fields that a later version added get their defaults."""
    values: dict[str, object] = {}
    for field in dataclasses.fields(Job):
        text = record.get(field.name)
        if text is None:
            continue
        match field.type:
            case "float":
                values[field.name] = float(text)
            case "int":
                values[field.name] = int(text)
            case "bool":
                values[field.name] = text == "1"
            case "JobState":
                values[field.name] = JobState(text)
            case "Lane":
                values[field.name] = Lane(text)
            case _:
                values[field.name] = text
    return Job(**values)  # type: ignore[arg-type]  # the loop above gave every field its own type


def pages_done(batch_last_pages: Sequence[int], finished: Sequence[bool], pages: int) -> int:
    """Pages whose passages are all embedded, when batches may end out of order.

    Args:
        batch_last_pages: For each batch, in order, the page of its last passage.
        finished: For each batch, whether it is embedded.
        pages: Pages of the document.

    A page that goes on in the next batch is not done before that one is.
    """
    for number, is_finished in enumerate(finished):
        if not is_finished:
            # The last page of the batch before may go on in this batch: it counts only when it is complete.
            return max(0, batch_last_pages[number - 1] - 1) if number else 0
    return pages
