"""Which pairs are trained on and which are held out: by company and document, and by a hash, so that it is repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from quelea_training.pairs.model import Pair, Passage, Split

_NOTHING = 1e-9
"""A share that sums of shares leave and nobody asked for."""


def split(
    pairs: Iterable[Pair],
    passages: Mapping[str, Passage],
    known: dict[str, Split],
    *,
    seed: int,
    dev: float,
    test: float,
    never_train: bool = False,
) -> list[Pair]:
    """The pairs of a source with their splits.

    Args:
        pairs: Of one source.
        passages: Theirs.
        known: Group -> split of sources before, which stays; those of this source are added.
        seed: Another one splits otherwise.
        dev: Share of groups to develop on, 0 to 1.
        test: Share of groups to test on.
        never_train: What would be trained on is tested with.
    """
    found = list(pairs)
    groups = {passages[pair.passage].group for pair in found}
    chosen = split_groups(groups, known, seed=seed, dev=dev, test=1 - dev if never_train else test)
    known |= chosen
    return [replace(pair, split=chosen[passages[pair.passage].group]) for pair in found]


def split_groups(
    groups: Iterable[str], known: Mapping[str, Split], *, seed: int, dev: float, test: float
) -> dict[str, Split]:
    """The split of each group: where its hash falls, if no split is then empty that must not be.

    An empty one takes the group that falls nearest to it, of those that are not alone in theirs; so three companies
    are enough to train, to develop and to test. Where there are too few it stays empty.

    Args:
        groups: `Passage.group`; companies or documents.
        known: The split of some, which stays.
        seed: See `split`, as `dev` and `test`.
    """
    ends: dict[Split, tuple[float, float]] = {"test": (0, test), "dev": (test, test + dev), "train": (test + dev, 1)}
    places = {group: _place(group, seed) for group in sorted(groups)}
    chosen = {group: known.get(group) or split_of(group, seed, dev, test) for group in places}
    for name, (low, high) in ends.items():
        if name in chosen.values() or high - low < _NOTHING:
            continue
        taken = list(chosen.values())
        free = [group for group in chosen if group not in known and taken.count(chosen[group]) > 1]
        if free:
            chosen[min(free, key=lambda group: max(low - places[group], places[group] - high))] = name
    return chosen


def split_of(group: str, seed: int, dev: float, test: float) -> Split:
    """Where the hash of a group falls; the same group and seed always have the same split. See `split`."""
    place = _place(group, seed)
    return "test" if place < test else "dev" if place < test + dev else "train"


def _place(group: str, seed: int) -> float:
    """The hash of a group, 0 to 1."""
    return float(int.from_bytes(hashlib.sha256(f"{seed}\0{group}".encode()).digest()[:8]) / 2**64)
