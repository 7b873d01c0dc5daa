"""Computations of two steps, and over parts of a row: changes of ratios and averages, runs of columns, products."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, pairwise, permutations

from quelea_checker.deriving.computations import (
    HUNDRED,
    Computation,
    combine_many,
    find_share_of_last,
    format_operand,
    latest_date,
)
from quelea_checker.matching.claims import Claim
from quelea_checker.reading.calendar import periods_fit
from quelea_checker.reading.evidence import TOTAL
from quelea_checker.reading.facts import Fact, Group
from quelea_checker.reading.wording import Operation

_ROWS = 5
_CELLS = 14
_PRODUCT_DIGITS = 4
"""Significant digits from which a product is no luck."""
_RATIO = re.compile(r"\bratios?\b|\bproportion|\bmargin|比率|比例|率", re.IGNORECASE)
_UP_TO = re.compile(
    r"\b(?:within|less than|or less|or below|below|under|up to|more than|after|over|beyond)\b|以内|以上"
)
_FORMER = re.compile(r"\b(?:earlier|ago|previous|prior|before|last)\b|上年|去年|上期|年初|此前|原", re.IGNORECASE)
_MOVES = {"change", "growth"}
_PARTS = {"share", "ratio"}


def combine_steps(
    claim: Claim, groups: Sequence[Group], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """Of the rows and sentences that share the claim's terms, the first are the best."""
    for group in groups:
        if group.table < 0:
            yield from _combine_sentence(claim, group, asked)
            continue
        facts = group.facts[:_CELLS]
        if "average" in asked:
            yield from _combine_averages(claim, facts, asked, percent=percent)
        yield from _combine_quarters(claim, facts, percent=percent)
        yield from _find_value_before(claim, facts)
        yield from _combine_named_columns(claim, group, facts, asked, percent=percent)
        yield from _combine_runs(claim, facts, asked, percent=percent)
        if "share" in asked and percent:
            for change in facts:
                for base in facts if change.change and change.figure.kind == "number" else ():
                    if base.value and not base.change and periods_fit(claim.all_periods, base.periods, base.years):
                        yield Computation(abs(change.value / base.value) * HUNDRED, (change, base), "ratio", True, None)
    telling = claim.figure.digits > 1 or _RATIO.search(f"{claim.sentence} {claim.question}")
    if _MOVES & set(asked) and _PARTS & set(asked) and telling:
        rows = [group for group in groups if group.table >= 0][:_ROWS]
        for part, whole in permutations(rows, 2):
            yield from _change_of_ratios(claim, part, whole, asked, percent=percent)
    yield from _combine_sentences(claim, groups, asked)
    if claim.figure.digits >= _PRODUCT_DIGITS and not percent:
        yield from _multiply(claim, groups)


