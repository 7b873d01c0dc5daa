"""Converts between protobuf messages and core objects, and validates requests."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_fintext.facts import Fact, fact_fields
from quelea_fintext.times.periods import ReportingPeriod
from quelea_kit import reach
from quelea_kit.errors import InvalidInput, PermissionDenied, TooLarge
from quelea_kit.paging import unknown_token
from quelea_kit.reach import DEFAULT_COLLECTION, check_name
from quelea_kit.text_fields import check_day, check_length

from quelea_retriever.core.figures.figure_search import AskedFigure
from quelea_retriever.core.figures.statement_facts import KINDS, FactQuery, StatedFact, pack
from quelea_retriever.core.header import contextual_header
from quelea_retriever.core.model import (
    Candidate,
    DocumentFacts,
    Hit,
    Mode,
    PassageRecord,
    Provenance,
    RankText,
    Reading,
)
from quelea_retriever.core.ranking import ranking_features
from quelea_retriever.core.ranking.ranker import Ranker
from quelea_retriever.filters import DocumentFilter, fold_all

MAX_K = 200
MAX_TEXTS = 50
_PROVENANCE: dict[int, Provenance] = {
    common_pb2.PROVENANCE_UNSPECIFIED: "",
    common_pb2.PROVENANCE_UPLOAD: "upload",
    common_pb2.PROVENANCE_WEB: "web",
    common_pb2.PROVENANCE_SAMPLE: "sample",
}
_LARGEST_COSINE = 1.001  # of unit vectors of 32 bit
_PROVENANCE_BACK = {name: number for number, name in _PROVENANCE.items()}
_MODES: dict[int, Mode] = {
    retriever_pb2.SEARCH_MODE_UNSPECIFIED: "fused",
    retriever_pb2.SEARCH_MODE_FUSED: "fused",
    retriever_pb2.SEARCH_MODE_DENSE: "dense",
    retriever_pb2.SEARCH_MODE_SPARSE: "sparse",
}


def query_in(query: str, longest: int) -> str:
    """A query with something in it, not longer than the limit."""
    if not query.strip():
        raise InvalidInput("query must not be empty.")
    check_length(query, "query", longest)
    return query


def texts_in(texts: Sequence[str], longest: int) -> list[str]:
    """Texts to look into, within the limits; empty ones are left out."""
    if len(texts) > MAX_TEXTS:
        raise TooLarge(f"texts has {len(texts)} items; the limit is {MAX_TEXTS}.", details={"limit": str(MAX_TEXTS)})
    return [query_in(text, longest) for text in texts if text.strip()]


def k_in(k: int, default: int) -> int:
    """How many passages; 0 is the default."""
    if k > MAX_K:
        raise InvalidInput(f"k must be from 1 to {MAX_K}, got {k}.", details={"limit": str(MAX_K)})
    return k or default


def mode_in(mode: int) -> Mode:
    """The search mode; unspecified means fused."""
    if mode not in _MODES:
        raise InvalidInput(f"Unknown search mode {mode}.")
    return _MODES[mode]


def filters_in(filters: retriever_pb2.Filters) -> DocumentFilter:
    """The filter; a field whose values are all blank is InvalidInput, not a filter that holds for everything."""
    fields: dict[str, Any] = {}
    for field in ("companies", "tickers", "document_types", "periods", "languages"):
        values = getattr(filters, field)
        fields[field] = fold_all(values)
        if values and not fields[field]:
            raise InvalidInput(f"filters.{field} has only blank values.", details={"field": f"filters.{field}"})
    since = check_day(filters.published_from, "filters.published_from")
    until = check_day(filters.published_to, "filters.published_to")
    if since and until and since > until:
        raise InvalidInput(f"filters.published_from ({since}) is after filters.published_to ({until}).")
    return DocumentFilter(
        **fields, published_from=since, published_to=until, document_ids=frozenset(filters.document_ids)
    )


def facts_in(document: common_pb2.Document) -> DocumentFacts:
    """A document with an id, a uri, and dates that are dates; of the tenant that calls, in a collection in reach."""
    said = document.metadata
    if not document.id or not document.id.isalnum() or len(document.id) > 128:
        raise InvalidInput("document.id must be the document's hash, in letters and digits.")
    if not said.uri:
        raise InvalidInput("document.metadata.uri is required: a new version replaces the old one with the same uri.")
    if "\x1f" in said.uri or "\x1f" in said.uploader:
        raise InvalidInput("document.metadata.uri and uploader must not have the control character U+001F.")
    if document.pages < 0 or document.passages < 0:
        raise InvalidInput("document.pages and document.passages must not be negative.")
    bounds, collection = reach.current(), said.collection or DEFAULT_COLLECTION
    if not bounds.holds(bounds.tenant, check_name(collection, "document.metadata.collection")):
        raise PermissionDenied(f"Collection {collection!r} is not within the reach of this call.")
    fetched = ""
    if document.HasField("fetched"):
        fetched = document.fetched.ToDatetime(UTC).isoformat(timespec="microseconds")
    return replace(
        metadata_in(said, "document.metadata"),
        id=document.id,
        tenant=bounds.tenant,
        collection=collection,
        pages=document.pages,
        passages=document.passages,
        fetched=fetched,
    )


def metadata_in(said: common_pb2.DocumentMetadata, where: str) -> DocumentFacts:
    """What a document says of itself, as facts without an id; its dates must be dates."""
    check_day(said.published, f"{where}.published")
    check_day(said.period.end_date, f"{where}.period.end_date")
    return DocumentFacts(
        id="",
        title=said.title,
        uri=said.uri,
        uploader=said.uploader,
        filing_id=said.filing_id,
        language=said.language,
        company=said.company,
        company_aliases=tuple(said.company_aliases),
        ticker=said.ticker,
        document_type=said.document_type,
        period=ReportingPeriod(
            label=said.period.label,
            fiscal_year=said.period.fiscal_year,
            fiscal_quarter=said.period.fiscal_quarter,
            end_date=said.period.end_date,
            file_label=said.period.file_label,
        ),
        published=said.published,
        provenance=_PROVENANCE.get(said.provenance, ""),
    )


def rank_text_in(candidate: retriever_pb2.RankCandidate, where: str, longest: int, *, headers: bool) -> RankText:
    """A text to rank, with the header that a stored passage of such a document has; `headers`: they are in use."""
    if not candidate.text.strip():
        raise InvalidInput(f"{where}.text is empty.")
    header, section = candidate.header, candidate.section
    if not headers:
        section = ""
    elif not header:
        header = contextual_header(metadata_in(candidate.metadata, f"{where}.metadata"), section)
    if len(candidate.text) + len(header) + len(candidate.table_head) > longest:
        raise TooLarge(f"{where} is longer than {longest} characters.", details={"limit": str(longest)})
    cosine = candidate.cosine if candidate.HasField("cosine") else None
    if cosine is not None and not (math.isfinite(cosine) and abs(cosine) <= _LARGEST_COSINE):
        raise InvalidInput(f"{where}.cosine must be from -1 to 1, got {cosine}.")
    return RankText(candidate.text, header, section, candidate.table_head, cosine)


def passage_in(passage: common_pb2.Passage, document_id: str, longest: int) -> PassageRecord:
    """A passage of the document with an id, a page and a text."""
    where = f"passage {passage.ordinal}"
    if not passage.id or passage.ordinal < 0:
        raise InvalidInput(f"{where} must have an id, and an ordinal of 0 or more.")
    if passage.document_id and passage.document_id != document_id:
        raise InvalidInput(
            f"{where} belongs to document {passage.document_id}, but the request is about {document_id}."
        )
    if not passage.text.strip():
        raise InvalidInput(f"{where} has no text.")
    if len(passage.text) + len(passage.table_head) > longest:
        raise TooLarge(f"{where} is longer than {longest} characters.", details={"limit": str(longest)})
    if passage.page < 1 or passage.start < 0 or passage.end - passage.start != len(passage.text):
        raise InvalidInput(
            f"{where} does not fit its page: page {passage.page}, start {passage.start}, end {passage.end}, "
            f"text of {len(passage.text)} characters."
        )
    return PassageRecord(
        id=passage.id,
        document_id=document_id,
        ordinal=passage.ordinal,
        page=passage.page,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        is_table=passage.is_table,
        section=passage.section,
        table_head=passage.table_head,
        facts=pack([fact_in(fact, where) for fact in passage.facts]),
        scanned=passage.scanned,
    )


def fact_in(fact: common_pb2.Fact, where: str) -> Fact:
    """A fact whose value is a number, of a known statement and period."""
    check_day(fact.period_start, f"{where}.facts.period_start")
    try:
        number = Decimal(fact.value)
    except InvalidOperation:
        number = Decimal("nan")
    end = check_day(fact.period_end, f"{where}.facts.period_end")
    if not number.is_finite() or fact.statement not in KINDS or end is None:
        raise InvalidInput(f"{where} has a fact without a value, a statement or a period.")
    return Fact(**fact_fields(fact))


def fact_query_in(request: retriever_pb2.ListFactsRequest, longest: int) -> FactQuery:
    """Which facts are wanted."""
    unknown = sorted(set(request.statements) - {*KINDS})
    if unknown:
        raise InvalidInput(f"statement must be one of {', '.join(KINDS)}, got {unknown[0][:40]!r}.")
    if request.basis not in ("", "consolidated", "parent"):
        raise InvalidInput(f"basis must be consolidated or parent, got {request.basis[:40]!r}.")
    if len(request.concepts) > MAX_TEXTS:
        raise TooLarge(f"concepts has {len(request.concepts)} items; the limit is {MAX_TEXTS}.")
    for field in ("period_from", "period_to"):
        check_day(getattr(request, field), field)
    return FactQuery(
        names=tuple(texts_in(request.concepts, longest)),
        statements=frozenset(request.statements),
        period_from=request.period_from,
        period_to=request.period_to,
        months=frozenset(request.months),
        basis=request.basis or "consolidated",
        include_doubtful=request.include_doubtful,
    )


def _fact_out(fact: Fact) -> common_pb2.Fact:
    return common_pb2.Fact(**fact_fields(fact))


def stated_fact_out(one: StatedFact) -> retriever_pb2.StatedFact:
    """A fact and where it stands."""
    return retriever_pb2.StatedFact(
        fact=_fact_out(one.fact),
        document_id=one.document.id,
        metadata=metadata_out(one.document),
        passage_id=one.passage_id,
        page=one.page,
        restated=one.restated,
    )


def metadata_out(facts: DocumentFacts) -> common_pb2.DocumentMetadata:
    """What the document says of itself."""
    period = facts.period
    return common_pb2.DocumentMetadata(
        title=facts.title,
        uri=facts.uri,
        uploader=facts.uploader,
        filing_id=facts.filing_id,
        language=facts.language,
        company=facts.company,
        company_aliases=facts.company_aliases,
        ticker=facts.ticker,
        document_type=facts.document_type,
        period=common_pb2.FiscalPeriod(
            label=period.label,
            fiscal_year=period.fiscal_year,
            fiscal_quarter=period.fiscal_quarter,
            end_date=period.end_date,
            file_label=period.file_label,
        ),
        published=facts.published,
        collection=facts.collection,
        provenance=common_pb2.Provenance.ValueType(_PROVENANCE_BACK[facts.provenance]),
    )


def document_out(facts: DocumentFacts) -> common_pb2.Document:
    """A document."""
    document = common_pb2.Document(
        id=facts.id, metadata=metadata_out(facts), pages=facts.pages, passages=facts.passages
    )
    if facts.fetched:
        document.fetched.FromDatetime(datetime.fromisoformat(facts.fetched))
    return document


def figure_out(figure: AskedFigure, stating: Sequence[str]) -> common_pb2.Figure:
    """A figure; its operands name their passages by their places in `stating`."""
    return common_pb2.Figure(
        metric=figure.metric,
        company=figure.company,
        value=_decimal(figure.value),
        unit=figure.unit,
        period_start=figure.period_start,
        period_end=figure.period_end,
        operands=[
            common_pb2.Operand(fact=_fact_out(one.fact), passage=stating.index(one.passage_id))
            for one in figure.operands
        ],
        formula=figure.formula,
        formula_before=figure.formula_before,
        fiscal_year=figure.fiscal_year,
        asked_year=figure.asked_year,
        absent=figure.absent,
        growth=_decimal(figure.growth),
        later=_decimal(figure.later),
        earlier=_decimal(figure.earlier),
        of=figure.of,
    )


def _decimal(value: Decimal | None) -> str:
    return "" if value is None else f"{value:f}"


def stating_out(
    figures: Sequence[AskedFigure], stating: Mapping[str, PassageRecord]
) -> list[retriever_pb2.ScoredPassage]:
    """The passages that print what figures are made from, without scores."""
    documents = {one.passage_id: one.document for figure in figures for one in figure.operands}
    hits = (Hit(Candidate(passage, documents[key], 0.0, 0.0), 0.0) for key, passage in stating.items())
    return [hit_out(hit) for hit in hits]


def ranker_out(ranker: Ranker, *, in_filing: bool) -> retriever_pb2.Ranker:
    """The second stage's features and weights."""
    return retriever_pb2.Ranker(
        name=ranker.name,
        features_version=ranking_features.VERSION,
        features=list(ranking_features.FEATURES),
        encoder=ranker.encoder,
        fitted=ranker.fitted,
        in_filing=in_filing,
        anywhere_weights=ranker.anywhere.tolist(),
        in_filing_weights=ranker.in_filing.tolist(),
    )


