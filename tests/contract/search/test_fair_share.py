"""Nobody's flood of files holds up another's upload: places to work, room to wait, and whose turn it is."""

from __future__ import annotations

import asyncio

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.errors import Overloaded
from quelea_kit.testing import wait_until_async
from quelea_search.core.jobs import JobState, Lane, Waiting, in_turn, most_waiting, share_of
from quelea_search.jobs.ingest_job import run_job
from quelea_search.settings import SearchSettings, default_concurrency
from support.search_room import Room

FLOOD = 10
PLACES = 3


async def place(room: Room) -> None:
    """A child of a worker, until cancelled."""
    while True:
        while room.sent:
            await run_job(room.parts, room.sent.pop(0))
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("search_room", [20], indirect=True)
async def test_ten_slow_files_of_one_key_do_not_hold_up_the_upload_of_another(search_room) -> None:
    reader = search_room.parts.reader
    slow = [
        await search_room.submit(b"slow %d" % number, f"{number}.txt", uploader="a", piece=99)
        for number in range(FLOOD)
    ]
    async with asyncio.TaskGroup() as group:
        places = [group.create_task(place(search_room)) for _ in range(PLACES)]
        await wait_until_async(lambda: not search_room.sent and len(reader.reading) == 2, what="two files are read")
        assert set(reader.reading) == {"0.txt", "1.txt"}  # of three places one is left for others
        small = await search_room.submit(b"small", "small.txt", uploader="b", piece=99)
        await wait_until_async(
            lambda: search_room.store.get(small.id).state is JobState.SUCCEEDED, what="the other key's file is in"
        )
        assert len(reader.reading) == 2  # and not one of the flood was needed for it
        more = [await search_room.submit(b"slow too %d" % n, f"b{n}.txt", uploader="b", piece=99) for n in range(2)]
        await wait_until_async(lambda: len(reader.reading) == PLACES, what="the other key has its place")
        for _ in range(FLOOD + len(more)):
            reader.slow.release()
        # Whoever ends wakes the next: no message is left that could.
        for job in (*slow, *more):
            await wait_until_async(
                lambda job=job: search_room.store.get(job.id).state is JobState.SUCCEEDED, what=job.filename
            )
        for task in places:
            task.cancel()
    assert reader.reading.index("b1.txt") < reader.reading.index("4.txt")
    assert search_room.redis.keys("test:turns:*") == []


@pytest.mark.parametrize("search_room", [10], indirect=True)
async def test_one_key_does_not_fill_the_queue_for_others(search_room) -> None:
    for number in range(8):
        await search_room.submit(b"%d" % number, uploader="a")
    with pytest.raises(Overloaded, match="8 documents of this key are already waiting") as refused:
        await search_room.submit(b"one more", uploader="a")
    assert refused.value.retry_after
    for number in range(2):
        await search_room.submit(b"b%d" % number, uploader="b")
    with pytest.raises(Overloaded, match="10 documents are already waiting"):
        await search_room.submit(b"one more", uploader="c")


@pytest.mark.parametrize("search_room", [90], indirect=True)
async def test_many_versions_of_one_document_do_not_hide_what_waits_behind_them(search_room) -> None:
    versions = [
        await search_room.submit(b"version %d" % number, uri="u", uploader="a", piece=99) for number in range(50)
    ]
    other = await search_room.submit(b"another", uploader="a")
    assert search_room.parts.next_jobs(Lane.UPLOAD) == [versions[0].id, other.id]
    # Their order is that of their line, not of their age: a replayed job is the oldest, and comes last.
    first = search_room.store.get(versions[0].id)
    line = search_room.store._line(first.name)
    search_room.redis.lmove(line, line, "LEFT", "RIGHT")
    assert search_room.parts.next_jobs(Lane.UPLOAD) == [versions[1].id, other.id]


async def test_a_lost_message_of_a_key_that_has_its_share_is_not_sent_for_nothing(search_room) -> None:
    jobs = [await search_room.submit(b"slow %d" % number, f"{number}.txt", uploader="a") for number in range(3)]
    for job in jobs[:2]:
        assert search_room.store.claim(job.id, "elsewhere", lambda _owner: False, share=2)
    assert search_room.store.claim(jobs[2].id, "elsewhere", lambda _owner: False, share=2) is None
    search_room.sent.clear()
    assert search_room.parts.next_jobs(Lane.UPLOAD) == []
    assert (await search_room.job(jobs[2].id)).state == pb.JOB_STATE_QUEUED


def test_turns() -> None:
    flood = [Waiting(name, name[0]) for name in ("a1", "a2", "a3", "b1", "c1", "b2")]
    assert list(in_turn(flood, [], 9)) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert list(in_turn(flood, ["a"], 9))[:3] == ["b1", "c1", "a1"]
    assert list(in_turn(flood, ["a", "a", "x"], 2)) == ["b1", "c1", "b2"]
    assert [share_of(places) for places in (1, 2, 3, 8)] == [1, 1, 2, 7]
    assert [most_waiting(places) for places in (1, 3, 10, 1000)] == [1, 3, 8, 800]


def test_two_files_of_one_key_are_read_at_once_by_default() -> None:
    places = SearchSettings().worker_concurrency
    assert places == default_concurrency() >= 3
    assert share_of(places) >= 2
