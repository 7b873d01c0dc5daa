"""The numbers that callers see: [1], [2], … in the order in which the text cites, whatever rank the evidence had.

Inside the pipeline a number is a passage's place in the evidence, as the reader was shown it. What leaves the pipeline
has the passages that are cited first, in the order in which they are, and then the others in theirs: a front-end that
takes [n] for the n-th of the sources it was sent is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quelea_checker.reading.markup import LOOSE, RANGE, canonical, literal_spans, unroll

from quelea_gateway.core.answers.evidence import excerpt
from quelea_gateway.core.grounding.edits import Edit, Edited
from quelea_gateway.core.grounding.markers import MARKER, marks
from quelea_gateway.core.model import Answer, AnswerFigure, Citation, Passage, Quoted
from quelea_gateway.core.review.verdicts import Grounding

_OPENING, _CLOSING = "[［【〔", "]］】〕"
MOST_HELD = 100
"""Characters of a stream that wait for their bracket to close; of an address behind one, three times as many."""


class Numbering:
    """Old numbers and new: a permutation of 1 to `size`.

    Args:
        size: How many passages have a number.
        first: Old numbers that come first, in this order; those that are none are passed over.
    """

    def __init__(self, size: int, first: Iterable[int] = ()) -> None:
        every = range(1, size + 1)
        self.order = tuple(dict.fromkeys((*(n for n in first if 1 <= n <= size), *every)))
        """Old numbers by new: the passage that is [n] now was [order[n - 1]]."""
        self._new = {old: new for new, old in enumerate(self.order, start=1)}

    def __getitem__(self, old: int) -> int:
        """The new number; a number that no passage has stays."""
        return self._new.get(old, old)

    @property
    def changes(self) -> bool:
        """Some passage gets another number."""
        return self.order != tuple(sorted(self.order))

    def of_text(self, text: str, sources: Sequence[str] = ()) -> Edited:
        """A tidy text with its markers renumbered; brackets that are the evidence's own (`sources`) stay."""
        return Edited(
            text,
            [Edit(start, end, self.of_marker(text[start:end])) for start, end in _places(text, sources)],
        )

    def of_marker(self, marker: str) -> str:
        """[5, 2] with new numbers."""
        return f"[{', '.join(str(self[number]) for number in numbers_of(marker))}]"

    def of_markers(self, text: str) -> str:
        """A remark of our own with every marker renumbered."""
        return MARKER.sub(lambda match: self.of_marker(match.group()), text)

    def of_citations(self, citations: Iterable[Citation]) -> tuple[Citation, ...]:
        """Citations with new numbers, in their order."""
        return tuple(replace(one, number=self[one.number]) for one in citations)

    def of_figures(self, figures: Iterable[AnswerFigure]) -> tuple[AnswerFigure, ...]:
        """Figures whose operands have new numbers."""
        return tuple(
            replace(one, operands=tuple(replace(operand, number=self[operand.number]) for operand in one.operands))
            for one in figures
        )

    def of_grounding(self, found: Grounding, sources: Sequence[str] = ()) -> Grounding:
        """The verdicts on the renumbered text."""
        text = self.of_text(found.text, sources)
        return replace(
            found,
            text=text.text,
            sentences=tuple(
                replace(
                    one,
                    text=text.text[text.at(one.start) : text.until(one.end)],
                    start=text.at(one.start),
                    end=text.until(one.end),
                    passages=tuple(self[number] for number in one.passages),
                )
                for one in found.sentences
            ),
            figures=tuple(
                replace(one, start=text.at(one.start), end=text.until(one.end), passage=self[one.passage])
                for one in found.figures
            ),
            removed_markers=tuple(map(self.of_markers, found.removed_markers)),
            added_markers=tuple(map(self.of_markers, found.added_markers)),
        )

    def of_answer(self, answer: Answer, sources: Sequence[str] = ()) -> Answer:
        """The whole answer renumbered; further reading, which no marker names, stays."""
        if not self.changes:
            return answer
        return replace(
            answer,
            answer=self.of_text(answer.answer, sources).text,
            citations=self.of_citations(answer.citations),
            checks=tuple(replace(one, detail=self.of_markers(one.detail)) for one in answer.checks),
            grounding=self.of_grounding(answer.grounding, sources) if answer.grounding else None,
            evidence=tuple(
                sorted((replace(one, number=self[one.number]) for one in answer.evidence), key=lambda one: one.number)
            ),
            figures=self.of_figures(answer.figures),
        )

    def of_quoted(self, quoted: Quoted, sources: Sequence[str] = ()) -> Quoted:
        """Quotes, renumbered."""
        return Quoted(self.of_text(quoted.text, sources).text, self.of_citations(quoted.citations))


