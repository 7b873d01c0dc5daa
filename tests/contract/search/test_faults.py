"""What the pipeline and the reaper make of faults around them."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
import os
import threading
import time
from types import SimpleNamespace

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import stream
from quelea_kit.errors import DeadlineExceeded, DiskFull, InvalidInput, Overloaded, Unavailable
from quelea_kit.testing import wait_until_async
from quelea_search.core.jobs import Job, JobState
from quelea_search.jobs import reaper
from quelea_search.jobs.ingest_job import run_job

TEXT = "\f".join(f"page {n}\nsecond line of {n}\nthird line of {n}" for n in range(1, 6)).encode()


def id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


async def test_what_the_retriever_refuses_leaves_nothing_half_indexed(search_room) -> None:
    search_room.index.delay = 0.01
    job = await search_room.submit(TEXT)
    working = asyncio.create_task(search_room.work())
    await wait_until_async(lambda: len(search_room.index.upserts) >= 2)
    search_room.index.failures.append(InvalidInput("Too many passages."))
    await working
    ended = await search_room.job(job.id)
    assert (ended.state, ended.error) == (pb.JOB_STATE_FAILED, "Too many passages.")
    assert search_room.index.staged == {}
    assert search_room.index.documents == {}
    assert search_room.files() == []
    assert search_room.ledger.leftovers() == {}


async def test_a_retriever_that_is_busy_or_away_is_waited_for_and_the_job_says_so(search_room) -> None:
    search_room.index.failures += [Overloaded("busy"), Unavailable("the embedder is starting")]
    stages: set[str] = set()
    patient = search_room.settings.model_copy(update={"retriever_wait_seconds": 120})
    search_room.parts = dataclasses.replace(search_room.parts, settings=patient)
    job = await search_room.submit(TEXT)

    async def watch() -> None:
        async for event in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=60)):
            stages.add(event.job.stage)

    watching = asyncio.create_task(watch())
    await wait_until_async(lambda: bool(stages), what="the watcher gets the job at once")
    working = asyncio.create_task(search_room.work())
    while "index: waiting for the retriever" not in stages and not working.done():
        search_room.index.failures[:] = [Unavailable("the embedder is starting")]
        await asyncio.sleep(0.02)
    await working
    await watching
    assert "index: waiting for the retriever" in stages
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_retriever_that_stays_away_fails_the_job_and_is_cleaned_up_later(search_room) -> None:
    search_room.index.failures += [Unavailable("down")] * 100
    job = await search_room.add(TEXT)
    assert (job.state, job.error_reason) == (pb.JOB_STATE_FAILED, "UNAVAILABLE")
    assert "replay the job" in job.error
    search_room.index.failures.clear()
    assert search_room.files() == [f"incoming/{job.id}"]  # for a replay
    assert search_room.index.staged == {}
    assert (await search_room.add(TEXT)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_retriever_that_is_slow_is_sent_less_at_once(search_room) -> None:
    search_room.index.most = 1
    assert search_room.parts.settings.batch_passages > 1
    job = await search_room.add(TEXT)
    assert (job.state, job.error) == (pb.JOB_STATE_SUCCEEDED, "")
    sent = search_room.index.upserts
    assert {number for _, number, _ in sent} == {1}
    assert [commit for _, _, commit in sent].count(True) == 1
    assert sent[-1][2]
    (stored,) = search_room.index.committed.values()
    assert len(stored) == len(sent)


async def test_a_retriever_that_does_nothing_in_time_fails_the_job(search_room) -> None:
    search_room.index.failures += [DeadlineExceeded("The encoder hangs.")] * 500
    job = await search_room.add(TEXT)
    assert (job.state, job.error_reason) == (pb.JOB_STATE_FAILED, "UNAVAILABLE")
    assert "The encoder hangs" in job.error
    assert search_room.index.staged == {}


async def test_the_reaper_removes_what_a_lost_job_left(search_room) -> None:
    job = await search_room.submit(TEXT)
    await search_room.index.Upsert(_upsert(id_of(TEXT)), None)
    for _ in range(4):
        search_room.store.claim(job.id, "w", lambda _owner: True)
    assert search_room.store.get(job.id).error_reason == "WORKER_LOST"
    await search_room.reaper.remove_leftovers()
    assert search_room.index.staged == {}
    assert search_room.files() == [f"incoming/{job.id}"]  # for a replay
    assert search_room.ledger.leftovers() == {}


async def test_the_reaper_sends_lost_messages_again_and_only_then(search_room) -> None:
    job = await search_room.submit(TEXT)
    search_room.sent.clear()  # the broker was restarted
    search_room.redis.rpush("test:messages:upload", "another message")
    await asyncio.sleep(0.1)
    await search_room.reaper.look_after_jobs()
    assert search_room.sent == []
    search_room.redis.delete("test:messages:upload")
    await search_room.reaper.look_after_jobs()
    assert search_room.sent == [job.id]
    await search_room.work()
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED
    await run_job(search_room.parts, job.id)  # the first message comes after all
    assert len([1 for _, _, commit in search_room.index.upserts if commit]) == 1


async def test_a_clock_that_was_set_back_does_not_keep_a_lost_message_lost(search_room) -> None:
    job = await search_room.submit(TEXT)
    search_room.sent.clear()
    tomorrow = str(time.time() + 86400)
    search_room.redis.hset(f"test:job:{job.id}", mapping={"created": tomorrow, "sent": tomorrow})
    await search_room.reaper.look_after_jobs()
    assert search_room.sent == [job.id]


async def test_leases_that_a_jump_of_the_clock_ended_are_left_to_their_workers(search_room, monkeypatch) -> None:
    """As after a laptop's sleep; otherwise each sleep costs every running job an attempt, and the third one the job."""
    job = await search_room.submit(TEXT)
    search_room.store.claim(job.id, "another machine|1|1", lambda _: False)
    search_room.redis.delete(f"test:lease:{id_of(TEXT)}")
    later, now = 8 * 3600, time.time
    monkeypatch.setattr(reaper.time, "time", lambda: now() + later)
    await search_room.reaper.look_after_jobs()
    assert search_room.store.get(job.id).state is JobState.RUNNING
    assert search_room.store.claim(job.id, "me", lambda _: False) is None
    search_room.reaper._leases_count_from = 0.0  # the worker had its time
    await search_room.reaper.look_after_jobs()
    assert search_room.store.get(job.id).state is JobState.QUEUED


