"""SearchService and the pipeline behind it, over real gRPC."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import server_errors, stream, unary
from quelea_kit.errors import Conflict, InvalidInput, NotFound
from quelea_kit.testing import wait_until_async
from quelea_search.core.jobs import JobState
from quelea_search.metrics import IngestionCollector

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
    assert (document.pages, document.passages, document.metadata.uri) == (
        5,
        15,
        f"upload:{id_of(TEXT)[:12]}/report.txt",
    )
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
    job = await search_room.submit(TEXT)
    search_room.index.gate.clear()
    working = asyncio.create_task(search_room.work())
    await wait_until_async(lambda: search_room.index.waiting == 2, what="the second sets out before the first is done")
    search_room.index.gate.set()
    await working
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED
    sizes = [(number, commit) for _, number, commit in search_room.index.upserts]
    assert sizes == [(2, False)] * 7 + [(1, True)]
    assert search_room.index.in_flight == 2


async def test_a_watcher_sees_steady_progress_and_the_end(search_room) -> None:
    job = await search_room.submit(TEXT)
    seen: list[pb.Job] = []

    class Watched:
        """A gate of the retriever that holds its fifth and its eighth call until the watcher has seen one more."""

        calls = 0

        async def wait(self) -> None:
            self.calls += 1
            steps = {5: 1, 8: 2}.get(self.calls, 0)
            await wait_until_async(lambda: len({e.done for e in seen if 0 < e.done < 5}) >= steps, what="progress")

    search_room.index.gate = Watched()

    async def watch() -> None:
        async for event in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=60)):
            seen.append(event.job)  # noqa: PERF401  # the test looks while it is filled

    watching = asyncio.create_task(watch())
    await wait_until_async(lambda: bool(seen), what="the watcher gets the job at once")
    assert seen[0].state == pb.JOB_STATE_QUEUED
    await search_room.work()
    await asyncio.wait_for(watching, 60)
    done = [event.done for event in seen]
    assert done == sorted(done)
    assert len({d for d in done if 0 < d < 5}) >= 2
    assert seen[-1].state == pb.JOB_STATE_SUCCEEDED
    assert {"index"} <= {event.stage for event in seen}
    assert all(one != other for one, other in itertools.pairwise(seen))


async def test_an_ended_job_is_watched_to_its_end_at_once(search_room) -> None:
    job = await search_room.add(TEXT)
    events = [e.job.state async for e in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=60))]
    assert events == [pb.JOB_STATE_SUCCEEDED]
    with server_errors(), pytest.raises(NotFound):
        async for _ in stream(search_room.stub.WatchJob(pb.WatchJobRequest(id="no"), timeout=60)):
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


async def test_one_uploader_does_not_replace_what_another_calls_by_the_same_name(search_room) -> None:
    first = await search_room.add(b"of alice", uri="10-K", uploader="alice")
    second = await search_room.add(b"of bob", uri="10-K", uploader="bob")
    page = await search_room.add(b"of nobody", uri="10-K")
    assert set(search_room.index.documents) == {first.document_id, second.document_id, page.document_id}
    newer = await search_room.add(b"of bob, newer", uri="10-K", uploader="bob")
    assert newer.replaced == second.document_id
    assert set(search_room.index.documents) == {first.document_id, newer.document_id, page.document_id}


async def test_files_of_one_name_do_not_replace_one_another(search_room) -> None:
    found = [await search_room.add(data, filename="10-K.md", uploader="alice") for data in (b"one", b"two")]
    assert [job.replaced for job in found] == ["", ""]
    assert set(search_room.index.documents) == {job.document_id for job in found}


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


async def test_a_bad_file_fails_with_the_reason_and_leaves_nothing(search_room) -> None:
    job = await search_room.add(b"locked")
    assert (job.state, job.error_reason, job.replayable) == (pb.JOB_STATE_FAILED, "ENCRYPTED", False)
    assert "wants a password" in job.error
    assert job.finished.seconds
    assert search_room.files() == []
    assert search_room.index.upserts == []
    # and the same bytes may be tried again
    assert (await search_room.submit(b"locked")).state == pb.JOB_STATE_QUEUED


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
    listed = await search_room.stub.ListJobs(pb.ListJobsRequest(page_size=3))
    assert [job.id for job in listed.jobs] == ids[:0:-1]
    await search_room.add(b"a newer one", "5.txt")
    rest = await search_room.stub.ListJobs(pb.ListJobsRequest(page_size=3, page_token=listed.next_page_token))
    assert ([job.id for job in rest.jobs], rest.next_page_token) == (ids[:1], "")
    assert len((await search_room.stub.ListJobs(pb.ListJobsRequest())).jobs) == 5
    with pytest.raises(InvalidInput):
        await unary(search_room.stub.ListJobs(pb.ListJobsRequest(page_size=1001)))
    with pytest.raises(InvalidInput, match="page_token"):
        await unary(search_room.stub.ListJobs(pb.ListJobsRequest(page_token="nonsense")))


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
    registry.register(IngestionCollector(search_room.store, search_room.ledger, search_room.pages))
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


@pytest.mark.parametrize("day", ["2023-99-99", "2023-02-30", "0000-01-01", "20230101", "soon"])
async def test_a_day_that_does_not_exist_is_refused_before_anything_is_stored(search_room, day) -> None:
    async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
        info = pb.DocumentInfo(filename="a.txt")
        info.metadata.published = day
        yield pb.SubmitDocumentRequest(info=info)
        yield pb.SubmitDocumentRequest(chunk=b"text")

    with pytest.raises(InvalidInput, match=r"published must be YYYY-MM-DD"):
        await unary(search_room.stub.SubmitDocument(messages(), timeout=60))
    with pytest.raises(InvalidInput, match="published must be YYYY-MM-DD"):
        await search_room.submit_url("https://example.com/a", published=day)
    assert search_room.files() == []
