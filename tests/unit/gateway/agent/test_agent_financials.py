"""financials: figures of stored statements come into a run with their place, and a conclusion cites them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from quelea_gateway.core.agent.actions import all_actions
from quelea_gateway.core.agent.decision.decisions import read_action
from quelea_gateway.core.agent.decision.parsing import Misfit
from quelea_gateway.core.agent.model import Choice
from quelea_gateway.core.statements.statement_grid import Company, Figure, GridLine, Statement, StatementGrid
from quelea_kit.errors import NotFound, Unavailable
from support.agent_world import FAST, SayingModel, asking, good, ran, world


def figure(label: str, value: str, year: int, *, start: int, concept: str = "revenue", page: int = 61) -> Figure:
    return Figure(
        statement="income", label=label, concept=concept, value=value, unit="USD", period_start=f"{year}-01-01",
        period_end=f"{year}-12-31", printed=value, group="", basis="consolidated", source="tag", tag="",
        passed=(), failed=(), restated=False, document_id="doc-k", title="Kestrel 10-K", uri="upload:k.html",
        published="2026-02-01", company="Kestrel", page=page, start=start, end=start + 5,
    )  # fmt: skip


SALES = [figure("Turnover", f"{4700 - year}000000", 2025 - year, start=100 + 10 * year) for year in range(4)]
PROFIT = [figure("Net income", "310000000", 2025, start=300, concept="net_income")]


class Filings:
    """Two lines of one company."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.down = False

    async def companies(self) -> list[Company]:
        return [Company("Kestrel", "KST", 1, "2025-12-31")]

    async def statement(self, query: Any) -> Statement:
        self.asked.append(query)
        if self.down:
            raise Unavailable("The retriever is away.")
        if query.company != "Kestrel":
            raise NotFound("No such company.")
        shown = (SALES[: query.years], [*PROFIT, None])
        lines = tuple(GridLine(row[0].label, row[0].concept, "", "USD", tuple(row)) for row in shown if row[0])
        return Statement("Kestrel", "income", "consolidated", StatementGrid(("2025-12-31", "2024-12-31"), lines))

    async def figures(self, company: str, names: Any, *, period_from: str, as_of: str) -> list[Figure]:
        self.asked.append((company, tuple(names), as_of))
        return [*SALES, *PROFIT] if company == "Kestrel" else []


async def once(filings: Filings, answer: str = "Done.", **fields: Any):
    chosen = [json.dumps({"action": "financials", **fields}), json.dumps({"action": "finish"})]
    model = SayingModel(good(action=chosen, answer=answer))
    return await ran(world(model, statements=filings), asking("How did Kestrel's turnover grow?"), FAST)


async def test_a_conclusion_cites_a_figure_to_its_page_and_span() -> None:
    filings = Filings()
    said = (
        "Kestrel's turnover was $4,700 million in 2025 [1], after $4.699 billion in 2024 [1]. Profit was $999 million."
    )
    outcome, journal = await once(filings, said, company="Kestrel", concepts=["turnover", "net income"], years=2)
    assert filings.asked == [("Kestrel", ("turnover", "net income"), "2026-11-22")]
    turnover, profit = outcome.answer.sources
    assert (turnover.document_id, turnover.page, turnover.start, turnover.end) == ("doc-k", 61, 100, 115)
    assert (turnover.used, profit.used, profit.start) == (True, False, 300)
    assert "4,700" in outcome.answer.text
    assert "999" not in outcome.answer.text
    output = journal.of("output")[0]["text"]
    assert "[1] Kestrel 10-K, p. 61 (2026-02-01)\nTurnover, USD: 4,700,000,000 (2025-01-01 to 2025-12-31)" in output
    assert "2023" not in output  # two years were asked for


async def test_a_whole_statement_is_one_source_a_page() -> None:
    filings = Filings()
    outcome, journal = await once(filings, "Turnover was $4,700,000,000 [1].", company="Kestrel", statement="income")
    (query,) = filings.asked
    assert (query.statement, query.years, query.as_of) == ("income", 3, "2026-11-22")
    (source,) = outcome.answer.sources
    assert (source.start, source.end, source.kind) == (100, 305, "passage")
    assert "Net income, USD: 310,000,000" in journal.of("output")[0]["text"]


@pytest.mark.parametrize("fields", [{"concepts": ["capex"]}, {"statement": "balance"}])
async def test_what_is_not_stored_is_said_with_the_companies_that_are(fields: Any) -> None:
    _, journal = await once(Filings(), company="Nobody", **fields)
    assert "Companies of the stored documents: Kestrel." in journal.of("output")[0]["text"]


async def test_a_retriever_that_is_away_is_an_observation() -> None:
    filings = Filings()
    filings.down = True
    _, journal = await once(filings, company="Kestrel")
    assert "The retriever is away." in journal.of("output")[0]["text"]


async def test_it_is_not_offered_where_no_document_is_about_a_company() -> None:
    class Nothing(Filings):
        async def companies(self) -> list[Company]:
            return []

    for statements in (None, Nothing()):
        model = SayingModel(good(action=json.dumps({"action": "finish"})))
        await ran(world(model, statements=statements), asking(), FAST)
        schemas = [schema for kind, _, schema in model.asked if kind == "action"]
        assert schemas
        assert not any("financials" in schema for schema in schemas)


def test_what_models_write_is_read() -> None:
    def read(text: str) -> Choice:
        return read_action(("financials", "finish"))(text).choices[0]

    loose = read('{"action": "financials", "ticker": "KO", "statement": "Cash Flow", "years": "5"}')
    assert loose.shown() == {"action": "financials", "company": "KO", "statement": "cash_flow", "years": "5"}
    assert read('{"action": "financials", "company": "KO"}').text("statement") == "income"
    named = read('{"action": "financials", "company": "KO", "concepts": "capex", "years": 2}')
    assert (named.texts("concepts"), named.text("statement")) == (("capex",), "")
    for wrong in ('{"statement": "ledger"}', '{"years": 0}', '{"years": "all"}', '{"company": ""}'):
        with pytest.raises(Misfit):
            read(json.dumps({"action": "financials", "company": "KO", **json.loads(wrong)}))
    assert all_actions()["financials"].place < all_actions()["api-select"].place
