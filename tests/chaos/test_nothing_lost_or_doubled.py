"""Workers, Redis and the retriever are killed at random while documents come in: nothing is lost, nothing doubled.

QUELEA_CHAOS_SECONDS (120) is how long, QUELEA_CHAOS_SEED (1) what is killed when. Every wait has a deadline.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import QueleaError
from quelea_kit.testing import wait_until_async
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_search import wire
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.redis_base import connect
from quelea_search.adapters.retriever import Retriever
from quelea_search.core.model import Chunk, DocumentFacts, ParseLimits
from quelea_search.core.web.model import Fetched
from quelea_search.jobs.file_parsing import read_file
from quelea_search.testing import Site
from quelea_search.web.page_parsing import parse_web_page

pytestmark = pytest.mark.asyncio(loop_scope="module")
T = TypeVar("T")

CHAOS_SECONDS = float(os.environ.get("QUELEA_CHAOS_SECONDS", "120"))
SEED = int(os.environ.get("QUELEA_CHAOS_SEED", "1"))
DOCUMENTS, CACHED, LINKED = 300, 50, 50
INSIST_SECONDS = 90.0
END_SECONDS = 300.0
REPLAYS = 5
PREFIX = "quelea:search"
LEFTOVERS = ("lease", "active", "line", "cleanup", "queued", "running", "dead", "webpages:removals")


def markdown(number: int) -> bytes:
    sections = [
        f"# Section {part} of report {number}\n\nNet sales of region {part} were {number * 37 + part} million.\n\n"
        for part in range(1 + number % 7)
    ]
    return "".join(sections).encode()


def html(number: int) -> bytes:
    sections = [
        f"<h2>Region {part} of note {number}</h2><p>Net sales of region {part} were {number * 41 + part} million in "
        f"2026, as the company said in its note {number}.</p>"
        for part in range(1 + number % 5)
    ]
    return f"<html><head><title>Note {number}</title></head><body>{''.join(sections)}</body></html>".encode()


def url_of(number: int) -> str:
    return f"http://{Site.HOST}/note-{number}"


def fetched(number: int) -> Fetched:
    url = url_of(number)
    return Fetched(url, url, url, 200, "text/html", "utf-8", html(number), time.time())


def ids_of(data: bytes, chunks: list[Chunk]) -> tuple[str, list[str]]:
    """The document's id, and the ids of its passages."""
    document_id = hashlib.sha256(data).hexdigest()[:32]
    return document_id, [passage.id for passage in wire.passages_of(document_id, chunks)]


def expected() -> dict[str, list[str]]:
    """Every document with exactly its passages, as the chunker gives them."""
    found = {}
    for number in range(DOCUMENTS):
        name = f"report-{number}.md"
        cut = read_file(markdown(number), name, DocumentFacts(), ParseLimits())
        document_id, passages = ids_of(markdown(number), list(cut.chunks))
        found[document_id] = passages
    for number in range(CACHED + LINKED):
        document = parse_web_page(fetched(number), ParseLimits(), today="2026-11-22")
        document_id, passages = ids_of(html(number), list(document.chunks))
        found[document_id] = passages
    assert len(found) == DOCUMENTS + CACHED + LINKED
    return found


async def insist(what: str, call: Callable[[], Awaitable[T]]) -> T:
    """As a careful client does: again, until it is taken."""
    end = time.monotonic() + INSIST_SECONDS
    while True:
        try:
            return await call()
        except QueleaError as error:
            assert time.monotonic() < end, f"{what}: not taken within {INSIST_SECONDS:g} s: {error!r}"
            await asyncio.sleep(0.2)


async def submit_all(stack: Any, rng: random.Random) -> None:
    """Everything, in random order, spread over the time of the havoc."""
    cache = PageCache(
        connect(stack.environment["QUELEA_SEARCH_REDIS_URL"]), PREFIX, Blobs(str(stack.folder / "blobs")), 9.0
    )

    async def document(number: int) -> None:
        await insist(f"document {number}", lambda: stack.submit(markdown(number), f"report-{number}.md"))

    async def useful(number: int) -> None:
        page = fetched(number)
        read = parse_web_page(page, ParseLimits(), today="2026-11-22")
        metadata = common_pb2.DocumentMetadata(title=read.facts.title, uri=page.url)
        one = pb.UsefulPage(document_id=read.document_id, url=page.url, score=0.9)
        request = pb.KeepPagesRequest(query=f"question {number}", provider="searxng", pages=[one])

        async def keep() -> None:
            await asyncio.to_thread(cache.put, read, page, metadata)
            async with stack.line() as stub:
                await unary(stub.KeepPages(request, timeout=60))

        await insist(f"page {number}", keep)

    async def link(number: int) -> None:
        stack.site.pages[f"/note-{number}"] = html(number)

        async def submit() -> None:
            async with stack.line() as stub:
                await unary(stub.SubmitUrl(pb.SubmitUrlRequest(url=url_of(number)), timeout=60))

        await insist(f"address {number}", submit)

    todo: list[tuple[Callable[[int], Awaitable[None]], int]] = [(document, n) for n in range(DOCUMENTS)]
    todo += [(useful, n) for n in range(CACHED)] + [(link, n) for n in range(CACHED, CACHED + LINKED)]
    rng.shuffle(todo)
    pause = 0.6 * CHAOS_SECONDS / len(todo)
    async with asyncio.TaskGroup() as group:
        for what, number in todo:
            group.create_task(what(number))
            await asyncio.sleep(pause)


