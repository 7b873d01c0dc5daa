"""What the gateway answers with, as Python objects; docs/api-conventions.md says what names and times mean.

Field by field as in the gateway's OpenAPI document, which a test holds them to. What a newer gateway adds is kept and
sent back as it came, so an answer that goes to the export is whole. Where the gateway has a fixed set of words (a
state, a verdict) the type is `str`, so that a word that a newer one adds is no error here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, PrivateAttr
from pydantic_core import CoreSchema, core_schema

from quelea_client.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd

Exporter = Callable[["Answer", "str | Path", str], Path]

T = TypeVar("T", bound="Record")

_SHOWN_QUOTE = 300
_FIGURE_COLUMNS = (
    "company", "label", "metric", "value", "unit", "period_start", "period_end", "fiscal_year", "growth", "formula",
    "operands", "sources",
)  # fmt: skip


class Record(BaseModel):
    """Something of the gateway's; it cannot be changed."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Rows(list[T], Generic[T]):
    """A list of records that can be a table."""

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """A row for each, a column for each field.

        Args:
            exact: Figures as `Decimal` instead of as floats.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return frame(self._rows(), list(self._columns()), exact=exact)

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return [dict(one) for one in self]

    def _columns(self) -> Iterable[str]:
        return type(self[0]).model_fields if self else ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        item = (get_args(source) or (cls._item(),))[0]
        return core_schema.no_info_after_validator_function(cls, core_schema.list_schema(handler.generate_schema(item)))

    @classmethod
    def _item(cls) -> Any:
        return Any


def frame(rows: Iterable[Mapping[str, Any]], columns: list[str], *, exact: bool) -> pd.DataFrame:
    """Rows as a DataFrame. Raises MissingExtra."""
    try:
        import pandas as pd  # noqa: PLC0415  # only where a table is asked for
    except ImportError as error:
        raise MissingExtra("Tables need pandas: pip install 'quelea-client[pandas]'.") from error
    if exact:
        return pd.DataFrame(list(rows), columns=columns)
    return pd.DataFrame([{name: _float(value) for name, value in row.items()} for row in rows], columns=columns)


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


class Citation(Record):
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
    source: str
    fetched: datetime | None
    """When the page was fetched; None where unknown."""
    from_web: bool = False
    """It was fetched from `uri`; otherwise `uri` and `published` are its uploader's word."""
    scanned: bool = False
    """OCR read it from a picture of the page: characters may be wrong."""


class Reading(Record):
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


class Gate(Record):
    """Whether the local evidence was thought good enough, and why."""

    kind: str
    """calibrated or cosine."""
    probability: float
    """That the local evidence answers; of the cosine gate the best cosine."""
    threshold: float
    passed: bool
    reasons: list[str]
    features: dict[str, float]
    """What the verdict was made of."""


class KeptPage(Record):
    """A page that was useful, and what became of it: kept, pending, rejected."""

    url: str
    state: str
    job_id: str


class WebTrace(Record):
    """What the web route did, or tried to do."""

    provider: str
    pages_read: int
    kept: list[KeptPage]
    """What was known of it when the answer was done."""
    problems: list[str]
    """What failed, one line each."""
    cached: bool
    """The provider's results came from the cache."""


class SentenceVerdict(Record):
    """A sentence of the final text: text[start:end], in code points."""

    text: str
    start: int
    end: int
    verdict: str
    passages: list[int]
    """Numbers of the evidence that supports it, the best first."""


class FigureVerdict(Record):
    """A figure of the final text: text[start:end], in code points."""

    text: str
    start: int
    end: int
    verdict: str
    passage: int
    """Number of the evidence that has it; 0: none."""
    formula: str
    """Of a derived figure: "= 1,496.5 − 1,202.9"."""


class Grounding(Record):
    """The verdicts on an answer; the data of the event `verdicts`."""

    text: str
    """The final text: what was streamed, with its markers put right, or a refusal."""
    sentences: list[SentenceVerdict]
    figures: list[FigureVerdict]
    removed_markers: list[str]
    added_markers: list[str]
    withheld: list[str]
    """Sentences that strict mode left out."""
    verifier: str = ""
    """How the verifier did: done, partial or unavailable (then the checker's verdicts stand); empty: there is none, or
    it had nothing to judge."""


