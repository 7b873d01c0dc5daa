import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_sandbox.core.fair_queue import FairQueue
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


def anything(_: object) -> bool:
    return True


def test_tenants_take_turns() -> None:
    queue: FairQueue[str] = FairQueue(length=10, tenant_length=10)
    for item in ("a1", "a2", "a3", "b1", "c1"):
        assert queue.push(item[0], item) is None
    assert [queue.pop(anything) for _ in range(6)] == ["a1", "b1", "c1", "a2", "a3", None]


def test_only_what_is_wanted_comes_out() -> None:
    queue: FairQueue[str] = FairQueue(length=10, tenant_length=10)
    for item in ("ax", "ay", "by"):
        queue.push(item[0], item)
    assert queue.pop(lambda item: item.endswith("y")) == "ay"
    assert queue.pop(lambda item: item.endswith("y")) == "by"
    assert queue.pop(lambda item: item.endswith("y")) is None and list(queue) == ["ax"]


def test_a_full_queue_makes_room_at_the_longest_lane() -> None:
    queue: FairQueue[str] = FairQueue(length=3, tenant_length=3)
    for item in ("a1", "a2", "a3"):
        assert queue.push("a", item) is None
    assert queue.push("a", "a4") == "a4"
    assert queue.push("b", "b1") == "a3"
    assert queue.push("c", "c1") == "a2"
    assert queue.push("d", "d1") == "d1"
    assert len(queue) == 3


def test_one_tenant_has_its_own_bound() -> None:
    queue: FairQueue[str] = FairQueue(length=10, tenant_length=1)
    assert queue.push("a", "a1") is None and queue.push("a", "a2") == "a2" and queue.push("b", "b1") is None


def test_who_leaves_is_taken_out_once() -> None:
    queue: FairQueue[str] = FairQueue(length=10, tenant_length=10)
    queue.push("a", "a1")
    assert queue.remove("a", "a1") and not queue.remove("a", "a1") and not queue.remove("b", "x")
    assert len(queue) == 0 and queue.pop(anything) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60))
def test_the_queue_counts_right(actions: list[tuple[str, bool]]) -> None:
    queue: FairQueue[int] = FairQueue(length=7, tenant_length=4)
    inside: set[int] = set()
    for number, (tenant, push) in enumerate(actions):
        if push:
            inside.add(number)
            inside.discard(queue.push(tenant, number))  # type: ignore[arg-type]  # None is not inside
        else:
            inside.discard(queue.pop(anything))  # type: ignore[arg-type]  # the same
        assert set(queue) == inside and len(queue) == len(inside) <= 7
