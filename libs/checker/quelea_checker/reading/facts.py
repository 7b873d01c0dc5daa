"""The figures of one passage: what each is, where it stands, and what is said of it there."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache

from quelea_fintext.glossary import gloss_phrases
from quelea_fintext.text import CJK, STOP_WORDS, stem, words

from quelea_checker.model import ONE, CheckPassage, Figure, Period
from quelea_checker.reading import calendar, sentences, tables, wording
from quelea_checker.reading.amounts import parse_amounts
from quelea_checker.reading.attachment import attach_periods
from quelea_checker.reading.attachment import drop_compared_periods as stated_times
from quelea_checker.reading.calendar import merge_periods
from quelea_checker.reading.periods import find_periods
from quelea_checker.reading.sentences import plain
from quelea_checker.reading.units import Unit, find_statements, read_stated_unit, unit_of

MOST_FACTS = 60_000
"""Figures that are read of a passage, and of all together; a request's limits allow about as many."""
THOUSAND = Decimal(1000)

_HELD = 500
"""Passages whose facts are kept: those of popular documents come again and again, and reading them is most of the
work of a check."""
_LONGEST_HELD = 6_000
_BRIEF = 400
"""Code points of a text whose terms are kept: labels, heads and sentences come again."""
_BRACKETS = re.compile(r"\([^()]{0,200}+(?:\([^()]{0,200}+\))?[^()]{0,200}+\)")
_WORD = re.compile(r"[A-Za-z\u3400-\u9fff]")
_NAMED = re.compile(r"[A-Za-z\u3400-\u9fff][\"']?\s?[:=]\s?$")
"""Before a figure: its name, "max_drawdown: ", as programs print what they computed."""


@dataclass(frozen=True)
class Fact:
    """A figure of the evidence.

    Attributes:
        passage: From 0.
        group: Number of its row or its sentence, within the evidence.
        column: Place in its row; -1 in prose.
        table: Number of its table within the evidence; -1 in prose.
        words: Label, section and column head, or the sentence.
        terms: What the words are compared by.
        years: The years of its table's columns.
        direction: What the words about it say, in prose; of a cell the sign it is printed with.
        change: It stands in a column of changes.
    """

    passage: int
    figure: Figure
    unit: Unit
    periods: tuple[Period, ...]
    group: int
    column: int
    table: int
    words: str
    terms: frozenset[str]
    years: frozenset[int] = frozenset()
    direction: int = 0
    change: bool = False

    @cached_property
    def value(self) -> Decimal:
        """With its sign, as printed (a scale word of its own counted in)."""
        return self.figure.value

    @cached_property
    def latest_date(self) -> tuple[int, int, int]:
        """(year, month, day) of its latest time, 0 where not known."""
        if not self.periods:
            return 0, 0, 0
        period = max(self.periods, key=lambda p: (p.year, p.month, p.quarter))
        return period.year, period.month or 3 * period.quarter, period.day

    @cached_property
    def months(self) -> int:
        """How long its time is; 0 where nothing is said."""
        return max((period.months for period in self.periods), default=0)

    @cached_property
    def relative(self) -> int:
        """2 of a column for "this period", 1 of one for "the one before", 0 where nothing is said."""
        return calendar.read_relative(self.words) if self.table >= 0 else 0

    @cached_property
    def with_stated_scale(self) -> Fact:
        """The same with its unit's scale as its figure's own, where there is one."""
        if self.figure.scale is not None or len(self.unit.scales) != 1 or self.unit.scales[0] == ONE:
            return self
        return replace(self, figure=replace(self.figure, scale=self.unit.scales[0]))


@dataclass
class Group:
    """The facts of a row or a sentence."""

    passage: int
    label: str
    section: str
    table: int
    block: int
    terms: frozenset[str]
    name: frozenset[str]
    facts: list[Fact] = field(default_factory=list)


@dataclass
class PassageFacts:
    """What one passage says. Numbers of groups and tables count from 0 within it; it is never changed.

    Attributes:
        dashes: (group, column) of cells that hold a dash: a nought that is no figure to look for.
        tables: How many table numbers it takes.
        periods: Every time that it names.
        loose: Scales that it states without having a table.
    """

    groups: list[Group] = field(default_factory=list)
    dashes: set[tuple[int, int]] = field(default_factory=set)
    terms: frozenset[str] = frozenset()
    tables: int = 0
    periods: tuple[Period, ...] = ()
    loose: list[tuple[Decimal, ...]] = field(default_factory=list)
    facts: int = 0


