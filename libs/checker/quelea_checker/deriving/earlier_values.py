"""What there was before, from what there is and by how much it changed: "rose 24% to 1,702.8" comes from 1,373.2.

And by how many percent it changed, where a sentence tells only the amount: "up 39 to 130" is a growth of 42.9%.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from quelea_checker.binding.exchanges import before
from quelea_checker.deriving.computations import HUNDRED, Try, show, when
from quelea_checker.matching.claims import Claim
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group, content
from quelea_checker.reading.periods import find_periods

_CELLS = 14
_CAME_FROM = re.compile(r"(?:\bfrom|[由从自])[^,;，；]{0,20}$", re.IGNORECASE)
_CAME_TO = re.compile(r"[^,;，；]{0,24}(?:\bto|[增升降减]?[至到])\s*", re.IGNORECASE)
_FORMER = re.compile(
    r"\b(?:(?:a|one) (?:year|quarter) (?:earlier|ago|before)|(?:three|six|nine|twelve) months (?:earlier|ago|before)"
    r"|(?:year|quarter|month) before|(?:previous|prior|last|preceding) (?:fiscal )?(?:year|quarter|period|month)"
    r"|year[- ]ago|previously|before that|had been|implies|implied)\b"
    r"|上年|去年|上一?(?:年|季|期|个?月)|年初|上年末|个月前|季度前|一年前|此前|原先|推算|倒推|反推",
    re.IGNORECASE,
)
"""The sentence speaks of what was before, without naming the time."""


def is_moved(one: Fact, other: Fact) -> bool:
    """ "From 612 to 745", "由612人增至745人": the sentence says which came first."""
    if one.table >= 0 or one.group != other.group or one.figure.end > other.figure.start:
        return False
    return bool(
        _CAME_FROM.search(one.words[: one.figure.start])
        and _CAME_TO.fullmatch(one.words[one.figure.end : other.figure.start])
    )


def earlier(claim: Claim, groups: Sequence[Group], evidence: Evidence) -> Iterator[Try]:
    """From sentences about what the claim names, where the time that it names is the one compared with."""
    for group in groups:
        if group.table >= 0 or len(group.facts) < 2:
            continue
        for one, other in pairwise(group.facts[:_CELLS]):
            amount, move = (other, one) if _is_move(one) and not _is_move(other) else (one, other)
            points = (amount.figure.kind, move.figure.kind) == ("percent", "points")
            if _is_move(move) and (points or not _is_move(amount)) and _is_about(claim, group, amount, evidence):
                yield from _of(claim, group, amount, move)


def _is_move(fact: Fact) -> bool:
    """It says by how much something changed: no level that something came to."""
    text = fact.words[: fact.figure.start]
    return bool(fact.direction) and not _CAME_TO.search(text[-12:]) and not _CAME_FROM.search(text[-24:])


def _of(claim: Claim, group: Group, amount: Fact, move: Fact) -> Iterator[Try]:
    change = claim.direction == move.direction and claim.figure.kind == "number" and move.figure.kind == "percent"
    if change or (claim.direction in {0, amount.direction} and _is_of_before(claim, group, amount)):
        yield from before_move(amount, move)
    elif (
        claim.direction == move.direction
        and claim.figure.kind == "percent"
        and amount.figure.kind == move.figure.kind == "number"
        and _is_one_money(amount, move)
    ):
        base = amount.value - move.direction * move.figure.size
        if base > 0:
            shown = f"= {show(move)} ÷ ({show(amount)} {'−' if move.direction > 0 else '+'} {show(move)})"
            value = move.direction * move.figure.size / base * HUNDRED
            yield Try(value, (amount, move), "steps", True, True, f"{shown}, ÷ 1")


def _is_of_before(claim: Claim, group: Group, amount: Fact) -> bool:
    """The time that the claim names is the one that the sentence compares with; or it says that it is before."""
    years = {p.year for p in claim.every if p.year}
    if not years:
        return bool(_FORMER.search(claim.sentence))
    own = when(amount)[0]
    if own in years:
        return len(years) == 1 and bool(_FORMER.search(claim.sentence))
    named = {p.year for p in find_periods(group.label)} - {own}
    return bool(years & named) or (own > 0 and years == {own - 1} and not named)


def _is_about(claim: Claim, group: Group, amount: Fact, evidence: Evidence) -> bool:
    """What the claim says of the figure, as far as any evidence says it, is what the sentence says of the amount."""
    said, behind, _ = claim.about()
    terms = claim.heard(f"{said} {behind}") or claim.terms
    known = frozenset(term for term in terms if term in evidence.by_term)
    figures = [fact.figure for fact in group.facts]
    own = content(before(group.label, amount.figure, figures)) or group.terms
    return bool(known & own) if claim.across else bool(known) and known <= group.terms and bool(known & own)


def before_move(amount: Fact, move: Fact) -> Iterator[Try]:
    """By a growth, a difference, or points: "rose 7% to 1.28", "1,987, 46 fewer than a year before"."""
    if amount.figure.kind != "number":
        amount, move = move, amount
    if amount.figure.kind == move.figure.kind == "number":
        if not amount.direction and move.direction and _is_one_money(amount, move):
            yield _less(amount, move, percent=False)
        return
    if {amount.figure.kind, move.figure.kind} == {"percent", "points"}:
        if amount.figure.kind == "points":
            amount, move = move, amount
        if move.direction:  # growth of 6.5%, 5.7 points below the year before's
            yield _less(amount, move, percent=True)
        return
    way = -1 if move.figure.negative else move.direction
    if move.figure.kind != "percent" or amount.figure.kind != "number" or not way:
        return
    times = 1 + way * move.figure.size / HUNDRED
    if times > 0:
        shown = f"{show(amount)} ÷ (1 {'+' if way > 0 else '−'} {show(move)})"
        base = amount.value / times
        yield Try(base, (amount, move), "steps", False, None, f"= {shown}", former=True)
        yield Try(amount.value - base, (amount, move), "steps", False, True, f"= {show(amount)} − {shown}")


def year_before(claim: Claim, attempt: Try) -> int:
    """The year that the claim names, where what it follows from is of the year behind it: 2018 of "in 2019, up 7%"."""
    years = {p.year for p in claim.every if p.year}
    own = max(when(fact)[0] for fact in attempt.operands)
    return own - 1 if own - 1 in years and years <= {own - 1, own} else 0


def _less(amount: Fact, move: Fact, *, percent: bool) -> Try:
    base = amount.value - move.direction * move.figure.size
    sign = "−" if move.direction > 0 else "+"
    return Try(base, (amount, move), "steps", percent, None, f"= {show(amount)} {sign} {show(move)}", former=True)


def _is_one_money(amount: Fact, move: Fact) -> bool:
    said = {amount.figure.currency, move.figure.currency}
    return len(said) == 1 or "" in said