async def havoc(stack: Any, rng: random.Random) -> Counter[str]:
    """kill -9 of one thing after another, each started again after a moment."""
    killed: Counter[str] = Counter()
    end = time.monotonic() + CHAOS_SECONDS
    while time.monotonic() < end:
        await asyncio.sleep(rng.uniform(0.5, 3.5))
        victim = rng.choice(["worker-1", "worker-2", "child", "redis", "retriever"])
        killed[victim] += 1
        if victim == "child":
            name = rng.choice(["worker-1", "worker-2"])
            for pid in stack.children(name) if stack.processes[name].poll() is None else []:
                os.kill(pid, signal.SIGKILL)
            continue
        stack.kill(victim)
        await asyncio.sleep(rng.uniform(0.0, 1.5))
        stack.start_missing()
    return killed


async def jobs_of(stack: Any) -> list[pb.Job]:
    async with stack.line() as stub:
        return list((await unary(stub.ListJobs(pb.ListJobsRequest(page_size=1000), timeout=60))).jobs)


async def until_all_ended(stack: Any) -> list[pb.Job]:
    end = time.monotonic() + END_SECONDS
    while True:
        jobs = await insist("the list of jobs", lambda: jobs_of(stack))
        going = [job for job in jobs if job.state in (pb.JOB_STATE_QUEUED, pb.JOB_STATE_RUNNING)]
        if not going:
            return jobs
        assert time.monotonic() < end, (
            f"{len(going)} of {len(jobs)} jobs have not ended within {END_SECONDS:g} s, for example {going[0]}; "
            f"worker-1:\n{stack.log('worker-1')[-2000:]}\nserver:\n{stack.log('server')[-2000:]}"
        )
        await asyncio.sleep(0.5)


async def until_no_failure(stack: Any) -> list[pb.Job]:
    """Jobs that were hit too often are on the dead-letter list, and come in from there."""
    for _ in range(REPLAYS):
        jobs = await until_all_ended(stack)
        failed = [job for job in jobs if job.state == pb.JOB_STATE_FAILED]
        if not failed:
            return jobs
        lost = [(job.error_reason, job.error, job.url, job.attempts) for job in failed if not job.replayable]
        assert lost == []
        async with stack.line() as stub:
            await unary(stub.ReplayJobs(pb.ReplayJobsRequest(), timeout=60))
    raise AssertionError(f"still failing after {REPLAYS} replays: {failed[0]}")


@pytest.mark.slow(reason="kills for QUELEA_CHAOS_SECONDS, then waits until 400 jobs have ended")
async def test_nothing_is_lost_and_nothing_doubled(chaos_stack: Any) -> None:
    wanted, rng = expected(), random.Random(SEED)
    stack = chaos_stack
    submitting = asyncio.create_task(submit_all(stack, random.Random(SEED)))
    killed = await havoc(stack, rng)
    stack.start_missing()
    await submitting
    await stack.until_healthy()
    jobs = await until_no_failure(stack)
    attempts = Counter(job.attempts for job in jobs)
    print(f"killed {dict(killed)}; {len(jobs)} jobs, by attempts {dict(sorted(attempts.items()))}")

    retriever = Retriever(f"127.0.0.1:{stack.retriever_port}")
    try:
        assert await insist("the documents", retriever.document_ids) == set(wanted)
        for document_id, passages in wanted.items():
            document = await retriever.get(document_id)
            assert document is not None
            assert document.passages == len(passages)
    finally:
        await retriever.close()

    await nothing_is_left(stack, set(wanted))
    await exactly_these_passages(stack, wanted)


async def nothing_is_left(stack: Any, wanted: set[str]) -> None:
    """No bytes, no keys, but those of the documents."""
    blobs, redis = stack.folder / "blobs", stack.redis()
    for path in (blobs / "incoming").iterdir():
        # Submissions that Redis did not take, which their senders repeated, are given up after some minutes.
        os.utime(path, (time.time() - 7200.0,) * 2)
    stack.kill("server")  # a server that starts looks for them at once
    stack.start_server()
    await stack.until_healthy()

    def leftovers() -> list[str]:
        files = [str(path) for path in (blobs / "incoming").iterdir()]
        files += [str(path) for path in (blobs / "documents").rglob("*.part")]
        keys = [key for name in LEFTOVERS for key in redis.keys(f"{PREFIX}:{name}*")]
        return files + keys

    await wait_until_async(lambda: not leftovers(), what=f"nothing is left: {leftovers()[:5]}")
    folders = {path.name: sorted(file.name for file in path.iterdir()) for path in (blobs / "documents").iterdir()}
    assert set(folders) == wanted
    assert {tuple(files) for files in folders.values()} == {("original", "pages.gz")}
    assert redis.zcard(f"{PREFIX}:webpages:kept") == CACHED + LINKED


async def exactly_these_passages(stack: Any, wanted: dict[str, list[str]]) -> None:
    """What lies in the store itself, once the retriever has removed what was never finished."""
    stack.kill("retriever", signal.SIGTERM)
    stack.environment["QUELEA_RETRIEVER_ORPHAN_SECONDS"] = "0"
    stack.start_retriever()
    retriever = Retriever(f"127.0.0.1:{stack.retriever_port}")
    assert await insist("the documents", retriever.document_ids) == set(wanted)
    await retriever.close()
    stack.kill("retriever", signal.SIGTERM)
    store = QdrantEdgeStore(stack.index)
    await store.open()
    try:
        versions = await store.versions()
        live = {record.version: record.facts.id for record in await store.records()}
        assert set(versions) == set(live)
        assert Counter(live.values()) == Counter(wanted.keys())
        for version, document_id in live.items():
            assert [passage.id for passage in await store.passages(version)] == wanted[document_id]
    finally:
        await store.close()
