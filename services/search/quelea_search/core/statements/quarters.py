"""The four quarters of a year, as an annual report sums them up in one table ("分季度主要财务指标").

CSRC's rules on annual reports (公开发行证券的公司信息披露内容与格式准则第2号) ask for it: revenue, net income, net
income less one-off items, and operating cash flow, one column a quarter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
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
_YEARS = re.compile(r"((?:19|20)\d\d)\s*年")
_LAST_MONTH = re.compile(r"[-–—~～至到]\s*(\d{1,2})\s*月")


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
        year: Facts of its statements: four quarters that do not add up to the year's are marked as failed. Quarters
            over which no line says the unit are kept only where they add up.
    """
    if calendar.end is None or not calendar.is_annual:
        return []
    sums = {one.concept: one for one in year if one.basis == "consolidated" and one.period.end == calendar.end}
    found: dict[str, list[Fact]] = {}
    for row, label, head, above in _rows(pages):
        concept = concept_of_label(label)
        if concept is None or concept.statement == "balance" or concept.unit or concept.id in found:
            continue  # amounts for each share do not add up, and have no scale
        if not _is_of(head, above, calendar.end):
            continue
        units = [line for line in above if is_units(line)][-1:]
        facts = _facts(row, label, concept, units, calendar, language)
        checked = [_checked(one, facts, sums.get(concept.id)) for one in facts]
        if checked and (units or all(one.passed for one in checked)):
            found[concept.id] = checked
    return [fact for facts in found.values() for fact in facts]


def _is_of(head: Row, above: Sequence[str], end: date) -> bool:
    """Whether these are the quarters of the year that ends then: no line above names only others, no month differs."""
    years = {int(year) for line in above if len(line) <= _LONGEST_HEAD for year in _YEARS.findall(line)}
    month = _LAST_MONTH.search(head.cells[-1].text)
    return (not years or end.year in years) and (month is None or int(month[1]) == end.month)


def _rows(pages: Sequence[Page]) -> Iterator[tuple[Row, str, Row, Sequence[str]]]:
    """Rows under a head of four quarters, each with its whole label, that head and the lines above it."""
    for number, page in enumerate(pages, start=1):
        above: list[str] = []
        head: Row | None = None
        broken = ""
        for line in page.lines:
            text = page.text[line.start : line.end]
            row = row_of(page, line, number) if line.kind in (LineKind.ROW, LineKind.HEAD) else None
            if row and _names_quarters(row):
                head, broken = row, ""
            elif row and head and len(row.cells) == _QUARTERS + 1 and all(map(is_number, _figures(row))):
                yield row, _label(broken, row.cells[0].text), head, tuple(above)
                broken = ""
            elif head and not broken and len(text) <= _LONGEST_HEAD and not (row and len(row.cells) > 1):
                broken = text
            else:
                above = [*above, text] if head is None else [broken, text]  # not what is said of the table before
                above = above[-_LINES_ABOVE:]
                head, broken = None, ""


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
    row: Row, label: str, concept: Concept, stated: Sequence[str], calendar: Calendar, language: str
) -> list[Fact]:
    units = units_of(stated, language)
    facts = []
    for place, cell in enumerate(row.cells[1:], start=1):
        number = None if "%" in cell.text else amount(cell.text)
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
