"""Figures that follow from figures of the evidence: sums, differences, growth, ratios, averages, shares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from quelea_gateway.core.checking import wording
from quelea_gateway.core.checking.facts import Evidence, Fact, Group
from quelea_gateway.core.checking.matching import Claim, same_currency, sizes, unheard
from quelea_gateway.core.checking.model import ONE, Period
from quelea_gateway.core.checking.times import contradict, fits
from quelea_gateway.core.checking.wording import Operation

_GROUPS = 12
"""Rows and sentences that are looked at for one figure: those that share most with the sentence."""
_ROWS = 7
"""Rows of a table that are combined with one another."""
_LOOKED = 3000
"""Rows and sentences that are weighed for one figure."""
_BLOCK = 16
"""Longest run of rows that is summed."""
_BLOCKS = 40
BUDGET = 150_000
"""Computations for one answer. What is left when they are used up is not derived."""
_HUNDRED = Decimal(100)
_TOTAL = re.compile(r"\btotals?\b|合计|总计|总额|小计", re.IGNORECASE)
_RANGE = re.compile(r"\bfrom\b.*\bto\b|\bbetween\b|\bthrough\b|\d\s?[-–]\s?\d|至|到|\bperiod\b", re.IGNORECASE)
_BASE = re.compile(
    r"(?:\bfrom|\bsince|\bthan|\bversus|\bvs\.?|\bcompared (?:to|with)|\bover|\bagainst|\bbetween|较|比|相比|自)\s[^.;]{0,60}(?:19|20)\d\d",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"\bdiffer\w*|\bgap\b|差", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Derived:
    """How a figure follows: the formula as shown, and its operands."""

    formula: str
    operands: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class _Try:
    value: Decimal
    operands: tuple[Fact, ...]
    form: str
    percent: bool
    ordered: bool | None
    """True: its sign says which way; None: it may be turned round; False: its sign is its own."""


class Budget:
    """Counts computations down."""

    def __init__(self) -> None:
        self.left = BUDGET

    def take(self) -> bool:
        """Whether there is one left."""
        self.left -= 1
        return self.left >= 0


def derive(claim: Claim, evidence: Evidence, budget: Budget) -> Derived | None:
    """The first computation that gives the figure: operations that the wording asks for, rows that share its terms."""
    said = f"{claim.sentence} {claim.question}"
    asked = wording.operations(said)
    if not asked:
        return None
    if claim.figure.kind == "percent" and "change" in asked and "growth" not in asked:
        asked = ("growth", *asked)
    for attempt in _tries(claim, evidence, asked, said):
        if not budget.take():
            return None
        if _is(claim, attempt, evidence):
            return Derived(_formula(attempt), attempt.operands)
    return None


def _is(claim: Claim, attempt: _Try, evidence: Evidence) -> bool:
    figure = claim.figure
    size = abs(attempt.value)
    if attempt.percent:
        if figure.kind not in {"percent", "points"} and (figure.currency or figure.scale or figure.kind == "multiple"):
            return False
        if abs(figure.size - size) > claim.tolerance:
            return False
    elif unheard(claim, attempt.operands[0], evidence) or sizes(claim, attempt.operands[0], size) is None:
        return False
    if attempt.form in {"difference", "sum"} and any(sizes(claim, fact) is not None for fact in attempt.operands):
        return False  # the figure stands there itself, and something spoke against it
    return _sign_fits(claim, attempt, evidence)


def _sign_fits(claim: Claim, attempt: _Try, evidence: Evidence) -> bool:
    figure = claim.figure
    negative = figure.negative and not figure.loose
    if attempt.ordered is None:
        return True
    if attempt.form == "ratio" and not negative:
        return True
    if not attempt.ordered:
        return (
            negative == (attempt.value < 0)
            or attempt.value == 0
            or (not negative and wording.is_negative(f"{claim.sentence} {claim.question}"))
        )
    if negative:
        return attempt.value <= 0
    if any(wording.DIRECTION.search(evidence.groups[fact.group].label) for fact in attempt.operands if fact.table >= 0):
        return True  # "Reductions": the word is the row's name
    direction = claim.direction or wording.leaning(claim.sentence) or wording.leaning(claim.question)
    if attempt.value < 0:
        return figure.negative or direction == -1 or bool(_ABSOLUTE.search(f"{claim.sentence} {claim.question}"))
    return direction != -1 or attempt.value == 0 or claim.direction == 0


def _relevant(claim: Claim, evidence: Evidence) -> list[Group]:
    """Groups with facts that share words with the sentence, those that share the rarest first.

    Terms are taken from the rarest on until _LOOKED groups have been seen: what half the evidence says tells nothing.
    """
    scores: dict[int, tuple[Decimal, Group]] = {}
    looked = 0
    for term in sorted(claim.terms, key=lambda t: (len(evidence.by_term.get(t, ())), t)):
        groups = evidence.by_term.get(term, [])
        looked += len(groups)
        if looked > _LOOKED:
            break
        for group in groups:
            score, _ = scores.get(id(group), (Decimal(0), group))
            scores[id(group)] = (score + Decimal(1) / len(groups), group)
    precise = claim.figure.digits > 2
    found = []
    for score, group in scores.values():
        shared = len(group.name & claim.terms)
        named = (
            shared * 3 >= len(group.name) or shared > 1
            if precise
            else shared == len(group.name) or shared * 5 >= len(group.name) * (2 if shared > 1 else 3)
        )
        if group.table < 0 or named or _TOTAL.search(group.label):
            cover = Decimal(len(group.terms & claim.terms)) / (len(group.terms) or 1)
            found.append((-(score + cover), group.label, [fact.figure.text for fact in group.facts], group))
    if not claim.terms and len(evidence.groups) <= _GROUPS:
        found = [(Decimal(0), g.label, [f.figure.text for f in g.facts], g) for g in evidence.groups if g.facts]
    found.sort(key=lambda one: one[:3])
    return [group for *_, group in found[:_GROUPS]]


def _tries(claim: Claim, evidence: Evidence, asked: Sequence[Operation], said: str) -> Iterator[_Try]:
    groups = _relevant(claim, evidence)
    percent = claim.figure.kind in {"percent", "points"}
    for group in groups:
        yield from _within(claim, group, asked, said, percent)
    yield from _across(claim, groups, evidence, asked, percent)
    if {"sum", "average"} & set(asked) and claim.figure.digits > 2:
        yield from _blocks(claim, evidence, asked)


def _usable(claim: Claim, facts: Sequence[Fact], *, percent: bool) -> list[Fact]:
    return [
        f
        for f in facts
        if not f.change and same_currency(claim.figure, f) and (percent or f.unit.percent is not True or _bare(claim))
    ]


def _bare(claim: Claim) -> bool:
    return not claim.figure.currency and claim.figure.scale is None


def _named(claim: Claim, fact: Fact) -> set[int]:
    """Which of the times of the claim the fact is of."""
    return {
        i for i, period in enumerate(claim.every)
        if any(not contradict(period, p, fact.years) for p in fact.periods)
    }  # fmt: skip


def _within(claim: Claim, group: Group, asked: Sequence[Operation], said: str, percent: bool) -> Iterator[_Try]:  # noqa: FBT001  # a private step
    facts = _usable(claim, group.facts, percent=percent)[:14]
    for one, other in combinations(facts, 2):
        for new, old in _pairs(claim, one, other):
            yield from _two(new, old, asked, percent=percent, ordered=_is_ordered(new, old) or None)
    chosen = _chosen(claim, facts, said)
    if len(chosen) > 1:
        yield from _many(chosen, asked)
        latest = {_when(f)[0]: f for f in sorted(chosen, key=_when)}
        if 1 < len(latest) < len(chosen):  # two dates in a year: the later ends it
            yield from _many(list(latest.values()), asked)


def _pairs(claim: Claim, one: Fact, other: Fact) -> Iterator[tuple[Fact, Fact]]:
    """(new, old) as the times say; both ways when they do not. Pairs that the claim's times rule out are left out."""
    if claim.every and one.periods and other.periods:
        a, b = _named(claim, one), _named(claim, other)
        years = {p.year for p in claim.every if p.year} or {1}
        if not a and not b:
            return
        if len(years) > 1 and not (a and b and len(a | b) > 1):
            return
        if len(years) == 1 and _is_ordered(one, other) and not _BASE.search(claim.sentence):
            if not (a if _when(one) > _when(other) else b):
                return  # "the change in 2018" is the one from 2017
    if _is_ordered(one, other):
        yield (one, other) if _when(one) > _when(other) else (other, one)
    else:
        yield one, other
        yield other, one


