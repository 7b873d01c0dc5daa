"""KeepPages, ListWebPages, DecideWebPages over real gRPC."""

from __future__ import annotations

import pytest
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import InvalidInput, NotFound, Overloaded, Unavailable
from quelea_search.jobs.ingest_job import run_job

URL, GOOD = "https://example.com/a", "https://www.good.example/b"
TEXT = b"first line\nsecond line\fsecond page"
KEPT, PENDING = pb.WEB_PAGE_STATE_KEPT, pb.WEB_PAGE_STATE_PENDING
REJECTED, APPROVE = pb.WEB_PAGE_STATE_REJECTED, pb.WEB_DECISION_APPROVE


async def test_a_page_of_a_trusted_host_enters_at_once_and_says_where_it_is_from(search_room) -> None:
    document_id = search_room.cached(f"{GOOD}?utm_source=x", TEXT, title="The title", published="2026-11-20")
    kept = await search_room.keep("What happened?", f"{GOOD}?utm_source=x", document_id, 0.93)
    assert kept.state == KEPT
    job = await search_room.job(kept.job_id)
    assert (job.state, job.lane, job.document_id) == (pb.JOB_STATE_QUEUED, pb.LANE_REFRESH, document_id)
    await search_room.work()
    assert (await search_room.job(kept.job_id)).state == pb.JOB_STATE_SUCCEEDED
    assert search_room.web.fetched == []  # read from the cache
    document = search_room.index.documents[document_id]
    assert (document.metadata.uri, document.metadata.provenance) == (GOOD, common_pb2.PROVENANCE_WEB)
    assert (document.metadata.title, document.metadata.published) == ("The title", "2026-11-20")
    (record,) = await search_room.listed()
    assert (record.canonical_url, record.host, record.state) == (GOOD, "www.good.example", KEPT)
    assert (record.reason, list(record.queries)) == ("host on the allow-list", ["What happened?"])
    assert (record.provider, record.score, record.document_id) == ("searxng", 0.93, document_id)
    assert (record.published, record.published_source, record.kind) == ("2026-11-20", "provider", "page")
    assert record.expires.seconds - record.fetched.seconds == 7 * 86_400
    assert not [name for name in search_room.files() if name.startswith("incoming")]


async def test_other_pages_wait_for_a_second_question(search_room) -> None:
    document_id = search_room.cached(URL, TEXT)
    for query in ("one question", "One  question?", "one question"):
        kept = await search_room.keep(query, URL, document_id)
        assert (kept.state, kept.job_id) == (PENDING, "")
    assert search_room.sent == []
    kept = await search_room.keep("another question", URL, document_id)
    assert kept.state == KEPT
    again = await search_room.keep("a third question", URL, document_id)
    assert again.job_id == kept.job_id  # on its way
    await search_room.work()
    assert set(search_room.index.documents) == {document_id}
    (record,) = await search_room.listed()
    assert (record.reason, len(record.queries)) == ("second use", 3)
    last = await search_room.keep("a fourth question", URL, document_id)
    assert (last.state, last.job_id, search_room.sent) == (KEPT, "", [])


async def test_quarantine_off(search_room) -> None:
    search_room.refresh_with(quarantine=False)
    assert (await search_room.keep("q", URL, search_room.cached(URL, TEXT))).state == KEPT


async def test_a_newer_version_replaces_the_older_one_at_once(search_room) -> None:
    old = search_room.cached(GOOD, b"old text")
    await search_room.keep("q", GOOD, old)
    await search_room.work()
    new = search_room.cached(GOOD, b"new text")
    await search_room.keep("q", GOOD, new)
    await search_room.work()
    assert set(search_room.index.documents) == {new}
    assert not [name for name in search_room.files() if name.startswith(f"documents/{old}")]
    assert [record.document_id for record in await search_room.listed()] == [new]


