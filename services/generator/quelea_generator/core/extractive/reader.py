"""The extractive reader: it quotes, it does not write. Deterministic, no model, the default without an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from types import MappingProxyType

from quelea_fintext.asked_lines import asks_why
from quelea_fintext.instructions import instruction_spans, reads_like_instructions
from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import language_of, normalise
from quelea_kit.errors import NotFound

from quelea_generator.core.extractive.answer_text import meant_cells, opening, write_lines
from quelea_generator.core.extractive.computing.calculation import compute_answer
from quelea_generator.core.extractive.computing.statements import OPENING
from quelea_generator.core.extractive.decline import find_decline, keep_named, lacks_qualifier
from quelea_generator.core.extractive.offices import keep_holders
from quelea_generator.core.extractive.opinions import opinion_asked
from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.extractive.scoring import WEIGHTS, Candidate, has_figure, score_candidates, states_item
from quelea_generator.core.extractive.selection import select
from quelea_generator.core.extractive.spans import is_caption
from quelea_generator.core.extractive.subjects import (
    find_subjects,
    is_about,
    keep_places,
    keep_topic,
    names_unmentioned_company,
    rank_named_first,
    separate_parent_company,
)
from quelea_generator.core.extractive.table_heads import is_longer, speaks_of_quarter
from quelea_generator.core.figures import write_figures
from quelea_generator.core.model import Decline, Delta, Event, Finished, Quote, Task

MOST_QUOTES = 3
_FULL = sum(weight for weight in WEIGHTS.values() if weight > 0)
"""Score of a span that has everything."""


_OF_STATEMENTS = MappingProxyType(
    {
        "en": "From the financial statements, by the extractive reader (no language model wrote this):",
        "zh": "以下由摘录式阅读器取自财务报表（未使用语言模型）：",
    }
)
_OTHER_WAY = MappingProxyType(
    {
        "en": "It went the other way than the question says: ",
        "zh": "与问题所说的方向相反：",
    }
)
"""Before the change of a line whose reason is asked for: figures come with such a question in this case alone."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The lines of an answer and the quotes behind them in the same order, or why there is none."""

    lines: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    decline: Decline | None = None
    by_construction: bool = False
    """Facts of statements, or computed from rows: no choice among sentences."""
    cells: tuple[str, ...] = ()
    """What the first quote gives as the answer, where the column is certain; else its row or sentence is it."""


def answer(task: Task) -> Answer:
    """What the evidence says, quoted.

    Passages with a sentence that reads like instructions are looked at only when the others do not answer; that
    sentence is never quoted, their other sentences are.
    """
    if task.figures:
        return _of_statements(task)
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
    if names_unmentioned_company(task.question, task.evidence):
        return Answer(decline=Decline("no_evidence", "No passage speaks of the company that the question names."))
    query = read_question(task)
    opinion = opinion_asked(normalise(task.question))
    if not opinion and (sure := compute_answer(task, query)) and not any(_instructs(row) for row in sure.rows):
        head = opening(query.language) if sure.is_stated else OPENING[query.language]
        return Answer((head, *sure.lines), tuple(_quote(row) for row in sure.rows), by_construction=True)
    ranked = [one for one in score_candidates(query, task.evidence) if not _instructs(one)]
    if not query.when:
        ranked = [one for one in ranked if not is_caption(one.text)]
    if opinion:
        ranked = [one for one in ranked if states_item(query, one)]
    ranked = keep_topic(query.topic, ranked)
    if query.counted:
        ranked = [one for one in ranked if has_figure(query, one)] or ranked
    ranked = _of_the_quarter(query, ranked)
    subjects = find_subjects(task.question, task.evidence)
    if subjects:
        ranked = rank_named_first(
            subjects, [one for one in ranked if is_about(subjects, one, figure=query.wants_figure)]
        )
    ranked = keep_named(query, keep_places(task.question, ranked))
    ranked = separate_parent_company(task.question, ranked, figure=query.wants_figure)
    ranked = [one for one in keep_holders(task.question, ranked, task.evidence) if not _instructs(one)]
    chosen = select(query, ranked, most=MOST_QUOTES)
    if lacks_qualifier(query, chosen):
        chosen = select(query, [one for one in ranked if not lacks_qualifier(query, [one])], most=MOST_QUOTES)
    chosen.sort(key=lambda one: lacks_qualifier(query, [one]))
    if decline := find_decline(task, query, chosen, opinion):
        return Answer(decline=decline)
    lines = (opening(query.language, opinion), *write_lines(query, chosen))
    return Answer(lines, tuple(_quote(one) for one in chosen), cells=meant_cells(query, chosen[0]))


def _of_the_quarter(query: Query, ranked: list[Candidate]) -> list[Candidate]:
    """Without rows of a whole year where a quarter of it is asked for.

    Where there were such, and nothing but a figure is the answer, of the sentences only those that speak of a quarter.
    """
    kept = [one for one in ranked if not is_longer(query, one.evidence, one.span)]
    if len(kept) == len(ranked) or not query.counted:
        return kept
    return [one for one in kept if one.span.row is not None or speaks_of_quarter(one.text)]


def _of_statements(task: Task) -> Answer:
    """What statements say: figures with their facts, which answer before any passage does."""
    language = language_of(task.question)
    lines = write_figures(task.figures, task.evidence, language, task.question)
    texts = [f"- {line.text}" for line in lines] if len(lines) > 1 else [lines[0].text]
    quotes = tuple(quote for line in lines for quote in line.quotes)
    is_change = all(one.metric == "change" for one in task.figures)
    if is_change and asks_why(task.question):
        texts = [f"{_OTHER_WAY[language]}{texts[0]}"]
    return Answer((_OF_STATEMENTS[language], *texts), quotes, by_construction=True)


def _quote(one: Candidate) -> Quote:
    score = round(min(1.0, max(0.0, one.score / _FULL)), 4)
    return Quote(one.evidence.number, one.span.start, one.span.end, one.text, score)


def _instructs(one: Candidate) -> bool:
    """The candidate has a sentence that reads like instructions, or a part of one that is broken over lines."""
    spans = instruction_spans(one.evidence.text)
    return any(start < one.span.end and one.span.start < end for start, end in spans)


class ExtractiveReader:
    """Reader that answers with the best supported sentences and table rows, or declines.

    Args:
        run: Where it computes: a server's must be a place where reading can be ended.
    """

    name = "extractive"
    model = "extractive-1"
    prompt_version = ""
    context_tokens = 0
    adapters: tuple[str, ...] = ()

    def __init__(self, run: Callable[[Callable[[Task], Answer], Task], Awaitable[Answer]] = asyncio.to_thread) -> None:
        self._run = run

    async def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """One delta per line, then the quotes, then Finished.

        Raises:
            NotFound: another model is asked for: nobody may take its quotes for that one's answer.
        """
        if task.model not in ("", self.model):
            raise NotFound(
                f"Unknown model {task.model[:100]!r}: no language model is configured. Omit it or use {self.model!r}.",
                details={"field": "model"},
            )
        found = await self._run(answer, task)
        if found.decline:
            yield Delta(REFUSALS[language_of(task.question)])
            yield Finished("declined", self.model, decline=found.decline, reader=self.name)
            return
        for index, text in enumerate(found.lines):
            yield Delta(text if index == 0 else f"\n{text}")
        for quote in found.quotes:
            yield quote
        yield Finished("stop", self.model, reader=self.name)

    async def ready(self) -> None:
        """Always: it needs nothing."""

    async def close(self) -> None:
        """Nothing to give back."""
