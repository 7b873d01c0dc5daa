"""Metrics of financial analysis as data: a formula over concepts of statements, computed with every operand shown."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, DivisionByZero, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from quelea_fintext.concepts import concepts
from quelea_fintext.languages import LANGUAGES

Balances = Literal["closing", "average"]
_FILE = Path(__file__).parent / "metrics.toml"
_FUNCTIONS = ("any", "optional", "balance")
_YEAR = 365
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "−", ast.Mult: "×", ast.Div: "/"}
_RANKS: dict[type[ast.operator], int] = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2}
_ALONE = 3
"""Rank of what needs no brackets."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that analysts compute."""

    id: str
    """Its key in the data: "gross_margin"."""
    formula: str
    unit: str
    """ "percent", "times", "days", "money" or "per_share"."""
    balances: Balances
    """What a flow is set against, unless a question asks for the other."""
    names: tuple[str, ...]
    """What readers call it, in every language."""
    display: dict[str, str] = field(hash=False, compare=False, default_factory=dict)
    """Language code -> its usual name."""

    @property
    def concepts(self) -> frozenset[str]:
        """Ids of every concept that its formula may use, those of the metrics in it too."""
        found: set[str] = set()
        for node in ast.walk(_tree(self.formula)):
            if isinstance(node, ast.Name) and node.id in metrics():
                found |= metrics()[node.id].concepts
            elif isinstance(node, ast.Name) and node.id in concepts():
                found.add(node.id)
        return frozenset(found)


@cache
def metrics() -> dict[str, Metric]:
    """Every metric by its id, in the order of the data.

    Raises:
        ValueError: A formula has a name that is no concept and no metric before it.
    """
    names: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for code, table in LANGUAGES.of("metrics").items():
        for key, said in table.items():
            names[key][code] = said
    found: dict[str, Metric] = {}
    for key, one in tomllib.loads(_FILE.read_text("utf-8")).items():
        _check(one["formula"], {*found, *concepts(), *_FUNCTIONS, "days"})
        every = tuple(name for said in names[key].values() for name in said)
        usual = {code: said[0] for code, said in names[key].items()}
        found[key] = Metric(key, one["formula"], one["unit"], one.get("balances", "closing"), every, usual)
    return found


def _check(formula: str, known: set[str]) -> None:
    unknown = sorted({node.id for node in ast.walk(_tree(formula)) if isinstance(node, ast.Name)} - known)
    if unknown:
        raise ValueError(f"metrics.toml: {formula!r} has unknown names: {', '.join(unknown)}.")


