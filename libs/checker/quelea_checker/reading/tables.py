"""Rows of tables: cells with the column heads, sections and units that they stand under; tables in HTML as rows."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from quelea_checker.model import Period
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


_LONGEST = 90
"""Code points of a cell that may be a figure with a remark; what is longer is prose."""
_NUMBER = r"(?:US\$|HK\$|RMB ?|[$€£¥₹])?\s?\d[\d,]*(?:\.\d+)?"
_SCALE = r"(?:thousand|million|billion|trillion|per ?cent|(?:m|b|t)n|[kmbp]|x|[万亿]+[元股户人]?)\b|[%倍]|[万亿]+元?|元"
_AMOUNT = rf"{_NUMBER}\s?(?:{_SCALE})?"
_REMARKED = re.compile(
    rf"(?:(?:about|approximately|around|some|nearly|over|up|down|约)\s{{0,8}}+)?(?P<amount>{_AMOUNT})"
    rf"(?P<to>\s?(?:to|-|–|至|到)\s?{_AMOUNT})?"
    r"(?P<remark>\s{0,8}+\(.+\)|\s{0,8}+[,，;；]\s{0,8}+(?=.{0,90}?[A-Za-z\u3400-\u9fff]{2}).+|\s(?:of|on)\s.+)?\s{0,8}",
    re.IGNORECASE,
)
_TELLING = re.compile(r"[$€£¥₹%.倍元万亿]|[A-Za-z]")


def is_figure(part: str) -> bool:
    """A cell's one amount, or range, with or without a remark behind it: no date, no number of a note."""
    match = _REMARKED.fullmatch(part) if len(part) <= _LONGEST else None
    return match is not None and bool(_TELLING.search(match["amount"]))


def without_remark(text: str) -> str:
    """A cell without the remark behind its first amount: what goes up or down there is not the amount."""
    match = _REMARKED.fullmatch(text)
    return text[: match.start("remark")] if match and match["remark"] else text


def has_remark(text: str) -> bool:
    """It may have a second figure: a range, or a remark."""
    match = _REMARKED.fullmatch(text) if len(text) <= _LONGEST else None
    return match is not None and bool(match["to"] or match["remark"])


_BARE_DAY = re.compile(r".*[A-Za-z]\s?\d{1,2},")
_BARE_YEAR = re.compile(r"(?:19|20)\d\d")
_SIGN = re.compile(r"[$€£¥%]|\((?:[$€£¥%])\)")
_CHANGE_HEAD = re.compile(r"(?:\$ |% )?(?:change|variance|increase|decrease|growth)", re.IGNORECASE)
_SHORT = 5
_DATES = re.compile(r"[A-Z][a-z]+\.? \d{1,2}, (?:19|20)\d\d")


def align_heads(pieces: Sequence[str], count: int) -> list[str]:
    """The pieces as `count` heads, where joining and parting them gives just as many; else as they are.

    "October 30," and "2022" are one head, so are "Change" and "%"; "July 30, 2023 April 30, 2023" are two.
    """
    if len(pieces) == count or not pieces:
        return list(pieces)
    if not any(len(piece) < _SHORT or piece.count(",") > 1 for piece in pieces):
        return list(pieces)  # no piece is half of a head, nor two
    joined: list[str] = []
    for piece in pieces:
        last = joined[-1] if joined else ""
        if (_BARE_DAY.fullmatch(last) and _BARE_YEAR.fullmatch(piece)) or (
            _CHANGE_HEAD.fullmatch(last) and _SIGN.fullmatch(piece)
        ):
            joined[-1] = f"{last} {piece}"
        else:
            joined.append(piece)
    if len(joined) == count:
        return joined
    parted = [part for piece in joined for part in _split_head(piece)]
    return parted if len(parted) == count else list(pieces)


def _split_head(piece: str) -> list[str]:
    dates = [match.group() for match in _DATES.finditer(piece)]
    return dates if len(dates) > 1 and not _DATES.sub("", piece).strip() else [piece]


