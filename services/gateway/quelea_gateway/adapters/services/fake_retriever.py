"""A retriever in memory."""

from __future__ import annotations

import asyncio
from typing import Any

from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_fintext.text import terms
from quelea_kit.paging import page_of

from quelea_gateway.adapters.services.fake_world import World, noting, score, stored_document


class FakeRetriever(retriever_pb2_grpc.RetrieverServiceServicer):
    """Ranks by shared words."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def Search(self, request: retriever_pb2.SearchRequest, context: Any) -> retriever_pb2.SearchResponse:  # noqa: N802  # the wire's name
        """The k best passages."""
        world = self._world
        world.searches.append(request)
        if world.retriever_error:
            raise world.retriever_error
        async with noting(world, "Search"):
            if world.retriever_hangs:
                await asyncio.sleep(3600)
        query = set(terms(request.query))
        companies = {c.lower() for c in request.filters.companies}
        scored = [
            retriever_pb2.ScoredPassage(
                passage=passage,
                metadata=stored.metadata,
                score=shared,
                cosine=0.8 + shared / 10,
                header=stored.header,
            )
            for stored in world.documents.values()
            if not companies or stored.metadata.company.lower() in companies
            for passage in stored.passages()
            if (shared := score(query, stored.header + " " + passage.text)) > 0.1
        ]
        scored.sort(key=lambda found: -found.score)
        best = scored[: request.k or 20]
        return retriever_pb2.SearchResponse(
            passages=best,
            reading=world.reading or _reading(world, request.query),
            encoder=world.encoder,
            best_cosine=max((found.cosine for found in best), default=0.0),
            timings=retriever_pb2.SearchTimings(embed_ms=21, store_ms=3, rank_ms=2, total_ms=26),
        )

    async def FindCompanies(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.FindCompaniesRequest, context: Any
    ) -> retriever_pb2.FindCompaniesResponse:
        """Those of the stored documents, by their whole name."""
        stored = dict.fromkeys(one.metadata.company for one in self._world.documents.values() if one.metadata.company)
        named = [company for company in stored if any(company in text for text in request.texts)]
        return retriever_pb2.FindCompaniesResponse(
            mentions=[retriever_pb2.CompanyMention(text=name, company=name, stored=True) for name in named]
        )

    async def Entail(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.EntailRequest, context: Any
    ) -> retriever_pb2.EntailResponse:
        """A premise entails a hypothesis whose words it all has; of any other it says nothing."""
        follows = [set(terms(pair.hypothesis)) <= set(terms(pair.premise)) for pair in request.pairs]
        scores = [common_pb2.EntailmentScore(entailment=float(one), neutral=float(not one)) for one in follows]
        return retriever_pb2.EntailResponse(scores=scores, model="fake")

    async def Rank(self, request: retriever_pb2.RankRequest, context: Any) -> retriever_pb2.RankResponse:  # noqa: N802  # the wire's name
        """By shared words; a cosine that is given is kept."""
        world = self._world
        world.rank_requests.append(request)
        if world.rank_error:
            raise world.rank_error
        query = set(terms(request.query))
        ranked = []
        for index, candidate in enumerate(request.candidates):
            said = candidate.metadata
            header = candidate.header or " · ".join(part for part in (said.company, said.title, said.published) if part)
            shared = score(query, f"{header} {candidate.text}")
            cosine = candidate.cosine if candidate.HasField("cosine") else 0.8 + shared / 10
            ranked.append(retriever_pb2.RankedCandidate(index=index, score=shared, cosine=cosine, header=header))
        return retriever_pb2.RankResponse(ranked=sorted(ranked, key=lambda one: -one.score))

    async def GetDocument(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.GetDocumentRequest, context: Any
    ) -> retriever_pb2.GetDocumentResponse:
        """One document."""
        return retriever_pb2.GetDocumentResponse(document=stored_document(self._world, request.document_id).document())

    async def ListDocuments(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.ListDocumentsRequest, context: Any
    ) -> retriever_pb2.ListDocumentsResponse:
        """All of them, or those of some companies."""
        companies = {c.lower() for c in request.filters.companies}
        every = [
            stored.document()
            for stored in self._world.documents.values()
            if not companies or stored.metadata.company.lower() in companies
        ]
        page, token = page_of(every, lambda one: one.id, request.page_size or 100, request.page_token)
        return retriever_pb2.ListDocumentsResponse(documents=page, next_page_token=token, total=len(every))

    async def GetStats(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.GetStatsRequest, context: Any
    ) -> retriever_pb2.GetStatsResponse:
        """What it has in memory."""
        documents = len(self._world.documents)
        return retriever_pb2.GetStatsResponse(
            documents=documents, passages=documents, store="memory", model=self._world.encoder, dimension=8,
            version="fake", indexed=True,
        )  # fmt: skip

    async def ListFacts(  # noqa: N802  # the wire's name
        self, request: retriever_pb2.ListFactsRequest, context: Any
    ) -> retriever_pb2.ListFactsResponse:
        """Those of the world, by company, statement and concept or label."""
        self._world.fact_requests.append(request)
        companies = {c.lower() for c in request.filters.companies}
        every = [
            one
            for one in self._world.facts
            if (not companies or one.metadata.company.lower() in companies)
            and (not request.statements or one.fact.statement in request.statements)
            and (not request.concepts or {one.fact.concept, one.fact.label} & {*request.concepts})
            and (request.include_doubtful or not (one.restated or one.fact.failed))
        ]
        page, token = page_of(every, lambda one: one.passage_id, request.page_size or 200, request.page_token)
        return retriever_pb2.ListFactsResponse(facts=page, next_page_token=token, total=len(every))


def _reading(world: World, query: str) -> retriever_pb2.Reading:
    said = [stored.metadata for stored in world.documents.values()]
    companies = sorted({m.company for m in said if m.company and m.company.lower() in query.lower()})
    return retriever_pb2.Reading(companies=companies, text=" · ".join(companies))