def _combine_averages(
    claim: Claim, facts: Sequence[Fact], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """A year's average is the mean of its beginning and its end; and how that changed."""
    by_year = {latest_date(f)[0]: f for f in sorted(facts, key=latest_date) if not f.change and latest_date(f)[0]}
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


def _find_value_before(claim: Claim, facts: Sequence[Fact]) -> Iterator[Computation]:
    """What there was before, of a row that has what there is and by how much it changed."""
    if len(facts) > 4 or not _FORMER.search(claim.sentence):
        return
    for now, move in permutations(facts, 2):
        alike = (now.figure.kind, move.figure.kind) in {("percent", "points"), ("number", "number")}
        if move.change and not now.change and alike and now.figure.scale == move.figure.scale:
            yield Computation(
                now.value - move.value,
                (now, move),
                "steps",
                False,
                None,
                f"= {format_operand(now)} − {format_operand(move)}",
            )


def _combine_quarters(claim: Claim, facts: Sequence[Fact], *, percent: bool) -> Iterator[Computation]:
    """A half, or nine months, of a row with a column for each quarter."""
    for period in claim.all_periods:
        wanted = {1: (1, 2), 2: (3, 4)}.get(period.half, (1, 2, 3) if period.months == 9 else ())
        found = [f for f in facts if not f.change and any(p.quarter in wanted for p in f.periods)]
        own = [f for f in found if not period.year or any(p.year in {0, period.year} for p in f.periods)]
        if wanted and len(own) == len(wanted):
            yield from combine_many(own, ["sum"])
            every = [f for f in facts if not f.change and any(p.quarter for p in f.periods)]
            whole = sum((f.value for f in every), Decimal(0))
            if percent and len(every) == 4 and whole:
                part = sum((f.value for f in own), Decimal(0))
                shown = f"= ({' + '.join(map(format_operand, own))}) ÷ ({' + '.join(map(format_operand, every))})"
                yield Computation(part / whole * HUNDRED, tuple(every), "parts", True, False, shown)
        if period.half == 1:
            for nine, third in permutations(facts, 2):
                if any(p.months == 9 for p in nine.periods) and any(p.quarter == 3 for p in third.periods):
                    yield Computation(nine.value - third.value, (nine, third), "difference", False, False)


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


def _combine_runs(
    claim: Claim, facts: Sequence[Fact], asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """Columns beside one another: payments due within five years, of columns for one, one to three, and so on."""
    said = f"{claim.sentence} {claim.question}"
    if claim.figure.digits < 4 and not (_UP_TO.search(said) and len(facts) < 8):
        return
    timely = [
        f
        for f in facts
        if not f.change and f.figure.kind == "number" and periods_fit(claim.all_periods, f.periods, f.years)
    ]
    spans = [timely[a:b] for a in range(len(timely)) for b in range(a + 2, len(timely) + 1)]
    for span in spans:
        if {"sum", "average"} & set(asked):
            yield from combine_many(span, asked)
    if _PARTS & set(asked):
        for whole in timely:
            for span in spans:
                if whole not in span and TOTAL.search(whole.words):
                    yield from find_share_of_last([*span, whole], percent=percent)


def _change_of_ratios(
    claim: Claim, part: Group, whole: Group, asked: Sequence[Operation], *, percent: bool
) -> Iterator[Computation]:
    """How a ratio of two rows changed from one column to another."""
    if part.table != whole.table or len(part.facts) != len(whole.facts):
        return
    columns = [
        (a, b) for a, b in zip(part.facts, whole.facts, strict=True)
        if not a.change and b.value and latest_date(a)[0] and periods_fit(claim.all_periods, a.periods, a.years)
    ]  # fmt: skip
    for one, other in combinations(columns[:6], 2):
        if latest_date(one[0]) == latest_date(other[0]):
            continue
        (a1, b1), (a0, b0) = (one, other) if latest_date(one[0]) > latest_date(other[0]) else (other, one)
        new, old = a1.value / b1.value, a0.value / b0.value
        shown = f"= {format_operand(a1)} ÷ {format_operand(b1)} − {format_operand(a0)} ÷ {format_operand(b0)}"
        operands = (a1, b1, a0, b0)
        yield Computation((new - old) * HUNDRED if percent else new - old, operands, "steps", percent, True, shown)
        if percent and "growth" in asked and old:
            told = (
                f"= ({format_operand(a1)} ÷ {format_operand(b1)}) ÷ ({format_operand(a0)} ÷ {format_operand(b0)}) − 1"
            )
            yield Computation((new - old) / abs(old) * HUNDRED, operands, "steps", True, True, told)


def _combine_sentence(claim: Claim, group: Group, asked: Sequence[Operation]) -> Iterator[Computation]:
    """Two figures beside one another in a sentence: "$2.0 billion in 2019 and $6.0 billion in 2018"."""
    facts = [f for f in group.facts if periods_fit(claim.all_periods, f.periods, f.years)][:_CELLS]
    for one, other in pairwise(facts):
        if _are_alike(one, other):
            yield from combine_many([one, other], [operation for operation in asked if operation in {"sum", "average"}])


def _combine_sentences(claim: Claim, groups: Sequence[Group], asked: Sequence[Operation]) -> Iterator[Computation]:
    """Figures of two sentences together."""
    if not {"sum", "average"} & set(asked) or claim.figure.digits < 3:
        return
    prose = [g for g in groups if g.table < 0][:6]
    for one, other in combinations(prose, 2):
        for a in one.facts[:6]:
            for b in other.facts[:6]:
                if _are_alike(a, b) and all(periods_fit(claim.all_periods, f.periods, f.years) for f in (a, b)):
                    yield from combine_many([a, b], asked)


def _are_alike(one: Fact, other: Fact) -> bool:
    return (
        one.figure.kind == other.figure.kind
        and one.figure.scale == other.figure.scale
        and one.figure.currency == other.figure.currency
    )


def _multiply(claim: Claim, groups: Sequence[Group]) -> Iterator[Computation]:
    """Numbers by prices, of a row; a percentage of an amount, and the amount that one is a percentage of."""
    near = [
        f for g in groups[:8] for f in g.facts[:8]
        if not f.change and f.value and periods_fit(claim.all_periods, f.periods, f.years)
    ]  # fmt: skip
    shares = [f for f in near if f.figure.kind == "percent"]
    amounts = [f for f in near if f.figure.kind == "number"]
    for one, other in permutations(amounts, 2):
        if one.group == other.group and one.table >= 0 and one.terms != other.terms:
            yield Computation(one.value * other.value, (one, other), "product", False, None)
    for amount in amounts:
        for share in shares:
            part = share.value / HUNDRED
            yield Computation(amount.value * part, (amount, share), "product", False, None)
            if claim.figure.digits > _PRODUCT_DIGITS:
                yield Computation(amount.value / part, (amount, share), "ratio", False, None)
