"""What a follow-up is given of the runs before it: as far as its call may see, and while their documents can be opened.

What was drawn from a document lives on in variables, files and reports. So a run keeps the ids of all documents that it
or those that it was told of drew on, and where one of them opens no more, nothing of the run is handed on but its task.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from quelea_kit.errors import NotFound, QueleaError
from quelea_kit.reach import within

from quelea_gateway.core.agent.continuation import (
    MOST_BEFORE,
    Earlier,
    KeptSession,
    Standing,
    documents_of,
    may_see,
    pick_files,
    read_run,
)
from quelea_gateway.core.agent.model import EarlierRun, Run, RunRequest
from quelea_gateway.core.agent.ports import Pages, RunStore

_AT_ONCE = 8
_SECONDS = 20.0
"""For looking at all documents of a run."""


class EarlierRuns:
    """Runs that may be gone on from.

    Args:
        store: Where runs are kept.
        pages: Opens documents; None: none opens.
    """

    def __init__(self, store: RunStore, pages: Pages | None) -> None:
        self._store = store
        self._pages = pages

    async def find(self, request: RunRequest, report: Callable[[Exception], None]) -> Earlier:
        """What a follow-up goes on from, but for the session.

        Args:
            request: The follow-up's; its reach is that of the task.
            report: Told where files of the run before could not be read: the session may have them.

        Raises:
            NotFound: the run before was deleted meanwhile.
            QueleaError: runs cannot be read.
        """
        last = await self._store.get(request.tenant, request.follows)
        runs: list[EarlierRun] = []
        documents: set[str] = set()
        seen: set[str] = set()
        before: Run | None = last
        while before is not None:
            told = EarlierRun(before.id, before.question)
            drawn = documents_of(before)
            if may_see(request, before.as_of, before.reach) and await self._open(drawn - documents):
                told = read_run(before, await self._store.events(before.tenant, before.id, 0))
                documents |= drawn
                seen.add(before.id)
            runs.insert(0, told)
            before = await self._before(before) if len(runs) < MOST_BEFORE else None
        is_cut = last.id not in seen and may_see(request, last.as_of, last.reach)
        wanted = pick_files(last.artifacts) if last.id in seen else []
        try:
            files = [(one, await self._store.read(last.tenant, last.id, one.name)) for one in wanted]
        except QueleaError as error:  # the session may have them; without both the code begins with nothing
            report(error)
            files = []
        return Earlier(tuple(runs), None, tuple(files), frozenset(documents), is_cut)

    async def look(self, kept: KeptSession) -> Standing:
        """Whether the runs are still stored, and the documents still open, whose values a session holds."""
        try:
            for run_id in kept.run_ids:
                await self._store.get(kept.tenant, run_id)
        except NotFound:
            return "gone"
        except QueleaError:
            return "unknown"
        own = {item.source.document_id for item in kept.evidence.items} - {""}
        with within(kept.reach):
            return await self._look(own | kept.drawn_on)

    async def _before(self, run: Run) -> Run | None:
        with contextlib.suppress(NotFound):  # it was deleted
            return await self._store.get(run.tenant, run.follows) if run.follows else None
        return None

    async def _open(self, documents: Iterable[str]) -> bool:
        """Whether all of them can be opened; where that cannot be told, they cannot."""
        return await self._look(documents) == "whole"

    async def _look(self, documents: Iterable[str]) -> Standing:
        wanted = list(documents)
        if self._pages is None:
            return "gone" if wanted else "whole"
        room = asyncio.Semaphore(_AT_ONCE)

        async def look(pages: Pages, document_id: str) -> Standing:
            try:
                async with room:
                    await pages.read(document_id, 1)
            except NotFound:
                return "gone"
            except QueleaError:
                return "unknown"
            return "whole"

        try:
            async with asyncio.timeout(_SECONDS):
                found = await asyncio.gather(*(look(self._pages, one) for one in wanted))
        except TimeoutError:
            return "unknown"
        return "gone" if "gone" in found else "unknown" if "unknown" in found else "whole"
