"""The embedded store: Qdrant's own engine in this process, one folder, one owner, write-ahead log on.

Calls run on one thread for reading and one for writing, because the engine holds Python's lock meanwhile anyway; they
are short (`python -m quelea_retriever.bench` measures them). What is long, building an index, another process does to
a copy of the shard (`edge_build`), while the changes that come in are kept in a journal and made again to the copy.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from quelea_kit.errors import Conflict, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_retriever.adapters import edge_build, edge_files
from quelea_retriever.adapters.edge_shard import EdgeShard
from quelea_retriever.adapters.store import (
    SCHEMA,
    DocumentRecord,
    Found,
    NewPassage,
    Profile,
    Scope,
    SparseVector,
    Stays,
    profile_conflict,
    schema_conflict,
)
from quelea_retriever.core.model import PassageRecord

log = get_logger(__name__)
T = TypeVar("T")
Change = Callable[[EdgeShard], object]

# A build is given up when more changes than this came in meanwhile: they wait in memory.
_JOURNAL_LIMIT = 2000


class QdrantEdgeStore(Stays):
    """See adapters.store.Store.

    Args:
        folder: Where the data is; made when it is not there.
        sync: fsync the write-ahead log before a write returns.
        flush_points: Fold the log into the segments after so many points.
        index_above: Build an index when there are more points than this; 0 for never.
        hnsw_ef: Breadth of a search once an index is built.
    """

    name = "qdrant_edge"
    shared = False

    def __init__(
        self,
        folder: Path,
        *,
        sync: bool = True,
        flush_points: int = 2000,
        index_above: int = 50_000,
        hnsw_ef: int = 256,
    ) -> None:
        self.folder = folder
        self._sync = sync
        self._flush_points = flush_points
        self._index_above = index_above
        self._hnsw_ef = hnsw_ef
        self._lock: edge_files.FolderLock | None = None
        self._shard: EdgeShard | None = None
        self.profile: Profile | None = None
        self._unflushed = 0
        self._commits = 0
        self._closed = False
        self._journal: list[Change] | None = None
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="edge-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="edge-write")

    async def open(self) -> Profile | None:
        """Take the folder; Conflict when another process has it."""
        return await self._on(self._writer, self._open)

    async def ensure(self, profile: Profile) -> None:
        """Make the shard; Conflict when there is one of another profile."""
        if self.profile is None:
            await self._on(self._writer, lambda: self._create(profile))
        elif self.profile != profile:
            raise Conflict(profile_conflict(self.profile, profile))

    async def check(self) -> None:
        """Raises Unavailable when the folder is not open."""
        if self._lock is None:
            raise Unavailable("The store is not open.")

    async def close(self) -> None:
        """Flush, close, give the folder back; a second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        await self._on(self._writer, self._close)
        self._reader.shutdown()
        self._writer.shutdown()

    def _open(self) -> Profile | None:
        self._lock = self._lock or edge_files.FolderLock(self.folder)
        path = edge_files.current_shard(self.folder)
        edge_files.remove_others(self.folder)
        if path is not None and self._shard is None:
            started = time.perf_counter()
            self._shard = self._load(path)
            self.profile = self._shard.profile()
            log.info("store_opened", folder=str(path), ms=round((time.perf_counter() - started) * 1000))
        return self.profile

    def _load(self, path: Path) -> EdgeShard:
        shard = EdgeShard.load(path)
        found = shard.schema()
        if found > SCHEMA:
            shard.close()
            raise Conflict(schema_conflict(found))
        if found < SCHEMA:  # nobody else has the folder, so it is done here and now
            log.info("store_migrated", passages=shard.migrate(), schema=SCHEMA)
        return shard

    def _create(self, profile: Profile) -> None:
        if self._lock is None:
            raise Unavailable("The store is not open.")
        path = edge_files.next_shard(self.folder)
        shutil.rmtree(path, ignore_errors=True)  # of a process that died before it was made current
        shard = EdgeShard.create(path, profile)
        edge_files.set_current(self.folder, path)
        self._shard, self.profile = shard, profile

    def _close(self) -> None:
        if self._shard is not None:
            self._shard.close()
            self._shard = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    # Writing

    async def put_passages(self, passages: Sequence[NewPassage], *, written: float) -> None:
        """Add or overwrite passages."""
        await self._change(lambda shard: shard.put_passages(passages, written), len(passages))

    async def put_record(self, record: DocumentRecord) -> None:
        """Add or overwrite a record."""
        await self._change(lambda shard: shard.put_record(record))
        self._commits += 1

    async def delete_record(self, name: str) -> None:
        """Remove a record."""
        await self._change(lambda shard: shard.delete_record(name))
        self._commits += 1

    async def delete_passages(self, version: str, ordinals: Sequence[int] | None = None) -> int:
        """Remove passages of a version; how many there were."""
        return await self._change(lambda shard: shard.delete_passages(version, ordinals))

    async def _change(self, change: Callable[[EdgeShard], T], points: int = 1) -> T:
        def run() -> T:
            if self._shard is None:
                raise Unavailable("The store is closed; nothing can be written.")
            result = change(self._shard)
            if self._journal is not None:
                self._journal.append(change)
            if self._sync:
                # The engine's log is a memory map: that survives kill -9, but only fsync survives a power cut.
                edge_files.sync_folder(self._shard.path / "wal")
            self._unflushed += points
            if self._unflushed >= self._flush_points:
                self._shard.flush()
                self._unflushed = 0
            return result

        return await self._on(self._writer, run)

    # Reading

    async def search(
        self, dense: npt.NDArray[np.float32], sparse: SparseVector, scope: Scope, limit: int
    ) -> list[Found]:
        """The best by cosine and the best by sparse score."""

        def run(shard: EdgeShard) -> list[Found]:
            return shard.search(dense, sparse, scope, limit, hnsw_ef=self._hnsw_ef if shard.indexed else None)

        return await self._read(run, [])

    async def records(self) -> list[DocumentRecord]:
        """Every record."""
        return await self._read(EdgeShard.records, [])

    async def stamp(self) -> str:
        """Counts the commits of this process: there is no other."""
        return str(self._commits)

    async def versions(self) -> dict[str, int]:
        """Every version with passages."""
        return await self._read(EdgeShard.versions, {})

    async def count(self, version: str, *, written_since: float = 0.0) -> int:
        """Stored passages of a version."""
        return await self._read(lambda shard: shard.count(version, written_since), 0)

    async def passages(self, version: str) -> list[PassageRecord]:
        """Every passage of a version, by ordinal."""
        return await self._read(lambda shard: shard.passages(version), [])

    async def indexed(self) -> bool:
        """True once an index was built."""
        return bool(await self._read(lambda shard: shard.indexed, 0))

    async def _read(self, work: Callable[[EdgeShard], T], nothing: T) -> T:
        return await self._on(self._reader, lambda: nothing if self._shard is None else work(self._shard))

    # Copies: backup, and the index

    async def backup(self, out: Path) -> None:
        """Write everything to FILE.tar.gz. Searches go on; writes wait while the folder is copied."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="backup-") as temporary:
            copy = Path(temporary) / "shard"
            await self._on(self._writer, lambda: self._copy(copy))
            await asyncio.to_thread(edge_files.pack, copy, out)

    async def maintain(self) -> None:
        """Build the index when there is need of one. Searches and writes go on meanwhile."""
        total, built = await self._read(lambda shard: (shard.total(), shard.indexed), (0, 0))
        if not self._index_above or total <= self._index_above or total < built * 1.25 or self._journal is not None:
            return
        started = time.perf_counter()
        log.info("index_build_started", points=total)
        path = edge_files.next_shard(self.folder)
        try:
            await self._on(self._writer, lambda: self._copy(path, journal=True))
            await edge_build.optimize(path)
            old = await self._on(self._writer, lambda: self._swap(path))
        except BaseException:
            # On the writer's thread, so after a copy or a swap that a cancelled task has left running there.
            await self._on(self._writer, lambda: self._abandon(path))
            raise
        await self._on(self._reader, old.close)  # on the reader's thread: no search is in it then
        await asyncio.to_thread(shutil.rmtree, old.path, ignore_errors=True)
        log.info("index_built", points=total, seconds=round(time.perf_counter() - started, 1))

    def _copy(self, target: Path, *, journal: bool = False) -> None:
        if self._shard is None:
            raise Conflict("The knowledge base is empty: there is nothing to copy.")
        self._shard.flush()
        self._unflushed = 0
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self._shard.path, target)
        self._journal = [] if journal else self._journal

    def _swap(self, path: Path) -> EdgeShard:
        journal, old = self._journal or [], self._shard
        self._journal = None
        if old is None:
            raise Unavailable("The store was closed while its index was built.")
        if len(journal) > _JOURNAL_LIMIT:
            raise Unavailable(
                f"{len(journal)} changes arrived while the index was being built; it will be rebuilt later."
            )
        new = EdgeShard.load(path)
        for change in journal:
            change(new)
        new.flush()
        try:
            edge_files.set_current(self.folder, path)
        finally:
            if edge_files.current_shard(self.folder) == path:
                self._shard = new
        return old

    def _abandon(self, path: Path) -> None:
        self._journal = None
        if edge_files.current_shard(self.folder) != path:
            shutil.rmtree(path, ignore_errors=True)

    async def _on(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        def run() -> T:
            try:
                return work()
            except QueleaError:
                raise
            except Exception as error:
                # The engine raises plain Exception, and files OSError: either way the caller cannot have the store.
                raise Unavailable(f"The embedded store failed: {error}") from error

        return await asyncio.get_running_loop().run_in_executor(pool, run)
