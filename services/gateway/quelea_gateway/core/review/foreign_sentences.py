"""A checker for answers in another language than their evidence: the encoders are asked how alike sentences are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from quelea_checker import CheckPassage, Near, Report
from quelea_checker.verdicts.cross_language import Wanted, find_comparisons
from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_gateway.core.bound import Bound
from quelea_gateway.core.model import Passage, Ranked
from quelea_gateway.core.ports import Checker

log = get_logger(__name__)

SECONDS = 3.0
"""An answer waits so long for the cosines of all its sentences; for what is missing then the glossary is asked."""
MOST_WAITING = 16
"""Sentences compared at once, of all answers; those of further answers are left to the glossary."""


class Ranker(Protocol):
    """What is needed of the retriever."""

    async def rank(self, query: str, passages: Sequence[Passage]) -> tuple[Ranked, ...]:
        """The passages with their cosines to the query. Raises QueleaError."""
        ...


class MeaningChecker:
    """A checker that is told which sentences of the evidence are near to those of an answer in another language.

    Nothing is asked of an answer in a language of its passages, nor of a sentence with figures: they decide. Without
    the retriever the answer is checked all the same.

    Args:
        checker: Gives the verdicts.
        ranker: Knows the encoder.
        seconds: How long an answer waits for it.
    """

    def __init__(self, checker: Checker, ranker: Ranker, *, seconds: float = SECONDS) -> None:
        self._checker = checker
        self._ranker = ranker
        self._seconds = seconds
        self._bound = Bound(MOST_WAITING)

    async def check(
        self,
        answer: str,
        passages: Sequence[CheckPassage],
        *,
        question: str = "",
        near: Mapping[str, Sequence[Near]] = MappingProxyType({}),
    ) -> Report:
        """See checking.check_answer; `near` is added to. Raises QueleaError."""
        asked = find_comparisons(answer, passages)
        with self._bound.take(len(asked)) as room:
            if asked and room:
                near = {**near, **await self._compare(asked)}
        if not near:
            return await self._checker.check(answer, passages, question=question)
        return await self._checker.check(answer, passages, question=question, near=near)

    async def _compare(self, asked: Sequence[Wanted]) -> dict[str, tuple[Near, ...]]:
        tasks = [asyncio.ensure_future(self._near(one)) for one in asked]
        try:
            done, _ = await asyncio.wait(tasks, timeout=self._seconds)
        finally:
            for task in tasks:
                task.cancel()
        found = {}
        for one, task in zip(asked, tasks, strict=True):
            if task not in done:
                continue
            error = task.exception()
            if error is None:
                found[one.sentence] = task.result()
            elif not isinstance(error, QueleaError):
                raise error
        if len(found) < len(asked):
            log.warning("meanings_missing", sentences=len(asked), compared=len(found))
        return found

    async def _near(self, one: Wanted) -> tuple[Near, ...]:
        texts = [Passage(document_id="", page=0, start=0, end=0, text=text, source="web") for _, text in one.candidates]
        ranked = await self._ranker.rank(one.sentence, texts)
        return tuple(Near(*one.candidates[each.index], each.cosine) for each in ranked)
