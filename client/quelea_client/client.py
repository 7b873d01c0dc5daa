"""The synchronous client."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

import httpx2

from quelea_client import calls
from quelea_client.calls import Call, Event, OnProgress, PageOf, RunEvent, UploadProgress
from quelea_client.errors import JobFailed, QueleaError, TimedOut, UnexpectedAnswer, Unreachable
from quelea_client.models import (
    Accepted,
    Answer,
    Citation,
    Company,
    Comparison,
    Conversation,
    Document,
    Evidence,
    Fact,
    Info,
    Job,
    Operand,
    Page,
    Passage,
    Rows,
    Run,
    SearchResult,
    Statement,
    UsageRow,
    WholeConversation,
)
from quelea_client.options import (
    AskOptions,
    ComparisonOptions,
    DocumentFilters,
    FactFilters,
    RunOptions,
    SearchOptions,
    StatementOptions,
)
from quelea_client.transport import MAX_EVENT, Connection

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

ENDED_JOB = ("succeeded", "failed")
JOB_SECONDS = 3600.0


class Client:
    """A Quelea gateway.

    Every method raises ApiError (by its class: InvalidInput, Unauthenticated, NotFound, RateLimited, …) with the
    gateway's own message, Unreachable, or UnexpectedAnswer. Requests that change nothing are sent again when the
    connection or a service behind the gateway failed; any request when the gateway was busy.

    Args:
        url: Its address; the environment's QUELEA_URL, else http://127.0.0.1:8080.
        api_key: The environment's QUELEA_API_KEY when left out.
        timeout: Longest silence of the gateway, in seconds. A connection has 10 s.
        retries: How often a request is sent again, at most.
        transport: In the place of the network, for tests.

    Raises:
        ValueError: `url` is not the address of a gateway, `timeout` is not over 0, or `retries` is negative.
    """

    def __init__(
        self,
        url: str = "",
        api_key: str | None = None,
        *,
        timeout: float = 300.0,
        retries: int = 3,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._connection = Connection.of(url, api_key, timeout, retries)
        self._http = httpx2.Client(transport=transport, **self._connection.settings())

    @property
    def url(self) -> str:
        """The gateway's address."""
        return self._connection.url

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """A cited answer: text, citations, figures, verdicts; `declined` says why there is none."""
        return self._bound(self._do(calls.ask(question, options)), question)

    def stream(self, question: str, **options: Unpack[AskOptions]) -> Generator[Event, None, None]:
        """The answer as it is made: Started, perhaps Quotes, Delta…, Grounding, and last the Answer.

        Leaving the loop before its end ends the work on the answer; `contextlib.closing` does so at once.
        """
        body = calls.ask_body(question, options, stream=True)
        for name, data, _ in self._events("POST", "/v1/ask", json=body):
            found = calls.ask_event(name, data)
            if isinstance(found, Answer):
                self._bound(found, question)
            if found is not None:
                yield found
            if isinstance(found, Answer):
                return
        raise Unreachable("The connection closed before the answer was complete; ask again.")

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """The best passages."""
        return self._do(calls.search(query, options))

    def facts(
        self,
        company: str | Sequence[str] = (),
        concept: str | Sequence[str] = (),
        *,
        most: int = 10_000,
        exact: bool = False,
        **filters: Unpack[FactFilters],
    ) -> pd.DataFrame:
        """Figures of financial statements as a DataFrame, each with the link that opens its cell.

        Args:
            company: Name, other name or ticker; several are allowed.
            concept: "revenue", a us-gaap name, or words ("operating cash flow", 归母净利润); several are allowed.
            most: Rows, at most.
            exact: Values as `Decimal` instead of as floats.

        Raises:
            MissingExtra: pandas is not installed; `list_facts` does without.
        """
        return self.list_facts(company, concept, most=most, **filters).to_frame(exact=exact)

    def list_facts(
        self,
        company: str | Sequence[str] = (),
        concept: str | Sequence[str] = (),
        *,
        most: int = 10_000,
        **filters: Unpack[FactFilters],
    ) -> Rows[Fact]:
        """The same as a list of facts."""
        wanted = {"company": company, "concept": concept, **filters}
        return self._all(lambda token, size: calls.facts(wanted, token, size), most)

    def companies(self) -> Rows[Company]:
        """Every company that a stored document is about."""
        return self._all(lambda token, _: calls.companies(token), 1_000_000)

    def statement(self, company: str, name: str = "income", **options: Unpack[StatementOptions]) -> Statement:
        """A statement over the years: income, balance, cash_flow or comprehensive_income."""
        return self._do(calls.statement(company, name, options))

    def compare(
        self, companies: Sequence[str], concepts: Sequence[str], **options: Unpack[ComparisonOptions]
    ) -> Comparison:
        """Figures of several companies side by side, by the calendar year or quarter of their periods."""
        return self._do(calls.comparison(companies, concepts, options))

    def export(self, answer: Answer, path: str | Path, file_format: str = "") -> Path:
        """Save an answer with its sources.

        Args:
            path: Where to.
            file_format: markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            ValueError: No format is named, and the ending is of none.
        """
        wanted = calls.format_of(path, file_format)
        return written(path, self._do(calls.export(answer, answer.question, wanted)))

    def export_statements_xlsx(self, company: str, path: str | Path, **options: Unpack[StatementOptions]) -> Path:
        """Save every statement of a company as a workbook, each cell a link to the place that prints it."""
        return written(path, self._do(calls.statements_workbook(company, options)))

    def export_comparison_xlsx(
        self,
        companies: Sequence[str],
        concepts: Sequence[str],
        path: str | Path,
        **options: Unpack[ComparisonOptions],
    ) -> Path:
        """Save a comparison as a workbook, each cell a link to the place that prints it."""
        return written(path, self._do(calls.comparison_workbook(companies, concepts, options)))

    def documents(self, *, most: int = 10_000, **filters: Unpack[DocumentFilters]) -> Rows[Document]:
        """Documents of the knowledge base, newest first."""
        return self._all(lambda token, size: calls.documents(filters, token, size), most)

    def document(self, document_id: str) -> Document:
        """A document."""
        return self._do(calls.document(document_id))

    def delete_document(self, document_id: str, *, forget_quotes: bool = False) -> None:
        """Remove a document everywhere; with `forget_quotes` from saved answers too."""
        self._do(calls.delete_document(document_id, forget_quotes=forget_quotes))

    def page(self, document_id: str, number: int) -> Page:
        """A page's text; pages count from 1."""
        return self._do(calls.page(document_id, number))

    def page_url(self, place: Citation | Evidence | Operand | Passage) -> str:
        """Where a citation, a passage or an operand opens, with its span marked."""
        return calls.page_url(self.url, place)

    def upload(
        self,
        path: str | Path,
        *,
        metadata: Mapping[str, Any] | None = None,
        collection: str = "",
        on_progress: OnProgress | None = None,
    ) -> Accepted:
        """Send a document; its job goes on without us (`wait`, `job`).

        Args:
            metadata: What is known of it: title, company, ticker, document_type, period, published, language, ….
            collection: Where it goes; empty: the default one.
            on_progress: Told of the bytes that went out.
        """
        return self._do(calls.upload(Path(path), metadata, on_progress, collection))

    def upload_url(self, url: str, *, metadata: Mapping[str, Any] | None = None, collection: str = "") -> Accepted:
        """Have a page of the web fetched and taken in."""
        return self._do(calls.add_page(url, metadata, collection))

    def ingest(
        self,
        *paths: str | Path,
        metadata: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        seconds: float = JOB_SECONDS,
    ) -> list[Job]:
        """Send documents and wait until they are in the knowledge base.

        Args:
            metadata: Of each of them.
            on_progress: Told of bytes sent, then of pages.
            seconds: How long to wait for each.

        Raises:
            JobFailed: One could not be taken in; the message says why. Others that were sent go on.
            TimedOut: One is not in after that time.
        """
        taken = [self.upload(path, metadata=metadata, on_progress=on_progress) for path in paths]
        return [self.wait(one.id, on_progress=on_progress, seconds=seconds) for one in taken]

    def wait(self, job_id: str, *, on_progress: OnProgress | None = None, seconds: float = JOB_SECONDS) -> Job:
        """Wait until a job has ended. Raises JobFailed, TimedOut."""
        end, pause = time.monotonic() + seconds, 0.1
        while True:
            if job := ended_job(self.job(job_id), on_progress):
                return job
            left = end - time.monotonic()
            if left <= 0:
                raise TimedOut(f"The job {job_id} is not done after {seconds:g} s; it goes on.")
            time.sleep(min(pause, left))
            pause = min(1.5 * pause, 2.0)

    def job(self, job_id: str) -> Job:
        """A job."""
        return self._do(calls.job(job_id))

    def jobs(self, *, most: int = 1000) -> Rows[Job]:
        """Jobs, newest first."""
        return self._all(calls.jobs, most)

    def usage(
        self, day_from: str = "", day_to: str = "", *, by: Literal["", "key", "day"] = "", most: int = 100_000
    ) -> Rows[UsageRow]:
        """Who used how much, by day and key, or with the other summed up; for administrators.

        Args:
            day_from: The first day in UTC, YYYY-MM-DD; empty: 30 days up to the last.
            day_to: The last one; empty: today.
            by: "key" or "day".
            most: Rows.
        """
        wanted = {"from": day_from, "to": day_to, "by": by}
        return self._all(lambda token, size: calls.usage(wanted, token, size), most)

    def analyse(
        self,
        question: str,
        *,
        on_event: Callable[[RunEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Have the agent analyse a question by writing and running code, and wait for its end.

        Its answer is in `answer`; `state` says how it ended, `error` why it failed.
        """
        run = self.start_run(question, **options)
        for event in self.run_events(run.id):
            if on_event:
                on_event(event)
        return self.run(run.id)

    def start_run(self, question: str, **options: Unpack[RunOptions]) -> Run:
        """Start a run of the agent; it goes on without us."""
        return self._do(calls.start_run(question, options))

    def run_events(self, run_id: str, after: int = 0) -> Generator[RunEvent, None, None]:
        """What happens in a run until it has ended; a broken connection is taken up where it broke.

        Args:
            after: Leave out the events up to this number.
        """
        broken = 0
        while True:
            try:
                for name, data, number in self._events("GET", f"{calls.RUNS}/{run_id}/events", params={"after": after}):
                    after, broken = int(number or after), 0
                    yield RunEvent(name, data, after)
            except Unreachable:
                broken += 1
                if broken > self._connection.retries:
                    raise
                time.sleep(0.25 * 2**broken)
            else:
                return

    def run(self, run_id: str) -> Run:
        """A run with its answer, files and calls."""
        return self._do(calls.run(run_id))

    def runs(self, *, most: int = 1000) -> Rows[Run]:
        """Runs of this key, newest first, without their answers."""
        return self._all(calls.runs, most)

    def cancel_run(self, run_id: str) -> bool:
        """End a run; False when it had ended already."""
        return self._do(calls.cancel_run(run_id))

    def delete_run(self, run_id: str) -> None:
        """Forget a run."""
        self._do(calls.delete_run(run_id))

    def download_run_file(self, run_id: str, name: str, path: str | Path) -> Path:
        """Save a file of a run: "notebook", "report.pdf", "bundle", or the name of one of its artifacts."""
        return written(path, self._do(calls.run_file(run_id, name)))

    def conversations(self, query: str = "", *, most: int = 1000) -> Rows[Conversation]:
        """Saved conversations of this key, the last one talked in first.

        Args:
            query: Only those that have every word of it in title, questions or answers.
        """
        return self._all(lambda token, size: calls.conversations(query, token, size), most)

    def conversation(self, conversation_id: str) -> WholeConversation:
        """One with its questions and answers, as they were given."""
        found = self._do(calls.conversation(conversation_id))
        for turn in found.saved:
            self._bound(turn.answer, turn.question)
        return found

    def create_conversation(self, title: str) -> Conversation:
        """Make an empty one: with `ask(…, conversation_id=one.id)` answers are saved in it, and follow-ups go on."""
        return self._do(calls.create_conversation(title))

    def rename_conversation(self, conversation_id: str, title: str) -> Conversation:
        """Give it another title."""
        return self._do(calls.rename_conversation(conversation_id, title))

    def delete_conversation(self, conversation_id: str) -> None:
        """Forget it with all its answers."""
        self._do(calls.delete_conversation(conversation_id))

    def export_conversation(self, conversation_id: str, path: str | Path, file_format: str = "") -> Path:
        """Save all its questions and answers as a file.

        Args:
            path: Where to.
            file_format: json, markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            ValueError: No format is named, and the ending is of none.
        """
        wanted = calls.export_conversation(conversation_id, path, file_format)
        return written(path, self._do(wanted))

    def info(self) -> Info:
        """What this deployment is and takes."""
        return self._do(calls.info())

    def _bound(self, answer: Answer, question: str) -> Answer:
        return answer.bind(question, self.export, self.page_url)

    def _do(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            try:
                return call.read(self._sent(call))
            except QueleaError as error:
                pause = self._connection.pause(error, attempt, safe=call.safe)
                if pause is None:
                    raise
            time.sleep(pause)

    def _sent(self, call: Call[Any]) -> httpx2.Response:
        with contextlib.ExitStack() as files:
            arguments = call.arguments(files)
            try:
                answer = self._http.request(call.method, call.path, **arguments)
            except httpx2.HTTPError as error:
                raise self._connection.failed(error) from error
        if answer.is_error:
            raise calls.failure_of(answer)
        return answer

    def _all(self, one: Callable[[str, int], Call[PageOf[T]]], most: int) -> Rows[Any]:
        found: list[T] = []
        token: str | None = ""
        while token is not None and len(found) < most:
            page = self._do(one(token, most - len(found)))
            found += page.items
            token = page.next_page_token
        return calls.collected(found[:most])

    def _events(self, method: str, path: str, **more: Any) -> Generator[tuple[str, Any, str], None, None]:
        """Name, data and id of each event of a stream. It is opened again only while it has not begun."""
        attempt = 0
        while True:
            attempt += 1
            begun = False
            try:
                with self._http.stream(method, path, headers={"Accept": "text/event-stream"}, **more) as answer:
                    if answer.is_error:
                        answer.read()
                        raise calls.failure_of(answer)
                    begun = True
                    for sent in httpx2.EventSource(answer, max_event_size=MAX_EVENT):
                        if sent.data:
                            yield sent.event, calls.event_data(sent.event, sent.data), sent.id
                return
            except httpx2.SSEError as error:
                raise UnexpectedAnswer(f"{self.url} does not stream events: {error}") from error
            except (httpx2.HTTPError, QueleaError) as error:
                told = error if isinstance(error, QueleaError) else self._connection.failed(error)
                pause = None if begun else self._connection.pause(told, attempt, safe=True)
                if pause is None:
                    raise told from error
            time.sleep(pause)


def ended_job(job: Job, on_progress: OnProgress | None) -> Job | None:
    """The job when it is done, after telling of its progress. Raises JobFailed."""
    if on_progress:
        on_progress(UploadProgress(job.filename, job.stage or job.state, job.progress.done, job.progress.total))
    if job.state == "failed":
        raise JobFailed(f"{job.filename}: {job.error or job.error_reason or 'the job failed without a reason'}")
    return job if job.state in ENDED_JOB else None


def written(path: str | Path, data: bytes) -> Path:
    """Save bytes; where they are."""
    place = Path(path)
    place.write_bytes(data)
    return place
