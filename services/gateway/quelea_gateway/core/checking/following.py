"""Whether what a computation gives is what the figure says: its size, its unit and its sign."""

from __future__ import annotations

import re

from quelea_gateway.core.checking import wording
from quelea_gateway.core.checking.computing import Try
from quelea_gateway.core.checking.facts import Evidence
from quelea_gateway.core.checking.matching import Claim, same_currency, sizes, unheard

_TELLING = 2
"""Digits of a figure from which a ratio is no luck."""
_ABSOLUTE = re.compile(r"\bdiffer\w*|\bgap\b|差", re.IGNORECASE)


def follows(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """Size, currency, unit and sign agree, and the figure does not stand there itself with something against it."""
    figure = claim.figure
    if claim.barred and any(fact.passage in claim.barred for fact in attempt.operands):
        return False
    size = abs(attempt.value)
    if figure.digits < _TELLING and _is_far_fetched(claim, attempt, evidence):
        return False
    if attempt.percent:
        if figure.kind not in {"percent", "points"} and (figure.currency or figure.scale or figure.kind == "multiple"):
            return False
        if abs(figure.size - size) > claim.tolerance:
            return False
    elif (
        not all(same_currency(figure, fact) for fact in attempt.operands)
        or unheard(claim, attempt.operands[0], evidence)
        or sizes(claim, attempt.operands[0], size) is None
    ):
        return False
    if attempt.form in {"difference", "sum"} and any(sizes(claim, fact) is not None for fact in attempt.operands):
        return False  # the figure stands there itself, and something spoke against it
    return _sign_fits(claim, attempt, evidence)


def _is_far_fetched(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """Few digits, which many a computation gives: "four times" of two figures that are of different things."""
    if attempt.form != "ratio":
        return False
    if any(fact.table < 0 for fact in attempt.operands) or all(f.figure.kind == "percent" for f in attempt.operands):
        return True
    apart = len({fact.group for fact in attempt.operands}) > 1
    unnamed = any(not evidence.groups[f.group].name & claim.terms or f.table < 0 for f in attempt.operands)
    return claim.figure.kind == "multiple" and apart and unnamed


def _sign_fits(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
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
