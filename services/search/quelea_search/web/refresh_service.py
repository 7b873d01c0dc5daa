"""The rpcs of SearchService that turn web pages into documents and replay failed jobs."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.errors import InvalidInput
from quelea_kit.paging import check_page_size, decode_position, encode_position

from quelea_search import wire
from quelea_search.adapters.web.guard import Guard
from quelea_search.core.web.pages import PageFilter
from quelea_search.core.web.urls import canonical
from quelea_search.jobs.dead_letters import DeadLetters
from quelea_search.web.page_review import Decision, PageReview
from quelea_search.web.refresh import Refresh, Useful

Context = grpc.aio.ServicerContext[Any, Any]
_STATES = {number: state for state, number in wire.PAGE_STATES.items()}
_DECISIONS = {
    pb.WEB_DECISION_APPROVE: Decision.APPROVE,
    pb.WEB_DECISION_REJECT: Decision.REJECT,
    pb.WEB_DECISION_ROLL_BACK: Decision.ROLL_BACK,
}


class RefreshRpcs:
    """Mixin of the service; its attributes are set by `SearchService`."""

    _refresh: Refresh
    _deciding: PageReview
    _dead_letters: DeadLetters
    _guard: Guard

    async def KeepPages(self, request: pb.KeepPagesRequest, context: Context) -> pb.KeepPagesResponse:  # noqa: N802  # gRPC name
        """Take note of useful pages."""
        await self._refresh.check_disk()
        useful = [Useful(page.document_id, page.url, page.score) for page in request.pages]
        kept = await self._refresh.keep(request.query, request.provider, useful)
        return pb.KeepPagesResponse(
            pages=[pb.KeptPage(url=page.url, state=wire.PAGE_STATES[page.state], job_id=page.job_id) for page in kept]
        )

    async def SubmitUrl(self, request: pb.SubmitUrlRequest, context: Context) -> pb.SubmitUrlResponse:  # noqa: N802  # gRPC name
        """A page that a user names; an address that may not be read is refused at once."""
        self._refresh.check_web()
        address = str(self._guard.check(request.url))
        await self._refresh.check_disk()
        job = await self._refresh.submit_url(address, request.metadata)
        return pb.SubmitUrlResponse(job=wire.job_to_wire(job))

    async def ListWebPages(self, request: pb.ListWebPagesRequest, context: Context) -> pb.ListWebPagesResponse:  # noqa: N802  # gRPC name
        """Newest first."""
        page_size, after = check_page_size(request.page_size), decode_position(request.page_token)
        found, total, last = await self._deciding.select(_filter_in(request.filter), page_size, after)
        shown = [wire.page_to_wire(page) for page in found]
        return pb.ListWebPagesResponse(pages=shown, total=total, next_page_token=encode_position(last))

    async def DecideWebPages(  # noqa: N802  # gRPC name
        self, request: pb.DecideWebPagesRequest, context: Context
    ) -> pb.DecideWebPagesResponse:
        """Approve, reject or roll back."""
        decision = _DECISIONS.get(request.decision)
        if decision is None:
            raise InvalidInput("decision must be APPROVE, REJECT or ROLL_BACK.")
        if decision is Decision.APPROVE:
            self._refresh.check_web()
        pages, jobs = await self._deciding.decide(_filter_in(request.filter), decision)
        return pb.DecideWebPagesResponse(
            pages=[wire.page_to_wire(page) for page in pages], job_ids=[job.id for job in jobs]
        )

    async def ReplayJobs(self, request: pb.ReplayJobsRequest, context: Context) -> pb.ReplayJobsResponse:  # noqa: N802  # gRPC name
        """Jobs of the dead-letter list, once more."""
        jobs = await self._dead_letters.replay(request.ids)
        return pb.ReplayJobsResponse(jobs=[wire.job_to_wire(job) for job in jobs])


def _filter_in(wanted: pb.WebPageFilter) -> PageFilter:
    for state in wanted.states:
        if state not in _STATES:
            raise InvalidInput(f"Unknown page state {state}.")
    hosts = tuple(host.strip() for host in wanted.hosts)
    if not all(hosts):
        raise InvalidInput("filter.hosts contains an empty name.")
    since, until = _seconds(wanted, "added_from"), _seconds(wanted, "added_to")
    if since and until and since > until:
        raise InvalidInput("filter.added_from is after filter.added_to.")
    return PageFilter(
        urls=frozenset(canonical(url) for url in wanted.urls),
        hosts=hosts,
        states=frozenset(_STATES[state] for state in wanted.states),
        added_from=since,
        added_to=until,
    )


def _seconds(wanted: pb.WebPageFilter, field: str) -> float:
    moment: Timestamp = getattr(wanted, field)
    return moment.ToNanoseconds() / 1e9 if wanted.HasField(field) else 0.0  # type: ignore[arg-type]  # one of two names
