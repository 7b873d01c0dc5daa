"""Tables in the text of a passage: rows with a label, and each cell's column head, as far as it can be known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_checker.heads import Column, columns, dated
from quelea_checker.model import Period
from quelea_checker.periods import find_periods
from quelea_checker.remarked import first as first_of
from quelea_checker.remarked import is_figure

_NUMERIC = re.compile(
    r"[\s(]*[-–+△▲]?\s*(?:US\$|HK\$|RMB|[$€£¥₹])?\s*\(?\s*[-–]?\s*(?:[$€£¥])?\d[\d,]*(?:\.\d+)?\s*"
    r"(?:[%x倍]|pts?|ppts?|bps?|个百分点|percent|[kKmMbB]n?|[万亿]?元?)?\s*[)%]*\s*(?:[*†‡]+|\(\w{1,2}\))?\s*",
)
_DASH = re.compile(r"[-–—_]+\s*%?|[$€£¥]\s*[-–—]+|nil|n/?[am]\.?|n\.?m\.?|不适用|无", re.IGNORECASE)
_YEAR = re.compile(r"(?:FY|fiscal)?\s?(?:19|20)\d\d(?:年度?|/\d\d(?:\d\d)?)?(?:\s?\(\w\))?\s*:?", re.IGNORECASE)
_TAIL = re.compile(
    r"(?P<label>.*?[A-Za-z\u3400-\u9fff):.*]+?)[\s.]+(?P<cells>(?:[$€£¥(]\s?)*[-–]?\s?\d[\d,]*(?:\.\d+)?\s?[%)]*"
    r"(?:\s+(?:(?:[$€£¥(]\s?)*[-–]?\s?\d[\d,]*(?:\.\d+)?\s?[%)]*|[-–—]+))*)\s*"
)
_CELL = re.compile(r"(?:[$€£¥(]\s?)*[-–]?\s?\d[\d,]*(?:\.\d+)?\s?[%)]*|[-–—]+")
_DAY = re.compile(r"\d{1,2}/\d{1,2}/(?:\d\d){1,2}\s?[~–-]?")
_TIMELY = re.compile(
    r"\byears?\b|\bdates?\b|\bended\b|\bending\b|\bmaturit|\bexpir|\bdue\b|\bperiods?\b|\bfiscal\b|\bfounded\b|\bsince\b"
    r"|年|日|期|\bin (?:millions|thousands)|\bas of\b|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_HEADS = 7
_WIDEST = 80


@dataclass(frozen=True, slots=True)
class RawCell:
    """A cell as printed: text[start:end] of the passage; a dash is a zero."""

    text: str
    start: int
    end: int
    column: Column
    dash: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row: `section` is the nearest heading above it, `block` counts the headings and tables before it."""

    label: str
    section: str
    periods: tuple[Period, ...]
    cells: tuple[RawCell, ...]
    start: int
    end: int
    table: int
    block: int
    above: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A run of lines that is no table: text[start:end]; `above` states the unit, when something above does."""

    start: int
    end: int


def _parts(line: str) -> list[tuple[str, int]] | None:
    """The parts of a row with their places; empty ones are kept. None: the line has no cells."""
    if "\t" in line or line.count("|") >= 2 or (line.count("|") == 1 and is_figure(line.partition("|")[2].strip())):
        separator = r"[\t|]"
    elif re.search(r"\S {2,}\S", line):
        separator = r" {2,}"
    else:
        match = _TAIL.fullmatch(line) if len(line) < 300 else None
        if match is None or re.search(r"[.。;；]\s", match["label"]):
            return None
        cells = [(m.group(), match.start("cells") + m.start()) for m in _CELL.finditer(match["cells"])]
        if len(cells) < 2 and (len(match["label"]) > 70 or line.rstrip().endswith((".", "。"))):
            return None
        if len(cells) < 2 and (_YEAR.fullmatch(cells[0][0].strip()) or find_periods(dated(line))):
            return None
        return [(match["label"].strip(), 0), *cells]
    found, at = [], 0
    for piece in re.split(f"({separator})", line):
        if not re.fullmatch(separator, piece):
            found.append((piece.strip(), at + len(piece) - len(piece.lstrip())))
        at += len(piece)
    if line.lstrip().startswith("|"):
        found = found[1:]
    if line.rstrip().endswith("|"):
        found = found[:-1]
    return found


def _is_cell(part: str) -> bool:
    return bool(part) and bool(_NUMERIC.fullmatch(part) or _DASH.fullmatch(part))


def _is_told(part: str) -> bool:
    """A number, or an amount with words about it."""
    return bool(_NUMERIC.fullmatch(part)) or is_figure(part)


_OPEN = re.compile(r"[A-Za-z,]\s*$")
"""A line that the next may go on with."""


@dataclass
class _State:
    heads: tuple[tuple[str, ...], ...] = ()
    table: int = 0
    block: int = 0
    section: str = ""
    section_periods: tuple[Period, ...] = ()


def read(text: str, head: str = "") -> tuple[list[Row], list[Prose]]:
    """The rows and the prose of a plain() text. `head` holds lines that stand above it elsewhere."""
    rows: list[Row] = []
    prose: list[Prose] = []
    state = _State()
    pending: list[tuple[str, ...]] = [
        tuple(p for p, _ in (_parts(x) or [(x.strip(), 0)])) for x in head.splitlines() if x.strip()
    ]
    above = head
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip("\r\n")
        if not bare.strip():
            continue
        parts = _parts(bare)
        above_it = pending or state.heads
        data = _data(parts, above_it) if parts and len(parts) <= _WIDEST else None
        if parts and data:
            _settle(state, pending)
            pending = []
            rows.append(_row(state, parts, data, start, start + len(bare), above))
            continue
        pieces = tuple(p for p, _ in parts) if parts else (bare.strip(),)
        if state.heads and parts and all(_DAY.fullmatch(p) for p in [q for q in pieces if q][-2:]):
            continue  # "Maturity date  30/7/2021  28/6/2019": a row of text, no head
        pending.append(pieces)
        if len(bare) < 400 or "(in " in bare.lower():
            above = f"{above}\n{bare}"[-1500:]
        if re.search(r"\w", bare):
            last = prose[-1] if prose else None
            joins = (
                parts is None
                and last
                and not text[last.end : start].strip()
                and not re.search(r"[.。:：!?！？]\s*$", text[last.start : last.end])
            )
            if last and joins and len(bare) > 60:
                prose[-1] = Prose(last.start, start + len(bare))
            else:
                prose.append(Prose(start, start + len(bare)))
    return rows, prose


def _data(parts: Sequence[tuple[str, int]], heads: Sequence[Sequence[str]]) -> list[int] | None:
    """Which parts are cells, when the parts are a row of data. `heads`: the lines above it."""
    first = next((i for i, (part, _) in enumerate(parts) if part), None)
    if first is None:
        return None
    begins = first if (first == 0 and _is_cell(parts[0][0]) and not _YEAR.fullmatch(parts[0][0])) else max(first, 0)
    label = parts[begins][0]
    cells = [i for i in range(begins + 1, len(parts)) if parts[i][0]]
    if _is_cell(label) and not _YEAR.fullmatch(label):
        cells = [begins, *cells]
    figures = [i for i in cells if _is_told(parts[i][0])]
    if cells and not figures and all(_DASH.fullmatch(parts[i][0]) for i in cells) and re.search(r"\w", label):
        return cells  # nothing in any column
    if not figures:
        return None
    if all(_YEAR.fullmatch(parts[i][0]) for i in figures) and not _counts(label, [parts[i][0] for i in figures], heads):
        return None
    if len([i for i in cells if not (_is_cell(parts[i][0]) or is_figure(parts[i][0]))]) > len(figures):
        return None
    return cells


def _counts(label: str, cells: Sequence[str], heads: Sequence[Sequence[str]]) -> bool:
    """Cells that look like years are counts where heads above them name the years, and the row is called something."""
    if not re.search(r"[A-Za-z\u3400-\u9fff]{2}", label) or _TIMELY.search(label):
        return False
    if not all(re.fullmatch(r"\d{4}", cell.strip()) for cell in cells):
        return False
    named = [[p for p in line if p and find_periods(p)] for line in heads]
    years = [[p.year for piece in line for p in find_periods(piece)[:1]] for line in named if len(line) == len(cells)]
    own = [int(cell) for cell in cells]
    return any(all(line) and line != own and len(set(line)) == len(line) for line in years)


def _settle(state: _State, pending: list[tuple[str, ...]]) -> None:
    """What stood above a row: the heads of a new table, or a heading within this one."""
    if not pending:
        return
    filled = [tuple(p for p in line if p) for line in pending]
    state.block += 1
    last = filled[-1]
    state.section = last[0] if len(last) == 1 and len(last[0]) < 160 else ""
    if state.section[:1].islower() and len(filled) > 1 and len(filled[-2]) == 1 and _OPEN.search(filled[-2][0]):
        state.section = f"{filled[-2][0]} {state.section}"[:160]  # a heading that runs over two lines
    if any(len(line) > 1 for line in filled) or not state.heads:
        state.heads = tuple(pending[-_HEADS:])
        state.table += 1
        state.section_periods = ()
        if len(last) == 1 and any(len(line) > 1 for line in filled):
            state.section_periods = tuple(find_periods(last[0]))
            if state.section_periods:
                state.heads = tuple(pending[-_HEADS:-1])
        return
    for line in filled:
        if len(line) == 1 and len(line[0]) < 160:
            periods = tuple(find_periods(line[0]))
            if periods:
                state.section_periods = periods
                if len(line[0]) > 60:
                    state.table += 1


def _row(state: _State, parts: Sequence[tuple[str, int]], cells: list[int], start: int, end: int, above: str) -> Row:
    first = cells[0]
    label = " ".join(part for part, _ in parts[:first] if part)
    percents = tuple("%" in first_of(parts[i][0]) for i in cells)
    over = columns(state.heads, tuple(cells), len(parts), percents)
    found = []
    for i, column in zip(cells, over, strict=True):
        part, offset = parts[i]
        found.append(RawCell(part, start + offset, start + offset + len(part), column, bool(_DASH.fullmatch(part))))
    own = tuple(find_periods(label)) if re.search(r"\d|quarter|half|季|年", label, re.IGNORECASE) else ()
    periods = own or state.section_periods
    if own and state.section_periods and not any(p.year for p in own):
        periods = tuple(_with_year(p, s) for p in own for s in state.section_periods)
    return Row(label, state.section, periods, tuple(found), start, end, state.table, state.block, above)


def _with_year(period: Period, section: Period) -> Period:
    return Period(
        period.start, period.end, section.year, period.quarter, period.half, section.month if not period.quarter else 0,
        section.day if not period.quarter else 0, period.months, period.fiscal,
    )  # fmt: skip