def hit_out(hit: Hit, *, with_features: bool = False) -> retriever_pb2.ScoredPassage:
    """A ranked passage."""
    passage, facts = hit.candidate.passage, hit.candidate.facts
    scored = retriever_pb2.ScoredPassage(
        passage=common_pb2.Passage(
            id=passage.id,
            document_id=passage.document_id,
            ordinal=passage.ordinal,
            page=passage.page,
            start=passage.start,
            end=passage.end,
            text=passage.text,
            is_table=passage.is_table,
            section=passage.section,
            table_head=passage.table_head,
            scanned=passage.scanned,
        ),
        metadata=metadata_out(facts),
        score=hit.score,
        cosine=hit.candidate.cosine,
        sparse=hit.candidate.sparse,
        header=contextual_header(facts, passage.section),
    )
    if with_features:
        scored.features.extend(hit.features)
        scored.list_number = hit.list_number
    if facts.fetched:
        scored.fetched.FromDatetime(datetime.fromisoformat(facts.fetched))
    return scored


def reading_out(reading: Reading) -> retriever_pb2.Reading:
    """What the query was understood to ask about."""
    return retriever_pb2.Reading(
        companies=reading.companies,
        periods=reading.periods,
        document_ids=reading.document_ids,
        text=reading.text,
        fallback=reading.fallback,
        notes=[
            retriever_pb2.ReadingNote(**{**dataclasses.asdict(note), "reason": f"REASON_{note.reason.name}"})
            for note in reading.notes
        ],
        company_missing=reading.company_missing,
        period_missing=reading.period_missing,
        is_comparison=reading.is_comparison,
        asks_latest=reading.asks_latest,
        period_newer=reading.period_newer,
    )


def page_token_out(facts: DocumentFacts) -> str:
    """Where the next page of a list starts: after this document."""
    return base64.urlsafe_b64encode(json.dumps(list_key(facts)).encode()).decode()


def page_token_in(token: str) -> tuple[str, str] | None:
    """The place that a token names, None for the beginning."""
    if not token:
        return None
    try:
        fetched, document_id = json.loads(base64.urlsafe_b64decode(token.encode()))
        return str(fetched), str(document_id)
    except (binascii.Error, ValueError, TypeError) as error:
        raise unknown_token() from error


def list_key(facts: DocumentFacts) -> tuple[str, str]:
    """Documents are listed by this, greatest first: newest first, then by id."""
    return facts.fetched, facts.id
