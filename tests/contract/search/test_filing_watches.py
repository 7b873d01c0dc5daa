"""Watched companies: over real gRPC, looked at as the beat's task does, behind the door recorded replies of EDGAR."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import httpx2
import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import InvalidInput, NotFound, Overloaded
from quelea_search.beat import make_beat
from quelea_search.door.core.model import Refused
from quelea_search.filings.adapters.digest import Webhook
from quelea_search.settings import SearchSettings
from support.filing_sources import CONTACT, NFLX_2024, Sources, filing_sources
from support.search_room import Clock, Room

HOUR = 3600.0
SUBMISSIONS = "https://data.sec.gov/submissions/CIK0001065280.json"


class Hook:
    """Takes digests, and may fail first."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.told: list[dict[str, object]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.told.append(json.loads(request.content))
        return httpx2.Response(self.statuses.pop(0) if self.statuses else 200)


@pytest.fixture
async def sources(tmp_path: Path, search_room: Room, search_clock: Clock) -> AsyncIterator[Sources]:
    async with filing_sources(tmp_path / "door", fresh=False) as found:
        search_room.fetch_through(found.door, filings_contact=CONTACT, max_queued_jobs=50)
        search_room.fetch._today = lambda: date(2025, 11, 25)
        search_room.watching._now = search_clock
        yield found


async def watch(room: Room, company: str, *forms: str, years: int = 1) -> pb.WatchCompanyResponse:
    request = pb.FetchFilingsRequest(company=company, forms=forms, years=years)
    return await unary(room.stub.WatchCompany(pb.WatchCompanyRequest(fetch=request), timeout=60))


async def listed(room: Room) -> list[pb.Watch]:
    return list((await unary(room.stub.ListWatches(pb.ListWatchesRequest(), timeout=60))).watches)


async def look(room: Room) -> int:
    """A look at a later beat: nobody else has looked just before."""
    room.redis.delete("test:first:filings")
    return await room.watching.look()


async def test_new_filings_come_when_it_is_time_and_the_webhook_is_told(
    search_room: Room, sources: Sources, search_clock: Clock
) -> None:
    hook = Hook(503)
    search_room.watching._digest = Webhook("https://hook.test/secret", httpx2.MockTransport(hook))
    made = await watch(search_room, "DATS", "8-K", "10-K")
    assert (made.watch.company, made.HasField("fetched")) == ("DatChat, Inc.", False)  # nothing filed for a year
    everything = sources.upstream.answers[SUBMISSIONS]
    first = json.loads(everything)
    for column in first["filings"]["recent"].values():
        del column[0]  # the report of 2024 is not filed yet
    sources.upstream.answers[SUBMISSIONS] = json.dumps(first).encode()
    assert len((await watch(search_room, "Netflix", "10-K", years=3)).fetched.filings) == 1
    await search_room.work()
    sources.upstream.answers[SUBMISSIONS] = everything
    assert await look(search_room) == 0  # it is not time
    search_clock.now += 7 * HOUR
    assert await look(search_room) == 1
    assert search_room.sent and await look(search_room) == 0
    await search_room.work()
    netflix = next(one for one in await listed(search_room) if one.ticker == "NFLX")
    assert (netflix.new, netflix.error, list(netflix.forms)) == (1, "", ["10-K"])
    assert len(hook.told) == 2  # once more after the 503
    (filing,) = hook.told[1]["filings"]
    assert (filing["company"], filing["url"], filing["id"]) == ("NETFLIX INC", NFLX_2024, "edgar:0001065280-25-000044")
    assert hook.told[1]["text"].startswith("New filings:\nNETFLIX INC 10-K, filed 2025-01-27: https://www.sec.gov/")
    search_clock.now += 7 * HOUR
    assert await look(search_room) == 0 and len(hook.told) == 2  # stored by now


async def test_a_look_that_fails_is_noted_and_made_again_in_an_hour(
    search_room: Room, sources: Sources, search_clock: Clock
) -> None:
    await watch(search_room, "NFLX", "10-K")
    await search_room.work()
    kept = sources.upstream.answers[SUBMISSIONS]
    sources.upstream.answers[SUBMISSIONS] = Refused(504, "TIMEOUT", "too slow")
    search_clock.now += 7 * HOUR
    assert await look(search_room) == 0
    (failed,) = await listed(search_room)
    assert "too slow" in failed.error
    sources.upstream.answers[SUBMISSIONS] = kept
    search_clock.now += 1.1 * HOUR
    await look(search_room)
    assert (await listed(search_room))[0].error == ""


async def test_one_look_at_a_time(search_room: Room, sources: Sources, search_clock: Clock) -> None:
    await watch(search_room, "NFLX", "10-K")
    search_clock.now += 7 * HOUR
    await look(search_room)
    asked = len(sources.asked)
    search_clock.now += 7 * HOUR
    assert await search_room.watching.look() == 0  # somebody has just looked
    assert len(sources.asked) == asked


async def test_watches_are_added_once_bounded_and_removed(search_room: Room, sources: Sources) -> None:
    search_room.fetch_through(sources.door, filings_contact=CONTACT, max_queued_jobs=50, filings_watches=1)
    first = (await watch(search_room, "NFLX", "10-K")).watch
    assert (await watch(search_room, "netflix", "10-K")).watch.id == first.id
    with pytest.raises(Overloaded, match="QUELEA_SEARCH_FILINGS_WATCHES"):
        await watch(search_room, "DATS", "8-K", years=3)
    with pytest.raises(NotFound, match="Did you mean NFLX"):
        await watch(search_room, "Netflx", "10-K")
    await unary(search_room.stub.RemoveWatch(pb.RemoveWatchRequest(id=first.id), timeout=60))
    assert await listed(search_room) == []
    with pytest.raises(NotFound, match="no watch"):
        await unary(search_room.stub.RemoveWatch(pb.RemoveWatchRequest(id=first.id), timeout=60))
    with pytest.raises(InvalidInput, match="bundle_ids"):
        wrong = pb.WatchCompanyRequest(fetch=pb.FetchFilingsRequest(company="A", bundle_ids=["b"]))
        await unary(search_room.stub.WatchCompany(wrong, timeout=60))


async def test_a_webhook_that_is_away_or_wrong_ends_nothing() -> None:
    filing = {"company": "A", "form": "10-K", "filed": "2025-01-01", "url": "u"}
    refusing = Hook(404)
    assert not await Webhook("https://hook.test/x", httpx2.MockTransport(refusing)).tell([filing])
    assert len(refusing.told) == 1  # what was refused is not sent again
    assert not await Webhook("not an address").tell([filing])
    assert not await Webhook("").tell([filing])


def test_the_beat_looks_for_what_this_deployment_has() -> None:
    def looks(**settings: object) -> set[str]:
        return set(make_beat(SearchSettings(**settings)).conf.beat_schedule)

    door = {"filings_door": "127.0.0.1:1", "filings_door_data": "/tmp/door.sock"}  # noqa: S108  # nothing is opened
    assert looks(web=True) == {"look for expired pages"}
    assert looks(**door) == {"look for new filings"}
    assert looks(web=True, **door) == {"look for expired pages", "look for new filings"}
    assert looks() == set()
