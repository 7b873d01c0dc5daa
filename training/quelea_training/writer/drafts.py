"""What a draft comes to, as far as a test of a writer needs it: its markers and the values of its figures.

The product resolves a draft against the evidence (the gateway); here its own digits are enough.
"""

from __future__ import annotations

import ast
import re
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow

NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*\]")
_GROUP = re.compile(r"\{([^{}]{1,300})\}")
_OF_FORMULAS = frozenset("0123456789.+-*/() ")
_LONGEST = 300


class NotComputed(ValueError):
    """No expression, or one without a value."""


def markers(text: str) -> frozenset[int]:
    """The passages that a draft cites."""
    return frozenset(int(one) for match in _MARKER.finditer(text) for one in match[1].split(","))


def values(text: str) -> list[Decimal]:
    """The figures of a draft: those between braces, computed where they are expressions, and all that stand outside."""
    found = []
    for match in _GROUP.finditer(text):
        try:
            found.append(compute(match[1]))
        except NotComputed:
            continue
    outside = _MARKER.sub(" ", _GROUP.sub(" ", text))
    return found + [Decimal(match[0].replace(",", "")) for match in NUMBER.finditer(outside)]


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
