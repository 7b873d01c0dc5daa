"""Lines as a layout engine gives them, before anybody knows what they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A run of text without a wide gap inside. Coordinates in points, from the left."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class RawLine:
    """One printed line."""

    cells: tuple[Cell, ...]
    y: float
    """Baseline, in points from the bottom of the page."""
    height: float
    """Of the font, in points."""
    weight: int
    """Of the first character: about 200 light, 400 and more bold; 0 unknown."""
    italic: bool = False
    sinks: float = 0.0
    """How far below `y` the last character stands: a word broken with a hyphen pulls the next printed line in."""

    @property
    def text(self) -> str:
        """The cells with a space between them."""
        return " ".join(cell.text for cell in self.cells)

    @property
    def x0(self) -> float:
        """Left edge."""
        return self.cells[0].x0

    @property
    def x1(self) -> float:
        """Right edge."""
        return self.cells[-1].x1


@dataclass(frozen=True, slots=True)
class RawPage:
    """The printed lines of a page in reading order."""

    lines: tuple[RawLine, ...]
    width: float
    height: float
