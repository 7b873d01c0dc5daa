"""Which replica of the engine answers: the one that has the prompt's beginning cached, unless it is too busy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from quelea_generator.core.prompt import Message

AFFINITY_CHARS = 1536
"""Characters of the prompt that make its key: past the template's fixed words, into the first passage of evidence."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a replica has to do.

    Attributes:
        name: Of the replica; the same one after a restart has the same name.
        outstanding: Tokens that it still has to read or write for us, estimated.
        in_flight: Requests that it works on for us.
        places: Most of them.
    """

    name: str
    outstanding: int
    in_flight: int
    places: int


Policy = Callable[[Sequence[Load], bytes, int], str | None]
"""The replicas that work, the key of the prompt, its cost in tokens -> the replica's name; None: no place anywhere."""


def affinity_key(model: str, messages: Sequence[Message], chars: int = AFFINITY_CHARS) -> bytes:
    """The same for prompts to the same model that begin alike, and so may share cached blocks."""
    start = ""
    for message in messages:
        start += f"\0{message.role}\0{message.content[: chars - len(start)]}"
        if len(start) >= chars:
            break
    return blake2b(f"{model}{start}".encode("utf-8", "replace"), digest_size=16).digest()


def ranked(key: bytes, names: Sequence[str]) -> list[str]:
    """The replicas in this key's order of preference (rendezvous hashing, Thaler and Ravishankar, 1998).

    When a replica goes, only its own keys move.
    """
    return sorted(names, key=lambda name: blake2b(key + name.encode(), digest_size=8).digest(), reverse=True)


def by_affinity(factor: float) -> Policy:
    """The key's first choice, while its outstanding tokens are at most `factor` times those of the least busy replica.

    The request's own cost is added to the least busy one's, so that between idle replicas affinity decides. When the
    first choice is too busy or full, the least busy one with a place is taken, in the key's order where equal.
    """

    def policy(loads: Sequence[Load], key: bytes, cost: int) -> str | None:
        free = {load.name: load for load in loads if load.in_flight < load.places}
        if not free:
            return None
        order = ranked(key, [load.name for load in loads])
        least = min(load.outstanding for load in free.values())
        first = order[0]
        if first in free and free[first].outstanding <= factor * (least + cost):
            return first
        return min((name for name in order if name in free), key=lambda name: free[name].outstanding)

    return policy


def round_robin() -> Policy:
    """One after the other, whatever they have cached: what by_affinity is measured against."""
    turn = 0

    def policy(loads: Sequence[Load], key: bytes, cost: int) -> str | None:  # a Policy's arguments
        nonlocal turn
        for step in range(len(loads)):
            load = loads[(turn + step) % len(loads)]
            if load.in_flight < load.places:
                turn = (turn + step + 1) % len(loads)
                return load.name
        return None

    return policy
