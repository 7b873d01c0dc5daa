"""The statements of a document: tables under a statement's title, with what goes on over a page's end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from quelea_fintext.dates import MONTHS
from quelea_fintext.languages import LANGUAGES

from quelea_search.core.layout.rows import is_number
from quelea_search.core.model import CELL, Line, LineKind, Page
from quelea_search.core.statements.columns import spans

STATEMENTS = ("balance", "comprehensive_income", "income", "cash_flow", "equity")
"""In the order in which a title is read: "statement of comprehensive income" is no statement of income."""
_TITLE_CHARACTERS = 160
_TITLE_LINES = 6
_LEAST_ROWS, _MOST_ROWS = 4, 1000
_STRAY = 3
"""Letters that may stand after a title, besides dates and such words as "(continued)"."""
_SENTENCE = 60
_ENDS = (".", ":", "。", "：")
_LETTER = re.compile(r"[^\W\d_]")
_DATED = re.compile(rf"\b(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row: its text, and its span on the page."""

    text: str
    start: int
    end: int
    extent: tuple[float, float] | None = None
    """Where it begins and ends across the page, where that is known."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    cells: tuple[Cell, ...]
    page: int
    is_head: bool


@dataclass(slots=True)
class PrintedStatement:
    """A statement as printed: lines above it, rows of its head, rows."""

    kind: str
    basis: str
    above: list[str]
    """Title, units and currency, and all other short lines between title and table."""
    heads: list[tuple[str, ...]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


@cache
def _title_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(LANGUAGES.alternatives(f"statements.titles.{kind}"), re.I)) for kind in STATEMENTS)


@cache
def _around() -> re.Pattern[str]:
    return re.compile(LANGUAGES.alternatives("statements.around.title"), re.I)


@cache
def _parent() -> re.Pattern[str]:
    return re.compile(LANGUAGES.alternatives("statements.around.parent"), re.I)


def statement_title(text: str) -> str:
    """The kind of statement that a line is the title of; empty for every other line.

    A title is the statement's name with little around it: a sentence that speaks of a balance sheet is none.
    """
    if len(text) > _TITLE_CHARACTERS:
        return ""
    for kind, pattern in _title_patterns():
        found = pattern.search(text)
        if found:
            bare = _DATED.sub(" ", spans().sub(" ", text[found.end() :]))
            after = len(_LETTER.findall(_around().sub(" ", bare)))
            before = _around().sub(" ", text[: found.start()])
            named = not any(word[0].islower() and len(word) > _STRAY for word in before.split())
            upper = found[0][0].isupper() or not found[0].isascii()
            return kind if upper and named and after <= _STRAY else ""
    return ""


def statements(pages: Sequence[Page]) -> Iterator[PrintedStatement]:
    """The statements of a document, in order. A table without a title goes on with the statement before it."""
    held = _Held()
    for number, page in enumerate(pages, start=1):
        yield from held.turn_to(number)
        for line in page.lines:
            yield from held.take(page, line, number)
    yield from held.end()


class _Held:
    """The statement that is being read, and the lines since its last row."""

    def __init__(self) -> None:
        self._one: PrintedStatement | None = None
        self._between: list[str] = []

    def turn_to(self, number: int) -> Iterator[PrintedStatement]:
        """A page begins."""
        self._between = []
        if self._one is not None and self._one.rows and number - self._one.rows[-1].page > 1:
            yield from self.end()

    def end(self) -> Iterator[PrintedStatement]:
        """Nothing more belongs to it."""
        one, self._one, self._between = self._one, None, []
        if one is not None and sum(1 for row in one.rows if numbers(row)) >= _LEAST_ROWS:
            yield one

    def take(self, page: Page, line: Line, number: int) -> Iterator[PrintedStatement]:
        """The next line."""
        text = page.text[line.start : line.end]
        in_table = line.kind in (LineKind.ROW, LineKind.HEAD)
        row = row_of(page, line, number) if in_table else None
        kind = statement_title(text.split(CELL)[0] if in_table else text)
        if kind and not (row and numbers(row)):
            basis = basis_of(text)
            one = self._one
            if one is None or (one.kind, one.basis) != (kind, basis) or not one.rows or one.rows[-1].page + 1 != number:
                yield from self.end()
                self._one = PrintedStatement(kind, basis, [text])
            self._between = []
        elif self._one is None:
            return
        elif row is not None:
            if len(self._one.rows) >= _MOST_ROWS:  # whatever it is, it is no statement
                self._one, self._between = None, []
            elif self._is_another_table(row):
                yield from self.end()
            else:
                self._one.rows.append(row)
                self._between = []
        elif len(text) > _TITLE_CHARACTERS:
            yield from self.end()
        elif self._one.rows:
            self._between.append(text)
        else:
            self._one.above.append(text)
            if len(self._one.above) > _TITLE_LINES:
                yield from self.end()

    def _is_another_table(self, row: Row) -> bool:
        """Whether a row after some lines is not the statement's: prose leads it in, or it has a head of its own."""
        rows = self._one.rows if self._one else []
        if not rows:
            return False
        if row.is_head:
            said = [cell.text for cell in row.cells]
            known = any(said == [cell.text for cell in one.cells] for one in rows)
            return not known and (bool(self._between) or rows[-1].page < row.page or any(numbers(one) for one in rows))
        return rows[-1].page == row.page and any(
            len(text) > _SENTENCE and text.endswith(_ENDS) for text in self._between
        )


def basis_of(title: str) -> str:
    """ "parent" of a parent company's own statement, else "consolidated"."""
    return "parent" if _parent().search(title) else "consolidated"


def row_of(page: Page, line: Line, number: int) -> Row:
    """The cells of a line of a table, each with its span."""
    cells, at = [], line.start
    for place, text in enumerate(page.text[line.start : line.end].split(CELL)):
        cells.append(Cell(text, at, at + len(text), line.extents[place] if line.extents else None))
        at += len(text) + len(CELL)
    return Row(tuple(cells), number, line.kind is LineKind.HEAD)


def numbers(row: Row) -> list[Cell]:
    """The cells that are figures, a label that is a number left out."""
    return [cell for cell in row.cells[1:] if is_number(cell.text)]
