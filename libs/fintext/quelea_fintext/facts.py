"""Figures of financial statements, as the services that read, find and write them hand them on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from quelea_fintext.dates import parse_iso

Operand = TypeVar("Operand")
"""A fact in a figure, with what a service knows of the passage that prints it."""
_MONTH_DAYS = 30.44


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure as a document states it; quelea.common.v1.Fact says what the fields are."""

    statement: str
    label: str
    concept: str
    value: str
    unit: str
    period_start: str
    period_end: str
    printed: str
    start: int
    end: int
    group: str = ""
    basis: str = ""
    source: str = ""
    tag: str = ""
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    column: str = ""

    @property
    def months(self) -> int:
        """How long its period is; 0 of an instant."""
        first, last = parse_iso(self.period_start), parse_iso(self.period_end)
        return round(((last - first).days + 1) / _MONTH_DAYS) if first and last else 0


@dataclass(frozen=True)
class StatedFigure(Generic[Operand]):
    """A figure that a question asks for, of its operands; quelea.common.v1.Figure says what the fields are."""

    company: str
    value: str
    unit: str
    period_start: str
    period_end: str
    operands: tuple[Operand, ...]
    metric: str = ""
    formula: str = ""
    formula_before: str = ""
    fiscal_year: int = 0
    asked_year: int = 0
    absent: tuple[str, ...] = ()
    growth: str = ""
    later: str = ""
    earlier: str = ""
    of: str = ""


FACT_FIELDS = tuple(field.name for field in dataclasses.fields(Fact))
"""In the order in which facts are stored: a new field goes to the end."""
FIGURE_FIELDS = tuple(
    field.name for field in dataclasses.fields(StatedFigure) if field.name not in ("operands", "absent")
)
"""Those that hold one value."""


def fact_fields(stated: object) -> dict[str, Any]:
    """The fields of a fact, read off what has them under the same names, such as a message of the wire."""
    read: dict[str, Any] = {name: getattr(stated, name) for name in FACT_FIELDS}
    return read | {"passed": tuple(read["passed"]), "failed": tuple(read["failed"])}
