"""The queue of one kind of texts: fair, bounded, batches of like length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_embedder.core.model import Kind, Measured
from quelea_embedder.core.text_queue import Call, TextQueue


def queue_of(max_texts: int = 1000, max_tokens: int = 100_000, overhead: int = 4) -> TextQueue:
    return TextQueue(max_texts, max_tokens, overhead)


def call_of(tokens: list[int]) -> Call:
    return Call.new(Kind.PASSAGE, [Measured(f"{i}", n, truncated=False) for i, n in enumerate(tokens)], 2)


def drain(queue: TextQueue, budget: int = 64, texts: int = 8) -> list[list[tuple[Call, int]]]:
    batches = []
    while batch := queue.take(budget, texts):
        batches.append([(item.call, item.index) for item in batch])
    return batches


async def test_every_text_leaves_exactly_once_and_batches_keep_their_bounds() -> None:
    @given(st.lists(st.lists(st.integers(1, 80), min_size=1, max_size=30), min_size=1, max_size=6))
    def check(sizes: list[list[int]]) -> None:
        queue, calls = queue_of(), [call_of(tokens) for tokens in sizes]
        for call in calls:
            queue.add(call)
        assert queue.tokens == sum(map(sum, sizes))
        seen = []
        for batch in drain(queue, budget=64, texts=8):
            tokens = [call.texts[i].tokens for call, i in batch]
            assert len(batch) <= 8
            assert len(batch) == 1 or max(tokens) * len(tokens) <= 64
            seen += [(id(call), i) for call, i in batch]
        assert sorted(seen) == sorted((id(call), i) for call in calls for i in range(len(call.texts)))
        assert queue.tokens == 0 and len(queue) == 0

    check()


async def test_texts_of_like_length_go_together() -> None:
    queue = queue_of(overhead=2)
    queue.add(call_of([30, 5, 30, 5, 5]))
    sizes = [[call.texts[i].tokens for call, i in batch] for batch in drain(queue, budget=64)]
    assert sizes == [[30, 30], [5, 5, 5]]


async def test_a_high_overhead_merges_unlike_lengths() -> None:
    queue = queue_of(overhead=100)
    queue.add(call_of([30, 5]))
    assert [len(batch) for batch in drain(queue)] == [2]


async def test_texts_of_many_calls_share_a_batch() -> None:
    queue = queue_of()
    for _ in range(4):
        queue.add(call_of([10]))
    assert [len(batch) for batch in drain(queue)] == [4]


async def test_a_small_call_passes_a_large_one_that_came_first() -> None:
    queue, large, small = queue_of(), call_of([10] * 500), call_of([10, 10])
    queue.add(large)
    queue.take(10, 1)
    queue.add(small)
    order = [call for batch in drain(queue, budget=10) for call, _ in batch]
    assert [i for i, call in enumerate(order) if call is small][-1] <= 4


async def test_two_large_calls_take_turns() -> None:
    queue, one, two = queue_of(), call_of([10] * 50), call_of([10] * 50)
    queue.add(one)
    queue.add(two)
    first = [call for batch in drain(queue, budget=10) for call, _ in batch][:20]
    assert sum(call is one for call in first) == pytest.approx(10, abs=1)


async def test_bounds_are_of_texts_and_of_tokens_but_an_empty_lane_takes_any() -> None:
    queue = queue_of(max_texts=3, max_tokens=100)
    assert queue.fits(10, 1000)
    queue.add(call_of([10, 10]))
    assert queue.fits(1, 80)
    assert not queue.fits(2, 2)
    assert not queue.fits(1, 81)


async def test_remove_takes_all_of_one_call_and_nothing_else() -> None:
    queue, one, two = queue_of(), call_of([10, 20]), call_of([30])
    queue.add(one)
    queue.add(two)
    assert queue.remove(one) == 2
    assert (len(queue), queue.tokens) == (1, 30)
    assert queue.remove(one) == 0
    assert [call for batch in drain(queue) for call, _ in batch] == [two]


async def test_a_text_longer_than_the_budget_goes_alone() -> None:
    queue = queue_of()
    queue.add(call_of([500, 500, 1]))
    assert [len(batch) for batch in drain(queue, budget=64)] == [1, 1, 1]
