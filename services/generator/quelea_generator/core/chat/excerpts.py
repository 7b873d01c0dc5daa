"""The lines of the evidence that matter to a question, for a model that reads slowly or errs in long tables.

Small models take the figure of the wrong column, so a row comes with the head of each column beside its figure. Which
lines matter is what the extractive reader would weigh first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from quelea_fintext.text import estimate_tokens

from quelea_generator.core.extractive.answer_text import one_line, period_phrase, row_label, scale_phrase
from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.extractive.reader import answer
from quelea_generator.core.extractive.scoring import Candidate, score_candidates
from quelea_generator.core.extractive.selection import rank_by_period
from quelea_generator.core.extractive.table_heads import has_period, head_of, match_columns, name_columns
from quelea_generator.core.model import Decline, Task

_PER_PASSAGE = 40
"""Estimated tokens of what stands before a passage: number, date, header."""

_LEAST = 0.4
"""A further line must score at least this part of the best."""


def excerpt(task: Task, tokens: int, decline: bool = False) -> Task | Decline:
    """The task with its evidence cut to the best rows and sentences, in so many estimated tokens; order is kept.

    A passage without such a line is left out. Where there is none in any, the task comes back as it was. Where the
    caller knows that a company or period is missing, and no line states what is asked of it, this says why not: small
    models answer from what is nearest.

    Args:
        task: With whole passages.
        tokens: Of all lines together; 0: the passages stay whole.
        decline: Say why not wherever the extractive reader would: for models that are not told how to decline.
    """
    if (decline or task.evidence_incomplete) and (why := answer(task).decline):
        return why
    if not tokens:
        return task
    query = read_question(task)
    ranked = rank_by_period(query, score_candidates(query, task.evidence))
    least = _LEAST * ranked[0].score if ranked else 0.0
    kept: dict[int, list[Candidate]] = defaultdict(list)
    said: set[tuple[int, str]] = set()
    room = tokens
    for one in ranked:
        if one.score < least:
            break
        number = one.evidence.number
        head = (number, _said_above(one))
        line = write_excerpt(query, one, with_head=head not in said)
        cost = estimate_tokens(line) + (0 if number in kept else _PER_PASSAGE)
        if cost <= room:
            room -= cost
            said.add(head)
            kept[number].append(one)
    evidence = tuple(
        replace(item, text="\n".join(_lines(query, kept[item.number])), table_head="")
        for item in task.evidence
        if item.number in kept
    )
    return replace(task, evidence=evidence) if evidence else task


def _lines(query: Query, chosen: Sequence[Candidate]) -> Iterator[str]:
    """In the passage's order; the first below a head says it."""
    said: set[str] = set()
    for one in sorted(chosen, key=lambda candidate: candidate.span.start):
        head = _said_above(one)
        yield write_excerpt(query, one, with_head=head not in said)
        said.add(head)


def _said_above(one: Candidate) -> str:
    """What stands above a row and its columns do not say: all of it, or of named columns the period above them."""
    row = one.span.row
    if row is None:
        return ""
    above = head_of(one.evidence, one.span)
    if any(match_columns(above, row.cells)):
        return ""
    if not name_columns(above, len(row.cells)):
        return one_line(above)
    others = [line for line in above.splitlines() if not name_columns(line, len(row.cells))]
    return one_line(next(filter(has_period, reversed(others)), ""))


def write_excerpt(query: Query, one: Candidate, *, with_head: bool = True) -> str:
    """A sentence as it stands; a row with the head of each of its columns, behind it what else stands above them."""
    row = one.span.row
    if row is None:
        return one_line(one.text)
    above = head_of(one.evidence, one.span)
    heads = match_columns(above, row.cells)
    names = [] if any(heads) else name_columns(above, len(row.cells))
    head = _said_above(one) if with_head else ""
    behind = f" ({head})" if head else ""
    if not any(heads) and not names:
        return f"{one_line(one.text)}{behind}"
    cells = [f"{name} {cell}" for name, cell in zip(names, row.cells, strict=False)] or [
        f"{cell} ({period_phrase(query.language, column.text)})" if column else cell
        for column, cell in zip(heads, row.cells, strict=True)
    ]
    unit = scale_phrase(query.language, one.evidence, one.span)
    label = row_label(one, name_heading=True)
    return f"{label}{f' ({unit})' if unit else ''}: {'; '.join(cells)}{behind}"
