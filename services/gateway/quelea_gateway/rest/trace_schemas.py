"""How an answer came by its evidence, as JSON: the gate's verdict and what the web route did."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from quelea_gateway.core import model as core
from quelea_gateway.core.model import Shown


class ShownOut(BaseModel):
    """A passage that the reader was shown: pages[page].text[start:end], in code points."""

    number: int = Field(description="The n of [n], and of the passages that verdicts name.")
    document_id: str
    title: str
    uri: str
    page: int
    start: int
    end: int
    published: str
    source: Literal["local", "web"]

    @classmethod
    def of(cls, passage: Shown) -> ShownOut:
        """From the pipeline's."""
        return cls.model_construct(**vars(passage))


class GateOut(BaseModel):
    """Whether the local evidence was thought good enough, and why."""

    kind: str = Field(description="calibrated or cosine.")
    probability: float = Field(description="That the local evidence answers; of the cosine gate the best cosine.")
    threshold: float
    passed: bool
    reasons: list[str]
    features: dict[str, float] = Field(description="What the verdict was made of.")

    @classmethod
    def of(cls, verdict: core.Verdict) -> GateOut:
        """From the pipeline's."""
        return cls(**{**vars(verdict), "reasons": list(verdict.reasons)})


class KeptOut(BaseModel):
    """A page that was useful, and what became of it: kept, pending, rejected."""

    url: str
    state: str
    job_id: str


class WebOut(BaseModel):
    """What the web route did, or tried to do."""

    provider: str
    pages_read: int
    kept: list[KeptOut] = Field(description="What was known of it when the answer was done.")
    problems: list[str] = Field(description="What failed, one line each.")
    cached: bool = Field(description="The provider's results came from the cache.")

    @classmethod
    def of(cls, trace: core.WebTrace | None) -> WebOut | None:
        """From the pipeline's."""
        if trace is None:
            return None
        kept = [KeptOut(**vars(page)) for page in trace.kept]
        return cls(**{**vars(trace), "kept": kept, "problems": list(trace.problems)})
