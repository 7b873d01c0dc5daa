"""Rows of a table together: their columns, the runs of a block, rows that are years."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quelea_checker.deriving.computations import Try, many, when
from quelea_checker.deriving.fallback_search import LEAST
from quelea_checker.matching.claims import Claim
from quelea_checker.matching.relevance import LOOKED
from quelea_checker.reading.calendar import fits
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group
from quelea_checker.reading.wording import Operation

_BLOCK = 16  # rows: the longest run that is summed
_BLOCKS = 40


def columns_of(claim: Claim, groups: Sequence[Group]) -> Iterator[list[Fact]]:
    """The facts of rows column by column; of rows with unlike numbers of cells counted from either side."""
    if groups[0].table < 0 or len({g.table for g in groups}) > 1:
        return
    uneven = len({len(g.facts) for g in groups}) > 1
    if uneven and claim.figure.digits < LEAST:
        return
    columns = [*zip(*(g.facts for g in groups), strict=False)]
    if uneven:
        columns += zip(*(reversed(g.facts) for g in groups), strict=False)
    for column in columns:
        if not column[0].change and all(fits(claim.every, f.periods, f.years) for f in column):
            yield list(column)


def blocks(claim: Claim, evidence: Evidence, asked: Sequence[Operation]) -> Iterator[Try]:
    """All rows of a block, and the runs that begin or end it, for columns or rows that share the claim's terms."""
    near = {g.block for term in claim.terms for g in evidence.by_term.get(term, ())[:LOOKED] if g.block >= 0}
    chosen = [evidence.blocks[b] for b in near if b in evidence.blocks and len(evidence.blocks[b]) <= _BLOCK]
    for block in sorted(chosen, key=lambda block: [g.label for g in block])[:_BLOCKS]:
        if len(block) < 2:
            continue
        for size in range(len(block), 1, -1):
            for some in {tuple(range(size)), tuple(range(len(block) - size, len(block)))}:
                for column in columns_of(claim, [block[i] for i in some]):
                    yield from many(column, asked)


def years(claim: Claim, evidence: Evidence, asked: Sequence[Operation]) -> Iterator[Try]:
    """Rows that are years, from the first year named to the last: payments due in 2020 to 2024."""
    years = sorted({p.year for p in claim.every if p.year})
    if len(years) < 2:
        return
    columns: dict[tuple[int, int, int], list[Fact]] = {}
    for term in sorted(claim.terms):
        for group in evidence.by_term.get(term, [])[:LOOKED]:
            if group.table >= 0 and not group.name and group.facts and years[0] <= when(group.facts[0])[0] <= years[-1]:
                for fact in group.facts:
                    column = columns.setdefault((fact.passage, fact.table, fact.column), [])
                    if fact not in column and fact.terms & claim.terms:
                        column.append(fact)
    for facts in columns.values():
        if len(facts) > 1:
            yield from many(sorted(facts, key=when), asked)
