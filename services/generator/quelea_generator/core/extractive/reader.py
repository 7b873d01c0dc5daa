"""The extractive reader: it quotes, it does not write. Deterministic, no model, the default without an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from quelea_fintext.instructions import reads_like_instructions
from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import language_of, normalise
from quelea_kit.errors import NotFound

from quelea_generator.core.extractive.captions import is_caption
from quelea_generator.core.extractive.compose import lines, opening
from quelea_generator.core.extractive.computing.calculation import computed
from quelea_generator.core.extractive.computing.statements import OPENING
from quelea_generator.core.extractive.decline import decline_of, of_another_part, of_the_named
from quelea_generator.core.extractive.opinions import opinion_asked
from quelea_generator.core.extractive.parents import of_whom
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.extractive.scoring import WEIGHTS, Candidate, candidates, states_item
from quelea_generator.core.extractive.selection import select
from quelea_generator.core.extractive.subjects import is_about, named_first, nobody_speaks_of, of_places, subjects_of
from quelea_generator.core.model import Decline, Delta, Event, Finished, Quote, Task

MOST_QUOTES = 3
_FULL = sum(weight for weight in WEIGHTS.values() if weight > 0)
"""Score of a span that has everything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The lines of an answer and the quotes behind them in the same order, or why there is none."""

    lines: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    decline: Decline | None = None


def answer(task: Task) -> Answer:
    """What the evidence says, quoted.

    Passages that read like instructions are looked at only when the others do not answer, and never quoted where they
    do so.
    """
    suspects = {item.number for item in task.evidence if item.suspicious or reads_like_instructions(item.text)}
    if not suspects:
        return _answer(task)
    plain = tuple(item for item in task.evidence if item.number not in suspects)
    found = _answer(replace(task, evidence=plain))
    if found.decline is None:
        return found
    # One that the caller suspects, without a sentence here that shows why, is left out whole.
    known = tuple(i for i in task.evidence if i.number not in suspects or reads_like_instructions(i.text))
    return _answer(replace(task, evidence=known))


def _answer(task: Task) -> Answer:
    if nobody_speaks_of(task.question, task.evidence):
        return Answer(decline=Decline("no_evidence", "No passage speaks of the company that the question names."))
    asked = read_question(task)
    opinion = opinion_asked(normalise(task.question))
    if not opinion and (sure := computed(task, asked)) and not any(_instructs(row) for row in sure.rows):
        head = opening(asked.language) if sure.is_stated else OPENING[asked.language]
        return Answer((head, sure.line), tuple(_quote(row) for row in sure.rows))
    bad = {item.number for item in task.evidence if reads_like_instructions(item.text)}
    ranked = [one for one in candidates(asked, task.evidence) if one.evidence.number not in bad or not _instructs(one)]
    if not asked.when:
        ranked = [one for one in ranked if not is_caption(one.text)]
    if opinion:
        ranked = [one for one in ranked if states_item(asked, one)]
    subjects = subjects_of(task.question, task.evidence)
    if subjects:
        ranked = named_first(subjects, [one for one in ranked if is_about(subjects, one, figure=asked.wants_figure)])
    ranked = of_the_named(asked, of_places(task.question, ranked))
    ranked = of_whom(task.question, ranked, figure=asked.wants_figure)
    chosen = select(asked, ranked, most=MOST_QUOTES)
    if of_another_part(asked, chosen):
        chosen = select(asked, [one for one in ranked if not of_another_part(asked, [one])], most=MOST_QUOTES)
    chosen.sort(key=lambda one: of_another_part(asked, [one]))
    if decline := decline_of(task, asked, chosen, opinion):
        return Answer(decline=decline)
    return Answer((opening(asked.language, opinion), *lines(asked, chosen)), tuple(_quote(one) for one in chosen))


def _quote(one: Candidate) -> Quote:
    score = round(min(1.0, max(0.0, one.score / _FULL)), 4)
    return Quote(one.evidence.number, one.span.start, one.span.end, one.text, score)


def _instructs(one: Candidate) -> bool:
    """The candidate reads like instructions together with the lines around it, over which one may be broken."""
    text = one.evidence.text
    before, after = text[: one.span.start].split("\n"), text[one.span.end :].split("\n")
    return reads_like_instructions("\n".join(before[-2:]) + one.text + "\n".join(after[:2]))


class ExtractiveReader:
    """Reader that answers with the best supported sentences and table rows, or declines."""

    name = "extractive"
    model = "extractive-1"
    prompt_version = ""
    context_tokens = 0
    adapters: tuple[str, ...] = ()

    async def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """One delta per line, then the quotes, then Finished.

        Raises:
            NotFound: another model is asked for: nobody may take its quotes for that one's answer.
        """
        if task.model not in ("", self.model):
            raise NotFound(
                f"There is no model {task.model[:100]!r} here; the extractive reader is {self.model}. Leave model out.",
                details={"field": "model"},
            )
        # In a thread: some milliseconds of pure computing would hold up health checks and other callers' streams.
        found = await asyncio.to_thread(answer, task)
        if found.decline:
            yield Delta(REFUSALS[language_of(task.question)])
            yield Finished("declined", self.model, decline=found.decline)
            return
        for index, text in enumerate(found.lines):
            yield Delta(text if index == 0 else f"\n{text}")
        for quote in found.quotes:
            yield quote
        yield Finished("stop", self.model)

    async def ready(self) -> None:
        """Always: it needs nothing."""

    async def close(self) -> None:
        """Nothing to give back."""
