"""financials: figures of the stored statements as data, each with the place that prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from quelea_kit.errors import NotFound

from quelea_gateway.core.agent.action import Known, text_schema
from quelea_gateway.core.agent.decision.parsing import Misfit, string, strings
from quelea_gateway.core.agent.decision.token_budget import defuse
from quelea_gateway.core.agent.lookup_actions import LookupAction, Noted, noting, within
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.ports import Statements
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work
from quelea_gateway.core.statements.statement_grid import DEFAULT_YEARS, MOST_YEARS, STATEMENTS, Figure, StatementQuery

_COMPANY, _NAME, _MOST_NAMES = 200, 120, 12
_MOST = 120
"""Figures of one observation."""
_COMPANIES = 40
"""Names that are shown when a company is not known."""


class Financials(LookupAction):
    """Facts of the knowledge base."""

    name = "financials"
    place = 15
    description: ClassVar = {
        "en": 'exact figures of filings: {"company", "statement", "concepts", "years"}; statement is one of '
        f"{', '.join(STATEMENTS)}, or name single figures in concepts (capex, net sales); "
        "years is how many, from the latest back",
        "zh": '财报中的准确数字：{"company", "statement", "concepts", "years"}；statement 为 '
        f'{", ".join(STATEMENTS)} 之一，或在 "concepts" 中列出单个项目（归母净利润、经营现金流）；'
        "years 为从最近一年往前的年数",
    }
    fields: ClassVar = {
        "company": ("name", "ticker", "symbol"),
        "statement": ("table", "report"),
        "concepts": ("concept", "figures", "items", "lines", "metrics"),
        "years": ("year", "periods"),
    }
    in_usual_plan = False

    async def is_offered(self, work: Work) -> bool:
        """Stored documents are about companies."""
        return work.ports.statements is not None and bool(await within(work, work.ports.statements.companies()))

    def schema(self, known: Known) -> dict[str, Any]:
        """Whose figures, and which."""
        return {
            "company": text_schema(_COMPANY),
            "statement": {"type": "string", "enum": ["", *STATEMENTS]},
            "concepts": {"type": "array", "items": text_schema(_NAME), "maxItems": _MOST_NAMES},
            "years": {"type": "integer", "minimum": 1, "maximum": MOST_YEARS},
        }

    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """The company; a statement, the income statement where neither it nor figures are named."""
        company = string(value, "company", longest=_COMPANY)
        concepts = tuple(strings(value, "concepts", most=_MOST_NAMES, longest=_NAME))
        statement = string(value, "statement", longest=40, needed=False).lower().replace(" ", "_")
        if statement and statement not in STATEMENTS:
            raise Misfit(f'"statement" must be one of {", ".join(STATEMENTS)}, or empty where "concepts" are named.')
        years = string(value, "years", longest=4, needed=False)
        if years and not (years.isascii() and years.isdigit() and 1 <= int(years) <= MOST_YEARS):
            raise Misfit(f'"years" must be how many years back, 1 to {MOST_YEARS}.')
        if not concepts:
            statement = statement or STATEMENTS[0]
        return Choice(self.name, {"company": company, "statement": statement, "concepts": concepts, "years": years})

    async def look_up(self, work: Work, choice: Choice) -> Noted:
        """The figures, as numbered evidence whose places open."""
        statements = work.ports.statements
        if statements is None:
            return noting(Observation(say("nothing_found", work.language), "empty"))
        try:
            found = await within(work, _figures(statements, work, choice))
        except NotFound:
            found = []
        if not found:
            return noting(await _nothing(statements, work, choice))
        return partial(_add_figures, work, found, by_line=bool(choice.texts("concepts")))


def _add_figures(work: Work, found: Sequence[Figure], *, by_line: bool) -> Observation:
    """Figures as numbered evidence of the run."""
    pieces, numbers = [], []
    for group in _groups(found[:_MOST], by_line=by_line):
        number = work.evidence.figures(work.step, group, _rows(group))
        if number:
            numbers.append(number)
            head = f"{group[0].title}, p. {group[0].page} ({group[0].published})"
            pieces.append(f"[{number}] {defuse(head)}\n{defuse(_rows(group))}")
    text = "\n\n".join(pieces) or say("nothing_new", work.language)
    if len(found) > _MOST:
        text += "\n" + say("figures_cut", work.language, n=len(found) - _MOST)
    return Observation(text, "good" if pieces else "empty", numbers)


async def _figures(statements: Statements, work: Work, choice: Choice) -> list[Figure]:
    company, years = choice.text("company"), int(choice.text("years") or DEFAULT_YEARS)
    names, as_of = choice.texts("concepts"), work.request.as_of
    if names:
        found = await statements.figures(company, names, period_from="", as_of=as_of)
        if choice.text("statement"):
            found = [one for one in found if one.statement == choice.text("statement")] or found
        newest = int(max((one.period_end for one in found), default="0")[:4])
        return [one for one in found if int(one.period_end[:4]) > newest - years]
    query = StatementQuery(company, choice.text("statement"), years=years, as_of=as_of)
    shown = (await statements.statement(query)).grid
    if not shown.lines:  # of a company whose quarters alone are stored
        query = StatementQuery(company, choice.text("statement"), "quarterly", years, as_of=as_of)
        shown = (await statements.statement(query)).grid
    return [cell for line in shown.lines for cell in line.cells if cell is not None]


def _groups(figures: Sequence[Figure], *, by_line: bool) -> list[list[Figure]]:
    """Figures that are one source: of one page, and where single figures were asked for of one line."""
    groups: dict[tuple[str, int, str], list[Figure]] = {}
    for one in figures:
        groups.setdefault((one.document_id, one.page, one.label if by_line else ""), []).append(one)
    return list(groups.values())


def _rows(figures: Sequence[Figure]) -> str:
    """A line for each line of the statement: its label, then what it is in each period."""
    rows: dict[tuple[str, str], list[str]] = {}
    for one in figures:
        span = f"{one.period_start} to {one.period_end}" if one.period_start else one.period_end
        rows.setdefault((one.label, one.unit), []).append(f"{Decimal(one.value):,f} ({span})")
    return "\n".join(f"{label}, {unit}: {'; '.join(values)}" for (label, unit), values in rows.items())


async def _nothing(statements: Statements, work: Work, choice: Choice) -> Observation:
    known = await within(work, statements.companies())
    names = defuse(", ".join(one.name for one in known[:_COMPANIES])) or "-"
    text = say("no_figures", work.language, company=defuse(choice.text("company")), names=names)
    return Observation(text, "empty")
