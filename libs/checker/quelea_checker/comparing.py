"""Figures that their own sentence sets against one another, in an order or a size that they do not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from quelea_checker import opposites
from quelea_checker.model import Figure

_MORE, _LESS = opposites.ends("than")
_COMPARED = re.compile(
    r"\s*(?:\([^()]*\))?\s*[,，]?\s*(?:which )?(?:(?:is|was|are|were|and|but|being|also|slightly|well|far|much|somewhat"
    r"|significantly|considerably|just|only|still|already|a little)\s+){0,4}"
    r"[略远也均仍又则还]?(?:显著|明显|大幅|稍|小幅|微|大大)?"
    rf"(?:(?P<more>{_MORE})|(?P<less>{_LESS}))(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_THAN = re.compile(r"\s*[,，]?\s*[较比][^,，;；。]*")
_DIFFERS = re.compile(r"\s*(?:还|略|明显|大幅)?(?:(?P<more>高出?|多出?|大)|(?P<less>低|少|小))(?![于至到])")
"""Around the second of two figures: "比烘焙的38.2%高6.7个百分点"."""
_NOT = re.compile(r"\b(?:not|no|never|n't)\s*$|[不未没]$", re.IGNORECASE)
_ELSE = re.compile(
    r"[;；。,，]|\band\b|\b(?:half|third|quarters?|fifth|twice|double|triple|times|percent)\b|一半|倍|成|之[一二三]",
    re.IGNORECASE,
)
"""Behind the comparing word: it is of a part or a multiple of the other, or of something else."""
_LONGEST = 90
_LEVELS = re.compile(
    r"(?P<up>\b(?:rose|increased|grew|climbed|jumped|up|higher)(?: \w+){0,2} to\s*$|(?:增长?|上升|提高|提升|升)至\s*$)"
    r"|(?P<down>\b(?:fell|decreased|declined|dropped|down|slipped|slid)(?: \w+){0,2} to\s*$"
    r"|(?:下?降|减少?|下滑|回落)[至到]\s*$)",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\s*,?\s*(?:as )?(?:compared (?:to|with)|versus|vs\.?|against)\s(?:[^,;.]*\s)?"
    r"|\s*[,，(]?\s*(?:而)?(?:上年|去年)(?:同期)?(?:则?为|是)?",
    re.IGNORECASE,
)
_LOSS = re.compile(r"\bloss(?:es)?\b|\bdeficit\b|亏损|赤字", re.IGNORECASE)
_MOVE = re.compile(
    r"(?:\b(?:a|an) (?:\w+ )?(?:decline|decrease|drop|fall|reduction|increase|rise|gain|improvement|change|expansion"
    r"|contraction|loss)s? of|\b(?:by|up|down)"
    r"|\b(?:declin|decreas|increas)ing|(?:下降|上升|提高|提升|增加|减少|降低|回落|增长|扩大|收窄)了?)"
    r"\s*(?:about |approximately |some |约)?$",
    re.IGNORECASE,
)
_HUNDRED = Decimal(100)


def broken(sentence: str, amounts: Sequence[Figure]) -> Iterator[int]:
    """Starts of figures whose own sentence shows that they are false."""
    for one, other in _neighbours(sentence, amounts):
        if _misordered(sentence, one, other):
            yield one.start
            yield other.start
    percents = [figure for figure in amounts if figure.kind == "percent"]
    if len(percents) > 2:
        yield from _points(sentence, percents)


def _neighbours(sentence: str, amounts: Sequence[Figure]) -> Iterator[tuple[Figure, Figure]]:
    """Figures one behind the other, without what parentheses between them remark."""
    yield from pairwise(amounts)
    for one, _, other in zip(amounts, amounts[1:], amounts[2:], strict=False):
        if re.fullmatch(r"\s*\([^()]*\).*", sentence[one.end : other.start], re.DOTALL):
            yield one, other


def _misordered(sentence: str, one: Figure, other: Figure) -> bool:
    """ "6.1 billion, more than the 7.6 billion of …": the first is less."""
    if one.kind != other.kind or bool(one.scale) != bool(other.scale) or one.negative or other.negative:
        return False
    if one.currency and other.currency and one.currency != other.currency:
        return False
    gap = sentence[one.end : other.start]
    if len(gap) > _LONGEST:
        return False
    match = _COMPARED.fullmatch(gap)
    if match and not _NOT.search(gap[: match.start("more" if match["more"] else "less")]):
        wrong = one.size < other.size if match["more"] else one.size > other.size
        return wrong and not _ELSE.search(match["rest"])
    if not match and _THAN.fullmatch(gap) and (found := _DIFFERS.match(sentence, other.end)):
        return one.size < other.size if found["more"] else one.size > other.size
    to = _LEVELS.search(sentence[: one.start]) if _AGAINST.fullmatch(gap) else None
    if to and not _LOSS.search(sentence):
        return one.size < other.size if to["up"] else one.size > other.size
    return False


def _points(sentence: str, percents: Sequence[Figure]) -> Iterator[int]:
    """ "From 15.7% to 12.5%, a decline of 3.2%": it is of 3.2 points, or of a fifth."""
    for figure in percents:
        if not _MOVE.search(sentence[: figure.start]):
            continue
        levels = [p for p in percents if p is not figure and not _MOVE.search(sentence[: p.start])]
        for one, other in pairwise(levels):
            apart = abs(one.value - other.value)
            if not apart or abs(apart - figure.size) > figure.tolerance:
                continue
            grown = [apart / abs(base.value) * _HUNDRED for base in (one, other) if base.value]
            if all(abs(share - figure.size) > figure.tolerance for share in grown):
                yield figure.start