def read_passage(passage: CheckPassage) -> PassageFacts:
    """The facts of a passage, whichever document it is from. Tables in HTML are read as rows."""
    if tables.MAY_BE.search(passage.text):
        passage = replace(passage, text=tables.convert_html(passage.text))
    return _read_cached(passage) if len(passage.text) <= _LONGEST_HELD else _read(passage)


def _read(passage: CheckPassage) -> PassageFacts:
    found = PassageFacts()
    text, head = plain(passage.text), plain(passage.table_head)
    rows, prose = tables.read_tables(text, head)
    years: dict[int, set[int]] = {}
    for row in rows:
        years.setdefault(row.table, set()).update(p.year for c in row.cells for p in c.column.periods if p.year)
    found.tables = len(years) + max(years, default=0) + 1
    percents = {(r.table, at) for r in rows for at, cell in enumerate(r.cells) if "%" in cell.text}
    header = plain(passage.header)
    fiscal = calendar.read_fiscal(find_periods(header))
    for row in rows:
        _add_row(found, row, frozenset(years[row.table]), percents, fiscal)
    for piece in prose:
        _add_prose(found, text[piece.start : piece.end], passage.text[piece.start : piece.end], fiscal)
    for row in rows:
        if any(c.isdigit() for c in row.label):
            _add_prose(found, row.label, row.label, fiscal)
    if head:
        _add_prose(found, head, passage.table_head, fiscal)
    if passage.header:
        _add_prose(found, header, passage.header, fiscal)
    found.terms = content_terms(f"{passage.header}\n{passage.table_head}\n{passage.text}")
    _read_units(found, text, alone=not rows)
    periods = find_periods(text) + find_periods(head)
    periods += find_periods(plain(f"{passage.header} {passage.published}"))
    periods += [p for row in rows for c in row.cells for p in _cell_periods(c, row, fiscal)]
    found.periods = (*fiscal.labelled(periods), *fiscal.quarters(periods))
    return found


def _read_units(found: PassageFacts, text: str, *, alone: bool) -> None:
    """The units that a text states without having a table itself."""
    for match in find_statements(text) if alone else ():
        scales, _ = read_stated_unit(match.group())
        if any(scale >= THOUSAND for scale in scales):
            found.loose.append(scales)


def _cell_periods(cell: tables.RawCell, row: tables.Row, fiscal: calendar.Fiscal) -> tuple[Period, ...]:
    return merge_periods(fiscal.of_head(cell.column.text) or cell.column.periods, row.periods)


_read_cached = lru_cache(maxsize=_HELD)(_read)


def _add_row(
    found: PassageFacts,
    row: tables.Row,
    years: frozenset[int],
    percents: Container[tuple[int, int]],
    fiscal: calendar.Fiscal,
) -> None:
    spoken = f"{row.label or 'total'} {row.section}"
    own = content_terms(spoken)
    untimed = _without_times(row.label)
    name = content_terms(_BRACKETS.sub(" ", untimed)) or content_terms(untimed)
    group = Group(0, row.label, row.section, row.table, row.block, own, name)
    place = len(found.groups)
    for at, cell in enumerate(row.cells):
        times = fiscal.labelled(_cell_periods(cell, row, fiscal))
        figures = (
            [Figure(cell.text, cell.start, cell.end, "number", Decimal(0), ONE)]
            if cell.dash
            else parse_amounts(cell.text, cell=True)[:1]
        )
        for figure in figures:
            unit = unit_of(row.label, cell.column.text, row.above)
            if unit.percent is False and (row.table, at) in percents and not figure.currency:
                unit = Unit(unit.scales, unit.currency, None)
            if figure.kind in {"percent", "points"}:
                unit = Unit((ONE,), "", True)
            elif _may_be_percent(figure, unit):
                unit = replace(unit, percent=None)
            fact = Fact(
                passage=0, figure=figure, unit=unit, periods=times,
                group=place, column=at, table=group.table, words=f"{spoken} {cell.column.text}",
                terms=own | content_terms(cell.column.text), years=years,
                direction=-1 if figure.negative else 1, change=cell.column.change,
            )  # fmt: skip
            group.facts.append(fact)
            found.facts += 1
            if cell.dash:
                found.dashes.add((place, at))
    found.groups.append(group)


