"""`quelea eval analyst`: questions in analysts' words, whose answers were read in the documents first."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from quelea_fintext.text import normalise

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.sets.analyst import AnalystQuestion, AnalystSet
from quelea_evaluation.stack.running import Stack
from quelea_evaluation.statements.asked import first_statement

_FIRST = 5
"""Of the answer's evidence, in which cited passages come first."""
_MARKER = re.compile(r"\[\d+\]")
_OF_FIGURES = frozenset({"figure", "metric"})
"""Kinds whose first statement must have the figure: one that comes second is not an answer."""

Page = tuple[str, int]
"""Id of a document, and the number of a page."""


@dataclass
class AnalystReport:
    """Counts by part of the set; every answer, to be read."""

    counts: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    answers: list[dict[str, Any]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Shares by part, 0 to 1, and the median time of an answer in milliseconds."""
        found: dict[str, float] = {}
        for part, count in self.counts.items():
            for name, of in (
                ("right", "answerable"),
                ("right page in five", "answerable"),
                ("wrongly declined", "answerable"),
                ("unanswerable: declined", "unanswerable"),
                ("document removed: declined", "removed"),
            ):
                if count[of]:
                    found[f"{part}: {name}, of {count[of]}"] = count[name] / count[of]
        if self.milliseconds:
            found["median ms"] = statistics.median(self.milliseconds)
        return found


def ask_all(
    stack: Stack, one: AnalystSet, ids: dict[str, str], part: str, *, removed: bool, say: Callable[[str], None]
) -> AnalystReport:
    """Ask the questions of a part ("all": of every part), and judge the answers by their key.

    Args:
        stack: A stack that holds the documents.
        one: The set.
        ids: Id of each document by its key.
        part: Which questions.
        removed: Ask the answerable ones once more of the other documents alone.
        say: Told of the progress.

    Raises:
        BadInput: The page that a question wants is nowhere in its documents.
    """
    report = AnalystReport()
    asked = [question for question in one.questions if part in ("all", question.part)]
    read = _Pages(stack, ids)
    wanted = {question.id: pages_wanted(question, read) for question in asked if question.answer}
    for number, question in enumerate(asked, 1):
        count = report.counts[question.part]
        answer = _ask(stack, question)
        report.milliseconds.append(float(answer["timings"]["total"]))
        _judge(question, answer, wanted.get(question.id, ()), report)
        if removed and question.answer:
            others = [id_ for key, id_ in ids.items() if key not in question.documents]
            without = _ask(stack, question, others)
            count["removed"] += 1
            count["document removed: declined"] += bool(without["declined"])
            if not without["declined"]:
                report.answers[-1]["removed"] = without["answer"]
        say(f"asked {number} of {len(asked)}")
    return report


def _ask(stack: Stack, question: AnalystQuestion, documents: Sequence[str] = ()) -> dict[str, Any]:
    history: list[dict[str, str]] = []
    if question.after:
        before = stack.ask(question.after, route="local", documents=documents)
        history = [
            {"role": "user", "content": question.after},
            {"role": "assistant", "content": str(before["answer"])},
        ]
    return stack.ask(question.text, route="local", history=history, documents=documents)


def _judge(
    question: AnalystQuestion, answer: dict[str, Any], wanted: Sequence[frozenset[Page]], report: AnalystReport
) -> None:
    count = report.counts[question.part]
    declined = bool(answer["declined"])
    shown = {
        "id": question.id,
        "part": question.part,
        "kind": question.kind,
        "question": question.text,
        "answer": answer["answer"],
        "reading": answer["reading"]["text"],
        "declined": answer["declined"],
    }
    report.answers.append(shown)
    if not question.answer:
        count["unanswerable"] += 1
        count["unanswerable: declined"] += declined
        shown["right"] = declined
        return
    right = not declined and states(question, str(answer["answer"]))
    shown_first = {(one["document_id"], one["page"]) for one in answer["evidence"][:_FIRST]}
    paged = all(some & shown_first for some in wanted)
    count["answerable"] += 1
    count["right"] += right
    count["wrongly declined"] += declined
    count["right page in five"] += paged
    shown |= {"right": right, "page": paged, "key": question.answer}


def states(question: AnalystQuestion, answer: str) -> bool:
    """Everything that the key wants is said, and the figure asked for in the first statement."""
    said = _fold(answer)
    if not all(any(_fold(words) in said for words in one) for one in question.answer):
        return False
    if question.kind not in _OF_FIGURES:
        return True
    first = _fold(first_statement(answer))
    return any(_fold(words) in first for words in question.answer[0])


class Pages(Protocol):
    """The texts of documents' pages, without their spaces."""

    def of(self, key: str) -> Mapping[Page, str]:
        """Those of a document, by its key in the set."""


class _Pages:
    """Pages of a stack, each read once."""

    def __init__(self, stack: Stack, ids: Mapping[str, str]) -> None:
        self._stack = stack
        self._ids = ids
        self._read: dict[str, dict[Page, str]] = {}

    def of(self, key: str) -> Mapping[Page, str]:
        if key not in self._read:
            document = self._ids[key]
            first, pages = self._stack.page(document, 1)
            texts = [first, *(self._stack.page(document, number)[0] for number in range(2, pages + 1))]
            self._read[key] = {(document, number): _squeeze(text) for number, text in enumerate(texts, 1)}
        return self._read[key]


def pages_wanted(question: AnalystQuestion, pages: Pages) -> tuple[frozenset[Page], ...]:
    """Sets of pages, of each of which one must be shown.

    One set where a page has all that the key wants; else one for each thing, as two companies' figures stand on two
    pages.

    Raises:
        BadInput: Something stands on no page: a mistake of the key, which no answer could mend.
    """
    texts = {place: text for key in sorted(question.documents) for place, text in pages.of(key).items()}
    each = [
        frozenset(place for place, text in texts.items() if any(_squeeze(words) in text for words in one))
        for one in question.page
    ]
    if not all(each):
        gone = " and ".join(str(number) for number, some in enumerate(each, 1) if not some)
        raise BadInput(f"question {question.id}: no page of its documents has number {gone} of its “page”")
    together = frozenset.intersection(*each) if each else frozenset(texts)
    return (together,) if together else tuple(each)


def _squeeze(text: str) -> str:
    """Without spaces, which a PDF sets where it likes."""
    return "".join(_fold(text).split())


def _fold(text: str) -> str:
    return " ".join(normalise(_MARKER.sub(" ", text)).split())
