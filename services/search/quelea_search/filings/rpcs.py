"""The rpcs of SearchService for filings and watched companies."""

from __future__ import annotations

from typing import Any

import grpc
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.errors import InvalidInput
from quelea_kit.reach import DEFAULT_COLLECTION, check_name
from quelea_kit.text_fields import check_length

from quelea_search import wire
from quelea_search.filings.core.forms import choose
from quelea_search.filings.core.model import Wanted, check_years
from quelea_search.filings.core.watch import Watch
from quelea_search.filings.fetch import Fetched, Found
from quelea_search.filings.watching import Watching

_LONGEST_COMPANY = 200
_MOST_BUNDLES = 20


class FilingRpcs:
    """Mixin of the service, which sets `_watching`."""

    _watching: Watching

    async def FetchFilings(  # noqa: N802  # gRPC name
        self, request: pb.FetchFilingsRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.FetchFilingsResponse:
        """Find a company's filings, and queue those that are not stored."""
        fetch = self._watching.fetch
        return fetched_out(await fetch.fetch(wanted_in(request, fetch.years)))

    async def WatchCompany(  # noqa: N802  # gRPC name
        self, request: pb.WatchCompanyRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.WatchCompanyResponse:
        """Fetch a company's filings, now and whenever there are new ones."""
        if request.fetch.bundle_ids:
            raise InvalidInput("A watch asks the source; leave bundle_ids out.", details={"field": "bundle_ids"})
        watch, fetched = await self._watching.add(wanted_in(request.fetch, self._watching.fetch.years))
        return pb.WatchCompanyResponse(watch=_watch(watch), fetched=fetched_out(fetched) if fetched else None)

    async def ListWatches(  # noqa: N802  # gRPC name
        self, request: pb.ListWatchesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ListWatchesResponse:
        """All watches, by name of the company."""
        return pb.ListWatchesResponse(watches=[_watch(one) for one in await self._watching.watches()])

    async def RemoveWatch(  # noqa: N802  # gRPC name
        self, request: pb.RemoveWatchRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.RemoveWatchResponse:
        """Watch a company no more."""
        await self._watching.remove(request.id)
        return pb.RemoveWatchResponse()


def _watch(watch: Watch) -> pb.Watch:
    return pb.Watch(
        id=watch.id,
        source=watch.source.value,
        company=watch.name,
        ticker=watch.ticker,
        forms=watch.forms,
        added=wire.stamp(watch.added),
        looked=wire.stamp(watch.looked),
        due=wire.stamp(watch.due),
        error=watch.error,
        new=watch.new,
        new_at=wire.stamp(watch.new_at) if watch.new_at else None,
        collection=watch.collection,
    )


def wanted_in(request: pb.FetchFilingsRequest, years: int) -> Wanted:
    """A request, checked. Raises InvalidInput."""
    check_length(request.company, "company", _LONGEST_COMPANY)
    if len(request.bundle_ids) > _MOST_BUNDLES:
        raise InvalidInput(f"bundle_ids may have at most {_MOST_BUNDLES} items.", details={"field": "bundle_ids"})
    source, forms = choose(request.company, request.forms)
    return Wanted(
        request.company.strip(),
        source,
        forms,
        check_years(request.years, years),
        tuple(request.bundle_ids),
        check_name(request.collection or DEFAULT_COLLECTION, "collection"),
    )


def fetched_out(fetched: Fetched) -> pb.FetchFilingsResponse:
    """What was found and started, as callers see it."""
    return pb.FetchFilingsResponse(
        run_id=fetched.run_id,
        source=fetched.company.source.value,
        company=fetched.company.name,
        ticker=fetched.company.ticker,
        filed_from=fetched.span.first.isoformat(),
        filed_to=fetched.span.last.isoformat(),
        filings=[_filing(found) for found in fetched.filings],
        left_out=fetched.left_out,
    )


def _filing(found: Found) -> pb.Filing:
    filing = found.filing
    return pb.Filing(
        id=filing.filing_id,
        form=filing.form,
        title=filing.title,
        url=filing.url,
        filed=filing.filed.isoformat(),
        period_end=filing.period_end,
        document_id=found.document_id,
        job=wire.job_to_wire(found.job) if found.job else None,
    )
