"""What follows from the sentence's own figures, once these are found: "cut by 46, from 1,012 to 966"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise, permutations

from quelea_checker.model import Figure
from quelea_checker.reading import wording

_LEAST = 2
_MOST = 8
_FROM = re.compile(
    r"(?:\bfrom|\bthan|\bversus|\bvs\.?|\bagainst|\bcompared (?:to|with)|[从由自较比])[^,;，；]{0,20}$", re.IGNORECASE
)
_BY = re.compile(
    r"(?:\bby|\bup|\bdown|(?:increase|decrease|decline|rise|drop) of|[增减]|增加|减少"
    r"|增长|下降|上升)\s{0,8}+(?:about|约)?\s{0,8}+$",
    re.IGNORECASE,
)
_OF = re.compile(r"\s?(?:out )?of\s[^,;]{0,12}|\s?/\s?")
_SIGN = re.compile(r"\s?(?P<sign>[-–−+×*/÷])\s?[$€£¥]?\s?")
_SHOWN = {"-": "−", "–": "−", "*": "×", "/": "÷"}
_HUNDRED = Decimal(100)


def find_written_formula(figure: Figure, sentence: str, others: Sequence[Figure]) -> tuple[str, Figure] | None:
    """The same where the sentence itself has the formula: "122,659 / 124,963 = 0.98"."""
    near = sorted(others, key=lambda f: f.start)
    for one, other in pairwise(near):
        match = _SIGN.fullmatch(sentence[one.end : other.start])
        if match is None or one.kind != other.kind:
            continue
        a, b, sign = one.size, other.size, match["sign"]
        if sign in "/÷" and b:
            values = (a / b * _HUNDRED,) if figure.kind == "percent" else (a / b,)
        else:
            values = (a + b,) if sign == "+" else (a * b,) if sign in "×*" else (a - b,)
        if any(abs(abs(value) - figure.size) <= figure.tolerance for value in values):
            first, second = (sentence[f.start : f.end].strip() for f in (one, other))
            return f"= {first} {_SHOWN.get(sign, sign)} {second}", one
    return None


def derive_within_sentence(figure: Figure, sentence: str, others: Sequence[Figure]) -> tuple[str, Figure] | None:
    """The formula by which the figure follows from two others of its sentence, and the first of them.

    Args:
        others: Figures of the sentence that the evidence bears out.
    """
    if figure.digits < _LEAST:
        return None
    way = wording.find_direction(sentence, figure.start, figure.end)
    asked = wording.find_operations(sentence)
    for new, old in permutations(others[:_MOST], 2):
        if new.kind != old.kind or (new.currency and old.currency and new.currency != old.currency):
            continue
        for value, slack, shown in _find_computations(
            figure, sentence, new, old, moves=bool({"change", "growth"} & set(asked))
        ):
            if abs(abs(value) - figure.size) > figure.tolerance + slack or (value < 0) != (way < 0 or figure.negative):
                continue
            return shown, new
    return None


def _find_computations(
    figure: Figure, sentence: str, new: Figure, old: Figure, *, moves: bool
) -> Iterator[tuple[Decimal, Decimal, str]]:
    """(value, by how much rounding may change it, formula). The old figure is the one behind "from", if one is."""
    a, b = new.value, old.value
    loose = new.tolerance + old.tolerance
    show = (sentence[f.start : f.end].strip() for f in (new, old))
    one, other = show
    if figure.kind == "percent" and new.kind == "number" and b and _OF.fullmatch(sentence[new.end : old.start]):
        yield a / b * _HUNDRED, Decimal(0), f"= {one} ÷ {other}"
    each = figure.kind == "number" and wording.is_each(sentence, figure.start, figure.end)
    if each and b and figure.currency == new.currency != "" and not old.currency:
        yield a / b, Decimal(0), f"= {one} ÷ {other}"
    if not moves:
        return
    moved = wording.find_direction(sentence, old.start, old.end)
    if figure.kind == "percent" and new.kind == old.kind == "number" and moved and _is_by(sentence, old):
        base = a - moved * abs(b)  # "6.3, up 1.62 from the beginning of the year", a growth of 35%
        if base > 0 and not _is_by(sentence, new):
            sign = "−" if moved > 0 else "+"
            yield moved * abs(b) / base * _HUNDRED, figure.tolerance, f"= {other} ÷ ({one} {sign} {other})"
    if _is_old(sentence, new) or not _is_old(sentence, old):
        return
    if (figure.kind, new.kind) in {("points", "percent"), ("number", "number")}:
        yield a - b, min(loose, figure.tolerance), f"= {one} − {other}"
    elif figure.kind == "percent" and new.kind == "number" and b:
        slack = (new.tolerance + abs(a / b) * old.tolerance) / abs(b) * _HUNDRED
        yield (a - b) / abs(b) * _HUNDRED, min(slack, figure.tolerance * 2), f"= ({one} − {other}) ÷ {other}"


def _is_by(sentence: str, figure: Figure) -> bool:
    """It is by how much something changed."""
    return wording.ends_with(_BY, sentence, figure.start)


def _is_old(sentence: str, figure: Figure) -> bool:
    return wording.ends_with(_FROM, sentence, figure.start)
