"""The retriever service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC
from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_fintext.facts import FIGURE_FIELDS, Fact, fact_fields
from quelea_fintext.notices import Note, NoteReason
from quelea_kit.client import channel, unary

from quelea_gateway.adapters.services.downstream import Health, naming
from quelea_gateway.core.model import Figure, Filters, Operand, Passage, Ranked, Reading, Retrieved

_STATS_SECONDS = 5.0
_KNOWN_REASONS = set(retriever_pb2.ReadingNote.Reason.values()) - {retriever_pb2.ReadingNote.REASON_UNSPECIFIED}
SERVICE = "quelea.retriever.v1.RetrieverService"


def filters_to_wire(filters: Filters) -> retriever_pb2.Filters:
    """Core filters as the wire has them."""
    return retriever_pb2.Filters(
        companies=filters.companies,
        tickers=filters.tickers,
        document_types=filters.document_types,
        periods=filters.periods,
        published_from=filters.published_from,
        published_to=filters.published_to,
        languages=filters.languages,
        document_ids=filters.document_ids,
    )


def filters_from_wire(filters: retriever_pb2.Filters) -> Filters:
    """Wire filters as the core has them."""
    return Filters(
        companies=tuple(filters.companies),
        tickers=tuple(filters.tickers),
        document_types=tuple(filters.document_types),
        periods=tuple(filters.periods),
        published_from=filters.published_from,
        published_to=filters.published_to,
        languages=tuple(filters.languages),
        document_ids=tuple(filters.document_ids),
    )


def reading_to_wire(reading: Reading) -> retriever_pb2.Reading:
    """A core reading as the wire has it."""
    return retriever_pb2.Reading(
        companies=reading.companies,
        periods=reading.periods,
        document_ids=reading.document_ids,
        text=reading.text,
        fallback=reading.fallback,
        notes=[
            retriever_pb2.ReadingNote(**{**asdict(note), "reason": f"REASON_{note.reason.name}"})
            for note in reading.notes
        ],
        company_missing=reading.company_missing,
        period_missing=reading.period_missing,
        is_comparison=reading.is_comparison,
        asks_latest=reading.asks_latest,
        period_newer=reading.period_newer,
    )


def _note_from_wire(note: retriever_pb2.ReadingNote) -> Note:
    return Note(
        reason=NoteReason[retriever_pb2.ReadingNote.Reason.Name(note.reason).removeprefix("REASON_")],
        companies=tuple(note.companies),
        periods=tuple(note.periods),
        filings=tuple(note.filings),
        document_type=note.document_type,
        end=note.end,
        count=note.count,
        total=note.total,
    )


def reading_from_wire(reading: retriever_pb2.Reading) -> Reading:
    """A wire reading as the core has it."""
    return Reading(
        text=reading.text,
        notes=tuple(_note_from_wire(note) for note in reading.notes if note.reason in _KNOWN_REASONS),
        companies=tuple(reading.companies),
        periods=tuple(reading.periods),
        document_ids=tuple(reading.document_ids),
        company_missing=reading.company_missing,
        period_missing=reading.period_missing,
        is_comparison=reading.is_comparison,
        asks_latest=reading.asks_latest,
        period_newer=reading.period_newer,
    )


def passage_fields(passage: common_pb2.Passage, metadata: common_pb2.DocumentMetadata) -> dict[str, Any]:
    """Those of a core Passage that passages of documents and of the web have alike."""
    own = ("document_id", "page", "start", "end", "text", "is_table", "table_head", "scanned", "section")
    document = ("title", "uri", "published", "company", "ticker", "document_type", "language")
    return {
        **{name: getattr(passage, name) for name in own},
        **{name: getattr(metadata, name) for name in document},
        "period": metadata.period.label,
        "period_end": metadata.period.end_date,
    }


def passage_from_wire(scored: retriever_pb2.ScoredPassage) -> Passage:
    """A scored passage as the core has it."""
    return Passage(
        **passage_fields(scored.passage, scored.metadata),
        header=scored.header,
        score=scored.score,
        cosine=scored.cosine,
        sparse=scored.sparse,
        from_web=scored.metadata.provenance == common_pb2.PROVENANCE_WEB,
        fetched=iso(scored.fetched) if scored.HasField("fetched") else "",
    )


def figures_from_wire(figures: Iterable[common_pb2.Figure], stating: Sequence[Passage]) -> tuple[Figure, ...]:
    """Figures as the core has them, each operand with its passage."""
    return tuple(
        Figure(
            **{name: getattr(one, name) for name in FIGURE_FIELDS},
            absent=tuple(one.absent),
            operands=tuple(Operand(Fact(**fact_fields(it.fact)), stating[it.passage]) for it in one.operands),
        )
        for one in figures
    )


def candidate_to_wire(passage: Passage) -> retriever_pb2.RankCandidate:
    """A passage to rank; the text of a local one is not encoded again."""
    local = passage.source == "local"
    return retriever_pb2.RankCandidate(
        text=passage.text,
        header=passage.header,
        metadata=common_pb2.DocumentMetadata(
            title=passage.title,
            uri=passage.uri,
            language=passage.language,
            company=passage.company,
            ticker=passage.ticker,
            document_type=passage.document_type,
            period=common_pb2.FiscalPeriod(label=passage.period, end_date=passage.period_end),
            published=passage.published,
        ),
        section=passage.section,
        table_head=passage.table_head,
        cosine=passage.cosine if local else None,
    )


def iso(stamp: Timestamp) -> str:
    """RFC 3339, whole seconds, UTC."""
    return stamp.ToDatetime(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _stages(timings: retriever_pb2.SearchTimings) -> dict[str, float]:
    return {
        "retrieve_embed": timings.embed_ms,
        "retrieve_store": timings.store_ms,
        "retrieve_rank": timings.rank_ms,
    }


class RetrieverClient:
    """Client of the retriever.

    Args:
        target: gRPC address.
        search_seconds: Deadline of a search.
        rank_seconds: Deadline of a ranking.
        call_seconds: Deadline of any other call.
        wait_seconds: How long a read waits for a retriever that is away, within its deadline.
    """

    def __init__(
        self, target: str, *, search_seconds: float, rank_seconds: float, call_seconds: float, wait_seconds: float = 0.0
    ) -> None:
        reads = [
            "Search", "Rank", "FindCompanies", "GetDocument", "ListDocuments", "ListFacts", "GetStats", "Entail",
        ]  # fmt: skip
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=reads, wait_seconds=wait_seconds)
        self._stub = retriever_pb2_grpc.RetrieverServiceStub(self._channel)
        self._search_seconds = search_seconds
        self._rank_seconds = rank_seconds
        self._call_seconds = call_seconds
        self.health = Health(self._channel, SERVICE, "retriever")

    async def search(self, query: str, *, k: int, as_of: str, filters: Filters) -> Retrieved:
        """The k best passages."""
        reply = await self.search_wire(
            retriever_pb2.SearchRequest(query=query, k=k, as_of=as_of, filters=filters_to_wire(filters))
        )
        return Retrieved(
            passages=tuple(passage_from_wire(scored) for scored in reply.passages),
            reading=reading_from_wire(reply.reading),
            best_cosine=reply.best_cosine,
            encoder=reply.encoder,
            stages=_stages(reply.timings),
            figures=figures_from_wire(reply.figures, [passage_from_wire(one) for one in reply.stating]),
        )

    async def stats(self) -> retriever_pb2.GetStatsResponse:
        """How much is stored, where, and with which encoder. Raises QueleaError."""
        with naming("retriever"):
            return await unary(self._stub.GetStats(retriever_pb2.GetStatsRequest(), timeout=_STATS_SECONDS))

    async def rank(self, query: str, passages: Sequence[Passage]) -> tuple[Ranked, ...]:
        """The passages by the same encoders, best first."""
        request = retriever_pb2.RankRequest(query=query, candidates=[candidate_to_wire(p) for p in passages])
        with naming("retriever"):
            reply = await unary(self._stub.Rank(request, timeout=self._rank_seconds))
        return tuple(Ranked(one.index, one.score, one.cosine, one.header) for one in reply.ranked)

    async def companies(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Names of companies as the texts write them, by the knowledge base's catalogue."""
        with naming("retriever"):
            request = retriever_pb2.FindCompaniesRequest(texts=texts)
            reply = await unary(self._stub.FindCompanies(request, timeout=self._call_seconds))
        return tuple(mention.text for mention in reply.mentions)

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> retriever_pb2.EntailResponse:
        """What the embedder's cross-encoder says of pairs of premise and hypothesis. Raises Conflict without one."""
        request = retriever_pb2.EntailRequest(
            pairs=[common_pb2.TextPair(premise=premise, hypothesis=hypothesis) for premise, hypothesis in pairs]
        )
        with naming("retriever"):
            return await unary(self._stub.Entail(request, timeout=self._rank_seconds))

    async def search_wire(self, request: retriever_pb2.SearchRequest) -> retriever_pb2.SearchResponse:
        """A search as the wire has it."""
        with naming("retriever"):
            return await unary(self._stub.Search(request, timeout=self._search_seconds))

    async def encoder(self) -> str:
        """The encoder that the knowledge base is indexed with; empty while nothing is stored."""
        with naming("retriever"):
            stats = await unary(self._stub.GetStats(retriever_pb2.GetStatsRequest(), timeout=self._call_seconds))
        return stats.model

    async def document(self, document_id: str) -> common_pb2.Document:
        """A stored document. Raises NotFound."""
        request = retriever_pb2.GetDocumentRequest(document_id=document_id)
        with naming("retriever"):
            return (await unary(self._stub.GetDocument(request, timeout=self._call_seconds))).document

    async def documents(
        self, *, page_size: int, page_token: str, filters: Filters
    ) -> retriever_pb2.ListDocumentsResponse:
        """One page of the stored documents."""
        request = retriever_pb2.ListDocumentsRequest(
            page_size=page_size, page_token=page_token, filters=filters_to_wire(filters)
        )
        with naming("retriever"):
            return await unary(self._stub.ListDocuments(request, timeout=self._call_seconds))

    async def facts(self, request: retriever_pb2.ListFactsRequest) -> retriever_pb2.ListFactsResponse:
        """One page of the figures of stored statements."""
        with naming("retriever"):
            return await unary(self._stub.ListFacts(request, timeout=self._call_seconds))

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
