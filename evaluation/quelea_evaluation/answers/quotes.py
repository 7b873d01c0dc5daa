"""`quelea eval answers`: whether the answer's quotes hold the figure, are verbatim, and whether it declines in time."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quelea_evaluation.judging.figures import holds, holds_rounded
from quelea_evaluation.sets.model import EvaluationSet, Question
from quelea_evaluation.stack.running import Stack, copy_of_home, running_stack

_CALLERS = 2


@dataclass
class AnswerReport:
    """Counts; every share is count / of."""

    figure_questions: int = 0
    figure_in_first_quote: int = 0
    figure_in_quotes: int = 0
    rounded_in_first_quote: int = 0
    rounded_in_quotes: int = 0
    figure_in_words: int = 0
    """In the answer's own text, rounding allowed."""
    flagged: int = 0
    """Answers with a figure that the checker does not find borne out."""
    declined_though_answerable: int = 0
    quotes: int = 0
    quotes_verbatim: int = 0
    removed_questions: int = 0
    removed_declined: int = 0
    milliseconds: list[float] = field(default_factory=list)
    misses: list[dict[str, Any]] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Shares, 0 to 1, and the median time in milliseconds."""

        def share(count: int, of: int) -> float:
            return count / of if of else float("nan")

        return {
            "figure questions": self.figure_questions,
            "figure in first quote": share(self.figure_in_first_quote, self.figure_questions),
            "figure in quotes": share(self.figure_in_quotes, self.figure_questions),
            "the same, rounding allowed: first quote": share(self.rounded_in_first_quote, self.figure_questions),
            "the same, rounding allowed: quotes": share(self.rounded_in_quotes, self.figure_questions),
            "figure in the answer's words, rounding allowed": share(self.figure_in_words, self.figure_questions),
            "answers with a flagged figure": share(self.flagged, self.figure_questions),
            "declined though answerable": share(self.declined_though_answerable, self.figure_questions),
            "quotes": self.quotes,
            "quotes found verbatim in the cited page": share(self.quotes_verbatim, self.quotes),
            "questions whose document was removed": self.removed_questions,
            "of these declined": share(self.removed_declined, self.removed_questions),
            "median ms": statistics.median(self.milliseconds) if self.milliseconds else float("nan"),
        }


def evaluate_answers(
    one: EvaluationSet,
    home: Path,
    removed: int,
    say: Callable[[str], None],
    kind: str = "single-chunk",
    *,
    options: Sequence[str] = (),
    most: int | None = None,
) -> AnswerReport:
    """Ask through the gateway: first with every document there, then with the documents of some questions removed.

    Args:
        one: Documents and questions.
        home: Where the stack keeps its data.
        removed: Questions that are asked with their document removed.
        say: Told of the progress.
        kind: Of the figure questions.
        options: More arguments of `quelea up`.
        most: Figure questions that are asked, spread over all; None: all.
    """
    report = AnswerReport()
    chosen = [q for q in one.questions if q.kind == kind and q.figures]
    chosen = chosen[:: max(1, len(chosen) // most)][:most] if most else chosen
    folder = home / one.name
    with running_stack(folder, arguments=options) as stack:
        ids = stack.ingest(one.documents, say)
        say(f"{one.name}: asking {len(chosen)} figure questions")
        for question, answer in _ask_all(stack, chosen):
            _judge(stack, question, answer, report)
    if removed:
        _ask_without(one, folder, ids, removed, report, say, options)
    return report


def _ask_all(stack: Stack, questions: Sequence[Question]) -> list[tuple[Question, dict[str, Any]]]:
    with ThreadPoolExecutor(_CALLERS) as pool:
        return list(zip(questions, pool.map(lambda q: _ask(stack, q.text), questions), strict=True))


def _ask(stack: Stack, question: str) -> dict[str, Any]:
    answer: dict[str, Any] = stack.http.post("/v1/ask", json={"question": question}).raise_for_status().json()
    return answer


def _judge(stack: Stack, question: Question, answer: dict[str, Any], report: AnswerReport) -> None:
    report.figure_questions += 1
    report.milliseconds.append(float(answer["timings"]["total"]))
    quotes = [c["quote"] for c in answer["citations"]][:3]
    report.declined_though_answerable += bool(answer["declined"])
    first = bool(quotes) and holds(quotes[0], question.figures)
    any_of = any(holds(quote, question.figures) for quote in quotes)
    report.figure_in_first_quote += first
    report.figure_in_quotes += any_of
    rounded = [holds_rounded(quote, question.figures, question.amounts) for quote in quotes]
    report.rounded_in_first_quote += bool(rounded and rounded[0])
    report.rounded_in_quotes += any(rounded)
    report.figure_in_words += holds_rounded(answer["answer"], question.figures, question.amounts)
    report.flagged += any(check["name"] == "figures_supported" and not check["passed"] for check in answer["checks"])
    if not any_of:
        report.misses.append(
            {"question": question.text, "figures": sorted(question.figures), "answer": answer["answer"]}
        )
    for citation in answer["citations"]:
        text, _ = stack.page(citation["document_id"], citation["page"])
        report.quotes += 1
        report.quotes_verbatim += text[citation["start"] : citation["end"]] == citation["quote"] != ""


def _ask_without(
    one: EvaluationSet,
    folder: Path,
    ids: dict[str, str],
    count: int,
    report: AnswerReport,
    say: Callable[[str], None],
    options: Sequence[str],
) -> None:
    """On a copy of the home: every second document is removed, the others of the same companies stay."""
    gone = set(sorted(ids)[::2])
    chosen = [q for q in one.questions if len(q.documents) == 1 and q.documents <= gone]
    step = max(1, len(chosen) // count)
    with copy_of_home(folder, "-removed") as copy, running_stack(copy, arguments=options) as stack:
        say(f"{one.name}: removing {len(gone)} of {len(ids)} documents")
        for key in sorted(gone):
            stack.http.delete(f"/v1/documents/{ids[key]}").raise_for_status()
        for question, answer in _ask_all(stack, chosen[::step][:count]):
            report.removed_questions += 1
            report.removed_declined += bool(answer["declined"])
            if not answer["declined"]:
                report.misses.append({"removed": True, "question": question.text, "answer": answer["answer"]})
