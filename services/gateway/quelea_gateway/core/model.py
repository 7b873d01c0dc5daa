"""The objects of the ask pipeline, without wire or network. Those of its web half are in web.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from quelea_fintext.facts import Fact, StatedFigure
from quelea_fintext.notices import Note, write_notes

from quelea_gateway.core.prompts import PromptSet
from quelea_gateway.core.review.decline import Decline, DeclineReason
from quelea_gateway.core.review.verdicts import Grounding

Route = Literal["auto", "local", "web"]
Source = Literal["local", "web"]


@dataclass(frozen=True)
class Filters:
    """Which documents may be searched; an empty field does not restrict."""

    companies: tuple[str, ...] = ()
    tickers: tuple[str, ...] = ()
    document_types: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    published_from: str = ""
    published_to: str = ""
    languages: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Passage:
    """A retrieved passage: text == page_text[start:end] (code points), with its document's dated metadata."""

    document_id: str
    page: int
    start: int
    end: int
    text: str
    is_table: bool = False
    table_head: str = ""
    section: str = ""
    header: str = ""
    title: str = ""
    uri: str = ""
    published: str = ""
    company: str = ""
    ticker: str = ""
    document_type: str = ""
    language: str = ""
    period: str = ""
    period_end: str = ""
    score: float = 0.0
    cosine: float = 0.0
    sparse: float = 0.0
    source: Source = "local"
    """From the knowledge base, or from a page read for this question."""
    from_web: bool = False
    """Its words are those of a web page, kept in the knowledge base or not."""
    fetched: str = ""
    """RFC 3339; empty where unknown."""
    scanned: bool = False
    """OCR read it from a picture of its page."""
    suspicious: bool = False
    """It reads like instructions to a machine."""


@dataclass(frozen=True)
class Reading:
    """What the question was understood to ask about."""

    text: str = ""
    notes: tuple[Note, ...] = ()
    """Where the search differs from what was asked."""
    fallback: str = field(default="", kw_only=True)
    """The notes as one English line, made of them: a field, so that the events have it."""
    companies: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    company_missing: bool = False
    period_missing: bool = False
    is_comparison: bool = False
    asks_latest: bool = False
    period_newer: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "fallback", write_notes(self.notes, "en"))  # of a frozen class


@dataclass(frozen=True)
class AnswerFigure:
    """A Figure in an answer, as its readers have it."""

    company: str
    metric: str
    value: str
    unit: str
    period_start: str
    period_end: str
    formula: str
    growth: str
    fiscal_year: int
    absent: tuple[str, ...]
    operands: tuple[AnswerOperand, ...]


@dataclass(frozen=True)
class AnswerOperand:
    """A fact in it, and the cell that prints it."""

    label: str
    concept: str
    value: str
    unit: str
    period_start: str
    period_end: str
    source: str
    number: int
    """Of the evidence, as of a marker."""
    document_id: str
    page: int
    start: int
    end: int
    printed: str


@dataclass(frozen=True)
class Operand:
    """A fact in a figure, and the passage that prints it."""

    fact: Fact
    passage: Passage


Figure = StatedFigure[Operand]


@dataclass(frozen=True)
class Retrieved:
    """The answer of a retrieval, best passage first; stages in milliseconds."""

    passages: tuple[Passage, ...]
    reading: Reading = Reading()
    best_cosine: float = 0.0
    """Of all that was searched, the passages or not."""
    stages: dict[str, float] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    """What statements say to the question."""
    encoder: str = ""
    """That made the cosines; empty where nobody said."""


@dataclass(frozen=True)
class Turn:
    """One turn of the conversation so far."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class Standalone:
    """What a follow-up asks, with what it takes from the turns before it; by: "model" or "rules"."""

    question: str
    by: str


@dataclass(frozen=True)
class Question:
    """A question with all that was asked for; every value checked and filled in."""

    text: str
    as_of: str
    k: int
    j: int
    history: tuple[Turn, ...] = ()
    filters: Filters = Filters()
    route: Route = "auto"
    model: str = ""
    max_tokens: int = 0
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    top_p: float | None = None
    seed: int | None = None
    tenant: str = ""
    """Whose question it is, for fair turns at the engines: the key's name."""
    standalone: Standalone | None = None
    """Set when the question leans on the history."""
    searched: str = ""
    """What is searched for where that is neither: the pipeline's, while nobody can say what a follow-up means."""
    strict: bool = False
    """Sentences with a figure that the evidence does not support are withheld."""
    may_fetch: bool = True
    """Whether who asks may bring in filings; else he is told whom to ask, instead of being offered them."""
    prompts: PromptSet | None = None
    """The wordings to ask with, where a draft is tried; None: those in force."""

    @property
    def asked(self) -> str:
        """The question as it stands alone: what the reader answers."""
        return self.standalone.question if self.standalone else self.text

    @property
    def query(self) -> str:
        """What is searched for, here and on the web, and what the evidence is judged by."""
        return self.searched or self.asked


@dataclass(frozen=True)
class Citation:
    """Where a statement comes from: quote == page_text[start:end] (code points)."""

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
    source: Source = "local"
    fetched: str | None = None
    """RFC 3339; None where unknown."""
    from_web: bool = False
    """It was fetched from `uri`; otherwise `uri` and `published` are what its uploader says."""
    scanned: bool = False
    """OCR read it from a picture of its page: characters may be wrong."""


