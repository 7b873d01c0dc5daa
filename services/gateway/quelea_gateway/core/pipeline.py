"""Ask: retrieve K, judge them, search the web where they are not enough, show the best J to the reader, cite, check."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace

from quelea_fintext.text import estimate_tokens, language_of
from quelea_kit.errors import Conflict, DeadlineExceeded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core.answers.evidence import choose, cite, figures_of, listing, put_first, record
from quelea_gateway.core.answers.fetch_offer import offers_for
from quelea_gateway.core.answers.notices import not_covered, notices_for, say
from quelea_gateway.core.answers.numbering import StreamedMarkers, by_appearance
from quelea_gateway.core.asking.asked_periods import AskedPeriods
from quelea_gateway.core.asking.follow_ups import query_for, standing_alone
from quelea_gateway.core.asking.query_plan import QueryPlanner, merge
from quelea_gateway.core.asking.question import MAX_K
from quelea_gateway.core.clock import Clock
from quelea_gateway.core.draft import DraftWriter, Sources
from quelea_gateway.core.gate.gates import Gate
from quelea_gateway.core.gate.reasons import say as say_why
from quelea_gateway.core.model import (
    Answer,
    Citation,
    Delta,
    FetchOffer,
    Figure,
    Filters,
    Finished,
    Kept,
    Passage,
    Question,
    Quote,
    Quoted,
    ReaderInfo,
    Reading,
    Retrieved,
    Started,
    Verdict,
    WebTrace,
)
from quelea_gateway.core.ports import Checker, FilingSources, Generator, Retriever
from quelea_gateway.core.review import answer_review, stand_in
from quelea_gateway.core.review.decline import Decline, DeclineReason, decline
from quelea_gateway.core.review.verdicts import Grounding
from quelea_gateway.core.web.merge import drop_later, fill_reading
from quelea_gateway.core.web.route import WebRoute

log = get_logger(__name__)

_EVERYTHING = Filters()
_ANY_TIME = AskedPeriods()
_PERIOD_REASONS = {
    "no_such_period": DeclineReason.NO_SUCH_PERIOD,
    "out_of_reach": DeclineReason.NO_SUCH_PERIOD,
    "no_such_kind": DeclineReason.NO_SUCH_PERIOD,
    "period_not_begun": DeclineReason.PERIOD_NOT_BEGUN,
    "longer_period": DeclineReason.PERIOD_NOT_COVERED,
    "period_unnamed": DeclineReason.PERIOD_NOT_COVERED,
}
"""What a notice about a period means for the answer."""
KEPT_SECONDS = 0.3
"""An answer that is written waits so long for what became of its useful pages."""


class ReaderFailed(Exception):
    """The evidence is there and the answer is not: the reader's error, with what had been found."""

    def __init__(self, error: QueleaError, started: Started) -> None:
        super().__init__(error.message)
        self.error = error
        self.started = started


