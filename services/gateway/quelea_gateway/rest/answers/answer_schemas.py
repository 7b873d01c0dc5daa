"""Answers, and what belongs to them, as JSON: a contract, fields are added, never renamed or removed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from quelea_gateway.core import model as core
from quelea_gateway.core.model import Shown, Standalone
from quelea_gateway.core.review.decline import Decline, DeclineReason
from quelea_gateway.core.review.verdicts import Grounding
from quelea_gateway.core.review.verifier import VerifierState
from quelea_gateway.rest.fields import Time


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
    verifier: VerifierState = Field(
        default="",
        description="How the verifier did: done, partial or unavailable (then the checker's verdicts stand); empty: "
        "none is configured, or it had nothing to judge.",
    )

    @classmethod
    def of(cls, found: Grounding | None) -> GroundingOut | None:
        """From the pipeline's, where there is one."""
        return None if found is None else cls.given(found)

    @classmethod
    def given(cls, found: Grounding) -> GroundingOut:
        """From the pipeline's."""
        return cls(
            text=found.text,
            sentences=[SentenceVerdictOut(**{**vars(s), "passages": list(s.passages)}) for s in found.sentences],
            figures=[FigureVerdictOut(**vars(figure)) for figure in found.figures],
            removed_markers=list(found.removed_markers),
            added_markers=list(found.added_markers),
            withheld=list(found.withheld),
            verifier=found.verifier,
        )


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


class CitationOut(BaseModel):
    """Where a statement comes from: quote is pages[page].text[start:end], in Unicode code points."""

    number: int
    document_id: str
    title: str
    uri: str
    page: int
    published: str
    quote: str
    score: float
    start: int
    end: int
    company: str
    period: str
    source: Literal["local", "web"]
    fetched: Time | None = Field(description="When the page was fetched; null where unknown.")
    from_web: bool = Field(
        default=False, description="It was fetched from `uri`; otherwise `uri` and `published` are its uploader's word."
    )
    scanned: bool = Field(default=False, description="OCR read it from a picture of the page: characters may be wrong.")

    @classmethod
    def of(cls, citation: core.Citation) -> CitationOut:
        """From the pipeline's."""
        return cls.model_construct(**vars(citation))


class ReadingOut(BaseModel):
    """What the question was understood to ask about."""

    text: str
    fallback: str
    companies: list[str]
    periods: list[str]
    document_ids: list[str]
    company_missing: bool
    period_missing: bool
    is_comparison: bool
    asks_latest: bool
    period_newer: bool

    @classmethod
    def of(cls, reading: core.Reading) -> ReadingOut:
        """From the pipeline's."""
        return cls.model_validate(reading, from_attributes=True)


class AnswerCheckOut(BaseModel):
    """A verdict on the answer."""

    name: str
    passed: bool
    detail: str


class StandaloneOut(BaseModel):
    """A follow-up as it was understood."""

    question: str
    by: str = Field(description='"model" or "rules".')

    @classmethod
    def of(cls, standalone: Standalone | None) -> StandaloneOut | None:
        """From the pipeline's."""
        return cls(question=standalone.question, by=standalone.by) if standalone else None


class DeclineOut(BaseModel):
    """Why there is no answer."""

    reason: DeclineReason
    detail: str = Field(description="One sentence, in the question's language.")

    @classmethod
    def of(cls, decline: Decline | None) -> DeclineOut | None:
        """From the pipeline's."""
        return cls(reason=decline.reason, detail=decline.detail) if decline else None


class FetchOfferOut(BaseModel):
    """Filings that a question needs and that are not stored: company, forms and years are a body of POST /v1/fetch."""

    text: str = Field(description="Asks whether to fetch them, in the question's language.")
    company: str
    forms: list[str]
    years: int

    @classmethod
    def of(cls, offer: core.FetchOffer) -> FetchOfferOut:
        """From the pipeline's."""
        return cls(text=offer.text, company=offer.company, forms=list(offer.forms), years=offer.years)


class OperandOut(BaseModel):
    """A fact that a figure is made from, and the cell that prints it: page.text[start:end], in Unicode code points."""

    label: str
    concept: str = Field(description="Empty where the label is no standard concept's.")
    value: str = Field(description="Decimal, exact and unscaled.")
    unit: str
    period_start: str = Field(description="Empty of an instant.")
    period_end: str
    source: str = Field(description='"tag" (inline XBRL) or "table"; "text" of what a model pointed at.')
    number: int = Field(description="Of the evidence, as of a marker.")
    document_id: str
    page: int
    start: int
    end: int
    printed: str


