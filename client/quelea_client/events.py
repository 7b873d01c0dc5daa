"""What streams bring."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from quelea_client.errors import JobFailed, UnexpectedAnswer, api_error
from quelea_client.models import Answer, Grounding, Job, Quotes, Started

ENDED = ("succeeded", "failed")


@dataclass(frozen=True)
class UploadProgress:
    """How far a file is."""

    filename: str
    stage: str
    """"sending" (bytes), then the job's own: fetch, parse, chunk, index (pages)."""
    done: int
    total: int


OnProgress = Callable[[UploadProgress], object]


@dataclass(frozen=True)
class Delta:
    """A piece of an answer's text as it is written."""

    text: str


Event = Started | Quotes | Delta | Grounding | Answer
"""What a streamed answer consists of; the last is the Answer."""


@dataclass(frozen=True)
class ServerEvent:
    """An event as the gateway sends it; of a run of the agent: state, plan, step, code, output, plot, reflection, …."""

    name: str
    data: dict[str, Any]
    number: int = 0
    """Of a run's events, from 1."""


RunEvent = ServerEvent


def server_event(name: str, text: str, number: str) -> ServerEvent:
    """An event of a stream.

    Raises:
        ApiError: What the event `error` carries; a run's own is one of its events.
        UnexpectedAnswer: It is no JSON object.
    """
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise UnexpectedAnswer(f"The event {name} of the stream is no JSON object: {text[:80]!r}")
    if name == "error" and "run" not in data:
        raise api_error(data)
    return ServerEvent(name, data, int(number) if number.isdecimal() else 0)


_DELTA = TypeAdapter(Delta)
_KINDS: dict[str, type[Started | Quotes | Grounding | Answer]] = {
    "started": Started,
    "quotes": Quotes,
    "verdicts": Grounding,
    "answer": Answer,
}


def ask_event(sent: ServerEvent) -> Event | None:
    """An event of a streamed answer; None of one that this client does not know."""
    try:
        if sent.name == "delta":
            return _DELTA.validate_python(sent.data)
        return _KINDS[sent.name].model_validate(sent.data) if sent.name in _KINDS else None
    except ValidationError as error:
        raise UnexpectedAnswer(
            f"The event {sent.name} of the stream is not as this client expects it: {error}"
        ) from error


class ProgressReport:
    """Tells how far jobs are, each time that one has moved.

    Args:
        on_progress: Whom.
    """

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._told: dict[str, UploadProgress] = {}

    def tell(self, job: Job) -> None:
        """Of a job that was looked at."""
        now = UploadProgress(job.filename, job.stage or job.state, job.progress.done, job.progress.total)
        if self._on_progress and self._told.get(job.id) != now:
            self._told[job.id] = now
            self._on_progress(now)


def succeeded(job: Job) -> Job:
    """An ended job. Raises JobFailed."""
    if job.state == "failed":
        raise JobFailed(f"{job.filename}: {job.error or job.error_reason or 'the job failed without a reason'}")
    return job
