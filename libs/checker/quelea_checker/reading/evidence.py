"""The figures of all the evidence: one passage's behind the other's, with what passages tell of one another."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice

from quelea_fintext.text import language_of

from quelea_checker.model import CheckPassage, Period
from quelea_checker.reading.calendar import Calendar
from quelea_checker.reading.facts import MOST_FACTS, Fact, Group, PassageFacts, read_passage

TOTAL = re.compile(r"\btotals?\b|合计|总计|总额|小计", re.IGNORECASE)


class Evidence:
    """All passages, read.

    Args:
        passages: In the caller's order; nothing but numbers of passages depends on it.
    """

    def __init__(self, passages: Sequence[CheckPassage]) -> None:
        self.groups: list[Group] = []
        self.facts: list[Fact] = []
        self.terms: list[frozenset[str]] = []
        named: list[list[Period]] = []
        self._tables = 0
        self._loose: list[tuple[tuple[Decimal, ...], str]] = []
        self.titles = [passage.header for passage in passages]
        self._headers = [passage.document or passage.header for passage in passages]
        for number, passage in enumerate(passages):
            read = read_passage(replace(passage, document=""))
            named.append(list(read.periods))
            self._add(number, read, self._headers[number])
        self.calendar = Calendar(named)
        self.languages = {language_of(passage.text) for passage in passages}
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

    def is_foreign(self, language: str) -> bool:
        """No passage is in a language."""
        return bool(self.languages) and language not in self.languages

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

    def _add(self, number: int, read: PassageFacts, document: str) -> None:
        """A passage's facts, under its number, behind those of the passages before it."""
        base, tables = len(self.groups), self._tables
        self._tables += read.tables
        for at, group in enumerate(read.groups):
            table = group.table if group.table < 0 else group.table + tables
            block = group.block if group.block < 0 else group.block + tables
            facts = [replace(fact, passage=number, group=base + at, table=table) for fact in group.facts]
            self.groups.append(replace(group, passage=number, table=table, block=block, facts=facts))
            counted = (fact for fact in facts if (at, fact.column) not in read.dashes)
            self.facts += islice(counted, max(0, MOST_FACTS - len(self.facts)))
        self.terms.append(read.terms)
        self._loose += [(scales, document) for scales in read.loose]

    def _hint(self) -> None:
        """A table that states no unit takes those that a passage without a table states: "as follows (in millions):".

        Of another document's passages nothing is taken, where headers tell documents apart.
        """
        money: dict[int, set[str]] = {}
        for fact in self.facts:
            if fact.table >= 0 and fact.figure.currency:
                money.setdefault(fact.table, set()).add(fact.figure.currency)
        for group in self.groups:
            only = money.get(group.table, set())
            group.facts = [self._hint_fact(fact, only) for fact in group.facts]
        by_place = {(f.group, f.column, f.figure.start): f for g in self.groups for f in g.facts}
        self.facts = [by_place.get((f.group, f.column, f.figure.start), f) for f in self.facts]

    def _hint_fact(self, fact: Fact, currencies: set[str]) -> Fact:
        """A fact with the currency and scale that its table has elsewhere."""
        if len(currencies) == 1 and not fact.unit.currency and fact.unit.percent is not True:
            fact = replace(fact, unit=replace(fact.unit, currency=min(currencies)))
        header = self._headers[fact.passage]
        if fact.table < 0 or fact.unit.scales:
            return fact
        stated_near = {s for said, other in self._loose if other == header for s in said}
        return replace(fact, unit=replace(fact.unit, scales=tuple(sorted(stated_near)))) if stated_near else fact
