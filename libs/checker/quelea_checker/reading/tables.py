"""Rows of tables: cells with the column heads, sections and units that they stand under; tables in HTML as rows."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from quelea_checker.model import Period
from quelea_checker.reading import units
from quelea_checker.reading.calendar import merge_periods
from quelea_checker.reading.periods import find_periods

MAY_BE = re.compile(r"<t[dr][\s>]", re.IGNORECASE)
_CELL_END = re.compile(r"\s{0,8}+</t[dh]\s{0,8}+>\s{0,8}+", re.IGNORECASE)
_LINE_END = re.compile(
    r"\s{0,8}+</(?:tr|caption|p|div|h\d|li)\s{0,8}+>\s{0,8}+|\s{0,8}+<(?:br|tr|table|/table)\b[^<>]{0,300}>\s{0,8}+",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][^<>]{0,300}>|<!--.{0,300}?-->", re.IGNORECASE)


def convert_html(text: str) -> str:
    """The text without tags: a row's cells stand between tabs, rows and paragraphs on lines of their own."""
    text = re.sub(r"[\r\n\t]+", " ", text) if "\t" not in text else text
    text = _LINE_END.sub("\n", text)
    lines = (_TAG.sub("", _CELL_END.sub("\t", line)) for line in text.split("\n"))
    return html.unescape("\n".join(line.removesuffix("\t") for line in lines))


