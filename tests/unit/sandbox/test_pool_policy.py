import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_sandbox.core.policy import Backoff, Demand, Mean, retry_after


def test_without_demand_the_least_is_kept() -> None:
    assert Demand(least=2, most=8).target(100.0, 1.0) == 2


def test_a_burst_is_remembered_for_a_while() -> None:
    demand = Demand(least=1, most=8, window_seconds=60)
    for n in range(4):
        demand.arrived(10.0 + n / 10)
    assert demand.target(11.0, 1.0) == 5
    assert demand.target(69.0, 1.0) == 5
    assert demand.target(71.0, 1.0) == 1


def test_slow_arrivals_need_few_and_slow_starts_need_more() -> None:
    demand = Demand(least=0, most=20)
    for n in range(10):
        demand.arrived(5.0 * n)
    assert demand.target(45.0, 1.0) == 2
    assert demand.target(45.0, 11.0) == 4


@settings(deadline=None)
@given(st.lists(st.floats(0, 100), max_size=50), st.floats(0, 60), st.integers(0, 3), st.integers(3, 6))
def test_the_target_stays_within_its_bounds(arrivals: list[float], start: float, least: int, most: int) -> None:
    demand = Demand(least=least, most=most)
    for time in sorted(arrivals):
        demand.arrived(time)
    assert least <= demand.target(100.0, start) <= most


def test_bounds_that_contradict_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="least"):
        Demand(least=3, most=2)


def test_backoff_doubles_up_to_its_most_and_forgets() -> None:
    backoff = Backoff(first=1.0, most=4.0)
    waits = []
    for _ in range(4):
        backoff.failed(100.0)
        waits.append(backoff.until - 100.0)
    assert waits == [1.0, 2.0, 4.0, 4.0] and not backoff.open(103.9) and backoff.open(104.0)
    backoff.worked()
    assert backoff.open(0.0) and backoff.failures == 0


def test_a_mean_follows() -> None:
    mean = Mean(2.0)
    for _ in range(30):
        mean.add(10.0)
    assert 9.9 < mean.value <= 10.0


def test_callers_are_told_to_wait_longer_behind_more() -> None:
    assert retry_after(0, 2, 1.0) < retry_after(20, 2, 1.0) < retry_after(20, 1, 2.0) <= 60.0
    assert retry_after(0, 2, 0.0) == 0.5
