"""Figures that follow from figures of the evidence: sums, differences, growth, ratios, averages, shares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from quelea_checker.binding.cells import is_of_other_concept
from quelea_checker.deriving.acceptance import is_accepted
from quelea_checker.deriving.computations import (
    Computation,
    combine_many,
    combine_two,
    find_share_of_last,
    format_formula,
    is_later,
    is_ordered,
)
from quelea_checker.deriving.multi_step import combine_averages, combine_compound, combine_sums
from quelea_checker.deriving.table_search import (
    LEAST,
    align_columns,
    combine_blocks,
    find_other_rows,
    search_columns,
)
from quelea_checker.matching.claims import Claim, same_currency
from quelea_checker.matching.relevance import find_relevant_groups
from quelea_checker.reading import wording
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group
from quelea_checker.reading.wording import Operation

_ROWS = 7  # rows of a table that are combined with one another
_MORE_ROWS = 10  # the same for a figure of many digits
_PARTS = 4  # rows that two parts of a share are looked for in
MOST_SOUGHT = 2000  # figures of one answer that are looked for; those behind are not found
FIGURES = 500  # figures of one answer that are tried to be derived
BUDGET = 100_000  # computations for one answer; what is left when they are used up is not derived
_RANGE = re.compile(
    r"\bfrom\b.{0,400}\bto\b|(?:19|20)\d\d (?:to|through) (?:fiscal )?(?:19|20)\d\d"
    r"|\bbetween\b|\bthrough\b|\d\s?[-–]\s?\d|至|到|\bperiod\b",
    re.IGNORECASE,
)
_UNSAID: tuple[Operation, ...] = ("growth", "change", "sum", "share")
"""What is tried when the wording asks for nothing and the figure's digits are many."""


@dataclass(frozen=True, slots=True)
class Derived:
    """How a figure follows: the formula and its operands."""

    formula: str
    operands: tuple[Fact, ...]


class Budget:
    """Counts computations, and figures tried, down."""

    def __init__(self) -> None:
        self.left = BUDGET
        self.figures = FIGURES
        self.sought = MOST_SOUGHT

    def take(self, cost: int = 1) -> bool:
        """Whether there is so much left."""
        self.left -= cost
        return self.left >= 0


def derive(claim: Claim, evidence: Evidence, budget: Budget) -> Derived | None:
    """The first computation that gives the figure, of those that the wording asks for, on rows that share its terms."""
    said = f"{claim.sentence} {claim.question}"
    asked = wording.find_operations(said)
    budget.figures -= 1
    if budget.figures < 0 or budget.left <= 0:
        return None
    groups = find_relevant_groups(claim, evidence)
    if not asked and not claim.is_compound and (claim.figure.digits <= LEAST or claim.figure.negative):
        return None
    asked = asked or _UNSAID
    if claim.figure.kind == "percent" and "growth" not in asked and ("change" in asked or claim.figure.digits >= LEAST):
        asked = ("growth", *asked)
    for one in _find_computations(claim, groups, evidence, asked, said):
        if not budget.take(one if isinstance(one, int) else 1):
            return None
        if isinstance(one, int) or not is_accepted(claim, one, evidence):
            continue
        if not is_of_other_concept(claim, one.operands, evidence):
            return Derived(format_formula(one), one.operands)
    return None


def _find_computations(
    claim: Claim, groups: Sequence[Group], evidence: Evidence, asked: Sequence[Operation], said: str
) -> Iterator[Computation | int]:
    percent = claim.figure.kind in {"percent", "points"}
    if claim.is_compound:
        for group in groups:
            yield from combine_compound(claim, group)
        return
    for group in groups:
        yield from _combine_row(claim, group, asked, said, percent)
    yield from _combine_rows(claim, groups, evidence, asked, percent)
    if {"sum", "average"} & set(asked) and claim.figure.digits > 2:
        yield from combine_blocks(claim, evidence, asked)
    for group in groups:
        yield from combine_averages(claim, group, asked, percent=percent)
    yield from combine_sums(claim, groups, asked, percent=percent)
    if not evidence.near(claim.figure.number, claim.figure.number, 1):  # else something spoke against it
        within = [
            o for o in asked if o in {"change", "growth"} or (o in {"sum", "average"} and claim.figure.digits > LEAST)
        ]
        for group in find_other_rows(claim, groups, evidence) if within else ():
            yield from _combine_row(claim, group, within, said, percent)
        yield from search_columns(claim, groups, evidence, percent=percent)


def _find_usable(claim: Claim, facts: Sequence[Fact], *, percent: bool) -> list[Fact]:
    return [
        f
        for f in facts
        if not f.change
        and same_currency(claim.figure, f)
        and (percent or f.unit.percent is not True or _is_bare_number(claim))
    ]


def _is_bare_number(claim: Claim) -> bool:
    return not claim.figure.currency and claim.figure.scale is None


def _combine_row(
    claim: Claim, group: Group, asked: Sequence[Operation], said: str, percent: bool
) -> Iterator[Computation]:  # a private step
    facts = _find_usable(claim, group.facts, percent=percent)[:14]
    for one, other in combinations(facts, 2):
        for new, old in _order_pair(claim, one, other):
            yield from combine_two(new, old, asked, percent=percent, ordered=is_ordered(new, old) or None)
    chosen = _choose_periods(claim, facts, said)
    if len(chosen) > 1:
        yield from combine_many(chosen, asked)
        latest = {f.latest_date[0]: f for f in sorted(chosen, key=lambda f: f.latest_date)}
        if 1 < len(latest) < len(chosen):  # two dates in a year: the later ends it
            yield from combine_many(list(latest.values()), asked)


