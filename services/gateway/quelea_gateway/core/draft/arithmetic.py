"""What an expression over figures of the evidence comes to, and in which unit.

Only amounts of one unit are added; a ratio of two is pure. Constants are those of formulas: a model cannot bring in a
figure of its own by calling it one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, DecimalException, localcontext

from quelea_gateway.core.draft.notation import Constant, Expression, Malformed, Negated, Pointer
from quelea_gateway.core.draft.sources import Source

PURE = "pure"
_DAYS = frozenset(map(Decimal, (360, 365, 366)))
_CONSTANTS = frozenset(map(Decimal, (*range(1, 13), 100, 1000))) | _DAYS
_HUNDRED = Decimal(100)
_DIGITS = 28
_LARGEST_EXPONENT = 12
_LONGEST_RESULT = 18
"""Digits before the point of a result: no company's figure has more."""


class Unresolved(ValueError):
    """It has no value: a figure that is not there, units that do not go together, a division by nought."""


@dataclass(frozen=True)
class Amount:
    """A value with its unit; `scaled` as of a Source, None of what has no scale of its own."""

    value: Decimal
    unit: str
    scaled: bool | None = None
    in_days: bool = False
    """A number of days of a year was multiplied in."""


class Calculation:
    """One expression, computed.

    Args:
        find: The evidence's figure that a pointer names; None where there is none.

    Attributes:
        sources: What it is computed from, each once, in the formula's order.
    """

    def __init__(self, find: Callable[[Pointer], Source | None]) -> None:
        self._find = find
        self.sources: list[Source] = []

    def compute(self, expression: Expression, unit: str) -> Amount:
        """The value in the wanted unit, where that is one of ratios.

        Raises:
            Unresolved: It has none.
        """
        with localcontext() as context:
            context.prec = _DIGITS
            try:
                found = self._value(expression)
            except (DecimalException, Malformed) as error:
                raise Unresolved(str(error)) from error
        if not self.sources:
            raise Unresolved("no figure of the evidence is in it")
        made = _in_unit(found, unit)
        if made.value and made.value.adjusted() >= _LONGEST_RESULT:
            raise Unresolved("the result is too large")
        return made

    def formula(self, expression: Expression, say: Callable[[Source, int], str]) -> str:
        """The expression with each figure as `say` has it; parentheses where they are needed."""
        return self._write(expression, say, 0)

    def _source(self, pointer: Pointer) -> Source:
        found = self._find(pointer)
        if found is None:
            raise Unresolved("no passage has this figure")
        known = next((one for one in self.sources if one.operand == found.operand), None)
        if known is None:
            self.sources.append(found)
        return known or found

    def _value(self, node: Expression) -> Amount:
        if isinstance(node, Pointer):
            source = self._source(node)
            return Amount(source.value if node.signed else source.amount, source.unit, source.scaled)
        if isinstance(node, Constant):
            if node.number not in _CONSTANTS:
                raise Unresolved("a number that is no figure of the evidence")
            return Amount(node.number, PURE, in_days=node.number in _DAYS)
        if isinstance(node, Negated):
            inner = self._value(node.inner)
            return Amount(-inner.value, inner.unit, inner.scaled, inner.in_days)
        left, right = self._value(node.left), self._value(node.right)
        if node.sign == "+" and isinstance(node.left, Pointer) and isinstance(node.right, Pointer):
            left, right = self._terms(node.left, node.right, left, right)
        if None not in (left.scaled, right.scaled) and left.scaled != right.scaled:
            raise Unresolved("of one figure the scale is not known")
        if node.sign in "+-":
            return _add(left, right, node.sign)
        if node.sign == "^":
            return _power(left, right)
        percent_of = node.sign == "*" and isinstance(node.right, Constant) and node.right.number == _HUNDRED
        if percent_of and left.unit == PURE:
            return Amount(left.value * _HUNDRED, "percent")
        return _multiply(left, right, node.sign)

    def _terms(self, one: Pointer, other: Pointer, left: Amount, right: Amount) -> tuple[Amount, Amount]:
        """The terms of a sum, of which one is printed as negative and written without its minus.

        Of one row it is the way from a loss to a gain; of two rows it is a sum of what is printed.
        """
        a, b = self._source(one), self._source(other)
        if one.signed or other.signed or (a.value < 0) == (b.value < 0):
            return left, right
        apart = a.row == b.row
        return tuple(  # type: ignore[return-value]  # two of two
            replace(amount, value=abs(source.value) if apart else source.value)
            for amount, source in ((left, a), (right, b))
        )

    def _write(self, node: Expression, say: Callable[[Source, int], str], above: int) -> str:
        if isinstance(node, Pointer):
            source = self._source(node)
            return say(source, next(at for at, one in enumerate(self.sources) if one.operand == source.operand))
        if isinstance(node, Constant):
            return f"{node.number:f}"
        if isinstance(node, Negated):
            return f"−{self._write(node.inner, say, 3)}"
        rank = 1 if node.sign in "+-" else 2 if node.sign in "*/" else 3
        sign = {"-": "−", "*": "×"}.get(node.sign, node.sign)
        said = f"{self._write(node.left, say, rank)} {sign} {self._write(node.right, say, rank + 1)}"
        return f"({said})" if rank < above else said


