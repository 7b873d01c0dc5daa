"""The figures that a computation is made of: cells of one row, or rows of one table, that are surely what is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from quelea_fintext.dates import find_dates
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.line_items import generic_terms
from quelea_fintext.text import terms

from quelea_generator.core.extractive.matching import OTHER_ITEMS, names_item
from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.extractive.scoring import Candidate, score_candidates
from quelea_generator.core.extractive.selection import is_of_a_part, is_primary, rank_by_period
from quelea_generator.core.extractive.subjects import find_subjects, is_about
from quelea_generator.core.extractive.table_heads import (
    Column,
    choose_column,
    head_of,
    is_labelled,
    is_own,
    match_columns,
    read_scale,
)
from quelea_generator.core.model import Evidence, Task

_CELL = re.compile(
    r"(?P<open>[(（])?\s{0,8}+(?:US|HK|RMB)?[$€£¥￥]?\s{0,8}+(?P<open2>[(（])?\s{0,8}+(?P<minus>[-−–])?\s{0,8}+(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"\s{0,8}+[)）]?\s{0,8}+(?P<percent>[%％])?\s{0,8}+[)）]?\*?"
)
_OF_COMPANIES = frozenset(LANGUAGES.words("questions.of_companies"))
"""Words that say what kind of thing a name is: the "segment" of "the Services segment"."""
_MONTHS = frozenset("januari februari march april may june juli august septemb octob novemb decemb".split())
_FISCAL = LANGUAGES.pattern("passages.fiscal")
_OWN, _HEADED, _TITLED = 0.7, 0.6, 0.45
"""How well a row has a word: in its label; there or in the heading above it; or in its table's title."""
_EXPLAINED = 0.7
"""Least part of a row's label that the question's words explain."""
_PRIMARY = 0.5
_TELLING = frozenset({"current", "financi", "annual"})
"""Words of asking that are also parts of an item's name: then the label has to have them."""
_AS_GOOD = 0.3
"""Rows whose scores lie so near one another are equally good: where their figures differ it is not certain."""
_DAYS = 20
_MONTH = 365.25 / 12
_NOW, _BEFORE = ("本", "期末"), ("上", "期初")


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a row with its column's head."""

    text: str
    value: Decimal
    percent: bool
    column: Column


@dataclass(frozen=True, slots=True)
class Operand:
    """A row with the cell that is computed with."""

    row: Candidate
    cell: Cell
    units: str

    @property
    def worth(self) -> float:
        """How surely this is the row that is meant: the statements themselves come before notes and reconciliations."""
        primary = is_primary(self.row.evidence)
        return self.row.score + _PRIMARY * primary - _PRIMARY * (self.cell.value < 0)

    @property
    def table(self) -> tuple[object, ...]:
        """What two rows of one table have in common: filing, section, title, units, column."""
        item = self.row.evidence
        return item.filing, item.header, self.cell.column, self.units, self.cell.percent


def parse_value(cell: str) -> tuple[Decimal, bool] | None:
    """(value, is a percentage) of a cell as printed; brackets are a minus. None when it is no plain figure."""
    match = _CELL.fullmatch(cell.strip())
    if match is None:
        return None
    value = Decimal(match["number"].replace(",", ""))
    negative = match["open"] or match["open2"] or match["minus"]
    return (-value if negative else value), bool(match["percent"])


def read_cells(row: Candidate) -> list[Cell | None]:
    """The row's cells; None for one without a figure or without a head."""
    parsed = row.span.row
    if parsed is None:
        return []
    heads = match_columns(head_of(row.evidence, row.span), parsed.cells)
    found: list[Cell | None] = []
    for text, head in zip(parsed.cells, heads, strict=True):
        value = parse_value(text)
        found.append(Cell(text, *value, head) if value and head else None)
    return found


def choose_cell(query: Query, row: Candidate) -> Cell | None:
    """The cell of the period that is asked for, where that is certain."""
    found = read_cells(row)
    index = choose_column(query, row.evidence, [cell.column if cell else None for cell in found])
    return None if index is None else found[index]


def earlier_cell(row: Candidate, later: Cell, months: int) -> Cell | None:
    """The one cell of the same kind of period that ends so many months before; None when it is not certain.

    Months 0: a year before; of figures at a day, the only other one.
    """
    others = [
        cell
        for cell in read_cells(row)
        if cell and cell.column != later.column and not cell.column.is_change
        and cell.column.months == later.column.months and cell.percent == later.percent
    ]  # fmt: skip
    end = _day(later.column)
    if end:
        earlier = [(end - day).days for cell in others if (day := _day(cell.column))]
        if months or later.column.months:
            apart = (months or 12) * _MONTH
            fitting = [c for c in others if (d := _day(c.column)) and abs((end - d).days - apart) <= _DAYS]
        else:
            fitting = others if len(earlier) == len(others) and min(earlier, default=0) > 0 else []
    elif later.column.year:
        fitting = [c for c in others if (later.column.year - c.column.year) * 12 == (months or 12)]
    else:
        fitting = [c for c in others if later.column.text.startswith(_NOW) and c.column.text.startswith(_BEFORE)]
    return fitting[0] if len(fitting) == 1 else None


