"""Prepares passages for ranking after a start, before a search needs them."""

from __future__ import annotations

import asyncio
import itertools

from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_retriever.core.ranking import ranking
from quelea_retriever.library import Library

log = get_logger(__name__)

_SLICE = 4
"""Passages: less than 1 ms of work, after which a search gets its turn."""
_PAUSE_SECONDS = 0.02
_LARGEST = 1000
"""A document is fetched whole, and one of more passages would keep the store busy for too long."""


async def warm(library: Library, limit: int = ranking.VIEWS_HELD) -> int:
    """Prepare at most `limit` passages, those of the documents committed last; how many it were.

    Works in small slices with pauses between them. A store that fails ends it: the passages are then read when they
    are found.
    """
    records = sorted(library.snapshot.by_version.values(), key=lambda record: record.committed, reverse=True)
    fitting = [record for record in records if record.facts.passages <= _LARGEST]
    held = itertools.accumulate(record.facts.passages for record in fitting)
    chosen = [record.version for record, total in zip(fitting, held, strict=True) if total <= limit]
    done = 0
    for version in reversed(chosen):  # the newest last, so that they are held longest
        try:
            passages = await library.store.passages(version)
        except QueleaError as error:
            log.warning("warming_ended", passages=done, why=error.message)
            return done
        for start in range(0, len(passages), _SLICE):
            part = passages[start : start + _SLICE]
            await asyncio.to_thread(ranking.prepare, part)
            done += len(part)
            await asyncio.sleep(_PAUSE_SECONDS)
    log.info("warmed", passages=done)
    return done