class AskedFigureOut(BaseModel):
    """A figure that the question asks for, or that a model pointed at: as the evidence has it, or computed from it."""

    company: str
    metric: str = Field(
        description='"gross_margin" and its like, "change", "compound_growth", "share", "remainder" (of a period that '
        'none states: a year less its nine months), "calculation" of a model; empty of a stated figure.'
    )
    value: str = Field(description="Decimal; of a change the difference.")
    unit: str = Field(description='ISO 4217, "USD/share", "shares", "percent", "points", "times" or "days".')
    period_start: str
    period_end: str
    formula: str = Field(description="Over the operands: ({0} − {1}) / {0}.")
    growth: str = Field(description="Of a change, in percent; empty where there is no such rate.")
    fiscal_year: int = Field(description="The filer's own year; 0 where unknown.")
    absent: list[str] = Field(description="Concepts that the formula takes for nothing, as they are not stated.")
    operands: list[OperandOut]

    @classmethod
    def of(cls, figure: core.AnswerFigure) -> AskedFigureOut:
        """From the pipeline's."""
        return cls(**{**vars(figure), "operands": [OperandOut(**vars(one)) for one in figure.operands]})


class AnswerOut(BaseModel):
    """The answer of POST /v1/ask, and the data of the event `answer`."""

    answer: str
    citations: list[CitationOut]
    further_reading: list[CitationOut]
    route: str
    as_of: str
    reader: str
    checks: list[AnswerCheckOut]
    timings: dict[str, float] = Field(
        description="Milliseconds by stage: retrieve, generate, gateway, total; on the web route web, rank, keep too."
    )
    reading: ReadingOut
    declined: DeclineOut | None = Field(description="Why there is no answer; null when there is one.")
    language: str
    notices: list[str]
    model: str
    prompt_version: str
    gate: GateOut
    web: WebOut | None = Field(description="null when the web was not asked.")
    grounding: GroundingOut | None = Field(default=None, description="null when the check could not be made.")
    standalone: StandaloneOut | None = Field(default=None, description="null when the question stands alone.")
    searches: list[str] = Field(
        default=[], description="What was searched for beside the question, as a language model planned it."
    )
    evidence: list[ShownOut] = Field(default=[], description="All that the reader was shown, cited or not.")
    figures: list[AskedFigureOut] = Field(
        default=[],
        description="What the question asks for, where statements have it, and what a model pointed at in its draft or "
        "computed from such figures, with every cell behind it.",
    )
    offers: list[FetchOfferOut] = Field(
        default=[], description="Of a declined question: filings that this deployment could fetch for it."
    )

    @classmethod
    def of(cls, answer: core.Answer) -> AnswerOut:
        """From the pipeline's."""
        return cls(
            answer=answer.answer,
            citations=[CitationOut.of(citation) for citation in answer.citations],
            further_reading=[CitationOut.of(citation) for citation in answer.further_reading],
            route=answer.route,
            as_of=answer.as_of,
            reader=answer.reader,
            checks=[AnswerCheckOut(**vars(check)) for check in answer.checks],
            timings=answer.timings,
            reading=ReadingOut.of(answer.reading),
            declined=DeclineOut.of(answer.declined),
            language=answer.language,
            notices=list(answer.notices),
            model=answer.model,
            prompt_version=answer.prompt_version,
            gate=GateOut.of(answer.gate),
            web=WebOut.of(answer.web),
            grounding=GroundingOut.of(answer.grounding),
            standalone=StandaloneOut.of(answer.standalone),
            searches=list(answer.searches),
            evidence=[ShownOut.of(passage) for passage in answer.evidence],
            figures=[AskedFigureOut.of(figure) for figure in answer.figures],
            offers=[FetchOfferOut.of(offer) for offer in answer.offers],
        )


class QuotesOut(BaseModel):
    """The data of the event `quotes`."""

    text: str
    citations: list[CitationOut]


class DeltaOut(BaseModel):
    """The data of the event `delta`."""

    text: str
    citations: list[CitationOut] = Field(
        default=[], description="Passages that the text cites here for the first time, with their numbers."
    )


class StartedOut(BaseModel):
    """The data of the event `started`."""

    reading: ReadingOut
    evidence: list[CitationOut] = Field(
        description="Best first; its numbers are ranks. What the text cites as [n] comes with the text."
    )
    further_reading: list[CitationOut]
    route: str
    gate: GateOut
    web: WebOut | None
    standalone: StandaloneOut | None = Field(default=None, description="null when the question stands alone.")
    searches: list[str] = Field(
        default=[], description="What was searched for beside the question, as a language model planned it."
    )

    @classmethod
    def of(cls, started: core.Started) -> StartedOut:
        """From the pipeline's."""
        return cls(
            reading=ReadingOut.of(started.reading),
            evidence=[CitationOut.of(citation) for citation in started.evidence],
            further_reading=[CitationOut.of(citation) for citation in started.further_reading],
            route=started.route,
            gate=GateOut.of(started.gate),
            web=WebOut.of(started.web),
            standalone=StandaloneOut.of(started.standalone),
            searches=list(started.searches),
        )


class PassageOut(BaseModel):
    """A passage found: text is pages[page].text[start:end]."""

    document_id: str
    title: str
    uri: str
    page: int
    text: str
    published: str
    company: str
    period: str
    score: float
    cosine: float
    start: int
    end: int
    is_table: bool
    table_head: str
    section: str
    header: str
    ticker: str
    document_type: str
    language: str
    period_end: str


class SearchOut(BaseModel):
    """The answer of POST /v1/search."""

    passages: list[PassageOut]
    timings: dict[str, float]
    reading: ReadingOut
