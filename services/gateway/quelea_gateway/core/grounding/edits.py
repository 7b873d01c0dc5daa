"""Changes of a text that keep track of where everything went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """text[start:end] becomes `new`; an insertion has start == end and belongs to what stands before it."""

    start: int
    end: int
    new: str = ""


class Edited:
    """A text with edits applied, none of which may overlap.

    Attributes:
        text: The new text.
    """

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        self._edits = sorted(edits, key=lambda edit: (edit.start, edit.end))
        pieces, at = [], 0
        for edit in self._edits:
            if edit.start < at:
                raise ValueError("edits overlap")
            pieces += [text[at : edit.start], edit.new]
            at = edit.end
        self.text = "".join((*pieces, text[at:]))

    def at(self, position: int) -> int:
        """Where a place of the old text is now: behind what was inserted there, before what was replaced from there."""
        return self._move(position, behind=True)

    def until(self, position: int) -> int:
        """Where what ended there ends now: before what was inserted there."""
        return self._move(position, behind=False)

    def _move(self, position: int, *, behind: bool) -> int:
        moved = position
        for edit in self._edits:
            if edit.start > position or (edit.start == position and (edit.end > position or not behind)):
                break
            if edit.end > position:  # inside what was replaced
                return moved - (position - edit.start) + len(edit.new)
            moved += len(edit.new) - (edit.end - edit.start)
        return moved
