"""Jobs by URL that users submit: names, turns, errors, what is remembered."""

from __future__ import annotations

import dataclasses

import pytest
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, InvalidInput, PermissionDenied
from quelea_search.adapters.jobs_redis import LeaseLost
from quelea_search.core import jobs, records
from quelea_search.core.jobs import JobState
from quelea_search.core.web.errors import BadStatus, FetchFailed, PageTimeout, RefusedByRobots
from quelea_search.core.web.page_source import PageSource
from quelea_search.jobs.ingest_job import run_job
from support.search_room import id_of

URL = "https://example.com/a"
TEXT = b"first line\nsecond line\fsecond page"


async def test_a_page_comes_in_under_its_canonical_address(search_room) -> None:
    search_room.web.pages["https://example.com/a?x=1"] = TEXT
    job = await search_room.submit_url("HTTPS://Example.com:443/a?x=1&utm_source=mail#top")
    assert (job.state, job.lane, job.url) == (pb.JOB_STATE_QUEUED, pb.LANE_UPLOAD, "https://example.com/a?x=1")
    assert (job.document_id, job.filename) == ("", "a")
    await search_room.work()
    ended = await search_room.job(job.id)
    assert (ended.state, ended.document_id, ended.total) == (pb.JOB_STATE_SUCCEEDED, id_of(TEXT), 2)
    document = search_room.index.documents[id_of(TEXT)]
    assert document.metadata.uri == "https://example.com/a?x=1"
    assert document.metadata.provenance == common_pb2.PROVENANCE_WEB
    assert document.fetched.seconds > 0
    assert [name for name in search_room.files() if not name.startswith("documents")] == []
    (record,) = await search_room.listed()
    assert (record.state, record.reason) == (pb.WEB_PAGE_STATE_KEPT, "submitted by a user")
    assert [key for key in search_room.redis.keys("test:*") if ":lease:" in key or ":active:" in key] == []
    assert search_room.redis.keys("test:line:*") == []


