"""Jobs that failed for a reason outside their document are kept and replayed; others leave nothing."""

from __future__ import annotations

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, NotFound, Overloaded, Unavailable
from quelea_search.core.web.errors import FetchFailed

TEXT = b"one\ntwo\nthree"


async def replay(room, *ids: str) -> list[pb.Job]:
    return list((await unary(room.stub.ReplayJobs(pb.ReplayJobsRequest(ids=ids), timeout=60))).jobs)


async def dead(room) -> list[str]:
    answer = await room.stub.ListJobs(pb.ListJobsRequest(replayable=True), timeout=60)
    assert all(job.replayable for job in answer.jobs)
    return [job.id for job in answer.jobs]


async def fail(room, data: bytes = TEXT, filename: str = "a.txt", uri: str = "") -> pb.Job:
    room.index.failures += [Unavailable("down")] * 100
    job = await room.add(data, filename, uri=uri)
    room.index.failures.clear()
    assert (job.state, job.replayable) == (pb.JOB_STATE_FAILED, True)
    return job


async def test_a_job_is_replayed_from_its_kept_bytes(search_room) -> None:
    job = await fail(search_room)
    assert await dead(search_room) == [job.id]
    await search_room.reaper.trim()
    assert search_room.files() == [f"incoming/{job.id}"]
    assert 0 < search_room.redis.ttl(f"test:job:{job.id}") <= 1000
    (again,) = await replay(search_room, job.id)
    assert (again.id, again.state, again.attempts, again.error) == (job.id, pb.JOB_STATE_QUEUED, 0, "")
    assert search_room.redis.ttl(f"test:job:{job.id}") == -1
    await search_room.work()
    ended = await search_room.job(job.id)
    assert (ended.state, ended.attempts, ended.replayable) == (pb.JOB_STATE_SUCCEEDED, 1, False)
    assert await dead(search_room) == []
    assert [name for name in search_room.files() if name.startswith("incoming")] == []
    assert set(search_room.index.documents) == {job.document_id}


async def test_all_are_replayed_oldest_first(search_room) -> None:
    jobs = [await fail(search_room, b"%d" % number, f"{number}.txt") for number in range(2)]
    bad = await search_room.add(b"locked")
    assert [job.id for job in await replay(search_room)] == [job.id for job in jobs]
    assert await replay(search_room) == []
    assert bad.id not in search_room.sent


async def test_what_cannot_be_replayed_says_why_and_nothing_is_queued(search_room) -> None:
    good = await fail(search_room)
    locked = await search_room.add(b"locked", "b.txt")
    done = await search_room.add(b"fine", "c.txt")
    for job_id, error, words in (
        (locked.id, Conflict, "ENCRYPTED"),
        (done.id, Conflict, "succeeded"),
        ("f" * 32, NotFound, "no job"),
    ):
        with pytest.raises(error, match=words):
            await replay(search_room, good.id, job_id)
    assert await dead(search_room) == [good.id]
    search_room.blobs.delete_incoming(good.id)
    with pytest.raises(Conflict, match="submit the file again"):
        await replay(search_room, good.id)


async def test_an_old_version_does_not_replace_a_newer_one(search_room) -> None:
    old = await fail(search_room, b"old", uri="u")
    newer = await search_room.add(b"newer", uri="u")
    with pytest.raises(Conflict, match="newer version"):
        await replay(search_room, old.id)
    assert await replay(search_room) == []
    assert set(search_room.index.documents) == {newer.document_id}


async def test_the_same_file_submitted_meanwhile_makes_a_replay_harmless(search_room) -> None:
    job = await fail(search_room)
    other = await search_room.submit(TEXT)
    assert other.id != job.id
    await replay(search_room, job.id)
    await search_room.work()
    assert (await search_room.job(job.id)).unchanged
    assert len(search_room.index.documents) == 1
    assert [key for key in search_room.redis.keys("test:*") if ":active:" in key or ":line:" in key] == []


async def test_a_full_queue_refuses_a_replay(search_room) -> None:
    job = await fail(search_room)
    for number in range(3):
        await search_room.submit(b"%d" % number, f"{number}.txt")
    with pytest.raises(Overloaded):
        await replay(search_room, job.id)
    assert await dead(search_room) == [job.id]


async def test_a_page_that_could_not_be_fetched_is_replayed_by_its_address(search_room) -> None:
    url = "https://example.com/a"
    search_room.web.pages[url] = FetchFailed("reset")
    job = await search_room.add_url(url)
    assert (job.replayable, job.error_reason) == (True, "FETCH_FAILED")
    search_room.web.pages[url] = TEXT
    await replay(search_room, job.id)
    await search_room.work()
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_fault_of_ours_keeps_the_bytes(search_room) -> None:
    job = await search_room.add(b"bug")
    assert (job.error_reason, job.replayable) == ("INTERNAL", True)
    assert "ZeroDivisionError" in job.error
    assert search_room.files() == [f"incoming/{job.id}"]


async def test_a_forgotten_dead_letter_leaves_nothing(search_room) -> None:
    import os

    job = await fail(search_room)
    search_room.redis.delete(f"test:job:{job.id}")  # what dead_letter_days does
    os.utime(search_room.folder / "incoming" / job.id, (1.0, 1.0))
    await search_room.reaper.trim()
    assert (search_room.files(), await dead(search_room)) == ([], [])
    assert search_room.redis.zcard("test:dead") == 0


async def test_many_that_succeed_do_not_push_out_a_dead_letter(search_room) -> None:
    job = await fail(search_room)
    for number in range(3):
        await search_room.add(b"%d" % number, f"{number}.txt")
    assert search_room.ledger.trim(1) == 2
    assert await dead(search_room) == [job.id]
    search_room.ledger.trim(0)
    assert await dead(search_room) == []
