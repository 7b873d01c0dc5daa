"""Different tools first: of those that are nearly the same (one more index, one more market) a few, then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from quelea_gateway.core.tools.indexing import SOURCES, name_parts

T = TypeVar("T")

ALIKE = 0.6
"""Share of the words of their names that two tools must have in common to be taken for nearly the same."""
MOST_ALIKE = 2
"""So many of them are shown before the others. Chosen on the development half; 2 to 4 differ by one question."""


def varied(found: Sequence[tuple[str, T]]) -> list[T]:
    """(name, anything) in order of rank, in the order to show them in; nothing is left out."""
    first: list[tuple[frozenset[str], T]] = []
    later: list[T] = []
    for name, one in found:
        words = frozenset(name_parts(name)) - SOURCES
        alike = sum(1 for other, _ in first if words and len(words & other) >= ALIKE * len(words | other))
        if alike < MOST_ALIKE:
            first.append((words, one))
        else:
            later.append(one)
    return [one for _, one in first] + later
