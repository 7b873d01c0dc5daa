"""A true sentence made false with what stands beside its figure in the table: another row's or period's figure, or
another subject's name.

Nothing in the false sentence is unknown to the evidence, so only the binding of figure, subject and period tells. The
sentence must be about one cell that is known: its figure stands once in the table, in a row that the sentence names.
What takes its place differs by more than rounding and stands in no other place of the evidence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from quelea_evaluation.figures.items import Item

_CELL = re.compile(r"[-−(]?\s{0,8}+[$€£]?\s{0,8}+[-−(]?\s{0,8}+(\d[\d,]*(?:\.\d+)?)\s{0,8}+\)?\s{0,8}+(%?)\s{0,8}+\)?")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")
_FOOTNOTE = re.compile(r"\s{0,8}+\((?:\d|[a-z])\)|(?<![:*])[:*]++$")
_WORD = re.compile(r"[a-z]{3,}")
_FUNCTION_WORDS = frozenset(("and", "the", "for", "from", "with", "per"))
_NAME = re.compile(r"[A-Za-z][A-Za-z &/,.'-]{2,58}[A-Za-z.]")
_HEAD_ROWS = 4
_APART = Decimal("0.03")
"""By how much of itself the figure that takes a place differs from the one that had it."""

Changed = tuple[str, int]
"""The false answer, and the code point at which it was changed."""


@dataclass(frozen=True)
class _Cell:
    """A figure of the answer, and the only cell of the table that has it."""

    start: int
    end: int
    row: int
    column: int


def exchange_row(item: Item, chance: random.Random) -> Changed | None:
    """Another row's figure of the same column."""
    own = _own_cell(item)
    if own is None:
        return None
    said = _words(item.answer)
    others = [
        r for r, line in enumerate(item.table)
        if r != own.row and _label(item, r) and _words(line[0]) - said and _may_replace(item, own, r, own.column)
    ]  # fmt: skip
    return _with_figure(item, own, chance.choice(others), own.column) if others else None


def exchange_column(item: Item, chance: random.Random) -> Changed | None:
    """The same row's figure of another period, where the sentence keeps its own."""
    own = _own_cell(item)
    if own is None:
        return None
    asked = set(_YEAR.findall(f"{item.question} {item.answer}"))
    years = _years(item, own.row, own.column)
    if len(asked) != 1 or years != asked:
        return None
    others = [
        c for c in range(1, len(item.table[own.row]))
        if c != own.column and (there := _years(item, own.row, c)) and not there & asked
        and _may_replace(item, own, own.row, c)
    ]  # fmt: skip
    return _with_figure(item, own, own.row, chance.choice(others)) if others else None


def exchange_subject(item: Item, chance: random.Random) -> Changed | None:
    """The name of another row, or of another column that is no period, in the place of the sentence's own."""
    own = _own_cell(item)
    if own is None:
        return None
    found = [*_other_rows(item, own), *_other_columns(item, own)]
    if not found:
        return None
    (start, end), name = chance.choice(found)
    taken = item.answer[start:end]
    name = name[0].upper() + name[1:] if taken[0].isupper() else name
    return item.answer[:start] + name + item.answer[end:], start


def _own_cell(item: Item) -> _Cell | None:
    """None where the sentence does not say what its figure is of, or the figure is not of one cell alone."""
    figures = list(_NUMBER.finditer(item.answer, item.said_at))
    if not item.said_at or len(figures) != 1:
        return None
    value = Decimal(figures[0].group().replace(",", ""))
    cells = [(r, c) for r, line in enumerate(item.table) for c in range(1, len(line)) if _value(item, r, c) == value]
    if len(cells) != 1:
        return None
    row, column = cells[0]
    label = _words(_label(item, row))
    if not label or not label <= _words(item.answer):
        return None
    return _Cell(*figures[0].span(), row, column)


def _may_replace(item: Item, own: _Cell, row: int, column: int) -> bool:
    """Whether the cell is of the same kind, differs by more than rounding, and stands nowhere else in the evidence."""
    value, old = _value(item, row, column), _value(item, own.row, own.column)
    if value is None or old is None or not value or abs(value - old) <= _APART * max(value, old):
        return False
    if ("%" in item.table[row][column]) != ("%" in item.table[own.row][own.column]):
        return False
    every = [_value(item, r, c) for r, line in enumerate(item.table) for c in range(1, len(line))]
    prose = {Decimal(n.replace(",", "")) for p in item.passages[1:] for n in _NUMBER.findall(p["text"])}
    return every.count(value) == 1 and value not in prose


def _with_figure(item: Item, own: _Cell, row: int, column: int) -> Changed:
    match = _CELL.fullmatch(item.table[row][column])
    assert match  # noqa: S101  # for mypy: _may_replace read it
    return item.answer[: own.start] + match[1] + item.answer[own.end :], own.start


def _other_rows(item: Item, own: _Cell) -> Iterator[tuple[tuple[int, int], str]]:
    span = _span(item, _label(item, own.row))
    for r in range(len(item.table)):
        name = _label(item, r)
        if span and r != own.row and _is_another(item, name, own) and _may_replace(item, own, r, own.column):
            yield span, name


def _other_columns(item: Item, own: _Cell) -> Iterator[tuple[tuple[int, int], str]]:
    for line in item.table[: min(own.row, _HEAD_ROWS)]:
        head = line[own.column] if own.column < len(line) else ""
        span = _span(item, head)
        if not span or _YEAR.search(head):
            continue
        for c in range(1, len(line)):
            if c != own.column and _is_another(item, line[c], own) and _may_replace(item, own, own.row, c):
                yield span, line[c]


def _is_another(item: Item, name: str, own: _Cell) -> bool:
    """Whether it is the name of something of which the sentence does not speak already."""
    words = _words(name)
    return bool(
        _NAME.fullmatch(name) and not _YEAR.search(name) and words - _words(item.answer)
        and not words >= _words(_label(item, own.row))
    )  # fmt: skip


def _span(item: Item, name: str) -> tuple[int, int] | None:
    """Where the sentence says the name, before its figure."""
    if not _NAME.fullmatch(name):
        return None
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", item.answer[: item.said_at], re.IGNORECASE)
    return match.span() if match else None


def _value(item: Item, row: int, column: int) -> Decimal | None:
    """The cell's figure without its sign; None for a cell of anything else, and for years."""
    line = item.table[row]
    match = _CELL.fullmatch(line[column]) if column < len(line) else None
    return Decimal(match[1].replace(",", "")) if match and not _YEAR.fullmatch(line[column]) else None


def _label(item: Item, row: int) -> str:
    return _FOOTNOTE.sub("", item.table[row][0]).strip()


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _FUNCTION_WORDS


def _years(item: Item, row: int, column: int) -> set[str]:
    """The years in the heads of a column."""
    heads = [line[column] for line in item.table[: min(row, _HEAD_ROWS)] if column < len(line)]
    return set(_YEAR.findall(" ".join(heads)))
