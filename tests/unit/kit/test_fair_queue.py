"""The fair queue: turns by tokens, bounds, leaving; all by order, nothing by time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_kit.fair_queue import FairQueue


def queue(quantum: int = 100, length: int = 100, tenant_length: int = 100) -> FairQueue[str]:
    return FairQueue(quantum=quantum, length=length, tenant_length=tenant_length)


def drained(waiting: FairQueue[str]) -> list[str]:
    found = []
    while (item := waiting.pop()) is not None:
        found.append(item)
    return found


def test_one_tenant_is_served_in_its_order() -> None:
    waiting = queue()
    for n in range(5):
        assert waiting.push("a", 70, f"a{n}") is None
    assert drained(waiting) == ["a0", "a1", "a2", "a3", "a4"]
    assert len(waiting) == 0


def test_a_flood_does_not_starve_another_tenant() -> None:
    waiting = queue()
    for n in range(50):
        waiting.push("flood", 100, f"f{n}")
    waiting.push("other", 100, "o0")
    assert drained(waiting).index("o0") <= 1


def test_turns_are_by_tokens_not_by_requests() -> None:
    waiting = queue(quantum=100)
    for n in range(8):
        waiting.push("dear", 400, f"d{n}")
        for part in range(4):
            waiting.push("cheap", 100, f"c{n}.{part}")
    first = drained(waiting)[:20]
    tokens = {"d": 0, "c": 0}
    for item in first:
        tokens[item[0]] += 400 if item[0] == "d" else 100
    assert abs(tokens["d"] - tokens["c"]) <= 400


def test_an_item_dearer_than_many_rounds_is_served_all_the_same() -> None:
    waiting = queue(quantum=10)
    waiting.push("a", 5000, "dear")
    assert drained(waiting) == ["dear"]


def test_nobody_saves_up_credit_while_absent() -> None:
    waiting = queue(quantum=100)
    for _ in range(20):  # comes and goes, each time with credit left
        waiting.push("a", 1, "x")
        assert waiting.pop() == "x"
    for n in range(10):
        waiting.push("a", 100, f"a{n}")
        waiting.push("b", 100, f"b{n}")
    order = [item[0] for item in drained(waiting)]
    assert max(abs(order[:n].count("a") - order[:n].count("b")) for n in range(1, 20)) <= 1


def test_a_lane_is_bounded() -> None:
    waiting = queue(tenant_length=2)
    assert [waiting.push("a", 1, f"a{n}") for n in range(3)] == [None, None, "a2"]
    assert waiting.full("a")
    assert not waiting.full("b")
    assert waiting.push("b", 1, "b0") is None


def test_when_all_is_full_the_longest_lane_gives_way() -> None:
    waiting = queue(length=4)
    for n in range(4):
        waiting.push("flood", 1, f"f{n}")
    assert waiting.full("flood")
    assert waiting.push("flood", 1, "f4") == "f4"
    assert not waiting.full("other")
    assert waiting.push("other", 1, "o0") == "f3"
    assert len(waiting) == 4
    assert waiting.push("other", 1, "o1") == "f2"
    assert waiting.push("other", 1, "o2") == "o2"  # as long as the longest itself
    assert sorted(drained(waiting)) == ["f0", "f1", "o0", "o1"]


def test_who_leaves_is_not_served() -> None:
    waiting = queue()
    items = ["".join(("x", str(n))) for n in range(3)]
    for item in items:
        waiting.push("a", 1, item)
    assert waiting.discard("a", items[1])
    assert not waiting.discard("a", items[1])
    assert not waiting.discard("nobody", items[0])
    assert drained(waiting) == ["x0", "x2"]
    assert waiting.length("a") == 0


def test_who_had_a_turn_is_first_in_its_lane_also_when_full() -> None:
    waiting = queue(length=2, tenant_length=2)
    waiting.push("a", 1, "a0")
    waiting.push("a", 1, "a1")
    waiting.push_front("a", 1, "again")
    assert len(waiting) == 3
    assert drained(waiting) == ["again", "a0", "a1"]


@pytest.mark.parametrize("wrong", [{"quantum": 0}, {"length": 0}, {"tenant_length": 0}])
def test_bounds_are_at_least_one(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        queue(**wrong)


def test_a_lane_that_may_not_go_now_lets_the_others_pass_and_keeps_its_order() -> None:
    waiting = queue(quantum=1)
    for name in ("a1", "a2", "b1", "a3"):
        waiting.push(name[0], 1, name)
    assert waiting.pop(lambda lane: lane != "a") == "b1"
    assert waiting.pop(lambda lane: lane != "a") is None
    assert len(waiting) == 3
    assert drained(waiting) == ["a1", "a2", "a3"]


def test_only_what_is_wanted_comes_out() -> None:
    waiting = queue(quantum=1)
    for item in ("ax", "ay", "by"):
        waiting.push(item[0], 1, item)
    assert waiting.pop(wanted=lambda item: item.endswith("y")) == "ay"
    assert list(waiting) == ["by", "ax"]  # a had its turn
    assert waiting.pop(wanted=lambda item: item.endswith("y")) == "by"
    assert waiting.pop(wanted=lambda item: item.endswith("y")) is None
    assert list(waiting) == ["ax"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60))
def test_it_counts_right(actions: list[tuple[str, bool]]) -> None:
    waiting, inside = queue(quantum=1, length=7, tenant_length=4), set[str]()
    for number, (lane, push) in enumerate(actions):
        gone = waiting.push(lane, 1, f"{lane}{number}") if push else waiting.pop()
        inside = (inside | {f"{lane}{number}"} if push else inside) - {gone}
        assert set(waiting) == inside
        assert len(waiting) == len(inside) <= 7
