"""The door's memory: what is cited is never dropped, what is broken is noticed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from quelea_kit.errors import Conflict, InvalidInput, NotFound, QueleaError
from quelea_search.core.web.urls import parse_url
from quelea_search.door.adapters.store import Store
from quelea_search.door.core.bundle import BundleLimits
from quelea_search.door.core.matching import match_of
from quelea_search.door.core.model import Call, Question, Recorded, Source
from quelea_search.door.samples.__main__ import write

URL = "https://push2his.eastmoney.com/api?n="


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "data")
    yield made
    made.close()


def put(
    store: Store, run: str, number: int, body: bytes, *, fetched: float | None = None, scope: str | None = ""
) -> Recorded:
    when = time.time() if fetched is None else fetched
    question = Question("GET", parse_url(f"{URL}{number}"))
    match, sha256 = match_of(question), hashlib.sha256(body).hexdigest()
    answer = Recorded(
        match.key, "GET", str(question.url), match.facts(), when, 200, {"content-type": "a/b"}, sha256, len(body)
    )
    call = Call(
        f"{run}-{number}-{when}",
        f"s{run}",
        run,
        "t",
        "GET",
        answer.url,
        when,
        when,
        200,
        "a/b",
        sha256,
        len(body),
        Source.UPSTREAM,
        "",
        1.0,
    )
    store.record(call, answer, body, scope=scope)
    return answer


def tidy(store: Store, **more: object) -> None:
    store.tidy(**{"days": 1, "max_calls": 1000, "max_bytes": 10**9, **more})  # type: ignore[arg-type]


def test_what_was_recorded_is_found(store: Store) -> None:
    answer = put(store, "r", 1, b"one")
    assert store.cached(answer.key, ("",), float("inf")) == answer
    assert store.cached(answer.key, ("r",), float("inf")) is None
    assert store.cached(answer.key, ("",), answer.fetched) is None
    assert store.run("r") == [answer]
    assert [call.sha256 for call in store.calls("r", "", 10)] == [answer.sha256]
    assert store.calls("r", "another", 10) == []
    assert store.body(answer.sha256) == b"one"
    with pytest.raises(NotFound):
        store.run("nobody")
    with pytest.raises(NotFound):
        store.body("0" * 64)
    with pytest.raises(InvalidInput):
        store.body("../../etc/passwd")


def test_the_newest_before_a_day(store: Store) -> None:
    for moment, body in ((100.0, b"a"), (200.0, b"b"), (300.0, b"c")):
        put(store, "r", 1, body, fetched=moment)
    key = store.run("r")[0].key
    found = [store.cached(key, ("",), before) for before in (100.0, 150.0, 300.0, 301.0)]
    assert [each and each.fetched for each in found] == [None, 100.0, 200.0, 300.0]


def test_what_a_line_cites_outlives_the_cache(store: Store) -> None:
    cited = put(store, "kept", 1, b"x" * 100)
    old = put(store, "old", 2, b"y" * 100, fetched=time.time() - 3 * 86400)
    tidy(store, max_bytes=10**9)  # the run is too old, its answer may stay in the cache
    assert store.cached(old.key, ("",), float("inf")) is not None
    with pytest.raises(NotFound):
        store.run("old")
    tidy(store, max_bytes=150)
    assert store.body(cited.sha256)
    assert store.cached(old.key, ("",), float("inf")) is None
    with pytest.raises(NotFound):
        store.body(old.sha256)


def test_whole_runs_leave_oldest_first_and_none_that_is_under_way(store: Store) -> None:
    now = time.time()
    answers = {
        run: put(store, run, number, run.encode() * 50, fetched=now - 100 + number) for number, run in enumerate("abc")
    }
    tidy(store, max_bytes=100, busy=["a"])
    assert store.run("a")
    assert [bool(store.calls(run, "", 9)) for run in "abc"] == [True, False, True]
    tidy(store, max_calls=1, busy=["a"])
    assert [bool(store.calls(run, "", 9)) for run in "abc"] == [True, False, False]
    assert store.body(answers["a"].sha256)


def test_a_body_that_two_runs_cite_stays_for_the_second(store: Store) -> None:
    answer = put(store, "old", 1, b"same", fetched=time.time() - 3 * 86400)
    put(store, "new", 1, b"same")
    tidy(store, max_bytes=4)
    assert store.body(answer.sha256) == b"same"


def test_bundles_stay(store: Store, tmp_path: Path) -> None:
    bundle_id, count = write(tmp_path / "b.zip")
    for _ in range(2):
        facts = store.import_bundle(tmp_path / "b.zip", BundleLimits())
        assert (facts.id, facts.calls) == (bundle_id, count)
    assert [bundle.id for bundle in store.bundles()] == [bundle_id]
    tidy(store, max_bytes=1)
    assert len(store.neighbours([bundle_id], "finance.sina.com.cn")) == 4
    assert store.neighbours([bundle_id], "example.com") == []
    assert store.full
    for (sha256,) in store.db.execute("SELECT DISTINCT sha256 FROM bundle_calls").fetchall():
        assert store.body(sha256)


def test_changed_bytes_are_not_given_out(store: Store) -> None:
    answer = put(store, "r", 1, b"true")
    (path,) = (store.bodies._folder / answer.sha256[:2]).iterdir()
    path.write_bytes(b"fals")
    with pytest.raises(QueleaError, match="changed"):
        store.body(answer.sha256)


def test_one_door_a_folder_and_leftovers_are_swept(tmp_path: Path) -> None:
    first = Store(tmp_path)
    with pytest.raises(Conflict):
        Store(tmp_path)
    answer = put(first, "r", 1, b"known")
    orphan = first.bodies.put(b"a killed door left this")
    first.close()
    second = Store(tmp_path)
    assert second.run("r") == [answer]
    with pytest.raises(NotFound):
        second.body(orphan)
    second.close()
