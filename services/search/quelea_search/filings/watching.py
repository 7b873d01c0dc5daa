"""Keeps a list of companies fresh: adds to it, and looks for what they have filed since."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from quelea_kit import reach
from quelea_kit.errors import Overloaded, QueleaError
from quelea_kit.logging import get_logger
from quelea_kit.reach import Reach, within

from quelea_search.components import Components
from quelea_search.core.jobs import Lane
from quelea_search.filings.adapters.digest import Webhook
from quelea_search.filings.adapters.watches_redis import no_watch
from quelea_search.filings.core.model import NothingFiled, Wanted
from quelea_search.filings.core.watch import Watch, looked_at, watch_of
from quelea_search.filings.fetch import Fetched, FilingFetch

log = get_logger(__name__)
_HOUR = 3600.0
_AGAIN_SECONDS = _HOUR
"""After a look that failed."""


class Watching:
    """The list of watches.

    Args:
        shared: The parts of all.
        fetch: Finds and queues filings.
        digest: Who is told of new ones.
        clock: Seconds since 1970.
    """

    def __init__(
        self, shared: Components, fetch: FilingFetch, digest: Webhook, clock: Callable[[], float] = time.time
    ) -> None:
        self._shared = shared
        self.fetch = fetch
        self._digest = digest
        self._now = clock

    async def add(self, wanted: Wanted) -> tuple[Watch, Fetched | None]:
        """Watch a company from now on, and fetch what it filed within the asked years.

        Returns:
            The watch, and what was found; None when nothing was filed in these years.

        Raises:
            Overloaded: Too many are watched.
            QueleaError: As of `FilingFetch.fetch`; then nothing is watched.
        """
        fetched: Fetched | None = None
        try:
            fetched = await self.fetch.fetch(wanted)
            company = fetched.company
        except NothingFiled as error:
            company = error.company
        now, settings = self._now(), self._shared.settings
        new = looked_at(
            watch_of(company, wanted.forms, now=now, collection=wanted.collection),
            now=now,
            due=now + settings.filings_watch_hours * _HOUR,
        )
        return await asyncio.to_thread(self._shared.watches.add, new, settings.filings_watches), fetched

    async def watches(self) -> list[Watch]:
        """Watches within the reach of the call, by name of the company."""
        bounds = reach.current()
        return [one for one in await self._all() if bounds.holds(bounds.tenant, one.collection)]

    async def remove(self, watch_id: str) -> None:
        """Watch a company no more; its documents stay. Raises NotFound."""
        if watch_id not in {one.id for one in await self.watches()}:
            raise no_watch(watch_id)
        await asyncio.to_thread(self._shared.watches.remove, watch_id)

    async def _all(self) -> list[Watch]:
        return await asyncio.to_thread(self._shared.watches.all)

    async def look(self) -> int:
        """Look at the watches that are due, the longest due first; how many documents were queued.

        Of several callers only one looks. Stops at the look's deadline; what is left is due at the next one.
        """
        settings = self._shared.settings
        if not await asyncio.to_thread(self._shared.ledger.first, "filings", settings.filings_look_seconds / 2):
            return 0
        now = self._now()
        due: list[tuple[Reach, Watch]] = []
        for tenant in await asyncio.to_thread(self._shared.watches.tenants):
            with within(Reach(tenant)):
                due += [(Reach(tenant), one) for one in await self._all() if one.due <= now]
        due.sort(key=lambda one: one[1].due)
        news: list[dict[str, str]] = []
        try:
            async with asyncio.timeout(settings.filings_look_seconds):
                for bounds, watch in due:
                    with within(bounds):
                        news += await self._look_at(watch)
        except TimeoutError:
            log.warning("look_ends_early", watches=len(due))
        except Overloaded as error:
            log.warning("look_ends_early", why=error.message)
        await self._digest.tell(news)
        if due:
            log.info("looked_for_filings", watches=len(due), queued=len(news))
        return len(news)

    async def _look_at(self, watch: Watch) -> list[dict[str, str]]:
        """What is new of one company. Raises Overloaded: there is no room for more now."""
        settings, now = self._shared.settings, self._now()
        due = now + settings.filings_watch_hours * _HOUR
        try:
            fetched = await self.fetch.fetch(watch.wanted(), Lane.REFRESH)
        except NothingFiled:
            await self._note(looked_at(watch, now=now, due=due))
            return []
        except QueleaError as error:
            log.warning("watch_failed", company=watch.name, why=error.message)
            await self._note(looked_at(watch, now=now, due=min(due, now + _AGAIN_SECONDS), error=error.message))
            if isinstance(error, Overloaded):
                raise
            return []
        new = [found for found in fetched.filings if found.job is not None]
        await self._note(looked_at(watch, now=now, due=due, new=len(new)))
        return [
            {
                "company": watch.name,
                "ticker": watch.ticker,
                "id": found.filing.filing_id,
                "form": found.filing.form,
                "title": found.filing.title,
                "filed": found.filing.filed.isoformat(),
                "url": found.filing.url,
            }
            for found in new
        ]

    async def _note(self, watch: Watch) -> None:
        await asyncio.to_thread(self._shared.watches.update, watch)
