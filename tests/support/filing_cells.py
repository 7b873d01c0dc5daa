"""The figures of a filing as its facts tell them, with the lines, columns and chunks that they stand in."""

from __future__ import annotations

import gzip
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from quelea_gateway.core.model import Passage
from quelea_search.core.model import Chunk, ParseLimits
from quelea_search.core.statements.model import Fact
from quelea_search.jobs.file_parsing import ReadDocument, read_file

MONTH_NAMES = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_NO_LABEL = re.compile(r"\b(?:other|total|net)\W*$|^(?:other|basic|diluted|net)\W*$", re.IGNORECASE)
_MOVES = re.compile(r"increase|decrease|change|adjust|proceeds|gain|loss|增加|减少|变动", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d,，]*(?:\.\d+)?|\.\d+")
_STATEMENTS = ("income", "balance", "cash_flow")
LEAST_DIGITS = 3
FURTHER = 4
"""Passages beside those that a draft points at."""
_NUMBER_CELL = re.compile(r"^\(?-?[$€£¥]?\s?\(?\d[\d,]*(?:\.\d+)?\)?$")


@dataclass(frozen=True)
class Cell:
    """A figure with its place, and what it is of."""

    fact: Fact
    chunk: int

    @property
    def digits(self) -> str:
        """As printed, without sign and currency."""
        found = _DIGITS.search(self.fact.printed)
        return found[0] if found else ""

    @property
    def months(self) -> int:
        """How long its time is; 0 of an instant."""
        period = self.fact.period
        return round((period.end - period.start).days / 30.4) if period.start else 0


