"""Whether what a computation gives is what the figure says: its size, its unit and its sign."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from quelea_checker.deriving.computations import Computation
from quelea_checker.matching.claims import Claim, find_facts_near, find_scale, is_bounded, same_currency, same_kind
from quelea_checker.reading import wording
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact

_BY_PERCENT = re.compile(
    r"\b(?:by|(?<!made )(?<!make )(?<!makes )(?<!making )up|down|rose|grew"
    r"|gained|fell|slipped|dropped|declined|decreased|increased|(?:decline|decrease|drop|fall"
    r"|increase|rise) of)\s{0,8}+(?:about|approximately|nearly|some)?\s{0,8}+$"
    r"|(?:提高|提升|上升|增长|增加|扩大|下降|降低|减少|下滑|收窄|回落)了?约?\s{0,8}+$",
    re.IGNORECASE,
)
"""Before a percentage: it is of what there was, and no difference of two percentages."""
_BETWEEN_ROWS = re.compile(
    r"\b(?:excluding|except|other than|apart from|besides|remain\w*|rest|less|minus|net of|differ\w*|gap|exceed\w*)\b"
    r"|扣除|除|其余|剩余|差|超过",
    re.IGNORECASE,
)
_BETWEEN_TIMES = re.compile(
    r"\b(?:chang\w*|up|down|higher|lower|fewer|more|less|differ\w*|\w*creas\w*|rose|fell|grew|grow\w*|declin\w*"
    r"|by)\b|差|多|少|减|增|升|降|比|较|变",
    re.IGNORECASE,
)
_MORE_OR_LESS = re.compile(r"\s?(?:more|less|fewer|higher|lower|above|below)\b", re.IGNORECASE)
_BY = re.compile(r"(?:\bby|[多少高低])\s?(?:about |approximately )?$", re.IGNORECASE)
_SUMMED = re.compile(
    r"\b(?:totall?(?:ed|ing)|sum|combined|together|altogether|aggregate|overall|both|in all)\b"
    r"|(?:[和与及、两三四者项][^，。；]{0,12})[合总]计|总和|总共|共计|一共|累计|之和",
    re.IGNORECASE,
)
_TELLING = 3
"""Digits of a figure whose row is no luck."""
_ABSOLUTE = re.compile(r"\bdiffer\w*|\bgap\b|\bsw[iu]ng\b|差", re.IGNORECASE)


def is_accepted(claim: Claim, attempt: Computation, evidence: Evidence) -> bool:
    """Size, currency, unit and sign agree, and the figure does not stand there itself with something against it."""
    figure = claim.figure
    if claim.excluded_passages and any(fact.passage in claim.excluded_passages for fact in attempt.operands):
        return False
    if not _size_fits(claim, attempt):
        return False
    if not _form_fits(claim, attempt):
        return False
    if attempt.form in {"difference", "sum"} and any(find_scale(claim, fact) is not None for fact in attempt.operands):
        return False  # the figure stands there itself, and something spoke against it
    alike = (f for f in find_facts_near(claim, evidence) if same_kind(figure, f) and find_scale(claim, f) is not None)
    if _is_printed(claim, attempt.operands, attempt.form, alike):
        return False
    return _sign_fits(claim, attempt)


def _size_fits(claim: Claim, attempt: Computation) -> bool:
    """The result has the figure's size, unit and currency. Few tries have, so this is asked first."""
    figure, size = claim.figure, abs(attempt.value)
    if not attempt.percent:
        alike = all(same_currency(figure, fact) for fact in attempt.operands)
        return alike and find_scale(claim, attempt.operands[0], size) is not None
    if abs(figure.size - size) > claim.tolerance or not (figure.is_in_digits or is_bounded(figure, size)):
        return False
    if figure.kind not in {"percent", "points"} and (figure.currency or figure.scale or figure.kind == "multiple"):
        return False
    points = attempt.form == "difference" or (attempt.form == "steps" and ", ÷" not in attempt.shown)
    if not points or figure.kind != "percent":
        return True
    return figure.is_in_digits and not _is_behind(_BY_PERCENT, claim)  # "half of", "by 5%" are of what there was


def _is_behind(words: re.Pattern[str], claim: Claim) -> bool:
    return wording.ends_with(words, claim.sentence, claim.figure.start)


def _form_fits(claim: Claim, attempt: Computation) -> bool:
    """The computation is the one that the words ask for: none of a change where they speak of a level, and so on."""
    facts = attempt.operands
    if attempt.form == "sum" and any(f.table < 0 for f in facts):
        return "sum" in wording.find_operations(f"{claim.sentence} {claim.question}")
    if len(facts) != 2:
        return True
    if attempt.form == "growth" and all(f.figure.kind == "percent" and f.table < 0 for f in facts):
        return False  # how a share grew is told in points
    if attempt.form != "ratio":
        return True
    if not attempt.percent and claim.figure.currency and claim.figure.scale and facts[0].unit == facts[1].unit:
        return False  # an amount divided by another is no amount
    # a share is no share of a share
    return not (attempt.percent and any(f.table < 0 and f.figure.kind == "percent" for f in facts))


def _is_printed(claim: Claim, operands: Sequence[Fact], form: str, facts: Iterable[Fact]) -> bool:
    """The figure is that of another row, so that a sum or a difference that no word asks for is not what it is said of.

    Args:
        facts: Those that have the figure's size.
    """
    figure, sentence = claim.figure, claim.sentence
    if form not in {"difference", "sum", "steps"} or figure.digits < _TELLING or figure.kind in {"points", "multiple"}:
        return False
    rows = {fact.group for fact in operands}
    if form == "sum":
        asked = bool(_SUMMED.search(sentence))
    elif len(rows) == 1:
        asked = bool(_BETWEEN_TIMES.search(sentence))
    else:
        asked = bool(
            _BETWEEN_ROWS.search(sentence) or _MORE_OR_LESS.match(sentence, figure.end) or _is_behind(_BY, claim)
        )
    return not asked and any(f.table >= 0 and not f.change and f.group not in rows for f in facts)


def _sign_fits(claim: Claim, attempt: Computation) -> bool:
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
    if attempt.value < 0:
        absolute = bool(_ABSOLUTE.search(f"{claim.sentence} {claim.question}"))
        return figure.negative or claim.direction == -1 or absolute
    return claim.direction != -1 or attempt.value == 0
