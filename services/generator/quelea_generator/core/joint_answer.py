"""One answer of two readers: a small model's sentences, and what the extractive reader quotes.

A small model writes better than it chooses. Where the extractive reader has the figure by construction that stands,
and the model is not asked for it; where both chose a figure and the choice differs, the better supported one is the
answer; where more than a figure is asked for, the quotes follow the model's sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from quelea_fintext.asked_lines import without_periods
from quelea_fintext.languages import REFUSALS
from quelea_fintext.sentences import sentence_spans
from quelea_fintext.text import language_of, terms

from quelea_generator.core.chat.excerpts import cut_evidence
from quelea_generator.core.chat.scales import ScaledRow, mend_scales
from quelea_generator.core.extractive.answer_text import scale_phrase
from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.extractive.reader import Answer, answer
from quelea_generator.core.extractive.rows import find_figures
from quelea_generator.core.extractive.scoring import Candidate
from quelea_generator.core.model import Quote, Task

_SAID_AGAIN = 0.75
"""A quote with this part of its words in the model's sentences is not repeated."""
_SENTENCE = re.compile(r"(?:[.!?](?:\s*\[\d+\])*\s+|[。！？](?:\s*\[\d+\])*\s*|\n+)(?!\s*\[)")
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_RATE = re.compile(r"\bper\b(?! (?:day|week|month|quarter|year|annum)\b)|\beach\b|\$/|[%％每]|元[/／]", re.IGNORECASE)
_MARKER = re.compile(r"\[\d+\]")
_BESIDE = MappingProxyType({"en": "Quoted from the sources:", "zh": "资料原文："})
_WORDED = MappingProxyType({"en": "As the language model puts it:", "zh": "语言模型的表述："})


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the model's figure must have to stand against that of the first quote; see tests/eval/fit_joint.py.

    Attributes:
        sure: Each of its digits had this probability at least.
        as_good: Where nobody says how sure the model is: its line has at least this part of the quote's score.
    """

    sure: float = 0.9
    as_good: float = 1.0


BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A row or sentence that the model was shown: its figures, their unit, and its score by the extractive reader."""

    number: int
    start: int
    figures: frozenset[str]
    printed: ScaledRow
    score: float


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is known before the model is asked.

    Attributes:
        task: With the evidence that the model is shown.
        quoted: The extractive reader's answer.
        lines: What the model is shown.
        needs_model: More is asked than what the extractive reader has by construction.
        one_figure: Nothing but one figure is asked for.
        is_account: A reason, or a yes or no, and no figure: none decides which answer is better.
    """

    task: Task
    quoted: Answer
    lines: tuple[ShownLine, ...] = ()
    needs_model: bool = True
    one_figure: bool = False
    is_account: bool = False


def prepare(task: Task, tokens: int) -> Preparation:
    """Read the evidence once for both: the extractive answer, and the lines for the model.

    Args:
        task: With whole passages.
        tokens: Of all lines together.
    """
    quoted = answer(task)
    query = read_question(task)
    if quoted.decline or (quoted.by_construction and not query.reason):
        return Preparation(task, quoted, needs_model=False)
    cut, kept = cut_evidence(task, query, tokens, quoted.quotes)
    return Preparation(
        cut,
        quoted,
        tuple(_shown(query, one) for one in kept),
        one_figure=_asks_one_figure(query),
        is_account=(query.reason or query.yes_no) and not query.wants_figure,
    )


def _shown(query: Query, one: Candidate) -> ShownLine:
    row = one.span.row
    cells = [cell for cell in row.cells if "%" not in cell and "％" not in cell] if row else [one.text]
    figures = tuple(figure for cell in cells for figure in _FIGURE.findall(cell))
    printed = ScaledRow(figures, _unit(query, one, row.label) if row else "")
    return ShownLine(one.evidence.number, one.span.start, find_figures(one.text), printed, one.score)


def _unit(query: Query, one: Candidate, label: str) -> str:
    """What says in which unit a row's amounts are; empty of rates, which no table scales."""
    if _RATE.search(label):
        return ""
    heading = one.span.above.rsplit("\n", 1)[-1]
    if "except" in heading.lower():  # of which rows that is, scale_phrase knows
        heading = ""
    return f"{label} {heading} {scale_phrase(query.language, one.evidence, one.span)}"


def _asks_one_figure(query: Query) -> bool:
    if query.reason or query.moves or query.compares or query.breakdown or query.yes_no or not query.wants_figure:
        return False
    return sum(bool(facet.others) for facet in query.facets) < 2


