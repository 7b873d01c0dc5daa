"""The four quarters of a year, as an annual report sums them up in one table ("分季度主要财务指标").

CSRC's rules on annual reports (公开发行证券的公司信息披露内容与格式准则第2号) ask for it: revenue, net income, net
income less one-off items, and operating cash flow, one column a quarter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache

from quelea_fintext.concepts import Concept, concept_of_label
from quelea_fintext.dates import months_later
from quelea_fintext.languages import LANGUAGES

from quelea_search.core.layout.rows import is_number, is_units
from quelea_search.core.layout.text_cleanup import glue
from quelea_search.core.model import LineKind, Page
from quelea_search.core.statements.amounts import amount, units_of
from quelea_search.core.statements.columns import Calendar
from quelea_search.core.statements.model import Fact, FactPeriod
from quelea_search.core.statements.printed_tables import Row, row_of

QUARTERS_ADD_UP = "year = four quarters"
"""The identity that its rows must keep with the year's own figure."""
_QUARTERS, _MONTHS = 4, 3
_LINES_ABOVE = 3
_LONGEST_HEAD = 40


@cache
def _heads() -> tuple[re.Pattern[str], ...]:
    names = (f"statements.quarters.{name}" for name in ("first", "second", "third", "fourth"))
    return tuple(re.compile(LANGUAGES.alternatives(name), re.IGNORECASE) for name in names)


def read_quarters(pages: Sequence[Page], calendar: Calendar, language: str, year: Sequence[Fact]) -> list[Fact]:
    """The figures of each quarter, of lines that are concepts.

    Args:
        pages: Of an annual report; others have no such table.
        calendar: Of the filer.
        language: "zh" or "en".
        year: Facts of its statements: four quarters that do not add up to the year's are marked as failed.
    """
    if calendar.end is None or not calendar.is_annual:
        return []
    sums = {one.concept: one for one in year if one.basis == "consolidated" and one.period.end == calendar.end}
    found: dict[str, list[Fact]] = {}
    for row, label, above in _rows(pages):
        concept = concept_of_label(label)
        if concept is None or concept.statement == "balance" or concept.id in found:
            continue
        facts = _facts(row, label, concept, above, calendar, language)
        found[concept.id] = [_checked(one, facts, sums.get(concept.id)) for one in facts]
    return [fact for facts in found.values() for fact in facts]


def _rows(pages: Sequence[Page]) -> Iterator[tuple[Row, str, Sequence[str]]]:
    """Rows under a head of four quarters, each with its whole label and the lines above that head."""
    for number, page in enumerate(pages, start=1):
        above: list[str] = []
        is_below, broken = False, ""
        for line in page.lines:
            text = page.text[line.start : line.end]
            row = row_of(page, line, number) if line.kind in (LineKind.ROW, LineKind.HEAD) else None
            if row and _names_quarters(row):
                is_below, broken = True, ""
            elif row and is_below and len(row.cells) == _QUARTERS + 1 and all(map(is_number, _figures(row))):
                yield row, _label(broken, row.cells[0].text), tuple(above)
                broken = ""
            elif is_below and not broken and len(text) <= _LONGEST_HEAD and not (row and len(row.cells) > 1):
                broken = text
            else:
                is_below, broken = False, ""
                above = [*above, text][-_LINES_ABOVE:]


def _figures(row: Row) -> list[str]:
    return [cell.text for cell in row.cells[1:]]


def _label(before: str, own: str) -> str:
    """A label whose first words a narrow column has put on a line of their own."""
    whole = glue(before, own) if before else own
    return whole if concept_of_label(whole) else own


def _names_quarters(row: Row) -> bool:
    cells = [cell.text for cell in row.cells[-_QUARTERS:]]
    return (
        _QUARTERS <= len(row.cells) <= _QUARTERS + 1
        and all(len(cell) <= _LONGEST_HEAD for cell in cells)
        and all(pattern.match(cell) for pattern, cell in zip(_heads(), cells, strict=False))
    )


def _facts(
    row: Row, label: str, concept: Concept, above: Sequence[str], calendar: Calendar, language: str
) -> list[Fact]:
    units = units_of([line for line in above if is_units(line)], language)
    facts = []
    for place, cell in enumerate(row.cells[1:], start=1):
        number = amount(cell.text)
        end = months_later(calendar.end, _MONTHS * (place - _QUARTERS)) if calendar.end else None
        if number is None or end is None:
            return []
        facts.append(
            Fact(
                statement=concept.statement,
                label=label,
                concept=concept.id,
                value=number * units.scale,
                unit=units.currency,
                period=FactPeriod(end, calendar.first_day(end, _MONTHS)),
                printed=cell.text,
                page=row.page,
                start=cell.start,
                end=cell.end,
            )
        )
    return facts


def _checked(one: Fact, quarters: Sequence[Fact], year: Fact | None) -> Fact:
    """With the identity: lost signs and quarters that were restated since break it."""
    if year is None or len(quarters) < _QUARTERS or year.unit != one.unit:
        return one
    rounding = _QUARTERS * Decimal(10) ** max(_exponent(fact) for fact in (*quarters, year))
    if abs(sum(fact.value for fact in quarters) - year.value) <= rounding:
        return replace(one, passed=(QUARTERS_ADD_UP,))
    return replace(one, failed=(QUARTERS_ADD_UP,))


def _exponent(fact: Fact) -> int:
    """Of the last printed digit, in whole units of the value."""
    printed = amount(fact.printed)
    if not printed:
        return 0
    return int(printed.as_tuple().exponent) + (fact.value / printed).adjusted()
