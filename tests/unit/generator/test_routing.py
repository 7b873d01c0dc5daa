"""Routing: prompts that begin alike meet at one replica, unless it is too busy."""

import random
from collections import Counter

import pytest
from quelea_generator.core.prompt import Message
from quelea_generator.core.routing import Load, Policy, affinity_key, by_affinity, ranked, round_robin

NAMES = ["http://a/v1", "http://b/v1", "http://c/v1"]


def idle(names: list[str] = NAMES) -> list[Load]:
    return [Load(name, 0, 0, 8) for name in names]


def prompt(evidence: str, question: str) -> list[Message]:
    return [Message("system", "You are an analyst."), Message("user", f"{evidence}\n{question}")]


def test_the_key_is_the_beginning_and_the_model() -> None:
    long = "Net sales by segment. " * 100
    key = affinity_key("m", prompt(long, "First?"))
    assert key == affinity_key("m", prompt(long, "Second?"))
    assert key != affinity_key("adapter", prompt(long, "First?"))
    assert key != affinity_key("m", prompt(f"Other {long}", "First?"))
    assert affinity_key("m", prompt("short", "First?")) != affinity_key("m", prompt("short", "Second?"))


def test_roles_and_cuts_are_part_of_the_key() -> None:
    assert affinity_key("m", [Message("user", "ab")]) != affinity_key("m", [Message("user", "a"), Message("user", "b")])
    assert affinity_key("m", [Message("user", "\ud800")])  # a lone surrogate is no reason to fail


def test_a_replica_that_goes_moves_only_its_own_keys() -> None:
    keys = [str(n).encode() for n in range(300)]
    before = {key: ranked(key, NAMES)[0] for key in keys}
    after = {key: ranked(key, NAMES[:2])[0] for key in keys}
    assert all(after[key] == before[key] for key in keys if before[key] != NAMES[2])
    shares = Counter(before.values())
    assert set(shares) == set(NAMES)
    assert min(shares.values()) > 60


def test_affinity_is_given_up_at_the_stated_factor() -> None:
    key, choose = b"key", by_affinity(2.0)
    first, *others = ranked(key, NAMES)

    def with_load(outstanding: int) -> list[Load]:
        return [Load(first, outstanding, 1, 8), *(Load(name, 400, 1, 8) for name in others)]

    assert choose(with_load(1000), key, 100) == first  # 2 * (400 + 100)
    assert choose(with_load(1001), key, 100) == others[0]


def test_a_full_replica_is_passed_over_and_none_is_none() -> None:
    key, choose = b"key", by_affinity(2.0)
    first, second, third = ranked(key, NAMES)
    loads = [Load(first, 0, 8, 8), Load(second, 90, 1, 8), Load(third, 10, 1, 8)]
    assert choose(loads, key, 100) == third
    assert choose([Load(name, 0, 8, 8) for name in NAMES], key, 1) is None
    assert round_robin()([Load(name, 0, 8, 8) for name in NAMES], key, 1) is None


def test_round_robin_takes_turns() -> None:
    policy = round_robin()
    assert [policy(idle(), b"", 1) for _ in range(4)] == [*NAMES, NAMES[0]]


def hits(policy: Policy, names: list[str]) -> tuple[int, Counter[str]]:
    """Requests whose prefix their replica has seen, of 40 prefixes asked 6 times each, four at a time in flight."""
    order = [group for group in range(40) for _ in range(6)]
    random.Random(3).shuffle(order)
    seen: dict[str, set[int]] = {name: set() for name in names}
    flying: list[str] = []
    found, shares = 0, Counter[str]()
    for group in order:
        if len(flying) == 4:
            flying.pop(0)
        loads = [Load(name, 500 * flying.count(name), flying.count(name), 8) for name in names]
        name = policy(loads, affinity_key("m", prompt(f"Prefix {group} " * 300, "?")), 500)
        assert name is not None
        flying.append(name)
        shares[name] += 1
        found += group in seen[name]
        seen[name].add(group)
    return found, shares


@pytest.mark.parametrize("replicas", [2, 3])
def test_affinity_finds_more_cached_prefixes_than_round_robin_and_still_shares_the_load(replicas: int) -> None:
    names = NAMES[:replicas]
    affine, shares = hits(by_affinity(2.0), names)
    turns, _ = hits(round_robin(), names)
    assert affine > turns + 10 * (replicas - 1)
    assert min(shares.values()) > 240 / replicas / 2
