"""What the checks found in an answer, sentence by sentence and figure by figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SentenceVerdict:
    """A sentence of the final text: text[start:end], in code points.

    Attributes:
        verdict: "supported", "partly", "unsupported" or "no_claim".
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
        verdict: "supported", "derived" or "unsupported".
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
        text: Invented markers gone, forgotten ones added, in strict mode sentences with unsupported figures withheld.
        removed_markers: As the reader wrote them, in its order; a corrected one is here and in added_markers.
        withheld: Sentences that strict mode left out, as the reader wrote them.
    """

    text: str
    sentences: tuple[SentenceVerdict, ...] = ()
    figures: tuple[FigureVerdict, ...] = ()
    removed_markers: tuple[str, ...] = ()
    added_markers: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()

    def unsupported(self) -> list[str]:
        """The figures that nothing supports, each once."""
        return list(dict.fromkeys(figure.text for figure in self.figures if figure.verdict == "unsupported"))

    def supporting(self, sentence: SentenceVerdict) -> bool:
        """Whether a figure of the sentence stands in the evidence or follows from it."""
        return any(
            sentence.start <= figure.start < sentence.end and figure.verdict != "unsupported" and figure.passage
            for figure in self.figures
        )
