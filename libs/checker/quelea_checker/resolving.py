"""Resolve, then compare: the words about a figure choose the computation and the rows, times and bases it is made of.

Where all of these are named, what they give is what the figure must be, and no other computation that has its size
by luck saves it. Where one is not named, nothing is resolved, and deriving searches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product

from quelea_checker import bases
from quelea_checker.computing import HUNDRED, Try, many, months, show, when
from quelea_checker.facts import Evidence
from quelea_checker.matching import Claim, same_currency
from quelea_checker.operands import TIMES, is_name, listed, named
from quelea_checker.passage_facts import Fact, Group
from quelea_checker.periods import find_periods
from quelea_checker.said_computations import Asked, asked_of
from quelea_checker.times import fits
from quelea_checker.wording import Operation

_MOST = 24
"""Figures of one operand, and ways to take the operands together, that are looked at."""
_QUARTER = 3


def resolved(claim: Claim, evidence: Evidence) -> list[Try]:
    """The computations that the words can mean; empty where they do not name all of it."""
    asked = asked_of(claim.sentence, claim.figure)
    if asked is None:
        return list(_rest(claim, evidence))
    if asked.form == "difference" and (alone := _against_a_time(claim, asked)):
        way = -1 if alone == asked.second else 1
        if not any(is_name(term, evidence) for term in claim.heard(alone) - TIMES):
            alone = claim.sentence[: claim.figure.start]  # "rose 40%, but was 17% lower": its subject stands before
        moves = _over_times(claim, Asked("growth", alone), evidence)
        return [
            replace(move, value=abs(move.value), ordered=None)
            for move in moves
            if move.value * way > 0 and _are_of(claim, move)
        ]
    if asked.form in {"growth", "average", "compound"}:
        return list(_over_times(claim, asked, evidence))
    operands = listed(claim, asked.first, evidence) if asked.form == "sum" else [
        named(claim, claim.heard(text), evidence) for text in (asked.first, asked.second)
    ]  # fmt: skip
    if len(operands) < 2 or not all(operands):
        return []
    if len({row.label for rows in operands for row in rows}) < len(operands):
        return []
    own = frozenset().union(*(row.terms for rows in operands for row in rows))
    if any(is_name(term, evidence) for term in claim.heard(asked.rest) - own):
        return []  # "North America and AWS earned … of operating income"
    if _is_open(claim, operands):
        return []
    found = []
    for facts in _together(claim, operands):
        found += list(_computed(claim, asked, facts))
    return found


def _against_a_time(claim: Claim, asked: Asked) -> str:
    """The words of the one operand where the other is but a time: "收入比2018年低17%", "17% less than in 2018"."""
    for words, other in ((asked.first, asked.second), (asked.second, asked.first)):
        if find_periods(other) and not claim.heard(other) - TIMES:
            return words
    return ""


def _are_of(claim: Claim, move: Try) -> bool:
    """Each time that is named is that of an operand: of a quarter a year's growth tells nothing."""
    return all(any(fits((period,), fact.periods, fact.years) for fact in move.operands) for period in claim.every)


def compared(claim: Claim) -> tuple[Operation, ...]:
    """What is tried where one thing is set against another without a verb of growth: "topped B by 14%", "less than"."""
    asked = asked_of(claim.sentence, claim.figure)
    return ("growth", "change") if asked is not None and asked.form == "difference" else ()


