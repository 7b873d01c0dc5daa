"""A test against chance, for computations that the wording does not ask for.

An analyst's own words ("some 17% less than twelve months earlier", "a mere 0.4 million fewer than the fourth") name the
rows and not the computation. So all that can be made of the rows that are named, and of those of the sentence's own
borne-out figures, is computed, and the figure follows where it is one of them and would hardly be by chance: of values
spread evenly over the orders of magnitude, as computed ones are (Newcomb 1881, Benford 1938), a share of about
2 × tolerance ÷ (size × ln(r)) lies so near to it, r being the range in which they are counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from quelea_checker.deriving.acceptance import is_accepted
from quelea_checker.deriving.computations import (
    Computation,
    combine_many,
    combine_two,
    is_later,
    is_ordered,
)
from quelea_checker.deriving.derivation import Budget
from quelea_checker.matching.claims import Claim, find_facts_near, find_scale, same_currency, same_kind
from quelea_checker.matching.relevance import find_relevant_groups
from quelea_checker.reading import wording
from quelea_checker.reading.calendar import periods_fit
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import TIMES, Fact, Group
from quelea_checker.reading.wording import Operation

_THAN = re.compile(
    r"(?:\b(?:than|from|since|versus|against|over|compared (?:to|with)|what)\b|[较比自])[^,，;；]{0,40}$", re.IGNORECASE
)
_BY_LUCK = 0.3
"""How many of the computations may be expected to come as near by chance."""
_RANGE = 9.0
"""Values between a third and three times the figure are counted."""
_ALIKE = 0.05
"""Values that differ by less, as a part of the figure, are one: the same is printed twice."""
_ROWS = 8
_LOOKED = 200
_CELLS = 12
_PARTS = 6
_PROSE = 6


def find_unlikely_by_chance(
    claim: Claim, matched_facts: Sequence[Fact], evidence: Evidence, budget: Budget
) -> Computation | None:
    """Return a computation that gives the figure, unless so many were tried that one may do so by chance.

    Args:
        matched_facts: What the other figures of the sentence are in the evidence.
    """
    figure = claim.figure
    if budget.figures < 0 or not figure.size:
        return None
    printed = (f for f in find_facts_near(claim, evidence) if same_kind(figure, f) and find_scale(claim, f) is not None)
    if figure.is_in_digits and any(printed):
        return None  # something spoke against it
    found: Computation | None = None
    counted: set[int] = set()
    target, slack, reach = float(figure.size), float(claim.tolerance) * 1.001, math.sqrt(_RANGE)
    for one in _find_computations(claim, matched_facts, evidence):
        if not budget.take():
            return None
        sizes_of = [abs(float(one.value)) * times for times in _find_scales(one)]
        counted |= {round(size / target / _ALIKE) for size in sizes_of if 1 / reach <= size / target <= reach}
        close = found is None and any(abs(size - target) <= slack for size in sizes_of)
        if close and is_accepted(claim, one, evidence):
            found = one
    luck = len(counted) * 2 * slack / (target * math.log(_RANGE))
    return found if luck <= _BY_LUCK else None


def _find_scales(one: Computation) -> tuple[float, ...]:
    unit = one.operands[0].unit.scales
    if one.percent or one.form in {"ratio", "parts", "growth"} or one.operands[0].figure.scale or not unit:
        return (1.0,)
    return tuple(map(float, unit))


def _find_computations(claim: Claim, matched_facts: Sequence[Fact], evidence: Evidence) -> Iterator[Computation]:
    """Of a row at two times; of two rows, and of rows and their total, at one."""
    percent = claim.figure.kind in {"percent", "points"}
    rows = _find_rows(claim, matched_facts, evidence)
    moves = claim.direction or {"growth", "change"} & set(wording.find_operations(claim.sentence))
    for row in rows if moves or claim.figure.kind != "percent" else ():
        yield from _find_changes(claim, row, percent=percent)
    for column in _find_columns(claim, rows):
        yield from _find_between_rows(claim, column, evidence, percent=percent)


def _find_changes(claim: Claim, row: Group, *, percent: bool) -> Iterator[Computation]:
    """How a row moved between two times."""
    moved: tuple[Operation, ...] = ("growth",) if percent else ("change",)
    if claim.figure.kind == "multiple":
        moved = ("ratio",)
    for one, other in combinations(_find_usable(claim, row), 2):
        if not _are_timely(claim, one, other) or not _are_alike(one, other):
            continue
        if claim.figure.kind == "percent" and one.figure.kind == "percent":
            continue  # how a share grew is told in points
        if is_ordered(one, other):
            new, old = (one, other) if is_later(one, other) else (other, one)
            yield from combine_two(new, old, moved, percent=percent, ordered=True)
        elif not (one.periods and other.periods):  # the words say which way it went, and so which was the first
            yield from combine_two(one, other, moved, percent=percent, ordered=bool(claim.direction) or None)
            yield from combine_two(other, one, moved, percent=percent, ordered=bool(claim.direction) or None)


def _find_between_rows(
    claim: Claim, column: Sequence[Fact], evidence: Evidence, *, percent: bool
) -> Iterator[Computation]:
    """Two figures of a column set against one another, and sums of several."""
    across = _choose_operations(claim)
    for a, b in permutations(column, 2):
        if not _are_alike(a, b) or (percent and a.figure.kind == "percent" and across == ("ratio",)):
            continue
        if across == ("growth",) and not _are_both_named(a, b, evidence, claim):
            continue
        yield from combine_two(a, b, [o for o in across if o != "sum"], percent=percent, ordered=None)
    for count in range(2, min(len(column), _PARTS) + 1) if "sum" in across else ():
        for at, first in enumerate(column):
            for rest in combinations([f for f in column[at + 1 :] if _are_alike(first, f)], count - 1):
                yield from combine_many((first, *rest), ["sum"])


def _choose_operations(claim: Claim) -> tuple[Operation, ...]:
    """What two rows may be set to."""
    if claim.figure.kind in {"percent", "points"}:
        return ("growth",) if claim.direction else ("ratio",)
    if claim.figure.kind == "multiple":
        return ("ratio",)
    asked = [o for o in wording.find_operations(f"{claim.sentence} {claim.question}") if o in {"change", "sum"}]
    return tuple(asked) if len(asked) == 1 else ("change", "sum")


def _are_both_named(one: Fact, other: Fact, evidence: Evidence, claim: Claim) -> bool:
    """Each row has a word of its own in the sentence: the one is so much more than the other."""
    return all(evidence.groups[f.group].name & claim.terms for f in (one, other))


def _find_rows(claim: Claim, matched_facts: Sequence[Fact], evidence: Evidence) -> list[Group]:
    """Those of the sentence's own figures, those that it names wholly, and sentences of its words."""
    own = {fact.group: evidence.groups[fact.group] for fact in matched_facts}
    named: dict[int, Group] = {}
    for term in sorted(claim.terms - TIMES):
        for group in evidence.by_term.get(term, ())[:_LOOKED]:
            told = group.table >= 0 and group.facts and group.name and group.name <= claim.terms
            if told and group.passage not in claim.excluded_passages:
                named.setdefault(group.facts[0].group, group)
    known = frozenset(term for term in claim.terms - TIMES if term in evidence.by_term)
    for group in find_relevant_groups(claim, evidence)[:_PROSE]:
        if group.table < 0 and group.facts and known and len(group.terms & known) * 2 >= len(known):
            named.setdefault(group.facts[0].group, group)
    return list({**own, **named}.values())[:_ROWS]


