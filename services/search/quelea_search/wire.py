"""Converts between protobuf messages and core objects."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict, MessageToJson, Parse, ParseDict
from google.protobuf.timestamp_pb2 import Timestamp
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2 as pb
from quelea_fintext.times.periods import ReportingPeriod
from quelea_kit.reach import id_in
from quelea_kit.text_fields import check_day

from quelea_search.core.collections import Collection
from quelea_search.core.jobs import Job, JobState, Lane
from quelea_search.core.model import Chunk, DocumentFacts
from quelea_search.core.statements.model import Fact
from quelea_search.core.web.page_source import provisional_id
from quelea_search.core.web.pages import PageState, WebPage

_STATES = {
    JobState.QUEUED: pb.JOB_STATE_QUEUED,
    JobState.RUNNING: pb.JOB_STATE_RUNNING,
    JobState.SUCCEEDED: pb.JOB_STATE_SUCCEEDED,
    JobState.FAILED: pb.JOB_STATE_FAILED,
}
_LANES = {Lane.UPLOAD: pb.LANE_UPLOAD, Lane.REFRESH: pb.LANE_REFRESH, Lane.REREAD: pb.LANE_REREAD}
PAGE_STATES = {
    PageState.PENDING: pb.WEB_PAGE_STATE_PENDING,
    PageState.KEPT: pb.WEB_PAGE_STATE_KEPT,
    PageState.REJECTED: pb.WEB_PAGE_STATE_REJECTED,
    PageState.VANISHED: pb.WEB_PAGE_STATE_VANISHED,
}


def job_to_wire(job: Job, *, workers: int = 1) -> pb.Job:
    """A job as callers see it. While it waits, its stage says what for, so that it never sits silent."""
    stage = job.stage
    if job.state is JobState.QUEUED:
        stage = "" if workers else "waiting for a worker; none is running"
    elif job.note:
        stage = f"{job.stage}: {job.note}"
    return pb.Job(
        id=job.id,
        filename=job.filename,
        state=_STATES[job.state],
        stage=stage,
        done=job.done,
        total=job.total,
        # Not known before the page has been fetched.
        document_id="" if job.document_id == id_in(job.place, provisional_id(job.uri)) else job.document_id,
        error=job.error,
        error_reason=job.error_reason,
        created=stamp(job.created),
        updated=stamp(job.updated),
        finished=stamp(job.finished) if job.finished else None,
        attempts=job.attempts,
        unchanged=job.unchanged,
        lane=_LANES[job.lane],
        url=job.url or (job.uri if job.filing else ""),
        replayable=job.replayable,
        replaced=job.replaced,
        collection=job.collection,
    )


def page_to_wire(page: WebPage) -> pb.WebPageRecord:
    """The record of a page of the web as callers see it."""
    return pb.WebPageRecord(
        canonical_url=page.canonical_url,
        host=page.host,
        title=page.title,
        state=PAGE_STATES[page.state],
        document_id=page.document_id,
        queries=page.queries,
        provider=page.provider,
        score=page.score,
        published=page.published,
        published_source=page.published_source,
        fetched=stamp(page.fetched) if page.fetched else None,
        expires=stamp(page.expires) if page.expires else None,
        added=stamp(page.added),
        reason=page.reason,
        kind=page.kind,
    )


def collection_to_wire(collection: Collection) -> pb.Collection:
    """A collection as callers see it."""
    made = stamp(collection.created) if collection.created else None
    return pb.Collection(name=collection.name, title=collection.title, created=made)


def stamp(seconds: float) -> Timestamp:
    """Seconds since 1970 as a Timestamp."""
    moment = Timestamp()
    moment.FromNanoseconds(int(seconds * 1e9))
    return moment


def check_days(metadata: common_pb2.DocumentMetadata) -> None:
    """InvalidInput for a day that does not exist; the retriever would refuse it too, but after the file was read."""
    check_day(metadata.published, "published")
    check_day(metadata.period.end_date, "period.end_date")


def given_to_text(metadata: common_pb2.DocumentMetadata) -> str:
    """What the uploader says, for the job record."""
    return MessageToJson(metadata, indent=None, preserving_proto_field_name=True)


def given_from_text(text: str) -> common_pb2.DocumentMetadata:
    """What `given_to_text` wrote; fields of a later version are left out."""
    return Parse(text or "{}", common_pb2.DocumentMetadata(), ignore_unknown_fields=True)


def metadata_to_dict(metadata: common_pb2.DocumentMetadata) -> dict[str, Any]:
    """For the header of the stored pages."""
    return MessageToDict(metadata, preserving_proto_field_name=True)


def metadata_from_dict(values: dict[str, Any]) -> common_pb2.DocumentMetadata:
    """What `metadata_to_dict` made."""
    return ParseDict(values, common_pb2.DocumentMetadata(), ignore_unknown_fields=True)


def facts_of(metadata: common_pb2.DocumentMetadata) -> DocumentFacts:
    """The uploader's words as facts."""
    period = metadata.period
    return DocumentFacts(
        title=metadata.title,
        language=metadata.language,
        company=metadata.company,
        company_aliases=tuple(metadata.company_aliases),
        ticker=metadata.ticker,
        document_type=metadata.document_type,
        period=ReportingPeriod(
            label=period.label,
            fiscal_year=period.fiscal_year,
            fiscal_quarter=period.fiscal_quarter,
            end_date=period.end_date,
            file_label=period.file_label,
        ),
        published=metadata.published,
    )


