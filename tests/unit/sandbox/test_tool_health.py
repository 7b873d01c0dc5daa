"""Health of tools: what outcomes do to the score, and what survives a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from quelea_sandbox.registry.health import HealthStore


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_failures_in_a_row_lower_the_score_and_time_and_success_raise_it() -> None:
    clock = Clock()
    store = HealthStore(None, ["a"], clock=clock)
    scores = [store.report("a", ok=False, error="502").score(clock.now) for _ in range(3)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == 0.0
    clock.now += 6 * 3600
    assert store.get("a").score(clock.now) == pytest.approx(0.5)
    assert store.report("a", ok=True).score(clock.now) == 1.0
    health = store.get("a")
    assert (health.calls, health.failures, health.failures_in_row, health.error) == (4, 3, 0, "502")


def test_what_was_reported_is_there_after_a_restart(tmp_path: Path) -> None:
    path, clock = tmp_path / "deep" / "health.json", Clock()
    store = HealthStore(path, ["a", "b"], clock=clock)
    store.report("a", ok=False, error="x" * 2000)
    store.report("b", ok=True)
    store.flush()
    again = HealthStore(path, ["a"], clock=clock)
    assert again.get("a") == store.get("a")
    assert len(again.get("a").error) == 500
    assert [one.name for one in again.all()] == ["a"]  # b is no longer in the catalogue


def test_the_file_is_written_now_and_then_without_being_asked(tmp_path: Path) -> None:
    path, clock = tmp_path / "health.json", Clock()
    store = HealthStore(path, ["a"], clock=clock, every=5)
    store.report("a", ok=True)
    assert not path.exists()
    clock.now += 6
    store.report("a", ok=True)
    assert HealthStore(path, ["a"]).get("a").calls == 2


def test_unknown_tools_and_broken_files_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "health.json"
    path.write_text('[{"name": "a", "unheard": 1}]')
    store = HealthStore(path, ["a"])
    assert store.all() == []
    with pytest.raises(KeyError):
        store.report("z", ok=True)
    blocked = HealthStore(path / "below" / "health.json", ["a"])
    blocked.report("a", ok=True)
    blocked.flush()
    assert blocked.get("a").calls == 1