def _find_usable(claim: Claim, row: Group) -> list[Fact]:
    return [f for f in row.facts if same_currency(claim.figure, f) and not f.change][:_CELLS]


def _is_timely(claim: Claim, fact: Fact) -> bool:
    return periods_fit(claim.periods or claim.all_periods, fact.periods, fact.years)


def _are_alike(one: Fact, other: Fact) -> bool:
    """Of one kind, unit and length of time."""
    a, b = one.figure, other.figure
    return (
        a.kind == b.kind
        and bool(a.currency) == bool(b.currency)
        and one.unit.scales == other.unit.scales
        and (a.scale is None) == (b.scale is None)
        and (one.months == other.months or not one.months or not other.months)
    )


def _are_timely(claim: Claim, one: Fact, other: Fact) -> bool:
    """Each time of the clause is that of one of them; where that is the one compared with, of the earlier."""
    later, earlier = (one, other) if is_later(one, other) else (other, one)
    first, last = wording.find_clause(claim.sentence, claim.figure.start, claim.figure.end)
    own = [p for p in claim.all_periods if first <= p.start and p.end <= last] or claim.periods or claim.all_periods
    based = len(own) == 1 and _THAN.search(claim.sentence[first : own[0].start])
    named = earlier if based else later
    return periods_fit(own, named.periods, named.years) and all(
        any(periods_fit((period,), f.periods, f.years) for f in (one, other)) for period in own
    )


def _find_columns(claim: Claim, rows: Sequence[Group]) -> Iterator[list[Fact]]:
    """Figures of one column of a table, or of one sentence, at a time that the sentence names."""
    by_place: dict[tuple[int, int], list[Fact]] = {}
    for row in rows:
        for fact in _find_usable(claim, row):
            if _is_timely(claim, fact):
                place = (fact.table, fact.column) if fact.table >= 0 else (-1, fact.group)
                by_place.setdefault(place, []).append(fact)
    yield from (facts for facts in by_place.values() if len(facts) > 1)
