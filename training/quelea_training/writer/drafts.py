"""What a draft comes to, as far as a test of a writer needs it: its markers and the values of its figures.

The product resolves a draft against the evidence (the gateway); here its own digits are enough.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Literal

from quelea_fintext.sentences import sentence_spans

NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*\]")
_GROUP = re.compile(r"\{([^{}]{1,300})\}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MINUS = re.compile(r"[-−(]\s?[$€£¥]?\s?$")
_UNIT = re.compile(r"\s{0,3}(%|percent|per cent|thousand|million|billion|百万|千|万|亿)", re.IGNORECASE)
_SCALES = {
    "thousand": Decimal(10**3), "million": Decimal(10**6), "billion": Decimal(10**9),
    "千": Decimal(10**3), "万": Decimal(10**4), "百万": Decimal(10**6), "亿": Decimal(10**8),
}  # fmt: skip
_MOVED = r"\b(?:fell|fall\w*|decreas\w*|declin\w*|drop\w*|down|lower|reduc\w*|shrank)\b|下降|减少|下跌|降低"
_BELOW = r"\b(?:loss(?:es)?|deficit|negative|minus)\b|亏损|负"
FALL = re.compile(rf"{_MOVED}|{_BELOW}", re.IGNORECASE)
"""Words of a figure below zero that is said without its minus."""
_ALWAYS = re.compile(_BELOW, re.IGNORECASE)
_LEVEL = re.compile(r"(?:\b(?:to|from|at)\s|[至到从])\s?(?:US|HK)?[$€£¥]?\s?\Z", re.IGNORECASE)
"""Before a figure that says where a thing is, or was: "fell to" 5, which is not below zero."""
_OF_FORMULAS = frozenset("0123456789.+-*/() ")
_LONGEST = 300


class NotComputed(ValueError):
    """No expression, or one without a value."""


def markers(text: str) -> frozenset[int]:
    """The passages that a draft cites."""
    return frozenset(int(one) for match in _MARKER.finditer(text) for one in match[1].split(","))


Unit = Literal["", "%"] | Decimal
"""Empty: none is said. A scale, such as a million, as the number that it is."""


@dataclass(frozen=True)
class Said:
    """A figure of a draft."""

    value: Decimal
    unit: Unit
    sign: Literal[-1, 0, 1]
    """0: it points at a printed figure, whose sign the product takes from the passage."""


def figures(text: str) -> list[Said]:
    """The figures of a draft's first statement that has any; years are none."""
    for start, end in sentence_spans(text):
        if found := list(_figures(text[start:end])):
            return found
    return []


def _figures(statement: str) -> Iterator[Said]:
    words = _GROUP.sub(" ", statement)
    below, falls = bool(_ALWAYS.search(words)), bool(FALL.search(words))

    def is_below(before: str) -> bool:
        return below or (falls and not _LEVEL.search(before))

    for match in _GROUP.finditer(statement):
        try:
            value = compute(match[1])
        except NotComputed:
            continue
        points = NUMBER.fullmatch(_MARKER.sub(" ", match[1]).partition("=")[0].strip())
        sign: Literal[-1, 0, 1] = -1 if value < 0 or is_below(statement[: match.start()]) else 0 if points else 1
        yield Said(value, _unit(match[1].partition("=")[2]) or _unit(statement[match.end() :]), sign)
    outside = _MARKER.sub(" ", _GROUP.sub(" ", statement))
    for match in NUMBER.finditer(outside):
        value, unit = Decimal(match[0].replace(",", "")), _unit(outside[match.end() :])
        if unit or not _YEAR.fullmatch(match[0]):
            before = outside[: match.start()]
            yield Said(value, unit, -1 if _MINUS.search(before) or is_below(before) else 1)


def _unit(behind: str) -> Unit:
    match = _UNIT.match(behind)
    return "" if match is None else _SCALES.get(match[1].casefold(), "%")


def is_said(said: Said, wanted: Decimal, unit: Unit, *, fall_asked: bool) -> bool:
    """Whether a figure is the wanted one: value, sign and scale agree.

    Args:
        said: The figure.
        wanted: As a set rounds it, up or down.
        unit: Of the wanted one; where either says none, the plain numbers must agree.
        fall_asked: The question is about a fall, whose figure is without a minus.
    """
    if said.unit and unit and "%" in (said.unit, unit) and said.unit != unit:
        return False
    if said.sign and (said.sign < 0) != (wanted < 0) and not (fall_asked and wanted >= 0 and said.value >= 0):
        return False
    value = said.value
    if isinstance(said.unit, Decimal) and isinstance(unit, Decimal):
        value = value * said.unit / unit
    return is_figure(value, wanted)


def compute(group: str) -> Decimal:
    """The value of what stands between two braces; a ratio that ends with "= %" in percent.

    Raises:
        NotComputed: It is none.
    """
    said, _, unit = group.partition("=")
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", _MARKER.sub(" ", said))
    plain = "".join(one if one in _OF_FORMULAS else " " for one in plain).strip()
    if not plain or len(plain) > _LONGEST:
        raise NotComputed(group)
    try:
        value = _value(ast.parse(plain, mode="eval").body)
    except (SyntaxError, DivisionByZero, InvalidOperation, Overflow, RecursionError, MemoryError) as error:
        raise NotComputed(group) from error
    return value * 100 if "%" in unit and "/" in plain else value


def is_figure(value: Decimal, wanted: Decimal) -> bool:
    """Whether a value is a figure as a set rounds it, up or down; a fall may be said without its minus."""
    digits = -int(wanted.as_tuple().exponent)
    most = Decimal(1).scaleb(-digits) if digits > 0 else Decimal("0.5")
    return abs(abs(value) - abs(wanted)) <= most


def _value(node: ast.expr) -> Decimal:
    match node:
        case ast.Constant(value=int() | float()):
            return Decimal(str(node.value))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner)
        case ast.BinOp(left=left, op=sign, right=right):
            one, other = _value(left), _value(right)
            match sign:
                case ast.Add():
                    return one + other
                case ast.Sub():
                    return one - other
                case ast.Mult():
                    return one * other
                case ast.Div():
                    return one / other
    raise NotComputed(ast.dump(node))
