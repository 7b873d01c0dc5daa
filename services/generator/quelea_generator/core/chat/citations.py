"""Citation markers in a stream of text: [n] stays when evidence n exists, and is removed when it does not.

The outcome depends on the whole text only, never on where the stream cut it: text that may be the beginning of a
marker is held back until it is known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from quelea_fintext.instructions import reads_like_instructions
from quelea_fintext.text import terms

from quelea_generator.core.extractive.rows import find_figures
from quelea_generator.core.extractive.spans import find_spans
from quelea_generator.core.model import Evidence, Quote

_OPEN, _CLOSE, _BETWEEN = r"\[［【", r"\]］】", ",，、;；"  # full-width forms, as models write in Chinese
_LONGEST = 48
_MARKER = re.compile(
    rf"(?P<space>[ \t]{{0,4}})[{_OPEN}](?=[^{_CLOSE}]{{1,{_LONGEST}}}[{_CLOSE}])"
    rf"(?P<numbers>[ \t]*\d{{1,3}}(?:[ \t]*[{_BETWEEN}][ \t]*\d{{1,3}})*[ \t]*)[{_CLOSE}]"
)
_MAYBE = re.compile(rf"[ \t]{{0,4}}(?:[{_OPEN}][\d \t{_BETWEEN}]{{0,{_LONGEST}}})?\Z")


class MarkerFilter:
    """Feed it the pieces of an answer; it returns the pieces to show.

    Args:
        known: The numbers that evidence has.

    Attributes:
        cited: Known numbers in the order in which the text first cites them.
        removed: Markers, or numbers inside one, that cited nothing.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._held = ""
        self.cited: list[int] = []
        self.removed = 0

    def feed(self, text: str) -> str:
        """The text that is certain now."""
        self._held += text
        match = _MAYBE.search(self._held)
        cut = match.start() if match else len(self._held)
        certain, self._held = self._held[:cut], self._held[cut:]
        return _MARKER.sub(self._replace, certain)

    def finish(self) -> str:
        """What was held back, at the end of the stream."""
        rest, self._held = self._held, ""
        return _MARKER.sub(self._replace, rest)

    def _replace(self, match: re.Match[str]) -> str:
        kept: list[int] = []
        for digits in re.findall(r"\d+", match["numbers"]):
            number = int(digits)
            if number not in self._known:
                self.removed += 1
            elif number not in kept:
                kept.append(number)
                if number not in self.cited:
                    self.cited.append(number)
        return match["space"] + "".join(f"[{number}]" for number in kept) if kept else ""


_FIGURE = 2.0
"""Worth of a shared figure, against 1 for a shared word."""


def cited_statements(answer: str, number: int) -> str:
    """The statements of the answer that cite a passage: the text before each of its markers, back to a full stop."""
    found = []
    for match in re.finditer(rf"\[{number}\]", answer):
        before = re.sub(r"\[\d+\]", " ", answer[: match.start()]).rstrip(" .。!！?？")
        found.append(re.split(r"(?<=[.!?])\s|[。！？\n]", before)[-1])
    return " ".join(found)


def quote_citations(question: str, answer: str, evidence: Sequence[Evidence]) -> Iterator[Quote]:
    """The best support of each passage that the answer cites, in the order of its markers."""
    by_number = {item.number: item for item in evidence}
    for number in dict.fromkeys(int(digits) for digits in re.findall(r"\[(\d+)\]", answer)):
        if number in by_number and (quote := best_support(question, answer, by_number[number])):
            yield quote


def best_support(question: str, answer: str, evidence: Evidence) -> Quote | None:
    """The span that shares most words and figures with the statements that cite the passage; None without spans.

    Figures weigh more than words; the question's words break ties. What reads like instructions supports nothing.
    """
    said = cited_statements(answer, evidence.number) or answer
    words, figures, asked = set(terms(said)), find_figures(said), set(terms(question))
    best: tuple[float, int, Quote] | None = None
    for span in find_spans(evidence.text, is_table=evidence.is_table):
        text = evidence.text[span.start : span.end]
        if reads_like_instructions(text):
            continue
        have = set(terms(text))
        shared = len(words & have) + _FIGURE * len(figures & find_figures(text))
        whole = len(words) + _FIGURE * len(figures) or 1.0
        score = shared / whole + 0.01 * len(asked & have) - 0.0001 * len(have)
        if best is None or score > best[0]:
            kept = round(min(1.0, shared / whole), 4)
            best = (score, span.start, Quote(evidence.number, span.start, span.end, text, kept))
    return best[2] if best else None
