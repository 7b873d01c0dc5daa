"""The sentence or row of a passage that best supports what a model wrote about it."""

from __future__ import annotations

import re

from quelea_fintext.instructions import reads_like_instructions
from quelea_fintext.text import terms

from quelea_generator.core.extractive.rows import figures_of
from quelea_generator.core.extractive.spans import spans_of
from quelea_generator.core.model import Evidence, Quote

_FIGURE = 2.0
"""Worth of a shared figure, against 1 for a shared word."""


def citing(answer: str, number: int) -> str:
    """The statements of the answer that cite a passage: the text before each of its markers, back to a full stop."""
    found = []
    for match in re.finditer(rf"\[{number}\]", answer):
        before = re.sub(r"\[\d+\]", " ", answer[: match.start()]).rstrip(" .。!！?？")
        found.append(re.split(r"(?<=[.!?])\s|[。！？\n]", before)[-1])
    return " ".join(found)


def best_support(question: str, answer: str, evidence: Evidence) -> Quote | None:
    """The span that shares most words and figures with the statements that cite the passage; None without spans.

    Figures weigh more than words; the question's words break ties. What reads like instructions supports nothing.
    """
    said = citing(answer, evidence.number) or answer
    words, figures, asked = set(terms(said)), figures_of(said), set(terms(question))
    best: tuple[float, int, Quote] | None = None
    for span in spans_of(evidence.text, is_table=evidence.is_table):
        text = evidence.text[span.start : span.end]
        if reads_like_instructions(text):
            continue
        have = set(terms(text))
        shared = len(words & have) + _FIGURE * len(figures & figures_of(text))
        whole = len(words) + _FIGURE * len(figures) or 1.0
        score = shared / whole + 0.01 * len(asked & have) - 0.0001 * len(have)
        if best is None or score > best[0]:
            kept = round(min(1.0, shared / whole), 4)
            best = (score, span.start, Quote(evidence.number, span.start, span.end, text, kept))
    return best[2] if best else None
