"""Value and unit of a figure of a part: by the cell, its head, the row's column of units, the lines over the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from quelea_fintext.concepts import concept_of_label

from quelea_search.core.statements.amounts import units_of
from quelea_search.core.statements.part_words import metric_named, said, whole_of

_CURRENCY = re.compile("元$")
_AS_RATE = re.compile("(?:比例|幅度|率)$")


@dataclass(frozen=True, slots=True)
class Told:
    """What a column tells of a part."""

    name: str
    """"营业收入", of its change too."""
    head: str
    """The whole head of the column, with its unit."""
    unit: str
    """Of the row, else of the head; empty where neither says one."""
    is_change: bool


def in_unit(number: Decimal, text: str, told: Told, stated: Sequence[str], language: str) -> tuple[Decimal, str] | None:
    """Exact value and unit; None where nothing says which it is.

    Args:
        number: As printed.
        text: The cell.
        told: What it tells.
        stated: The lines of units over the table, the one that counts first.
        language: "zh" or "en".
    """
    concept = concept_of_label(told.name)
    is_percent = any(sign in f"{text} {told.unit} {told.head}" for sign in "%％")
    if told.is_change and not is_percent and not _AS_RATE.search(told.head):
        return _in_currency(number, [told.unit], language) if _CURRENCY.search(told.unit) else None
    if told.is_change or whole_of(told.name):
        return number, "percent"
    if concept is None:
        return _of_no_line(number, told, stated, language, is_percent=is_percent)
    if is_percent or concept.unit:  # a share of it, or for each share
        return None
    lines = [told.unit] if _CURRENCY.search(told.unit) else stated
    return _in_currency(number, lines, language) if lines else None  # else of yuan or of ten thousand yuan


def _of_no_line(
    number: Decimal, told: Told, stated: Sequence[str], language: str, *, is_percent: bool
) -> tuple[Decimal, str] | None:
    """Of a metric, or of what is counted or weighed: 产量 without a unit may be of pieces or of tonnes."""
    metric = metric_named(told.name)
    if metric and metric.unit in ("money", "per_share"):
        return None
    if is_percent:
        return number, "percent"
    if metric:
        return number, metric.unit
    if _AS_RATE.search(told.name):
        return number, "percent"
    if said("of_money").search(told.name):
        return _in_currency(number, [told.unit], language) if _CURRENCY.search(told.unit) else None
    counted = [found["unit"] for line in stated[:1] if (found := said("counted").search(line))]
    unit = told.unit or "".join(counted)
    return (number, unit) if unit and not _CURRENCY.search(unit) else None


def _in_currency(number: Decimal, stated: Sequence[str], language: str) -> tuple[Decimal, str]:
    units = units_of(stated[:1], language)
    return number * units.scale, units.currency