def _ratio(amount: Amount) -> Amount:
    """A percentage as the ratio that it is."""
    if amount.unit == "percent":
        return Amount(amount.value / _HUNDRED, PURE, in_days=amount.in_days)
    return Amount(amount.value, PURE, in_days=amount.in_days) if amount.unit == "times" else amount


def _add(left: Amount, right: Amount, sign: str) -> Amount:
    if left.unit != right.unit and PURE in (left.unit, right.unit):
        left, right = _ratio(left), _ratio(right)
    if left.unit != right.unit:
        raise Unresolved(f"{left.unit or 'a number'} and {right.unit or 'a number'} cannot be added")
    value = left.value + right.value if sign == "+" else left.value - right.value
    unit = "points" if left.unit == "percent" and sign == "-" else left.unit
    return Amount(value, unit, left.scaled, left.in_days or right.in_days)


def _multiply(left: Amount, right: Amount, sign: str) -> Amount:
    same = left.unit == right.unit
    in_days = left.in_days or right.in_days
    if sign == "/" and same:
        return Amount(left.value / right.value, PURE, in_days=in_days)
    left, right = _ratio(left), _ratio(right)
    scaled = left.scaled if left.scaled is not None else right.scaled
    if sign == "*":
        if PURE not in (left.unit, right.unit):
            raise Unresolved("two amounts cannot be multiplied")
        unit = right.unit if left.unit == PURE else left.unit
        return Amount(left.value * right.value, unit, scaled, in_days)
    value = left.value / right.value
    if right.unit == PURE:
        return Amount(value, left.unit, scaled, in_days)
    if right.unit == "shares" and len(left.unit) == 3:
        return Amount(value, f"{left.unit}/share", scaled, in_days)
    return Amount(value, "", scaled, in_days)


def _power(base: Amount, exponent: Amount) -> Amount:
    base = _ratio(base)
    if base.unit != PURE or exponent.unit != PURE or base.value <= 0 or abs(exponent.value) > _LARGEST_EXPONENT:
        raise Unresolved("no power that could be taken")
    return Amount(base.value**exponent.value, PURE)


def _in_unit(found: Amount, unit: str) -> Amount:
    """A ratio in the wanted unit, or in percent; an amount as it is."""
    if found.unit == "points" and unit in ("percent", ""):
        return found
    if found.unit == "percent":
        return found
    if found.unit != PURE:
        return found
    unit = unit or ("days" if found.in_days else "percent")
    return Amount(found.value * _HUNDRED if unit in ("percent", "points") else found.value, unit)
