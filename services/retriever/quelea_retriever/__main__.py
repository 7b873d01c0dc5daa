"""Run the retriever: `python -m quelea_retriever`."""

from __future__ import annotations

import asyncio
import signal

import grpc
from quelea.retriever.v1 import retriever_pb2_grpc
from quelea_kit.errors import QueleaError
from quelea_kit.files.disk import Disk
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, serve
from quelea_kit.tracing import setup_tracing

from quelea_retriever.adapters.embedder import GrpcEmbedder
from quelea_retriever.adapters.embedders import Embedders
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import Store
from quelea_retriever.entries.entry_collections import Collections, stores
from quelea_retriever.library import Library
from quelea_retriever.maintenance import live_backup
from quelea_retriever.service import SERVICE, RetrieverServicer
from quelea_retriever.settings import Settings
from quelea_retriever.warm_up import warm

log = get_logger(__name__)

_MAINTAIN_SECONDS = 60.0
_COLLECT_EVERY = 10


def make_store(settings: Settings) -> Store:
    """The store that the settings name."""
    if settings.store == "qdrant":
        from quelea_retriever.adapters.qdrant import QdrantStore  # noqa: PLC0415  # half of a start's processor time

        return QdrantStore(settings)
    return QdrantEdgeStore(
        settings.data_dir,
        sync=settings.sync_writes,
        flush_points=settings.flush_points,
        index_above=settings.index_above,
        hnsw_ef=settings.hnsw_ef,
    )


async def maintain(library: Library, collections: Collections) -> None:
    """Build indexes when there is need, remove what was never finished; for as long as the service runs."""
    turn = 0
    while True:
        await asyncio.sleep(_MAINTAIN_SECONDS)
        turn += 1
        try:
            await library.store.maintain()
            if turn % _COLLECT_EVERY == 0:
                await library.collect()
                await collections.maintain()
        except QueleaError as error:
            log.warning("maintenance_failed", why=error.message)  # tried again next time


async def run(settings: Settings) -> None:
    """Serve until SIGTERM."""
    addresses = [address for address in (settings.embedder, settings.next_embedder) if address]
    store, embedder = (
        make_store(settings),
        Embedders([GrpcEmbedder(address, settings.embedder_wait_seconds) for address in addresses]),
    )
    library = Library(
        store,
        catalogue_ttl=settings.catalogue_ttl_seconds,
        retire_grace=settings.retire_grace_seconds,
        orphan_seconds=settings.orphan_seconds,
    )
    if isinstance(store, QdrantEdgeStore):  # before the folder is owned: an unhandled SIGUSR1 ends a process
        backups = live_backup.Listener(store)
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, backups.start)
    disk = Disk(settings.data_dir, settings) if settings.store == "qdrant_edge" else None
    await library.start()
    collections = Collections(stores(settings), embedder, settings)
    servicer = RetrieverServicer(library, embedder, settings, collections, disk)

    def register(server: grpc.aio.Server) -> None:
        retriever_pb2_grpc.add_RetrieverServiceServicer_to_server(servicer, server)

    background = [asyncio.create_task(maintain(library, collections)), asyncio.create_task(warm(library))]

    async def stop() -> None:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await collections.close()
        await library.close()
        await embedder.close()

    await serve(Server(settings, [SERVICE], register, servicer.ready, disk=disk), stop, background)


def main() -> None:
    """Settings, logs, traces, metrics, server."""
    settings = Settings()
    setup_logging("retriever", settings)
    setup_tracing("retriever", settings)
    start_metrics(settings)
    try:
        asyncio.run(run(settings))
    except QueleaError as error:
        log.error("cannot_start", why=error.message)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