def metadata_of(
    facts: DocumentFacts,
    *,
    uri: str,
    uploader: str = "",
    collection: str = "",
    provenance: common_pb2.Provenance.ValueType,
) -> common_pb2.DocumentMetadata:
    """Facts as the wire's metadata."""
    return common_pb2.DocumentMetadata(
        title=facts.title,
        uri=uri,
        uploader=uploader,
        collection=collection,
        language=facts.language,
        company=facts.company,
        company_aliases=facts.company_aliases,
        ticker=facts.ticker,
        document_type=facts.document_type,
        period=common_pb2.FiscalPeriod(
            label=facts.period.label,
            fiscal_year=facts.period.fiscal_year,
            fiscal_quarter=facts.period.fiscal_quarter,
            end_date=facts.period.end_date,
            file_label=facts.period.file_label,
        ),
        published=facts.published,
        provenance=provenance or common_pb2.PROVENANCE_UPLOAD,
    )


def passages_of(document_id: str, chunks: Sequence[Chunk], facts: Sequence[Fact] = ()) -> list[common_pb2.Passage]:
    """Chunks as passages, each with the facts that it prints.

    An id is made of document and ordinal, so that sending one again changes nothing.
    """
    namespace = uuid.UUID(hex=document_id)
    of_page: dict[int, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.start):
        of_page.setdefault(fact.page, []).append(fact)
    return [
        common_pb2.Passage(
            id=str(uuid.uuid5(namespace, str(chunk.ordinal))),
            document_id=document_id,
            ordinal=chunk.ordinal,
            page=chunk.page,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            is_table=chunk.is_table,
            section=chunk.section,
            table_head=chunk.table_head,
            scanned=chunk.scanned,
            facts=[fact_to_wire(fact) for fact in of_page.get(chunk.page, ()) if chunk.start <= fact.start < chunk.end],
        )
        for chunk in chunks
    ]


def fact_to_wire(fact: Fact) -> common_pb2.Fact:
    """A fact; its page is its passage's."""
    return common_pb2.Fact(
        statement=fact.statement,
        label=fact.label,
        concept=fact.concept,
        value=format(fact.value.normalize(), "f"),
        unit=fact.unit,
        period_start=fact.period.start.isoformat() if fact.period.start else "",
        period_end=fact.period.end.isoformat(),
        printed=fact.printed,
        start=fact.start,
        end=fact.end,
        group=fact.group,
        basis=fact.basis,
        source=fact.source,
        tag=fact.tag,
        passed=fact.passed,
        column=fact.column,
        failed=fact.failed,
    )
