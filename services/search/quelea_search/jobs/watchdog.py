"""Restarts a worker that is stuck."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

from billiard.process import active_children
from quelea_kit.logging import get_logger
from quelea_kit.processes import process_identity

from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.core.jobs import JobState

log = get_logger(__name__)
_AGAIN = "QUELEA_SEARCH_WORKER_BEGAN_AGAIN"
_MAX_AGAIN = 5
_LONG_SECONDS = 60.0
"""A worker that lived so long did not fail for the reason of the one before."""


def child_pids() -> set[int]:
    """The processes of the pool."""
    return {child.pid for child in active_children() if child.pid}


class Watchdog:
    """Sees that messages wait, that a child is free, and that no message is taken all the same.

    It happens: when a child dies while Redis is away, Celery cannot give its message back, counts it as being worked
    on for ever, and takes no other one.

    Args:
        store: The job records tell what the children really do.
        ledger: Counts the messages.
        queues: Those that the worker takes messages from.
        concurrency: How many children there are.
        patience_seconds: How long it may look like that.
        children: Process ids of the pool.
    """

    def __init__(
        self,
        store: JobStore,
        ledger: Ledger,
        *,
        queues: Sequence[str],
        concurrency: int,
        patience_seconds: float,
        children: Callable[[], set[int]] = child_pids,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._queues = tuple(queues)
        self._concurrency = concurrency
        self._patience = patience_seconds
        self._children = children
        self._now = clock
        self._since = 0.0

    def message_taken(self) -> None:
        """The worker works."""
        self._since = 0.0

    def is_stuck(self) -> bool:
        """To be asked every few seconds."""
        if not self._ledger.messages(*self._queues):
            self._since = 0.0
            return False
        mine = self._children()
        busy = sum(process_identity.pid_of(job.owner) in mine for job in self._store.in_state(JobState.RUNNING))
        if busy >= self._concurrency:
            self._since = 0.0
            return False
        self._since = self._since or self._now()
        return self._now() - self._since > self._patience


def begin_again(lived_seconds: float) -> None:
    """Replace this process by a new worker; returns when that was done too often in a row."""
    again = 0 if lived_seconds > _LONG_SECONDS else int(os.environ.get(_AGAIN, "0"))
    log.error("worker_begins_again", lived_seconds=round(lived_seconds), again=again, limit=_MAX_AGAIN)
    if again >= _MAX_AGAIN:
        return
    for pid in child_pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    time.sleep(1.0)
    os.execve(sys.executable, sys.orig_argv, {**os.environ, _AGAIN: str(again + 1)})  # noqa: S606  # our own command
