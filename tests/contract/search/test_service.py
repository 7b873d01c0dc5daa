"""SearchService and the pipeline behind it, over real gRPC."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
from collections.abc import AsyncIterator

import grpc
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import server_errors, stream, unary
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Overloaded, QueleaError, TooLarge, Unavailable
from quelea_kit.testing import wait_until_async
from quelea_search.core.jobs import JobState
from quelea_search.metrics import IngestionCollector
from quelea_search.pipeline import run_job

TEXT = "\f".join(f"page {n}\nsecond line of {n}\nthird line of {n}" for n in range(1, 6)).encode()


def id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


async def test_a_document_comes_in(search_room) -> None:
    submitted = await search_room.submit(TEXT, "dir/report.txt")
    assert (submitted.state, submitted.filename) == (pb.JOB_STATE_QUEUED, "report.txt")
    await search_room.work()
    job = await search_room.job(submitted.id)
    assert (job.state, job.done, job.total, job.document_id) == (pb.JOB_STATE_SUCCEEDED, 5, 5, id_of(TEXT))
    assert (job.error, job.attempts, job.unchanged) == ("", 1, False)
    assert job.created.seconds
    assert job.finished.seconds

    document = search_room.index.documents[job.document_id]
    assert (document.pages, document.passages, document.metadata.uri) == (5, 15, "upload:report.txt")
    assert document.metadata.title == "report.txt"
    stored = sorted(search_room.index.committed[job.document_id].values(), key=lambda p: p.ordinal)
    assert [p.ordinal for p in stored] == list(range(15))
    for passage in stored:
        request = pb.GetPageRequest(document_id=job.document_id, page=passage.page)
        page = await search_room.stub.GetPage(request)
        assert page.text[passage.start : passage.end] == passage.text
        assert (page.pages, page.metadata) == (5, document.metadata)
    assert search_room.files() == [f"documents/{job.document_id}/{name}" for name in ("original", "pages.gz")]
    assert (search_room.folder / search_room.files()[0]).read_bytes() == TEXT


async def test_batches_overlap_and_only_the_last_commits(search_room) -> None:
    search_room.index.delay = 0.02
    await search_room.add(TEXT)
    sizes = [(number, commit) for _, number, commit in search_room.index.upserts]
    assert sizes == [(2, False)] * 7 + [(1, True)]
    assert search_room.index.in_flight == 2


async def test_a_watcher_sees_steady_progress_and_the_end(search_room) -> None:
    search_room.index.delay = 0.02
    job = await search_room.submit(TEXT)
    seen: list[pb.Job] = []

    async def watch() -> None:
        async for event in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=20)):
            seen.append(event.job)  # noqa: PERF401  # the test looks while it is filled

    watching = asyncio.create_task(watch())
    await wait_until_async(lambda: bool(seen), what="the watcher gets the job at once")
    assert seen[0].state == pb.JOB_STATE_QUEUED
    await search_room.work()
    await asyncio.wait_for(watching, 10)
    done = [event.done for event in seen]
    assert done == sorted(done)
    assert len({d for d in done if 0 < d < 5}) >= 2
    assert seen[-1].state == pb.JOB_STATE_SUCCEEDED
    assert {"index"} <= {event.stage for event in seen}
    assert all(one != other for one, other in itertools.pairwise(seen))


async def test_an_ended_job_is_watched_to_its_end_at_once(search_room) -> None:
    job = await search_room.add(TEXT)
    events = [e.job.state async for e in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=5))]
    assert events == [pb.JOB_STATE_SUCCEEDED]
    with server_errors(), pytest.raises(NotFound):
        async for _ in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id="no"), timeout=5)):
            pass


async def test_the_same_bytes_again_change_nothing(search_room) -> None:
    first = await search_room.add(TEXT)
    upserts, files = list(search_room.index.upserts), search_room.files()
    again = await search_room.submit(TEXT, "other name.txt")
    assert (again.state, again.unchanged) == (pb.JOB_STATE_SUCCEEDED, True)
    assert again.document_id == first.document_id
    assert again.id != first.id
    assert (again.done, again.total) == (5, 5)
    assert (search_room.index.upserts, search_room.files(), search_room.sent) == (upserts, files, [])


async def test_the_same_bytes_twice_at_once_are_one_job(search_room) -> None:
    one, two = await asyncio.gather(search_room.submit(TEXT), search_room.submit(TEXT))
    assert one.id == two.id
    await search_room.work()
    assert [commit for _, _, commit in search_room.index.upserts].count(True) == 1
    assert len(search_room.files()) == 2


async def test_a_new_version_replaces_the_old_one(search_room) -> None:
    old = await search_room.add(b"old text", uri="https://example.com/a")
    other = await search_room.add(b"another document")
    new = await search_room.add(b"new text", uri="https://example.com/a")
    assert set(search_room.index.documents) == {other.document_id, new.document_id}
    with pytest.raises(NotFound):
        await unary(search_room.stub.GetPage(pb.GetPageRequest(document_id=old.document_id, page=1)))
    assert not [name for name in search_room.files() if old.document_id in name]
    # and back again
    back = await search_room.add(b"old text", uri="https://example.com/a")
    assert not back.unchanged
    assert set(search_room.index.documents) == {other.document_id, old.document_id}


async def test_the_old_version_answers_until_the_commit(search_room) -> None:
    old = await search_room.add(b"old text", uri="u")
    search_room.index.gate.clear()
    await search_room.submit(TEXT, uri="u")
    working = asyncio.create_task(search_room.work())
    await wait_until_async(lambda: search_room.store.count(JobState.RUNNING) == 1)
    page = await search_room.stub.GetPage(pb.GetPageRequest(document_id=old.document_id, page=1))
    assert page.text == "old text"
    assert set(search_room.index.documents) == {old.document_id}
    search_room.index.gate.set()
    await working
    assert set(search_room.index.documents) == {id_of(TEXT)}


@pytest.mark.parametrize(
    ("data", "reason", "words"),
    [
        (b"locked", "ENCRYPTED", "wants a password"),
        (b"bug", "INTERNAL", "ZeroDivisionError"),
        (b"\xff\xfe\xfd", "INTERNAL", "UnicodeDecodeError"),
    ],
)
async def test_a_bad_file_fails_with_the_reason_and_leaves_nothing(search_room, data, reason, words) -> None:
    job = await search_room.add(data)
    assert (job.state, job.error_reason) == (pb.JOB_STATE_FAILED, reason)
    assert words in job.error
    assert job.finished.seconds
    assert search_room.files() == []
    assert search_room.index.upserts == []
    # and the same bytes may be tried again
    assert (await search_room.submit(data)).state == pb.JOB_STATE_QUEUED


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
    job = await search_room.submit(TEXT)

    async def watch() -> None:
        async for event in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=20)):
            stages.add(event.job.stage)

    watching = asyncio.create_task(watch())
    await search_room.work()
    await watching
    assert "index: waiting for the retriever" in stages
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_retriever_that_stays_away_fails_the_job_and_is_cleaned_up_later(search_room) -> None:
    search_room.index.failures += [Unavailable("down")] * 100
    job = await search_room.add(TEXT)
    assert (job.state, job.error_reason) == (pb.JOB_STATE_FAILED, "UNAVAILABLE")
    assert "submit the file again" in job.error
    search_room.index.failures.clear()
    assert search_room.files() == []
    assert search_room.index.staged == {}
    assert (await search_room.add(TEXT)).state == pb.JOB_STATE_SUCCEEDED


async def test_the_reaper_removes_what_a_lost_job_left(search_room) -> None:
    job = await search_room.submit(TEXT)
    await search_room.index.Upsert(_upsert(id_of(TEXT)), None)
    for _ in range(4):
        search_room.store.claim(job.id, "w", lambda _owner: True)
    assert search_room.store.get(job.id).error_reason == "WORKER_LOST"
    await search_room.reaper.tidy()
    assert search_room.index.staged == {}
    assert search_room.files() == []
    assert search_room.ledger.leftovers() == {}


async def test_the_reaper_sends_lost_messages_again_and_only_then(search_room) -> None:
    job = await search_room.submit(TEXT)
    search_room.sent.clear()  # the broker was restarted
    search_room.redis.rpush("test:messages", "another message")
    await asyncio.sleep(0.1)
    await search_room.reaper.look_after_jobs()
    assert search_room.sent == []
    search_room.redis.delete("test:messages")
    await search_room.reaper.look_after_jobs()
    assert search_room.sent == [job.id]
    await search_room.work()
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED
    await run_job(search_room.parts, job.id)  # the first message comes after all
    assert len([1 for _, _, commit in search_room.index.upserts if commit]) == 1


async def test_the_reaper_removes_uploads_that_nobody_needs(search_room) -> None:
    waiting = await search_room.submit(b"waiting")
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


@pytest.mark.parametrize("size", [2001, 3500])
async def test_too_large_is_refused(search_room, size: int) -> None:
    with pytest.raises(TooLarge) as caught:
        await search_room.submit(b"x" * size, piece=10)
    assert caught.value.details == {"max_document_bytes": "2000"}
    assert search_room.files() == []
    assert (await search_room.submit(b"x" * 2000)).state == pb.JOB_STATE_QUEUED


async def test_an_endless_upload_is_cut_off(search_room) -> None:
    sent = 0

    async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
        nonlocal sent
        yield pb.SubmitDocumentRequest(info=pb.DocumentInfo(filename="a.txt"))
        while sent < 10_000:
            sent += 1
            yield pb.SubmitDocumentRequest(chunk=b"x" * 500)
            await asyncio.sleep(0)

    with pytest.raises(QueleaError):
        await unary(search_room.stub.SubmitDocument(messages(), timeout=10))
    assert sent < 10_000
    assert search_room.files() == []


@pytest.mark.parametrize("filename", ["", "/", "a/..", "\u0000"])
async def test_an_upload_needs_a_name(search_room, filename: str) -> None:
    with server_errors(), pytest.raises(InvalidInput):
        await unary(search_room.stub.SubmitDocument(_one(pb.DocumentInfo(filename=filename)), timeout=5))


async def test_an_upload_begins_with_its_info_and_has_it_once(search_room) -> None:
    async def chunk_first() -> AsyncIterator[pb.SubmitDocumentRequest]:
        yield pb.SubmitDocumentRequest(chunk=b"x")

    async def info_twice() -> AsyncIterator[pb.SubmitDocumentRequest]:
        for _ in range(2):
            yield pb.SubmitDocumentRequest(info=pb.DocumentInfo(filename="a"))

    async def nothing() -> AsyncIterator[pb.SubmitDocumentRequest]:
        return
        yield

    for messages in (chunk_first, info_twice, nothing):
        with pytest.raises(InvalidInput):
            await unary(search_room.stub.SubmitDocument(messages(), timeout=5))
    assert search_room.files() == []


async def test_a_client_that_leaves_in_the_middle_leaves_nothing(search_room) -> None:
    async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
        yield pb.SubmitDocumentRequest(info=pb.DocumentInfo(filename="a.txt"))
        yield pb.SubmitDocumentRequest(chunk=b"half")
        await asyncio.sleep(60)

    # The server sees the stream end as if it were complete, a moment before it is told that the caller has left.
    for _ in range(10):
        async with grpc.aio.insecure_channel(search_room.address) as line:
            call = search_pb2_grpc.SearchServiceStub(line).SubmitDocument(messages(), timeout=30)
            await wait_until_async(lambda: bool(search_room.files()), what="the first bytes")
            call.cancel()
            await wait_until_async(lambda: not search_room.files(), what="nothing is left")
    assert search_room.store.newest(10) == []


async def test_a_full_queue_refuses_before_it_stores_anything(search_room) -> None:
    for number in range(3):
        await search_room.submit(b"%d" % number, f"{number}.txt")
    files = search_room.files()
    with server_errors(), pytest.raises(Overloaded) as caught:
        await unary(search_room.stub.SubmitDocument(_one(pb.DocumentInfo(filename="x")), timeout=5))
    assert caught.value.retry_after
    assert search_room.files() == files
    assert (await search_room.stub.GetInfo(pb.GetInfoRequest())).queued == 3


async def test_delete(search_room) -> None:
    job = await search_room.add(TEXT)
    request = pb.DeleteDocumentRequest(document_id=job.document_id)
    assert (await search_room.stub.DeleteDocument(request)).passages == 15
    assert search_room.index.documents == {}
    assert search_room.files() == []
    for unknown in (job.document_id, "f" * 32, "../x", ""):
        with pytest.raises(NotFound):
            await unary(search_room.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=unknown)))
    again = await search_room.add(TEXT)
    assert (again.state, again.unchanged) == (pb.JOB_STATE_SUCCEEDED, False)


async def test_a_document_on_its_way_in_is_not_deleted(search_room) -> None:
    job = await search_room.submit(TEXT)
    with pytest.raises(Conflict):
        await unary(search_room.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=job.document_id)))


async def test_unknown_things_are_not_found(search_room) -> None:
    with pytest.raises(NotFound):
        await unary(search_room.stub.GetJob(pb.GetJobRequest(id="no")))
    for document_id, page in (("a" * 32, 1), ("../../etc", 1)):
        with pytest.raises(NotFound):
            await unary(search_room.stub.GetPage(pb.GetPageRequest(document_id=document_id, page=page)))
    job = await search_room.add(TEXT)
    for page in (0, 6):
        with pytest.raises(NotFound):
            await unary(search_room.stub.GetPage(pb.GetPageRequest(document_id=job.document_id, page=page)))


async def test_jobs_are_listed_newest_first(search_room) -> None:
    ids = [(await search_room.add(b"%d" % n, f"{n}.txt")).id for n in range(4)]
    listed = (await search_room.stub.ListJobs(pb.ListJobsRequest(limit=3))).jobs
    assert [job.id for job in listed] == ids[:0:-1]
    assert len((await search_room.stub.ListJobs(pb.ListJobsRequest())).jobs) == 4
    with pytest.raises(InvalidInput):
        await unary(search_room.stub.ListJobs(pb.ListJobsRequest(limit=1001)))


async def test_a_waiting_job_says_that_no_worker_runs(search_room) -> None:
    job = await search_room.submit(TEXT)
    assert job.stage == ""
    search_room.ledger.worker_leaves("w")
    assert "no" in (await search_room.job(job.id)).stage


async def test_metrics(search_room) -> None:
    await search_room.add(TEXT)
    await search_room.add(b"locked")
    await search_room.submit(b"waiting")
    registry = CollectorRegistry()
    registry.register(IngestionCollector(search_room.store, search_room.ledger))
    text = generate_latest(registry).decode()
    for line in (
        'quelea_search_jobs{state="queued"} 1.0',
        'quelea_search_jobs{state="running"} 0.0',
        'quelea_search_jobs_ended_total{outcome="succeeded"} 1.0',
        'quelea_search_jobs_ended_total{outcome="failed"} 1.0',
        "quelea_search_pages_total 5.0",
        "quelea_search_passages_total 15.0",
        "quelea_search_workers 1.0",
        'quelea_search_stage_seconds_total{stage="index"}',
    ):
        assert line in text


async def _one(info: pb.DocumentInfo) -> AsyncIterator[pb.SubmitDocumentRequest]:
    yield pb.SubmitDocumentRequest(info=info)


def _upsert(document_id: str):
    from quelea.retriever.v1 import retriever_pb2

    request = retriever_pb2.UpsertRequest()
    request.document.id = document_id
    request.document.metadata.uri = "u"
    request.passages.add(id="p")
    return request