@cache
def _tree(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


class Stated(Protocol):
    """A figure that a document states."""

    @property
    def amount(self) -> Decimal:
        """Exact and unscaled."""
        ...

    @property
    def unit(self) -> str:
        """ISO 4217, that per share, or "shares"."""
        ...


S = TypeVar("S", bound=Stated)
Lookup = Callable[[str, bool], S | None]
"""(id of a concept, of a year before) -> the figure; None where it is not stated."""


@dataclass(frozen=True, slots=True)
class Operand(Generic[S]):
    """A figure in a formula."""

    concept: str
    stated: S
    before: bool
    """Of the end of the year before."""


@dataclass(frozen=True, slots=True)
class Computed(Generic[S]):
    """The value of a metric."""

    value: Decimal
    """In the metric's unit: 61.06 percent; money unscaled."""
    unit: str
    """ "percent", "times", "days", a currency, or a currency per share."""
    formula: str
    """With {0}, {1} … for the operands: "{0} / {1}"."""
    operands: tuple[Operand[S], ...]
    absent: tuple[str, ...]
    """Ids of optional concepts that are not stated."""


def compute(
    metric: Metric, lookup: Lookup[S], *, months: int = 12, balances: Balances | None = None, year: int = _YEAR
) -> Computed[S] | None:
    """A metric's value; None where an operand is not stated, currencies differ, or nothing is divided by.

    Args:
        metric: Of `metrics()`.
        lookup: The figures of the period, and the balances of a year before.
        months: Length of the period.
        balances: As the question asks; None: the metric's convention.
        year: Days of a year.
    """
    work = _Work(lookup, balances or metric.balances, round(Decimal(year) * months / 12))
    try:
        term = work.term(_tree(metric.formula))
    except (DivisionByZero, InvalidOperation):
        return None
    money = {operand.stated.unit for operand in work.operands} - {"shares"}
    if term is None or not work.operands or len(money) > 1:
        return None
    value = term.value * 100 if metric.unit == "percent" else term.value
    currency = next(iter(money), "")
    unit = {"money": currency, "per_share": f"{currency}/share"}.get(metric.unit, metric.unit)
    return Computed(value, unit, term.text, tuple(work.operands), tuple(dict.fromkeys(work.absent)))


@dataclass(frozen=True, slots=True)
class _Term:
    value: Decimal
    text: str
    rank: int = _ALONE


class _Work(Generic[S]):
    """One computation: what it has used."""

    def __init__(self, lookup: Lookup[S], balances: Balances, days: int) -> None:
        self.operands: list[Operand[S]] = []
        self.absent: list[str] = []
        self._lookup = lookup
        self._balances = balances
        self._days = days

    def term(self, node: ast.expr, *, before: bool = False) -> _Term | None:
        if isinstance(node, ast.BinOp):
            return self._pair(node, before=before)
        if isinstance(node, ast.Constant):
            return _Term(Decimal(str(node.value)), str(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node.args, before=before)
        if not isinstance(node, ast.Name):
            raise ValueError(f"metrics.toml: {ast.dump(node)} is no part of a formula.")
        if node.id == "days":
            return _Term(Decimal(self._days), str(self._days))
        if node.id in metrics():
            return self.term(_tree(metrics()[node.id].formula), before=before)
        return self._concept(node.id, before=before)

    def _concept(self, concept: str, *, before: bool) -> _Term | None:
        for at, operand in enumerate(self.operands):
            if (operand.concept, operand.before) == (concept, before):
                return _Term(operand.stated.amount, f"{{{at}}}")
        stated = self._lookup(concept, before)
        if stated is None:
            return None
        self.operands.append(Operand(concept, stated, before))
        return _Term(stated.amount, f"{{{len(self.operands) - 1}}}")

    def _pair(self, node: ast.BinOp, *, before: bool) -> _Term | None:
        left = self.term(node.left, before=before)
        right = self.term(node.right, before=before) if left else None
        if left is None or right is None:
            return None
        kind = type(node.op)
        if not left.text or not right.text:  # an optional part that is not stated
            return left if left.text or not right.text else right
        value = {
            ast.Add: Decimal.__add__,
            ast.Sub: Decimal.__sub__,
            ast.Mult: Decimal.__mul__,
            ast.Div: Decimal.__truediv__,
        }[kind](left.value, right.value)
        rank = _RANKS[kind]
        one = f"({left.text})" if left.rank < rank else left.text
        closed = right.rank < rank or (right.rank == rank and kind in (ast.Sub, ast.Div))
        other = f"({right.text})" if closed else right.text
        return _Term(value, f"{one} {_SIGNS[kind]} {other}", rank)

    def _call(self, name: str, args: list[ast.expr], *, before: bool) -> _Term | None:
        if name == "balance":
            return self._balance(args[0], before=before)
        for one in args:
            kept, absent = list(self.operands), list(self.absent)
            term = self.term(one, before=before)
            if term is not None and term.text:
                return term
            self.operands, self.absent = kept, absent
        if name == "optional":
            self.absent += [node.id for node in ast.walk(args[0]) if isinstance(node, ast.Name)]
            return _Term(Decimal(0), "")
        return None

    def _balance(self, node: ast.expr, *, before: bool) -> _Term | None:
        closing = self.term(node, before=before)
        if self._balances == "closing" or closing is None:
            return closing
        opening = self.term(node, before=True)
        if opening is None:
            return None
        return _Term((closing.value + opening.value) / 2, f"(({closing.text} + {opening.text}) / 2)")
