"""The extractive reader's answer beside a language model's: shown while that writes, and the answer where it cannot."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_gateway.core.model import Delta, Finished, Quote, ReaderInfo
from quelea_gateway.core.ports import Checker
from quelea_gateway.core.review.answer_review import Basis, Draft, ReviewedAnswer, review
from quelea_gateway.core.review.decline import DeclineReason

log = get_logger(__name__)

QUOTING_MODEL = "extractive-1"
"""The model's name under which a generator with a language model lets the extractive reader answer."""
SECONDS = 5.0
"""An answer whose model failed waits so long for the quotes."""
_UNUSABLE = frozenset(
    {DeclineReason.UNGROUNDED, DeclineReason.WEAK_EVIDENCE, DeclineReason.EMPTY_ANSWER, DeclineReason.ALL_WITHHELD}
)


@dataclass(frozen=True)
class StandIn:
    """The quotes as an answer."""

    done: ReviewedAnswer
    finished: Finished


def offers_quotes(reader: ReaderInfo) -> bool:
    """The reader is a language model, and the extractive reader answers beside it."""
    return QUOTING_MODEL in reader.adapters


def is_unusable(done: ReviewedAnswer) -> bool:
    """What the model wrote is no answer; that it declined itself is one."""
    return done.declined is not None and done.declined.reason in _UNUSABLE


async def read_quotes(
    events: AsyncGenerator[Delta | Quote | Finished, None], checker: Checker, basis: Basis
) -> StandIn | None:
    """The extractive reader's answer; None where it has none, or fails: the model is there to answer."""
    draft = Draft(ReaderInfo("extractive", QUOTING_MODEL, 0))
    try:
        async with contextlib.aclosing(events):
            async for event in events:
                draft.take(event)
        written = draft.written()
        done = await review(checker, written, basis)
    except QueleaError as error:
        log.warning("no_quotes", why=error.reason)
        return None
    return StandIn(done, written.finished) if done.declined is None else None


async def wait_for(reading: asyncio.Task[StandIn | None] | None) -> StandIn | None:
    """The quotes, once they are there; None where there are none in time."""
    if reading is None:
        return None
    await asyncio.wait({reading}, timeout=SECONDS)
    return result_of(reading)


def result_of(reading: asyncio.Task[StandIn | None]) -> StandIn | None:
    """What a reading has come to by now. Its faults cost the quotes alone."""
    if not reading.done() or reading.cancelled():
        return None
    if error := reading.exception():
        log.error("quotes_failed", exc_info=error)
        return None
    return reading.result()