class Evidence(Record):
    """A passage that the reader was shown: pages[page].text[start:end], in code points."""

    number: int
    """The n of [n], and of the passages that verdicts name."""
    document_id: str
    title: str
    uri: str
    page: int
    start: int
    end: int
    published: str
    source: str


class AnswerCheck(Record):
    """A verdict on the answer."""

    name: str
    passed: bool
    detail: str


class Decline(Record):
    """Why there is no answer."""

    reason: str
    detail: str
    """One sentence, in the question's language."""


class Standalone(Record):
    """A follow-up as it was understood."""

    question: str
    by: str
    """"model" or "rules"."""


class Operand(Record):
    """A fact that a figure is made from, and the cell that prints it: page.text[start:end], in Unicode code points."""

    label: str
    concept: str
    """Empty where the label is no standard concept's."""
    value: Decimal
    """Exact and unscaled."""
    unit: str
    period_start: str
    """Empty of an instant."""
    period_end: str
    source: str
    """"tag" (inline XBRL) or "table"; "text" of what a model pointed at."""
    number: int
    """Of the evidence, as of a marker."""
    document_id: str
    page: int
    start: int
    end: int
    printed: str


class AskedFigure(Record):
    """A figure that the question asks for, or that a model pointed at: as the evidence has it, or computed from it."""

    company: str
    metric: str
    """"gross_margin" and its like, "change", "compound_growth", "share", "remainder" (of a period that none states),
    "calculation" of a model; empty of a stated figure."""
    value: Decimal
    """Exact; of a change the difference."""
    unit: str
    """ISO 4217, "USD/share", "shares", "percent", "points", "times" or "days"."""
    period_start: str
    period_end: str
    formula: str
    """Over the operands: ({0} − {1}) / {0}."""
    growth: str
    """Of a change, in percent; empty where there is no such rate."""
    fiscal_year: int
    """The filer's own year; 0 where unknown."""
    absent: list[str]
    """Concepts that the formula takes for nothing, as they are not stated."""
    operands: list[Operand]


class Figures(Rows[AskedFigure]):
    """The figures of an answer."""

    @classmethod
    def _item(cls) -> Any:
        return AskedFigure

    def _columns(self) -> Iterable[str]:
        return _FIGURE_COLUMNS

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        for one in self:
            first = one.operands[0] if one.operands else None
            yield {
                **{name: getattr(one, name) for name in _FIGURE_COLUMNS if hasattr(one, name)},
                "label": first.label if first and not one.metric else one.metric,
                "operands": "; ".join(f"{operand.label} {operand.value} {operand.unit}" for operand in one.operands),
                "sources": [operand.number for operand in one.operands],
            }


class FetchOffer(Record):
    """Filings that a question needs and that are not stored: company, forms and years are a body of POST /v1/fetch."""

    text: str
    """Asks whether to fetch them, in the question's language."""
    company: str
    forms: list[str]
    years: int