_ORDINAL = re.compile(r"(?:^|\d )(?:1st|2nd|3rd|4th|first|second|third|fourth)$", re.IGNORECASE)
_MONTH_DAY = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)(\d{1,2},)"
)
_CHANGE = re.compile(
    r"\bchange|\bvariance|\bdifference|\bover\b|\bvs\b|\bversus\b|\bincrease|\bdecrease|\bgrowth|\by/y\b"
    r"|\byoy\b|增减|变动|同比|环比|增幅",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\((?:\w+ )?in (?:millions|thousands|billions)", re.IGNORECASE)
_TOTAL = re.compile(r"totals?|合计|总计", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head: its words, the times in it, and whether it holds changes."""

    text: str = ""
    periods: tuple[Period, ...] = ()
    change: bool = False


@lru_cache(maxsize=4096)
def read_columns(
    heads: tuple[tuple[str, ...], ...], cells: tuple[int, ...], width: int, percents: tuple[bool, ...]
) -> tuple[Column, ...]:
    """One column for each cell; empty ones where head and cells do not match in number."""
    count = len(cells)
    texts: list[list[str]] = [[] for _ in range(count)]
    unsure: list[list[str]] = [[] for _ in range(count)]
    totals = any(len(f) == count and _TOTAL.fullmatch(f[-1]) for f in ([p for p in line if p] for line in heads))
    own_years = any(sum(_has_year(p) for p in line) > 1 for line in heads)
    lines = [align_heads([p for p in line if p], count) for line in heads]
    widest = max(map(len, lines), default=0)
    for line, pieces in zip(heads, lines, strict=True):
        filled = pieces
        if _spread_by_runs(filled, percents, texts):
            continue
        if len(filled) == count != sum(map(bool, line)):
            _spread_heads(filled, count, percents, texts, unsure)
            continue
        if totals and len(filled) == count - 1 and count > 2 and not _CHANGE.search(filled[-1]):
            filled = [*filled, "-"]  # nothing stands over "Total"
        if len(line) == width and all(line[i] for i in cells):
            for n, i in enumerate(cells):
                texts[n].append(line[i])
            continue
        if len(filled) > 1 and len(filled) - 1 in {count, percents.count(False)} and len(filled) != count:
            filled = filled[1:]
        if (
            len(filled) > 2
            and _UNIT.match(filled[0])
            and count not in {len(filled), 1}
            and not count % (len(filled) - 1)
        ):
            filled = filled[1:]  # "(In millions)" stands over the labels
        if own_years and len(filled) == 1 and _is_title(filled[0]):
            continue  # "Annual report 2024" over columns that say their years
        if 1 < len(filled) <= count < widest - 1:
            for loose in unsure:  # heads of groups of columns, of a row with fewer cells than columns
                loose.extend(filled)
            continue
        _spread_heads(filled, count, percents, texts, unsure)
    over_all = set(texts[0]).intersection(*texts) if count > 1 else set()
    return tuple(_read_column(words, over_all, " ; ".join(loose)) for words, loose in zip(texts, unsure, strict=True))


def _spread_by_runs(filled: list[str], percents: tuple[bool, ...], texts: list[list[str]]) -> bool:
    """ "(In millions)", "Three Months Ended September 30,", "Percentage Change" over 56,517, 50,122 and 13%: the change
    stands over the percentages, the time over what is none. Whether the heads are such.
    """
    heads = filled[1:] if filled and _UNIT.match(filled[0]) else filled
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


def _has_year(text: str) -> bool:
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


def _read_column(heads: list[str], over_all: Set[str], unsure: str) -> Column:
    text = " ".join(heads)
    signs = " ".join(part for part in text.split() if not re.search(r"\w", part))
    if signs:  # "2019 %": the sign is no unit of the year
        words = " ".join(part for part in text.split() if re.search(r"\w", part))
        text = f"{words} ; {signs}"
    own = _drop_title_years(heads, over_all, find_periods(_spell_out_heads(text)))
    periods = merge_periods(own, find_periods(_spell_out_heads(unsure)))
    return Column(text, periods, bool(_CHANGE.search(text)))


def _drop_title_years(heads: list[str], over_all: Set[str], periods: list[Period]) -> list[Period]:
    """Without those of other years than the column's own heads name: a title over all columns has the report's."""
    if len({p.year for p in periods if p.year}) < 2:
        return periods
    own = " ".join(head for head in heads if head not in over_all)
    years = {p.year for p in find_periods(_spell_out_heads(own)) if p.year}
    return [p for p in periods if not p.year or p.year in years] if years else periods


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


def _split_cells(line: str) -> list[tuple[str, int]] | None:
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


def _is_amount(part: str) -> bool:
    """A number, or an amount with words about it."""
    return bool(_NUMERIC.fullmatch(part)) or is_figure(part)


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
        above_it = pending or state.heads
        data = _find_data_cells(parts, above_it) if parts and len(parts) <= _WIDEST else None
        if parts and data:
            _start_section(state, pending)
            pending = []
            rows.append(_read_row(state, parts, data, start, start + len(bare), above))
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


def _find_data_cells(parts: Sequence[tuple[str, int]], heads: Sequence[Sequence[str]]) -> list[int] | None:
    """Which parts are cells, when the parts are a row of data. `heads`: the lines above it."""
    first = next((i for i, (part, _) in enumerate(parts) if part), None)
    if first is None:
        return None
    begins = first if (first == 0 and _is_cell(parts[0][0]) and not _YEAR.fullmatch(parts[0][0])) else max(first, 0)
    label = parts[begins][0]
    cells = [i for i in range(begins + 1, len(parts)) if parts[i][0]]
    if _is_cell(label) and not _YEAR.fullmatch(label):
        cells = [begins, *cells]
    figures = [i for i in cells if _is_amount(parts[i][0])]
    if cells and not figures and all(_DASH.fullmatch(parts[i][0]) for i in cells) and re.search(r"\w", label):
        return cells  # nothing in any column
    if not figures:
        return None
    if all(_YEAR.fullmatch(parts[i][0]) for i in figures) and not _are_counts(
        label, [parts[i][0] for i in figures], heads
    ):
        return None
    if len([i for i in cells if not (_is_cell(parts[i][0]) or is_figure(parts[i][0]))]) > len(figures):
        return None
    return cells


def _are_counts(label: str, cells: Sequence[str], heads: Sequence[Sequence[str]]) -> bool:
    """Cells that look like years are counts where heads above them name the years, and the row is called something."""
    if not re.search(r"[A-Za-z\u3400-\u9fff]{2}", label) or _TIMELY.search(label):
        return False
    if not all(re.fullmatch(r"\d{4}", cell.strip()) for cell in cells):
        return False
    named = [[p for p in line if p and find_periods(p)] for line in heads]
    years = [[p.year for piece in line for p in find_periods(piece)[:1]] for line in named if len(line) == len(cells)]
    own = [int(cell) for cell in cells]
    return any(all(line) and line != own and len(set(line)) == len(line) for line in years)


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
    percents = tuple("%" in without_remark(parts[i][0]) for i in cells)
    over = read_columns(state.heads, tuple(cells), len(parts), percents)
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
