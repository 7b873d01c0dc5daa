"""Ask: retrieve K, show the best J to the reader, cite, check."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from quelea_kit.errors import QueleaError, Unavailable
from quelea_kit.text import estimate_tokens, language_of

from quelea_gateway.core.citations import assemble, check
from quelea_gateway.core.evidence import choose, cite, listing
from quelea_gateway.core.followup import query_for
from quelea_gateway.core.model import (
    Answer,
    Check,
    Citation,
    Delta,
    Finished,
    Generator,
    Passage,
    Question,
    Quote,
    Retrieved,
    Retriever,
    Started,
)
from quelea_gateway.core.notices import notices_for


class ReaderFailed(Exception):
    """The evidence is there and the answer is not: the reader's error, with what had been found."""

    def __init__(self, error: QueleaError, started: Started) -> None:
        super().__init__(error.message)
        self.error = error
        self.started = started


@dataclass
class _Clock:
    """Milliseconds since the start, and those spent waiting for other services."""

    started: float
    retrieve: float = 0.0
    generate: float = 0.0

    def timings(self, stages: dict[str, float]) -> dict[str, float]:
        total = (time.perf_counter() - self.started) * 1000
        own = total - self.retrieve - self.generate
        found = {"retrieve": self.retrieve, "generate": self.generate, "gateway": own, "total": total, **stages}
        return {name: round(value, 2) for name, value in found.items()}


class Pipeline:
    """The ask pipeline over a retriever and a generator.

    Args:
        retriever: Finds passages.
        generator: Writes answers.
        count: Estimates tokens of a text.
    """

    def __init__(
        self, retriever: Retriever, generator: Generator, *, count: Callable[[str], int] = estimate_tokens
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._count = count

    async def ask(self, question: Question) -> AsyncGenerator[Started | Delta | Answer, None]:
        """Started, deltas, Answer.

        Raises:
            QueleaError: the retrieval failed.
            ReaderFailed: the reader failed; carries the evidence.
        """
        clock = _Clock(time.perf_counter())
        retrieved, budget = await self._retrieve(question, clock)
        evidence, rest = choose(retrieved.passages, j=question.j, budget=budget, count=self._count)
        started = Started(
            reading=retrieved.reading,
            evidence=tuple(cite(passage, number) for number, passage in enumerate(evidence, start=1)),
            further_reading=listing(rest, len(evidence) + 1),
        )
        yield started
        text: list[str] = []
        quotes: list[Quote] = []
        finished: Finished | None = None
        try:
            async with contextlib.aclosing(self._events(question, evidence, retrieved, clock)) as events:
                async for event in events:
                    if isinstance(event, Delta):
                        text.append(event.text)
                        yield event
                    elif isinstance(event, Quote):
                        quotes.append(event)
                    else:
                        finished = event
            if finished is None:
                raise Unavailable(
                    "The reader ended before its answer was complete.", details={"dependency": "generator"}
                )
        except QueleaError as error:
            raise ReaderFailed(error, started) from error
        yield self._answer(question, "".join(text), quotes, finished, evidence, rest, retrieved, clock)

    async def _retrieve(self, question: Question, clock: _Clock) -> tuple[Retrieved, int]:
        budget = (await self._generator.info()).evidence_tokens
        waiting = time.perf_counter()
        retrieved = await self._retriever.search(
            query_for(question.text, question.history), k=question.k, as_of=question.as_of, filters=question.filters
        )
        clock.retrieve = (time.perf_counter() - waiting) * 1000
        return retrieved, budget

    async def _events(
        self, question: Question, evidence: tuple[Passage, ...], retrieved: Retrieved, clock: _Clock
    ) -> AsyncGenerator[Delta | Quote | Finished, None]:
        """The reader's events; only the waiting for them counts as the reader's time."""
        reading = retrieved.reading
        incomplete = reading.company_missing or reading.period_missing
        source = self._generator.generate(question, evidence, evidence_incomplete=incomplete)
        waiting = time.perf_counter()
        try:
            async for event in source:
                clock.generate += (time.perf_counter() - waiting) * 1000
                yield event
                waiting = time.perf_counter()
            clock.generate += (time.perf_counter() - waiting) * 1000
        finally:
            close = getattr(source, "aclose", None)
            if close:
                await close()

    def _answer(
        self,
        question: Question,
        text: str,
        quotes: list[Quote],
        finished: Finished,
        evidence: tuple[Passage, ...],
        rest: tuple[Passage, ...],
        retrieved: Retrieved,
        clock: _Clock,
    ) -> Answer:
        declined = finished.reason == "declined"
        citations: tuple[Citation, ...] = ()
        further = listing(rest, len(evidence) + 1)
        checks: tuple[Check, ...] = ()
        if declined:
            further = listing(evidence + rest, 1)
        else:
            citations, faults = assemble(text, quotes, evidence)
            checks = check(text, citations, evidence, faults)
        language = language_of(question.text)
        answer = Answer(
            answer=text,
            citations=citations,
            further_reading=further,
            route="local",
            as_of=question.as_of,
            reader=finished.reader,
            checks=checks,
            timings={},
            reading=retrieved.reading,
            declined=declined,
            language=language,
            notices=notices_for(retrieved, finished, citations, checks, language),
            model=finished.model,
            prompt_version=finished.prompt_version,
            finish_reason=finished.reason,
            prompt_tokens=finished.prompt_tokens,
            completion_tokens=finished.completion_tokens,
        )
        return replace(answer, timings=clock.timings(retrieved.stages))
