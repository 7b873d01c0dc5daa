"""The gateway over gRPC: the same pipeline as REST."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import asdict

import grpc
from quelea.common.v1 import common_pb2
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2
from quelea_kit.errors import InvalidInput, TooLarge
from quelea_kit.paging import check_page_size, page_of
from quelea_kit.reach import within

from quelea_gateway.access import Caller
from quelea_gateway.adapters.services.retriever import filters_from_wire, reading_to_wire
from quelea_gateway.adapters.services.search import PIECE
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.callers.access import Right
from quelea_gateway.core.model import (
    Answer,
    AnswerFigure,
    AnswerOperand,
    Citation,
    Delta,
    Question,
    Quoted,
    Standalone,
    Started,
    Turn,
    Verdict,
    WebTrace,
)
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.core.review.verdicts import Grounding
from quelea_gateway.core.statements.statement_grid import DEFAULT_YEARS, GridLine, StatementQuery
from quelea_gateway.gateway import Gateway
from quelea_gateway.metrics import observe_answer
from quelea_gateway.rights import check_manage, may_fetch, writable
from quelea_gateway.statement_reader import past_day, to_stated_fact

SERVICE = "quelea.gateway.v1.GatewayService"
_SEARCH_K = 10


def _citations(citations: tuple[Citation, ...]) -> list[gateway_pb2.Citation]:
    return [gateway_pb2.Citation(**vars(citation)) for citation in citations]


def _answer(answer: Answer) -> gateway_pb2.Answer:
    return gateway_pb2.Answer(
        answer=answer.answer,
        citations=_citations(answer.citations),
        further_reading=_citations(answer.further_reading),
        route=answer.route,
        as_of=answer.as_of,
        reader=answer.reader,
        checks=[gateway_pb2.Check(**vars(check)) for check in answer.checks],
        timings=answer.timings,
        reading=reading_to_wire(answer.reading),
        declined=gateway_pb2.Decline(**vars(answer.declined)) if answer.declined else None,
        language=answer.language,
        notices=answer.notices,
        model=answer.model,
        prompt_version=answer.prompt_version,
        gate=_gate(answer.gate),
        web=_web(answer.web),
        grounding=_grounding(answer.grounding),
        standalone=_standalone(answer.standalone),
        searches=answer.searches,
        evidence=[gateway_pb2.Shown(**vars(passage)) for passage in answer.evidence],
        figures=[_figure(figure) for figure in answer.figures],
        offers=[gateway_pb2.FetchOffer(**vars(offer)) for offer in answer.offers],
    )


def _figure(figure: AnswerFigure) -> common_pb2.Figure:
    said = {**vars(figure), "operands": [_operand(one) for one in figure.operands]}
    return common_pb2.Figure(**said)


def _operand(operand: AnswerOperand) -> common_pb2.Operand:
    said = vars(operand)
    fact = {name: said[name] for name in said if name not in ("number", "document_id", "page")}
    return common_pb2.Operand(fact=common_pb2.Fact(**fact), passage=operand.number)


def _standalone(made: Standalone | None) -> gateway_pb2.Standalone | None:
    return gateway_pb2.Standalone(question=made.question, by=made.by) if made else None


def _grounding(found: Grounding | None) -> gateway_pb2.Grounding | None:
    if found is None:
        return None
    return gateway_pb2.Grounding(
        text=found.text,
        sentences=[gateway_pb2.SentenceVerdict(**vars(sentence)) for sentence in found.sentences],
        figures=[gateway_pb2.FigureVerdict(**vars(figure)) for figure in found.figures],
        removed_markers=found.removed_markers,
        added_markers=found.added_markers,
        withheld=found.withheld,
        verifier=found.verifier,
    )


def _gate(verdict: Verdict) -> gateway_pb2.Gate:
    return gateway_pb2.Gate(**vars(verdict))


def _web(trace: WebTrace | None) -> gateway_pb2.Web | None:
    if trace is None:
        return None
    return gateway_pb2.Web(
        provider=trace.provider,
        pages_read=trace.pages_read,
        kept=[gateway_pb2.WebKept(**vars(page)) for page in trace.kept],
        problems=trace.problems,
        cached=trace.cached,
    )


def _event(item: Started | Quoted | Delta | Grounding | Answer) -> gateway_pb2.AskResponse:
    if isinstance(item, Delta):
        return gateway_pb2.AskResponse(delta=gateway_pb2.AskDelta(text=item.text, citations=_citations(item.citations)))
    if isinstance(item, Quoted):
        quotes = gateway_pb2.AskQuotes(text=item.text, citations=_citations(item.citations))
        return gateway_pb2.AskResponse(quotes=quotes)
    if isinstance(item, Grounding):
        return gateway_pb2.AskResponse(grounding=_grounding(item))
    if isinstance(item, Started):
        started = gateway_pb2.AskStarted(
            reading=reading_to_wire(item.reading),
            evidence=_citations(item.evidence),
            further_reading=_citations(item.further_reading),
            route=item.route,
            gate=_gate(item.gate),
            web=_web(item.web),
            standalone=_standalone(item.standalone),
            searches=item.searches,
        )
        return gateway_pb2.AskResponse(started=started)
    observe_answer(item)
    return gateway_pb2.AskResponse(answer=_answer(item))


def _statement_line(line: GridLine) -> gateway_pb2.StatementLine:
    return gateway_pb2.StatementLine(
        label=line.label,
        concept=line.concept,
        group=line.group,
        column=line.column,
        unit=line.unit,
        cells=[
            gateway_pb2.StatementCell(fact=to_stated_fact(cell), earlier=[to_stated_fact(one) for one in earlier])
            for cell, earlier in zip(line.cells, line.earlier, strict=True)
            if cell is not None
        ],
    )


def _turn(turn: gateway_pb2.HistoryTurn) -> Turn:
    if turn.role == "user":
        return Turn("user", turn.text)
    if turn.role == "assistant":
        return Turn("assistant", turn.text)
    raise InvalidInput('The role of a turn must be "user" or "assistant".', details={"field": "history"})


class GatewayServicer(gateway_pb2_grpc.GatewayServiceServicer):
    """The gateway over gRPC."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def _question(self, request: gateway_pb2.AskRequest, caller: Caller) -> Question:
        return rules.build(
            request.question,
            self._gateway.limits,
            history=[_turn(turn) for turn in request.history],
            as_of=request.as_of,
            route=request.route,
            k=request.k,
            j=request.j,
            filters=filters_from_wire(request.filters),
            model=request.model,
            tenant=caller.name,
            strict=request.strict or self._gateway.settings.strict,
            may_fetch=may_fetch(caller.principal, request.collections),
        )

    async def Ask(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.AskRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.AskRequest, gateway_pb2.AskResponse],
    ) -> AsyncGenerator[gateway_pb2.AskResponse, None]:
        """Started, deltas, the verdicts, the answer."""
        async with self._gateway.reading(context, request.collections) as caller:
            question = self._question(request, caller)
            try:
                async with contextlib.aclosing(caller.watch(self._gateway.pipeline.ask(question))) as items:
                    async for item in items:
                        yield _event(item)
            except ReaderFailed as failed:
                # The evidence has gone out with `started`.
                raise failed.error from failed

    async def Search(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.SearchRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.SearchRequest, gateway_pb2.SearchResponse],
    ) -> gateway_pb2.SearchResponse:
        """The k best passages."""
        async with self._gateway.reading(context, request.collections):
            wanted = retriever_pb2.SearchRequest(
                query=rules.check_text(request.query, self._gateway.limits, "query"),
                k=rules.check_k(request.k, _SEARCH_K),
                filters=request.filters,
                as_of=rules.check_as_of(request.as_of),
            )
            return gateway_pb2.SearchResponse(result=await self._gateway.retriever.search_wire(wanted))

    async def Ingest(  # noqa: N802  # the wire's name
        self,
        requests: AsyncIterator[gateway_pb2.IngestRequest],
        context: grpc.aio.ServicerContext[gateway_pb2.IngestRequest, gateway_pb2.IngestResponse],
    ) -> gateway_pb2.IngestResponse:
        """Hand one document over; its job."""
        with self._gateway.admitted(context) as caller:
            first = await anext(aiter(requests), None)
            if first is None or first.WhichOneof("part") != "info":
                raise InvalidInput("The first message of an ingestion must be its info.")
            info = first.info
            info.metadata.provenance = common_pb2.PROVENANCE_UPLOAD
            info.metadata.uploader = caller.principal.subject
            self._gateway.usage.count(caller.name, uploads=1)
            with within(await writable(self._gateway.search, caller.principal, info.metadata.collection)):
                self._gateway.usage.count(caller.name, uploads=1)
                limit = (await self._gateway.search.info()).max_document_bytes
                job = await self._gateway.search.submit(info, _pieces(requests, limit))
            return gateway_pb2.IngestResponse(job=job)

    async def IngestUrl(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.IngestUrlRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.IngestUrlRequest, gateway_pb2.IngestUrlResponse],
    ) -> gateway_pb2.IngestUrlResponse:
        """Have a page of the web fetched and made a document; its job."""
        async with self._gateway.writing_to(context, request.metadata.collection) as caller:
            url = request.url.strip()
            if not url:
                raise InvalidInput("url must not be empty.", details={"field": "url"})
            self._gateway.usage.count(caller.name, uploads=1)
            wanted = search_pb2.SubmitUrlRequest(url=url, metadata=request.metadata)
            return gateway_pb2.IngestUrlResponse(job=await self._gateway.search.submit_url(wanted))

    async def FetchFilings(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.FetchFilingsRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.FetchFilingsRequest, gateway_pb2.FetchFilingsResponse],
    ) -> gateway_pb2.FetchFilingsResponse:
        """Have a company's filings looked up and queued."""
        async with self._gateway.writing_to(context, request.fetch.collection) as caller:
            if request.fetch.bundle_ids:
                caller.principal.require_administrator()
            return gateway_pb2.FetchFilingsResponse(fetched=await self._gateway.search.fetch_filings(request.fetch))

    async def GetJob(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.GetJobRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.GetJobRequest, gateway_pb2.GetJobResponse],
    ) -> gateway_pb2.GetJobResponse:
        """A job."""
        with self._gateway.admitted(context):
            return gateway_pb2.GetJobResponse(job=await self._gateway.search.job(request.id))

    async def ListFacts(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.ListFactsRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.ListFactsRequest, gateway_pb2.ListFactsResponse],
    ) -> gateway_pb2.ListFactsResponse:
        """One page of figures."""
        async with self._gateway.reading(context, request.collections):
            past_day(request.query.as_of)
            return gateway_pb2.ListFactsResponse(result=await self._gateway.retriever.facts(request.query))

    async def ListCompanies(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.ListCompaniesRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.ListCompaniesRequest, gateway_pb2.ListCompaniesResponse],
    ) -> gateway_pb2.ListCompaniesResponse:
        """One page of the companies that documents are about."""
        async with self._gateway.reading(context, request.collections):
            size = check_page_size(request.page_size)
            found = await self._gateway.statements.companies()
            page, token = page_of(found, lambda one: one.name, size, request.page_token)
            return gateway_pb2.ListCompaniesResponse(
                companies=[gateway_pb2.Company(**asdict(one)) for one in page],
                next_page_token=token,
                total=len(found),
            )

    async def GetStatement(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.GetStatementRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.GetStatementRequest, gateway_pb2.GetStatementResponse],
    ) -> gateway_pb2.GetStatementResponse:
        """A statement of one company."""
        async with self._gateway.reading(context, request.collections):
            query = StatementQuery(
                request.company,
                request.statement or "income",
                request.period or "annual",
                request.years or DEFAULT_YEARS,
                request.basis or "consolidated",
                request.include_doubtful,
                request.as_of,
            )
            found = await self._gateway.statements.statement(query)
            return gateway_pb2.GetStatementResponse(
                company=found.company,
                statement=found.name,
                basis=found.basis,
                periods=found.grid.periods,
                lines=[_statement_line(line) for line in found.grid.lines],
            )

    async def ListCollections(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.ListCollectionsRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.ListCollectionsRequest, gateway_pb2.ListCollectionsResponse],
    ) -> gateway_pb2.ListCollectionsResponse:
        """Those that the key may read, by name."""
        with self._gateway.admitted(context):
            return gateway_pb2.ListCollectionsResponse(collections=await self._gateway.search.collections())

    async def CreateCollection(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.CreateCollectionRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.CreateCollectionRequest, gateway_pb2.CreateCollectionResponse],
    ) -> gateway_pb2.CreateCollectionResponse:
        """A new one."""
        with self._gateway.admitted(context) as caller:
            check_manage(caller.principal, request.name)
            made = await self._gateway.search.create_collection(request.name, request.title)
            return gateway_pb2.CreateCollectionResponse(collection=made)

    async def DeleteCollection(  # noqa: N802  # the wire's name
        self,
        request: gateway_pb2.DeleteCollectionRequest,
        context: grpc.aio.ServicerContext[gateway_pb2.DeleteCollectionRequest, gateway_pb2.DeleteCollectionResponse],
    ) -> gateway_pb2.DeleteCollectionResponse:
        """One, with its documents."""
        with self._gateway.admitted(context) as caller:
            caller.principal.require(Right.MANAGE, request.name)
            documents = await self._gateway.search.delete_collection(request.name)
            return gateway_pb2.DeleteCollectionResponse(documents=documents)


async def _pieces(requests: AsyncIterator[gateway_pb2.IngestRequest], limit: int) -> AsyncIterator[bytes]:
    size = 0
    async for request in requests:
        if request.WhichOneof("part") != "chunk":
            raise InvalidInput("After the info, every message must be a chunk of the document.")
        size += len(request.chunk)
        if len(request.chunk) > PIECE:
            raise TooLarge(f"A chunk must have at most {PIECE:,} bytes.", details={"limit": str(PIECE)})
        if limit and size > limit:
            raise TooLarge(f"A document must have at most {limit:,} bytes.", details={"limit": str(limit)})
        yield request.chunk
