"""Tracks which documents are live: commit, replacement and deletion.

The passages of a version are written first and nobody sees them. One write, of the document's record, then makes the
version live and the one before it dead. What is dead or was never finished is kept out of searches by name, and its
passages are removed once no running search can need them.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from quelea_kit import reach
from quelea_kit.errors import InvalidInput, NotFound, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_retriever.adapters.store import DocumentRecord, NewPassage, Store, is_version_of, version_of
from quelea_retriever.commit_checks import check_count, version_to_commit
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.snapshot import Snapshot

log = get_logger(__name__)
T = TypeVar("T")

_DRAIN_SECONDS = 60.0
_SLOW_REFRESH_SECONDS = 60.0


@dataclass
class _Readers:
    """How many searches use a snapshot."""

    count: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)


class Library:
    """The live documents over a store.

    Args:
        store: Opened by `start`.
        catalogue_ttl: Seconds after which a shared store is asked whether others changed it.
        retire_grace: Seconds that a shared store keeps what was replaced.
        orphan_seconds: Age after which passages that were never committed are removed.
        clock: Seconds since 1970.
        monotonic: Seconds that no jump of the clock changes.
    """

    def __init__(
        self,
        store: Store,
        *,
        catalogue_ttl: float = 2.0,
        retire_grace: float = 10.0,
        orphan_seconds: float = 3600.0,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.snapshot = Snapshot.of([])
        self._ttl = catalogue_ttl
        self._grace = retire_grace
        self._orphan_seconds = orphan_seconds
        self._clock = clock
        self._monotonic = monotonic
        self._change = asyncio.Lock()
        self._stamp, self._unsure = "", False
        self._looked = self._refreshed = -1e9
        self._readers: dict[int, _Readers] = {}
        self._retiring: dict[str, asyncio.Task[None]] = {}
        self._removing: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._suspects: frozenset[str] = frozenset()
        self._put: dict[str, float] = {}
        """When passages of a version were last put here: a clock that jumps must not take what is under way for old."""

    async def start(self) -> None:
        """Open the store and see what is there."""
        await self.store.open()
        await self.refresh()
        await self.collect()

    async def close(self) -> None:
        """Finish commits, stop removing (what is left is collected later), close the store."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for task in self._retiring.values():
            task.cancel()
        await asyncio.gather(*self._retiring.values(), return_exceptions=True)
        await self.store.close()

    async def refresh(self) -> None:
        """Read every record again."""
        async with self._change:
            await self._refresh()

    async def _refresh(self) -> None:
        # Before the alias is asked: one that is moved behind our back must leave a stamp that is no longer true.
        stamp = await self.store.stamp()
        moved = await self.store.follow()
        store = moved or self.store
        records = await store.records()
        before = self.snapshot
        hidden: Iterable[str] = before.hidden | before.by_version.keys()
        if moved is not None:
            hidden = await moved.versions()
            log.info("store_followed", model=moved.profile.model if moved.profile else "", documents=len(records))
        self.store, self.snapshot = store, Snapshot.of(records, store).hiding(hidden)
        self._stamp, self._unsure = stamp if moved is None else "", False
        self._looked = self._refreshed = time.monotonic()

    async def look(self) -> None:
        """Notice what other replicas committed; costs nothing for a store of our own."""
        if self._unsure:
            await self.refresh()
        if not self.store.shared or time.monotonic() - self._looked < self._ttl:
            return
        async with self._change:
            now = time.monotonic()
            if now - self._looked < self._ttl:
                return
            if now - self._refreshed > _SLOW_REFRESH_SECONDS or await self.store.stamp() != self._stamp:
                await self._refresh()
            self._looked = time.monotonic()

    @contextlib.asynccontextmanager
    async def reading(self) -> AsyncIterator[Snapshot]:
        """The snapshot to search with, within the reach of the call.

        Nothing that is live in it is removed before the block ends.
        """
        async with self.reading_all() as snapshot:
            yield snapshot.within(reach.current())

    @contextlib.asynccontextmanager
    async def reading_all(self) -> AsyncIterator[Snapshot]:
        """Likewise, whoever calls: for what belongs to no tenant."""
        await self.look()
        snapshot = self.snapshot
        readers = self._readers.setdefault(id(snapshot), _Readers())
        readers.count += 1
        try:
            yield snapshot
        finally:
            readers.count -= 1
            if not readers.count:
                readers.idle.set()
                del self._readers[id(snapshot)]

    async def settled(self) -> bool:
        """After a commit or delete: False when another store has taken the place of the one that it was made in.

        That one is used from now on, and it must be made again.
        """
        if await self.store.settled():
            return True
        await self.refresh()
        return False

    async def put(self, facts: DocumentFacts, passages: Sequence[NewPassage], store: Store | None = None) -> None:
        """Write passages of a version, which must be version_of(facts). Nobody sees them before the commit.

        Args:
            facts: Of the document.
            passages: With vectors of the store's encoder.
            store: The one that the vectors were made for, if another may have taken its place since.
        """
        version = version_of(facts)
        self._put[version] = self._monotonic()
        retiring = self._retiring.pop(version, None)
        if retiring is not None:  # the version comes back: do not remove what is being written
            if version not in self._removing:
                retiring.cancel()
            await asyncio.gather(retiring, return_exceptions=True)
        if version not in self.snapshot.by_version and version not in self.snapshot.hidden:
            self.snapshot = self.snapshot.hiding({*self.snapshot.hidden, version})
        await (store or self.store).put_passages(passages, written=self._clock())

    async def commit(self, facts: DocumentFacts) -> str:
        """Make a version live; the id of the other document that it replaced, or "".

        A live document of which nothing new was put gets a new record, of the same uri, over its own passages: one
        write, so all of it or nothing. Its headers must stay as they are, for they are in the vectors.

        Raises:
            Conflict: Fewer passages are stored than the document says it has, or a header would be another.
        """
        if not facts.passages:
            raise InvalidInput("document.passages must say how many passages the document has when it is committed.")
        return await self._whole(self._commit(facts))

    async def delete(self, document_id: str) -> int:
        """Take a document out, unfinished versions of it too; how many passages it had.

        Raises:
            NotFound: Nothing is stored of such a document.
        """
        return await self._whole(self._delete(document_id))

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Do all of it although the caller may leave, so that what is in memory and in the store stay the same."""

        async def run() -> T:
            async with self._change:
                try:
                    return await work
                except Unavailable:
                    self._unsure = True  # a write that failed may have been made
                    raise

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # the caller gets it; one that has left must not fill the log

    async def _commit(self, facts: DocumentFacts) -> str:
        if self.store.shared:
            await self._refresh()
        live = self.snapshot.live(facts)
        if live is not None and live.facts.uploader != facts.uploader:
            # The same bytes from somebody else: under his name, his next version would take them from the first.
            facts = replace(facts, uri=live.facts.uri, uploader=live.facts.uploader)
        version = await version_to_commit(self.store, self.snapshot, facts)
        await check_count(self.store, version, facts)
        record = DocumentRecord(version, facts, self._clock())
        await self.store.put_record(record)
        replaced, kept = "", []
        for old in self.snapshot.by_version.values():
            if old.facts.name == facts.name:
                replaced = old.facts.id if old.facts.id != facts.id else ""
            elif old is live:  # the same bytes under a new name: one document, by its last
                await self.store.delete_record(old.facts.name)
            else:
                kept.append(old)
        self._replace([*kept, record])
        return replaced

    async def _delete(self, document_id: str) -> int:
        if self.store.shared:
            await self._refresh()
            await self._find_hidden()
        bounds = reach.current()
        record = self.snapshot.within(bounds).by_document.get(document_id)
        hidden = self.snapshot.hidden - self._retiring.keys()
        unfinished = [version for version in hidden if is_version_of(version, document_id, bounds)]
        if record is None and not unfinished:
            raise NotFound(f"No document has the id {document_id}.", details={"document_id": document_id})
        count = 0
        if record is not None:
            await self.store.delete_record(record.facts.name)
            count += await self.store.count(record.version)
            self._replace(r for r in self.snapshot.by_version.values() if r is not record)
        for version in unfinished:
            count += await self.store.delete_passages(version)
        self.snapshot = self.snapshot.hiding(self.snapshot.hidden.difference(unfinished))
        return count

    async def collect(self) -> None:
        """Remove what was never finished. In a shared store only what a run before this one saw already."""
        async with self._change:
            await self._refresh()
            await self._find_hidden()
            for record in await self.store.records():  # two with one id: a commit died half way through renaming
                live = self.snapshot.live(record.facts)
                if live is not None and live.facts.name != record.facts.name:
                    await self.store.delete_record(record.facts.name)
            since, young = self._clock() - self._orphan_seconds, self._monotonic() - self._orphan_seconds
            self._put = {version: when for version, when in self._put.items() if when > young}
            orphans = set()
            for version in self.snapshot.hidden - self._retiring.keys() - self._put.keys():
                if not await self.store.count(version, written_since=since):
                    orphans.add(version)
            doomed = orphans & self._suspects if self.store.shared else orphans
            for version in doomed:
                count = await self.store.delete_passages(version)
                log.info("orphans_removed", version=version, passages=count)
            self._suspects = frozenset(orphans - doomed)
            self.snapshot = self.snapshot.hiding(self.snapshot.hidden - doomed)

    async def _find_hidden(self) -> None:
        self.snapshot = self.snapshot.hiding(await self.store.versions())

    def _replace(self, records: Iterable[DocumentRecord]) -> None:
        """Show other records from now on, and remove the passages of those that are gone."""
        before = self.snapshot
        after = Snapshot.of(records, self.store)
        gone = before.by_version.keys() - after.by_version.keys()
        self.snapshot = after.hiding(before.hidden | gone)
        waited_for = list(self._readers.values())
        for version in gone:
            self._retiring[version] = asyncio.create_task(self._retire(version, waited_for))

    async def _retire(self, version: str, readers: list[_Readers]) -> None:
        if self.store.shared:
            await asyncio.sleep(self._grace)
        for one in readers:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_SECONDS):
                    await one.idle.wait()
        self._removing.add(version)
        try:
            async with self._change:
                if self.store.shared:
                    await self._refresh()
                if version not in self.snapshot.by_version:
                    await self.store.delete_passages(version)
                    self.snapshot = self.snapshot.hiding(self.snapshot.hidden - {version})
        except QueleaError as error:
            log.warning("retire_failed", version=version, why=error.message)  # collect() removes it later
        finally:
            self._removing.discard(version)
            self._retiring.pop(version, None)
