"""What an answer is written from: passages searched for here and on the web, and those of them that the reader sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from quelea_fintext.text import language_of
from quelea_kit.errors import Conflict, QueleaError

from quelea_gateway.core.answers.evidence import choose, listing, put_first
from quelea_gateway.core.answers.notices import not_covered, say
from quelea_gateway.core.asking.asked_periods import AskedPeriods
from quelea_gateway.core.asking.query_plan import QueryPlanner, merge
from quelea_gateway.core.asking.question import MAX_K
from quelea_gateway.core.clock import Clock
from quelea_gateway.core.draft import Sources
from quelea_gateway.core.gate.gates import Gate
from quelea_gateway.core.gate.reasons import say as say_why
from quelea_gateway.core.model import (
    Citation,
    Figure,
    Filters,
    Kept,
    Passage,
    Question,
    ReaderInfo,
    Retrieved,
    Verdict,
    WebTrace,
)
from quelea_gateway.core.ports import Retriever
from quelea_gateway.core.review import answer_review, stand_in
from quelea_gateway.core.review.decline import Decline, DeclineReason, decline
from quelea_gateway.core.web.merge import drop_later, fill_reading
from quelea_gateway.core.web.route import WebRoute

_EVERYTHING = Filters()
_PERIOD_REASONS = {
    "no_such_period": DeclineReason.NO_SUCH_PERIOD,
    "out_of_reach": DeclineReason.NO_SUCH_PERIOD,
    "no_such_kind": DeclineReason.NO_SUCH_PERIOD,
    "period_not_begun": DeclineReason.PERIOD_NOT_BEGUN,
    "longer_period": DeclineReason.PERIOD_NOT_COVERED,
    "period_unnamed": DeclineReason.PERIOD_NOT_COVERED,
}
"""What a notice about a period means for the answer."""


@dataclass
class AnswerBasis:
    """What an answer is written from, and how it was come by."""

    retrieved: Retrieved
    """All passages, best first, and the reading as the knowledge base alone has it."""
    gate: Verdict
    periods: AskedPeriods
    searches: tuple[str, ...] = ()
    """What was searched for beside the question."""
    route: str = "local"
    web: WebTrace | None = None
    notices: tuple[str, ...] = ()
    keeping: asyncio.Future[tuple[Kept, ...]] | None = None
    evidence: tuple[Passage, ...] = ()
    further_reading: tuple[Citation, ...] = ()
    """The passages found and not shown to the reader."""
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


class EvidenceSearch:
    """Finds what an answer is written from.

    Args:
        retriever: Finds passages.
        gate: Judges the local passages.
        web: The web step; None: there is no web.
        planner: Takes questions apart into searches; None: a question is searched as it is.
        count: Estimates tokens of a text.
    """

    def __init__(
        self,
        retriever: Retriever,
        gate: Gate,
        web: WebRoute | None,
        planner: QueryPlanner | None,
        count: Callable[[str], int],
    ) -> None:
        self._retriever = retriever
        self._gate = gate
        self._web = web
        self._planner = planner
        self._count = count

    async def find(self, question: Question, periods: AskedPeriods, reader: ReaderInfo, clock: Clock) -> AnswerBasis:
        """The local passages, or, where they are not enough or the web was asked for, those and the web's.

        Raises:
            QueleaError: the retrieval failed.
            Conflict: the web was asked for, and there is none.
        """
        if question.route == "web" and await self._providers(clock) == ():
            raise Conflict("No web search is configured; use route auto or local.", details={"field": "route"})
        with clock.waiting("retrieve"):
            retrieved = await self._retrieve(question, question.query)
        searches = () if periods.impossible else await self._searches(question, retrieved, reader, clock)
        if searches:
            with clock.waiting("retrieve"):
                retrieved = merge(retrieved, await self._search_each(question, searches), question.k)
        verdict = self._gate.judge(question, retrieved)
        if retrieved.figures:
            verdict = replace(verdict, passed=True, reasons=(say_why("stated", language_of(question.text)),))
        basis = AnswerBasis(retrieved, verdict, periods, searches)
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

    def choose(self, question: Question, basis: AnswerBasis, budget: int) -> None:
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
