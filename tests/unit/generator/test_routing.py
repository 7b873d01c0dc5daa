"""Routing: a prompt goes where most of it is cached, unless that engine has more to do than is saved."""

from collections import Counter
from collections.abc import Callable

import pytest
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.routing import (
    BLOCK_CHARS,
    ByAffinity,
    Choice,
    Load,
    Policy,
    PromptKey,
    RoundRobin,
    prompt_key,
    rank_replicas,
)
from support.routing_simulation import Found, recorded, simulate

NAMES = ["http://a/v1", "http://b/v1", "http://c/v1"]


def loads(**outstanding: int) -> list[Load]:
    return [Load(f"http://{name}/v1", tokens, 1, 8) for name, tokens in {"a": 0, "b": 0, "c": 0, **outstanding}.items()]


def prompt(
    evidence: str, question: str = "?", model: str = "m", tokens: int = 1000, rules: str = "You are an analyst."
) -> PromptKey:
    messages = [Message("system", rules), Message("user", f"{evidence}\n{question}")]
    return prompt_key(model, messages, tokens)


def text(name: str, blocks: int = 20) -> str:
    return (f"Passage {name} of a filing. " * 5000)[: blocks * BLOCK_CHARS]


def chosen(policy: Policy, given: list[Load], asked: PromptKey) -> str | None:
    choice = policy.choose(given, asked)
    return choice.name if choice else None


def shared(one: PromptKey, other: PromptKey) -> int:
    return sum(a == b for a, b in zip(one.blocks, other.blocks, strict=False))


def test_prompts_share_as_many_blocks_as_they_begin_alike() -> None:
    first = prompt(text("A"), "First?")
    assert shared(first, prompt(text("A"), "Second?")) == len(first.blocks) == 20
    assert shared(first, prompt(text("A", 10) + text("B"), "First?")) == 10
    assert shared(first, prompt(text("B"), "First?")) == 0
    assert shared(first, prompt(text("A"), "First?", model="adapter")) == 0
    assert shared(first, prompt(text("A"), "First?", rules="You are a poet.")) == 0
    assert first.home == prompt(text("A"), "Second?").home != prompt(text("B")).home
    assert prompt("short", "First?").blocks == ()
    assert prompt("short", "First?").home != prompt("short", "Second?").home
    assert len(prompt_key("m", [Message("user", "x" * 10_000_000)], 1).blocks) == 512


def test_roles_and_cuts_are_part_of_the_blocks() -> None:
    half = "x" * BLOCK_CHARS
    whole = prompt_key("m", [Message("user", half * 2)], 1)
    cut = prompt_key("m", [Message("user", half), Message("user", half)], 1)
    assert whole.blocks != cut.blocks
    assert prompt_key("m", [Message("user", "\ud800" * 300)], 1).blocks  # a lone surrogate is no reason to fail
    assert prompt_key("m", [], 0).blocks == ()


def test_a_replica_that_goes_moves_only_its_own_prompts() -> None:
    keys = [str(n).encode() for n in range(300)]
    before = {key: rank_replicas(key, NAMES)[0] for key in keys}
    after = {key: rank_replicas(key, NAMES[:2])[0] for key in keys}
    assert all(after[key] == before[key] for key in keys if before[key] != NAMES[2])
    shares = Counter(before.values())
    assert set(shares) == set(NAMES)
    assert min(shares.values()) > 60


def test_a_prompt_that_nobody_remembers_goes_the_same_way_in_every_process() -> None:
    for n in range(20):
        asked = prompt(text(str(n)))
        assert (
            chosen(ByAffinity(), loads(), asked)
            == chosen(ByAffinity(), loads(), asked)
            == rank_replicas(asked.home, NAMES)[0]
        )


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_affinity_is_given_up_when_it_costs_more_than_it_saves(factor: float) -> None:
    policy = ByAffinity(factor)
    first = chosen(policy, loads(b=10, c=10), prompt(text("A")))
    assert first == "http://a/v1"
    saved = round(1000 * factor)  # the whole prompt of 1000 tokens is cached there
    again = prompt(text("A"), "again?")
    assert chosen(policy, loads(a=saved - 1), again) == "http://a/v1"
    elsewhere = chosen(policy, loads(a=saved + 1), again)
    assert elsewhere != "http://a/v1"
    # From now on two of them have it, and the one with less to do is taken.
    assert chosen(policy, loads(a=500), again) == elsewhere
    assert chosen(policy, loads(**{elsewhere[7]: 500}), again) == "http://a/v1"


