"""The figures of the evidence: what each is, where it stands, and what is said of it there."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from quelea_kit.text import STOP_WORDS, stem, words

from quelea_gateway.core.checking import sentences, tables, wording
from quelea_gateway.core.checking.amounts import parse_amounts
from quelea_gateway.core.checking.attaching import attached
from quelea_gateway.core.checking.model import ONE, CheckPassage, Figure, Period
from quelea_gateway.core.checking.normal import plain
from quelea_gateway.core.checking.periods import find_periods
from quelea_gateway.core.checking.times import Calendar, merged
from quelea_gateway.core.checking.units import STATEMENT, Unit, stated, unit_of

MOST_FACTS = 60_000
"""Figures of the evidence that are read; a request's limits allow about as many."""

_BRACKETS = re.compile(r"\([^()]*(?:\([^()]*\))?[^()]*\)")
TOTAL = re.compile(r"\btotals?\b|合计|总计|总额|小计", re.IGNORECASE)
_THOUSAND = Decimal(1000)
_TELLING = 3
"""Digits of a figure that tells a table's unit by being repeated with one."""

_OTHERWISE = re.compile(
    r"[^\n.]{0,160}\bunless otherwise (?:stated|noted|indicated|specified)|[^\n.。]{0,80}除[^\n.。]{0,8}另有",
    re.IGNORECASE,
)
"""It states the unit of a whole document."""
_WORD = re.compile(r"[A-Za-z\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
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

    @property
    def value(self) -> Decimal:
        """With its sign, as printed (a scale word of its own counted in)."""
        return self.figure.value


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


class Evidence:
    """All passages, read.

    Args:
        passages: In the caller's order; nothing but numbers of passages depends on it.
    """

    def __init__(self, passages: Sequence[CheckPassage]) -> None:
        self.groups: list[Group] = []
        self.facts: list[Fact] = []
        self.terms: list[frozenset[str]] = []
        self.prose: list[list[tuple[str, frozenset[str]]]] = []
        named: list[list[Period]] = []
        self._tables = 0
        self._loose: list[tuple[tuple[Decimal, ...], str]] = []
        self._spoken: dict[str, set[Decimal]] = {}
        self._united: set[str] = set()
        self._otherwise: dict[str, tuple[Decimal, ...]] = {}
        self._headers = [passage.document or passage.header for passage in passages]
        for number, passage in enumerate(passages):
            named.append(self._read(number, passage))
        self.calendar = Calendar(named)
        self._hint()
        self._sizes = sorted(
            {(size, at) for at, fact in enumerate(self.facts) for size in (fact.figure.size, fact.figure.number)}
        )
        self._keys = [size for size, _ in self._sizes]
        self.by_term: dict[str, list[Group]] = {}
        self.blocks: dict[int, list[Group]] = {}
        self.totals: dict[int, list[Group]] = {}
        self.rows: dict[int, list[Group]] = {}
        self.by_year: dict[int, list[Group]] = {}
        for group in self.groups:
            self._index(group)

    def near(self, low: Decimal, high: Decimal, most: int) -> list[Fact]:
        """Facts whose printed size is in [low, high], the smallest first; at most `most`."""
        first, last = bisect_left(self._keys, low), bisect_right(self._keys, high)
        return [self.facts[at] for _, at in self._sizes[first : min(last, first + most)]]

    def _index(self, group: Group) -> None:
        if not group.facts:
            return
        for term in group.terms.union(*(fact.terms for fact in group.facts)):
            self.by_term.setdefault(term, []).append(group)
        if group.table < 0:
            return
        self.rows.setdefault(group.table, []).append(group)
        if not group.name:
            for year in {p.year for p in group.facts[0].periods if p.year}:
                self.by_year.setdefault(year, []).append(group)
        if not group.label or TOTAL.search(group.label):
            self.totals.setdefault(group.table, []).append(group)
        else:
            self.blocks.setdefault(group.block, []).append(group)

    def _read(self, number: int, passage: CheckPassage) -> list[Period]:
        text, head = plain(passage.text), plain(passage.table_head)
        rows, prose = tables.read(text, head)
        years: dict[int, set[int]] = {}
        for row in rows:
            years.setdefault(row.table, set()).update(p.year for c in row.cells for p in c.column.periods if p.year)
        base, self._tables = self._tables, self._tables + len(years) + max(years, default=0) + 1
        percents = {(r.table, at) for r in rows for at, cell in enumerate(r.cells) if "%" in cell.text}
        for row in rows:
            self._row(number, row, base, frozenset(years[row.table]), percents)
        for piece in prose:
            self._prose(number, text[piece.start : piece.end], passage.text[piece.start : piece.end])
        for row in rows:
            if any(c.isdigit() for c in row.label):
                self._prose(number, row.label, row.label)
        if head:
            self._prose(number, head, passage.table_head)
        if passage.header:
            self._prose(number, plain(passage.header), passage.header)
        self.terms.append(content(f"{passage.header}\n{passage.table_head}\n{passage.text}"))
        for line in _OTHERWISE.finditer(text):
            self._otherwise.setdefault(self._headers[number], stated(line.group())[0])
        if not rows:
            for match in STATEMENT.finditer(text):
                scales, _ = stated(match.group())
                if any(scale >= _THOUSAND for scale in scales):
                    self._loose.append((scales, self._headers[number]))
        periods = find_periods(text) + find_periods(head) + find_periods(plain(f"{passage.header} {passage.published}"))
        return periods + [p for row in rows for c in row.cells for p in merged(c.column.periods, row.periods)]

    def _row(
        self, number: int, row: tables.Row, base: int, years: frozenset[int], percents: Container[tuple[int, int]]
    ) -> None:
        spoken = f"{row.label or 'total'} {row.section}"
        own = content(spoken)
        untimed = _untimed(row.label)
        name = content(_BRACKETS.sub(" ", untimed)) or content(untimed)
        group = Group(number, row.label, row.section, base + row.table, base + row.block, own, name)
        place = len(self.groups)
        for at, cell in enumerate(row.cells):
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
                fact = Fact(
                    passage=number, figure=figure, unit=unit, periods=merged(cell.column.periods, row.periods),
                    group=place, column=at, table=group.table, words=f"{spoken} {cell.column.text}",
                    terms=own | content(cell.column.text), years=years,
                    direction=-1 if figure.negative else 1, change=cell.column.change,
                )  # fmt: skip
                group.facts.append(fact)
                if not cell.dash and len(self.facts) < MOST_FACTS:
                    self.facts.append(fact)
        self.groups.append(group)

    def _prose(self, number: int, part: str, written: str) -> None:
        for start, end in sentences.cut(part):
            if len(self.facts) >= MOST_FACTS:
                return
            sentence = part[start:end]
            about = content(sentence)
            group = Group(number, sentence, "", -1, -1, about, about)
            periods = find_periods(sentence)
            figures = parse_amounts(written[start:end])
            allowed = attached(sentence, figures, periods)
            scales, _ = stated(sentence) if sentence.count("(in ") else ((), "")
            for at, figure in enumerate(figures):
                unit = Unit((ONE, *scales), "", figure.kind in {"percent", "points"})
                fact = Fact(
                    passage=number, figure=figure, unit=unit, periods=allowed[at], group=len(self.groups), column=-1,
                    table=-1, words=sentence, terms=about,
                    direction=wording.direction(sentence, figure.start, figure.end),
                )  # fmt: skip
                group.facts.append(fact)
                if len(self.facts) < MOST_FACTS:
                    self.facts.append(fact)
            self.groups.append(group)

    def spoken(self, passage: int) -> frozenset[Decimal]:
        """The scale words, from a thousand up, that the prose of a passage's document uses."""
        return frozenset(self._spoken.get(self._headers[passage], ()))

    def has_units(self, passage: int) -> bool:
        """A table of the passage's document states its unit."""
        return self._headers[passage] in self._united

    def _hint(self) -> None:
        """A table that states no unit takes those that a passage without a table states: "as follows (in millions):".

        Else the one by which prose repeats a figure of the table: "$1,145 million" and 1,145. Of another document's
        passages nothing is taken, where headers tell documents apart.
        """
        told: dict[str, dict[Decimal, set[Decimal]]] = {}
        for fact in self.facts:
            scale, header = fact.figure.scale, self._headers[fact.passage]
            if fact.table < 0 and scale and scale >= _THOUSAND and fact.figure.kind == "number":
                self._spoken.setdefault(header, set()).add(scale)
                if fact.figure.digits >= _TELLING:
                    told.setdefault(header, {}).setdefault(fact.figure.number, set()).add(scale)
            elif fact.table >= 0 and fact.unit.scales and fact.unit.percent is False:
                self._united.add(header)
                self._spoken.setdefault(header, set()).update(s for s in fact.unit.scales if s >= _THOUSAND)
        for scales, header in self._loose:
            self._spoken.setdefault(header, set()).update(s for s in scales if s >= _THOUSAND)
        votes: dict[int, set[Decimal]] = {}
        for fact in self.facts:
            if fact.table >= 0 and not fact.unit.scales:
                found = told.get(self._headers[fact.passage], {}).get(fact.figure.number, set())
                votes.setdefault(fact.table, set()).update(found)
        money: dict[int, set[str]] = {}
        for fact in self.facts:
            if fact.table >= 0 and fact.figure.currency:
                money.setdefault(fact.table, set()).add(fact.figure.currency)
        for group in self.groups:
            only = money.get(group.table, set())
            for at, fact in enumerate(group.facts):
                if len(only) == 1 and not fact.unit.currency and fact.unit.percent is not True:
                    group.facts[at] = fact = replace(fact, unit=replace(fact.unit, currency=min(only)))  # noqa: PLW2901  # the same fact, its currency known
                header = self._headers[fact.passage]
                if fact.table < 0 and header in self._otherwise and _is_bare(fact.figure):
                    group.facts[at] = _scaled(fact, tuple(dict.fromkeys((*fact.unit.scales, *self._otherwise[header]))))
                if fact.unit.scales or fact.table < 0:
                    continue
                stated_near = {s for said, other in self._loose if other == header for s in said}
                voted = votes.get(fact.table, set())
                if stated_near or len(voted) == 1:
                    group.facts[at] = _scaled(fact, tuple(sorted(stated_near or voted)))
        by_place = {(f.group, f.column, f.figure.start): f for g in self.groups for f in g.facts}
        self.facts = [by_place.get((f.group, f.column, f.figure.start), f) for f in self.facts]


def _untimed(label: str) -> str:
    """Without the times it names: a row that is a month has no other name."""
    for period in reversed(find_periods(label)):
        label = f"{label[: period.start]} {label[period.end :]}"
    return label


def _is_bare(figure: Figure) -> bool:
    """An amount of money without a scale word."""
    return figure.kind == "number" and bool(figure.currency) and figure.scale is None and figure.digits >= _TELLING


def _scaled(fact: Fact, scales: tuple[Decimal, ...]) -> Fact:
    return replace(fact, unit=Unit(scales, fact.unit.currency, fact.unit.percent))


def content(text: str) -> frozenset[str]:
    """Terms with letters: what a text is about, without its figures. "Other" is the name of many a row."""
    return frozenset(stem(w) for w in words(text) if (w not in STOP_WORDS or w == "other") and _WORD.search(w))
