"""Whether what a computation gives is what the figure says: its size, its unit and its sign."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_gateway.core.checking import contradicting, wording
from quelea_gateway.core.checking.computing import Try
from quelea_gateway.core.checking.facts import TOTAL, Evidence
from quelea_gateway.core.checking.matching import Claim, same_currency, sizes, unheard
from quelea_gateway.core.checking.passage_facts import Fact, content

_TELLING = 2
"""Digits of a figure from which a ratio is no luck."""
_BY_PERCENT = re.compile(
    r"\b(?:by|up|down)\s*(?:about|approximately|nearly|some)?\s*$"
    r"|(?:提高|提升|上升|增长|增加|扩大|下降|降低|减少|下滑|收窄|回落)了?约?\s*$",
    re.IGNORECASE,
)
"""Before a percentage: it is of what there was, and no difference of two percentages."""
_COUNT_OF_PARTS = re.compile(
    r"(?:\b(?:the|all|these|its|'s)\s+(?P<en>two|three|four|five|six)\b"
    r"(?! (?:months?|quarters?|years?|weeks?|days?|largest))"
    r"|(?P<zh>[两二三四五六])(?:项|家|大|个(?!月|季)|类|种))",
    re.IGNORECASE,
)
_PARTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6}
_HEAD = re.compile(r",|\(|\b(?:of|for|on|from|to|by|in)\b", re.IGNORECASE)
_ABSOLUTE = re.compile(r"\bdiffer\w*|\bgap\b|\bsw[iu]ng\b|差", re.IGNORECASE)


def follows(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """Size, currency, unit and sign agree, and the figure does not stand there itself with something against it."""
    figure = claim.figure
    if claim.barred and any(fact.passage in claim.barred for fact in attempt.operands):
        return False
    size = abs(attempt.value)
    if figure.digits < _TELLING and _is_far_fetched(claim, attempt, evidence):
        return False
    if not _parts_fit(claim, attempt, evidence):
        return False
    if attempt.percent:
        points = attempt.form == "difference" or (attempt.form == "steps" and ", ÷" not in attempt.shown)
        if points and figure.kind == "percent" and _BY_PERCENT.search(claim.sentence[: figure.start]):
            return False
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


def _parts_fit(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """The parts are those that the sentence names: as many as it counts, no row that it names left out for another."""
    facts = attempt.operands
    if attempt.form == "sum":
        match = _COUNT_OF_PARTS.search(claim.sentence)
        if match and len(facts) != _PARTS[(match["en"] or match["zh"]).lower()]:
            return False
        return not _left_out(claim, facts, evidence)
    if attempt.form == "difference" and len(facts) == 2 and {f.table for f in facts} == {-1}:
        amount, move = sorted(facts, key=lambda f: abs(f.direction))
        if (
            move.direction == -1
            and not amount.direction
            and amount.group == move.group
            and move.figure.kind == "number"
        ):
            return False  # "1,987, 46 fewer than the year before": 1,941 is neither
    if attempt.form == "ratio" and attempt.percent:
        rows = {fact.group for fact in facts}
        return not any(contradicting.other_row(f, claim.terms, evidence, rows) for f in facts)
    return True


def _left_out(claim: Claim, facts: Sequence[Fact], evidence: Evidence) -> bool:
    """A row of their table, which the sentence names, is not in the sum: "of A, B and C" is no A + B."""
    rows = {fact.group for fact in facts}
    tables = {fact.table for fact in facts}
    if len(facts) < 2 or len(rows) < len(facts) or len(tables) > 1 or -1 in tables:
        return False
    own = frozenset().union(*(evidence.groups[row].name for row in rows))
    if not all(evidence.groups[row].name & claim.terms for row in rows):
        return False
    column = facts[0].column
    said = content(claim.sentence)
    for group in evidence.rows.get(facts[0].table, ()):
        first = content(_HEAD.split(group.label)[0])
        if not first or not first <= said or first & own or TOTAL.search(group.label):
            continue
        if any(f.column == column and f.figure.size and f.group not in rows for f in group.facts):
            return True
    return False


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
