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
        """Where a place of the old text is now; inside what was replaced: behind the replacement."""
        moved = position
        for edit in self._edits:
            if edit.start > position:
                break
            if edit.end > position:
                return moved - (position - edit.start) + len(edit.new)
            moved += len(edit.new) - (edit.end - edit.start)
        return moved