def _is_ordered(one: Fact, other: Fact) -> bool:
    return (
        bool(one.periods and other.periods) and _when(one) != _when(other) and 0 not in (_when(one)[0], _when(other)[0])
    )


def _when(fact: Fact) -> tuple[int, int, int]:
    period = max(fact.periods, key=lambda p: (p.year, p.month, p.quarter)) if fact.periods else Period(0, 0)
    return period.year, period.month or 3 * period.quarter, period.day


def _two(new: Fact, old: Fact, asked: Sequence[Operation], *, percent: bool, ordered: bool | None) -> Iterator[_Try]:
    a, b = new.value, old.value
    if a < 0 and b < 0:
        # Bookkeepers' brackets: expenses and payables are spoken of, and grow, without them; differences go both ways.
        yield from _computed(a, b, (new, old), ["change"], percent=percent, ordered=ordered)
        yield from _computed(-a, -b, (new, old), asked, percent=percent, ordered=ordered)
    else:
        yield from _computed(a, b, (new, old), asked, percent=percent, ordered=ordered)


def _computed(
    a: Decimal, b: Decimal, pair: tuple[Fact, Fact], asked: Sequence[Operation], *, percent: bool, ordered: bool | None
) -> Iterator[_Try]:
    new, old = pair
    if "growth" in asked and b:
        yield _Try((a - b) / abs(b) * _HUNDRED, pair, "growth", True, ordered)
    if ("change" in asked or "growth" in asked) and (ordered or (a and b)):
        points = percent and _is_percent(new) and _is_percent(old)
        if points or not percent:
            yield _Try(a - b, pair, "difference", points, ordered)
    if "share" in asked and b and percent:
        yield _Try(a / b * _HUNDRED, pair, "ratio", True, False)
    if "ratio" in asked and b:
        yield _Try(a / b, pair, "ratio", False, False)
        yield _Try(a / b * _HUNDRED, pair, "ratio", True, False)


