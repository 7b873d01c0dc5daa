"""Collections of entries: each a store of its own beside the documents', with one live version at a time.

A version is written like a document: its entries first, unseen; then one record, which makes them live and those of
the version before it dead. So a search sees one version, whole, from beginning to end. What is kept here is made from
something else, the catalogue of tools for one, and made again from it when the encoder is another: a collection is
named after its encoder too, and is in no backup.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quelea_kit.errors import Conflict, QueleaError, TooLarge
from quelea_kit.logging import get_logger

from quelea_retriever.adapters.embedders import Embedders
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import DocumentRecord, NewPassage, Profile, Scope, Store, version_of
from quelea_retriever.core import entries as core
from quelea_retriever.core.entries import Entry, FoundEntry
from quelea_retriever.core.model import DocumentFacts, Mode
from quelea_retriever.core.sparse_vectors import sparse_document, sparse_query
from quelea_retriever.library import Library
from quelea_retriever.settings import Settings

log = get_logger(__name__)

_CANDIDATES = 1000
"""Taken by each of the two searches. Scores are fused by where they lie between the least and the greatest of these, so
few of them would make the least too great: with 200 hit@10 of the development questions for tools was .950, so .965."""

MakeStore = Callable[[str, Profile, bool], Store | None]
"""(collection, profile, may it be made) to its store, None when there is none and none may be made."""


@dataclass(frozen=True)
class EntryQuery:
    """What is looked for in a collection."""

    query: str
    k: int
    categories: tuple[str, ...] = ()
    mode: Mode = "fused"


@dataclass(frozen=True)
class EntryAnswer:
    """What was found, in which version ("" when there is none), and how long it took."""

    entries: list[FoundEntry]
    version: str
    embed_ms: float = 0.0
    store_ms: float = 0.0
    rank_ms: float = 0.0


def stores(settings: Settings) -> MakeStore:
    """Stores of collections, of the same kind as the documents'."""

    def edge(name: str, profile: Profile, create: bool) -> Store | None:
        parent, full = settings.data_dir / "entries", f"{name}.{_encoder(profile)}"
        folder = parent / full
        if not folder.is_dir():
            if not create:
                return None
            _make_room(parent, name, settings.max_collections)
        return QdrantEdgeStore(
            folder,
            sync=settings.sync_writes,
            flush_points=settings.flush_points,
            index_above=settings.index_above,
            hnsw_ef=settings.hnsw_ef,
        )

    def server(name: str, profile: Profile, create: bool) -> Store | None:
        from quelea_retriever.adapters.qdrant import QdrantStore  # noqa: PLC0415  # half of a start's processor time

        named = f"{settings.qdrant_collection}-entries-{name}-{_encoder(profile)}"
        return QdrantStore(settings.model_copy(update={"qdrant_collection": named}), direct=True)

    return server if settings.store == "qdrant" else edge