async def test_a_page_that_is_no_longer_cached_is_fetched(search_room) -> None:
    search_room.web.pages[GOOD] = TEXT
    kept = await search_room.keep("q", GOOD, "f" * 32)
    await search_room.work()
    assert (await search_room.job(kept.job_id)).state == pb.JOB_STATE_SUCCEEDED
    assert [url for url, _ in search_room.web.fetched] == [GOOD]


async def test_a_cached_page_opens_and_is_no_document(search_room) -> None:
    document_id = search_room.cached(URL, TEXT)
    page = await search_room.stub.GetPage(pb.GetPageRequest(document_id=document_id, page=2))
    assert (page.text, page.pages, page.metadata.uri) == ("second page", 2, URL)
    with pytest.raises(NotFound):
        await unary(search_room.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=document_id)))
    search_room.blobs.trim_cache(-1.0)
    with pytest.raises(NotFound):
        await unary(search_room.stub.GetPage(pb.GetPageRequest(document_id=document_id, page=2)))


async def test_a_full_lane_refuses_and_an_upload_still_finds_room(search_room) -> None:
    for number in range(3):
        await search_room.keep("q", f"{GOOD}/{number}", search_room.cached(f"{GOOD}/{number}", b"%d" % number))
    with pytest.raises(Overloaded):
        await search_room.keep("q", f"{GOOD}/3", search_room.cached(f"{GOOD}/3", b"3"))
    assert (await search_room.submit(b"upload")).state == pb.JOB_STATE_QUEUED
    await search_room.work()
    assert (await search_room.keep("q", f"{GOOD}/3", search_room.cached(f"{GOOD}/3", b"3"))).job_id
    await search_room.work()
    assert len(search_room.index.documents) == 5


async def test_approve(search_room) -> None:
    cached, gone = search_room.cached(URL, TEXT), "https://example.com/gone"
    search_room.web.pages[gone] = b"fetched anew"
    await search_room.keep("q", URL, cached)
    await search_room.keep("q", gone, "")
    done = await search_room.decide(APPROVE, states=[PENDING])
    assert len(done.job_ids) == len(done.pages) == 2
    again = await search_room.decide(APPROVE, hosts=["example.com"])  # as after an interruption
    assert sorted(again.job_ids) == sorted(done.job_ids)
    await search_room.work()
    assert {d.metadata.uri for d in search_room.index.documents.values()} == {URL, gone}
    assert {(record.state, record.reason) for record in await search_room.listed()} == {(KEPT, "approved")}
    assert list((await search_room.decide(APPROVE, hosts=["example.com"])).job_ids) == []


async def test_reject_takes_the_document_out_and_remembers(search_room) -> None:
    document_id = search_room.cached(GOOD, TEXT)
    await search_room.keep("q", GOOD, document_id)
    await search_room.work()
    done = await search_room.decide(pb.WEB_DECISION_REJECT, hosts=["good.example"])
    assert [page.state for page in done.pages] == [REJECTED]
    assert search_room.index.documents == {}
    assert not [name for name in search_room.files() if name.startswith("documents")]
    assert search_room.pages.rejected([GOOD]) == {GOOD}
    assert (await search_room.keep("another", GOOD, document_id)).state == REJECTED
    await search_room.decide(pb.WEB_DECISION_REJECT, hosts=["good.example"])
    await search_room.decide(APPROVE, urls=[GOOD])
    await search_room.work()
    assert set(search_room.index.documents) == {document_id}


async def test_roll_back_forgets(search_room) -> None:
    document_id = search_room.cached(GOOD, TEXT)
    await search_room.keep("q", GOOD, document_id)
    await search_room.work()
    first = await search_room.decide(pb.WEB_DECISION_ROLL_BACK, urls=[f"{GOOD}?utm_source=y"])
    assert len(first.pages) == 1
    assert (await search_room.listed(), search_room.index.documents) == ([], {})
    assert len((await search_room.decide(pb.WEB_DECISION_ROLL_BACK, urls=[GOOD])).pages) == 0
    assert (await search_room.keep("q", GOOD, document_id)).state == KEPT


