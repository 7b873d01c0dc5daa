"""What stands before a list, over a table or over a column of an answer, and holds for what is under it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from quelea_checker.model import ONE, Figure, Period
from quelea_checker.reading import units
from quelea_checker.reading.amounts import MARKER
from quelea_checker.reading.calendar import merge_periods
from quelea_checker.reading.periods import find_periods, names_document

_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*–]\s+|[•·▪]\s*|\d{1,2}[.)、]\s*(?=\D)|\(\d{1,2}\)\s*)")
_LEADS = re.compile(r":[\s*_]*$")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$|__[^_]+__\s*$)")
_SENTENCE = re.compile(r"[.!?。！？;]\W*$")
_RULE = re.compile(r"(?=[ \t:|-]{0,200}?--)[ \t:|-]++$")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Lead:
    """What holds for one line of an answer.

    Attributes:
        line: The line before the list, or the table's caption; may be empty.
        cells: Of a row of a table, the starts of its cells in the answer and the heads of their columns.
    """

    line: str = ""
    cells: tuple[tuple[int, str], ...] = ()

    def head(self, place: int) -> str:
        """Of the column in which a place of the answer is; empty outside of tables."""
        at = bisect_right([start for start, _ in self.cells], place) - 1
        return self.cells[at][1] if at >= 0 else ""

    def over(self, place: int) -> str:
        """All that is said over a place: what its column is headed by, and the line."""
        return f"{self.head(place)} {self.line}".strip()

    def periods(self, place: int, own: Sequence[Period]) -> tuple[Period, ...]:
        """The times of a figure: those of its column's head and its row ("first quarter" under "2019"), else of the
        line."""
        over = _find_times(self.head(place))
        line = _find_times(self.line) if len(over) + len(own) < 2 else ()
        if not over and not own:
            return line
        row = merge_periods(over, own) if over else tuple(own)
        if any(period.year for period in row):
            return row
        return merge_periods(line, row) if line else row

    def with_unit(self, figure: Figure, place: int) -> Figure:
        """A bare number with the unit that its column or the line states: 5.2 under "(亿元)"."""
        if figure.kind != "number" or figure.scale is not None or not self.over(place):
            return figure
        unit = units.unit_of("", self.head(place), self.line)
        if unit.percent and not figure.currency:
            return replace(figure, kind="percent")
        one = unit.scales[0] if len(unit.scales) == 1 else ONE
        scale: Decimal | None = one if one != ONE else None
        return replace(figure, scale=scale, currency=figure.currency or unit.currency) if scale else figure


def with_said_scale(figure: Figure, text: str) -> Figure:
    """A whole amount of money with the one scale that its text states apart from it: "in millions, it was $1,331"."""
    if figure.kind != "number" or figure.scale is not None or not figure.currency or figure.step < ONE:
        return figure
    stated = (match.group() for match in units.find_statements(text) if not match["word3"])  # "millions of users"
    scales = {scale for one in stated for scale in units.read_stated_unit(one)[0]} - {ONE}
    return replace(figure, scale=scales.pop()) if len(scales) == 1 else figure


class Leads:
    """The leads of an answer's lines.

    Args:
        text: The answer, plain.
    """

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._leads: list[Lead] = []
        lines: list[tuple[int, str]] = []
        at = 0
        for line in text.split("\n"):
            lines.append((at, line))
            at += len(line) + 1
        stack: list[tuple[int, str]] = []
        heads: list[str] | None = None
        for number, (start, line) in enumerate(lines):
            lead = Lead()
            behind = lines[number + 1][1] if number + 1 < len(lines) else ""
            bullet = _BULLET.match(line)
            if "|" in line and heads is None and _RULE.fullmatch(behind) and "-" in behind:
                heads = [head for _, head in _split_cells(line, 0)]
            elif "|" in line and heads is not None:
                caption = stack[0][1] if stack else ""
                cells = _split_cells(line, start)
                lead = Lead(caption, tuple((place, head) for (place, _), head in zip(cells, heads, strict=False)))
            elif bullet and not _HEADING.match(line):
                indent = len(bullet["indent"].expandtabs(4))
                while stack and stack[-1][0] >= indent:
                    stack.pop()
                lead = Lead(" ".join(text for _, text in stack)[:_LONGEST])
                if _LEADS.search(line):
                    stack.append((indent, _strip_markup(line[bullet.end() :])))
            elif line.strip():
                heads = None
                leads = _LEADS.search(line) or _HEADING.match(line) or _is_caption(lines, number)
                stack = [(-1, _strip_markup(line))] if leads else []
            if not line.strip():
                heads = None
            self._starts.append(start)
            self._leads.append(lead)

    def of(self, place: int) -> Lead:
        """The lead of the line in which a place of the answer is."""
        return self._leads[bisect_right(self._starts, place) - 1]


def _find_times(text: str) -> tuple[Period, ...]:
    return tuple(period for period in find_periods(text) if not names_document(text, period))


def _strip_markup(line: str) -> str:
    return MARKER.sub(" ", line).strip(" #*_:\t")[:_LONGEST]


def _is_caption(lines: Sequence[tuple[int, str]], number: int) -> bool:
    """A line without a full stop, with nothing but space between it and a table."""
    if _SENTENCE.search(lines[number][1]):
        return False
    rest = (line for _, line in lines[number + 1 : number + 4] if line.strip())
    return "|" in next(rest, "")


def _split_cells(line: str, start: int) -> list[tuple[int, str]]:
    """Starts and texts of the cells of a row."""
    found = []
    at = len(line) - len(line.lstrip())
    at += line[at : at + 1] == "|"
    for cell in line[at:].split("|"):
        found.append((start + at, cell.strip(" *_")))
        at += len(cell) + 1
    return found