def by_appearance(text: str, evidence: Sequence[Passage]) -> Numbering:
    """The numbering of a tidy text over its evidence."""
    return Numbering(len(evidence), [mark.number for mark in marks(text, [one.text for one in evidence])])


def as_streamed(answer: Answer) -> Answer:
    """The answer with the numbers that its text had when it was streamed."""
    return Numbering(len(answer.evidence), answer.streamed).of_answer(answer)


def numbers_of(marker: str) -> list[int]:
    """The numbers of a marker: [5, 2] has 5 and 2."""
    return [int(number) for number in MARKER.findall(marker)[0].replace("，", ",").replace("、", ",").split(",")]


def _places(text: str, sources: Sequence[str]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((mark.start, mark.end) for mark in marks(text, sources)))


class StreamedMarkers:
    """Renumbers a text while it is written: the first passage that it cites is 1, the next 2.

    A piece waits from an opening bracket on until that is closed, or turns out to be none of a marker. Markers leave in
    the one form [n], as in the final text.

    Args:
        evidence: What the reader was shown.

    Attributes:
        order: Old numbers by new, as far as the text has cited.
    """

    def __init__(self, evidence: Sequence[Passage]) -> None:
        self.order: list[int] = []
        self._evidence = evidence
        self._sources = [one.text for one in evidence]
        self._seen = ""
        self._sent = 0

    def feed(self, text: str) -> tuple[str, tuple[Citation, ...]]:
        """(what may be shown now, the passages in it that had no number yet)."""
        self._seen += text
        return self._take(_settled_until(self._seen, self._sent))

    def finish(self) -> tuple[str, tuple[Citation, ...]]:
        """What was held back."""
        return self._take(len(self._seen))

    def _take(self, until: int) -> tuple[str, tuple[Citation, ...]]:
        start, self._sent = self._sent, until
        piece = self._seen[start:until]
        if not any(bracket in piece for bracket in _CLOSING):
            return piece, ()
        known, text = len(self.order), _tidy_from(self._seen[:until], start)
        places = [place for place in _places(text, self._sources) if place[0] >= start]
        cited = [n for begin, end in places for n in numbers_of(text[begin:end])]
        self.order = list(dict.fromkeys((*self.order, *(n for n in cited if 1 <= n <= len(self._evidence)))))
        numbering = Numbering(len(self._evidence), self.order)
        edited = Edited(text, [Edit(begin, end, numbering.of_marker(text[begin:end])) for begin, end in places])
        new = enumerate(self.order[known:], start=known + 1)
        return edited.text[start:], tuple(excerpt(self._evidence[old - 1], number) for number, old in new)


def _tidy_from(text: str, start: int) -> str:
    """The text with the markers from `start` on in their one form, as `tidy` writes them."""
    literal = literal_spans(text)
    edits = [
        Edit(*match.span(), written(match))
        for pattern, written in ((LOOSE, canonical), (RANGE, unroll))
        for match in pattern.finditer(text, start)
        if not any(begin <= match.start() < end for begin, end in literal)
    ]
    return Edited(text, edits).text


def _settled_until(text: str, start: int) -> int:
    """Up to where markers of text[start:] are whole."""
    opened = max(text.rfind(bracket, start) for bracket in _OPENING)
    if opened < 0:
        return len(text)
    closed = min((at for bracket in _CLOSING if (at := text.find(bracket, opened)) >= 0), default=-1)
    if closed < 0:
        return opened if len(text) - opened <= MOST_HELD else len(text)
    if closed == len(text) - 1:  # a link may follow: [1](https://…)
        return opened
    if text[closed + 1] == "(" and ")" not in text[closed:] and len(text) - closed <= 3 * MOST_HELD:
        return opened
    return len(text)
