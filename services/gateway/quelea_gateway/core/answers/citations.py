"""From the reader's text and quotes to citations: which span of which page stands behind each marker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from quelea_fintext.text import terms

from quelea_gateway.core.answers.evidence import cite
from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.draft import DraftFigure
from quelea_gateway.core.grounding import Mark, Placed, marks, opened_by
from quelea_gateway.core.grounding.markers import MARKER
from quelea_gateway.core.model import Citation, Passage, Quote

_DATE = re.compile(r"[12]?\d|3[01]|(?:19|20)\d\d")
_PIECE = re.compile(r"[^\n。！？；.!?;]*(?:[.!?;](?!\s|$)[^\n。！？；.!?;]*)*(?:[。！？；\n]|[.!?;]|$)")
_SENTENCE_END = re.compile(r"[。！？\n]|[.!?](?=\s|$)")


def statement_before(answer: str, position: int) -> str:
    """The sentence that a marker at `position` stands behind, without markers."""
    before = MARKER.sub(" ", answer[:position]).rstrip()
    ends = [match.end() for match in _SENTENCE_END.finditer(before) if match.end() < len(before)]
    return before[ends[-1] :] if ends else before


def best_span(text: str, statement: str) -> tuple[int, int]:
    """The sentence or row of `text` that says most of `statement`; else all of it.

    A figure weighs three words, but not a day or a year: every column head has those.
    """
    wanted, wanted_figures = set(terms(statement)), {f for f in find_numbers(statement) if not _DATE.fullmatch(f)}
    best, best_score = (0, len(text)), 0.0
    for match in _PIECE.finditer(text):
        piece = match.group()
        if not piece.strip():
            continue
        score = len(wanted & set(terms(piece))) + 3.0 * len(wanted_figures & set(find_numbers(piece)))
        if score > best_score:
            left = len(piece) - len(piece.lstrip())
            best = (match.start() + left, match.start() + len(piece.rstrip()))
            best_score = score
    return best


def place_markers(answer: str, pointed: Sequence[DraftFigure] = ()) -> tuple[Placed, ...]:
    """The markers of a text that was not checked, each with the sentence before it, and with the quote of the figure
    that the draft pointed at."""
    opened = [((one.end, one.behind), one) for one in pointed if one.quotes]
    return tuple(Placed(mark, statement_before(answer, mark.start), opened_by(mark, opened)) for mark in marks(answer))


def verify_quotes(
    quotes: Sequence[Quote], evidence: Sequence[Passage], *, exact: bool = False
) -> tuple[list[Citation], list[str]]:
    """The reader's quotes as citations, in its order, and what is wrong with the others.

    Each once, unless the reader is `exact`: then it gives one for each of its markers.

    A quote whose span is wrong is found again; one that is not in its passage is no citation, and is reported.
    """
    found: list[Citation] = []
    faults: list[str] = []
    seen: set[tuple[int, int, int]] = set()
    for quote in quotes:
        if not 1 <= quote.number <= len(evidence):
            faults.append(f"a quote of [{quote.number}], which is no evidence")
            continue
        passage = evidence[quote.number - 1]
        start, end = quote.start, quote.end
        if not quote.text or passage.text[start:end] != quote.text:
            start = passage.text.find(quote.text) if quote.text else -1
            end = start + len(quote.text)
            if start < 0:
                faults.append(f"a quote of [{quote.number}] that is not in its passage")
                continue
        if exact or (quote.number, start, end) not in seen:
            seen.add((quote.number, start, end))
            found.append(cite(passage, quote.number, start, end))
    return found, faults


def assemble(
    marked: Sequence[Placed], quotes: Sequence[Quote], evidence: Sequence[Passage], *, exact: bool = False
) -> tuple[tuple[Citation, ...], list[str]]:
    """The citations of an answer, in the order in which it first needs them, and what is wrong with its quotes.

    A marker behind a figure that the draft pointed at goes to that figure. The k-th marker [n] else goes to the
    reader's k-th quote of passage n. Where there is none, or where it has fewer of the
    sentence's figures (unless the reader is `exact`), it goes to the span that says most of the sentence. A passage
    may so have several citations with the same number: the k-th marker's is the k-th of them, or
    the last (of_mark).
    """
    given, faults = verify_quotes(quotes, evidence, exact=exact)
    by_number: dict[int, list[Citation]] = {}
    for citation in given:
        by_number.setdefault(citation.number, []).append(citation)
    wanted: dict[int, list[Citation]] = {}
    for one in marked:
        number = one.mark.number
        if 1 <= number <= len(evidence):
            targets = wanted.setdefault(number, [])
            own = by_number.get(number, [])
            if one.quote:
                targets.append(cite(evidence[number - 1], number, one.quote.start, one.quote.end))
            elif exact and own:
                targets.append(own[min(len(targets), len(own) - 1)])
            else:
                targets.append(_target(one.statement, own, len(targets), number, evidence[number - 1]))
    return tuple(_list_citations(marked, wanted)), faults


def _target(statement: str, quotes: Sequence[Citation], position: int, number: int, passage: Passage) -> Citation:
    quote = quotes[min(position, len(quotes) - 1)] if quotes else None
    wanted = set(find_numbers(MARKER.sub(" ", statement)))
    if quote and position < len(quotes) and wanted <= set(find_numbers(quote.quote)):
        return quote
    start, end = best_span(passage.text, statement)
    if quote and len(wanted & set(find_numbers(quote.quote))) >= len(
        wanted & set(find_numbers(passage.text[start:end]))
    ):
        return quote
    return cite(passage, number, start, end)


def _list_citations(marked: Sequence[Placed], wanted: dict[int, list[Citation]]) -> list[Citation]:
    """Each number's citations as of_mark wants them: one for each marker, without the repetition at the end."""
    for targets in wanted.values():
        while len(targets) > 1 and targets[-1] == targets[-2]:
            targets.pop()
    used: Counter[int] = Counter()
    found = []
    for one in marked:
        number = one.mark.number
        targets = wanted.get(number, [])
        if used[number] < len(targets):
            found.append(targets[used[number]])
            used[number] += 1
    return found


def of_mark(answer: str, citations: tuple[Citation, ...]) -> list[tuple[Mark, Citation]]:
    """Each marker with its citation: the second [1] goes to the second quote of passage 1, when there is one."""
    by_number: dict[int, list[Citation]] = {}
    for citation in citations:
        by_number.setdefault(citation.number, []).append(citation)
    used: Counter[int] = Counter()
    pairs = []
    for mark in marks(answer):
        own = by_number.get(mark.number)
        if own:
            pairs.append((mark, own[min(used[mark.number], len(own) - 1)]))
            used[mark.number] += 1
    return pairs
