"""What is left out of pairs: repeats, what a teacher does not find again, and what would leak from test to training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from datasketch import MinHash, MinHashLSH
from quelea_fintext.text import normalise, words

from quelea_training.pairs.model import Pair, Passage, fingerprint

NEAR = 0.8
"""Share of common shingles from which two texts are one."""
_PERMUTATIONS = 64
_SHINGLE = 3
_FEW = 8
"""Shingles of a text that is too short to be known again inside of another: a heading, a unit."""


def shingles(text: str) -> set[bytes]:
    """Runs of three words; a shorter text is one."""
    found = words(normalise(text))
    runs = [found[at : at + _SHINGLE] for at in range(max(len(found) - _SHINGLE + 1, 1))]
    return {" ".join(run).encode() for run in runs}


class NearDuplicates:
    """Texts so far, and whether another is nearly one of them (MinHash, then the shingles themselves)."""

    def __init__(self, near: float = NEAR) -> None:
        self._near = near
        self._index = MinHashLSH(threshold=near, num_perm=_PERMUTATIONS)
        self._shingles: dict[str, set[bytes]] = {}

    def find(self, text: str) -> str | None:
        """The name of a text that this one nearly is; None when it is like none."""
        mine = shingles(text)
        for name in sorted(self._index.query(_sign(mine))):
            other = self._shingles[name]
            if len(mine & other) >= self._near * len(mine | other):
                return str(name)
        return None

    def add(self, name: str, text: str) -> None:
        """Remember a text; names are not used twice."""
        mine = shingles(text)
        self._shingles[name] = mine
        self._index.insert(name, _sign(mine))


class HeldTexts:
    """Texts that are held out, and whether another has one of them in it, nearly, or is a part of one.

    Pages are cut into passages in more than one way, so what is held out may be a part of what is trained on.

    Args:
        texts: Held out.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._sizes: list[int] = []
        self._holders: dict[bytes, list[int]] = {}
        for at, mine in enumerate(map(shingles, texts)):
            self._sizes.append(len(mine))
            for one in mine:
                self._holders.setdefault(one, []).append(at)

    def meets(self, text: str) -> bool:
        """Whether the text and a held text have nearly all shingles of the shorter one in common.

        Where the shorter one is a few words, it must be nearly all of the longer one's.
        """
        mine = shingles(text)
        shared = Counter(at for one in mine for at in self._holders.get(one, ()))
        for at, count in shared.items():
            shorter, longer = sorted((len(mine), self._sizes[at]))
            if count >= NEAR * (longer if shorter < _FEW else shorter):
                return True
        return False


def _sign(mine: set[bytes]) -> MinHash:
    sketch = MinHash(num_perm=_PERMUTATIONS)
    sketch.update_batch(sorted(mine))
    return sketch


def without_repeats(pairs: Iterable[Pair]) -> list[Pair]:
    """The first of the pairs whose queries are nearly the same and have the same passage."""
    seen: dict[str, NearDuplicates] = {}
    kept = []
    for pair in pairs:
        known = seen.setdefault(pair.passage, NearDuplicates())
        if known.find(pair.query) is None:
            known.add(pair.id, pair.query)
            kept.append(pair)
    return kept


def without_leaks(pairs: Sequence[Pair], passages: Mapping[str, Passage]) -> list[Pair]:
    """Without those of training and development whose query is tested with, or whose passage nearly is.

    A passage that has one that is tested with in it, or that is a part of one, is left out, too.
    """
    tested = [pair for pair in pairs if pair.split == "test"]
    queries = {fingerprint(pair.query) for pair in tested}
    held = HeldTexts(passages[name].text for name in {pair.passage: None for pair in tested})
    leaks = {name for name in {pair.passage for pair in pairs} if held.meets(passages[name].text)}
    return [
        pair
        for pair in pairs
        if pair.split == "test" or (fingerprint(pair.query) not in queries and pair.passage not in leaks)
    ]


def is_found(pair: Pair, ranked: Sequence[str], passages: Mapping[str, Passage], k: int) -> bool:
    """Whether the passage, or one with the same words, is among the teacher's best k."""
    wanted = fingerprint(passages[pair.passage].text)
    return any(
        name == pair.passage or (name in passages and fingerprint(passages[name].text) == wanted) for name in ranked[:k]
    )


def choose_negatives(
    pair: Pair, ranked: Sequence[str], right: frozenset[str], passages: Mapping[str, Passage], count: int
) -> tuple[str, ...]:
    """The best of what a search finds that is not right; not what nearly repeats the passage.

    Args:
        pair: Whose negatives.
        ranked: Ids of passages, best first.
        right: Ids of passages that answer the query.
        passages: All.
        count: How many at most.
    """
    mine = shingles(passages[pair.passage].text)
    chosen: list[str] = []
    for name in ranked:
        if len(chosen) == count:
            break
        if name in right or name == pair.passage or name not in passages:
            continue
        other = shingles(passages[name].text)
        if len(mine & other) < NEAR * len(mine | other):
            chosen.append(name)
    return tuple(chosen)


def sample_spread(pairs: Sequence[Pair], most: int, seed: int, first: Sequence[Pair] = ()) -> list[Pair]:
    """At most so many pairs of each document, chosen by the seed, `first` before others; the order stays."""
    chance = np.random.default_rng(seed)
    before = {pair.id for pair in first}
    of_document: dict[str, list[int]] = {}
    for at, pair in enumerate(pairs):
        of_document.setdefault(pair.document, []).append(at)
    kept: set[int] = set()
    for places in of_document.values():
        drawn = sorted(chance.permutation(places).tolist(), key=lambda at: pairs[at].id not in before)
        kept |= set(drawn[:most])
    return [pair for at, pair in enumerate(pairs) if at in kept]
