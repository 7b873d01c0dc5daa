"""The computations by which a figure can follow from others, with their formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from quelea_checker.reading.facts import Fact
from quelea_checker.reading.wording import Operation

HUNDRED = Decimal(100)
"""Percent of one."""


class Computation(NamedTuple):
    """A computation: its value, in percent when `percent`, from operands in the order of the formula."""

    value: Decimal
    operands: tuple[Fact, ...]
    form: str
    percent: bool
    ordered: bool | None
    """True: its sign says which way; None: it may be turned round; False: its sign is its own."""
    shown: str = ""
    """The formula, of computations of two steps."""


def is_ordered(one: Fact, other: Fact) -> bool:
    """Whether the times of two facts say which is the earlier."""
    a, b = one.latest_date, other.latest_date
    if a != b:
        first = next((x, y) for x, y in zip(a, b, strict=True) if x != y)
        return 0 not in (a[0], b[0]) and 0 not in first  # a year is not before its end
    return 0 not in (one.relative, other.relative) and one.relative != other.relative


def is_later(one: Fact, other: Fact) -> bool:
    """Which of two ordered facts is of the later time."""
    return (one.latest_date, one.relative) > (other.latest_date, other.relative)


def combine_two(
    new: Fact, old: Fact, asked: Sequence[Operation], *, percent: bool, ordered: bool | None
) -> Iterator[Computation]:
    """What two facts give by the operations asked for."""
    a, b = new.value, old.value
    if a < 0 and b < 0:
        # Bookkeepers' brackets: expenses and payables are spoken of, and grow, without them; differences go both ways.
        yield from _combine_values(a, b, (new, old), ["change"], percent=percent, ordered=ordered)
        yield from _combine_values(-a, -b, (new, old), asked, percent=percent, ordered=ordered)
    else:
        yield from _combine_values(a, b, (new, old), asked, percent=percent, ordered=ordered)


def _combine_values(
    a: Decimal, b: Decimal, pair: tuple[Fact, Fact], asked: Sequence[Operation], *, percent: bool, ordered: bool | None
) -> Iterator[Computation]:
    new, old = pair
    if "growth" in asked and b:
        yield Computation((a - b) / abs(b) * HUNDRED, pair, "growth", True, ordered)
    if ("change" in asked or "growth" in asked) and (ordered or (a and b)):
        points = percent and _is_percent(new) and _is_percent(old)
        if points or not percent:
            yield Computation(a - b, pair, "difference", points, ordered)
    if "share" in asked and b and not percent:
        yield Computation(a / b, pair, "ratio", False, False)
    if "share" in asked and b and percent:
        yield Computation(a / b * HUNDRED, pair, "ratio", True, False)
    if "ratio" in asked and b:
        yield Computation(a / b, pair, "ratio", False, False)
        yield Computation(a / b * HUNDRED, pair, "ratio", True, False)


def _is_percent(fact: Fact) -> bool:
    return fact.figure.kind in {"percent", "points"} or fact.unit.percent is not False


def combine_many(facts: Sequence[Fact], asked: Sequence[Operation]) -> Iterator[Computation]:
    """Sum and average, if they are asked for."""
    total = sum((f.value for f in facts), Decimal(0))
    percent = all(f.figure.kind == "percent" for f in facts)
    if "sum" in asked:
        yield Computation(total, tuple(facts), "sum", percent, False)
    if "average" in asked:
        yield Computation(total / len(facts), tuple(facts), "average", percent, False)


def find_share_of_last(facts: Sequence[Fact], *, percent: bool) -> Iterator[Computation]:
    """The share that all but the last fact have of the last."""
    whole = facts[-1].value
    if whole:
        share = sum((fact.value for fact in facts[:-1]), Decimal(0)) / whole
        yield Computation(share * HUNDRED if percent else share, tuple(facts), "parts", percent, False)


def format_formula(attempt: Computation) -> str:
    """As shown: "= 1,496.5 − 1,202.9"."""
    if attempt.shown:
        return attempt.shown
    shown = [format_operand(fact) for fact in attempt.operands]
    if attempt.form == "growth":
        return f"= ({shown[0]} − {shown[1]}) ÷ {shown[1]}"
    if attempt.form == "parts":
        return f"= ({' + '.join(shown[:-1])}) ÷ {shown[-1]}"
    if attempt.form in {"sum", "average"}:
        terms = " + ".join(shown)
        return f"= {terms}" if attempt.form == "sum" else f"= ({terms}) ÷ {len(shown)}"
    sign = {"difference": "−", "product": "×"}.get(attempt.form, "÷")
    return f"= {shown[0]} {sign} {shown[1]}"


def format_operand(fact: Fact) -> str:
    """A fact in a formula: its number with its sign, without currency."""
    text = re.sub(r"[^\d.,%]", "", fact.figure.text).strip(",.") or f"{fact.figure.number:f}"
    return f"(−{text})" if fact.figure.negative else text