@dataclass(frozen=True)
class Verdict:
    """Whether the local evidence was thought good enough, and why."""

    kind: str
    """ "calibrated" or "cosine"."""
    probability: float
    """That the local evidence answers the question; of the cosine gate the best cosine."""
    threshold: float
    passed: bool
    reasons: tuple[str, ...] = ()
    """The weightiest first, in the question's language."""
    features: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A page of the web that was useful: "kept" in the knowledge base (job_id: of its indexing), or "pending"."""

    url: str
    state: str
    job_id: str = ""


@dataclass(frozen=True)
class WebTrace:
    """What the web route did, or tried to do."""

    provider: str = ""
    pages_read: int = 0
    kept: tuple[Kept, ...] = ()
    problems: tuple[str, ...] = ()
    cached: bool = False


@dataclass(frozen=True)
class Check:
    """A verdict on the answer."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Delta:
    """A piece of the answer's text."""

    text: str
    citations: tuple[Citation, ...] = ()
    """Passages that the text cites here for the first time, with their numbers; of a checked text all citations."""


@dataclass(frozen=True)
class Quote:
    """A span of evidence `number` that the answer rests on."""

    number: int
    start: int
    end: int
    text: str
    score: float = 0.0


@dataclass(frozen=True)
class Finished:
    """How the reader ended: "stop", "length" or "declined"."""

    reason: str
    reader: str
    model: str = ""
    prompt_version: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_token_ms: float = 0.0
    decline_reason: DeclineReason | None = None
    """Why the reader declined, where it says."""
    decline_detail: str = ""
    """One sentence about it, in English."""


@dataclass(frozen=True)
class Started:
    """Sent once, when the evidence has been found and before the answer is written."""

    reading: Reading
    evidence: tuple[Citation, ...]
    """Best first. Its numbers are ranks: what a text cites as [n] comes with the text (Delta.citations)."""
    further_reading: tuple[Citation, ...]
    route: str
    """ "local" or "local+web"."""
    gate: Verdict
    web: WebTrace | None
    standalone: Standalone | None = None
    """Of a follow-up."""
    searches: tuple[str, ...] = ()
    """What was searched for beside the question, as a language model planned it."""


@dataclass(frozen=True)
class Quoted:
    """Quotes that answer the question, while a language model is still about to write."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class Shown:
    """A passage by its place: the text is pages[page].text[start:end] of the document, in code points."""

    number: int
    """The n of [n], and of the passages that verdicts name."""
    document_id: str
    title: str
    uri: str
    page: int
    start: int
    end: int
    published: str
    source: Source


@dataclass(frozen=True)
class FetchOffer:
    """The body of a POST /v1/fetch that brings what is missing, and a sentence that asks whether to."""

    text: str
    """In the question's language."""
    company: str
    forms: tuple[str, ...]
    years: int


@dataclass(frozen=True)
class Answer:
    """The whole answer."""

    answer: str
    citations: tuple[Citation, ...]
    further_reading: tuple[Citation, ...]
    route: str
    as_of: str
    reader: str
    checks: tuple[Check, ...]
    timings: dict[str, float]
    reading: Reading
    declined: Decline | None
    """Why there is no answer; None when there is one."""
    language: str
    notices: tuple[str, ...]
    model: str
    prompt_version: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    gate: Verdict
    web: WebTrace | None
    grounding: Grounding | None = None
    """None when the check could not be made."""
    standalone: Standalone | None = None
    """Of a follow-up."""
    searches: tuple[str, ...] = ()
    """What was searched for beside the question, as a language model planned it."""
    evidence: tuple[Shown, ...] = ()
    """By number: what the text cites, in the order in which it does, then the rest as it ranked."""
    figures: tuple[AnswerFigure, ...] = ()
    """Those that the question asks for, where statements have them, and those that a model pointed at."""
    offers: tuple[FetchOffer, ...] = ()
    """Of a declined question: filings that could be fetched for it."""
    stands_in: bool = False
    """Quotes for what a language model could not answer: not the text that was streamed."""
    streamed: tuple[int, ...] = ()
    """What was streamed as [n] has the number streamed[n - 1] here: the checks may have changed what is cited first."""


@dataclass(frozen=True)
class ReaderInfo:
    """The reader in use."""

    reader: str
    model: str
    evidence_tokens: int
    prompt_version: str = ""
    context_tokens: int = 0
    """Of a prompt and its answer together; 0 where unknown."""
    adapters: tuple[str, ...] = ()
    """Further names that a question's model may have."""
    version: str = ""
    """Of the generator."""


@dataclass(frozen=True)
class Ranked:
    """The place of one passage of several: its position as given, and how it was scored."""

    index: int
    score: float
    cosine: float
    header: str


@dataclass(frozen=True)
class Message:
    """A message of the prompt."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Function:
    """What a language model may call in its answer; `parameters` is the JSON schema of its arguments, as text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True)
class FunctionCall:
    """A call of a function, whose arguments are a JSON object as the model wrote it."""

    name: str
    arguments: str


NO_FUNCTIONS = "no_functions"
"""The reason of a completion that was not made, as the model or its server calls no functions."""


@dataclass(frozen=True)
class CompletionEnd:
    """How a completion ended.

    Attributes:
        reason: "stop", "length" (it was cut off), "invalid" (no JSON that fits the schema, a call that does not fit its
            function), or NO_FUNCTIONS.
        calls: Of the functions that were offered.
    """

    reason: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_token_ms: float = 0.0
    total_ms: float = 0.0
    calls: tuple[FunctionCall, ...] = ()