def test_half_a_prompt_is_worth_half() -> None:
    policy = ByAffinity()
    chosen(policy, loads(b=10, c=10), prompt(text("A", 10)))
    other = prompt(text("A", 10) + text("B", 10))
    assert ByAffinity().choose(loads(), other) == Choice(rank_replicas(other.home, NAMES)[0], 0)
    assert chosen(policy, loads(a=499), other) == "http://a/v1"
    assert policy.choose(loads(b=600, c=600), prompt(text("A", 10) + text("C", 10))) == Choice("http://a/v1", 500)
    policy.forget("http://a/v1")
    assert chosen(policy, loads(a=499), other) != "http://a/v1"


def test_what_was_sent_long_ago_is_forgotten_and_beginnings_last() -> None:
    policy = ByAffinity()
    old = prompt(text("old", 400))
    chosen(policy, loads(b=10, c=10), old)
    for n in range(40):
        chosen(policy, loads(b=10**6, c=10**6), prompt(text(str(n), 400)))
    sent = policy._sent["http://a/v1"]
    assert len(sent) == 16_384
    kept = [n for n, block in enumerate(old.blocks) if block in sent]
    assert kept == list(range(len(kept)))
    assert len(kept) < 400


@pytest.mark.parametrize(("rules", "head"), [("The rules of an answer. " * 80, ""), ("", "Context information: " * 12)])
def test_the_templates_words_are_no_reason_to_prefer_the_replica_that_was_first(rules: str, head: str) -> None:
    policy, homes = ByAffinity(), set()
    for n in range(20):
        asked = prompt(head + text(str(n)), rules=rules)
        homes.add(chosen(policy, loads(), asked))
        assert chosen(policy, loads(), asked) == rank_replicas(asked.home, NAMES)[0]
    assert homes == set(NAMES)


@pytest.mark.parametrize("make", [ByAffinity, RoundRobin])
def test_a_full_replica_is_passed_over_and_none_is_none(make: Callable[[], Policy]) -> None:
    policy, asked = make(), prompt(text("A"))
    full = [Load(name, 0, 8, 8) for name in NAMES]
    assert chosen(policy, full, asked) is None
    assert chosen(policy, [*full[:2], Load(NAMES[2], 10**9, 7, 8)], asked) == NAMES[2]
    policy.forget(NAMES[0])


def test_round_robin_takes_turns() -> None:
    policy = RoundRobin()
    assert [chosen(policy, loads(), prompt("x")) for _ in range(4)] == [*NAMES, NAMES[0]]


def runs(make: Callable[[], Policy], passages: int, **shape: int) -> list[Found]:
    prompts = recorded(passages) * 3
    return [simulate(make(), prompts, seed=seed, **shape) for seed in range(3)]


@pytest.mark.parametrize("passages", [1, 8])
@pytest.mark.parametrize(("engines", "at_once"), [(2, 4), (3, 12)])
def test_recorded_prompts_find_more_cached_and_take_no_longer(passages: int, engines: int, at_once: int) -> None:
    affine = runs(ByAffinity, passages, engines=engines, at_once=at_once)
    turns = runs(RoundRobin, passages, engines=engines, at_once=at_once)
    for one, other in zip(affine, turns, strict=True):
        assert one.cached > other.cached + 0.05
        # Short evidence saves little: it must not cost much either.
        assert one.mean < (0.95 if passages > 1 else 1.1) * other.mean
        assert min(one.answers.values()) > sum(one.answers.values()) / engines / 2  # and the load is shared