def _make_room(parent: Path, name: str, most: int) -> None:
    """Drop this collection's folders of other encoders; refuse a collection too many."""
    there = [path for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []
    for path in there:
        if path.name.partition(".")[0] == name:
            shutil.rmtree(path, ignore_errors=True)
    if len({path.name.partition(".")[0] for path in there} - {name}) >= most:
        raise TooLarge(f"There are already {most} entry collections, which is the limit.", details={"limit": str(most)})


def _encoder(profile: Profile) -> str:
    return hashlib.sha256(f"{profile.model} {profile.dimension}".encode()).hexdigest()[:8]


def _facts(name: str, version: str, total: int = 0) -> DocumentFacts:
    digest = hashlib.sha256(f"{name}\0{version}".encode()).hexdigest()[:32]
    return DocumentFacts(id=digest, uri=f"entries:{name}", title=version, passages=total)


class Collections:
    """The collections of a service.

    Args:
        make: Where they are kept.
        embedder: Where vectors come from.
        settings: Limits.
    """

    def __init__(self, make: MakeStore, embedder: Embedders, settings: Settings) -> None:
        self._make = make
        self._embedder = embedder
        self._settings = settings
        self._open: dict[tuple[str, str], Library] = {}
        self._opening = asyncio.Lock()

    async def upsert(self, name: str, version: str, entries: Sequence[Entry], profile: Profile, seconds: float) -> None:
        """Write entries of a version. Nobody sees them before the commit."""
        library = await self._library(name, profile, create=True)
        assert library is not None  # noqa: S101  # it was made
        await library.store.ensure(profile)
        facts = _facts(name, version)
        if await library.store.count(version_of(facts)) + len(entries) > 2 * self._settings.max_entries:
            raise TooLarge(f"A collection has at most {self._settings.max_entries} entries.")
        texts = [entry.text for entry in entries]
        vectors = (await self._embedder.embed(texts, "passage", seconds, profile.model)).vectors

        def assemble() -> list[NewPassage]:
            return [
                NewPassage(
                    version_of(facts),
                    core.record_of(entry, name),
                    vector,
                    sparse_document("", "", "", entry.lexical or entry.text),
                )
                for entry, vector in zip(entries, vectors, strict=True)
            ]

        await library.put(facts, await asyncio.to_thread(assemble))

    async def commit(self, name: str, version: str, total: int, profile: Profile) -> None:
        """Make a version live. Raises Conflict when it has not as many entries as it should."""
        library = await self._library(name, profile, create=False)
        stored = 0 if library is None else await library.store.count(version_of(_facts(name, version)))
        if library is None or stored != total:
            raise Conflict(
                f"Version {version} of {name} should have {total} entries, {stored} are stored; send all of them, "
                "and none but them, under one version, then commit.",
                details={"stored": str(stored), "expected": str(total)},
            )
        await library.commit(_facts(name, version, total))

    async def search(self, name: str, asked: EntryQuery, profile: Profile, seconds: float) -> EntryAnswer:
        """The best entries of the live version."""
        library = await self._library(name, profile, create=False)
        if library is None:
            return EntryAnswer([], "")
        if _live(library.snapshot.by_document.values()) is None:
            await library.look()  # another replica may have committed; but nothing is embedded for nothing
            if _live(library.snapshot.by_document.values()) is None:
                return EntryAnswer([], "")
        started = time.perf_counter()
        dense = (await self._embedder.embed([asked.query], "query", seconds, profile.model)).vectors[0]
        embedded = time.perf_counter()
        async with library.reading_all() as snapshot:
            record = _live(snapshot.by_document.values())
            if record is None:
                return EntryAnswer([], "")
            scope = Scope(only=(record.version,), sections=asked.categories or None)
            limit = max(_CANDIDATES, asked.k)
            found = await library.store.search(dense, sparse_query(asked.query), scope, limit)
        stored = time.perf_counter()
        entries = core.order([(one.passage, one.cosine, one.sparse) for one in found], asked.mode, asked.k)
        ended = time.perf_counter()
        return EntryAnswer(
            entries,
            record.facts.title,
            embed_ms=(embedded - started) * 1000,
            store_ms=(stored - embedded) * 1000,
            rank_ms=(ended - stored) * 1000,
        )

    async def state(self, name: str, profile: Profile) -> tuple[str, int]:
        """The live version and how many entries it has; ("", 0) while there is none."""
        library = await self._library(name, profile, create=False)
        if library is None:
            return "", 0
        async with library.reading_all() as snapshot:
            record = _live(snapshot.by_document.values())
        return (record.facts.title, record.facts.passages) if record else ("", 0)

    async def maintain(self) -> None:
        """Remove what was never committed, build indexes where there is need of one."""
        for library in list(self._open.values()):
            try:
                await library.store.maintain()
                await library.collect()
            except QueleaError as error:
                log.warning("entries_maintenance_failed", why=error.message)  # tried again next time

    async def close(self) -> None:
        """Close every store."""
        async with self._opening:
            libraries, self._open = list(self._open.values()), {}
        await asyncio.gather(*(library.close() for library in libraries))

    async def _library(self, name: str, profile: Profile, *, create: bool) -> Library | None:
        key = (name, _encoder(profile))
        if key in self._open:
            return self._open[key]
        async with self._opening:
            if key in self._open:
                return self._open[key]
            if create and len(self._open) >= self._settings.max_collections:
                raise TooLarge(
                    f"There are already {self._settings.max_collections} entry collections, which is the limit."
                )
            store = self._make(name, profile, create)
            if store is None:
                return None
            if await store.open() is None and not create:
                await store.close()
                return None
            library = Library(
                store,
                catalogue_ttl=self._settings.catalogue_ttl_seconds,
                retire_grace=self._settings.retire_grace_seconds,
                orphan_seconds=self._settings.orphan_seconds,
            )
            await library.start()
            self._open[key] = library
            return library


def _live(records: Iterable[DocumentRecord]) -> DocumentRecord | None:
    return next(iter(records), None)
