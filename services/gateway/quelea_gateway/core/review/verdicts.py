"""What the checks found in an answer, sentence by sentence and figure by figure."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from quelea_checker import UNSUPPORTED


@dataclass(frozen=True)
class SentenceVerdict:
    """A sentence of the final text: text[start:end], in code points.

    Attributes:
        verdict: "supported", "partly", "contradicted" (the evidence says otherwise), "not_found" or "no_claim".
        passages: Numbers of the evidence that supports it, the best first.
    """

    text: str
    start: int
    end: int
    verdict: str
    passages: tuple[int, ...] = ()


@dataclass(frozen=True)
class FigureVerdict:
    """A figure of the final text: text[start:end], in code points.

    Attributes:
        verdict: "supported", "derived", "contradicted" (the evidence says otherwise) or "not_found".
        passage: Number of the evidence that has it; 0: none.
        formula: Of a derived one: "= 1,496.5 − 1,202.9".
    """

    text: str
    start: int
    end: int
    verdict: str
    passage: int = 0
    formula: str = ""


@dataclass(frozen=True)
class Grounding:
    """The verdicts on an answer, and the text as they left it.

    Attributes:
        text: Invented markers gone, forgotten ones added; in strict mode without the sentences that are contradicted or
            have a figure that is contradicted or not found.
        removed_markers: As the reader wrote them, in its order; a corrected one is here and in added_markers.
        withheld: Sentences that strict mode left out, as the reader wrote them.
        verifier: "done", "partial" or "unavailable"; empty where none is configured or it had nothing to judge.
    """

    text: str
    sentences: tuple[SentenceVerdict, ...] = ()
    figures: tuple[FigureVerdict, ...] = ()
    removed_markers: tuple[str, ...] = ()
    added_markers: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    verifier: Literal["", "done", "partial", "unavailable"] = ""

    def unsupported(self, verdicts: Container[str] = UNSUPPORTED) -> list[str]:
        """The figures that the evidence contradicts or does not have, each once."""
        return list(dict.fromkeys(figure.text for figure in self.figures if figure.verdict in verdicts))

    def supporting(self, sentence: SentenceVerdict) -> bool:
        """Whether a figure of the sentence stands in the evidence or follows from it."""
        return any(
            sentence.start <= figure.start < sentence.end and figure.verdict not in UNSUPPORTED and figure.passage
            for figure in self.figures
        )
