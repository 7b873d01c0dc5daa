"""The rpc SearchWeb."""

from __future__ import annotations

from datetime import date
from typing import Any

import grpc
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.text_fields import check_day, check_length

from quelea_search import wire
from quelea_search.web.search import FoundPage, WebAnswer, WebSearch

_LONGEST_QUERY = 4000
_MOST_PAGES = 20
_MOST_PASSAGES = 200
_MARGIN_SECONDS = 0.3
"""Of the caller's time: what it takes to send the answer back."""
_SNIPPET = 1000


class WebSearchRpcs:
    """To be mixed into the service, which sets `web`."""

    web: WebSearch | None = None

    async def SearchWeb(  # noqa: N802  # gRPC name
        self, request: pb.SearchWebRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.SearchWebResponse:
        """Search, read, choose passages."""
        query, as_of = _check_request(request)
        if self.web is None:
            raise Conflict("Web search is off; set QUELEA_SEARCH_WEB=true.")
        remaining = context.time_remaining()
        answer = await self.web.search(
            query,
            as_of=as_of,
            max_pages=request.max_pages,
            max_passages=request.max_passages,
            seconds=None if remaining is None else remaining - _MARGIN_SECONDS,
        )
        return answer_to_wire(answer)


def _check_request(request: pb.SearchWebRequest) -> tuple[str, date | None]:
    query = request.query.strip()
    if not query:
        raise InvalidInput("query must not be empty.")
    check_length(query, "query", _LONGEST_QUERY)
    if request.max_pages > _MOST_PAGES:
        raise InvalidInput(f"max_pages must be at most {_MOST_PAGES}.")
    if request.max_passages > _MOST_PASSAGES:
        raise InvalidInput(f"max_passages must be at most {_MOST_PASSAGES}.")
    return query, check_day(request.as_of, "as_of")


def answer_to_wire(answer: WebAnswer) -> pb.SearchWebResponse:
    """What the web has, as callers see it."""
    return pb.SearchWebResponse(
        pages=[_page(page) for page in answer.pages],
        problems=[pb.WebProblem(where=p.where, reason=p.reason, message=p.message) for p in answer.problems],
        provider=answer.provider,
        cached=answer.cached,
        searched=wire.stamp(answer.searched),
        timings=answer.timings,
    )


def _page(found: FoundPage) -> pb.WebPage:
    page, document = found.page, found.page.document
    passages = wire.passages_of(document.document_id, [chosen.chunk for chosen in found.passages])
    return pb.WebPage(
        document_id=document.document_id,
        url=page.fetched.final_url,
        canonical_url=page.fetched.canonical_url,
        metadata=page.metadata,
        published_source=document.published_source,
        fetched=wire.stamp(page.fetched.fetched),
        pages=len(document.parsed.pages),
        passages=[
            pb.WebPassage(passage=passage, suspicious=chosen.suspicious, coverage=chosen.coverage)
            for passage, chosen in zip(passages, found.passages, strict=True)
        ],
        trusted=found.trusted,
        snippet=page.candidate.result.snippet[:_SNIPPET],
    )
