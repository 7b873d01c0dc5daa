"""Statements as data, for every interface of the gateway: companies, single figures, years × lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_fintext.facts import fact_fields
from quelea_kit.errors import InvalidInput, NotFound

from quelea_gateway.adapters.services.retriever import RetrieverClient, filters_to_wire
from quelea_gateway.core.asking.question import check_as_of
from quelea_gateway.core.model import Filters
from quelea_gateway.core.statements.comparison import MOST_LINES, CompanyFigures, Comparison, ComparisonQuery, compare
from quelea_gateway.core.statements.statement_grid import (
    BASES,
    DEFAULT_YEARS,
    MONTHS,
    MOST_YEARS,
    SHOWN,
    STATEMENTS,
    Company,
    Figure,
    Statement,
    StatementQuery,
    grid,
    period_ends,
)

_PAGE = 1000
_MOST_DOCUMENTS = 20_000
_MOST_FACTS = 20_000
_NAME = 200


class StatementReader:
    """Reads the facts of the knowledge base.

    Args:
        retriever: Where they are.
    """

    def __init__(self, retriever: RetrieverClient) -> None:
        self._retriever = retriever

    async def companies(self) -> list[Company]:
        """Every company that a stored document is about, by name."""
        found: dict[str, Company] = {}
        for metadata in await self._metadata():
            if not metadata.company:
                continue
            one = found.setdefault(metadata.company, Company(metadata.company))
            one.documents += 1
            one.ticker = one.ticker or metadata.ticker
            one.newest_period = max(one.newest_period, metadata.period.end_date)
        return sorted(found.values(), key=lambda one: one.name.lower())

    async def _metadata(self) -> list[common_pb2.DocumentMetadata]:
        found: list[common_pb2.DocumentMetadata] = []
        token = ""
        while len(found) < _MOST_DOCUMENTS:
            page = await self._retriever.documents(page_size=_PAGE, page_token=token, filters=Filters())
            found += [one.metadata for one in page.documents]
            token = page.next_page_token
            if not token:
                break
        return found

    async def statement(self, query: StatementQuery) -> Statement:
        """One statement.

        Raises:
            InvalidInput: The query names what there is not.
            NotFound: No stored document has statements of the company.
        """
        return (await self.statements(query, (query.statement,)))[0]

    async def statements(self, query: StatementQuery, wanted: Sequence[str]) -> list[Statement]:
        """Several statements of one company; `query.statement` does not count. Raises as `statement` does."""
        check_query(query)
        figures = await self._figures(query, SHOWN if "breakdown" in wanted else STATEMENTS)
        period = query.period or ("annual" if period_ends(figures, "annual") else "quarterly")
        most = query.years if period == "annual" else 4 * query.years
        return [Statement(figures[0].company, name, query.basis, grid(figures, name, period, most)) for name in wanted]

    async def comparison(self, query: ComparisonQuery) -> Comparison:
        """Figures of several companies side by side.

        Raises:
            InvalidInput: The query names what there is not.
        """
        for company in query.companies:
            check_query(StatementQuery(company, years=query.years, period=query.period, basis=query.basis))
        if len(query.companies) * len(query.concepts) > MOST_LINES:
            raise InvalidInput(
                f"{len(query.companies)} companies × {len(query.concepts)} concepts are more than {MOST_LINES} lines; "
                "ask for fewer at a time.",
                details={"field": "concept", "limit": str(MOST_LINES)},
            )
        if not query.period:
            annual = await self.comparison(replace(query, period="annual"))
            return annual if annual.lines else await self.comparison(replace(query, period="quarterly"))
        found = [await self._company(company, query) for company in query.companies]
        return compare(found, query, query.years if query.period == "annual" else 4 * query.years)

    async def _company(self, company: str, query: ComparisonQuery) -> CompanyFigures:
        filters = filters_to_wire(Filters(companies=(company,)))

        async def stated(**more: Any) -> list[Figure]:
            asked = retriever_pb2.ListFactsRequest(
                filters=filters, basis=query.basis, as_of=past_day(query.as_of), page_size=_PAGE, **more
            )
            return [figure_of(one) for one in (await self._retriever.facts(asked)).facts]

        income = await stated(statements=("income",), months=(MONTHS[query.period],))
        figures = {concept: await stated(concepts=(concept,)) for concept in query.concepts}
        return CompanyFigures(company, frozenset(period_ends(income, query.period)), figures)

    async def figures(
        self, company: str, names: Sequence[str], *, period_from: str, as_of: str, statements: Sequence[str] = ()
    ) -> list[Figure]:
        """Single figures of a company by name, at most 1000. Raises InvalidInput."""
        found = await self._retriever.facts(
            retriever_pb2.ListFactsRequest(
                filters=filters_to_wire(Filters(companies=(company,))),
                concepts=names,
                statements=statements,
                period_from=period_from,
                as_of=past_day(as_of),
                page_size=_PAGE,
            )
        )
        return [figure_of(one) for one in found.facts]

    async def _figures(self, query: StatementQuery, statements: Sequence[str]) -> list[Figure]:
        """Every figure of these statements of a company: those of parts would say for a statement of quarters alone
        that a year is stored."""
        found: list[Figure] = []
        token = ""
        while len(found) < _MOST_FACTS:
            page = await self._retriever.facts(
                retriever_pb2.ListFactsRequest(
                    filters=filters_to_wire(Filters(companies=(query.company,))),
                    statements=statements,
                    basis=query.basis,
                    include_doubtful=query.doubtful,
                    as_of=past_day(query.as_of),
                    page_size=_PAGE,
                    page_token=token,
                )
            )
            found += [figure_of(one) for one in page.facts]
            token = page.next_page_token
            if not token:
                break
        if not found:
            raise NotFound(
                f'No stored document has {query.basis} statements of "{query.company}"; '
                "see GET /v1/companies for the names.",
                details={"company": query.company},
            )
        return found


def check_query(query: StatementQuery) -> None:
    """Raises InvalidInput, with what may be asked for."""
    for field, value, known in (
        ("statement", query.statement, SHOWN),
        ("period", query.period or "annual", tuple(MONTHS)),
        ("basis", query.basis, BASES),
    ):
        if value not in known:
            raise InvalidInput(
                f'{field} is "{value[:40]}"; it must be one of {", ".join(known)}.', details={"field": field}
            )
    if not query.company.strip() or len(query.company) > _NAME:
        raise InvalidInput(f"company must have 1 to {_NAME} characters.", details={"field": "company"})
    if not 1 <= query.years <= MOST_YEARS:
        raise InvalidInput(
            f"years is {query.years}; it must be 1 to {MOST_YEARS} (usually {DEFAULT_YEARS}).",
            details={"field": "years"},
        )


def past_day(as_of: str) -> str:
    """The day, empty where none is given. Raises InvalidInput where it is no day, or one that has not come."""
    return check_as_of(as_of) if as_of else ""


def figure_of(one: retriever_pb2.StatedFact) -> Figure:
    """From the wire's."""
    return Figure(
        **fact_fields(one.fact),
        restated=one.restated,
        document_id=one.document_id,
        title=one.metadata.title,
        uri=one.metadata.uri,
        published=one.metadata.published,
        company=one.metadata.company,
        page=one.page,
    )


def to_stated_fact(one: Figure) -> retriever_pb2.StatedFact:
    """As the wire has it; what is not of the figure but of its document is short."""
    return retriever_pb2.StatedFact(
        fact=common_pb2.Fact(**fact_fields(one)),
        document_id=one.document_id,
        metadata=common_pb2.DocumentMetadata(
            title=one.title, uri=one.uri, published=one.published, company=one.company
        ),
        page=one.page,
        restated=one.restated,
    )
