"""Answers that are computed: only where company, period, rows and unit are certain, and only what the question asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import product

from quelea_fintext.text import normalise

from quelea_generator.core.extractive.computing.computations import (
    Computation,
    find_computations,
    is_rate,
    later_and_months,
    margin_of_part,
)
from quelea_generator.core.extractive.computing.operands import (
    Operand,
    earlier_cell,
    find_item,
    find_operands,
    only_choice,
    parse_value,
)
from quelea_generator.core.extractive.computing.statements import HUNDRED, Statement
from quelea_generator.core.extractive.question import Query
from quelea_generator.core.extractive.scoring import Candidate
from quelea_generator.core.model import Task

_ROWS_TRIED = 8
_AS_GOOD = 0.3


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """A computed answer: its lines, and the rows behind them in the order of their markers."""

    lines: tuple[str, ...]
    rows: tuple[Candidate, ...]
    is_stated: bool = False
    """Nothing was computed: the row itself has what was asked for."""


def compute_answer(task: Task, query: Query) -> ComputedAnswer | None:
    """The computed answer to a question that asks for one; None for any other, and where anything is uncertain."""
    if query.reason or query.breakdown or task.evidence_incomplete:
        return None
    said = Statement(query.language)
    margin = margin_of_part(task.question, query)
    for one in (*([margin] if margin else ()), *find_computations(normalise(task.question).strip())):
        found = _change(task, query, one, said) if one.kind == "change" else _of_rows(task, query, one, said)
        if found:
            return found
    return None


def _change(task: Task, query: Query, one: Computation, said: Statement) -> ComputedAnswer | None:
    timed = later_and_months(query, task.question, one.months)
    if timed is None:
        return None
    later, months = timed
    found = [row for row in find_operands(task, later, one.operands[0]) if earlier_cell(row.row, row.cell, months)]
    if is_rate(normalise(task.question)):
        found = [row for row in found if row.cell.percent]  # the change of a margin in percent is not the profit's
    operand = only_choice(found)
    earlier = earlier_cell(operand.row, operand.cell, months) if operand else None
    if operand is None or earlier is None:
        return None
    new, old = operand.cell.value, earlier.value
    stated = ""
    if old > 0 and new >= 0 and new != old:
        # Another row of the same figures may have the percentage beside them: then the filing's own is quoted.
        for other in (operand, *found):
            before = earlier_cell(other.row, other.cell, months)
            if other.cell.value == new and before and before.value == old:
                stated = _printed_growth(other, (new - old) / old * HUNDRED)
                if stated:
                    operand, earlier = other, before
                    break
    # From nothing or from a loss, and into one, there is a change but no rate of growth.
    line = said.change(operand, earlier, growth=old > 0 and new >= 0, stated=stated, only_stated=query.percent)
    return ComputedAnswer((line,), (operand.row,), is_stated=bool(stated) and query.percent)


def _printed_growth(operand: Operand, growth: Decimal) -> str:
    """The percentage of the row that is this growth, rounded as it is printed; empty when the row has none."""
    if operand.cell.percent:
        return ""
    row = operand.row.span.row
    for text, cell in zip(row.cells if row else (), _values(operand.row), strict=True):
        if (
            cell
            and cell[1]
            and growth.quantize(Decimal(1).scaleb(int(cell[0].as_tuple().exponent)), ROUND_HALF_UP) == cell[0]
        ):
            return text
    return ""


def _values(row: Candidate) -> list[tuple[Decimal, bool] | None]:
    return [parse_value(text) for text in row.span.row.cells] if row.span.row else []


def _of_rows(task: Task, query: Query, one: Computation, said: Statement) -> ComputedAnswer | None:
    items = [find_item(task, phrase) for phrase in one.operands]
    shared = next((item for item in reversed(items) if item), "")  # "iPhone and Mac net sales": those of both
    phrases = [phrase if item else f"{phrase} {shared}" for phrase, item in zip(one.operands, items, strict=True)]
    found = [find_operands(task, query, phrase)[:_ROWS_TRIED] for phrase in phrases]
    chosen = _of_one_table(found, is_share=one.kind == "share")
    if chosen is None:
        return None
    rows = tuple(operand.row for operand in chosen)
    if one.kind == "sum":
        return ComputedAnswer((said.total(chosen),), rows)
    if one.kind == "difference":
        return ComputedAnswer((said.difference(*chosen),), rows)
    if one.kind == "ratio":
        return ComputedAnswer((said.ratio(*chosen),), rows)
    before = _before(chosen, one.months) if one.months else None
    if one.months and before is None:
        return None
    return ComputedAnswer(tuple(said.share(*some) for some in (chosen, before) if some), rows)


def _before(operands: Sequence[Operand], months: int) -> list[Operand] | None:
    """The same rows so many months before; None where one of them has no figure of that time."""
    found = []
    for one in operands:
        cell = earlier_cell(one.row, one.cell, months)
        if cell is None or cell.percent:
            return None
        found.append(replace(one, cell=cell))
    return found if found[-1].cell.value > 0 else None


def _of_one_table(found: Sequence[Sequence[Operand]], *, is_share: bool) -> list[Operand] | None:
    """One row for each operand, all of one table, unit and column; None where another choice is as good."""
    choices: list[tuple[float, list[Operand]]] = []
    for some in product(*found):
        if len({operand.table for operand in some}) > 1 or len({operand.row.span for operand in some}) < len(some):
            continue
        last = some[-1].cell.value
        if any(operand.cell.percent for operand in some):
            continue
        if is_share and not (last > 0 and abs(some[0].cell.value) <= last):
            continue
        if last or not is_share:
            choices.append((sum(operand.worth for operand in some), list(some)))
    if not choices:
        return None
    choices.sort(key=lambda choice: -choice[0])
    best, chosen = choices[0]
    values = [operand.cell.value for operand in chosen]
    rivals = [some for score, some in choices[1:] if best - score < _AS_GOOD]
    return None if any([operand.cell.value for operand in some] != values for some in rivals) else chosen
