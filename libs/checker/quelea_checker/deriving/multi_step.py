"""Computations over several figures of tables: averages of a year, compound growth, changes and shares of sums."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, permutations

from quelea_fintext.numerals import ENGLISH, chinese

from quelea_checker.deriving.computations import (
    HUNDRED,
    Computation,
    combine_many,
    find_share_of_last,
    format_operand,
)
from quelea_checker.matching.claims import Claim
from quelea_checker.matching.relevance import LOOKED
from quelea_checker.reading.evidence import TOTAL, Evidence
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
_BLOCK = 12
_BLOCKS = 6
_MOST = 10
_NUMBER = r"two|three|four|five|six|seven|eight|nine|ten|\d{1,2}"
_LARGEST = re.compile(
    rf"\b(?:top|largest|highest|biggest|leading) (?P<n>{_NUMBER})\b"
    rf"|\b(?P<n2>{_NUMBER}) (?:largest|highest|biggest|leading|top)\b"
    r"|前(?P<zh>[两二三四五六七八九十]|\d{1,2})大?(?!季|个月|月)|最大的(?P<zh2>[两二三四五六七八九十]|\d{1,2})",
    re.IGNORECASE,
)
_SMALLEST = re.compile(
    rf"\b(?:bottom|lowest|smallest) (?P<n>{_NUMBER})\b|\b(?P<n2>{_NUMBER}) (?:lowest|smallest)\b", re.IGNORECASE
)
_COMPOUND = re.compile(r"\bCAGR\b|\bcompound(?:ed)?\b|复合", re.IGNORECASE)
_YEARLY = re.compile(r"\b(?:annual|annually|yearly|per year|a year|each year|per annum)\b|每年|年均", re.IGNORECASE)


def combine_sums(
    claim: Claim, groups: Sequence[Group], evidence: Evidence, asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """What the wording asks for of these, for rows that share the claim's terms and the blocks they are in."""
    rows = [group for group in groups if group.table >= 0]
    said = f"{claim.sentence} {claim.question}"
    if _COMPOUND.search(said) and percent:
        for group in rows:
            yield from _compound_growth(claim, group)
    if claim.figure.digits < _LEAST:
        return
    if "average" in asked:
        for group in rows:
            yield from _average_per_year(claim, group, said)
    if _MOVES & set(asked) and {"sum", "average"} & set(asked):
        for one, other in combinations(rows[:_ROWS], 2):
            yield from _change_of_sums(claim, one, other, asked, percent=percent)
    yield from _sum_largest(claim, evidence, said, percent=percent)
    if {"share", "ratio"} & set(asked):
        yield from _share_of_blocks(claim, rows[:_ROWS], evidence, percent=percent)


def _compound_growth(claim: Claim, group: Group) -> Iterator[Computation]:
    """(a ÷ b) ^ (1 ÷ years) − 1."""
    dated = [f for f in group.facts if not f.change and f.value > 0 and f.latest_date[0] and claim.is_timely(f)]
    for one, other in combinations(dated[:_MOST], 2):
        new, old = (one, other) if one.latest_date > other.latest_date else (other, one)
        years = new.latest_date[0] - old.latest_date[0]
        if years > 1:
            rate = (float(new.value / old.value) ** (1 / years) - 1) * 100
            shown = f"= ({format_operand(new)} ÷ {format_operand(old)}) ^ (1 ÷ {years}) − 1"
            yield Computation(Decimal(str(rate)), (new, old), "steps", True, True, f"{shown}, ÷ 1")


def _average_per_year(claim: Claim, group: Group, said: str) -> Iterator[Computation]:
    """What columns for ranges of years come to in a year: "average annual payments for 2020-2024"."""
    years = {p.year for p in claim.all_periods if p.year}
    if len(years) < 2 or not _YEARLY.search(said):
        return
    first, last = min(years), max(years)
    inside = [
        f for f in group.facts
        if f.periods and not f.change and all(first <= p.year <= last for p in f.periods)
    ]  # fmt: skip
    covered = {y for f in inside for y in range(min(p.year for p in f.periods), max(p.year for p in f.periods) + 1)}
    if covered == set(range(first, last + 1)) and len(inside) < len(covered):
        total = sum((f.value for f in inside), Decimal(0))
        shown = f"= ({' + '.join(format_operand(f) for f in inside)}) ÷ {len(covered)}"
        yield Computation(total / len(covered), tuple(inside), "steps", False, False, shown)


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


