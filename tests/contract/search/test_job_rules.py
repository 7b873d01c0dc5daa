"""core/jobs.py: the life of a job."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, JobState, Stage


def new(**fields: object) -> Job:
    return dataclasses.replace(Job("j", "a.pdf", "d", "u", 1.0, 1.0), **fields)  # type: ignore[arg-type]  # fields of Job


def test_a_record_comes_back_as_it_was() -> None:
    job = new(state=JobState.FAILED, unchanged=True, done=3, total=4, error="é 中", stage=Stage.PARSE, sent=1.25)
    assert jobs.decode(jobs.encode(job)) == job


def test_a_record_of_another_version_is_read() -> None:
    record = {**jobs.encode(new()), "later": "x"}
    del record["note"]
    assert jobs.decode(record) == new()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_progress_never_goes_back_nor_over_the_total(steps: list[tuple[int, int]]) -> None:
    job = new()
    for done, total in steps:
        after = jobs.advance(job, now=2, done=done, total=total)
        assert job.done <= after.done <= after.total
        assert job.total <= after.total
        job = after


def test_entering_a_stage_starts_its_clock_once() -> None:
    job = jobs.advance(new(), now=5, stage=Stage.PARSE)
    assert jobs.advance(job, now=9, stage=Stage.PARSE).stage_started == 5
    assert jobs.advance(job, now=9, stage=Stage.CHUNK).stage_started == 9


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("seconds", [1, 301])
def test_a_lost_job_is_tried_again_and_then_fails_without_blame_for_its_file(stage: Stage, seconds: int) -> None:
    job = new()
    for attempt in (1, 2, 3):
        job = jobs.claim(job, owner="o", token="t", now=10)
        assert (job.state, job.attempts) == (JobState.RUNNING, attempt)
        job = jobs.lost(jobs.advance(job, now=10, stage=stage), 3, now=10 + seconds)
    assert (job.state, job.error_reason, job.replayable) == (JobState.FAILED, "WORKER_LOST", True)
    assert "3 workers died" in job.error
    assert not job.owner
    assert not job.token


def test_giving_back_costs_no_attempt() -> None:
    job = jobs.claim(new(), owner="o", token="t", now=1)
    back = jobs.give_back(job, now=2)
    assert (back.state, back.attempts, back.token) == (JobState.QUEUED, 0, "")


@pytest.mark.parametrize(("reason", "replayable"), [("UNAVAILABLE", True), ("INTERNAL", True), ("ENCRYPTED", False)])
def test_only_a_failure_from_outside_can_be_replayed(reason: str, replayable: bool) -> None:
    failed = jobs.fail(new(attempts=3, committing=True), now=3, reason=reason, error="e")
    assert failed.replayable is replayable
    again = jobs.replay(failed, now=4)
    assert (again.state, again.attempts, again.error, again.finished) == (JobState.QUEUED, 0, "", 0)
    assert not again.committing


def test_a_fetched_page_takes_its_id_and_may_wait_with_it() -> None:
    job = jobs.claim(new(url="u"), owner="o", token="t", now=1)
    goes_on = jobs.fetched(job, now=2, document_id="real", uri="v", page="{}", waits=False)
    assert (goes_on.document_id, goes_on.uri, goes_on.state, goes_on.token) == ("real", "v", JobState.RUNNING, "t")
    waits = jobs.fetched(job, now=2, document_id="real", uri="v", page="{}", waits=True)
    assert (waits.document_id, waits.state, waits.token, waits.attempts) == ("real", JobState.QUEUED, "", 0)


def test_success_completes_the_progress() -> None:
    job = jobs.succeed(new(done=2, total=7), now=3, pages=7)
    assert (job.done, job.total, job.finished) == (7, 7, 3)


@pytest.mark.parametrize(
    ("finished", "pages"),
    [
        ([False, False, False], 0),
        ([True, False, False], 1),  # page 2 goes on in the second batch
        ([False, True, True], 0),  # the first batch still holds page 1
        ([True, True, False], 3),
        ([True, True, True], 5),
    ],
)
def test_a_page_is_done_when_all_its_passages_are(finished: list[bool], pages: int) -> None:
    assert jobs.pages_done([2, 4, 5], finished, 5) == pages