@pytest.mark.parametrize("slow", [True, False])
async def test_leases_that_nobody_could_renew_are_left_to_their_workers(search_room, monkeypatch, slow: bool) -> None:
    """As on a disk so slow that Redis answers after seconds, or not in time."""
    job = await search_room.submit(TEXT)
    search_room.store.claim(job.id, "another machine|1|1", lambda _: False)
    search_room.redis.delete(f"test:lease:{id_of(TEXT)}")
    found, passed = search_room.store.in_state, 0.0
    clock = SimpleNamespace(time=lambda: time.time() + passed, monotonic=lambda: time.monotonic() + passed)
    monkeypatch.setattr(reaper, "time", clock)

    def wait(state: JobState) -> list[Job]:
        nonlocal passed
        if not slow:
            raise Unavailable("Redis does not answer.")
        passed += 2 * search_room.parts.settings.beat_seconds
        return found(state)

    with monkeypatch.context() as patched:
        patched.setattr(search_room.store, "in_state", wait)
        with contextlib.nullcontext() if slow else pytest.raises(Unavailable):
            await search_room.reaper.look_after_jobs()
    assert search_room.store.get(job.id).state is JobState.RUNNING
    await search_room.reaper.look_after_jobs()
    assert search_room.store.get(job.id).state is JobState.RUNNING
    passed += search_room.parts.settings.lease_seconds  # the worker had its time
    await search_room.reaper.look_after_jobs()
    assert search_room.store.get(job.id).state is JobState.QUEUED


async def test_the_reaper_removes_uploads_that_nobody_needs(search_room) -> None:
    waiting = await search_room.submit(b"waiting")
    assert search_room.store.claim(waiting.id, "elsewhere", lambda _owner: False)
    search_room.sent.clear()
    ended = await search_room.add(TEXT, "b.txt")
    young, old = "1" * 32, "2" * 32
    for job_id in (ended.id, young, old):
        search_room.blobs.upload(job_id).commit()
    os.utime(search_room.folder / "incoming" / old, (1.0, 1.0))
    await search_room.reaper.trim()
    assert {name.split("/")[1] for name in search_room.files() if name.startswith("incoming/")} == {waiting.id, young}