def _order_pair(claim: Claim, one: Fact, other: Fact) -> Iterator[tuple[Fact, Fact]]:
    """(new, old) as the times say; both ways when they do not. Pairs that the claim's times rule out are left out."""
    if claim.all_periods and one.periods and other.periods:
        a, b = claim.find_named_periods(one), claim.find_named_periods(other)
        years = {p.year for p in claim.all_periods if p.year} or {1}
        if not a and not b:
            return
        if len(years) > 1 and not (a and b and len(a | b) > 1) and not _is_of_its_year(claim, one, other):
            return
        newer = a if is_ordered(one, other) and is_later(one, other) else b
        if len(years) == 1 and is_ordered(one, other) and not newer:
            return  # "the change in 2018" is the one from 2017
    if is_ordered(one, other):
        yield (one, other) if is_later(one, other) else (other, one)
    else:
        yield one, other
        yield other, one


def _is_of_its_year(claim: Claim, one: Fact, other: Fact) -> bool:
    """The figure's own time is a year, and the two are of it and the year before: others are of other figures."""
    own = {period.year for period in claim.periods}
    if len(own) != 1 or not is_ordered(one, other):
        return False
    newer, older = (one, other) if is_later(one, other) else (other, one)
    return newer.latest_date == (*own, *newer.latest_date[1:]) and older.latest_date == (
        newer.latest_date[0] - 1,
        *newer.latest_date[1:],
    )


def _choose_periods(claim: Claim, facts: Sequence[Fact], said: str) -> list[Fact]:
    """The facts of a row that a total or an average is over: those of the times named, or all."""
    dated = [f for f in facts if f.latest_date[0]]
    years = [p.year for p in claim.all_periods if p.year]
    if len(set(years)) > 1 and dated:
        ranged = _RANGE.search(said)
        if ranged:
            return [f for f in dated if claim.find_named_periods(f) or min(years) < f.latest_date[0] < max(years)]
        return [f for f in dated if claim.find_named_periods(f)]
    if years and dated:
        own = [f for f in dated if claim.find_named_periods(f)]
        return own if len(own) > 1 else []
    return list(facts)


def _combine_rows(
    claim: Claim, groups: Sequence[Group], evidence: Evidence, asked: Sequence[Operation], percent: bool
) -> Iterator[Computation]:
    """Rows with one another, column by column; parts with totals; sentences with one another."""
    rows = groups[: _ROWS if claim.figure.digits <= LEAST else _MORE_ROWS]
    tables = sorted({g.table for g in rows if g.table >= 0})
    totals = [g for table in tables for g in evidence.totals.get(table, [])[:_ROWS] if g not in rows]
    for one, other in combinations(rows, 2):
        yield from _combine_pair(claim, one, other, asked, percent)
    if "share" in asked or "ratio" in asked:
        for one, other in combinations(rows[:_PARTS], 2):
            for whole in [*totals[:3], *rows[:_PARTS]]:
                for column in align_columns(claim, (one, other, whole)) if whole not in (one, other) else ():
                    yield from find_share_of_last(column, percent=percent)
    if {"sum", "average"} & set(asked):
        for size in (2, 3, 4):
            for some in combinations(rows, size):
                if size > 2 and len({group.block for group in some}) > 1:
                    continue
                for column in align_columns(claim, some):
                    yield from combine_many(column, asked)


def _combine_pair(
    claim: Claim, one: Group, other: Group, asked: Sequence[Operation], percent: bool
) -> Iterator[Computation]:
    """Two rows with one another, or two sentences."""
    unlike = [operation for operation in asked if operation != "growth"]
    several = len({p.year for p in claim.all_periods if p.year}) > 1 and "share" not in asked and "ratio" not in asked
    for a, b in _pair_facts(claim, one, other, percent=percent):
        if several and a.periods and b.periods and a.column == b.column and not is_ordered(a, b):
            continue  # a change between two times is none between two rows
        if is_ordered(a, b):
            new, old = (a, b) if is_later(a, b) else (b, a)
            yield from combine_two(new, old, asked, percent=percent, ordered=True)
            if {"sum", "average"} & set(asked) and a.column == b.column:
                yield from combine_many([a, b], asked)  # rows that are times
            continue
        for new, old in ((a, b), (b, a)):
            yield from combine_two(new, old, unlike, percent=percent, ordered=None)


def _pair_facts(claim: Claim, one: Group, other: Group, *, percent: bool) -> Iterator[tuple[Fact, Fact]]:
    first, second = (_find_usable(claim, g.facts, percent=percent)[:14] for g in (one, other))
    same = one.table == other.table
    for a in first:
        for b in second:
            if same and a.table >= 0 and (a.column != b.column or len(one.facts) != len(other.facts)):
                continue
            # Of different tables the same figures are compared with their scale spelled out.
            pair = (a, b) if same else (a.with_stated_scale, b.with_stated_scale)
            if pair[0].figure.scale != pair[1].figure.scale or (same and a.unit.scales != b.unit.scales):
                continue  # amounts of different units
            if _are_timely(claim, a, b):
                yield pair


def _are_timely(claim: Claim, a: Fact, b: Fact) -> bool:
    """Both are of times that the claim names; "the change in 2018" is the one from the year before."""
    both = claim.is_timely(a), claim.is_timely(b)
    if all(both) or not any(both) or not is_ordered(a, b) or len({p.year for p in claim.all_periods if p.year}) != 1:
        return all(both)
    newer, older = (a, b) if is_later(a, b) else (b, a)
    return (
        both[0 if newer is a else 1]
        and newer.latest_date[0] - older.latest_date[0] == 1
        and newer.latest_date[1:] == older.latest_date[1:]
    )
