"""A search of whole tables for figures with too many digits to agree by chance, whatever the words are.

A figure of five digits and more may be the sum or difference of any two rows of a table that shares a word with the
sentence; of four digits when one of the rows shares words itself, of three when both do. So may a
percentage be a ratio. Times must fit as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from quelea_checker.deriving.computations import HUNDRED, Computation, combine_many
from quelea_checker.matching.claims import Claim, find_multipliers
from quelea_checker.matching.relevance import LOOKED
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group
from quelea_checker.reading.wording import Operation

LEAST = 3
"""Significant digits of a figure that is searched for so."""
_ANY, _ONE = 5, 4
_TABLES = 6
_ROWS = 60
_COLUMNS = 12
_CHEAP = 40
"""Comparisons that cost as much as one computation of the budget."""


def search_columns(
    claim: Claim, groups: Sequence[Group], evidence: Evidence, *, percent: bool
) -> Iterator[Computation | int]:
    """Computations that give the figure's size, and between them what the search has cost so far."""
    if claim.figure.digits < LEAST:
        return
    near = {id(group) for group in groups}
    for rows in _find_tables(claim, groups, evidence):
        for column in range(_COLUMNS):
            facts = [
                f for g in rows for f in g.facts[column : column + 1]
                if not f.change and f.value and claim.is_timely(f)
            ]  # fmt: skip
            if len(facts) < 2:
                continue
            close = [id(evidence.groups[f.group]) in near for f in facts]
            yield len(facts) * len(facts) // _CHEAP + 1
            yield from _search_ratios(claim, facts, close) if percent else _search_pairs(claim, facts, close)


def find_other_rows(claim: Claim, groups: Sequence[Group], evidence: Evidence) -> Iterator[Group]:
    """Rows of those tables, whatever their names: what is called "turnover" may be asked for as "revenue"."""
    if claim.figure.digits >= LEAST:
        for rows in _find_tables(claim, groups, evidence):
            yield from (row for row in rows if row not in groups)


def _find_tables(claim: Claim, groups: Sequence[Group], evidence: Evidence) -> Iterator[list[Group]]:
    """Rows of the tables that share words with the claim."""
    wanted = list(dict.fromkeys(g.table for g in groups if g.table >= 0))
    if claim.figure.digits >= LEAST:
        found = {g.table for t in claim.terms for g in evidence.by_term.get(t, ())[:LOOKED] if g.table >= 0}
        wanted += [table for table in sorted(found) if table not in wanted]
    for table in wanted[:_TABLES]:
        yield [g for g in evidence.rows.get(table, ()) if g.facts][:_ROWS]


def _is_allowed(digits: int, one: bool, other: bool) -> bool:
    return digits >= _ANY or (digits >= _ONE and (one or other)) or (one and other)


def _search_pairs(claim: Claim, facts: Sequence[Fact], close: Sequence[bool]) -> Iterator[Computation]:
    """Sums and differences of two figures of one column, and sums of runs of them."""
    figure, digits = claim.figure, claim.figure.digits
    for times in find_multipliers(figure, facts[0]):
        low, high = (figure.size - claim.tolerance) / times, (figure.size + claim.tolerance) / times
        if high <= 0:
            continue
        near, far = float(low) * (1 - 1e-12), float(high) * (1 + 1e-12)
        values = [float(f.value) for f in facts]
        for i, j in combinations(range(len(values)), 2):
            a, b = values[i], values[j]
            if j > i + 1 and digits >= _ONE and near <= abs(sum(values[i : j + 1])) <= far:
                yield from combine_many(facts[i : j + 1], ["sum"])
            if not _is_allowed(digits, close[i], close[j]):
                continue
            if near <= abs(a - b) <= far:
                one, other = sorted((facts[i], facts[j]), key=lambda f: f.value, reverse=True)
                yield Computation(one.value - other.value, (one, other), "difference", False, None)
            if near <= abs(a + b) <= far:
                yield from combine_many([facts[i], facts[j]], ["sum"])


def _search_ratios(claim: Claim, facts: Sequence[Fact], close: Sequence[bool]) -> Iterator[Computation]:
    digits = claim.figure.digits
    target, slack = float(claim.figure.size) / 100, float(claim.tolerance) / 100
    values = [float(f.value) for f in facts]
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            if i != j and abs(abs(a / b) - target) <= slack * 1.001 and _is_allowed(digits, close[i], close[j]):
                value = facts[i].value / facts[j].value * HUNDRED
                yield Computation(value, (facts[i], facts[j]), "ratio", True, None)


_BLOCK = 16  # rows: the longest run that is summed
_BLOCKS = 40


def align_columns(claim: Claim, groups: Sequence[Group]) -> Iterator[list[Fact]]:
    """The facts of rows of one table column by column; none where the rows have unlike numbers of cells."""
    if groups[0].table < 0 or len({(g.table, len(g.facts)) for g in groups}) > 1:
        return
    for column in zip(*(g.facts for g in groups), strict=True):
        if not column[0].change and all(claim.is_timely(f) for f in column):
            yield list(column)


def combine_blocks(claim: Claim, evidence: Evidence, asked: Sequence[Operation]) -> Iterator[Computation]:
    """All rows of a block, and the runs that begin or end it, for columns or rows that share the claim's terms."""
    near = {g.block for term in claim.terms for g in evidence.by_term.get(term, ())[:LOOKED] if g.block >= 0}
    chosen = [evidence.blocks[b] for b in near if b in evidence.blocks and len(evidence.blocks[b]) <= _BLOCK]
    for block in sorted(chosen, key=lambda block: [g.label for g in block])[:_BLOCKS]:
        if len(block) < 2:
            continue
        for size in range(len(block), 1, -1):
            for some in {tuple(range(size)), tuple(range(len(block) - size, len(block)))}:
                for column in align_columns(claim, [block[i] for i in some]):
                    yield from combine_many(column, asked)
