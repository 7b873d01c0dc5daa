"""A made-up company's stated figures, and what a question about them finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from quelea_fintext.facts import Fact
from quelea_fintext.notices import write_notes
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.figures.asked_figures import find_figures
from quelea_retriever.core.figures.common_period import missing_periods
from quelea_retriever.core.figures.figure_search import AskedFigure, plan_figures
from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query

TODAY = date(2032, 6, 1)
ANNUAL = DocumentFacts(
    "a", company="Kestrel", document_type="10-K", period=ReportingPeriod("FY2030", 2030, 0, "2031-01-31"),
    published="2031-03-20",
)  # fmt: skip
QUARTERLY = DocumentFacts(
    "q", company="Kestrel", document_type="10-Q", period=ReportingPeriod("FY2031 Q2", 2031, 2, "2031-07-31"),
    published="2031-09-01",
)  # fmt: skip


def fact(
    label: str, concept: str, value: str, end: str, months: int = 0, document: DocumentFacts = ANNUAL, **more: str
) -> StatedFact:
    start = ""
    if months:
        last = date.fromisoformat(end)
        start = (last - timedelta(days=round(months * 30.44) - 1)).isoformat()
    statement = more.pop("statement", "income" if months else "balance")
    one = Fact(statement, label, concept, value, more.pop("unit", "USD"), start, end, value, 0, 1, **more)
    return StatedFact(one, document, f"{document.id}-1", 1, 1)


FACTS = [
    fact("Net sales", "revenue", "1200", "2031-01-31", 12),
    fact("Net sales", "revenue", "1000", "2030-01-31", 12),
    fact("Cost of sales", "cost_of_revenue", "800", "2031-01-31", 12),
    fact("Cost of sales", "cost_of_revenue", "700", "2030-01-31", 12),
    fact("Net earnings", "net_income", "60", "2031-01-31", 12),
    fact("Net earnings", "net_income", "-20", "2030-01-31", 12),
    fact("Merchandise", "inventories", "210", "2031-01-31"),
    fact("Merchandise", "inventories", "190", "2030-01-31"),
    fact("Deposits of ferrymen", "", "7", "2031-01-31"),
    fact("Net sales", "revenue", "330", "2031-07-31", 3, QUARTERLY),
    fact("Net sales", "revenue", "640", "2031-07-31", 6, QUARTERLY),
    fact("Net sales", "revenue", "300", "2030-07-31", 3, QUARTERLY),
    fact("Merchandise", "inventories", "250", "2031-07-31", 0, QUARTERLY),
    fact("Cash from operations", "operating_cash_flow", "90", "2031-07-31", 6, QUARTERLY, statement="cash_flow"),
]


NINE_MONTHS = replace(
    QUARTERLY, id="n", period=ReportingPeriod("FY2030 Q3", 2030, 3, "2030-10-31"), published="2030-12-01"
)


def to_date(label: str, concept: str, value: str, **more: str) -> StatedFact:
    """Of the first nine months of the year that ended on January 31, 2031."""
    one = fact(label, concept, value, "2030-10-31", 9, NINE_MONTHS, **more)
    return replace(one, fact=replace(one.fact, period_start="2030-02-01"))


def figures(question: str, stated: Sequence[StatedFact] = FACTS) -> list[AskedFigure]:
    documents = list({one.document.id: one.document for one in stated}.values())
    catalogue = Catalogue.build(documents)
    plan = plan_figures(question, read_query(question, catalogue, TODAY), catalogue, TODAY)
    return find_figures(plan, stated) if plan else []


def figure_notes(question: str, stated: Sequence[StatedFact]) -> str:
    catalogue = Catalogue.build(list({one.document.id: one.document for one in stated}.values()))
    plan = plan_figures(question, read_query(question, catalogue, TODAY), catalogue, TODAY)
    assert plan is not None
    found = find_figures(plan, stated)
    assert found
    return write_notes(missing_periods(plan, found), "en")


def values(question: str, stated: Sequence[StatedFact] = FACTS) -> list[str]:
    return [f"{one.value.normalize():f}" for one in figures(question, stated)]
