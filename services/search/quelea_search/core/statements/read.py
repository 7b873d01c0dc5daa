"""Rows of printed statements to facts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import cache

from quelea_fintext.concepts import concept_of_label, concepts
from quelea_fintext.languages import LANGUAGES

from quelea_search.core.layout.rows import is_number
from quelea_search.core.layout.text_cleanup import glue
from quelea_search.core.model import DocumentFacts, ParsedDocument
from quelea_search.core.statements import identities
from quelea_search.core.statements.amounts import Units, amount, units_of
from quelea_search.core.statements.breakdowns import read_breakdowns
from quelea_search.core.statements.columns import Calendar, Column, columns, has_other_columns, is_head
from quelea_search.core.statements.model import Fact, FactPeriod
from quelea_search.core.statements.places import figures_by_column, places_by_page
from quelea_search.core.statements.printed_tables import Cell, PrintedStatement, Row, numbers, statements
from quelea_search.core.statements.quarters import read_quarters
from quelea_search.core.statements.tagged import with_tags

_HEADS = 5
_MOST_COLUMNS = 60
_LONGEST = 40
"""Characters of a printed amount."""
_PER_SHARE = "per_share"
_SHARES = "shares"
_TAX = "income_tax"


@cache
def _said(key: str) -> re.Pattern[str]:
    return re.compile(LANGUAGES.alternatives(f"statements.{key}"), re.IGNORECASE)


def read_statements(parsed: ParsedDocument, facts: DocumentFacts) -> list[Fact]:
    """The facts of a document: of its primary statements, its quarters and parts, and every figure that it tags.

    Each has the identities that it passed or failed.
    A row whose figures cannot be told to their columns is left out: a wrong figure is worse than none.
    """
    calendar = Calendar(facts.period, "\n".join(page.text for page in parsed.pages))
    largest: dict[tuple[str, str], list[Fact]] = {}
    for statement in statements(parsed.pages):
        found = _read(statement, calendar, facts.language)
        before = largest.get((statement.kind, statement.basis), [])
        # Others are summaries of it, or show what an accounting change did to an earlier one.
        if _rank(found, calendar) > _rank(before, calendar):
            largest[statement.kind, statement.basis] = found
    read = [fact for found in largest.values() for fact in found]
    checked = identities.check(with_tags(read, parsed.tagged, parsed.pages))
    quarters = read_quarters(parsed.pages, calendar, facts.language, checked)
    return [*checked, *quarters, *read_breakdowns(parsed.pages, calendar, facts.language)]


def _rank(found: Sequence[Fact], calendar: Calendar) -> tuple[bool, int]:
    return any(fact.period.end == calendar.end for fact in found), len(found)


def _read(statement: PrintedStatement, calendar: Calendar, language: str) -> list[Fact]:
    rows = list(statement.rows)
    heads, body = _split(rows)
    heads_text = [[cell.text for cell in row.cells] for row in heads]
    count = _count(body, heads_text)
    if not 0 < count <= _MOST_COLUMNS or any(len(cells) > _MOST_COLUMNS for cells in heads_text):
        return []
    instant = statement.kind == "balance"
    if statement.kind == "equity":
        return []
    if any(has_other_columns(cells) for cells in heads_text):
        return []
    found = columns(heads_text, statement.above, count, instant=instant, calendar=calendar)
    if found is None and _says("columns.notes", " ".join(text for cells in heads_text for text in cells)):
        count -= 1  # the first numbers are those of notes
        found = columns(heads_text, statement.above, count, instant=instant, calendar=calendar) if count else None
    if found is None or len(set(found)) < count:
        return []
    units = units_of([*statement.above, *(" ".join(cells) for cells in heads_text)], language)
    return _in_sense(list(_facts(statement, body, found, units)))


def _in_sense(facts: Sequence[Fact]) -> list[Fact]:
    """What is paid as a positive amount, however the statement prints it.

    A cash flow statement prints all payments in brackets or none; in others a line that is never positive is one that
    is printed as a deduction. Whether tax is, the sum says.
    """
    of_concept: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.concept and (concepts()[fact.concept].paid or fact.concept == _TAX):
            of_concept[fact.concept].append(fact)
    tax = of_concept.pop(_TAX, [])
    groups = list(of_concept.values())
    if facts and facts[0].statement == "cash_flow":
        turned = {
            id(fact) for group in groups for fact in group if any(one.value < 0 for some in groups for one in some)
        }
    else:
        turned = {id(fact) for group in groups for fact in group if all(one.value <= 0 for one in group)}
    turned |= {id(fact) for fact in tax if _is_deducted(fact, facts)}
    return [replace(fact, value=-fact.value) if id(fact) in turned else fact for fact in facts]


def _is_deducted(tax: Fact, facts: Sequence[Fact]) -> bool:
    """Whether tax is printed with the sign with which it goes into net income."""
    same = {fact.concept: fact.value for fact in reversed(facts) if fact.period == tax.period}
    before, after = same.get("pretax_income"), same.get("net_income_total", same.get("net_income"))
    return before is not None and after is not None and tax.value != 0 and before + tax.value == after


def _split(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Head and body."""
    heads: list[Row] = []
    at = 0
    while at < len(rows) and at < _HEADS and (rows[at].is_head or is_head([cell.text for cell in rows[at].cells])):
        heads.append(rows[at])
        at += 1
    return heads, [row for row in rows[at:] if not row.is_head and not is_head([cell.text for cell in row.cells])]


