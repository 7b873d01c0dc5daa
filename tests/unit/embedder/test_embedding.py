"""Checks, cache and truncation of one call."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_embedder.adapters.fake_encoder import FakeEncoder
from quelea_embedder.core.batching import Batcher, Limits
from quelea_embedder.core.embedding import Embedding, VectorCache
from quelea_embedder.core.model import Kind
from quelea_kit.errors import InvalidInput, TooLarge


@contextlib.asynccontextmanager
async def fake_embedding(
    encoder: FakeEncoder | None = None, max_texts: int = 4, cache: int = 10
) -> AsyncIterator[Embedding]:
    encoder = encoder or FakeEncoder()
    batcher = Batcher(encoder, Limits())
    batcher.start()
    try:
        yield Embedding(encoder, batcher, max_texts=max_texts, cache=VectorCache(cache))
    finally:
        await batcher.stop()


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
async def test_an_empty_text_is_refused_and_named(blank: str) -> None:
    encoder = FakeEncoder()
    async with fake_embedding(encoder) as embedding:
        with pytest.raises(InvalidInput, match=r"texts\[2\]") as error:
            await embedding.embed(["a", "b", blank], Kind.PASSAGE)
    assert error.value.details == {"index": "2"}
    assert encoder.batches == []


async def test_no_text_at_all_is_refused() -> None:
    async with fake_embedding() as embedding:
        with pytest.raises(InvalidInput):
            await embedding.embed([], Kind.QUERY)


async def test_too_many_texts_are_refused_and_the_limit_is_named() -> None:
    async with fake_embedding(max_texts=4) as embedding:
        assert (await embedding.embed(["t"] * 4, Kind.PASSAGE)).vectors.shape == (4, 8)
        with pytest.raises(TooLarge, match="4") as error:
            await embedding.embed(["t"] * 5, Kind.PASSAGE)
    assert error.value.details == {"limit": "4"}


@pytest.mark.parametrize("kind", list(Kind))
async def test_over_long_texts_are_cut_and_flagged(kind: Kind) -> None:
    encoder = FakeEncoder(max_tokens=5)
    async with fake_embedding(encoder) as embedding:
        first = await embedding.embed(["w " * 6, "w " * 5, "w " * 50], kind)
        again = await embedding.embed(["w " * 6, "w " * 5, "w " * 50], kind)
    assert first.truncated == again.truncated == [0, 2]
    np.testing.assert_array_equal(first.vectors[0], first.vectors[1])


async def test_a_known_query_is_not_encoded_again_and_gives_the_same_vector() -> None:
    encoder = FakeEncoder()
    async with fake_embedding(encoder) as embedding:
        first = await embedding.embed(["asked before", "new"], Kind.QUERY)
        second = await embedding.embed(["other", "asked before"], Kind.QUERY)
        passage = await embedding.embed(["asked before"], Kind.PASSAGE)
    np.testing.assert_array_equal(first.vectors[0], second.vectors[1])
    assert (first.cached, second.cached, passage.cached) == (0, 1, 0)
    assert [texts for kind, texts in encoder.batches if kind is Kind.QUERY] == [["asked before", "new"], ["other"]]
    assert not np.allclose(passage.vectors[0], first.vectors[0])


async def test_a_call_of_known_queries_needs_no_encoder() -> None:
    encoder = FakeEncoder()
    async with fake_embedding(encoder) as embedding:
        await embedding.embed(["q"], Kind.QUERY)
        answer = await embedding.embed(["q", "q"], Kind.QUERY)
    assert answer.cached == 2
    assert len(encoder.batches) == 1


async def test_ready_fails_when_the_workers_are_gone() -> None:
    async with fake_embedding() as embedding:
        await embedding.ready()
    with pytest.raises(RuntimeError):
        await embedding.ready()


@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.integers(0, 4))
def test_the_cache_keeps_the_latest_and_never_more_than_its_size(words: list[str], size: int) -> None:
    cache = VectorCache(size)
    for word in words:
        if cache.get(word) is None:
            cache.put(word, np.full(2, ord(word), np.float32), truncated=False)
        assert len(cache) <= size
    latest = list(dict.fromkeys(reversed(words)))[:size]
    for word in latest:
        found = cache.get(word)
        assert found is not None and found[0][0] == ord(word)


def test_the_cache_keeps_a_copy_and_no_long_texts() -> None:
    cache = VectorCache(3, max_characters=5)
    vector = np.ones(2, np.float32)
    cache.put("short", vector, truncated=True)
    cache.put("longer than that", vector, truncated=False)
    vector[0] = 7
    found = cache.get("short")
    assert found is not None and found[0][0] == 1 and found[1] is True
    assert cache.get("longer than that") is None
