"""The worker: python -m quelea_search.worker.

Its children do the work (prefork), so that a file that crashes a parser costs one child and not the worker. No gRPC
call is made before the fork: channels do not survive it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import os
import signal
import sys
import time
import warnings
from typing import Any

from celery import signals
from celery.exceptions import SecurityWarning
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from quelea_kit import tls
from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.processes import process_identity
from quelea_kit.tracing import setup_tracing

from quelea_search.adapters.formats import dispatch
from quelea_search.build import make_records, reading_bounds
from quelea_search.jobs.celery_app import make_app, worker_queues
from quelea_search.jobs.reading_process import Reading, die_with_parent
from quelea_search.jobs.tasks import DRAIN_SIGNAL, register
from quelea_search.jobs.watchdog import Watchdog, begin_again, child_pids
from quelea_search.settings import SearchSettings

log = get_logger(__name__)


def main() -> None:
    """Work until SIGTERM or SIGINT; then running jobs get drain_seconds and go back into the queue."""
    settings = SearchSettings()
    atexit.register(gc.freeze)  # as in quelea_kit.server.serve
    setup_logging("search-worker", settings)
    for logger in ("celery.worker.strategy", "celery.app.trace"):  # each task received and succeeded
        logging.getLogger(logger).setLevel(logging.WARNING)
    # It warns of pickled messages when run as root; ours are JSON and nothing else is accepted.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    try:
        tls.from_environment()  # its children make the channels; what is wrong with its certificate is said now
    except QueleaError as error:
        log.error("cannot_start", why=error.message)
        sys.exit(1)
    # Every parser is loaded before the fork: a child that replaces a crashed one is there at once.
    log.info("worker_starts", parsers=dispatch.__name__)
    app = make_app(settings)
    made: list[Reading] = []
    register(app, settings, lambda: made[0])
    records = make_records(settings)
    store, ledger = records.store, records.ledger
    name, started, stopping = process_identity.this_process(), time.monotonic(), False
    watchdog = Watchdog(
        store,
        ledger,
        queues=worker_queues(settings),
        concurrency=settings.worker_concurrency,
        patience_seconds=settings.lease_seconds,
    )

    def live() -> None:
        try:
            ledger.worker_lives(name)
            stuck = not stopping and watchdog.is_stuck()
        except QueleaError as error:
            log.warning("sign_of_life_failed", why=error.message)
            return
        if stuck:
            begin_again(time.monotonic() - started)
            sys.exit(1)

    def on_ready(sender: Any, **_: Any) -> None:
        live()
        sender.timer.call_repeatedly(settings.beat_seconds, live)
        log.info("worker_ready", concurrency=settings.worker_concurrency)

    def on_shutdown(**_: Any) -> None:
        nonlocal stopping
        stopping = True
        log.info("draining")
        for pid in child_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, DRAIN_SIGNAL)

    # weak=False: these functions have no other owner than the signal.
    signals.setup_logging.connect(lambda **_: None, weak=False)  # ours stays
    signals.worker_process_init.connect(lambda **_: made.append(_prepare_child(settings)), weak=False)
    signals.worker_ready.connect(on_ready, weak=False)
    signals.task_received.connect(lambda **_: watchdog.message_taken(), weak=False)
    signals.worker_shutting_down.connect(on_shutdown, weak=False)
    worker = app.Worker(
        pool="prefork",
        queues=worker_queues(settings),
        hostname=f"search-{os.getpid()}@%h",
        without_gossip=True,
        without_mingle=True,
        quiet=True,
    )
    worker.start()
    if not stopping:  # Celery gave up, as it does when a child dies while it connects to Redis anew
        begin_again(time.monotonic() - started)
    with contextlib.suppress(QueleaError):
        ledger.worker_leaves(name)
    sys.exit(worker.exitcode or 0)


def _prepare_child(settings: SearchSettings) -> Reading:
    die_with_parent()
    reading = Reading(reading_bounds(settings))  # before anything here makes a thread
    setup_logging("search-worker", settings)
    setup_tracing("search-worker", settings)
    CeleryInstrumentor().instrument()
    signal.signal(DRAIN_SIGNAL, signal.SIG_IGN)
    return reading


if __name__ == "__main__":
    main()
