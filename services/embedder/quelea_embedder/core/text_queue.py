"""The waiting texts of one kind: fair between calls, bounded, and cut into batches of like length."""

from __future__ import annotations

import asyncio
import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from quelea_embedder.core.model import Kind, Measured, Vectors

WINDOW = 128
"""Texts at the head of the queue that a batch may be picked from."""


@dataclass(eq=False, slots=True)
class Call:
    """One caller's texts, on their way through the queue."""

    kind: Kind
    texts: Sequence[Measured]
    rows: Vectors
    """Filled batch by batch, in the order of the texts."""

    done: asyncio.Future[None]
    missing: int
    """Texts that have no row yet."""

    entered: float = 0.0
    started: float | None = None
    """When the first of its texts went to the encoder, on the clock of entered."""

    @classmethod
    def new(cls, kind: Kind, texts: Sequence[Measured], dimension: int) -> Call:
        """A call whose rows are all to be made. Needs a running event loop."""
        loop = asyncio.get_running_loop()
        rows = np.empty((len(texts), dimension), np.float32)
        return cls(kind, texts, rows, loop.create_future(), len(texts), entered=loop.time())


@dataclass(slots=True)
class Item:
    """One text of a call in the queue."""

    call: Call
    index: int
    tokens: int
    tag: float = field(default=0.0)
    """Place in the queue: tokens of its call that go before it, counted from when the call came."""


class TextQueue:
    """A bounded queue of texts that are served fairly between calls.

    Fair queueing by start tags: a call's n-th token has the tag "clock at its arrival + n", and the lowest tag is
    served first. So a call with a few texts passes a job with thousands, and two jobs take turns.

    Args:
        max_texts: More waiting texts than this are refused, unless nothing is waiting.
        max_tokens: The same for tokens.
        overhead_tokens: What a batch of its own costs, told in tokens: a text joins a batch only when the padding
            that this makes costs less.
    """

    def __init__(self, max_texts: int, max_tokens: int, overhead_tokens: int) -> None:
        self._max_texts = max_texts
        self._max_tokens = max_tokens
        self._overhead = overhead_tokens
        self._items: list[Item] = []
        self._clock = 0.0
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._items)

    def fits(self, texts: int, tokens: int) -> bool:
        """Whether a call of this size may enter. An empty queue takes any."""
        if not self._items:
            return True
        return len(self._items) + texts <= self._max_texts and self.tokens + tokens <= self._max_tokens

    def add(self, call: Call) -> None:
        """Queue every text of a call, the longest first, so that neighbours in the queue are of like length."""
        order = sorted(range(len(call.texts)), key=lambda i: -call.texts[i].tokens)
        tag = self._clock
        for index in order:
            tokens = call.texts[index].tokens
            bisect.insort(self._items, Item(call, index, tokens, tag), key=lambda item: item.tag)
            tag += tokens
            self.tokens += tokens

    def remove(self, call: Call) -> int:
        """Forget a call's waiting texts; returns how many there were."""
        kept = [item for item in self._items if item.call is not call]
        removed = len(self._items) - len(kept)
        self._items = kept
        self.tokens = sum(item.tokens for item in kept)
        return removed

    def take(self, max_tokens: int, max_texts: int) -> list[Item]:
        """The next batch: the text whose turn it is, and those near the head that go well with it.

        Args:
            max_tokens: Bound of (longest text x number of texts), which is what the encoder works through. A longer
                text goes alone.
            max_texts: Bound of the number of texts.
        """
        if not self._items:
            return []
        window = self._items[:WINDOW]
        anchor = window[0]
        self._clock = anchor.tag
        chosen, longest = [0], anchor.tokens
        for i in sorted(range(1, len(window)), key=lambda i: abs(window[i].tokens - anchor.tokens)):
            if len(chosen) >= max_texts:
                break
            tokens = window[i].tokens
            padded = max(longest, tokens) * (len(chosen) + 1)
            if padded > max_tokens or padded - longest * len(chosen) > tokens + self._overhead:
                continue
            chosen.append(i)
            longest = max(longest, tokens)
        picked = set(chosen)
        self._items[: len(window)] = [item for i, item in enumerate(window) if i not in picked]
        batch = [window[i] for i in chosen]
        self.tokens -= sum(item.tokens for item in batch)
        return batch
