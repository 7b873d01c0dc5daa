"""How many of something are under way at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Bound:
    """Lets so many in at once; who finds it full goes without and does not wait.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._left = most

    @contextmanager
    def take(self, count: int = 1) -> Iterator[bool]:
        """Whether there is room for so many more; what is taken is given back behind the block."""
        room = count <= self._left
        self._left -= count if room else 0
        try:
            yield room
        finally:
            self._left += count if room else 0
