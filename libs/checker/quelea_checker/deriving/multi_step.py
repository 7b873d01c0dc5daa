"""Computations of two steps over rows of tables: averages of a year, changes of averages and of sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from quelea_checker.deriving.computations import (
    HUNDRED,
    Computation,
    combine_many,
    format_operand,
)
from quelea_checker.matching.claims import Claim
from quelea_checker.reading.facts import Fact, Group
from quelea_checker.reading.wording import Operation

_CELLS = 14
_MOVES = {"change", "growth"}


def combine_averages(claim: Claim, group: Group, asked: Sequence[Operation], *, percent: bool) -> Iterator[Computation]:
    """A year's average is the mean of its beginning and its end; and how that changed."""
    if "average" not in asked or group.table < 0:
        return
    facts = group.facts[:_CELLS]
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


def combine_compound(claim: Claim, group: Group) -> Iterator[Computation]:
    """The rate a year at which a row grew over more than one year, between times that the claim names where it does."""
    dated = sorted((f for f in group.facts[:_CELLS] if _is_level(f)), key=lambda f: f.latest_date)
    named = {p.year for p in claim.all_periods if p.year}
    for old, new in combinations(dated, 2):
        years = new.latest_date[0] - old.latest_date[0]
        if years < 2 or new.latest_date[1:] != old.latest_date[1:]:
            continue
        if named and not (claim.find_named_periods(new) and (len(named) == 1 or claim.find_named_periods(old))):
            continue
        ratio = float(new.value / old.value)
        value = Decimal(ratio ** (1 / years) - 1) * HUNDRED
        shown = f"= ({format_operand(new)} ÷ {format_operand(old)}) ^ (1 ÷ {years}) − 1"
        yield Computation(value, (new, old), "compound", True, True, shown)


def _is_level(fact: Fact) -> bool:
    return bool(not fact.change and fact.latest_date[0] and fact.value > 0 and fact.figure.kind == "number")


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