def _is_percent(fact: Fact) -> bool:
    return fact.figure.kind in {"percent", "points"} or fact.unit.percent is not False


def _chosen(claim: Claim, facts: Sequence[Fact], said: str) -> list[Fact]:
    """The facts of a row that a total or an average is over: those of the times named, or all."""
    dated = [f for f in facts if f.periods]
    years = [p.year for p in claim.every if p.year]
    if len(set(years)) > 1 and dated:
        ranged = _RANGE.search(said)
        if ranged:
            return [f for f in dated if _named(claim, f) or min(years) < _when(f)[0] < max(years)]
        return [f for f in dated if _named(claim, f)]
    if years and dated:
        own = [f for f in dated if _named(claim, f)]
        return own if len(own) > 1 else []
    return list(facts)


def _many(facts: Sequence[Fact], asked: Sequence[Operation]) -> Iterator[_Try]:
    total = sum((f.value for f in facts), Decimal(0))
    percent = all(f.figure.kind == "percent" for f in facts)
    if "sum" in asked:
        yield _Try(total, tuple(facts), "sum", percent, False)
    if "average" in asked:
        yield _Try(total / len(facts), tuple(facts), "average", percent, False)


def _across(
    claim: Claim,
    groups: Sequence[Group],
    evidence: Evidence,
    asked: Sequence[Operation],
    percent: bool,  # noqa: FBT001  # a private step
) -> Iterator[_Try]:
    """Rows with one another, column by column; parts with totals; sentences with one another."""
    rows = groups[:_ROWS]
    unlike = [operation for operation in asked if operation != "growth"]
    several = len({p.year for p in claim.every if p.year}) > 1 and "share" not in asked and "ratio" not in asked
    tables = sorted({g.table for g in rows if g.table >= 0})
    totals = [g for table in tables for g in evidence.totals.get(table, [])[:_ROWS] if g not in rows]
    for one, other in combinations([*rows, *totals[:6]], 2):
        if one in totals and other in totals:
            continue
        for a, b in _side_by_side(claim, one, other, percent=percent):
            if several and a.periods and b.periods and a.column == b.column and not _is_ordered(a, b):
                continue  # a change between two times is none between two rows
            if _is_ordered(a, b):
                new, old = (a, b) if _when(a) > _when(b) else (b, a)
                yield from _two(new, old, asked, percent=percent, ordered=True)
                continue
            for new, old in ((a, b), (b, a)):
                yield from _two(new, old, unlike, percent=percent, ordered=None)
    if {"sum", "average"} & set(asked):
        for size in (2, 3, 4):
            for some in combinations(rows, size):
                if size > 2 and len({group.block for group in some}) > 1:
                    continue
                for column in _columns_of(claim, some):
                    yield from _many(column, asked)


