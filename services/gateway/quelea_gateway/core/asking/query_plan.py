"""How a question is looked up: a language model takes it apart into searches; their results are merged with its own.

A question that compares, asks for a cause, or uses other words than filings do is found better in parts. The plan only
adds: the question itself is searched too, and where the model fails it is searched alone.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from quelea_fintext.text import language_of
from quelea_kit.errors import Conflict, DeadlineExceeded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core.chat_prompts import ChatPrompt
from quelea_gateway.core.model import CompletionEnd, Figure, Passage, Question, Reading, Retrieved
from quelea_gateway.core.ports import ChatModel
from quelea_gateway.core.prompts import Prompts, PromptTemplate, built_in_only

log = get_logger(__name__)

PROMPT = ChatPrompt("query_plan")
_MOST_SEARCHES = 4
_MOST_CHARACTERS = 400
"""Of a search."""
_MOST_TOKENS = 500
_MOST_KEPT = 1000
_KEPT_SECONDS = 3600.0
_REST_SECONDS = 30.0
"""After a failure nobody is asked for so long: a model that is away must not make every answer wait."""


class _Search(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=300)
    companies: list[str] = Field(max_length=4)
    periods: list[str] = Field(max_length=4)
    lines: list[str] = Field(max_length=6)
    documents: list[str] = Field(max_length=4)


class _Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")

    searches: list[_Search] = Field(min_length=1, max_length=_MOST_SEARCHES)


_SCHEMA = json.dumps(_Plan.model_json_schema())


class QueryPlanner(Protocol):
    """Takes a question apart."""

    async def searches(self, question: Question) -> tuple[str, ...]:
        """What to search for beside the question; empty where there is nothing to add. Does not raise."""
        ...


class ModelPlanner:
    """Asks the language model that writes the answers, and keeps its plans for an hour.

    Args:
        model: The language model.
        seconds: How long a question waits for its plan.
        prompts: The wordings in force.
    """

    def __init__(self, model: ChatModel, *, seconds: float, prompts: Prompts = built_in_only) -> None:
        self._model = model
        self._prompts = prompts
        self._seconds = seconds
        self._kept: OrderedDict[tuple[str, ...], tuple[float, tuple[str, ...]]] = OrderedDict()
        self._resting = 0.0

    async def searches(self, question: Question) -> tuple[str, ...]:
        """What to search for beside the question; empty where the model fails, rests, or adds nothing."""
        template = PROMPT.template(language_of(question.text), await self._prompts())
        key = (question.tenant, question.model, question.as_of, question.asked, template.version)
        now = time.monotonic()
        kept = self._kept.get(key)
        if kept and now - kept[0] < _KEPT_SECONDS:
            return kept[1]
        if now < self._resting:
            return ()
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._plan(question, template)
        except (QueleaError, ValueError, TimeoutError) as error:
            if not isinstance(error, Conflict):  # the extractive reader alone: nothing failed
                log.warning("no_query_plan", why=str(error)[:200])
            if isinstance(error, Unavailable | DeadlineExceeded | TimeoutError):  # not what is one question's fault
                self._resting = now + _REST_SECONDS
            return ()
        self._kept[key] = now, found
        self._kept.move_to_end(key)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    async def _plan(self, question: Question, template: PromptTemplate) -> tuple[str, ...]:
        pieces: list[str] = []
        end = CompletionEnd("length")
        async for event in self._model.complete(
            PROMPT.messages(template, question=question.asked, today=question.as_of),
            json_schema=_SCHEMA,
            model=question.model,
            max_tokens=_MOST_TOKENS,
            temperature=0.0,
            tenant=question.tenant,
        ):
            if isinstance(event, CompletionEnd):
                end = event
            else:
                pieces.append(event)
        if end.reason != "stop":
            raise ValueError(f"the model's plan ended with {end.reason!r}")
        try:
            plan = _Plan.model_validate_json("".join(pieces))
        except ValidationError as error:
            raise ValueError(f"the model's plan does not fit its schema: {error.error_count()} errors") from error
        searches = (_write_search(one) for one in plan.searches)
        return tuple(dict.fromkeys(one for one in searches if one and one != question.asked))


def _write_search(search: _Search) -> str:
    """The search as one text: what its lists name and its query does not comes after it."""
    words = [" ".join(search.query.split())]
    for name in chain(search.companies, search.periods, search.lines, search.documents):
        cleaned = " ".join(name.split())
        if cleaned and cleaned.casefold() not in " ".join(words).casefold():
            words.append(cleaned)
    return " · ".join(words)[:_MOST_CHARACTERS].strip(" ·")


def merge(own: Retrieved, others: Sequence[Retrieved], k: int) -> Retrieved:
    """The results of a question and of its searches as one: in turn the next best of each, the question's first.

    What the question asks for (its reading) stays its own; that a company or a period is missing only where no search
    found it either. Figures of statements are the question's own where it has any: its parts' are other figures.
    """
    if not others:
        return own
    everything = (own, *others)
    turns = chain.from_iterable(zip_longest(*(one.passages for one in everything)))
    first: dict[tuple[str, int, int, int], Passage] = {}
    for passage in turns:
        if passage is not None:
            first.setdefault((passage.document_id, passage.page, passage.start, passage.end), passage)
    readings = [one.reading for one in everything]
    reading = replace(
        own.reading,
        companies=tuple(dict.fromkeys(chain.from_iterable(one.companies for one in readings))),
        company_missing=own.reading.company_missing and not any(_found_company(one) for one in readings),
        period_missing=own.reading.period_missing and not any(_found_period(one) for one in readings),
    )
    return replace(
        own,
        passages=tuple(first.values())[:k],
        reading=reading,
        best_cosine=max(one.best_cosine for one in everything),
        figures=own.figures or _each_once(chain.from_iterable(one.figures for one in others)),
    )


def _each_once(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    """Two searches find the same figure with other scores of its passage."""
    found: dict[tuple[object, ...], Figure] = {}
    for one in figures:
        facts = tuple(operand.fact for operand in one.operands)
        found.setdefault((one.company, one.metric, one.value, one.unit, one.period_start, one.period_end, facts), one)
    return tuple(found.values())


def _found_company(reading: Reading) -> bool:
    return bool(reading.companies) and not reading.company_missing


def _found_period(reading: Reading) -> bool:
    return bool(reading.periods) and not reading.period_missing