_ORDINAL = re.compile(r"(?:^|\d )(?:1st|2nd|3rd|4th|first|second|third|fourth)$", re.IGNORECASE)
_MONTH_DAY = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)(\d{1,2},)"
)
_UNIT = re.compile(r"\((?:\w+ )?in (?:millions|thousands|billions)", re.IGNORECASE)
_CHANGE = re.compile(
    r"\bchange|\bvariance|\bdifference|\bover\b|\bvs\b|\bversus\b|\bincrease|\bdecrease|\bgrowth|\by/y\b"
    r"|\byoy\b|增减|变动|同比|环比|增幅",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head: its words, the times in it, and whether it holds changes."""

    text: str = ""
    periods: tuple[Period, ...] = ()
    change: bool = False


@lru_cache(maxsize=4096)
def read_columns(heads: tuple[tuple[str, ...], ...], percents: tuple[bool, ...]) -> tuple[Column, ...]:
    """One column for each cell; empty ones where head and cells do not match in number.

    Args:
        heads: The lines over the table, their parts.
        percents: For each cell of a row whether it has a percent sign.
    """
    count = len(percents)
    texts: list[list[str]] = [[] for _ in range(count)]
    unsure: list[list[str]] = [[] for _ in range(count)]
    lines = [_without_unit([part for part in line if part]) for line in heads]
    widest = max(map(len, lines), default=0)
    dated = any(sum(map(_names_year, line)) > 1 for line in lines)
    if _spread_over_groups(lines, texts):
        lines = []
    for filled in lines:
        if _spread_by_runs(filled, percents, texts) or (dated and len(filled) == 1 and _is_title(filled[0])):
            continue  # "Annual report 2024" over columns that say their years
        if len(filled) > 1 and len(filled) - 1 in {count, percents.count(False)} and len(filled) != count:
            if find_periods(complete_date(filled[0])):
                for words in texts:
                    words.append(filled[0])  # "Years ended December 31,\t2024\t2023"
            filled = filled[1:]  # noqa: PLW2901  # without the head over the labels
        if 1 < len(filled) <= count < widest - 1:
            for loose in unsure:  # heads of groups of columns, of a row with fewer cells than columns
                loose.extend(filled)
            continue
        _spread_heads(filled, count, percents, texts, unsure)
    return tuple(_read_column(words, " ; ".join(loose)) for words, loose in zip(texts, unsure, strict=True))


def _without_unit(heads: list[str]) -> list[str]:
    """ "(In millions)" stands over the labels."""
    return heads[1:] if len(heads) > 1 and (_UNIT.match(heads[0]) or _states_unit_alone(heads[0])) else heads


def _states_unit_alone(text: str) -> bool:
    """ "(millions of dollars, unless noted)": a unit, and no time."""
    return text.startswith(("(", "（")) and bool(units.read_stated_unit(text)[0]) and not find_periods(text)


def _spread_over_groups(lines: Sequence[list[str]], texts: list[list[str]]) -> bool:
    """Whether two lines are such heads: the lower says the same again and again, 金额, 占比, 金额, 占比 under 2019年,
    2018年 and 同比增减. A time stands over its group of columns, what comes behind the groups over one column each.
    """
    for over, under in pairwise(lines):
        groups, width = _repetition(under)
        lead = next((n for n, head in enumerate(over) if _names_year(head)), 0)
        at = max(0, lead - 1)  # one stands over the labels, the others over columns of words
        behind = len(texts) - at - groups * width
        if not groups or behind < 0 or len(over) - lead != groups + behind:
            continue
        if not at and not behind:
            continue  # nothing but groups: every line is spread evenly
        if not all(map(_names_year, over[lead : lead + groups])):
            continue
        grouped = over[lead : lead + groups]
        heads = [[head] for head in over[1:lead]]
        heads += [[head, one] for n, head in enumerate(grouped) for one in under[n * width : (n + 1) * width]]
        heads += [[head] for head in over[lead + groups :]]
        for words, own in zip(texts, heads, strict=True):
            words.extend(own)
        return True
    return False


def _repetition(line: list[str]) -> tuple[int, int]:
    """(how often, how many) where a line says the same different heads again and again; else noughts."""
    for count in range(2, len(line) // 2 + 1):
        width, rest = divmod(len(line), count)
        if not rest and line == line[:width] * count and len(set(line)) == width:
            return count, width
    return 0, 0


def _spread_by_runs(heads: list[str], percents: tuple[bool, ...], texts: list[list[str]]) -> bool:
    """ "Three Months Ended September 30," and "Percentage Change" over 56,517, 50,122 and 13%: the change stands over
    the percentages, the time over what is none. Whether the heads are such.
    """
    changes = [bool(_CHANGE.search(head)) for head in heads]
    runs = [(percent, len(list(cells))) for percent, cells in groupby(percents)]
    if len(runs) == len(percents) or len(heads) < 2 or not any(changes) or [percent for percent, _ in runs] != changes:
        return False
    at = 0
    for head, (_, width) in zip(heads, runs, strict=True):
        for words in texts[at : at + width]:
            words.append(head)
        at += width
    return True


def _names_year(text: str) -> bool:
    return any(p.year for p in find_periods(text))


def _is_title(text: str) -> bool:
    """It names a year and no day or length of time."""
    return any(p.year and not (p.month or p.months) for p in find_periods(text))


def _spread_heads(
    filled: list[str], count: int, percents: tuple[bool, ...], texts: list[list[str]], unsure: list[list[str]]
) -> None:
    """Put a line's heads over the columns that they stand over, as far as their number tells."""
    size = len(filled)
    plain = [n for n, percent in enumerate(percents) if not percent]
    if size == 1:
        if len(filled[0]) < 120 and find_periods(complete_date(filled[0])):
            for words in texts:
                words.append(filled[0])
    elif size == count or (size < count and count % size == 0):
        for n, words in enumerate(texts):
            words.append(filled[n * size // count])
    elif size == len(plain):
        for at, n in enumerate(plain):
            texts[n].append(filled[at])
            if n + 1 < count and percents[n + 1]:
                texts[n + 1].append(filled[at])
    elif size >= count - 1:
        _spread_uneven(filled, count, texts, unsure)


def _spread_uneven(filled: list[str], count: int, texts: list[list[str]], unsure: list[list[str]]) -> None:
    """One head less than columns, or more heads."""
    size = len(filled)
    if size > count:
        for n, loose in enumerate(unsure):
            loose.extend(filled[n : n + size - count + 1])
    elif _CHANGE.search(filled[-1]):
        for n, words in enumerate(texts):
            words.append(filled[min(n, size - 1)])  # a change in money and in percent
    else:
        for n, loose in enumerate(unsure):
            loose.extend(filled[max(0, n - 1) : n + 1])


def complete_date(text: str) -> str:
    """ "Years Ended September 30," names a time only with the year below it."""
    text = _MONTH_DAY.sub(r"\1 \2", text)
    return f"{text.rstrip(' ,')}, 2000" if re.search(r"[a-z] \d{1,2},?\s*$", text) else text


def _read_column(heads: list[str], unsure: str) -> Column:
    text = " ".join(heads)
    signs = " ".join(part for part in text.split() if not re.search(r"\w", part))
    if signs:  # "2019 %": the sign is no unit of the year
        words = " ".join(part for part in text.split() if re.search(r"\w", part))
        text = f"{words} ; {signs}"
    periods = merge_periods(find_periods(_spell_out_heads(text)), find_periods(_spell_out_heads(unsure)))
    return Column(text, periods, bool(_CHANGE.search(text)))


def _spell_out_heads(text: str) -> str:
    """ "First" heads a first quarter, and "December31," a day."""
    text = _MONTH_DAY.sub(r"\1 \2", text)
    return " ; ".join(f"{part} quarter" if _ORDINAL.search(part.strip()) else part for part in text.split(" ; "))


_NUMERIC = re.compile(
    r"[\s(]{0,8}[-–+△▲]?\s{0,8}+(?:US\$|HK\$|RMB|[$€£¥₹])?\s{0,8}+\(?\s{0,8}+[-–]?\s{0,8}+(?:[$€£¥])?\d[\d,]*(?:\.\d+)?\s{0,8}+"
    r"(?:[%x倍]|pts?|ppts?|bps?|个百分点|percent|[kKmMbB]n?|[万亿]?元?)?\s{0,8}+[)%]*\s{0,8}+(?:[*†‡]+|\(\w{1,2}\))?\s{0,8}+",
)
_DASH = re.compile(r"[-–—_]+\s*%?|[$€£¥]\s*[-–—]+|nil|n/?[am]\.?|n\.?m\.?|不适用|无", re.IGNORECASE)
_YEAR = re.compile(r"(?:FY|fiscal)?\s?(?:19|20)\d\d(?:年度?|/\d\d(?:\d\d)?)?(?:\s?\(\w\))?\s*:?", re.IGNORECASE)
_FIGURE = r"(?:[$€£¥(]\s?){0,4}[-–]?\s?\d[\d,]*+(?:\.\d++)?+(?:\s?[%)]++)?+"
_TAIL = re.compile(
    r"(?P<label>.{0,300}?[A-Za-z\u3400-\u9fff):.*])[\s.]{1,200}(?P<cells>"
    rf"{_FIGURE}(?:\s{{1,200}}(?:{_FIGURE}|[-–—]{{1,9}}+))*+)\s*"
)
_CELL = re.compile(r"(?:[$€£¥(]\s?){0,4}[-–]?\s?\d[\d,]*(?:\.\d+)?\s?[%)]*|[-–—]+")
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


def _split_cells(line: str) -> list[tuple[str, int]] | None:
    """The parts of a row with their places; empty ones are kept. None: the line has no cells."""
    if "\t" in line or line.count("|") >= 2:
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
        if len(cells) < 2 and (_YEAR.fullmatch(cells[0][0].strip()) or find_periods(complete_date(line))):
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


_OPEN = re.compile(r"[A-Za-z,]\s*$")
"""A line that the next may go on with."""


@dataclass
class _TableState:
    heads: tuple[tuple[str, ...], ...] = ()
    table: int = 0
    block: int = 0
    section: str = ""
    section_periods: tuple[Period, ...] = ()


def read_tables(text: str, head: str = "") -> tuple[list[Row], list[Prose]]:
    """The rows and the prose of a plain() text. `head` holds lines that stand above it elsewhere."""
    rows: list[Row] = []
    prose: list[Prose] = []
    state = _TableState()
    pending: list[tuple[str, ...]] = [
        tuple(p for p, _ in (_split_cells(x) or [(x.strip(), 0)])) for x in head.splitlines() if x.strip()
    ]
    above = head
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip("\r\n")
        if not bare.strip():
            continue
        parts = _split_cells(bare)
        data = _find_data_cells(parts) if parts and len(parts) <= _WIDEST else None
        if parts and data:
            _start_section(state, pending)
            pending = []
            rows.append(_read_row(state, parts, data, start, start + len(bare), above))
            continue
        pieces = tuple(p for p, _ in parts) if parts else (bare.strip(),)
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


def _find_data_cells(parts: Sequence[tuple[str, int]]) -> list[int] | None:
    """Which parts are cells, when the parts are a row of data."""
    first = next((i for i, (part, _) in enumerate(parts) if part), None)
    if first is None:
        return None
    begins = first if (first == 0 and _is_cell(parts[0][0]) and not _YEAR.fullmatch(parts[0][0])) else max(first, 0)
    label = parts[begins][0]
    cells = [i for i in range(begins + 1, len(parts)) if parts[i][0]]
    if _is_cell(label) and not _YEAR.fullmatch(label):
        cells = [begins, *cells]
    figures = [i for i in cells if _NUMERIC.fullmatch(parts[i][0])]
    if cells and not figures and all(_DASH.fullmatch(parts[i][0]) for i in cells) and re.search(r"\w", label):
        return cells  # nothing in any column
    if not figures:
        return None
    if all(_YEAR.fullmatch(parts[i][0]) for i in figures):
        return None
    if len([i for i in cells if not _is_cell(parts[i][0])]) > len(figures):
        return None
    return cells


def _start_section(state: _TableState, pending: list[tuple[str, ...]]) -> None:
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


def _read_row(
    state: _TableState, parts: Sequence[tuple[str, int]], cells: list[int], start: int, end: int, above: str
) -> Row:
    first = cells[0]
    label = " ".join(part for part, _ in parts[:first] if part)
    percents = tuple("%" in parts[i][0] for i in cells)
    over = read_columns(state.heads, percents)
    found = []
    for i, column in zip(cells, over, strict=True):
        part, offset = parts[i]
        found.append(RawCell(part, start + offset, start + offset + len(part), column, bool(_DASH.fullmatch(part))))
    own = tuple(find_periods(label)) if re.search(r"\d|quarter|half|季|年", label, re.IGNORECASE) else ()
    periods = own or state.section_periods
    return Row(label, state.section, periods, tuple(found), start, end, state.table, state.block, above)