def _add_prose(
    found: PassageFacts, part: str, written: str, fiscal: calendar.Fiscal, times: tuple[Period, ...] = ()
) -> None:  # `times`: those of the cell that it is
    for start, end in sentences.split_sentences(part):
        if found.facts >= MOST_FACTS:
            return
        sentence = part[start:end]
        about = content_terms(sentence)
        group = Group(0, sentence, "", -1, -1, about, about)
        periods = find_periods(sentence)
        figures = parse_amounts(written[start:end], words=True)
        allowed = attach_periods(sentence, figures, stated_times(sentence, periods))
        scales, _ = read_stated_unit(sentence) if sentence.count("(in ") else ((), "")
        for at, figure in enumerate(figures):
            unit = Unit((ONE, *scales), "", figure.kind in {"percent", "points"})
            if wording.ends_with(_NAMED, sentence, figure.start) and _may_be_percent(figure, unit):
                unit = replace(unit, percent=None)
            fact = Fact(
                passage=0, figure=figure, unit=unit, periods=fiscal.labelled(allowed[at]) or times,
                group=len(found.groups), column=-1,
                table=-1, words=sentence, terms=about,
                direction=wording.find_direction(sentence, figure.start, figure.end),
            )  # fmt: skip
            group.facts.append(fact)
            found.facts += 1
        found.groups.append(group)


def _may_be_percent(figure: Figure, unit: Unit) -> bool:
    """A decimal number of which nothing says what it counts: "max_drawdown: -16.20"."""
    bare = figure.kind == "number" and figure.scale is None and not figure.currency and figure.step < ONE
    return bare and unit.percent is False and not unit.currency and set(unit.scales) <= {ONE}


def _without_times(label: str) -> str:
    """Without the times it names: a row that is a month has no other name."""
    for period in reversed(find_periods(label)):
        label = f"{label[: period.start]} {label[period.end :]}"
    return label


_ABBREVIATIONS = {
    "SG&A": "selling, general and administrative", "G&A": "general and administrative",
    "R&D": "research and development", "S&M": "sales and marketing", "D&A": "depreciation and amortization",
    "PP&E": "property, plant and equipment", "COGS": "cost of goods sold", "[Cc]ap[Ee]x": "capital expenditures",
    "[Oo]p[Ee]x": "operating expenses", "EPS": "earnings per share", "FCF": "free cash flow",
    "NIM": "net interest margin",
}  # fmt: skip
_BRIEFLY = re.compile(r"[A-Z]&[A-Z]|COGS|[Ee]x\b|EPS|FCF|NIM")
_SHORT = {
    "产生的现金流量净额": "现金流", "现金流量净额": "现金流", "现金净流量": "现金流", "营收": "营业收入",
    "归母净利润": "归属于母公司股东的净利润", "扣非净利润": "扣除非经常性损益的净利润",
}  # fmt: skip


def content_terms(text: str) -> frozenset[str]:
    """Terms with letters: what a text is about, without its figures. "Other" is the name of many a row."""
    return _content_cached(text) if len(text) <= _BRIEF else _find_terms(text)


@lru_cache(maxsize=2048)
def glossed_terms(text: str) -> frozenset[str]:
    """The terms of a text, and those of what it speaks of in the other language."""
    return content_terms(text) | content_terms(" ; ".join(gloss_phrases(text)))


def _find_terms(text: str) -> frozenset[str]:
    if _BRIEFLY.search(text):
        for short, long in _ABBREVIATIONS.items():
            text = re.sub(rf"(?<![A-Za-z&]){short}(?![A-Za-z&])", long, text)
    if CJK.search(text):
        for short, long in _SHORT.items():
            text = text.replace(short, long)
    return frozenset(filter(None, map(_stem_term, words(text))))


_content_cached = lru_cache(maxsize=8192)(_find_terms)


@lru_cache(maxsize=50_000)
def _stem_term(word: str) -> str:
    """Stemmed; empty of stop words and figures."""
    return stem(word) if (word not in STOP_WORDS or word == "other") and _WORD.search(word) else ""


TIMES = content_terms(
    "quarter quarterly annual fiscal year month half period end ended first second third fourth date 年 月 日"
)
"""Terms of times: they name no row."""