@dataclass
class _Basis:
    """What an answer is written from, and how it was come by."""

    retrieved: Retrieved
    """All passages, best first, and the reading as the knowledge base alone has it."""
    gate: Verdict
    searches: tuple[str, ...] = ()
    """What was searched for beside the question."""
    route: str = "local"
    web: WebTrace | None = None
    notices: tuple[str, ...] = ()
    keeping: asyncio.Future[tuple[Kept, ...]] | None = None
    evidence: tuple[Passage, ...] = ()
    further_reading: tuple[Citation, ...] = ()
    """The passages found and not shown to the reader."""
    periods: AskedPeriods = _ANY_TIME
    figures: tuple[Figure, ...] = ()
    """What statements in the evidence say to the question."""
    shortfall: Decline | None = None
    """What the evidence is known to lack before anyone has read it."""
    sources: Sources = field(default_factory=lambda: Sources(()))
    """What a draft points at: the evidence and the figures."""

    async def read_sources(self, text: str) -> None:
        """Read the evidence's figures, beside the event loop, when a draft begins to point at them."""
        if "{" in text and not self.sources.loaded:
            await asyncio.to_thread(self.sources.load)

    def seen(self) -> Retrieved:
        """The reading in the light of the evidence: the web may have what the knowledge base does not."""
        return replace(self.retrieved, reading=fill_reading(self.retrieved.reading, self.evidence))


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
        self._gate = gate
        self._checker = checker
        self._web = web
        self._count = count
        self._filings = filings
        self._planner = planner
        self._report = report

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
        basis = await self._basis(question, reader, clock, plans=not periods.impossible)
        basis.periods = periods
        self._choose(question, basis, reader.evidence_tokens)
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
        stands_in = finished.reader != reader.reader and reader.reader != answer_review.QUOTING
        answer = numbering.of_answer(_answer(question, done, finished, basis, clock), sources)
        offers = await self._offers(question, basis.retrieved.reading, done.declined)
        shown = tuple(numbering[old] for old in streamed.order)
        yield replace(answer, offers=offers, stands_in=stands_in, streamed=shown)

    def _choose(self, question: Question, basis: _Basis, budget: int) -> None:
        """Put what the reader is shown, and what it is not, into the basis.

        Of a period that does not exist, or that nothing found is of, nothing is evidence, whatever fits the other
        words: the reader declines.
        """
        passages, periods, language = basis.retrieved.passages, basis.periods, language_of(question.text)
        figures = () if periods.impossible else basis.retrieved.figures
        stating = tuple(dict.fromkeys(one.passage for figure in figures for one in figure.operands))
        passages, j = put_first(passages, stating), max(question.j, len(stating))
        evidence, rest = choose(passages, j=j, budget=budget, count=self._count)
        basis.figures = figures if set(stating) <= set(evidence) else ()
        unanswerable = periods.impossible or (not basis.figures and periods.unanswered(evidence))
        if unanswerable:
            evidence, rest = choose(passages, j=0, budget=budget, count=self._count)
        basis.evidence, basis.further_reading = evidence, listing(rest, len(evidence) + 1)
        basis.sources = Sources(evidence, basis.figures)
        reading = basis.seen().reading
        if basis.figures:
            return
        if unanswerable or periods.incomplete(evidence):
            name, detail = periods.notices(evidence, ())[0]
            basis.shortfall = Decline(_PERIOD_REASONS[name], say(name, language, detail))
        elif not passages:
            basis.shortfall = decline(DeclineReason.NO_EVIDENCE, language, question.as_of)
        elif reading.company_missing or reading.period_missing:
            company = reading.company_missing
            reason = DeclineReason.COMPANY_NOT_COVERED if company else DeclineReason.PERIOD_NOT_COVERED
            basis.shortfall = Decline(reason, " ".join(not_covered(reading, language)))

    async def _standing_alone(self, question: Question, clock: Clock) -> Question:
        """The question with what it takes from its history; where the generator cannot say, the old way to search."""
        if not question.history:
            return question
        try:
            with clock.waiting("rewrite"):
                return replace(question, standalone=await standing_alone(question, self._retriever, self._generator))
        except QueleaError:
            return replace(question, searched=query_for(question.text, question.history))

    async def _basis(self, question: Question, reader: ReaderInfo, clock: Clock, *, plans: bool) -> _Basis:
        """The local passages, or, where they are not enough or the web was asked for, those and the web's."""
        if question.route == "web" and await self._providers(clock) == ():
            raise Conflict("No web search is configured; use route auto or local.", details={"field": "route"})
        with clock.waiting("retrieve"):
            retrieved = await self._retrieve(question, question.query)
        searches = await self._searches(question, retrieved, reader, clock) if plans else ()
        if searches:
            with clock.waiting("retrieve"):
                retrieved = merge(retrieved, await self._search_each(question, searches), question.k)
        verdict = self._gate.judge(question, retrieved)
        if retrieved.figures:
            verdict = replace(verdict, passed=True, reasons=(say_why("stated", language_of(question.text)),))
        basis = _Basis(retrieved, verdict, searches)
        if question.route == "local" or (question.route == "auto" and verdict.passed):
            return basis
        if self._web is None or await self._providers(clock) == ():
            basis.notices = ("no_web",)
            return basis
        if question.route == "auto" and question.filters != _EVERYTHING:
            basis.notices = ("filtered",)  # the caller said which documents may answer, and a page is none of them
            return basis
        outcome = await self._web.take(question, retrieved)
        clock.waits.update({stage: clock.waits.get(stage, 0.0) + ms for stage, ms in outcome.waits.items()})
        basis.retrieved = replace(retrieved, passages=outcome.passages, stages={**retrieved.stages, **outcome.stages})
        basis.route = "local+web" if outcome.merged else "local"
        basis.web, basis.notices, basis.keeping = outcome.trace, outcome.notices, outcome.keeping
        return basis

    async def _providers(self, clock: Clock) -> tuple[str, ...] | None:
        if self._web is None:
            return ()
        with clock.waiting("web"):
            return await self._web.providers()

    async def _offers(self, question: Question, reading: Reading, declined: Decline | None) -> tuple[FetchOffer, ...]:
        """The filings that could be fetched for a question that was declined."""
        if declined is None or self._filings is None:
            return ()
        sources = await self._filings.filing_sources()
        return offers_for(reading, declined, language=language_of(question.text), as_of=question.as_of, sources=sources)

    async def _searches(
        self, question: Question, retrieved: Retrieved, reader: ReaderInfo, clock: Clock
    ) -> tuple[str, ...]:
        """What the planner adds; nothing where quotes alone answer, or where statements have what is asked for."""
        quoting = reader.reader == answer_review.QUOTING or question.model == stand_in.QUOTING_MODEL
        stated = retrieved.figures and not retrieved.reading.is_comparison
        if self._planner is None or quoting or stated:
            return ()
        with clock.waiting("plan"):
            return await self._planner.searches(question)

    async def _search_each(self, question: Question, searches: tuple[str, ...]) -> list[Retrieved]:
        """The results of the searches that did not fail."""
        found = await asyncio.gather(*(self._retrieve(question, one) for one in searches), return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, QueleaError):
                raise one
        return [one for one in found if isinstance(one, Retrieved)]

    async def _retrieve(self, question: Question, query: str) -> Retrieved:
        """The k best passages that were known on the day of the question."""

        async def best(k: int) -> Retrieved:
            return await self._retriever.search(query, k=k, as_of=question.as_of, filters=question.filters)

        found = await best(question.k)
        known = drop_later(found.passages, question.as_of)
        if len(known) == len(found.passages):
            return found
        if len(found.passages) >= question.k < MAX_K:  # later ones had taken the place of others: look further down
            found = await best(min(MAX_K, 4 * question.k))
            known = drop_later(found.passages, question.as_of)[: question.k]
        return replace(found, passages=known, best_cosine=max((p.cosine for p in known), default=0.0))

    async def _write(
        self,
        question: Question,
        basis: _Basis,
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
        basis: _Basis,
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
        self, question: Question, basis: _Basis, reader: ReaderInfo
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
        self, question: Question, basis: _Basis, clock: Clock
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


def _writer(question: Question, basis: _Basis, reader: ReaderInfo) -> DraftWriter | None:
    """None for the reader whose text is final: braces in its quotes are the evidence's own."""
    if reader.reader == answer_review.QUOTING:
        return None
    return DraftWriter(basis.sources, language_of(question.text))


def _basis_of(question: Question, basis: _Basis) -> answer_review.Basis:
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
    question: Question, done: answer_review.ReviewedAnswer, finished: Finished, basis: _Basis, clock: Clock
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
