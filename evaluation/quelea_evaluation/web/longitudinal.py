"""Many questions with auto-refresh on: does noise that enters the knowledge base show in what is found?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quelea_evaluation.gate.asking import sample_evenly
from quelea_evaluation.retrieval.variants import VARIANTS, Row, rows_of, search
from quelea_evaluation.sets.model import EvaluationSet
from quelea_evaluation.stack.running import Stack, copy_of_home, running_stack
from quelea_evaluation.web.asking import SAMPLE_WEB, settle, web_questions

_SETTLED_EVERY = 25


@dataclass
class Longitudinal:
    """One stream."""

    quarantine: bool
    questions: int
    before: list[Row]
    after: list[Row]
    documents_before: int
    documents_after: int
    web: int = 0
    """Questions that went to the web."""
    states: dict[str, int] = field(default_factory=dict)
    """Pages of the web by state, at the end."""


def stream(foreign: Sequence[EvaluationSet], count: int) -> list[str]:
    """Questions in the order asked: those of the sample web twice over, between questions of other sets.

    Of the other sets no document is stored and hardly a page of the sample web tells: what is kept for them is noise.
    """
    own = [text for q in web_questions() for text in (q.question, q.paraphrase)]
    others = [q.text for one in foreign for q in sample_evenly(one.questions, count)]
    wanted = max(0, count - len(own))
    step = max(1, len(others) // max(1, wanted))
    others = others[::step][:wanted]
    mixed: list[str] = []
    for n in range(max(len(own), len(others))):
        mixed += own[n : n + 1]
        mixed += others[n * len(others) // len(own) : (n + 1) * len(others) // len(own)] if n < len(own) else []
    return mixed[:count]


def run(
    fixed: EvaluationSet,
    foreign: Sequence[EvaluationSet],
    home: Path,
    count: int,
    say: Callable[[str], None],
    *,
    quarantine: bool,
) -> Longitudinal:
    """Stream the questions into a copy of the fixed set's home, and measure its questions before and after."""
    folder = home / fixed.name
    with running_stack(folder) as stack:
        ids = stack.ingest(fixed.documents, say)
    variant = next(v for v in VARIANTS if v.name == "all (default)")
    texts = stream(foreign, count)
    environment = {"QUELEA_SEARCH_QUARANTINE": str(quarantine).lower()}
    with copy_of_home(folder, "-longitudinal") as copy, running_stack(copy, environment, SAMPLE_WEB) as stack:
        before = rows_of("before", fixed, asyncio.run(search(fixed, stack, ids, variant)))
        first = _documents(stack)
        result = Longitudinal(quarantine, len(texts), before, [], first, 0)
        for number, text in enumerate(texts, start=1):
            result.web += stack.ask(text)["route"] != "local"
            if number % _SETTLED_EVERY == 0:
                settle(stack)
                say(f"{number} of {len(texts)} questions, {result.web} to the web")
        settle(stack)
        result.after = rows_of("after", fixed, asyncio.run(search(fixed, stack, ids, variant)))
        result.documents_after = _documents(stack)
        for state in ("pending", "kept", "rejected", "vanished"):
            pages = stack.http.get("/v1/web/pages", params={"state": state, "page_size": 1}).raise_for_status().json()
            result.states[state] = int(pages["total"])
    return result


def _documents(stack: Stack) -> int:
    listed = stack.http.get("/v1/documents", params={"page_size": 1}).raise_for_status().json()
    return int(listed["total"])
