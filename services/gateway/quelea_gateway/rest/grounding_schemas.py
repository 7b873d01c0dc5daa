"""The verdicts on an answer, as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from quelea_gateway.core import verdicts as core


class SentenceVerdictOut(BaseModel):
    """A sentence of the final text: text[start:end], in code points."""

    text: str
    start: int
    end: int
    verdict: Literal["supported", "partly", "contradicted", "not_found", "no_claim"]
    passages: list[int] = Field(description="Numbers of the evidence that supports it, the best first.")


class FigureVerdictOut(BaseModel):
    """A figure of the final text: text[start:end], in code points."""

    text: str
    start: int
    end: int
    verdict: Literal["supported", "derived", "contradicted", "not_found"]
    passage: int = Field(description="Number of the evidence that has it; 0: none.")
    formula: str = Field(description='Of a derived figure: "= 1,496.5 − 1,202.9".')


class GroundingOut(BaseModel):
    """The verdicts on an answer; the data of the event `verdicts`."""

    text: str = Field(description="The final text: what was streamed, with its markers put right, or a refusal.")
    sentences: list[SentenceVerdictOut]
    figures: list[FigureVerdictOut]
    removed_markers: list[str]
    added_markers: list[str]
    withheld: list[str] = Field(description="Sentences that strict mode left out.")

    @classmethod
    def of(cls, found: core.Grounding | None) -> GroundingOut | None:
        """From the pipeline's, where there is one."""
        return None if found is None else cls.given(found)

    @classmethod
    def given(cls, found: core.Grounding) -> GroundingOut:
        """From the pipeline's."""
        return cls(
            text=found.text,
            sentences=[SentenceVerdictOut(**{**vars(s), "passages": list(s.passages)}) for s in found.sentences],
            figures=[FigureVerdictOut(**vars(figure)) for figure in found.figures],
            removed_markers=list(found.removed_markers),
            added_markers=list(found.added_markers),
            withheld=list(found.withheld),
        )
