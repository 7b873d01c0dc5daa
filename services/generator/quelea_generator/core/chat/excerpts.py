"""The lines of the evidence that matter to a question, for a model that reads slowly or errs in long tables.

Small models take the figure of the wrong column, so a row comes with the head of each column beside its figure. Which
lines matter is what the extractive reader would weigh first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from quelea_fintext.text import estimate_tokens

from quelea_generator.core.chat.prompt import context_line
from quelea_generator.core.extractive.answer_text import one_line, period_phrase, row_label, scale_phrase
from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.extractive.reader import answer
from quelea_generator.core.extractive.scoring import Candidate, score_candidates
from quelea_generator.core.extractive.selection import rank_by_period
from quelea_generator.core.extractive.table_heads import (
    Column,
    choose_column,
    has_period,
    head_of,
    match_columns,
    name_columns,
)
from quelea_generator.core.model import Decline, Evidence, Quote, Task

_OF_A_DIGIT = 0.4
"""What estimate_tokens lacks of a token."""

_BETWEEN = " · "
"""Between the parts of a header: company, form, period, its end, section."""
_SAME_FILING = MappingProxyType({"en": "same filing", "zh": "同一文件"})
_OF_ONE_FILING = 3
"""So many parts alike at the beginning: company, form and period."""
_LEAST = 0.4
"""A further line must score at least this part of the best."""


def excerpt(task: Task, tokens: int) -> Task | Decline:
    """The task with its evidence cut to the best rows and sentences; where a decline is certain, that.

    Where the caller knows that a company or period is missing, and no line states what is asked of it, this says why
    not: small models answer from what is nearest.

    Args:
        task: With whole passages.
        tokens: Of all lines together; 0: the passages stay whole.
    """
    if task.evidence_incomplete and (why := answer(task).decline):
        return why
    return cut_evidence(task, read_question(task), tokens)[0]


def cut_evidence(
    task: Task, query: Query, tokens: int, first: Sequence[Quote] = ()
) -> tuple[Task, tuple[Candidate, ...]]:
    """The task with its evidence cut to rows and sentences in so many estimated tokens, and what was kept.

    Order is kept. A passage without such a line is left out. Where there is none in any, or tokens is 0, the task comes
    back as it was.

    Args:
        task: With whole passages.
        query: Its question.
        tokens: Of all lines with the headers above them.
        first: What is quoted goes before what scores as well.
    """
    if not tokens:
        return task, ()
    ranked = rank_by_period(query, score_candidates(query, task.evidence))
    least = _LEAST * ranked[0].score if ranked else 0.0
    quoted = {(one.number, one.start, one.end) for one in first}
    kept: tuple[Candidate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    spent = 0
    for one in sorted(ranked, key=lambda one: _place(one) not in quoted):
        if one.score < least and _place(one) not in quoted:
            break
        if spent + count_tokens(write_excerpt(query, one, with_head=False)) > tokens:
            continue
        more = _show(task, query, (*kept, one))
        if (cost := sum(map(_cost, more))) <= tokens:
            kept, evidence, spent = (*kept, one), more, cost
    return (replace(task, evidence=evidence), kept) if evidence else (task, ())


def _show(task: Task, query: Query, lines: Sequence[Candidate]) -> tuple[Evidence, ...]:
    """The passages that these lines are of, in the task's order, with nothing else in them."""
    by_passage: dict[int, list[Candidate]] = defaultdict(list)
    for one in lines:
        by_passage[one.evidence.number].append(one)
    shown = [item for item in task.evidence if item.number in by_passage]
    return tuple(
        replace(
            _after(before, item, query.language),
            text="\n".join(_lines(query, by_passage[item.number])),
            table_head="",
        )
        for before, item in zip([None, *shown], shown, strict=False)
    )


def _cost(shown: Evidence) -> int:
    """The tokens of a passage as a prompt writes it."""
    return count_tokens(context_line(shown, shown.text))


def count_tokens(text: str) -> int:
    """About how many tokens a small model reads, whose tokenizer takes each digit by itself."""
    return estimate_tokens(text) + round(_OF_A_DIGIT * sum(map(str.isdigit, text)))


def _place(one: Candidate) -> tuple[int, int, int]:
    return one.evidence.number, one.span.start, one.span.end


def _after(before: Evidence | None, one: Evidence, language: str) -> Evidence:
    """The passage without what the one before it has said: company, form, period and date are not read again."""
    if before is None:
        return one
    parts, earlier = one.header.split(_BETWEEN), before.header.split(_BETWEEN)
    alike = next((at for at, (this, that) in enumerate(zip(parts, earlier, strict=False)) if this != that), len(parts))
    if alike < _OF_ONE_FILING:
        return one
    header = _BETWEEN.join([_SAME_FILING[language], *parts[min(alike, len(parts) - 1) :]])
    dated = one if one.date != before.date else replace(one, published="", period_end="")
    return replace(dated, header=header)


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
        for column, cell in _columns(query, one, heads)
    ]
    unit = scale_phrase(query.language, one.evidence, one.span)
    label = row_label(one, name_heading=True)
    return f"{label}{f' ({unit})' if unit else ''}: {'; '.join(cells)}{behind}"


def _columns(query: Query, one: Candidate, heads: Sequence[Column | None]) -> list[tuple[Column | None, str]]:
    """The cells with their columns; where it is certain which is meant, that one first, and none of another length.

    A quarter's figure beside that of nine months is what small models take for it.
    """
    cells = one.span.row.cells if one.span.row else ()
    pairs = list(zip(heads, cells, strict=True))
    at = choose_column(query, one.evidence, heads)
    meant = heads[at] if at is not None else None
    if at is None or meant is None:
        return pairs
    alike = [pair for pair in pairs if pair[0] is None or pair[0].is_change or pair[0].months == meant.months]
    return [pairs[at], *(pair for pair in alike if pair is not pairs[at])]