def _side_by_side(claim: Claim, one: Group, other: Group, *, percent: bool) -> Iterator[tuple[Fact, Fact]]:
    first, second = (_usable(claim, g.facts, percent=percent)[:14] for g in (one, other))
    for a in first:
        for b in second:
            same = a.table == b.table
            if not same:
                a, b = _absolute(a), _absolute(b)  # noqa: PLW2901  # the same figures, their scale spelled out
            if a.figure.scale != b.figure.scale or (same and a.unit.scales != b.unit.scales):
                continue  # amounts of different units
            if (same and a.table >= 0 and a.column == b.column and len(one.facts) == len(other.facts)) or (
                not same or a.table < 0
            ):
                if fits(claim.every, a.periods, a.years) and fits(claim.every, b.periods, b.years):
                    yield a, b


def _absolute(fact: Fact) -> Fact:
    if fact.figure.scale is not None or len(fact.unit.scales) != 1 or fact.unit.scales[0] == ONE:
        return fact
    return replace(fact, figure=replace(fact.figure, scale=fact.unit.scales[0]))


def _columns_of(claim: Claim, groups: Sequence[Group]) -> Iterator[list[Fact]]:
    if len({(g.table, len(g.facts)) for g in groups}) > 1:
        return
    if groups[0].table < 0:
        return
    for column in zip(*(g.facts for g in groups), strict=False):
        if not column[0].change and fits(claim.every, column[0].periods, column[0].years):
            yield list(column)


def _blocks(claim: Claim, evidence: Evidence, asked: Sequence[Operation]) -> Iterator[_Try]:
    """All rows of a block, and the runs that begin or end it, for columns or rows that share the claim's terms."""
    near = {g.block for term in claim.terms for g in evidence.by_term.get(term, ())[:_LOOKED] if g.block >= 0}
    chosen = [evidence.blocks[b] for b in near if b in evidence.blocks and len(evidence.blocks[b]) <= _BLOCK]
    for block in sorted(chosen, key=lambda block: [g.label for g in block])[:_BLOCKS]:
        if len(block) < 2:
            continue
        for size in range(len(block), 1, -1):
            for some in {tuple(range(size)), tuple(range(len(block) - size, len(block)))}:
                for column in _columns_of(claim, [block[i] for i in some]):
                    yield from _many(column, asked)


def _formula(attempt: _Try) -> str:
    shown = [_show(fact) for fact in attempt.operands]
    if attempt.form == "growth":
        return f"= ({shown[0]} − {shown[1]}) ÷ {shown[1]}"
    if attempt.form in {"sum", "average"}:
        terms = " + ".join(shown)
        return f"= {terms}" if attempt.form == "sum" else f"= ({terms}) ÷ {len(shown)}"
    return f"= {shown[0]} {'−' if attempt.form == 'difference' else '÷'} {shown[1]}"


def _show(fact: Fact) -> str:
    text = re.sub(r"[^\d.,%]", "", fact.figure.text).strip(",.") or "0"
    return f"(−{text})" if fact.figure.negative else text
