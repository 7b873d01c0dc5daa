"""Ask: retrieve K, judge them, search the web where they are not enough, show the best J to the reader, cite, check."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from quelea_fintext.text import estimate_tokens, language_of
from quelea_kit.errors import DeadlineExceeded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core.answers.evidence import cite, figures_of, listing, record
from quelea_gateway.core.answers.fetch_offer import offers_for, say_what
from quelea_gateway.core.answers.notices import notices_for, say
from quelea_gateway.core.answers.numbering import StreamedMarkers, by_appearance
from quelea_gateway.core.asking.asked_periods import AskedPeriods
from quelea_gateway.core.asking.follow_ups import query_for, standing_alone
from quelea_gateway.core.asking.query_plan import QueryPlanner
from quelea_gateway.core.clock import Clock
from quelea_gateway.core.draft import DraftWriter
from quelea_gateway.core.evidence_search import AnswerBasis, EvidenceSearch
from quelea_gateway.core.gate.gates import Gate
from quelea_gateway.core.model import (
    Answer,
    Delta,
    FetchOffer,
    Finished,
    Kept,
    Question,
    Quote,
    Quoted,
    ReaderInfo,
    Reading,
    Started,
)
from quelea_gateway.core.ports import Checker, FilingSources, Generator, Retriever
from quelea_gateway.core.review import answer_review, stand_in
from quelea_gateway.core.review.decline import Decline
from quelea_gateway.core.review.verdicts import Grounding
from quelea_gateway.core.web.route import WebRoute

log = get_logger(__name__)

KEPT_SECONDS = 0.3
"""An answer that is written waits so long for what became of its useful pages."""


class ReaderFailed(Exception):
    """The evidence is there and the answer is not: the reader's error, with what had been found."""

    def __init__(self, error: QueleaError, started: Started) -> None:
        super().__init__(error.message)
        self.error = error
        self.started = started