async def test_a_rejection_that_was_interrupted_is_finished_by_the_server(search_room) -> None:
    document_id = search_room.cached(GOOD, TEXT)
    await search_room.keep("q", GOOD, document_id)
    await search_room.work()
    search_room.pages.take_out(GOOD, reject=True, reason="rejected")  # and then the server was killed
    assert set(search_room.index.documents) == {document_id}
    await search_room.reaper.take_out()
    assert search_room.index.documents == {}
    assert search_room.pages.removals() == []
    assert search_room.pages.find(GOOD).reason == "rejected"


async def test_a_page_that_is_rejected_on_its_way_in_does_not_come_in(search_room) -> None:
    document_id = search_room.cached(GOOD, TEXT)
    kept = await search_room.keep("q", GOOD, document_id)
    search_room.pages.take_out(GOOD, reject=True, reason="rejected")
    assert await search_room.removals.all() == [GOOD]  # its job comes first
    await search_room.work()
    assert (await search_room.job(kept.job_id)).error_reason == "REJECTED"
    assert await search_room.removals.all() == []
    assert search_room.index.documents == {}
    assert search_room.pages.find(GOOD).reason == "rejected"


async def test_what_came_in_under_another_name_stays(search_room) -> None:
    await search_room.add(TEXT, "mine.txt")
    document_id = search_room.cached(GOOD, TEXT)
    await search_room.keep("q", GOOD, document_id)
    await search_room.work()
    assert (await search_room.listed())[0].state == KEPT
    await search_room.decide(pb.WEB_DECISION_REJECT, urls=[GOOD])
    assert search_room.index.documents[document_id].metadata.uri.endswith("/mine.txt")
    assert search_room.blobs.header(document_id, stored=True)


async def test_a_page_whose_document_is_deleted_is_forgotten(search_room) -> None:
    document_id = search_room.cached(GOOD, TEXT)
    await search_room.keep("q", GOOD, document_id)
    await search_room.work()
    await unary(search_room.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=document_id)))
    assert await search_room.listed() == []


async def test_a_page_that_cannot_be_read_is_not_called_kept(search_room) -> None:
    document_id = search_room.cached(GOOD, TEXT)
    search_room.index.failures.append(InvalidInput("Too many passages."))
    kept = await search_room.keep("q", GOOD, document_id)
    await search_room.work()
    assert (await search_room.job(kept.job_id)).state == pb.JOB_STATE_FAILED
    (record,) = await search_room.listed()
    assert (record.state, record.reason) == (PENDING, "could not be brought in: INVALID_INPUT")


async def test_a_job_that_was_lost_before_it_was_made_is_made_by_the_look(search_room) -> None:
    def broken(*_args: object, **_options: object) -> None:
        raise Unavailable("killed")

    submit, search_room.store.submit = search_room.store.submit, broken
    with pytest.raises(Unavailable):
        await search_room.keep("q", GOOD, search_room.cached(GOOD, TEXT))
    search_room.store.submit = submit
    search_room.web.pages[GOOD] = TEXT
    search_room.pages._now = lambda: search_room.pages.find(GOOD).due + 1
    (job,) = search_room.refresh.look()
    await run_job(search_room.parts, job.id)
    assert [record.state for record in await search_room.listed()] == [KEPT]
    assert len(search_room.index.documents) == 1


@pytest.mark.parametrize("wanted", [{}, {"hosts": [""]}, {"states": [99]}, {"urls": ["gopher://x"]}])
async def test_a_decision_must_say_which_pages(search_room, wanted) -> None:
    with pytest.raises(InvalidInput):
        await search_room.decide(pb.WEB_DECISION_ROLL_BACK, **wanted)


async def test_a_decision_must_say_what(search_room) -> None:
    with pytest.raises(InvalidInput):
        await search_room.decide(0, hosts=["example.com"])
