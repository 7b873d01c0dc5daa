"""Documents through a real Redis, a real gRPC server and a real Celery worker, with each of them killed at its work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
import redis
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import NotFound
from quelea_kit.testing import wait_until_async

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAMPLE = Path(__file__).parents[3] / "samples" / "filings" / "2023 Q3 AAPL.pdf"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)
_count = 0


def text(pages: int = 6) -> bytes:
    """A new Markdown document: a section is a page."""
    global _count  # noqa: PLW0603  # no two documents of this module are the same
    _count += 1
    sections = [
        f"# Section {n} of document {_count}\n\nNet sales of region {n} were {n * 37} million.\n\n"
        for n in range(pages)
    ]
    return "".join(sections).encode()


class Watched:
    """A gate of the retriever: a call goes on once the watcher has heard of one event more, or after a second."""

    def __init__(self, seen: list[pb.Job]) -> None:
        self.seen = seen

    async def wait(self) -> None:
        before = len(self.seen)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                while len(self.seen) == before:  # noqa: ASYNC110  # a list has no event
                    await asyncio.sleep(0.01)


async def test_a_real_filing_comes_in_with_steady_progress(search_whole) -> None:
    seen: list[pb.Job] = []
    search_whole.index.gate = Watched(seen)
    submitted = await search_whole.submit(SAMPLE.read_bytes(), SAMPLE.name)
    job = await search_whole.ended(submitted.id, seen)
    assert (job.state, job.error) == (pb.JOB_STATE_SUCCEEDED, "")
    assert job.done == job.total > 10
    assert {"index"} <= {event.stage for event in seen}
    done = [event.done for event in seen]
    assert done == sorted(done)
    assert len(set(done)) > 5
    document = search_whole.index.documents[job.document_id]
    assert document.metadata.company == "Apple"
    assert document.pages == job.total
    async with search_whole.line() as stub:
        for passage in list(search_whole.index.committed[job.document_id].values())[::20]:
            page = await stub.GetPage(pb.GetPageRequest(document_id=job.document_id, page=passage.page))
            assert page.text[passage.start : passage.end] == passage.text
    assert sorted(search_whole.files_of(job.document_id)) == ["original", "pages.gz"]
    await wait_until_async(lambda: job.id not in search_whole.incoming(), what="its bytes are removed")


async def test_the_same_bytes_twice_and_then_a_new_version(search_whole) -> None:
    data, uri = text(), "https://example.com/v.md"
    one, two = await asyncio.gather(
        search_whole.submit(data, "v.md", uri=uri), search_whole.submit(data, "v.md", uri=uri)
    )
    assert one.id == two.id
    first = await search_whole.ended(one.id)
    again = await search_whole.submit(data, "v.md", uri=uri)
    assert (again.state, again.unchanged, again.document_id) == (pb.JOB_STATE_SUCCEEDED, True, first.document_id)
    newer = await search_whole.add(text(), "v.md", uri=uri)
    assert (newer.state, newer.replaced) == (pb.JOB_STATE_SUCCEEDED, first.document_id)
    assert first.document_id not in search_whole.index.documents
    assert newer.document_id in search_whole.index.documents
    assert search_whole.files_of(first.document_id) == []


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "empty.pdf", "EMPTY_DOCUMENT"),
        (b"   \n ", "blank.txt", "EMPTY_DOCUMENT"),
        (b"PK\x03\x04 this is no pdf", "zip.pdf", None),
        (b"%PDF-1.7 and then nothing of use", "broken.pdf", "UNREADABLE"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "locked.xlsx", "ENCRYPTED"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "picture.md", "WRONG_TYPE"),
    ],
)
async def test_a_bad_file_fails_with_the_reason_and_leaves_nothing(search_whole, data, name, reason) -> None:
    job = await search_whole.add(data, name)
    assert job.state == pb.JOB_STATE_FAILED
    assert job.error.endswith(".")
    assert "\n" not in job.error
    assert job.error_reason not in ("", "INTERNAL")
    assert reason in (None, job.error_reason)
    assert search_whole.files_of(job.document_id) == []
    await wait_until_async(lambda: job.id not in search_whole.incoming(), what="its bytes are removed")
    assert job.document_id not in search_whole.index.staged


async def test_a_file_that_crashes_the_reader_costs_its_own_process_and_no_other(search_whole) -> None:
    children = search_whole.children()
    job = await search_whole.submit(b"CRASH " + text())
    after = await search_whole.submit(text(), "after.md")
    ended = await search_whole.ended(job.id)
    assert (ended.state, ended.error_reason, ended.attempts) == (pb.JOB_STATE_FAILED, "CRASHED_READER", 1)
    assert "crashed the reader" in ended.error
    assert (await search_whole.ended(after.id)).state == pb.JOB_STATE_SUCCEEDED
    await wait_until_async(lambda: job.id not in search_whole.incoming(), what="its bytes are removed")
    assert search_whole.children() == children


async def test_a_file_that_hangs_the_reader_fails_in_time(search_whole) -> None:
    job = await search_whole.add(b"HANG " + text())
    assert (job.state, job.error_reason, job.attempts) == (pb.JOB_STATE_FAILED, "READ_TIMEOUT", 1)
    assert "longer than 3 s" in job.error


@pytest.mark.parametrize("killed", ["reading process", "nursery", "child", "worker"])
async def test_a_file_is_not_blamed_when_what_reads_it_is_killed_from_outside(search_whole, killed) -> None:
    """As the OOM killer does it, or a restart. Each is tried again by itself, within a bound."""
    which = ("reading process", "nursery", "child", "worker").index(killed)
    job = await search_whole.submit(b"KILL %d " % which + text())
    if killed == "worker":
        for _ in range(3):
            await asyncio.to_thread(search_whole.processes["worker"].wait, 120)
            search_whole.start_crashing_worker()
    ended = await search_whole.ended(job.id)
    assert (ended.state, ended.error_reason, ended.attempts) == (pb.JOB_STATE_FAILED, "WORKER_LOST", 3)
    assert "replay the job" in ended.error
    assert job.id in search_whole.incoming()  # for a replay
    assert (await search_whole.add(text(), "after.md")).state == pb.JOB_STATE_SUCCEEDED


async def test_kill_9_of_the_child(search_whole) -> None:
    search_whole.index.gate.clear()
    submitted = await search_whole.submit(text())
    await wait_until_async(lambda: search_whole.index.waiting > 0, what="indexing")
    for pid in search_whole.children():
        os.kill(pid, signal.SIGKILL)
    search_whole.index.gate.set()
    job = await search_whole.ended(submitted.id)
    assert (job.state, job.attempts) == (pb.JOB_STATE_SUCCEEDED, 2)
    assert list(search_whole.index.committed[job.document_id])


async def test_kill_9_of_the_whole_worker(search_whole) -> None:
    search_whole.index.gate.clear()
    submitted = await search_whole.submit(text())
    await wait_until_async(lambda: search_whole.index.waiting > 0, what="indexing")
    search_whole.kill("worker")
    search_whole.index.gate.set()
    await wait_until_async(lambda: search_whole.index.waiting == 0, what="the child ends with its parent")
    search_whole.start_crashing_worker()
    job = await search_whole.ended(submitted.id)
    assert (job.state, job.attempts) == (pb.JOB_STATE_SUCCEEDED, 2)
    commits = [d for d, _, commit in search_whole.index.upserts if commit and d == job.document_id]
    assert len(commits) == 1


async def test_a_worker_that_is_told_to_stop_gives_its_job_back_at_once(search_whole) -> None:
    search_whole.index.gate.clear()
    submitted = await search_whole.submit(text())
    await wait_until_async(lambda: search_whole.index.waiting > 0, what="indexing")
    search_whole.kill("worker", signal.SIGTERM)
    waiting = await search_whole.job(submitted.id)
    assert (waiting.state, waiting.attempts) == (pb.JOB_STATE_QUEUED, 0)
    async with asyncio.timeout(120):  # the worker's sign of life runs out by itself
        while "worker" not in waiting.stage:
            await asyncio.sleep(0.1)
            waiting = await search_whole.job(submitted.id)
    search_whole.index.gate.set()
    search_whole.start_crashing_worker()
    job = await search_whole.ended(submitted.id)
    assert (job.state, job.attempts) == (pb.JOB_STATE_SUCCEEDED, 1)


async def test_kill_9_of_the_server(search_whole) -> None:
    search_whole.index.gate.clear()
    submitted = await search_whole.submit(text())
    await wait_until_async(lambda: search_whole.index.waiting > 0, what="indexing")
    search_whole.kill("server")
    search_whole.index.gate.set()
    search_whole.start_server()
    await search_whole.until_healthy()
    assert (await search_whole.ended(submitted.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_kill_9_of_redis_loses_no_job(search_whole) -> None:
    done = await search_whole.add(text(), "before.md")
    search_whole.index.gate.clear()
    running = await search_whole.submit(text(), "running.md")
    await wait_until_async(lambda: search_whole.index.waiting > 0, what="indexing")
    waiting = await search_whole.submit(text(), "waiting.md")
    search_whole.kill("redis")
    await search_whole.until_healthy(False)
    search_whole.start_redis()
    await search_whole.until_healthy()
    search_whole.index.gate.set()
    assert await search_whole.job(done.id) == done
    for job in (running, waiting):
        assert (await search_whole.ended(job.id)).state == pb.JOB_STATE_SUCCEEDED
    assert (await search_whole.add(text(), "after.md")).state == pb.JOB_STATE_SUCCEEDED


async def test_a_child_that_dies_while_redis_is_away_does_not_end_the_worker(search_whole) -> None:
    search_whole.kill("redis")
    for pid in search_whole.children():
        os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(0.5)  # long enough for Celery to fail at giving the message back
    search_whole.start_redis()
    await search_whole.until_healthy()
    assert (await search_whole.add(text())).state == pb.JOB_STATE_SUCCEEDED
    assert search_whole.processes["worker"].poll() is None


async def test_a_lost_message_is_sent_again(search_whole) -> None:
    search_whole.kill("worker", signal.SIGTERM)
    submitted = await search_whole.submit(text())
    client = redis.Redis(unix_socket_path=str(search_whole.socket))
    assert client.delete("quelea:search:messages:upload") == 1
    search_whole.start_crashing_worker()
    assert (await search_whole.ended(submitted.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_retriever_that_is_down_is_waited_for(search_whole) -> None:
    await search_whole.stop_retriever()
    submitted = await search_whole.submit(text())
    stages: list[str] = []

    async def look() -> None:
        while "index: waiting for the retriever" not in stages:
            stages.append((await search_whole.job(submitted.id)).stage)
            await asyncio.sleep(0.05)

    await asyncio.wait_for(look(), 60)
    await search_whole.start_retriever()
    job = await search_whole.ended(submitted.id)
    assert (job.state, job.attempts) == (pb.JOB_STATE_SUCCEEDED, 1)


async def test_delete(search_whole) -> None:
    job = await search_whole.add(text())
    passages = len(search_whole.index.committed[job.document_id])
    async with search_whole.line() as stub:
        request = pb.DeleteDocumentRequest(document_id=job.document_id)
        assert (await unary(stub.DeleteDocument(request, timeout=60))).passages == passages > 0
        with pytest.raises(NotFound):
            await unary(stub.DeleteDocument(request, timeout=60))
    assert job.document_id not in search_whole.index.documents
    assert search_whole.files_of(job.document_id) == []


async def test_the_trace_reaches_the_worker(search_whole) -> None:
    trace.set_tracer_provider(TracerProvider())
    with trace.get_tracer(__name__).start_as_current_span("test") as span:
        job = await search_whole.add(text())
    assert job.state == pb.JOB_STATE_SUCCEEDED
    trace_id = format(span.get_span_context().trace_id, "032x")
    assert any(
        trace_id in line and "job_begins" in line and job.id in line for line in search_whole.log("worker").splitlines()
    )