class Pipeline:
    """The ask pipeline over a retriever, a generator and perhaps the web.

    Args:
        retriever: Finds passages.
        generator: Writes answers.
        gate: Judges the local passages.
        checker: Checks answers.
        web: The web step; None: there is no web.
        count: Estimates tokens of a text.
        filings: Says which sources filings are fetched from; None: from none.
        planner: Takes questions apart into searches; None: a question is searched as it is.
        report: Hears of each question.
    """

    def __init__(
        self,
        retriever: Retriever,
        generator: Generator,
        gate: Gate,
        checker: Checker,
        web: WebRoute | None = None,
        *,
        count: Callable[[str], int] = estimate_tokens,
        filings: FilingSources | None = None,
        planner: QueryPlanner | None = None,
        report: Callable[[Question], None] = lambda _: None,
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._checker = checker
        self._filings = filings
        self._report = report
        self._search = EvidenceSearch(retriever, gate, web, planner, count)

    async def ask(self, question: Question) -> AsyncGenerator[Started | Quoted | Delta | Grounding | Answer, None]:
        """Started, deltas, the verdicts on them (Grounding, where the check could be made), Answer.

        Where a language model writes, and quotes answer too, these come before its first word (Quoted), and are the
        answer when it fails or nothing that it wrote is borne out.
        Of a strict question the text comes as one delta once it was checked.

        Raises:
            QueleaError: the retrieval failed.
            Conflict: the web was asked for, and there is none.
            ReaderFailed: the reader failed; carries the evidence.
        """
        clock = Clock()
        self._report(question)
        question = await self._standing_alone(question, clock)
        reader = await self._generator.info()
        periods = AskedPeriods.of(question.asked, question.as_of)
        if periods.impossible:
            question = replace(question, route="local")  # nor can the web have anything of it
        basis = await self._search.find(question, periods, reader, clock)
        self._search.choose(question, basis, reader.evidence_tokens)
        started = Started(
            reading=basis.retrieved.reading,
            evidence=tuple(cite(passage, number) for number, passage in enumerate(basis.evidence, start=1)),
            further_reading=basis.further_reading,
            route=basis.route,
            gate=basis.gate,
            web=basis.web,
            standalone=question.standalone,
            searches=basis.searches,
        )
        yield started
        draft = answer_review.Draft(reader, _writer(question, basis, reader))
        streamed = StreamedMarkers(basis.evidence)
        quotes = self._read_quotes(question, basis, reader)
        try:
            async with contextlib.aclosing(self._write(question, basis, draft, quotes, streamed, clock)) as pieces:
                async for piece in pieces:
                    yield piece
            done, finished = await self._review(question, basis, draft, quotes, clock)
        except QueleaError as error:
            # Of a request that was refused the caller hears, whatever could be quoted.
            failed = isinstance(error, Unavailable | DeadlineExceeded)
            found = await stand_in.wait_for(quotes) if failed else None
            if found is None:
                raise ReaderFailed(error, started) from error
            log.warning("model_failed", why=error.reason)
            done, finished = _standing_in(found, "model_failed")
        finally:
            if quotes:
                quotes.cancel()
                await asyncio.wait({quotes})
        sources = [passage.text for passage in basis.evidence]
        numbering = by_appearance(done.text, basis.evidence)
        if question.strict:
            yield Delta(numbering.of_text(done.text, sources).text, numbering.of_citations(done.citations))
        if done.grounding:
            yield numbering.of_grounding(done.grounding, sources)
        if basis.web and basis.keeping:
            basis.web = replace(basis.web, kept=await _await_kept(basis.keeping, clock))
        # A generator may answer by quotes itself: then they are what was streamed.
        stands_in = finished.reader != reader.reader and finished is not draft.finished
        answer = numbering.of_answer(_answer(question, done, finished, basis, clock), sources)
        offers = await self._offers(question, basis.retrieved.reading, done.declined)
        if offers and not question.may_fetch:
            notice = say("only_reads", answer.language, say_what(offers))
            answer, offers = replace(answer, notices=(*answer.notices, notice)), ()
        shown = tuple(numbering[old] for old in streamed.order)
        yield replace(answer, offers=offers, stands_in=stands_in, streamed=shown)

    async def _standing_alone(self, question: Question, clock: Clock) -> Question:
        """The question with what it takes from its history; where the generator cannot say, the old way to search."""
        if not question.history:
            return question
        try:
            with clock.waiting("rewrite"):
                return replace(question, standalone=await standing_alone(question, self._retriever, self._generator))
        except QueleaError:
            return replace(question, searched=query_for(question.text, question.history))

    async def _offers(self, question: Question, reading: Reading, declined: Decline | None) -> tuple[FetchOffer, ...]:
        """The filings that could be fetched for a question that was declined."""
        if declined is None or self._filings is None:
            return ()
        sources = await self._filings.filing_sources()
        return offers_for(reading, declined, language=language_of(question.text), as_of=question.as_of, sources=sources)

    async def _write(
        self,
        question: Question,
        basis: AnswerBasis,
        draft: answer_review.Draft,
        quotes: asyncio.Task[stand_in.StandIn | None] | None,
        streamed: StreamedMarkers,
        clock: Clock,
    ) -> AsyncGenerator[Quoted | Delta, None]:
        """What is shown while the reader writes into the draft; of a strict question nothing that it writes."""
        async with (
            contextlib.aclosing(self._events(question, basis, clock)) as source,
            contextlib.aclosing(_with_quotes(source, quotes)) as events,
        ):
            async for event in events:
                if isinstance(event, Quoted):
                    numbering = by_appearance(event.text, basis.evidence)
                    yield numbering.of_quoted(event, [passage.text for passage in basis.evidence])
                    continue
                draft.take(event)
                if isinstance(event, Delta):
                    await basis.read_sources(event.text)
                    if not question.strict and (piece := Delta(*streamed.feed(draft.shown(event.text)))).text:
                        yield piece
                if draft.endless:
                    break
        if not question.strict:
            for text, cited in (streamed.feed(draft.rest()), streamed.finish()):
                if text:
                    yield Delta(text, cited)

    async def _review(
        self,
        question: Question,
        basis: AnswerBasis,
        draft: answer_review.Draft,
        quotes: asyncio.Task[stand_in.StandIn | None] | None,
        clock: Clock,
    ) -> tuple[answer_review.ReviewedAnswer, Finished]:
        """The draft as it may be shown; the quotes where nothing of it may. Raises QueleaError."""
        written = draft.written()
        with clock.part("gateway_check"):
            done = await answer_review.review(self._checker, written, _basis_of(question, basis))
        if stand_in.is_unusable(done) and (found := await stand_in.wait_for(quotes)):
            return _standing_in(found, "model_unusable")
        return done, written.finished

    def _read_quotes(
        self, question: Question, basis: AnswerBasis, reader: ReaderInfo
    ) -> asyncio.Task[stand_in.StandIn | None] | None:
        """The extractive reader at work beside the model; None where it is not there, or was itself asked."""
        if not stand_in.offers_quotes(reader) or question.model == stand_in.QUOTING_MODEL:
            return None
        source = self._generator.generate(
            replace(question, model=stand_in.QUOTING_MODEL),
            basis.evidence,
            evidence_incomplete=basis.shortfall is not None,
            figures=basis.figures,
        )
        return asyncio.create_task(stand_in.read_quotes(source, self._checker, _basis_of(question, basis)))

    async def _events(
        self, question: Question, basis: AnswerBasis, clock: Clock
    ) -> AsyncGenerator[Delta | Quote | Finished, None]:
        """The reader's events; only the waiting for them counts as the reader's time."""
        incomplete = basis.shortfall is not None
        source = self._generator.generate(
            question, basis.evidence, evidence_incomplete=incomplete, figures=basis.figures
        )
        async with contextlib.aclosing(source) as events:
            while True:
                with clock.waiting("generate"):
                    event = await anext(events, None)
                if event is None:
                    return
                yield event


async def _with_quotes(
    events: AsyncGenerator[Delta | Quote | Finished, None], quotes: asyncio.Task[stand_in.StandIn | None] | None
) -> AsyncGenerator[Quoted | Delta | Quote | Finished, None]:
    """The model's events; before the first of them the quotes, where those are there sooner."""
    first = asyncio.ensure_future(anext(events, None))
    try:
        if quotes:
            await asyncio.wait({first, quotes}, return_when=asyncio.FIRST_COMPLETED)
            if not first.done() and (found := stand_in.result_of(quotes)):
                yield Quoted(found.done.text, found.done.citations)
        event = await first
    finally:
        if not first.done():
            first.cancel()
            await asyncio.wait({first})
    while event is not None:
        yield event
        event = await anext(events, None)


def _standing_in(found: stand_in.StandIn, why: str) -> tuple[answer_review.ReviewedAnswer, Finished]:
    """The quotes as the answer, with a word on why."""
    return replace(found.done, notices=((why, ""), *found.done.notices)), found.finished


async def _await_kept(keeping: asyncio.Future[tuple[Kept, ...]], clock: Clock) -> tuple[Kept, ...]:
    """What became of the useful pages, when it is known by now or in a moment."""
    if not keeping.done():
        with clock.waiting("keep"):
            await asyncio.wait({keeping}, timeout=KEPT_SECONDS)
    return keeping.result() if keeping.done() and not keeping.cancelled() else ()


def _writer(question: Question, basis: AnswerBasis, reader: ReaderInfo) -> DraftWriter | None:
    """None for the reader whose text is final: braces in its quotes are the evidence's own."""
    if reader.reader == answer_review.QUOTING:
        return None
    return DraftWriter(basis.sources, language_of(question.text))


def _basis_of(question: Question, basis: AnswerBasis) -> answer_review.Basis:
    return answer_review.Basis(
        question=question.asked,
        language=language_of(question.text),
        evidence=basis.evidence,
        enough=basis.gate.passed or basis.route != "local",
        companies=basis.seen().reading.companies,
        company_missing=basis.seen().reading.company_missing,
        figures=basis.figures,
        shortfall=basis.shortfall,
        strict=question.strict,
        sources=basis.sources,
    )


def _answer(
    question: Question, done: answer_review.ReviewedAnswer, finished: Finished, basis: AnswerBasis, clock: Clock
) -> Answer:
    language = language_of(question.text)
    told = [] if basis.figures else basis.periods.notices(basis.evidence, done.citations)
    answer = Answer(
        answer=done.text,
        citations=done.citations,
        further_reading=(*listing(basis.evidence, 1), *basis.further_reading)
        if done.declined
        else basis.further_reading,
        route=basis.route,
        as_of=question.as_of,
        reader=finished.reader,
        checks=done.checks,
        timings={},
        reading=basis.retrieved.reading,
        declined=done.declined,
        language=language,
        notices=notices_for(
            basis.seen(), finished, language, basis.notices, (*told, *done.notices), as_of=question.as_of
        ),
        model=finished.model,
        prompt_version=finished.prompt_version,
        finish_reason="declined" if done.declined else finished.reason,
        prompt_tokens=finished.prompt_tokens,
        completion_tokens=finished.completion_tokens,
        gate=basis.gate,
        web=basis.web,
        grounding=done.grounding,
        standalone=question.standalone,
        searches=basis.searches,
        evidence=record(basis.evidence),
        figures=() if done.declined else (*figures_of(basis.figures, basis.evidence), *done.figures),
    )
    return replace(answer, timings=clock.timings(basis.retrieved.stages))
