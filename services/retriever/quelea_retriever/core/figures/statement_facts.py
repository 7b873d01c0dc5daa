"""Figures of stored statements: kept with the passage that prints them, chosen by what a reader calls them."""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from quelea_fintext.concepts import concept_of_label, concepts_of_words, label_key
from quelea_fintext.facts import FACT_FIELDS, Fact

from quelea_retriever.core.model import DocumentFacts

STATEMENTS = ("income", "balance", "cash_flow", "comprehensive_income", "note")
"""In the order in which they are shown."""
BREAKDOWN = "breakdown"
"""Of a table whose rows are parts of the company; shown only where it is asked for."""
KINDS = (*STATEMENTS, BREAKDOWN)
"""Of facts, in the order in which they are shown."""
STATED_ALIKE = "value = that of an earlier document"
"""A check that a fact passes."""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact and where it stands."""

    fact: Fact
    document: DocumentFacts
    passage_id: str
    page: int
    ordinal: int
    restated: bool = False
    """A later document of the company states this concept and period with another value."""

    @property
    def amount(self) -> Decimal:
        """Its value."""
        return Decimal(self.fact.value)

    @property
    def unit(self) -> str:
        """As Fact.unit."""
        return self.fact.unit

    @property
    def name(self) -> str:
        """Unique among stated facts."""
        fact = self.fact
        return f"{self.document.id} {self.page} {fact.start} {fact.tag} {fact.period_end}"


def pack(facts: Sequence[Fact]) -> str:
    """Facts as one short string: searches carry passages about, and seldom look into it."""
    if not facts:
        return ""
    rows = [[getattr(fact, name) for name in FACT_FIELDS] for fact in facts]
    return base64.b85encode(zlib.compress(json.dumps(rows, ensure_ascii=False).encode())).decode()


def unpack(packed: str) -> list[Fact]:
    """What `pack` packed; fields of a later release are left out."""
    if not packed:
        return []
    rows = json.loads(zlib.decompress(base64.b85decode(packed)))
    return [_fact(row[: len(FACT_FIELDS)]) for row in rows]


def _fact(row: list[Any]) -> Fact:
    said: dict[str, Any] = dict(zip(FACT_FIELDS, row, strict=False))
    return Fact(**said | {name: tuple(one) for name, one in said.items() if isinstance(one, list)})


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts are wanted; see ListFactsRequest."""

    names: tuple[str, ...] = ()
    statements: frozenset[str] = frozenset()
    period_from: str = ""
    period_to: str = ""
    months: frozenset[int] = frozenset()
    basis: str = "consolidated"
    include_doubtful: bool = False

    def select(self, stated: Iterable[StatedFact]) -> list[StatedFact]:
        """Those that are wanted, one figure once, in the order in which they are shown."""
        wanted = sorted((one for one in _settle(stated) if self._wants(one)), key=_shown_at)
        if not self.names:
            return wanted
        # Net income begins the cash flow statement too: asked for by name it is one figure.
        once: dict[tuple[str, ...], StatedFact] = {}
        for one in sorted(wanted, key=lambda one: KINDS.index(one.fact.statement)):
            once.setdefault((*_name_of(one), one.fact.value), one)
        kept = {id(one) for one in once.values()}
        return [one for one in wanted if id(one) in kept]

    def _wants(self, one: StatedFact) -> bool:
        fact = one.fact
        return (
            (fact.basis or "consolidated") == self.basis
            and (self.include_doubtful or not (fact.failed or one.restated))
            and (not self.period_from or fact.period_end >= self.period_from)
            and (not self.period_to or fact.period_end <= self.period_to)
            and (not self.months or not fact.months or fact.months in self.months)
            and self._in_statement(fact)
            and (not self.names or any(_is_called(fact, name) for name in self.names))
        )

    def _in_statement(self, fact: Fact) -> bool:
        if self.statements or fact.statement == BREAKDOWN:
            return fact.statement in self.statements
        return bool(self.names) or fact.statement != "note"


@cache
def _named(name: str) -> tuple[frozenset[str], str]:
    return frozenset(one.id for one in concepts_of_words(name)), label_key(name)


def _is_called(fact: Fact, name: str) -> bool:
    """By its concept, else by its label; of a breakdown by its column, the part or the kind of parts."""
    ids, key = _named(name)
    if fact.statement == BREAKDOWN:
        concept = concept_of_label(fact.column)
        if concept is not None and concept.id in ids:
            return True
        return bool(key) and any(key in label_key(text) for text in (fact.label, fact.group, fact.column))
    if ids:
        return fact.concept in ids
    return bool(key) and (key in label_key(fact.label) or fact.tag.rpartition(":")[2].lower() == key)


def _settle(stated: Iterable[StatedFact]) -> list[StatedFact]:
    """One figure once: of the newest document that states it; older ones stay where they said something else.

    Where they all said the same, that is a check that the newest passes.
    """
    named: dict[tuple[str, ...], list[StatedFact]] = {}
    for one in sorted(stated, key=_newest_first):
        named.setdefault((one.fact.statement, *_name_of(one)), []).append(one)
    found: list[StatedFact] = []
    for newest, *others in (lines for some in named.values() for lines in _lines(some)):
        older = [one for one in others if one.document.id != newest.document.id]
        restated = [one for one in older if Decimal(one.fact.value) != Decimal(newest.fact.value)]
        if older and not restated:
            fact = dataclasses.replace(newest.fact, passed=(*newest.fact.passed, STATED_ALIKE))
            found.append(dataclasses.replace(newest, fact=fact))
        else:
            found.append(newest)
            found += [dataclasses.replace(one, restated=True) for one in restated]
    return found


def _lines(some: Sequence[StatedFact]) -> Iterable[Sequence[StatedFact]]:
    """Facts of one concept and period, apart by label where the newest document prints several lines of it: two kinds
    of short-term debt."""
    own = [one for one in some if one.document.id == some[0].document.id]
    labels = {label_key(one.fact.label) for one in own}
    if len(labels) == 1 or len({one.amount for one in own}) == 1:
        return [some]
    by_label: dict[str, list[StatedFact]] = {}
    for one in some:
        by_label.setdefault(label_key(one.fact.label), []).append(one)
    return by_label.values()


def _name_of(one: StatedFact) -> tuple[str, ...]:
    """What figures have in common that state the same thing."""
    fact = one.fact
    name = fact.concept or f"{fact.statement} {fact.group} {label_key(fact.label)} {fact.tag} {fact.column}"
    return (one.document.company or one.document.id, name, fact.basis, fact.period_start, fact.period_end, fact.unit)


def _newest_first(one: StatedFact) -> tuple[str, str, int, int, int]:
    document = one.document
    published = document.published or document.period.end_date
    # Greatest first: a later day is a smaller key; within a document statements come before notes.
    return (_later_first(published), document.id, KINDS.index(one.fact.statement), one.ordinal, one.fact.start)


def _later_first(day: str) -> str:
    return "".join(chr(ord("9") - int(c)) if c.isdigit() else c for c in day) or "~"


def _shown_at(one: StatedFact) -> tuple[str, str, int, int, int]:
    fact = one.fact
    return (
        one.document.company,
        _later_first(fact.period_end),
        KINDS.index(fact.statement),
        one.ordinal,
        fact.start,
    )