def _day(column: Column) -> date | None:
    days = [match.day for match in find_dates(column.text)]
    return days[0] if len(days) == 1 else None


def find_operands(task: Task, query: Query, phrase: str) -> list[Operand]:
    """The rows that are what a phrase of the question names, with the cell of the period asked for, best first.

    Every word of the phrase has to stand in the row's label, in the heading above it or, a financial item, in its
    table's title; and nothing else of weight in the label.
    """
    fiscal = _FISCAL.search(task.question) is not None
    evidence = tuple(item for item in passages_of_period(query, task.evidence, fiscal=fiscal) if item.is_table)
    if not evidence:
        return []
    own = read_question(replace(task, question=phrase, evidence=evidence))
    own = replace(
        own, years=query.years, quarter=query.quarter, months=query.months, days=query.days,
        reason=False, yes_no=False, amount=True, compares=False, breakdown=False,
    )  # fmt: skip
    has_item = any(unit.others for unit in own.facets)
    ignored = _OF_COMPANIES | _MONTHS | (generic_terms() if has_item else frozenset())
    wanted = [at for at, unit in enumerate(own.facets) if unit.others or not ignored.issuperset(unit.own)]
    if not any(own.facets[at].weight == 1 for at in wanted):
        return []
    telling = _TELLING & own.words
    subjects = find_subjects(task.question, task.evidence)
    ranked = [one for one in score_candidates(own, evidence) if _is_meant(own, one, wanted, telling)]
    if subjects:
        ranked = [one for one in ranked if is_about(subjects, one, figure=True)]
    # The filings are of the period that is asked for: it is their own period that is looked for in the heads.
    ended = query if query.days else replace(query, years=frozenset())
    found = []
    for row in rank_by_period(own, ranked):
        cell = choose_cell(ended, row)
        if cell:
            found.append(Operand(row, cell, "" if cell.percent else read_scale(row.evidence, row.span)))
    found.sort(key=lambda one: -one.worth)
    return found


def find_item(task: Task, phrase: str) -> str:
    """The words of a phrase that name a financial item: the "net sales" of "Mac net sales"; empty where it has none."""
    facets = read_question(replace(task, question=phrase, evidence=())).facets
    return next((" ".join(facet.own) for facet in facets if facet.others), "")


def _is_meant(own: Query, row: Candidate, wanted: Iterable[int], telling: frozenset[str]) -> bool:
    parsed = row.span.row
    if parsed is None or row.features.get("precision", 0.0) < _EXPLAINED or is_of_a_part(own, row):
        return False
    if OTHER_ITEMS.match(parsed.label) and not own.other:
        return False
    if telling and not telling <= set(terms(parsed.label)):
        return False
    labelled = False
    for at in wanted:
        labelled = labelled or row.matched[at] >= _OWN
        if row.reached[at] < (_TITLED if own.facets[at].others else _HEADED):
            return False
    heading = row.span.above.rsplit("\n", 1)[-1]
    items = [at for at in wanted if own.facets[at].others]
    if not items or any(_TITLED <= row.reached[at] < _HEADED for at in items):
        return labelled and not names_item(heading)  # the client segment of "Operating income:" is not its revenue
    return labelled


def only_choice(found: Sequence[Operand]) -> Operand | None:
    """The best row, when no other is as good and says something else."""
    if not found:
        return None
    best = found[0]
    rivals = [one for one in found[1:] if best.worth - one.worth < _AS_GOOD]
    return None if any(abs(one.cell.value) != abs(best.cell.value) for one in rivals) else best


def passages_of_period(query: Query, evidence: Sequence[Evidence], *, fiscal: bool = False) -> list[Evidence]:
    """The passages of the filings whose period is the one asked for.

    A quarter may be meant by the filer's fiscal calendar or by the year's: where the passages have filings of both
    readings, and the question does not say `fiscal`, it is not certain, and there are none. Where no period is asked
    for, those of the only filing, or of the newest one where that is asked for.
    """
    if query.days:
        wanted = {day.isoformat() for day in query.days}
        return [item for item in evidence if item.period_end in wanted]
    if not (query.years or query.quarter):
        ends = sorted({item.period_end for item in evidence if item.is_table})
        only = ends and (len(ends) == 1 or query.latest)
        return [item for item in evidence if item.period_end == ends[-1]] if only else []
    labelled = [item for item in evidence if is_labelled(query, item)]
    by_year = [item for item in evidence if item not in labelled and is_own(query, item)]
    if labelled and by_year and not fiscal:
        return []
    unnamed = [] if query.quarter else [i for i in evidence if not i.period_end and not i.period_label]
    return labelled or by_year or unnamed
