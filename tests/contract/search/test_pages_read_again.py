"""Pages whose time is up are read again: unchanged, changed, gone, lost."""

from __future__ import annotations

import time

from quelea.search.v1 import search_pb2 as pb
from quelea_search.core.jobs import JobState
from quelea_search.core.web.errors import RefusedByRobots
from quelea_search.core.web.pages import PageState
from support.search_room import id_of

URL = "https://example.com/a"
TEXT = b"first line\nsecond line\fsecond page"
DAY = 86_400


def overdue(room) -> None:
    """The day after everything has expired, and the look before is long past."""
    room.redis.delete("test:first:look")
    room.pages._now = lambda: time.time() + 1000 * DAY


async def reread(room) -> list[pb.Job]:
    overdue(room)
    jobs = room.refresh.look()
    await room.work()
    return [await room.job(job.id) for job in jobs]


async def test_a_page_that_has_not_changed_is_only_renewed(search_room) -> None:
    search_room.web.pages[URL], search_room.web.etags[URL] = TEXT, '"1"'
    await search_room.add_url(URL)
    (before,) = await search_room.listed()
    first = search_room.index.documents[id_of(TEXT)].fetched.ToNanoseconds()
    upserts = len(search_room.index.upserts)
    (job,) = await reread(search_room)
    assert (job.state, job.unchanged, job.lane) == (pb.JOB_STATE_SUCCEEDED, True, pb.LANE_REREAD)
    assert job.document_id == id_of(TEXT)
    assert search_room.web.fetched[-1][1].etag == '"1"'
    (after,) = await search_room.listed()
    assert after.fetched.ToNanoseconds() > before.fetched.ToNanoseconds()
    assert after.expires.ToNanoseconds() > before.expires.ToNanoseconds()
    assert search_room.index.documents[id_of(TEXT)].fetched.ToNanoseconds() > first
    assert search_room.index.upserts[upserts:] == [(id_of(TEXT), 0, True)]
    assert len(search_room.index.committed[id_of(TEXT)]) == 3


async def test_the_same_bytes_without_validators_are_only_renewed_too(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    await search_room.add_url(URL)
    (job,) = await reread(search_room)
    assert job.unchanged
    assert [number for _, number, commit in search_room.index.upserts if commit] == [1, 0]
    assert [name for name in search_room.files() if name.startswith("incoming")] == []


async def test_a_changed_page_replaces_its_older_version(search_room) -> None:
    search_room.web.pages[URL], search_room.web.etags[URL] = TEXT, '"1"'
    await search_room.add_url(URL)
    search_room.web.pages[URL], search_room.web.etags[URL] = b"new text, news", '"2"'
    (job,) = await reread(search_room)
    assert (job.state, job.unchanged) == (pb.JOB_STATE_SUCCEEDED, False)
    assert set(search_room.index.documents) == {id_of(b"new text, news")}
    assert not [name for name in search_room.files() if id_of(TEXT) in name]
    (record,) = await search_room.listed()
    assert (record.document_id, record.kind) == (id_of(b"new text, news"), "news")
    assert record.expires.seconds - record.fetched.seconds == DAY


async def test_a_vanished_page_is_marked_and_stays_and_may_come_back(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    await search_room.add_url(URL)
    gone = search_room.web.pages.pop(URL)
    for _ in range(4):
        (job,) = await reread(search_room)
        assert (job.state, job.error_reason, job.replayable) == (pb.JOB_STATE_FAILED, "GONE", False)
    assert await reread(search_room) == []  # looked for often enough
    (record,) = await search_room.listed(states=[pb.WEB_PAGE_STATE_VANISHED])
    assert record.reason.startswith("404 since 20")
    assert set(search_room.index.documents) == {id_of(TEXT)}
    search_room.web.pages[URL] = gone
    await search_room.add_url(URL)
    assert search_room.pages.find(URL).state is PageState.KEPT


async def test_a_page_that_cannot_be_read_just_now_stays_and_is_read_later(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    await search_room.add_url(URL)
    search_room.web.pages[URL] = RefusedByRobots("no more")
    await reread(search_room)
    page = search_room.pages.find(URL)
    assert (page.state, page.document_id) == (PageState.KEPT, id_of(TEXT))
    assert page.due > time.time() + 6 * DAY


async def test_several_beats_do_not_double_the_work(search_room) -> None:
    for number in range(4):
        search_room.web.pages[f"{URL}{number}"] = b"%d" % number
        await search_room.add_url(f"{URL}{number}")
    search_room.refresh_with(rereads_per_look=2)
    overdue(search_room)
    assert len(search_room.refresh.look()) == 2
    assert search_room.refresh.look() == []
    assert search_room.store.count(JobState.QUEUED) == 2


async def test_a_page_whose_document_was_lost_is_read_again_whole(search_room) -> None:
    search_room.web.pages[URL], search_room.web.etags[URL] = TEXT, '"1"'
    await search_room.add_url(URL)
    search_room.index.documents.clear()
    search_room.index.committed.clear()
    (job,) = await reread(search_room)
    assert (job.state, job.unchanged) == (pb.JOB_STATE_SUCCEEDED, False)
    assert set(search_room.index.documents) == {id_of(TEXT)}