def _find_blocks(claim: Claim, evidence: Evidence) -> list[list[Group]]:
    """The rows of the blocks that share the claim's terms, without totals."""
    near = {g.block for term in claim.terms for g in evidence.by_term.get(term, ())[:LOOKED] if g.block >= 0}
    return [rows for block in sorted(near) if (rows := _find_parts(evidence, block))][:_BLOCKS]


def _find_parts(evidence: Evidence, block: int) -> list[Group]:
    """The rows of a block without totals; none where they are too few or too many to be parts of one whole."""
    rows = [g for g in evidence.blocks.get(block, ()) if g.name and not TOTAL.search(g.label)]
    return rows if 1 < len(rows) <= _BLOCK else []


def _find_columns(claim: Claim, rows: Sequence[Group]) -> Iterator[tuple[int, list[Fact]]]:
    width = max(len(g.facts) for g in rows)
    for at in range(min(width, _MOST)):
        facts = [g.facts[at] for g in rows if len(g.facts) == width]
        if len(facts) > 1 and not facts[0].change and all(claim.is_timely(f) for f in facts):
            yield at, facts


def _sum_largest(claim: Claim, evidence: Evidence, said: str, *, percent: bool) -> Iterator[Computation]:
    """ "The top three regions": the sum of a column's largest, and their share of all."""
    match, least = _LARGEST.search(said), False
    if match is None:
        match, least = _SMALLEST.search(said), True
    if match is None:
        return
    word = next(value for value in match.groupdict().values() if value).lower()
    count = int(word) if word.isdigit() else ENGLISH.get(word) or int(chinese(word) or 0)
    every = sorted(evidence.blocks)[:_BLOCKS]
    for rows in _find_blocks(claim, evidence) or [r for b in every if (r := _find_parts(evidence, b))]:
        for _, facts in _find_columns(claim, rows):
            if not 1 < count < len(facts):
                continue
            chosen = sorted(facts, key=lambda f: f.value, reverse=not least)[:count]
            if not percent:
                yield from combine_many(chosen, ["sum"])
            else:
                yield from _share_of_sum(chosen, facts)
                if all(f.figure.kind == "percent" or f.unit.percent for f in chosen):
                    yield Computation(sum((f.value for f in chosen), Decimal(0)), tuple(chosen), "sum", True, False)


def _share_of_sum(part: Sequence[Fact], whole: Sequence[Fact]) -> Iterator[Computation]:
    total = sum((f.value for f in whole), Decimal(0))
    if total:
        some = sum((f.value for f in part), Decimal(0))
        shown = f"= ({' + '.join(map(format_operand, part))}) ÷ ({' + '.join(map(format_operand, whole))})"
        yield Computation(some / total * HUNDRED, tuple(dict.fromkeys((*part, *whole))), "parts", True, False, shown)


def _share_of_blocks(
    claim: Claim, rows: Sequence[Group], evidence: Evidence, *, percent: bool
) -> Iterator[Computation]:
    """A row as a share of the sum of its block, where no total is printed; the sum of a block by another row."""
    for block in _find_blocks(claim, evidence):
        for at, facts in _find_columns(claim, block):
            total = sum((f.value for f in facts), Decimal(0))
            for row in rows:
                if row.table != facts[0].table or len(row.facts) <= at or not total or not _is_named(claim, row):
                    continue
                own = row.facts[at]
                if own in facts:
                    if percent:
                        yield from _share_of_sum([own], facts)
                elif own.value and not own.change and claim.is_timely(own):
                    ratio = total / own.value
                    shown = f"= ({' + '.join(map(format_operand, facts))}) ÷ {format_operand(own)}"
                    operands = (*facts, own)
                    yield Computation(ratio * HUNDRED if percent else ratio, operands, "parts", percent, False, shown)