def _count(body: Sequence[Row], heads: Sequence[Sequence[str]]) -> int:
    """How many columns of figures the table has: as most rows."""
    counts = Counter(len(numbers(row)) for row in body if numbers(row))
    return counts.most_common(1)[0][0] if counts else 0


def _says(key: str, text: str) -> bool:
    return _said(key).search(text) is not None


def _facts(statement: PrintedStatement, body: Sequence[Row], found: Sequence[Column], units: Units) -> Iterator[Fact]:
    group, places = "", places_by_page(body, len(found))
    for row, following in zip(body, [*body[1:], None], strict=True):
        label = _whole_label(row, following, statement.kind)
        cells = figures_by_column(row, len(found), places.get(row.page))
        if cells is None:
            if not numbers(row) and not is_number(label) and _says("rows.heading", label):
                group = label
            continue
        if is_number(label):
            continue
        printed = [cell for cell in cells if cell is not None]
        kind = "" if statement.kind == "balance" else _kind_of_row(label, group, printed)
        for cell, column in zip(cells, found, strict=True):
            if cell is None:
                continue
            fact = _fact(statement, label, group, kind, cell, column, units, row.page)
            if fact is not None:
                yield fact


def _whole_label(row: Row, following: Row | None, kind: str) -> str:
    """The label of a row, with its last words where those were printed under its figures."""
    label = row.cells[0].text
    if following is None or len(following.cells) > 1 or not numbers(row) or concept_of_label(label, kind):
        return label
    whole = glue(label, following.cells[0].text)
    return whole if concept_of_label(whole, kind) else label


def _kind_of_row(label: str, group: str, cells: Sequence[Cell]) -> str:
    """ "per_share", "shares" or empty: by its own words, else by its group's.

    "Shares used in computing net income per share" speaks of both: amounts per share have decimals.
    """
    for text in (label, group):
        kinds = [kind for kind in (_PER_SHARE, _SHARES) if _says(f"units.{kind}", text)]
        if len(kinds) == 2:
            return _PER_SHARE if any("." in cell.text for cell in cells) else _SHARES
        if kinds:
            return kinds[0]
    return ""


def _fact(
    statement: PrintedStatement,
    label: str,
    group: str,
    kind: str,
    cell: Cell,
    column: Column,
    units: Units,
    page: int,
) -> Fact | None:
    number = amount(cell.text) if len(cell.text) <= _LONGEST else None
    if number is None:
        return None
    if "%" in cell.text or "％" in cell.text:
        return None
    scale = {_PER_SHARE: Decimal(1), _SHARES: units.share_scale}.get(kind, units.scale)
    unit = {_PER_SHARE: f"{units.currency}/share", _SHARES: "shares"}.get(kind, units.currency)
    concept = concept_of_label(label, "", kind) if statement.kind != "cash_flow" else None
    concept = concept_of_label(label, statement.kind, kind) or (
        concept if concept and statement.kind == "comprehensive_income" and concept.statement == "income" else None
    )
    return Fact(
        statement=statement.kind,
        label=label,
        concept=concept.id if concept else "",
        value=number * scale,
        unit=unit,
        period=_period(statement.kind, label, column),
        printed=cell.text,
        page=page,
        start=cell.start,
        end=cell.end,
        group=group,
        basis=statement.basis,
    )


def _period(kind: str, label: str, column: Column) -> FactPeriod:
    if kind == "cash_flow" and column.start is not None:
        if _says("rows.opening", label):
            return FactPeriod(column.start - timedelta(days=1))
        if _says("rows.closing", label):
            return FactPeriod(column.end)
    return FactPeriod(column.end, column.start)
