"""Computations over several figures of tables: averages of a year, named columns, changes of sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, permutations

from quelea_checker.deriving.computations import (
    HUNDRED,
    Computation,
    combine_many,
    find_share_of_last,
    format_operand,
)
from quelea_checker.matching.claims import Claim
from quelea_checker.reading.evidence import TOTAL
from quelea_checker.reading.facts import Fact, Group
from quelea_checker.reading.wording import Operation

_CELLS = 14
_MOVES = {"change", "growth"}
_PARTS = {"share", "ratio"}


def combine_steps(
    claim: Claim, groups: Sequence[Group], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """Averages of a year, columns that the sentence names and changes as shares, of rows that share its terms."""
    for group in groups:
        if group.table < 0:
            continue
        facts = group.facts[:_CELLS]
        if "average" in asked:
            yield from _combine_averages(claim, facts, asked, percent=percent)
        yield from _combine_quarters(claim, facts)
        yield from _combine_named_columns(claim, group, facts, asked, percent=percent)
        if "share" in asked and percent:
            for change in facts:
                for base in facts if change.change and change.figure.kind == "number" else ():
                    if base.value and not base.change and claim.is_timely(base):
                        yield Computation(abs(change.value / base.value) * HUNDRED, (change, base), "ratio", True, None)


def _combine_averages(
    claim: Claim, facts: Sequence[Fact], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """A year's average is the mean of its beginning and its end; and how that changed."""
    dated = sorted((f for f in facts if not f.change and f.latest_date[0]), key=lambda f: f.latest_date)
    by_year = {f.latest_date[0]: f for f in dated}
    named = {p.year for p in claim.all_periods if p.year}
    for year in sorted(named) if len(named) == 1 else ():
        if year in by_year and year - 1 in by_year:
            yield from combine_many([by_year[year], by_year[year - 1]], ["average"])
    if not _MOVES & set(asked):
        return
    for year in sorted(by_year, reverse=True):
        three = [by_year[y] for y in (year, year - 1, year - 2) if y in by_year]
        if len(three) < 3 or not named <= {year, year - 1, year - 2}:
            continue
        new, old = three[0].value + three[1].value, three[1].value + three[2].value
        a, b, c = (format_operand(f) for f in three)
        shown = f"= ({a} + {b}) ÷ 2 − ({b} + {c}) ÷ 2"
        if "growth" in asked and percent and old:
            yield Computation(
                (new - old) / abs(old) * HUNDRED, tuple(three), "steps", True, True, f"{shown}, ÷ ({b} + {c}) ÷ 2"
            )
        else:
            yield Computation((new - old) / 2, tuple(three), "steps", percent, True, shown)


def _combine_quarters(claim: Claim, facts: Sequence[Fact]) -> Iterator[Computation]:
    """A half, or nine months, of a row with a column for each quarter."""
    for period in claim.all_periods:
        wanted = {1: (1, 2), 2: (3, 4)}.get(period.half, (1, 2, 3) if period.months == 9 else ())
        found = [f for f in facts if not f.change and any(p.quarter in wanted for p in f.periods)]
        own = [f for f in found if not period.year or any(p.year in {0, period.year} for p in f.periods)]
        if wanted and len(own) == len(wanted):
            yield from combine_many(own, ["sum"])


def _combine_named_columns(
    claim: Claim, group: Group, facts: Sequence[Fact], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """Columns whose heads the sentence names: "of Europe and Asia" in a row with a column for each region."""
    own = {id(f): f.terms - group.terms for f in facts}
    chosen = [
        f for f in facts if own[id(f)] and own[id(f)] <= claim.terms and not f.change and not TOTAL.search(f.words)
    ]
    if len(chosen) < 2:
        return
    yield from combine_many(chosen, asked)
    wholes = [f for f in facts if f not in chosen and TOTAL.search(f.words)] or [f for f in facts if f not in chosen]
    if _PARTS & set(asked):
        for whole in wholes[-1:]:
            yield from find_share_of_last([*chosen, whole], percent=percent)
        if claim.figure.digits > 2:
            for one, other in permutations(chosen[:4], 2):
                if other.value:
                    ratio = one.value / other.value
                    yield Computation(ratio * HUNDRED if percent else ratio, (one, other), "ratio", percent, None)


_LEAST = 3
"""Significant digits from which such a computation is no luck."""
_ROWS = 5


def combine_sums(
    claim: Claim, groups: Sequence[Group], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """Changes of the sums of two rows that share the claim's terms."""
    if claim.figure.digits < _LEAST or not _MOVES & set(asked) or not {"sum", "average"} & set(asked):
        return
    rows = [group for group in groups if group.table >= 0]
    for one, other in combinations(rows[:_ROWS], 2):
        yield from _change_of_sums(claim, one, other, asked, percent=percent)


def _is_named(claim: Claim, group: Group) -> bool:
    """Half of its name's words and more are said, or of its name's and its section's."""
    named, whole = len(group.name & claim.terms), len(group.terms & claim.terms)
    return named > 0 and (named * 2 >= len(group.name) or whole * 2 >= len(group.terms))


def _change_of_sums(
    claim: Claim, one: Group, other: Group, asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """How the sum of two rows changed, and what two rows differed by on average."""
    if one.table != other.table or len(one.facts) != len(other.facts):
        return
    if not _is_named(claim, one) or not _is_named(claim, other):
        return
    columns = [
        (a, b) for a, b in zip(one.facts, other.facts, strict=True)
        if not a.change and a.latest_date[0] and claim.is_timely(a)
    ][:6]  # fmt: skip
    if "average" in asked and len(columns) > 1 and not percent:
        total = sum((a.value - b.value for a, b in columns), Decimal(0))
        shown = " + ".join(f"({format_operand(a)} − {format_operand(b)})" for a, b in columns)
        operands = tuple(fact for pair in columns for fact in pair)
        yield Computation(total / len(columns), operands, "steps", False, None, f"= ({shown}) ÷ {len(columns)}")
    if "sum" not in asked:
        return
    for (a, b), (c, d) in combinations(columns, 2):
        if a.latest_date == c.latest_date:
            continue
        (a1, b1), (a0, b0) = ((a, b), (c, d)) if a.latest_date > c.latest_date else ((c, d), (a, b))
        new, old = a1.value + b1.value, a0.value + b0.value
        shown = f"= ({format_operand(a1)} + {format_operand(b1)}) − ({format_operand(a0)} + {format_operand(b0)})"
        operands = (a1, b1, a0, b0)
        if not percent:
            yield Computation(new - old, operands, "steps", False, True, shown)
        elif old:
            part = f"({format_operand(a0)} + {format_operand(b0)})"
            yield Computation((new - old) / abs(old) * HUNDRED, operands, "steps", True, True, f"{shown}, ÷ {part}")
