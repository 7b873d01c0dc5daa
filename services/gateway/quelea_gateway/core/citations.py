"""From the reader's text and quotes to citations, and the checks that say whether they hold."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from quelea_kit.text import terms

from quelea_gateway.core.evidence import cite
from quelea_gateway.core.model import Check, Citation, Passage, Quote

MARKER = re.compile(r"\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]")
"""[2], and [1, 3] as language models write it."""

_FIGURE = re.compile(r"\d+(?:[,，]\d{3})*(?:\.\d+)?")
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)、]\s", re.MULTILINE)
_PIECE = re.compile(r"[^\n。！？；.!?;]*(?:[.!?;](?!\s|$)[^\n。！？；.!?;]*)*(?:[。！？；\n]|[.!?;]|$)")
_SENTENCE_END = re.compile(r"[。！？\n]|[.!?](?=\s|$)")


@dataclass(frozen=True)
class Mark:
    """One number of one marker in the answer: answer[start:end] is the marker."""

    number: int
    start: int
    end: int


def marks(answer: str) -> list[Mark]:
    """Every citation marker of an answer, in order."""
    found: list[Mark] = []
    for match in MARKER.finditer(answer):
        found.extend(Mark(int(number), *match.span()) for number in re.findall(r"\d+", match[1]))
    return found


def figures(text: str) -> list[str]:
    """Numbers as they compare: full-width made ordinary, no thousands separators, no trailing zeros after the point."""
    found = []
    for match in _FIGURE.finditer(unicodedata.normalize("NFKC", text)):
        figure = match.group().replace(",", "").replace("，", "")
        if "." in figure:
            figure = figure.rstrip("0").rstrip(".")
        whole, point, part = figure.partition(".")
        found.append((whole.lstrip("0") or "0") + point + part)
    return found


def statement_before(answer: str, position: int) -> str:
    """The sentence that a marker at `position` stands behind, without markers."""
    before = MARKER.sub(" ", answer[:position]).rstrip()
    ends = [match.end() for match in _SENTENCE_END.finditer(before) if match.end() < len(before)]
    return before[ends[-1] :] if ends else before


def best_span(text: str, statement: str) -> tuple[int, int]:
    """The sentence or row of `text` that says most of `statement` (a figure weighs three words); else all of it."""
    wanted, wanted_figures = set(terms(statement)), set(figures(statement))
    best, best_score = (0, len(text)), 0.0
    for match in _PIECE.finditer(text):
        piece = match.group()
        if not piece.strip():
            continue
        score = len(wanted & set(terms(piece))) + 3.0 * len(wanted_figures & set(figures(piece)))
        if score > best_score:
            left = len(piece) - len(piece.lstrip())
            best = (match.start() + left, match.start() + len(piece.rstrip()))
            best_score = score
    return best


def assemble(answer: str, quotes: list[Quote], evidence: tuple[Passage, ...]) -> tuple[tuple[Citation, ...], list[str]]:
    """The citations of an answer and what is wrong with its quotes.

    One citation for each quote of the reader, in the reader's order (a passage quoted twice gives two citations with
    the same number). A marker whose passage the reader did not quote gets the span of the passage that says most of
    the sentence before the marker. A quote that is not in its passage is no citation, and is reported.
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
        if (quote.number, start, end) not in seen:
            seen.add((quote.number, start, end))
            found.append(cite(passage, quote.number, start, end))
    quoted = {citation.number for citation in found}
    for mark in marks(answer):
        if mark.number not in quoted and 1 <= mark.number <= len(evidence):
            quoted.add(mark.number)
            passage = evidence[mark.number - 1]
            found.append(cite(passage, mark.number, *best_span(passage.text, statement_before(answer, mark.start))))
    return tuple(found), faults


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


def check(
    answer: str, citations: tuple[Citation, ...], evidence: tuple[Passage, ...], faults: list[str]
) -> tuple[Check, ...]:
    """The verdicts: every [n] resolves, every quote is verbatim, every figure is in what is cited.

    A figure counts as found when a quote has it, or when the cited passage has it beside the quote: in its text,
    header, table head or dates (a quoted row's column is named there). The detail tells the two apart.
    """
    numbers = {citation.number for citation in citations}
    loose = sorted({mark.number for mark in marks(answer)} - numbers)
    cited = [evidence[n - 1] for n in sorted(numbers) if n <= len(evidence)]
    in_quotes = {figure for citation in citations for figure in figures(citation.quote)}
    beside = {
        figure
        for p in cited
        for part in (p.text, p.header, p.table_head, p.published, p.period, p.period_end, p.title)
        for figure in figures(part)
    }
    asked = list(dict.fromkeys(figures(_LIST_NUMBER.sub(" ", MARKER.sub(" ", answer)))))
    quoted = [figure for figure in asked if figure in in_quotes]
    absent = [figure for figure in asked if figure not in in_quotes and figure not in beside]
    count = len(citations)
    return (
        Check(
            "citations_resolve",
            not loose and bool(citations),
            "no citation for " + ", ".join(f"[{n}]" for n in loose) if loose else f"{len(numbers)} cited passages",
        ),
        Check("quotes_verbatim", not faults, "; ".join(faults) or f"{count} of {count} quotes are in their passage"),
        Check(
            "figures_supported",
            not absent,
            "not in what is cited: " + ", ".join(absent)
            if absent
            else f"{len(quoted)} of {len(asked)} figures in the quotes, {len(asked) - len(quoted)} beside them",
        ),
    )