class Answer(Record):
    """The answer of POST /v1/ask, and the data of the event `answer`."""

    answer: str
    citations: Rows[Citation]
    further_reading: Rows[Citation]
    route: str
    as_of: str
    reader: str
    checks: list[AnswerCheck]
    timings: dict[str, float]
    """Milliseconds by stage: retrieve, generate, gateway, total; on the web route web, rank, keep too."""
    reading: Reading
    declined: Decline | None
    """Why there is no answer; None when there is one."""
    language: str
    notices: list[str]
    model: str
    prompt_version: str
    gate: Gate
    web: WebTrace | None
    """None when the web was not asked."""
    grounding: Grounding | None = None
    """None when the check could not be made."""
    standalone: Standalone | None = None
    """None when the question stands alone."""
    searches: list[str] = []
    """What was searched for beside the question, as a language model planned it."""
    evidence: Rows[Evidence] = Rows()
    """All that the reader was shown, cited or not."""
    figures: Figures = Figures()
    """What the question asks for, where statements have it, and what a model pointed at in its draft or computed from
    such figures, with every cell behind it."""
    offers: list[FetchOffer] = []
    """Of a declined question: filings that this deployment could fetch for it."""
    _question: str = PrivateAttr(default="")
    _export: Exporter | None = PrivateAttr(default=None)
    _page_url: Callable[[Citation], str] | None = PrivateAttr(default=None)

    @property
    def text(self) -> str:
        """The answer's text, with markers such as [1]."""
        return self.answer

    @property
    def question(self) -> str:
        """As it was asked; empty of an answer that came by another way than a client's `ask`."""
        return self._question

    def bind(self, question: str, export: Exporter | None, page_url: Callable[[Citation], str]) -> Answer:
        """Tell an answer its question and the ways back to its gateway; a client does this."""
        self._question, self._export, self._page_url = question, export, page_url
        return self

    def export(self, path: str | Path, file_format: str = "") -> Path:
        """Save the answer with its sources; the gateway makes the file.

        Args:
            path: Where to.
            file_format: markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            TypeError: The answer came from an AsyncClient: `await client.export(answer, path)`.
            ApiError: The gateway refused.
        """
        if self._export is None:
            raise TypeError("This answer has no Client; use client.export(answer, path), awaited with an AsyncClient.")
        return self._export(self, path, file_format)

    def export_xlsx(self, path: str | Path) -> Path:
        """The answer, its figures and its sources as a workbook; raises as `export` does."""
        return self.export(path, "xlsx")

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        lines = [self.answer, ""]
        for one in self.citations:
            where = f"{one.title or one.uri}, p. {one.page}"
            link = self._page_url(one) if self._page_url else ""
            lines.append(f"[{one.number}] " + (f"[{_flat(where)}]({link})" if link else _flat(where)) + "  ")
            lines.append(f"> {_flat(one.quote)[:_SHOWN_QUOTE]}\n")
        return "\n".join(lines)


class Conversation(Record):
    """A saved conversation without its answers."""

    id: str
    title: str
    created: datetime
    updated: datetime | None
    """When its last answer was saved; None while there is none."""
    turns: int


class UsedFilters(Record):
    """Which documents a saved question was asked of."""

    companies: list[str] = []
    tickers: list[str] = []
    document_types: list[str] = []
    periods: list[str] = []
    published_from: str = ""
    published_to: str = ""
    languages: list[str] = []
    document_ids: list[str] = []


class SavedThumb(Record):
    """A thumb on a saved answer."""

    thumb: str
    why: str
    reasons: list[str]


class SavedTurn(Record):
    """A question and its answer, as it was given."""

    id: str
    created: datetime
    question: str
    filters: UsedFilters
    collections: list[str] = []
    group: str
    answer: Answer
    thumb: SavedThumb | None = None


class WholeConversation(Record):
    """A saved conversation with its answers, oldest first."""

    id: str
    title: str
    created: datetime
    updated: datetime | None
    saved: list[SavedTurn]
    removed: list[str] | None = []
    """Documents that its answers cite and that are not here any more; None where that could not be told."""


class Started(Record):
    """The data of the event `started`."""

    reading: Reading
    evidence: Rows[Citation]
    further_reading: Rows[Citation]
    route: str
    gate: Gate
    web: WebTrace | None
    standalone: Standalone | None = None
    """None when the question stands alone."""
    searches: list[str] = []
    """What was searched for beside the question, as a language model planned it."""


class Quotes(Record):
    """The data of the event `quotes`."""

    text: str
    citations: Rows[Citation]


class Passage(Record):
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


class SearchResult(Record):
    """The answer of POST /v1/search."""

    passages: Rows[Passage]
    timings: dict[str, float]
    reading: Reading


class Fact(Record):
    """A figure, and the place that prints it."""

    company: str
    concept: str
    """`operating_income`; empty where the label is no standard concept's."""
    label: str
    """As printed."""
    statement: str
    group: str
    """Heading of the rows among which it stands."""
    value: Decimal
    """Exact and unscaled, in the sense of its concept."""
    unit: str
    """ISO 4217 code, that code per share, `shares` or `pure`."""
    period_start: str
    """Empty of an instant."""
    period_end: str
    printed: str
    """The printed cell."""
    basis: str
    source: str
    """`tag`: inline XBRL says it. `table`: read from the printed table."""
    tag: str
    """Name in its taxonomy."""
    passed: list[str]
    """Identities of accounting that hold with it."""
    failed: list[str]
    """Those that do not."""
    restated: bool
    """A later document states this concept and period with another value."""
    document_id: str
    title: str
    page: int
    start: int
    """Span of the cell on its page, in code points."""
    end: int
    url: str
    """Opens the page with the cell marked."""


