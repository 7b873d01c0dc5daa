"""Usage: counted without waiting, written in parts, added up over gateways, put together when a day is over."""

import json
from datetime import date

import pytest
from quelea_gateway.adapters.stores import usage_store
from quelea_gateway.adapters.stores.usage_store import OTHERS, UsageStore
from quelea_gateway.core.callers.usage import Row, Usage, tally
from quelea_kit.testing import wait_until_async

MONDAY, TUESDAY, FRIDAY = date(2026, 11, 23), date(2026, 11, 24), date(2026, 11, 27)


class Clock:
    def __init__(self, day):
        self.day = day

    def __call__(self):
        return self.day


@pytest.fixture
def clock():
    return Clock(MONDAY)


def store(folder, clock, **more):
    return UsageStore(str(folder), keep_days=more.pop("keep_days", 400), today=clock, **more)


async def used(one, first=MONDAY, last=FRIDAY):
    return await one.read(first, last)


async def test_two_gateways_on_one_store_add_up_and_a_restart_loses_nothing(tmp_path, clock):
    one, two = store(tmp_path, clock), store(tmp_path, clock)
    one.count("desk", questions=1, tokens_read=100)
    two.count("desk", questions=2, tokens_written=5)
    two.count("fund\x1fdesk", uploads=1)
    await two.read(MONDAY, MONDAY)  # writes what it has counted
    assert (await used(one))["2026-11-23", "desk"] == Usage(questions=3, tokens_read=100, tokens_written=5)
    await one.close()
    await two.close()
    again = store(tmp_path, clock)
    assert await used(again) == {
        ("2026-11-23", "desk"): Usage(questions=3, tokens_read=100, tokens_written=5),
        ("2026-11-23", "fund\x1fdesk"): Usage(uploads=1),
    }
    again.count("desk", questions=1)
    assert (await used(again))["2026-11-23", "desk"].questions == 4
    await again.close()


async def test_what_is_counted_is_written_within_seconds(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(usage_store, "FLUSH_SECONDS", 0.01)
    one, two = store(tmp_path, clock), store(tmp_path, clock)
    one.count("desk", runs=1)
    await wait_until_async(lambda: any(tmp_path.glob("*/*.json")))
    assert (await used(two))["2026-11-23", "desk"].runs == 1
    await one.close()
    await two.close()


async def test_a_day_that_is_over_becomes_one_file_with_the_same_figures(tmp_path, clock):
    parts = [store(tmp_path, clock) for _ in range(3)]
    for one in parts:
        one.count("desk", questions=1)
        await one.close()
    clock.day = FRIDAY
    reader = store(tmp_path, clock)
    before = await used(reader)
    assert before == {("2026-11-23", "desk"): Usage(questions=3)}
    assert [file.name for file in (tmp_path / "2026-11-23").iterdir()] == ["total.json"]
    other = store(tmp_path, clock)
    assert await used(other) == before
    await reader.close()
    await other.close()


async def test_a_part_that_the_total_has_already_is_not_counted_twice(tmp_path, clock):
    one = store(tmp_path, clock)
    one.count("desk", questions=1)
    await one.close()
    (part,) = (tmp_path / "2026-11-23").iterdir()
    data = part.read_bytes()
    clock.day = FRIDAY
    reader = store(tmp_path, clock)
    await used(reader)
    part.write_bytes(data)  # as if it had stopped before it deleted the part
    other = store(tmp_path, clock)
    assert (await used(other))["2026-11-23", "desk"] == Usage(questions=1)
    assert not part.exists(), "it is cleared away"
    await reader.close()
    await other.close()


async def test_a_file_that_cannot_be_read_is_left_out_and_kept(tmp_path, clock):
    one = store(tmp_path, clock)
    one.count("desk", questions=1)
    await one.close()
    broken = tmp_path / "2026-11-23" / "0123456789abcdef.json"
    broken.write_text("{")
    clock.day = FRIDAY
    reader = store(tmp_path, clock)
    assert await used(reader) == {("2026-11-23", "desk"): Usage(questions=1)}
    assert broken.exists()
    await reader.close()


async def test_keys_and_days_are_bounded(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(usage_store, "MOST_OWNERS", 2)
    one = store(tmp_path, clock, keep_days=2)
    for name in ("a", "b", "c", "d", "a"):
        one.count(name, questions=1)
    found = await used(one)
    assert {owner: usage.questions for (_, owner), usage in found.items()} == {"a": 2, "b": 1, OTHERS: 2}
    clock.day = FRIDAY
    one.count("a", questions=1)
    assert await used(one) == {("2026-11-27", "a"): Usage(questions=1)}
    assert [folder.name for folder in tmp_path.iterdir()] == ["2026-11-27"]
    await one.close()


async def test_a_later_release_may_count_more(tmp_path, clock):
    folder = tmp_path / "2026-11-23"
    folder.mkdir()
    stored = {"fields": ["pictures", "questions"], "owners": {"desk": [7, 2]}}
    (folder / "0123456789abcdef.json").write_text(json.dumps(stored))
    one = store(tmp_path, clock)
    assert await used(one) == {("2026-11-23", "desk"): Usage(questions=2)}
    await one.close()


def test_rows_are_told_apart_as_asked():
    found = {
        ("2026-11-24", "desk"): Usage(questions=1),
        ("2026-11-23", "fund\x1fdesk"): Usage(questions=4),
        ("2026-11-23", "desk"): Usage(questions=2, uploads=1),
    }
    assert tally(found) == [
        Row("2026-11-23", "default", "desk", Usage(questions=2, uploads=1)),
        Row("2026-11-23", "fund", "desk", Usage(questions=4)),
        Row("2026-11-24", "default", "desk", Usage(questions=1)),
    ]
    assert tally(found, "key") == [
        Row("", "default", "desk", Usage(questions=3, uploads=1)),
        Row("", "fund", "desk", Usage(questions=4)),
    ]
    assert tally(found, "day") == [
        Row("2026-11-23", "", "", Usage(questions=6, uploads=1)),
        Row("2026-11-24", "", "", Usage(questions=1)),
    ]
    assert tally(found, "key", ["other"]) == []
