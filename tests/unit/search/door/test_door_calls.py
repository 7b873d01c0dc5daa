"""One call through the door, with a fake for the upstreams: cache, validators, days in the past, replay, the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from quelea_search.door.adapters.fake_upstream import FakeUpstream
from quelea_search.door.adapters.store import Store
from quelea_search.door.core.budget import CallSlots
from quelea_search.door.core.bundle import BundleLimits, write_bundle
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.hosts import HostRule, HostTable
from quelea_search.door.core.model import Refused, Source
from quelea_search.door.core.sessions import Session, Sessions
from quelea_search.door.door import Asked, Door, Given
from quelea_search.door.settings import DoorSettings

HOST = "https://push2his.eastmoney.com"


class Desk:
    """A door, and hands to use it."""

    def __init__(self, folder: Path, fresh: float = 60.0) -> None:
        self.store = Store(folder)
        self.upstream = FakeUpstream(HostTable([HostRule("eastmoney.com", fresh_seconds=fresh)]))
        self.sessions = Sessions(100)
        self.door = Door(DoorSettings(), self.store, self.upstream, self.sessions)

    def open(self, run: str = "r", **more: object) -> str:
        facts = {
            "id": f"s-{run}",
            "run_id": run,
            "tenant": "t",
            "replay": False,
            "as_of": None,
            "bundle_ids": (),
            "max_calls": 100,
            "max_bytes": 10**6,
            "until": time.monotonic() + 600,
            "jar": CookieJar(lambda _: False),
            "slots": CallSlots(4, 4, "of this run"),
            **more,
        }
        return self.sessions.add(Session(**facts))  # type: ignore[arg-type]

    async def get(
        self, token: str, target: str = "/a", *, method: str = "GET", upstream: str = HOST, **headers: str
    ) -> Given:
        listed = [(name.replace("_", "-"), value) for name, value in headers.items()]
        return await self.door.call(Asked(token, upstream, method, target, listed, b""))

    def sources(self, run: str = "r") -> list[tuple[Source, str]]:
        return [(call.source, call.reason.partition(":")[0]) for call in self.store.calls(run, "", 100)]

    def bundle(self, run: str, folder: Path) -> str:
        path = folder / f"{run}.zip"
        with path.open("wb") as file:
            write_bundle(file, run, self.store.run(run), self.store.body)
        return self.store.import_bundle(path, BundleLimits()).id


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "data")
    yield made
    await made.door.close()
    made.store.close()


async def refused(call: object) -> Refused:
    with pytest.raises(Refused) as caught:
        await call  # type: ignore[misc]  # a coroutine
    return caught.value


async def test_fetched_then_fresh_from_the_cache_and_logged_both_times(desk: Desk) -> None:
    desk.upstream.answers[f"{HOST}/a"] = b"[1]"
    token = desk.open()
    one, two = await desk.get(token), await desk.get(token, "/a?_=1732280000000")
    assert one.body == two.body == b"[1]"
    assert one.call_id != two.call_id
    assert one.answer.fetched == two.answer.fetched
    assert len(desk.upstream.asked) == 1
    first, second = desk.store.calls("r", "", 9)
    assert (first.source, second.source) == (Source.UPSTREAM, Source.CACHE)
    assert first.sha256 == second.sha256 == one.answer.sha256
    assert first.id == one.call_id
    assert second.asked > second.fetched
    assert desk.store.body(first.sha256) == b"[1]"


async def test_a_stale_answer_is_asked_for_with_its_validator(tmp_path: Path) -> None:
    desk = Desk(tmp_path, fresh=0.0)
    desk.upstream.answers[f"{HOST}/a"], desk.upstream.etag = b"[1]", '"v1"'
    token = desk.open()
    one, two = await desk.get(token), await desk.get(token)
    assert desk.upstream.validators == [{}, {"if-none-match": '"v1"'}]
    assert (one.body, two.body, two.answer.status) == (b"[1]", b"[1]", 200)
    assert two.answer.fetched > one.answer.fetched
    desk.upstream.answers[f"{HOST}/a"], desk.upstream.etag = b"[2]", '"v2"'
    assert (await desk.get(token)).body == b"[2]"
    desk.store.close()


async def test_equal_calls_at_once_ask_once(desk: Desk) -> None:
    targets = [f"/a?_={1_732_280_000_000 + n}" for n in range(6)]
    desk.upstream.answers = {f"{HOST}{target}": b"[1]" for target in targets}
    token = desk.open()
    found = await asyncio.gather(*(desk.get(token, target) for target in targets))
    assert {each.body for each in found} == {b"[1]"}
    assert len(desk.upstream.asked) == 1


async def test_errors_are_logged_and_not_kept_for_others(desk: Desk) -> None:
    token = desk.open()
    assert (await desk.get(token, "/nowhere")).answer.status == 404
    desk.upstream.answers[f"{HOST}/nowhere"] = b"now"
    assert (await desk.get(token, "/nowhere")).body == b"now"
    desk.upstream.answers[f"{HOST}/dead"] = Refused(502, "UPSTREAM", "it is dead")
    assert (await refused(desk.get(token, "/dead"))).status == 502
    assert desk.sources() == [(Source.UPSTREAM, ""), (Source.UPSTREAM, ""), (Source.REFUSED, "UPSTREAM")]


@pytest.mark.parametrize(
    ("more", "reason", "status"),
    [
        ({"upstream": "https://example.com"}, "HOST", 403),
        ({"upstream": "ftp://push2his.eastmoney.com"}, "BAD_URL", 400),
        ({"upstream": f"{HOST}/path"}, "BAD_URL", 400),
        ({"upstream": f"{HOST}?x=1"}, "BAD_URL", 400),
        ({"upstream": "https://a@push2his.eastmoney.com"}, "BAD_URL", 400),
        ({"upstream": f"{HOST}@evil.io"}, "BAD_URL", 400),
        ({"upstream": ""}, "BAD_URL", 400),
        ({"target": "http://evil.io/"}, "BAD_URL", 400),
        ({"target": "*"}, "BAD_URL", 400),
        ({"target": "/\r\nx"}, "BAD_URL", 400),
        ({"target": "/" + "a" * 20_000}, "BAD_URL", 400),
        ({"method": "DELETE"}, "METHOD", 403),
        ({"method": "CONNECT"}, "METHOD", 403),
    ],
)
async def test_what_is_not_passed_on(desk: Desk, more: dict[str, str], reason: str, status: int) -> None:
    caught = await refused(desk.get(desk.open(), **more))
    assert (caught.reason, caught.status) == (reason, status)
    assert desk.sources() == [(Source.REFUSED, reason)]
    assert desk.upstream.asked == []


async def test_without_a_token_nothing_is_written(desk: Desk) -> None:
    assert (await refused(desk.get("guess"))).status == 403
    assert desk.store.db.execute("SELECT count(*) FROM calls").fetchone() == (0,)


async def test_the_budget_of_a_session_ends_with_one_line(desk: Desk) -> None:
    token = desk.open(max_calls=2)
    for _ in range(2):
        await desk.get(token)
    for _ in range(3):
        caught = await refused(desk.get(token))
        assert (caught.status, caught.reason) == (429, "CALLS")
        assert caught.retry_after
    assert [reason for _, reason in desk.sources()] == ["", "", "CALLS"]
    desk.upstream.answers[f"{HOST}/big"] = b"x" * 100
    other = desk.open("other", max_bytes=50)
    await desk.get(other, "/big")
    assert (await refused(desk.get(other, "/big"))).reason == "BYTES"


async def test_what_a_run_gets_with_its_own_key_no_other_run_gets(desk: Desk) -> None:
    desk.upstream.answers[f"{HOST}/mine"] = b"private"
    desk.upstream.answers[f"{HOST}/q?api_key=k1"] = b"private"
    one, other = desk.open("one"), desk.open("other")
    for target, headers in (("/mine", {"authorization": "Bearer s"}), ("/q?api_key=k1", {})):
        await desk.get(one, target, **headers)
        await desk.get(one, target, **headers)
        await desk.get(other, target, **headers)
    assert [source for source, _ in desk.sources("one")] == [Source.UPSTREAM, Source.CACHE] * 2
    assert [source for source, _ in desk.sources("other")] == [Source.UPSTREAM] * 2
    assert (await refused(desk.get(desk.open("third", as_of=date(2020, 1, 1)), "/mine"))).status == 451
    assert "k1" not in str(desk.store.db.execute("SELECT url, match FROM calls").fetchall())


async def test_a_past_day_gives_what_was_recorded_until_then(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Noon(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # that no midnight comes in between
            return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)

    desk.upstream.answers[f"{HOST}/a"] = b"[1]"
    recorded = await desk.get(desk.open())
    day = datetime.fromtimestamp(recorded.answer.fetched, UTC).date()
    monkeypatch.setattr("quelea_search.door.door.datetime", Noon)
    past = desk.open("past", as_of=day - timedelta(days=1))
    caught = await refused(desk.get(past))
    assert (caught.status, caught.reason) == (451, "PINNED")
    # as if the answer had been recorded ten days ago
    desk.store.db.execute("UPDATE answers SET fetched = fetched - 864000")
    found = await desk.get(past)
    assert (found.body, desk.sources("past")[-1][0]) == (b"[1]", Source.CACHE)
    assert (await refused(desk.get(desk.open("older", as_of=day - timedelta(days=11))))).status == 451
    desk.upstream.answers[f"{HOST}/new"] = b"[2]"
    today = desk.open("today", as_of=day)
    assert (await desk.get(today, "/new")).body == b"[2]"
    assert len(desk.upstream.asked) == 2


async def test_a_replayed_run_gets_the_same_in_the_same_order_and_nothing_else(desk: Desk, tmp_path: Path) -> None:
    token = desk.open("rec")
    for body in (b"[1]", b"[2]"):
        desk.upstream.answers[f"{HOST}/a?cb=x"] = b"x(" + body + b")"
        await desk.get(token, "/a?cb=x")
        desk.store.db.execute("DELETE FROM answers")  # or the second came from the cache
    await desk.get(token, "/missing")
    await refused(desk.get(token, upstream="https://example.com"))
    bundle_id = desk.bundle("rec", tmp_path)
    asked = len(desk.upstream.asked)
    again = desk.open("again", replay=True, bundle_ids=(bundle_id,))
    bodies = [(await desk.get(again, "/a?cb=y&_=1732280000000")).body for _ in range(3)]
    assert bodies == [b"y([1])", b"y([2])", b"y([2])"]
    assert (await desk.get(again, "/missing")).answer.status == 404
    caught = await refused(desk.get(again, "/a?secid=3"))
    assert (caught.status, caught.reason) == (451, "NOT_RECORDED")
    assert f"{HOST}/a?cb=x; it differs in secid." in caught.message
    assert len(desk.upstream.asked) == asked
    calls = desk.store.calls("again", "", 9)
    assert [call.source for call in calls] == [Source.BUNDLE] * 4 + [Source.REFUSED]
    assert desk.store.body(calls[0].sha256) == b"y([1])"
    # a replay can be bundled again, and replays the same
    third = desk.open("third", replay=True, bundle_ids=(desk.bundle("again", tmp_path),))
    assert (await desk.get(third, "/a")).body == b"y([1])"
    old = desk.open("old", replay=True, bundle_ids=(bundle_id,), as_of=date(2020, 1, 1))
    assert (await refused(desk.get(old, "/a"))).status == 451


async def test_one_bad_moment_of_the_memory_is_not_believed(desk: Desk) -> None:
    desk.upstream.answers[f"{HOST}/a"] = b"[1]"
    desk.store.db.execute("DROP TABLE calls")
    with pytest.raises(Exception, match="calls"):  # no line, no answer
        await desk.get(desk.open())


async def test_a_full_memory_takes_no_more_and_gives_what_it_has(desk: Desk) -> None:
    desk.upstream.answers = {f"{HOST}/a": b"[1]", f"{HOST}/b": b"[2]"}
    token = desk.open()
    await desk.get(token)
    desk.store.tidy(days=1, max_calls=10, max_bytes=1, busy=["r"])
    assert (await refused(desk.get(token, "/b"))).reason == "FULL"
    assert (await desk.get(token)).body == b"[1]"
    desk.store.tidy(days=1, max_calls=10, max_bytes=100)
    assert (await desk.get(token, "/b")).body == b"[2]"
