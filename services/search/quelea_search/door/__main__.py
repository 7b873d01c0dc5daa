"""The market-data door: python -m quelea_search.door."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from prometheus_client import REGISTRY
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, serve
from quelea_kit.server import run as run_service
from quelea_kit.tracing import setup_tracing

from quelea_search.door import metrics
from quelea_search.door.adapters.http_server import HttpServer
from quelea_search.door.adapters.store import Store
from quelea_search.door.adapters.upstream import Upstream
from quelea_search.door.core.sessions import Sessions
from quelea_search.door.door import Door
from quelea_search.door.service import SERVICE, MarketDoorService
from quelea_search.door.settings import DoorSettings

log = get_logger(__name__)


async def run(settings: DoorSettings) -> None:
    """Serve until SIGTERM or SIGINT."""
    hosts = settings.table()
    store = await asyncio.to_thread(Store, settings.data_dir)
    sessions = Sessions(settings.max_sessions)
    upstream = Upstream(settings, hosts, count=lambda *facts: metrics.REQUESTS.labels(*facts[:2]).observe(facts[2]))
    door = Door(settings, store, upstream, sessions)
    REGISTRY.register(metrics.DoorCollector(store, sessions, upstream.states))
    data_side = HttpServer(door.call, request_bytes=settings.request_bytes, connections=settings.connections)
    if settings.socket:
        await data_side.listen_unix(Path(settings.socket), settings.socket_mode)
    if settings.http_listen:
        await data_side.listen_tcp(settings.http_listen)
    service = MarketDoorService(settings, store, sessions, hosts, upstream.states)
    tidying = asyncio.create_task(_tidy(settings, store, sessions))
    log.info("data_side", socket=settings.socket, port=data_side.port, hosts=len(hosts.rules))

    async def ready() -> None:
        data_side.check()
        await asyncio.to_thread(store.check)
        if tidying.done():  # it never is, but if it is, nobody must believe that all is well
            tidying.result()

    async def stop() -> None:
        tidying.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await tidying
        await data_side.stop(settings.drain_seconds)
        await upstream.close()
        await door.close()
        await asyncio.to_thread(store.close)

    await serve(Server(settings, [SERVICE], service.register, ready), stop)


async def _tidy(settings: DoorSettings, store: Store, sessions: Sessions) -> None:
    while True:
        await asyncio.sleep(settings.tidy_seconds)
        busy = [session.run_id for session in sessions.open()]
        try:
            await asyncio.to_thread(
                store.tidy,
                days=settings.log_days,
                max_calls=settings.log_calls,
                max_bytes=settings.data_bytes,
                busy=busy,
            )
        except Exception:  # a full disk now may be a tidy one later; health says what cannot be written
            log.exception("tidying_failed")


def main() -> None:
    """Read the settings and serve."""
    settings = DoorSettings()
    setup_logging("market", settings)
    setup_tracing("market", settings)
    start_metrics(settings)
    run_service(run(settings))


if __name__ == "__main__":
    main()
