"""Which pairs are trained on and which are held out: by company and document, and by a hash, so that it is repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from quelea_training.pairs.model import Pair, Passage, Split


def split_of(group: str, seed: int, dev: float, test: float) -> Split:
    """The split of a group; the same group and seed always have the same one.

    Args:
        group: `Passage.group`.
        seed: Another one splits otherwise.
        dev: Share of groups to develop on, 0 to 1.
        test: Share of groups to test on.
    """
    place = int.from_bytes(hashlib.sha256(f"{seed}\0{group}".encode()).digest()[:8]) / 2**64
    return "test" if place < test else "dev" if place < test + dev else "train"


def split(
    pairs: Iterable[Pair],
    passages: Mapping[str, Passage],
    *,
    seed: int,
    dev: float,
    test: float,
    always_test: frozenset[str] = frozenset(),
) -> list[Pair]:
    """The pairs with their splits; sources in `always_test` are never trained on."""
    return [
        replace(
            pair,
            split="test" if pair.source in always_test else split_of(passages[pair.passage].group, seed, dev, test),
        )
        for pair in pairs
    ]