async def test_what_the_user_says_wins_over_what_the_page_says(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    await search_room.add_url(URL, title="mine", published="2020-01-01", company="Apple", uri="ignored")
    metadata = search_room.index.documents[id_of(TEXT)].metadata
    assert (metadata.title, metadata.published, metadata.company, metadata.uri) == ("mine", "2020-01-01", "Apple", URL)
    assert metadata.language == "en"
    assert (await search_room.listed())[0].published_source == "user"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("", InvalidInput),
        ("gopher://example.com", InvalidInput),
        ("https://user@example.com/", InvalidInput),
        ("http://127.0.0.1/", PermissionDenied),
        ("http://0x7f000001/", PermissionDenied),
        ("http://[::ffff:10.0.0.1]/", PermissionDenied),
        ("http://localhost/", PermissionDenied),
        ("https://example.com:22/", PermissionDenied),
        ("https://www.bad.example/", PermissionDenied),
        (f"https://example.com/{'a' * 3000}", InvalidInput),
    ],
)
async def test_a_bad_address_is_refused_at_once(search_room, url: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        await search_room.submit_url(url)
    assert search_room.sent == []


async def test_without_a_web_it_says_what_to_set(search_room) -> None:
    search_room.refresh_with(web=False)
    with pytest.raises(Conflict, match="QUELEA_SEARCH_WEB"):
        await search_room.submit_url(URL)
    with pytest.raises(Conflict, match="QUELEA_SEARCH_WEB"):
        await search_room.keep("q", URL, "")
    assert search_room.refresh.look() == []


async def test_the_same_address_twice_is_one_job(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    one, two = await search_room.submit_url(URL), await search_room.submit_url(f"{URL}#x")
    assert one.id == two.id
    await search_room.work()
    again = await search_room.add_url(URL)
    assert (again.state, again.unchanged) == (pb.JOB_STATE_SUCCEEDED, True)
    assert [commit for _, _, commit in search_room.index.upserts if commit] == [True, True]  # the second: its date


async def test_a_redirect_decides_the_name(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    search_room.web.moved["https://short.example.com/x"] = URL
    job = await search_room.add_url("https://short.example.com/x")
    assert search_room.index.documents[job.document_id].metadata.uri == URL
    assert [record.canonical_url for record in await search_room.listed()] == [URL]
    assert search_room.redis.keys("test:line:*") == []


async def test_a_page_waits_its_turn_behind_an_earlier_version(search_room) -> None:
    search_room.web.pages[URL] = b"newer"
    search_room.web.moved["https://short.example.com/x"] = URL
    first = await search_room.submit(b"older", uri=URL)
    second = await search_room.submit_url("https://short.example.com/x")
    search_room.sent.clear()
    held = search_room.store.claim(first.id, "somebody", lambda _owner: False)
    await run_job(search_room.parts, second.id)
    waiting = await search_room.job(second.id)
    assert (waiting.state, waiting.attempts, search_room.index.upserts) == (pb.JOB_STATE_QUEUED, 0, [])
    search_room.store.end(held, lambda job: jobs.give_back(job, now=1))
    search_room.sent[:] = [first.id]
    await search_room.work()  # the end of the first wakes the second
    assert set(search_room.index.documents) == {id_of(b"newer")}
    assert (await search_room.job(second.id)).attempts == 1
    assert len(search_room.web.fetched) == 1  # its bytes were kept


async def test_a_page_waits_while_another_job_works_on_the_same_bytes(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    upload = await search_room.submit(TEXT, "mine.txt")
    page = await search_room.submit_url(URL)
    search_room.sent.clear()
    held = search_room.store.claim(upload.id, "somebody", lambda _owner: False)
    await run_job(search_room.parts, page.id)
    assert search_room.store.get(page.id).state is JobState.QUEUED
    assert search_room.store.claim(page.id, "w", lambda _owner: False) is None
    search_room.store.end(held, lambda job: jobs.give_back(job, now=1))
    search_room.sent[:] = [upload.id, page.id]
    await search_room.work()
    assert (await search_room.job(page.id)).unchanged
    assert len(search_room.index.documents) == 1


async def test_a_lost_worker_does_not_fetch_twice(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    job = await search_room.submit_url(URL)
    search_room.sent.clear()
    claimed = search_room.store.claim(job.id, "gone", lambda _owner: False)
    upload = search_room.blobs.upload(job.id)
    upload.write(TEXT)
    document_id = upload.commit()
    page = records.encode(PageSource(URL, URL, URL, "text/plain", "", 1.0))
    taken = search_room.store.take_id(claimed, document_id=document_id, uri=URL, page=page)
    assert (taken.state, taken.document_id) == (JobState.RUNNING, document_id)
    again = search_room.store.take_id(claimed, document_id=document_id, uri=URL, page=taken.page)
    assert again.document_id == document_id  # the answer to the first was lost
    stranger = dataclasses.replace(claimed, token="another")
    with pytest.raises(LeaseLost):
        search_room.store.take_id(stranger, document_id=document_id, uri=URL, page=page)
    search_room.redis.delete(f"test:lease:{document_id}")
    await search_room.reaper.look_after_jobs()
    await search_room.work()
    assert (await search_room.job(job.id)).attempts == 2
    assert set(search_room.index.documents) == {document_id}
    assert search_room.web.fetched == []


@pytest.mark.parametrize(
    ("failure", "tries", "replayable"),
    [
        (PageTimeout("Too slow."), 3, True),
        (FetchFailed("No connection."), 3, True),
        (BadStatus("Status 503.", details={"status": "503"}), 3, True),
        (BadStatus("Status 403.", details={"status": "403"}), 1, False),
        (RefusedByRobots("robots.txt."), 1, False),
        (None, 1, False),  # gone
    ],
)
async def test_errors_of_the_fetch_are_the_jobs_errors(search_room, failure, tries: int, replayable: bool) -> None:
    if failure is not None:
        search_room.web.pages[URL] = failure
    job = await search_room.add_url(URL)
    assert (job.state, job.error_reason) == (pb.JOB_STATE_FAILED, failure.reason if failure else "GONE")
    assert job.error
    assert (len(search_room.web.fetched), job.replayable) == (tries, replayable)
    assert search_room.files() == []
    assert search_room.redis.keys("test:line:*") == []


async def test_a_passing_error_is_healed_by_another_try(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    search_room.web.failures = [FetchFailed("reset"), PageTimeout("slow")]
    assert (await search_room.add_url(URL)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_rejected_page_is_not_submitted(search_room) -> None:
    search_room.web.pages[URL] = TEXT
    await search_room.add_url(URL)
    await search_room.decide(pb.WEB_DECISION_REJECT, urls=[URL])
    with pytest.raises(Conflict, match="rejected"):
        await search_room.submit_url(URL)
    search_room.web.moved["https://short.example.com/x"] = URL
    job = await search_room.add_url("https://short.example.com/x")
    assert (job.error_reason, search_room.index.documents) == ("REJECTED", {})
    assert search_room.files() == []


async def test_an_attempt_that_died_after_its_commit_is_remembered_by_the_next(search_room) -> None:
    search_room.web.pages[URL] = b"news of today"
    job = await search_room.submit_url(URL)
    update = search_room.pages.update

    def killed(*_args: object) -> None:
        raise SystemError("killed")

    search_room.pages.update = killed
    end, search_room.store.end = search_room.store.end, killed
    with pytest.raises(SystemError):
        await search_room.work()
    search_room.pages.update, search_room.store.end = update, end
    assert (await unary(search_room.stub.ListWebPages(pb.ListWebPagesRequest()))).total == 0
    search_room.redis.delete(f"test:lease:{id_of(b'news of today')}")
    await search_room.reaper.look_after_jobs()
    await search_room.work()
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED
    (record,) = await search_room.listed()
    assert (record.kind, record.document_id) == ("news", id_of(b"news of today"))