def read_filing(path: Path) -> ReadDocument:
    """A filing as an upload of it is read."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return read_file(data, path.name.removesuffix(".gz"), None, ParseLimits())  # type: ignore[arg-type]  # nothing given


class FilingCells:
    """The figures of its consolidated statements, in an order of chance.

    Attributes:
        by_row: Those of a line, by `row_of`.
        by_column: Those of a statement's column: statement, basis, period, unit.
    """

    def __init__(self, name: str, filing: ReadDocument, chance: random.Random) -> None:
        self._name = name
        self.chunks = filing.chunks
        self._doc = filing.facts
        self.zh = filing.facts.language == "zh"
        self.cells = [cell for fact in filing.statement_facts if (cell := self._cell(fact))]
        chance.shuffle(self.cells)
        self.by_row: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
        self.by_column: dict[tuple[object, ...], list[Cell]] = defaultdict(list)
        for cell in self.cells:
            self.by_row[row_of(cell)].append(cell)
            self.by_column[cell.fact.statement, cell.fact.basis, cell.fact.period, cell.fact.unit].append(cell)

    def _cell(self, fact: Fact) -> Cell | None:
        good = fact.statement in _STATEMENTS and fact.label and fact.value and not fact.failed and not fact.column
        if not good or fact.basis != "consolidated":
            return None
        found = next(
            (n for n, c in enumerate(self.chunks) if c.page == fact.page and c.start <= fact.start < c.end), None
        )
        return Cell(fact, found) if found is not None else None

    def evidence(self, cells: Sequence[Cell]) -> list[int]:
        """Numbers of the chunks that have them, with others that print the same labels."""
        own = list(dict.fromkeys(cell.chunk for cell in cells))
        words = {w for cell in cells for w in re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]{2}", cell.fact.label.lower())}

        def alike(number: int) -> int:
            text = self.chunks[number].text.lower()
            return sum(word in text for word in words) + 2 * self.chunks[number].is_table

        others = sorted((n for n in range(len(self.chunks)) if n not in own), key=alike, reverse=True)
        return [*own, *others[:FURTHER]]

    def passages(self, order: Sequence[int]) -> tuple[Passage, ...]:
        """The chunks of these numbers, as the retriever gives them."""
        return tuple(self._passage(self.chunks[n]) for n in order)

    def _passage(self, chunk: Chunk) -> Passage:
        doc, period = self._doc, self._doc.period
        end = period.end_date
        name = f"{doc.company} ({doc.ticker})" if doc.ticker else doc.company or doc.title
        long = f"{'quarter' if period.fiscal_quarter else 'year'} ended {long_day(end)}" if end and not self.zh else end
        header = " · ".join(p for p in (name, doc.document_type, period.label, long, chunk.section) if p)
        return Passage(
            document_id=self._name, page=chunk.page, start=chunk.start, end=chunk.end, text=chunk.text,
            is_table=chunk.is_table, table_head=chunk.table_head, section=chunk.section, header=header,
            title=doc.title, published=doc.published, company=doc.company, ticker=doc.ticker,
            document_type=doc.document_type, language=doc.language, period=period.label, period_end=end,
        )  # fmt: skip

    def other_rows(self, cell: Cell) -> list[Cell]:
        """Of other lines of the same column and chunk."""
        fact = cell.fact
        every = self.by_column[fact.statement, fact.basis, fact.period, fact.unit]
        return [o for o in every if o.chunk == cell.chunk and row_of(o) != row_of(cell) and differ(o, cell)]

    def other_columns(self, cell: Cell) -> list[Cell]:
        """Of the same length, at another time."""
        row = self.by_row[row_of(cell)]
        return [
            o for o in row
            if o.fact.period.end != cell.fact.period.end and abs(o.months - cell.months) < 1 and differ(o, cell)
        ]  # fmt: skip

    def other_lengths(self, cell: Cell) -> list[Cell]:
        """Of the same line up to the same day, over another time."""
        row = self.by_row[row_of(cell)]
        return [
            o for o in row
            if o.fact.period.end == cell.fact.period.end and o.months != cell.months and differ(o, cell)
        ]  # fmt: skip

    def at(self, cells: Sequence[Cell], cell: Cell) -> Cell | None:
        """The one of the same period."""
        return next((o for o in cells if o.fact.period == cell.fact.period), None)

    def year_before(self, cell: Cell) -> Cell | None:
        """Of the same line, a year before, in the same chunk."""
        end = cell.fact.period.end
        return next(
            (o for o in self.by_row[row_of(cell)]
             if abs((end - o.fact.period.end).days - 365) < 9 and abs(o.months - cell.months) < 1
             and o.chunk == cell.chunk), None,
        )  # fmt: skip

    def plain(self) -> Iterator[Cell]:
        """Positive amounts of money whose label says what they are."""
        for cell in self.cells:
            digits = cell.digits.replace(",", "").replace(".", "").lstrip("0")
            named = not _NO_LABEL.search(cell.fact.label) and 4 <= len(cell.fact.label) <= 70
            if self.zh:
                named = 3 <= len(cell.fact.label) <= 24
            if named and cell.fact.value > 0 and len(digits) >= LEAST_DIGITS and "(" not in cell.fact.printed:
                yield cell

    def pairs(self) -> Iterator[tuple[Cell, Cell]]:
        """A cell and that of the same row a year before."""
        for cell in self.plain():
            before = self.year_before(cell)
            if (
                before and before.fact.value > 0 and differ(cell, before) and len(cell.fact.unit) == 3
                and not _MOVES.search(cell.fact.label)
            ):  # fmt: skip
                yield cell, before

    def positive_pairs(self, cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
        """Each with that of its row a year before."""
        pairs = ((cell, before) for cell in cells if (before := self.year_before(cell)))
        return [(cell, before) for cell, before in pairs if cell.fact.value > 0 and before.fact.value > 0]


def parts_of(text: str) -> dict[str, tuple[Decimal, Decimal]]:
    """Of each part its revenue and operating income in the first column, where both are positive.

    Either a heading "Revenue" and one "Operating income" over the names of parts, or the parts over the names of lines.
    """
    found: dict[str, dict[str, Decimal]] = defaultdict(dict)
    head = ""
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split("\t") if cell.strip()]
        if not cells:
            continue
        label, numbers = cells[0], [c for c in cells[1:] if _NUMBER_CELL.match(c)]
        if len(cells) == 1:
            head = label
            continue
        if not numbers or "(" in numbers[0]:
            continue
        value = Decimal(re.sub(r"[^\d.]", "", numbers[0]))
        for name, line_name in ((label, head), (head, label)):
            low = line_name.lower().strip(" :")
            key = {"revenue": 0, "revenues": 0, "net sales": 0, "net revenue": 0, "operating income": 1}.get(low)
            if key is not None and name and not re.search(r"total|consolidated|\d", name, re.IGNORECASE):
                found[name.strip(" :")].setdefault(str(key), value)
    return {
        part: (two["0"], two["1"]) for part, two in found.items() if len(two) == 2 and two["0"] and two["1"] >= 100
    }  # fmt: skip


def is_short(cell: Cell) -> bool:
    """Money, under a label that two of fit into a sentence."""
    return len(cell.fact.unit) == 3 and len(cell.fact.label) <= 40 and not re.search(r"[,—–]", cell.fact.label)


def row_of(cell: Cell) -> tuple[str, ...]:
    """What cells of one line share."""
    fact = cell.fact
    return fact.statement, fact.basis, fact.group, fact.label, fact.unit


def differ(one: Cell, other: Cell) -> bool:
    """By more than what rounding hides."""
    a, b = abs(one.fact.value), abs(other.fact.value)
    return abs(a - b) > max(a, b) / 200 and one.digits != other.digits


def long_day(day: str) -> str:
    """ "July 1, 2023"."""
    one = date.fromisoformat(day)
    return f"{MONTH_NAMES[one.month - 1]} {one.day}, {one.year}"
