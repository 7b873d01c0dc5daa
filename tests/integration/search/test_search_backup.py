"""Jobs before a loss of Redis and after: what was queued is done once, what had ended is known."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import QueleaError
from quelea_kit.testing import wait_until_async
from quelea_search.testing import SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _text(name: str) -> bytes:
    return f"# {name}\n\nNet sales of {name} were 12 million.\n".encode()


async def _admin(stack, *words: str, code: int = 0) -> str:
    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "quelea_search.admin", *words],
            env=stack.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    done = await asyncio.to_thread(run)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def _keys(stack) -> set[str]:
    passing = ("messages:", "unacked", "lease:", "workers", "ready", "first:", "results:")
    prefix = stack.environment.get("QUELEA_SEARCH_REDIS_PREFIX", "quelea:search") + ":"
    names = [name.removeprefix(prefix) for name in stack.redis().keys(f"{prefix}*")]
    return {name for name in names if not name.startswith(passing)}


def _commits(stack) -> Counter[str]:
    return Counter(document for document, _, commit in stack.index.upserts if commit)


async def test_what_was_queued_is_done_once_after_a_restore(search_whole, tmp_path: Path) -> None:
    stack, place = search_whole, str(tmp_path / "kept")
    ended = await stack.add(_text("ended"), "ended.md")
    # Killed before it has removed the bytes, they would come back with each restore until the next trim, in a minute.
    await wait_until_async(lambda: not stack.incoming(), seconds=SECONDS, what="the bytes of ended jobs are gone")
    stack.kill("worker")
    queued = [await stack.submit(_text(f"queued {n}"), f"q{n}.md", uri=f"u:{n}") for n in range(3)]
    client = stack.redis()
    before = {name: client.pttl(name) for name in client.keys("*:job:*")}
    told = await _admin(stack, "backup", "--to", place, "--blobs", "--keep", "2")
    assert "files" in told
    kept = _keys(stack)
    assert len(kept) > 5
    refused = await _admin(stack, "restore", "--from", place, code=1)
    assert "--replace" in refused
    assert _keys(stack) == kept

    # All of Redis is lost before anything was done: server and workers go on beside an empty one.
    client.flushall()
    for path in (stack.folder / "blobs" / "incoming").iterdir():
        path.unlink()
    assert "are back" in await _admin(stack, "restore", "--from", place, "--blobs")
    assert _keys(stack) >= kept
    after = {name: client.pttl(name) for name in client.keys("*:job:*")}
    assert after.keys() == before.keys()
    assert all(0 <= before[name] - after[name] < 120_000 for name in before if before[name] > 0)
    assert all(after[name] == -1 for name in before if before[name] == -1)
    commits = _commits(stack)
    stack.start_crashing_worker()
    for job in queued:
        done = await stack.ended(job.id)
        assert (done.state, done.unchanged) == (pb.JOB_STATE_SUCCEEDED, False)
        assert _commits(stack)[done.document_id] == commits[done.document_id] + 1
    assert (await stack.job(ended.id)).state == pb.JOB_STATE_SUCCEEDED
    await wait_until_async(lambda: not stack.incoming(), seconds=SECONDS, what="the bytes of ended jobs are gone")

    # It is lost again, after the work was done: the same backup queues it again, and nothing is done twice.
    done_by_then = _commits(stack)
    assert "are back" in await _admin(stack, "restore", "--from", place, "--blobs", "--replace")
    for job in queued:
        again = await stack.ended(job.id)
        assert (again.state, again.unchanged) == (pb.JOB_STATE_SUCCEEDED, True)
    assert _commits(stack) == done_by_then
    await wait_until_async(lambda: not stack.incoming(), seconds=SECONDS, what="the bytes of ended jobs are gone")
    async with stack.line() as stub:
        page = await unary(stub.GetPage(pb.GetPageRequest(document_id=queued[0].document_id, page=1)))
        assert "12 million" in page.text


async def test_a_running_job_and_a_dead_letter_survive(search_whole, tmp_path: Path) -> None:
    stack, place = search_whole, str(tmp_path / "kept")
    stack.index.failures = [QueleaError("a fault of the retriever")]
    dead = await stack.add(_text("dead"), "dead.md")
    assert (dead.state, dead.error_reason) == (pb.JOB_STATE_FAILED, "INTERNAL")
    stack.index.gate.clear()
    running = await stack.submit(_text("running"), "running.md")
    await wait_until_async(lambda: stack.index.waiting, seconds=SECONDS, what="the job is at its Upsert")
    await _admin(stack, "backup", "--to", place)
    stack.kill("worker")
    stack.redis().flushall()
    stack.index.gate.set()
    assert "made without files" in await _admin(stack, "restore", "--from", place, "--blobs", code=1)
    await _admin(stack, "restore", "--from", place)
    stack.start_crashing_worker()
    done = await stack.ended(running.id)
    assert done.state == pb.JOB_STATE_SUCCEEDED
    async with stack.line() as stub:
        replayed = await unary(stub.ReplayJobs(pb.ReplayJobsRequest(ids=[dead.id])))
    assert [job.id for job in replayed.jobs] == [dead.id]
    assert (await stack.ended(dead.id)).state == pb.JOB_STATE_SUCCEEDED
    assert _commits(stack)[running.document_id] == _commits(stack)[dead.document_id] == 1


async def test_a_redis_that_is_away_is_said_so_and_leaves_no_backup(search_whole, tmp_path: Path) -> None:
    stack, place = search_whole, tmp_path / "kept"
    environment = {**stack.environment, "QUELEA_SEARCH_REDIS_URL": "redis://127.0.0.1:1/0"}
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "quelea_search.admin", "backup", "--to", str(place)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Redis" in done.stderr
    assert list(place.iterdir()) == []