class Company(Record):
    """A company that documents are about."""

    name: str
    ticker: str
    documents: int
    newest_period: str
    """Last day of the newest period that a document covers."""


class Cell(Fact):
    """A figure of a statement."""

    earlier: list[Fact]
    """What older documents state otherwise; only with `doubtful`."""


class StatementLine(Record):
    """A line: one cell for each period, None where no stored document states it."""

    label: str
    concept: str
    group: str
    unit: str
    cells: list[Cell | None]


class Statement(Record):
    """A statement: lines as the newest filing prints them, periods newest first."""

    company: str
    statement: str
    basis: str
    periods: list[str]
    lines: list[StatementLine]

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """Lines down, periods across, indexed by the line's label. Arguments and errors as of `Rows.to_frame`."""
        rows = [
            {"line": one.label, **{p: c.value if c else None for p, c in zip(self.periods, one.cells, strict=True)}}
            for one in self.lines
        ]
        return frame(rows, ["line", *self.periods], exact=exact).set_index("line")


class ComparisonLine(Record):
    """A concept of one company: one figure for each period, None where no stored document states it."""

    company: str
    concept: str
    label: str
    """As its newest document prints it."""
    unit: str
    cells: list[Fact | None]


class Missing(Record):
    """A concept that no stored document states of a company."""

    company: str
    concept: str


class Comparison(Record):
    """Companies side by side, by the calendar year or quarter in which most of a period lies, newest first."""

    period: str
    periods: list[str]
    """2023, or 2023 Q2."""
    lines: list[ComparisonLine]
    """By concept in the order asked for, then by company in theirs."""
    missing: list[Missing]

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """A row for each concept and company, a column for each period. As `Rows.to_frame` otherwise."""
        rows = [
            {
                "concept": one.concept,
                "company": one.company,
                "unit": one.unit,
                **{p: c.value if c else None for p, c in zip(self.periods, one.cells, strict=True)},
            }
            for one in self.lines
        ]
        shown = frame(rows, ["concept", "company", "unit", *self.periods], exact=exact)
        return shown.set_index(["concept", "company"])


class Document(Record):
    """A document of the knowledge base."""

    id: str
    title: str
    uri: str
    filing_id: str = ""
    """Of a fetched filing: its number at its source."""
    collection: str = "default"
    language: str
    company: str
    ticker: str
    document_type: str
    period: str
    period_end: str
    published: str
    provenance: str
    pages: int
    passages: int
    fetched: datetime | None


class Span(Record):
    """text[start:end], in Unicode code points."""

    start: int
    end: int


class Page(Record):
    """The parsed text of one page."""

    document_id: str
    page: int
    pages: int
    text: str
    title: str
    uri: str
    published: str
    company: str
    period: str
    document_type: str
    language: str
    provenance: str
    """web: it was fetched from `uri`; else `uri` and `published` are as uploaded."""
    span: Span | None


class Progress(Record):
    """Pages."""

    done: int
    total: int


class Job(Record):
    """The way of one uploaded file, or of one page of the web, into the knowledge base."""

    id: str
    filename: str
    state: str
    stage: str
    progress: Progress
    document_id: str | None
    error: str | None
    error_reason: str | None
    created: datetime | None
    updated: datetime | None
    finished: datetime | None
    attempts: int
    unchanged: bool
    lane: str
    """The queue: what users bring in, pages useful for an answer, pages read again."""
    url: str | None
    """The page's address; None for an upload."""
    replaced: str | None
    """The document of which this is a newer version; it is gone."""
    collection: str = "default"
    replayable: bool
    """Failed for a reason outside the document: POST /v1/jobs/replay tries again."""


