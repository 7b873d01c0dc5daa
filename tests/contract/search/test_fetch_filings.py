"""Filings come through the door over real gRPC and HTTP; behind it lie recorded replies of EDGAR and cninfo."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import date
from io import BytesIO
from pathlib import Path

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Overloaded, Unavailable
from quelea_search.door.core.bundle import BundleLimits, write_bundle
from quelea_search.door.core.model import Refused
from support.filing_sources import (
    CONTACT,
    MOUTAI_2022,
    MOUTAI_2023,
    NFLX_2023,
    NFLX_2024,
    Sources,
    filing_sources,
)
from support.search_room import Room

TODAY = date(2025, 11, 25)


@pytest.fixture
async def sources(tmp_path: Path, search_room: Room) -> AsyncIterator[Sources]:
    async with filing_sources(tmp_path / "door") as found:
        search_room.fetch_through(found.door, filings_contact=CONTACT, max_queued_jobs=50)
        search_room.fetch._today = lambda: TODAY
        yield found


async def fetch(
    room: Room, company: str, *forms: str, years: int = 3, bundles: tuple[str, ...] = ()
) -> pb.FetchFilingsResponse:
    request = pb.FetchFilingsRequest(company=company, forms=forms, years=years, bundle_ids=bundles)
    return await unary(room.stub.FetchFilings(request, timeout=60))


async def test_filings_become_documents_that_say_where_they_are_from(search_room: Room, sources: Sources) -> None:
    found = await fetch(search_room, "netflix", "10-K")
    assert (found.source, found.company, found.ticker) == ("edgar", "NETFLIX INC", "NFLX")
    assert (found.filed_from, found.filed_to) == ("2022-11-25", "2025-11-25")
    assert [one.url for one in found.filings] == [NFLX_2024, NFLX_2023]
    assert all(one.job.state == pb.JOB_STATE_QUEUED and one.job.url == one.url for one in found.filings)
    await search_room.work()
    jobs = [await search_room.job(one.job.id) for one in found.filings]
    assert [job.state for job in jobs] == [pb.JOB_STATE_SUCCEEDED] * 2, jobs
    said = search_room.index.documents[jobs[0].document_id].metadata
    assert (said.uri, said.filing_id, said.ticker) == (NFLX_2024, "edgar:0001065280-25-000044", "NFLX")
    assert (said.company, said.document_type, said.published) == ("NETFLIX INC", "10-K", "2025-01-27")
    assert said.period.end_date == "2024-12-31"
    assert {question.headers["user-agent"] for question in sources.upstream.asked} == {CONTACT}


async def test_what_is_stored_is_not_fetched_again(search_room: Room, sources: Sources) -> None:
    await fetch(search_room, "NFLX", "10-K", years=1)
    await search_room.work()
    asked = len(sources.asked)
    again = await fetch(search_room, "CIK1065280", "10-K")
    assert [(bool(one.document_id), one.HasField("job")) for one in again.filings] == [(True, False), (False, True)]
    await search_room.work()
    assert sources.asked.count(NFLX_2024) == 1
    assert len(sources.asked) == asked + 1  # the older report; lists come from the door's cache
    search_room.index.documents.pop(again.filings[0].document_id)
    assert (await fetch(search_room, "NFLX", "10-K", years=1)).filings[0].HasField("job")


async def test_a_filing_that_is_on_its_way_is_not_queued_twice(search_room: Room, sources: Sources) -> None:
    first, second = [await fetch(search_room, "NFLX", "10-K", years=1) for _ in range(2)]
    assert first.filings[0].job.id == second.filings[0].job.id
    assert len(search_room.sent) == 1


async def test_bytes_that_were_uploaded_before_are_recognised(search_room: Room, sources: Sources) -> None:
    uploaded = await search_room.add(sources.upstream.answers[NFLX_2024], "mine.txt")
    found = await fetch(search_room, "NFLX", "10-K", years=1)
    await search_room.work()
    job = await search_room.job(found.filings[0].job.id)
    assert (job.state, job.unchanged, job.document_id) == (pb.JOB_STATE_SUCCEEDED, True, uploaded.document_id)
    assert (await fetch(search_room, "NFLX", "10-K", years=1)).filings[0].document_id == uploaded.document_id


async def test_a_current_report_comes_with_its_exhibits(search_room: Room, sources: Sources) -> None:
    found = await fetch(search_room, "DATS", "8-K")
    assert sorted(one.form for one in found.filings) == ["8-K", "EX-99.1", "EX-99.2", "EX-99.3"]
    assert {one.id for one in found.filings} == {"edgar:0001213900-24-004875"}
    await search_room.work()
    release = next(one for one in found.filings if one.form == "EX-99.1")
    job = await search_room.job(release.job.id)
    said = search_room.index.documents[job.document_id].metadata
    assert (said.company, said.document_type, said.published) == ("DatChat, Inc.", "EX-99.1", "2024-01-19")


async def test_reports_of_an_a_share(search_room: Room, sources: Sources) -> None:
    found = await fetch(search_room, "600519", "年报")
    assert (found.source, found.company, found.ticker) == ("cninfo", "贵州茅台", "600519")
    assert [one.url for one in found.filings] == [MOUTAI_2023, MOUTAI_2022]
    assert sources.forms()[0]["seDate"] == ["2022-11-25~2025-11-25"]
    assert (await fetch(search_room, "贵州茅台")).filings[0].job.id == found.filings[0].job.id
    await search_room.work()
    job = await search_room.job(found.filings[0].job.id)
    said = search_room.index.documents[job.document_id].metadata
    assert (said.company, said.document_type, said.published) == ("贵州茅台", "annual report", "2024-04-03")
    assert (said.title, said.filing_id) == ("贵州茅台2023年年度报告", "cninfo:1219506510")


async def test_an_unknown_company_has_suggestions(search_room: Room, sources: Sources) -> None:
    with pytest.raises(NotFound, match=r"Did you mean NFLX \(NETFLIX INC\)") as caught:
        await fetch(search_room, "Netflx")
    assert caught.value.details["suggestions"] == "NFLX"
    with pytest.raises(NotFound, match="cninfo has no company '600000'"):
        await fetch(search_room, "600000")
    with pytest.raises(NotFound, match="EDGAR has no company '99'"):
        await fetch(search_room, "99", "10-K")


async def test_nothing_in_the_range_names_the_newest(search_room: Room, sources: Sources) -> None:
    search_room.fetch._today = lambda: date(2029, 1, 1)
    with pytest.raises(
        NotFound, match=r"filed no 10-K from 2026-01-01 to 2029-01-01\. The newest 10-K is of 2025-01-27"
    ):
        await fetch(search_room, "NFLX", "10-K")
    with pytest.raises(NotFound, match="filed no 20-F"):
        await fetch(search_room, "NFLX", "20-F")


async def test_without_a_contact_the_sec_is_not_called(search_room: Room, sources: Sources) -> None:
    search_room.fetch_through(sources.door)
    with pytest.raises(Conflict, match="QUELEA_SEARCH_FILINGS_CONTACT"):
        await fetch(search_room, "AAPL")
    assert sources.asked == []
    assert (await unary(search_room.stub.GetInfo(pb.GetInfoRequest(), timeout=60))).filing_sources == ["cninfo"]


async def test_without_a_door_nothing_is_fetched(search_room: Room) -> None:
    with pytest.raises(Conflict, match="QUELEA_SEARCH_FILINGS_DOOR"):
        await fetch(search_room, "AAPL")
    assert not (await unary(search_room.stub.GetInfo(pb.GetInfoRequest(), timeout=60))).filing_sources


async def test_a_wrong_request_is_refused(search_room: Room, sources: Sources) -> None:
    for company, forms, years in (("", (), 3), ("A", ("10-K", "年报"), 3), ("A", (), 21), ("x" * 201, (), 3)):
        with pytest.raises(InvalidInput):
            await fetch(search_room, company, *forms, years=years)


@pytest.mark.parametrize(
    ("refused", "error", "said"),
    [
        (Refused(403, "HOST", "www.sec.gov is not an allowed host."), Conflict, "not an allowed host"),
        (Refused(504, "TIMEOUT", "www.sec.gov did not answer."), Unavailable, "did not answer"),
        (Refused(502, "RESTING", "sec.gov failed recently.", retry_after=20.0), Overloaded, "failed recently"),
    ],
)
async def test_what_the_door_says_is_passed_on(
    search_room: Room, sources: Sources, refused: Refused, error: type[Exception], said: str
) -> None:
    sources.upstream.answers["https://www.sec.gov/files/company_tickers.json"] = refused
    with pytest.raises(error, match=said) as caught:
        await fetch(search_room, "AAPL")
    # The gateway tells a service that is away from one that says what is away behind it.
    assert ("behind" in caught.value.details) is (error is Unavailable)


async def test_a_filing_that_does_not_come_can_be_replayed(search_room: Room, sources: Sources) -> None:
    kept = sources.upstream.answers[NFLX_2024]
    sources.upstream.answers[NFLX_2024] = Refused(504, "TIMEOUT", "too slow")
    search_room.parts = dataclasses.replace(
        search_room.parts, settings=search_room.parts.settings.model_copy(update={"max_attempts": 1})
    )
    job = (await fetch(search_room, "NFLX", "10-K", years=1)).filings[0].job
    await search_room.work()
    failed = await search_room.job(job.id)
    assert (failed.state, failed.error_reason, failed.replayable) == (pb.JOB_STATE_FAILED, "UNAVAILABLE", True)
    assert "too slow" in failed.error
    sources.upstream.answers[NFLX_2024] = kept
    await unary(search_room.stub.ReplayJobs(pb.ReplayJobsRequest(ids=[job.id]), timeout=60))
    await search_room.work()
    assert (await search_room.job(job.id)).state == pb.JOB_STATE_SUCCEEDED


async def test_a_fetch_is_recorded_and_replayed_without_its_source(
    search_room: Room, sources: Sources, tmp_path: Path
) -> None:
    run = (await fetch(search_room, "NFLX", "10-K")).run_id
    await search_room.work()
    recorded, data = sources.store.run(run), BytesIO()
    bundle = write_bundle(data, run, recorded, sources.store.body, "")
    file = tmp_path / "bundle.zip"
    file.write_bytes(data.getvalue())
    sources.store.import_bundle(file, BundleLimits())
    for document in list(search_room.index.documents):
        search_room.index.documents.pop(document)
    sources.upstream.answers.clear()
    asked = len(sources.asked)
    search_room.fetch_through(sources.door)  # a replay needs no contact
    search_room.fetch._today = lambda: date(2031, 1, 1)  # nor does it matter when it is replayed
    again = await fetch(search_room, "NFLX", "10-K", bundles=(bundle,))
    await search_room.work()
    assert [(await search_room.job(one.job.id)).state for one in again.filings] == [pb.JOB_STATE_SUCCEEDED] * 2
    assert len(sources.asked) == asked
    with pytest.raises(NotFound, match="recording does not have what a fetch of 'DATS' asks EDGAR for"):
        await fetch(search_room, "DATS", "8-K", bundles=(bundle,))
    with pytest.raises(NotFound, match="quelea market import"):
        await fetch(search_room, "NFLX", bundles=("f" * 32,))


@pytest.mark.parametrize("search_room", [2], indirect=True)
async def test_a_full_queue_ends_the_fetch_with_what_fits(search_room: Room, sources: Sources) -> None:
    search_room.fetch_through(sources.door, filings_contact=CONTACT)
    assert len((await fetch(search_room, "DATS", "8-K")).filings) == 2
    with pytest.raises(Overloaded):
        await fetch(search_room, "NFLX", "10-K")


async def test_more_than_a_fetch_may_bring_is_counted(search_room: Room, sources: Sources) -> None:
    search_room.fetch_through(sources.door, filings_contact=CONTACT, filings_per_fetch=3, max_queued_jobs=50)
    found = await fetch(search_room, "DATS", "8-K")
    assert (len(found.filings), found.left_out) == (3, 1)