class JointAnswer:
    """Takes the model's text as it comes, and returns what is to be shown, a sentence at a time.

    Attributes:
        by_quotes: Nothing of the model's is in the answer; known at the end, like the others.
        shows_quotes: The quoted lines are in the answer beside its sentences.
        quotes_lead: They stand before them.
    """

    def __init__(self, prepared: Preparation) -> None:
        self._prepared = prepared
        self._language = language_of(prepared.task.question)
        self._held = ""
        self._said = ""
        self._sureness: float | None = None
        self.by_quotes = self.shows_quotes = self.quotes_lead = False

    def feed(self, text: str, sureness: float | None = None) -> str:
        """What can be shown now.

        Args:
            text: The next piece.
            sureness: The lowest probability of a digit in it, where it is known.
        """
        self._held += text
        self._sureness = min((value for value in (self._sureness, sureness) if value is not None), default=None)
        shown = ""
        while end := _sentence_end(self._held):
            sentence, self._held = self._held[:end], self._held[end:]
            shown += self._say(sentence)
        return shown

    def finish(self) -> str:
        """The rest, with the quotes where they belong to the answer."""
        rest, self._held = self._held, ""
        shown = self._say(rest)
        if self.by_quotes or self.shows_quotes:
            return shown
        if not self._said.strip():
            self.by_quotes = True
            return "\n".join(self._prepared.quoted.lines)
        if self._prepared.one_figure:
            return shown
        words = set(terms(self._said))
        further = [line for line in self._prepared.quoted.lines[1:] if not _is_said(line, words)]
        self.shows_quotes = bool(further)
        return "\n".join([shown.rstrip() + "\n", _BESIDE[self._language], *further]) if further else shown

    @property
    def said(self) -> str:
        """The model's sentences that are shown."""
        return self._said

    @property
    def quoted(self) -> Answer:
        """The extractive reader's."""
        return self._prepared.quoted

    def _say(self, sentence: str) -> str:
        if self.by_quotes or any(refusal in sentence for refusal in REFUSALS.values()):
            return ""
        mended = mend_scales(sentence, [line.printed for line in self._prepared.lines])
        if not sentence.strip() and not self._said:
            return ""
        if not sentence.strip() or self._said.strip():
            self._said += mended
            return mended
        if self._prepared.quoted.by_construction or not is_better_choice(sentence, self._prepared, self._sureness):
            quoted = "\n".join(self._prepared.quoted.lines)
            if self._prepared.one_figure:
                self.by_quotes = True
                return quoted
            self.shows_quotes, self.quotes_lead, self._said = True, True, mended
            return f"{quoted}\n\n{_WORDED[self._language]} {mended}"
        self._said = mended
        return mended


def first_sentence(pieces: Iterable[tuple[str, float | None]]) -> tuple[str, float | None]:
    """The first sentence of a text that comes in pieces, and the lowest sureness of those that it came in."""
    text, lowest = "", None
    for piece, sureness in pieces:
        text += piece
        lowest = min((value for value in (lowest, sureness) if value is not None), default=None)
        while end := _sentence_end(text):
            if text[:end].strip():
                return text[:end], lowest
            text = text[end:]
    return text, lowest


def _sentence_end(text: str) -> int:
    """Where the first sentence ends that another one, or a line, follows; 0 where none does.

    No stop of an abbreviation, or of the number of a list, whatever stands next.
    """
    for match in _SENTENCE.finditer(text):
        if "\n" in match.group() or len(sentence_spans(f"{text[: match.end()]}A")) > 1:
            return match.end()
    return 0


Relation = Literal["account", "no figure", "same", "same line", "one in line", "other line", "unseen"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the model's figure stands to the first quote.

    Attributes:
        relation: account: no figure decides. no figure: the model says none. same: that of the quote's cell. same
            line: another one of its row, where the column is certain. one in line: one of its row or sentence, where
            no column is. other line: one of another line that the model was shown. unseen: of none.
        alone: The quote's line has no other figure.
        ratio: The score of the best shown line with the model's figure, against that of the quote's line.
    """

    relation: Relation
    alone: bool = False
    ratio: float = 0.0


def compare(sentence: str, prepared: Preparation) -> Comparison:
    """The model's first sentence beside the first quote."""
    if prepared.is_account:
        return Comparison("account")
    said = _figures(sentence) - _figures(prepared.task.question)
    quoted = prepared.quoted
    chosen, around = find_figures(" ".join(quoted.cells)), _figures(quoted.quotes[0].text)
    if not said:
        return Comparison("no figure", alone=not around)
    if chosen and around & said:
        return Comparison("same" if chosen & said else "same line")
    if around & said:
        return Comparison("one in line", alone=len(around) == 1)
    first = next((one.score for one in prepared.lines if _is_place(one, quoted.quotes[0])), 0.0)
    best = max((one.score for one in prepared.lines if said & one.figures), default=0.0)
    return Comparison("other line", ratio=best / first if first > 0.0 else 1.0) if best > 0.0 else Comparison("unseen")


def is_better_choice(
    sentence: str, prepared: Preparation, sureness: float | None = None, bounds: Bounds = BOUNDS
) -> bool:
    """Whether the model's figure is that of the first quote, or one that it is sure of and was shown.

    Where nobody says how sure it is, its line must score as well. Of the same row the extractive reader's cell is
    right: that goes by the heads of the columns.
    """
    found = compare(sentence, prepared)
    is_sure = sureness is None or sureness >= bounds.sure
    match found.relation:
        case "account" | "same":
            return True
        case "no figure":
            return found.alone or not prepared.one_figure
        case "one in line":
            return is_sure or found.alone
        case "other line":
            return is_sure and (sureness is not None or found.ratio >= bounds.as_good)
    return False


def _figures(text: str) -> frozenset[str]:
    """Without those of dates and markers."""
    return find_figures(without_periods(_MARKER.sub(" ", text)))


def _is_place(one: ShownLine, quote: Quote) -> bool:
    return (one.number, one.start) == (quote.number, quote.start)


def _is_said(line: str, words: set[str]) -> bool:
    own = set(terms(line))
    return len(own & words) >= _SAID_AGAIN * len(own)