class Accepted(Record):
    """A file that was taken in."""

    id: str
    filename: str


class ErrorBody(Record):
    """What went wrong."""

    code: str
    message: str
    details: dict[str, Any]


class Refused(Record):
    """A file that was not, while others were."""

    filename: str
    error: ErrorBody


class Uploaded(Record):
    """One job for each file taken in, in the order of the files; `errors` names the others."""

    jobs: list[Accepted]
    errors: list[Refused]


class RunLimits(Record):
    """What the run may use."""

    steps: int
    tokens: int
    seconds: float
    calls: int


class RunUsage(RunLimits):
    """What the run has used."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    repairs: int
    """Answers of the model that did not fit and were asked for again."""
    fallbacks: int
    """Times when the model's answer could not be used at all."""


class Artifact(Record):
    """A file that the run made: GET url."""

    name: str
    media_type: str
    bytes: int
    step: int
    path: str
    """What the code called it."""
    url: str


class RunSource(Record):
    """Something that the answer's figures rest on, with what is needed to open it."""

    number: int
    """The n of [n] in the text."""
    kind: str
    title: str
    step: int
    excerpt: str
    url: str
    """Of a call: what was fetched. Of a page of the web: its address."""
    fetched: datetime | None
    sha256: str
    """Of the bytes that a call brought."""
    call_id: str
    document_id: str
    """Of a passage: it opens at `open`."""
    page: int
    start: int
    end: int
    used: bool
    """The answer cites it, or has a figure of it."""
    open: str
    """Where to look at it in this gateway."""


class RunFigure(Record):
    """A figure of the answer: text[start:end]."""

    text: str
    start: int
    end: int
    verdict: str
    source: int
    """Number of the source; 0: none."""
    formula: str


class RunResult(Record):
    """A result that the run's code reported."""

    name: str
    value: str
    unit: str
    step: int
    inputs: list[str]
    """What it rests on: passages, files, functions of data libraries."""
    traced: bool
    """It draws on no number that was typed into the code."""
    source: int
    """Number of the source that has it; 0: none."""


class RunAnswer(Record):
    """What the run concluded."""

    text: str
    complete: bool
    """False when it had to end before, or something is missing."""
    grounded: bool
    """No figure is without a source."""
    sources: list[RunSource]
    figures: list[RunFigure]
    missing: list[str]
    withheld: list[str]
    """Sentences whose figures nothing supports; not in the text."""
    artifacts: list[Artifact]
    notices: list[str]
    results: list[RunResult] = []
    """What its code reported."""
    ended_by: str = ""
    """Why it had to conclude: steps, time, tokens, repeats, model_away, no_answer; empty: it chose to."""


class DataCall(Record):
    """A call that the run's code made through the market-data door."""

    id: str
    step: int
    method: str
    url: str
    asked: str
    fetched: datetime | None
    status: int
    media_type: str
    sha256: str
    bytes: int
    source: str
    reason: str


class Run(Record):
    """A run."""

    id: str
    question: str
    as_of: str
    language: str
    model: str
    state: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    limits: RunLimits
    usage: RunUsage
    bundle_ids: list[str]
    error: str | None
    answer: RunAnswer | None
    artifacts: list[Artifact]
    calls: list[DataCall]
    has_bundle: bool


class Info(Record):
    """What this deployment is and takes."""

    version: str
    reader: str
    model: str
    k: int
    j: int
    routes: list[str]
    web_providers: list[str]
    filing_sources: list[str] = []
    """Where POST /v1/fetch gets filings: edgar, cninfo."""
    gate: str
    max_question_chars: int
    formats: list[str]
    max_document_bytes: int
    max_document_pages: int
    max_upload_files: int
    administrator: bool = False
    """Whether the key may administer."""


class UsageRow(Record):
    """What was used by a key on a day."""

    day: str
    """In UTC, YYYY-MM-DD; empty where rows are by key."""
    tenant: str
    key: str
    """The key's name; empty where rows are by day."""
    questions: int
    tokens_read: int
    tokens_written: int
    runs: int
    uploads: int
    refusals: int


def _flat(text: str) -> str:
    return " ".join(text.split())
