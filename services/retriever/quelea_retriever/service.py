"""The rpcs of quelea.retriever.v1.RetrieverService."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc
from prometheus_client import Gauge, Histogram
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_kit.errors import InvalidInput, NotFound, TooLarge
from quelea_kit.files.disk import Disk
from quelea_kit.metrics import LATENCY_BUCKETS
from quelea_kit.paging import check_page_size, page_of
from quelea_kit.text_fields import check_day

from quelea_retriever import dual_write, wire
from quelea_retriever.adapters.embedder import Embedding
from quelea_retriever.adapters.embedders import Embedders
from quelea_retriever.adapters.store import Profile
from quelea_retriever.entries.entry_collections import Collections
from quelea_retriever.entries.entry_rpcs import EntryRpcs
from quelea_retriever.fact_library import FactLibrary
from quelea_retriever.filters import DocumentFilter
from quelea_retriever.library import Library
from quelea_retriever.passage_vectors import vectorise
from quelea_retriever.ranker_files import RankerFiles
from quelea_retriever.search import Question, Searcher
from quelea_retriever.settings import Settings

SERVICE = "quelea.retriever.v1.RetrieverService"
_MODEL_SECONDS = 5.0
_MAX_PAGE = 1000

STAGE_SECONDS = Histogram(
    "quelea_retriever_stage_seconds", "Time of a stage of a search.", ["stage"], buckets=LATENCY_BUCKETS
)
DOCUMENTS = Gauge("quelea_retriever_documents", "Live documents.")
PASSAGES = Gauge("quelea_retriever_passages", "Passages of the live documents.")

Context = grpc.aio.ServicerContext[Any, Any]


def _known_by(filters: DocumentFilter, as_of: date, today: date) -> DocumentFilter:
    """The filter; on a past day only what had come out by then."""
    return replace(filters, known_by=as_of) if as_of < today else filters


class RetrieverServicer(EntryRpcs):
    """Wire to core.

    Args:
        library: Started.
        embedder: Where vectors come from.
        settings: Limits.
        collections: Of entries.
        disk: Of the embedded store.
    """

    def __init__(
        self,
        library: Library,
        embedder: Embedders,
        settings: Settings,
        collections: Collections,
        disk: Disk | None = None,
    ) -> None:
        self._disk = disk
        self._library = library
        self._embedder = embedder
        self._settings = settings
        self._facts = FactLibrary(library)
        self._rankers = RankerFiles(
            settings.ranker_files, Path(settings.model_set, "ranker.json") if settings.model_set else None
        )
        self._searcher = Searcher(library, embedder, settings.candidates, self._facts, self._rankers)
        self._met: Profile | None = None
        """The profile that the store and an embedder last agreed on."""
        self.collections = collections
        self.limits = settings
        self.meet = self._meet
        self.seconds = self._seconds

    async def ready(self) -> None:
        """Raises while the store or the embedder cannot be used, or when their models differ."""
        store = self._library.store
        await store.check()
        stored = store.profile or await store.open()
        info = await self._embedder.model(_MODEL_SECONDS, stored.model if stored else "")
        profile = Profile(info.model, info.dimension, self._settings.header)
        self._rankers.of(profile.model)
        await store.ensure(profile)
        self._met = profile
        self._show_size()

    async def Search(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.SearchRequest, context: Context
    ) -> retriever_pb2.SearchResponse:
        """Ranked passages for a query."""
        started, today = time.perf_counter(), datetime.now(UTC).date()
        as_of = check_day(request.as_of, "as_of") or today
        filters = _known_by(wire.filters_in(request.filters), as_of, today)
        question = Question(
            query=wire.query_in(request.query, self._settings.max_query_chars),
            k=wire.k_in(request.k, self._settings.default_k),
            as_of=as_of,
            filters=filters,
            mode=wire.mode_in(request.mode),
            ignore_reading=request.ignore_reading,
            plain=request.plain_fusion,
        )
        await self._meet()
        answer = await self._searcher.search(question, self._seconds(context))
        response = retriever_pb2.SearchResponse(
            passages=[wire.hit_out(hit, with_features=request.with_features) for hit in answer.hits],
            reading=wire.reading_out(answer.reading),
            best_cosine=answer.best_cosine,
            encoder=answer.encoder,
            figures=[wire.figure_out(figure, list(answer.stating)) for figure in answer.figures],
            stating=wire.stating_out(answer.figures, answer.stating),
            timings=retriever_pb2.SearchTimings(
                embed_ms=answer.embed_ms,
                store_ms=answer.store_ms,
                rank_ms=answer.rank_ms,
                total_ms=(time.perf_counter() - started) * 1000,
            ),
        )
        if request.with_features:
            response.ranker.CopyFrom(wire.ranker_out(answer.ranker, in_filing=answer.reading.filing_chosen))
        for stage in ("embed", "store", "rank", "total"):
            STAGE_SECONDS.labels(stage).observe(getattr(response.timings, f"{stage}_ms") / 1000)
        return response

    async def Rank(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.RankRequest, context: Context
    ) -> retriever_pb2.RankResponse:
        """The given texts, best first; nothing is stored."""
        started, settings = time.perf_counter(), self._settings
        query = wire.query_in(request.query, settings.max_query_chars)
        if len(request.candidates) > settings.max_rank_candidates:
            raise TooLarge(
                f"candidates has {len(request.candidates)} items; the limit is {settings.max_rank_candidates}.",
                details={"limit": str(settings.max_rank_candidates)},
            )
        texts = [
            wire.rank_text_in(candidate, f"candidates[{index}]", settings.max_passage_chars, headers=settings.header)
            for index, candidate in enumerate(request.candidates)
        ]
        if not texts:
            return retriever_pb2.RankResponse()
        await self._meet()
        ranked = await self._searcher.rank(query, texts, self._seconds(context))
        return retriever_pb2.RankResponse(
            ranked=[
                retriever_pb2.RankedCandidate(index=i, score=score, cosine=cosine, header=texts[i].header)
                for i, score, cosine in ranked
            ],
            timing=common_pb2.Timing(compute_ms=(time.perf_counter() - started) * 1000),
        )

    async def Upsert(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.UpsertRequest, context: Context
    ) -> retriever_pb2.UpsertResponse:
        """Add passages; with commit, make the document live and retire the older one of its uri."""
        settings, facts = self._settings, wire.facts_in(request.document)
        if len(request.passages) > settings.max_upsert_passages:
            raise TooLarge(
                f"passages has {len(request.passages)} items; the limit is {settings.max_upsert_passages}.",
                details={"limit": str(settings.max_upsert_passages)},
            )
        if not request.passages and not request.commit:
            raise InvalidInput("The request has no passages and does not commit, so there is nothing to do.")
        passages = [wire.passage_in(p, facts.id, settings.max_passage_chars) for p in request.passages]
        if len({p.ordinal for p in passages}) < len(passages) or len({p.id for p in passages}) < len(passages):
            raise InvalidInput("Two passages of the request have the same id or ordinal.")
        if self._disk:  # a full disk ends this process in the middle of a write
            self._disk.check()
        await self._meet()
        seconds, header, store = self._seconds(context), settings.header, self._library.store

        async def embed(texts: Sequence[str], profile: Profile | None) -> Embedding:
            return await self._searcher.embed(texts, "passage", seconds, profile)

        if passages:
            made = await vectorise(facts, passages, lambda texts: embed(texts, store.profile), header=header)
            await self._library.put(facts, made, store)
        replaced = await dual_write.commit(self._library, facts, embed, header=header) if request.commit else ""
        self._show_size()
        return retriever_pb2.UpsertResponse(written=len(passages), replaced_document_id=replaced)

    async def Delete(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.DeleteRequest, context: Context
    ) -> retriever_pb2.DeleteResponse:
        """Take a document out, and what was written of an unfinished version of it."""
        count = await dual_write.delete(self._library, request.document_id)
        self._show_size()
        return retriever_pb2.DeleteResponse(passages=count)

    async def GetDocument(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.GetDocumentRequest, context: Context
    ) -> retriever_pb2.GetDocumentResponse:
        """A live document."""
        async with self._library.reading() as snapshot:
            record = snapshot.by_document.get(request.document_id)
        if record is None:
            raise NotFound(
                f"No document has the id {request.document_id}.", details={"document_id": request.document_id}
            )
        return retriever_pb2.GetDocumentResponse(document=wire.document_out(record.facts))

    async def ListDocuments(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.ListDocumentsRequest, context: Context
    ) -> retriever_pb2.ListDocumentsResponse:
        """The live documents, newest first. A page token stays good while documents come and go."""
        if request.page_size > _MAX_PAGE:
            raise InvalidInput(f"page_size must be from 1 to {_MAX_PAGE}, got {request.page_size}.")
        size, after = request.page_size or 100, wire.page_token_in(request.page_token)
        filters = wire.filters_in(request.filters)
        async with self._library.reading() as snapshot:
            wanted = [r.facts for r in snapshot.by_document.values() if filters.matches(r.facts)]
        wanted.sort(key=wire.list_key, reverse=True)
        rest = wanted if after is None else [facts for facts in wanted if wire.list_key(facts) < after]
        page = rest[:size]
        return retriever_pb2.ListDocumentsResponse(
            documents=[wire.document_out(facts) for facts in page],
            next_page_token=wire.page_token_out(page[-1]) if len(rest) > size else "",
            total=len(wanted),
        )

    async def ListFacts(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.ListFactsRequest, context: Context
    ) -> retriever_pb2.ListFactsResponse:
        """Figures of the stored statements."""
        size = check_page_size(request.page_size)
        query = wire.fact_query_in(request, self._settings.max_query_chars)
        today = datetime.now(UTC).date()
        as_of = check_day(request.as_of, "as_of") or today
        found = await self._facts.find(_known_by(wire.filters_in(request.filters), as_of, today), query)
        page, token = page_of(found, lambda one: one.name, size, request.page_token)
        return retriever_pb2.ListFactsResponse(
            facts=[wire.stated_fact_out(one) for one in page], next_page_token=token, total=len(found)
        )

    async def GetStats(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.GetStatsRequest, context: Context
    ) -> retriever_pb2.GetStatsResponse:
        """How much is stored, where, and with which model."""
        async with self._library.reading() as snapshot:
            records = snapshot.by_document.values()
        profile = self._library.store.profile or await self._library.store.open()
        return retriever_pb2.GetStatsResponse(
            documents=len(records),
            passages=sum(record.facts.passages for record in records),
            store=self._library.store.name,
            model=profile.model if profile else "",
            dimension=profile.dimension if profile else 0,
            version=version("quelea-retriever"),
            indexed=await self._library.store.indexed(),
        )

    async def FindCompanies(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.FindCompaniesRequest, context: Context
    ) -> retriever_pb2.FindCompaniesResponse:
        """The companies that texts name."""
        texts = wire.texts_in(request.texts, self._settings.max_query_chars)
        async with self._library.reading() as snapshot:
            catalogue = snapshot.catalogue
        return retriever_pb2.FindCompaniesResponse(
            mentions=[
                retriever_pb2.CompanyMention(
                    text=written, company=catalogue.book.display[key], stored=bool(catalogue.by_company.get(key))
                )
                for written, key in catalogue.named_in(texts).items()
            ]
        )

    async def Entail(  # noqa: N802  # the name in the .proto
        self, request: retriever_pb2.EntailRequest, context: Context
    ) -> retriever_pb2.EntailResponse:
        """What the embedder's cross-encoder says; its limits and errors are the embedder's."""
        answer = await self._embedder.entail(request.pairs, self._seconds(context))
        return retriever_pb2.EntailResponse(
            scores=answer.scores, truncated=answer.truncated, model=answer.model, timing=answer.timing
        )

    async def _meet(self) -> Profile:
        """Before the first use: the store and the embedder must agree."""
        if self._met is None or self._met != self._library.store.profile:
            await self.ready()
        assert self._met is not None  # noqa: S101  # ready() has set it, or raised
        return self._met

    def _seconds(self, context: Context) -> float:
        left = context.time_remaining()
        longest = self._settings.embed_timeout_seconds
        return longest if left is None else max(0.001, min(left, longest))

    def _show_size(self) -> None:
        records = self._library.snapshot.by_version.values()
        DOCUMENTS.set(len(records))
        PASSAGES.set(sum(record.facts.passages for record in records))