async def test_an_attempt_that_died_after_its_commit_is_finished_by_the_next(search_room) -> None:
    old = await search_room.add(b"old text", uri="u")
    job = await search_room.submit(TEXT, uri="u")
    ended = search_room.store.end
    search_room.store.end = lambda *_args, **_kwargs: (_ for _ in ()).throw(SystemError("killed"))
    search_room.blobs.delete_document, remove = (lambda _id: False), search_room.blobs.delete_document
    with pytest.raises(SystemError):
        await search_room.work()
    search_room.store.end, search_room.blobs.delete_document = ended, remove
    assert search_room.store.get(job.id).state is JobState.RUNNING
    search_room.redis.delete(f"test:lease:{id_of(TEXT)}")
    await search_room.reaper.look_after_jobs()
    await search_room.work()
    after = await search_room.job(job.id)
    assert (after.state, after.unchanged, after.attempts) == (pb.JOB_STATE_SUCCEEDED, False, 2)
    assert set(search_room.index.documents) == {id_of(TEXT)}
    assert not [name for name in search_room.files() if old.document_id in name or name.startswith("incoming")]


async def test_a_worker_that_shuts_down_gives_the_job_back(search_room) -> None:
    search_room.index.gate.clear()
    job = await search_room.submit(TEXT)
    working = asyncio.create_task(search_room.work())
    await wait_until_async(lambda: search_room.index.in_flight == 2)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    back = await search_room.job(job.id)
    assert (back.state, back.attempts) == (pb.JOB_STATE_QUEUED, 0)
    search_room.index.gate.set()
    assert search_room.sent == [job.id]
    await search_room.work()
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_versions_do_not_overtake_each_other(search_room) -> None:
    one = await search_room.submit(b"version 1", uri="u")
    two = await search_room.submit(b"version 2", uri="u")
    await run_job(search_room.parts, two.id)
    assert (await search_room.job(two.id)).state == pb.JOB_STATE_QUEUED
    search_room.sent[:] = [one.id]
    await search_room.work()
    assert set(search_room.index.documents) == {id_of(b"version 2")}


def _upsert(document_id: str):
    from quelea.retriever.v1 import retriever_pb2

    request = retriever_pb2.UpsertRequest()
    request.document.id = document_id
    request.document.metadata.uri = "u"
    request.passages.add(id="p")
    return request


async def test_a_submission_whose_answer_was_lost_keeps_its_bytes(search_room) -> None:
    submit = search_room.store.submit

    def answer_lost(*args, **options):
        submit(*args, **options)
        raise Unavailable("Redis was killed after it had written the record")

    search_room.store.submit = answer_lost
    with pytest.raises(Unavailable):
        await search_room.submit(TEXT)
    search_room.store.submit = submit
    again = await search_room.submit(TEXT)  # as the caller does
    await search_room.reaper.trim()
    search_room.sent[:] = [again.id]
    await search_room.work()
    assert (await search_room.job(again.id)).state == pb.JOB_STATE_SUCCEEDED
    await search_room.reaper.trim()
    assert not [name for name in search_room.files() if name.startswith("incoming")]


async def test_a_retriever_whose_disk_is_full_sends_the_job_back_into_the_queue(search_room) -> None:
    search_room.index.failures += [DiskFull("The disk has 3 MB free.", retry_after=0.01)] * 5
    job = await search_room.add(TEXT)
    assert search_room.index.failures == []
    assert job.state == pb.JOB_STATE_SUCCEEDED, job
    assert job.attempts == 1  # waiting for space is none


async def test_a_worker_that_is_stopped_as_a_job_ends_leaves_it_ended(search_room, monkeypatch) -> None:
    ended, stopped = threading.Event(), threading.Event()

    def wake_next(_name: str) -> None:
        ended.set()
        assert stopped.wait(30)

    job = await search_room.submit(TEXT)
    monkeypatch.setattr(type(search_room.parts), "wake_next", lambda _parts, name: wake_next(name))
    working = asyncio.create_task(run_job(search_room.parts, job.id))
    assert await asyncio.to_thread(ended.wait, 30)
    working.cancel()
    stopped.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert search_room.store.get(job.id).state is JobState.SUCCEEDED