def is_turned(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """A ratio the wrong way round: "A was 59% of B" is said, and B is divided by what may be A."""
    if attempt.form != "ratio" or len(attempt.operands) != 2:
        return False
    asked = asked_of(claim.sentence, claim.figure)
    if asked is None or asked.form != "ratio":
        return False
    one, other = (evidence.groups[fact.group].name for fact in attempt.operands)
    first, second = claim.heard(asked.first), claim.heard(asked.second)
    return _is_only_of(one, second, first) or _is_only_of(other, first, second)


def _is_only_of(name: frozenset[str], said: frozenset[str], unlike: frozenset[str]) -> bool:
    return bool(name) and name <= said and not name & unlike


def _computed(claim: Claim, asked: Asked, facts: Sequence[Fact]) -> Iterator[Try]:
    percent = claim.figure.kind == "percent"
    if asked.form == "sum":
        yield from many(facts, ["sum"])
        return
    one, other = facts
    if asked.form == "ratio" and other.value:
        ratio = one.value / other.value
        yield Try(ratio * HUNDRED if percent else ratio, (one, other), "ratio", percent, False)
    elif asked.form == "difference" and percent and other.value:
        if one.figure.kind != "percent":
            yield Try((one.value - other.value) / abs(other.value) * HUNDRED, (one, other), "growth", True, False)
    elif asked.form == "difference":
        points = one.figure.kind == other.figure.kind == "percent"
        taken = abs(other.value) if one.value > 0 else other.value  # what is taken off may stand in brackets
        yield Try(one.value - taken, (one, other), "difference", points, None)


def _usable(claim: Claim, row: Group) -> list[Fact]:
    """Its figures at the times said, of the columns that the words name most of."""
    facts = [
        f for f in row.facts
        if not f.change and same_currency(claim.figure, f) and fits(claim.periods or claim.every, f.periods, f.years)
    ]  # fmt: skip
    most = max((len((f.terms - row.terms) & claim.terms) for f in facts), default=0)
    return [f for f in facts if len((f.terms - row.terms) & claim.terms) == most]


def _is_open(claim: Claim, operands: Sequence[Sequence[Group]]) -> bool:
    """One of them stands in a section of a table where another is not, as well as in one with it, and neither is said.

    The sections are what is measured of each: of an operand that is not in all of them, one figure is not seen.
    """
    tables = [{row.table for row in rows} for rows in operands]
    for table in set.intersection(*tables):
        each = [{row.section for row in rows if row.table == table} for rows in operands]
        both, some = set.intersection(*each), set.union(*each)
        if both and some - both and not any(claim.heard(section) & claim.terms for section in both):
            return True
    return False


def _together(claim: Claim, operands: Sequence[Sequence[Group]]) -> Iterator[list[Fact]]:
    """A figure of each operand: of one column, and of one section of it where they stand in one together; of one time
    where they stand together in no table.
    """
    sections = {row.facts[0].group: row.section for rows in operands for row in rows if row.facts}
    each = [[f for row in rows for f in _usable(claim, row)][:_MOST] for rows in operands]
    for one_section, one_table in ((True, True), (False, True), (False, False)):
        found = False
        for first in each[0]:
            others = [
                [
                    f for f in facts
                    if _beside(first, f, one_table=one_table)
                    and (not one_section or sections[f.group] == sections[first.group])
                ]
                for facts in each[1:]
            ]  # fmt: skip
            if all(others):
                found = True
                yield from ([first, *rest] for rest in _few(others))
        if found:
            return


def _few(others: Sequence[Sequence[Fact]]) -> Iterator[tuple[Fact, ...]]:
    for at, rest in enumerate(product(*others)):
        if at >= _MOST:
            return
        yield rest


def _beside(one: Fact, other: Fact, *, one_table: bool) -> bool:
    if one.figure.kind != other.figure.kind or (one.unit.percent is True) != (other.unit.percent is True):
        return False
    if one_table:
        return one.table == other.table and one.column == other.column and one.group != other.group
    alike = one.table != other.table and one.unit.scales == other.unit.scales and bool(one.periods and other.periods)
    return alike and when(one) == when(other) and months(one) == months(other)


def _over_times(claim: Claim, asked: Asked, evidence: Evidence) -> Iterator[Try]:
    """Of one row: from the year before, or between the years named; on average over them."""
    years = sorted({p.year for p in claim.every if p.year})
    rows = named(claim, claim.heard(asked.first), evidence)
    if not years or not rows or bases.only(claim.sentence) == "quarter":
        return
    for row in rows[:_MOST]:
        facts = [f for f in row.facts if not f.change and same_currency(claim.figure, f) and when(f)[0]][:_MOST]
        if asked.form == "average":
            yield from _averages(asked, facts, years)
            continue
        last, first = (years[-1], years[0]) if len(years) > 1 else (years[0], years[0] - 1)
        for new in facts:
            for old in facts:
                if _year(new) == last and _year(old) == first and _is_one_time(new, old) and _fits(claim, new, old):
                    yield from _moved(claim, asked, new, old)


def _year(fact: Fact) -> int:
    return when(fact)[0]


def _is_one_time(new: Fact, old: Fact) -> bool:
    """The same quarter, month, length of two years."""
    return when(new)[1:2] == when(old)[1:2] and months(new) == months(old) and new.unit == old.unit


def _fits(claim: Claim, new: Fact, old: Fact) -> bool:
    """The later one is of a time that the sentence names."""
    return fits(claim.every, new.periods, new.years) or fits(claim.every, old.periods, old.years)


def _moved(claim: Claim, asked: Asked, new: Fact, old: Fact) -> Iterator[Try]:
    a, b, figure = new.value, old.value, claim.figure
    if asked.form == "compound":
        years = _year(new) - _year(old)
        if years > 0 and a > 0 and b > 0:
            rate = (float(a / b) ** (1 / years) - 1) * 100
            shown = f"= ({show(new)} ÷ {show(old)}) ^ (1 ÷ {years}) − 1"
            yield Try(Decimal(str(rate)), (new, old), "steps", True, True, f"{shown}, ÷ 1")
        return
    if figure.kind == "multiple" and b:
        yield Try(a / b, (new, old), "ratio", False, True)
    percents = new.figure.kind in {"percent", "points"} or new.unit.percent is not False
    if figure.kind == "percent" and b:
        yield Try((a - b) / abs(b) * HUNDRED, (new, old), "growth", True, True)
        if a < 0 and b < 0:
            yield Try((abs(a) - abs(b)) / abs(b) * HUNDRED, (new, old), "growth", True, True)
    if percents == (figure.kind in {"percent", "points"}):
        yield Try(a - b, (new, old), "difference", percents, True)
        if a < 0 and b < 0:
            yield Try(b - a, (new, old), "difference", percents, True)


def _rest(claim: Claim, evidence: Evidence) -> Iterator[Try]:
    """A quarter, or a second half, that is printed nowhere: the year less nine months, a half year less a quarter."""
    asked = {(p.year, p.quarter, p.half) for p in claim.periods if p.quarter > 1 or p.half == 2}
    if len(asked) != 1 or claim.direction or claim.figure.kind != "number":
        return
    (year, quarter, half), own = asked.pop(), _QUARTER if not any(p.half for p in claim.periods) else 2 * _QUARTER
    long = _QUARTER * quarter or 12 * (half == 2)
    said, behind, _ = claim.about()
    rows = named(claim, claim.heard(f"{said} {behind}"), evidence)
    facts = [f for row in rows for f in row.facts if not f.change and same_currency(claim.figure, f)][:_MOST]
    for whole in facts:
        for part in facts:
            lengths = _length(whole), _length(part)
            if lengths == (long, long - own) and _year(whole) == _year(part) == year and whole.unit == part.unit:
                yield Try(whole.value - part.value, (whole, part), "steps", False, False,
                          f"= {show(whole)} − {show(part)}")  # fmt: skip


def _length(fact: Fact) -> int:
    """In months; a year where only that is said."""
    if months(fact) or any(p.quarter or p.half or p.month for p in fact.periods):
        return months(fact)
    return 12 if fact.periods else 0


def _averages(asked: Asked, facts: Sequence[Fact], years: Sequence[int]) -> Iterator[Try]:
    if len(years) < 2:
        return
    wanted = set(range(years[0], years[-1] + 1)) if asked.ranged else set(years)
    own = [f for f in facts if _year(f) in wanted]
    if {_year(f) for f in own} == wanted and len(own) == len(wanted):
        yield from many(own, ["average"])
