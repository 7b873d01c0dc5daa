"""Who used how much, by key and day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from quelea_kit.errors import QueleaError
from quelea_kit.reach import DEFAULT_TENANT

REFUSED = frozenset({400, 403, 413, 429})
"""Statuses of what was turned away: an invalid value, a missing right, a limit."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used.

    Attributes:
        questions: Asked, whether or not they could be answered.
        tokens_read, tokens_written: By the language model, as its endpoint counts them, of answers and of runs.
        runs: Of the agent, that have ended.
        uploads: Files and addresses handed in.
        refusals: Calls that were turned away: an invalid value, a missing right, a limit.
    """

    questions: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    runs: int = 0
    uploads: int = 0
    refusals: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(*(getattr(self, name) + getattr(other, name) for name in FIELDS))


FIELDS = tuple(one.name for one in fields(Usage))


@dataclass(frozen=True, slots=True)
class Row:
    """What was used by a key, on a day; an empty one stands for all of them."""

    day: str
    tenant: str
    key: str
    usage: Usage


def tally(
    found: Mapping[tuple[str, str], Usage], by: Literal["", "key", "day"] = "", keys: Iterable[str] = ()
) -> list[Row]:
    """Rows by day and key, or with the other summed up; by day, tenant and name.

    Args:
        found: By day and owner (a tenant's and a key's name, as Principal.owner has them).
        by: What the rows are told apart by; empty: both.
        keys: Only keys of these names.
    """
    wanted = frozenset(keys)
    sums: dict[tuple[str, str, str], Usage] = {}
    for (day, owner), usage in found.items():
        tenant, _, name = owner.rpartition("\x1f")
        if wanted and name not in wanted:
            continue
        place = (day if by != "key" else "", *((tenant or DEFAULT_TENANT, name) if by != "day" else ("", "")))
        sums[place] = sums.get(place, Usage()) + usage
    return [Row(*place, usage) for place, usage in sorted(sums.items())]


def is_refusal(error: BaseException) -> bool:
    """Whether an error is one of a call that was turned away."""
    return isinstance(error, QueleaError) and error.http_status in REFUSED
