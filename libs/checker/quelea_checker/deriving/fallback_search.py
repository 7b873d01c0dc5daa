"""The wide search: figures whose many digits agree are no luck, whatever the words about them are.

A figure of five digits and more may be the sum or difference of any two rows of a table that shares a word with the
sentence, or a run of its rows; of four digits when one of the rows shares words itself, of three when both do. So may a
percentage be a ratio. Times must fit as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quelea_checker.deriving.computations import HUNDRED, Try, many
from quelea_checker.matching.claims import Claim, multipliers
from quelea_checker.matching.relevance import LOOKED
from quelea_checker.reading.calendar import fits
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group

LEAST = 3
"""Significant digits of a figure that is searched for so."""
_ANY, _ONE = 5, 4
_PRICE = 1000  # numbers are multiplied by what may be a price or a rate
_TABLES = 6
_ROWS = 60
_COLUMNS = 12
_CHEAP = 40
"""Comparisons that cost as much as one computation of the budget."""


def wide(claim: Claim, groups: Sequence[Group], evidence: Evidence, *, percent: bool) -> Iterator[Try | int]:
    """Computations that give the figure's size, and between them what the search has cost so far."""
    if claim.figure.digits < LEAST:
        return
    near = {id(group) for group in groups}
    for rows in _tables(claim, groups, evidence):
        for column in range(_COLUMNS):
            facts = [
                f for g in rows for f in g.facts[column : column + 1]
                if not f.change and f.value and fits(claim.every, f.periods, f.years)
            ]  # fmt: skip
            if len(facts) < 2:
                continue
            close = [id(evidence.groups[f.group]) in near for f in facts]
            yield len(facts) * len(facts) // _CHEAP + 1
            yield from _ratios(claim, facts, close) if percent else _pairs(claim, facts, close)


def moves(claim: Claim, groups: Sequence[Group], evidence: Evidence) -> Iterator[Group]:
    """Rows of those tables, whatever their names: what is called "turnover" may be asked for as "revenue"."""
    if claim.figure.digits >= LEAST:
        for rows in _tables(claim, groups, evidence):
            yield from (row for row in rows if row not in groups)


def _tables(claim: Claim, groups: Sequence[Group], evidence: Evidence) -> Iterator[list[Group]]:
    """Rows of the tables that share words with the claim."""
    wanted = list(dict.fromkeys(g.table for g in groups if g.table >= 0))
    if claim.figure.digits >= LEAST:
        found = {g.table for t in claim.terms for g in evidence.by_term.get(t, ())[:LOOKED] if g.table >= 0}
        wanted += [table for table in sorted(found) if table not in wanted]
    for table in wanted[:_TABLES]:
        yield [g for g in evidence.rows.get(table, ()) if g.facts][:_ROWS]


def _allowed(digits: int, one: bool, other: bool) -> bool:
    return digits >= _ANY or (digits >= _ONE and (one or other)) or (one and other)


def _pairs(claim: Claim, facts: Sequence[Fact], close: Sequence[bool]) -> Iterator[Try]:
    """Sums and differences of two, and sums of runs, of one column."""
    figure, digits = claim.figure, claim.figure.digits
    for times in multipliers(figure, facts[0]):
        low, high = (figure.size - claim.tolerance) / times, (figure.size + claim.tolerance) / times
        if high <= 0:
            continue
        values = [float(f.value) for f in facts]
        near, far = float(low) * (1 - 1e-12), float(high) * (1 + 1e-12)
        for i, a in enumerate(values):
            total = a
            for j in range(i + 1, len(values)):
                b = values[j]
                total += b
                run = near <= abs(total) <= far and (digits >= _ONE or j == i + 1)
                pair = near <= abs(a + b) <= far
                apart = near <= abs(a - b) <= far
                price = digits >= _ANY and near <= abs(a * b) <= far
                if run or pair or apart or price:
                    fair = _allowed(digits, close[i], close[j])
                    yield from _hits(facts[i : j + 1], run=run, pair=pair and fair, apart=apart and fair, price=price)


def _hits(facts: Sequence[Fact], *, run: bool, pair: bool, apart: bool, price: bool) -> Iterator[Try]:
    """The computations on a run of facts, or on its first and last, that came out right."""
    one, other = sorted((facts[0], facts[-1]), key=lambda f: f.value, reverse=True)
    if apart:
        yield Try(one.value - other.value, (one, other), "difference", False, None)
    if run and (len(facts) > 2 or pair):
        yield from many(facts, ["sum"])
    elif pair:
        yield from many([facts[0], facts[-1]], ["sum"])
    if price and min(abs(one.value), abs(other.value)) < _PRICE:
        number, rate = sorted((one, other), key=lambda f: abs(f.value), reverse=True)
        yield Try(number.value * rate.value, (number, rate), "product", False, None)


def _ratios(claim: Claim, facts: Sequence[Fact], close: Sequence[bool]) -> Iterator[Try]:
    digits = claim.figure.digits
    target, slack = float(claim.figure.size) / 100, float(claim.tolerance) / 100
    values = [float(f.value) for f in facts]
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            if i != j and abs(abs(a / b) - target) <= slack * 1.001 and _allowed(digits, close[i], close[j]):
                value = facts[i].value / facts[j].value * HUNDRED
                yield Try(value, (facts[i], facts[j]), "ratio", True, None)
