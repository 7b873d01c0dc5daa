"""The asynchronous client: the same methods as the synchronous one, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

import httpx2

from quelea_client import calls
from quelea_client.calls import Call, Event, OnProgress, PageOf, RunEvent
from quelea_client.client import JOB_SECONDS, ended_job, written
from quelea_client.errors import QueleaError, TimedOut, UnexpectedAnswer, Unreachable
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


class AsyncClient:
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
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._connection = Connection.of(url, api_key, timeout, retries)
        self._http = httpx2.AsyncClient(transport=transport, **self._connection.settings())

    @property
    def url(self) -> str:
        """The gateway's address."""
        return self._connection.url

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """A cited answer: text, citations, figures, verdicts; `declined` says why there is none."""
        return self._bound(await self._do(calls.ask(question, options)), question)

    async def stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[Event, None]:
        """The answer as it is made: Started, perhaps Quotes, Delta…, Grounding, and last the Answer.

        Leaving the loop before its end ends the work on the answer; `contextlib.closing` does so at once.
        """
        body = calls.ask_body(question, options, stream=True)
        async with contextlib.aclosing(self._events("POST", "/v1/ask", json=body)) as events:
            async for name, data, _ in events:
                found = calls.ask_event(name, data)
                if isinstance(found, Answer):
                    self._bound(found, question)
                if found is not None:
                    yield found
                if isinstance(found, Answer):
                    return
        raise Unreachable("The connection closed before the answer was complete; ask again.")

    async def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """The best passages."""
        return await self._do(calls.search(query, options))

    async def facts(
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
        return (await self.list_facts(company, concept, most=most, **filters)).to_frame(exact=exact)

    async def list_facts(
        self,
        company: str | Sequence[str] = (),
        concept: str | Sequence[str] = (),
        *,
        most: int = 10_000,
        **filters: Unpack[FactFilters],
    ) -> Rows[Fact]:
        """The same as a list of facts."""
        wanted = {"company": company, "concept": concept, **filters}
        return await self._all(lambda token, size: calls.facts(wanted, token, size), most)

    async def companies(self) -> Rows[Company]:
        """Every company that a stored document is about."""
        return await self._all(lambda token, _: calls.companies(token), 1_000_000)

    async def statement(self, company: str, name: str = "income", **options: Unpack[StatementOptions]) -> Statement:
        """A statement over the years: income, balance, cash_flow or comprehensive_income."""
        return await self._do(calls.statement(company, name, options))

    async def compare(
        self, companies: Sequence[str], concepts: Sequence[str], **options: Unpack[ComparisonOptions]
    ) -> Comparison:
        """Figures of several companies side by side, by the calendar year or quarter of their periods."""
        return await self._do(calls.comparison(companies, concepts, options))

    async def export(self, answer: Answer, path: str | Path, file_format: str = "") -> Path:
        """Save an answer with its sources.

        Args:
            path: Where to.
            file_format: markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            ValueError: No format is named, and the ending is of none.
        """
        wanted = calls.format_of(path, file_format)
        return written(path, await self._do(calls.export(answer, answer.question, wanted)))

    async def export_statements_xlsx(self, company: str, path: str | Path, **options: Unpack[StatementOptions]) -> Path:
        """Save every statement of a company as a workbook, each cell a link to the place that prints it."""
        return written(path, await self._do(calls.statements_workbook(company, options)))

    async def export_comparison_xlsx(
        self,
        companies: Sequence[str],
        concepts: Sequence[str],
        path: str | Path,
        **options: Unpack[ComparisonOptions],
    ) -> Path:
        """Save a comparison as a workbook, each cell a link to the place that prints it."""
        return written(path, await self._do(calls.comparison_workbook(companies, concepts, options)))

    async def documents(self, *, most: int = 10_000, **filters: Unpack[DocumentFilters]) -> Rows[Document]:
        """Documents of the knowledge base, newest first."""
        return await self._all(lambda token, size: calls.documents(filters, token, size), most)

    async def document(self, document_id: str) -> Document:
        """A document."""
        return await self._do(calls.document(document_id))

    async def delete_document(self, document_id: str, *, forget_quotes: bool = False) -> None:
        """Remove a document everywhere; with `forget_quotes` from saved answers too."""
        await self._do(calls.delete_document(document_id, forget_quotes=forget_quotes))

    async def page(self, document_id: str, number: int) -> Page:
        """A page's text; pages count from 1."""
        return await self._do(calls.page(document_id, number))

    def page_url(self, place: Citation | Evidence | Operand | Passage) -> str:
        """Where a citation, a passage or an operand opens, with its span marked."""
        return calls.page_url(self.url, place)

    async def upload(
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
        return await self._do(calls.upload(Path(path), metadata, on_progress, collection))

    async def upload_url(
        self, url: str, *, metadata: Mapping[str, Any] | None = None, collection: str = ""
    ) -> Accepted:
        """Have a page of the web fetched and taken in."""
        return await self._do(calls.add_page(url, metadata, collection))

    async def ingest(
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
        taken = [await self.upload(path, metadata=metadata, on_progress=on_progress) for path in paths]
        return [await self.wait(one.id, on_progress=on_progress, seconds=seconds) for one in taken]

    async def wait(self, job_id: str, *, on_progress: OnProgress | None = None, seconds: float = JOB_SECONDS) -> Job:
        """Wait until a job has ended. Raises JobFailed, TimedOut."""
        end, pause = time.monotonic() + seconds, 0.1
        while True:
            if job := ended_job(await self.job(job_id), on_progress):
                return job
            left = end - time.monotonic()
            if left <= 0:
                raise TimedOut(f"The job {job_id} is not done after {seconds:g} s; it goes on.")
            await asyncio.sleep(min(pause, left))
            pause = min(1.5 * pause, 2.0)

    async def job(self, job_id: str) -> Job:
        """A job."""
        return await self._do(calls.job(job_id))

    async def jobs(self, *, most: int = 1000) -> Rows[Job]:
        """Jobs, newest first."""
        return await self._all(calls.jobs, most)

    async def usage(
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
        return await self._all(lambda token, size: calls.usage(wanted, token, size), most)

    async def analyse(
        self,
        question: str,
        *,
        on_event: Callable[[RunEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Have the agent analyse a question by writing and running code, and wait for its end.

        Its answer is in `answer`; `state` says how it ended, `error` why it failed.
        """
        run = await self.start_run(question, **options)
        async for event in self.run_events(run.id):
            if on_event:
                on_event(event)
        return await self.run(run.id)

    async def start_run(self, question: str, **options: Unpack[RunOptions]) -> Run:
        """Start a run of the agent; it goes on without us."""
        return await self._do(calls.start_run(question, options))

    async def run_events(self, run_id: str, after: int = 0) -> AsyncGenerator[RunEvent, None]:
        """What happens in a run until it has ended; a broken connection is taken up where it broke.

        Args:
            after: Leave out the events up to this number.
        """
        broken = 0
        while True:
            try:
                path = f"{calls.RUNS}/{run_id}/events"
                async with contextlib.aclosing(self._events("GET", path, params={"after": after})) as events:
                    async for name, data, number in events:
                        after, broken = int(number or after), 0
                        yield RunEvent(name, data, after)
            except Unreachable:
                broken += 1
                if broken > self._connection.retries:
                    raise
                await asyncio.sleep(0.25 * 2**broken)
            else:
                return

    async def run(self, run_id: str) -> Run:
        """A run with its answer, files and calls."""
        return await self._do(calls.run(run_id))

    async def runs(self, *, most: int = 1000) -> Rows[Run]:
        """Runs of this key, newest first, without their answers."""
        return await self._all(calls.runs, most)

    async def cancel_run(self, run_id: str) -> bool:
        """End a run; False when it had ended already."""
        return await self._do(calls.cancel_run(run_id))

    async def delete_run(self, run_id: str) -> None:
        """Forget a run."""
        await self._do(calls.delete_run(run_id))

    async def download_run_file(self, run_id: str, name: str, path: str | Path) -> Path:
        """Save a file of a run: "notebook", "report.pdf", "bundle", or the name of one of its artifacts."""
        return written(path, await self._do(calls.run_file(run_id, name)))

    async def conversations(self, query: str = "", *, most: int = 1000) -> Rows[Conversation]:
        """Saved conversations of this key, the last one talked in first.

        Args:
            query: Only those that have every word of it in title, questions or answers.
        """
        return await self._all(lambda token, size: calls.conversations(query, token, size), most)

    async def conversation(self, conversation_id: str) -> WholeConversation:
        """One with its questions and answers, as they were given."""
        found = await self._do(calls.conversation(conversation_id))
        for turn in found.saved:
            self._bound(turn.answer, turn.question)
        return found

    async def create_conversation(self, title: str) -> Conversation:
        """Make an empty one: with `ask(…, conversation_id=one.id)` answers are saved in it, and follow-ups go on."""
        return await self._do(calls.create_conversation(title))

    async def rename_conversation(self, conversation_id: str, title: str) -> Conversation:
        """Give it another title."""
        return await self._do(calls.rename_conversation(conversation_id, title))

    async def delete_conversation(self, conversation_id: str) -> None:
        """Forget it with all its answers."""
        await self._do(calls.delete_conversation(conversation_id))

    async def export_conversation(self, conversation_id: str, path: str | Path, file_format: str = "") -> Path:
        """Save all its questions and answers as a file.

        Args:
            path: Where to.
            file_format: json, markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            ValueError: No format is named, and the ending is of none.
        """
        wanted = calls.export_conversation(conversation_id, path, file_format)
        return written(path, await self._do(wanted))

    async def info(self) -> Info:
        """What this deployment is and takes."""
        return await self._do(calls.info())

    def _bound(self, answer: Answer, question: str) -> Answer:
        return answer.bind(question, None, self.page_url)

    async def _do(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            try:
                return call.read(await self._sent(call))
            except QueleaError as error:
                pause = self._connection.pause(error, attempt, safe=call.safe)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _sent(self, call: Call[Any]) -> httpx2.Response:
        with contextlib.ExitStack() as files:
            arguments = call.arguments(files)
            try:
                answer = await self._http.request(call.method, call.path, **arguments)
            except httpx2.HTTPError as error:
                raise self._connection.failed(error) from error
        if answer.is_error:
            raise calls.failure_of(answer)
        return answer

    async def _all(self, one: Callable[[str, int], Call[PageOf[T]]], most: int) -> Rows[Any]:
        found: list[T] = []
        token: str | None = ""
        while token is not None and len(found) < most:
            page = await self._do(one(token, most - len(found)))
            found += page.items
            token = page.next_page_token
        return calls.collected(found[:most])

    async def _events(self, method: str, path: str, **more: Any) -> AsyncGenerator[tuple[str, Any, str], None]:
        """Name, data and id of each event of a stream. It is opened again only while it has not begun."""
        attempt = 0
        while True:
            attempt += 1
            begun = False
            try:
                async with self._http.stream(method, path, headers={"Accept": "text/event-stream"}, **more) as answer:
                    if answer.is_error:
                        await answer.aread()
                        raise calls.failure_of(answer)
                    begun = True
                    async for sent in httpx2.EventSource(answer, max_event_size=MAX_EVENT):
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
            await asyncio.sleep(pause)
