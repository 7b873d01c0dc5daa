"""The asynchronous client."""

from __future__ import annotations

import asyncio
import contextlib
import json as jsonlib
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Unpack

import httpx2

from quelea_client.errors import QueleaError, TimedOut, UnexpectedAnswer, Unreachable
from quelea_client.events import (
    ENDED,
    Event,
    OnProgress,
    ProgressReport,
    ServerEvent,
    ask_event,
    server_event,
    succeeded,
)
from quelea_client.models import (
    Accepted,
    Answer,
    Bundle,
    Citation,
    Collection,
    Company,
    Comparison,
    Conversation,
    DeletedCollection,
    DeletedDocument,
    Document,
    Evidence,
    Fact,
    Fetched,
    ImportedBundle,
    Info,
    Job,
    Operand,
    Page,
    Passage,
    Run,
    SearchResult,
    Statement,
    TextCheck,
    Thumb,
    Uploaded,
    UsageRow,
    Watch,
    Watched,
    WholeConversation,
)
from quelea_client.options import (
    AskOptions,
    ComparisonOptions,
    DocumentFilters,
    FactFilters,
    FetchOptions,
    Reason,
    RunOptions,
    SearchOptions,
    StatementOptions,
)
from quelea_client.transport import (
    MAX_EVENT,
    PAGE,
    Connection,
    M,
    WatchedFile,
    body,
    failure_of,
    format_of,
    given,
    json_of,
    query,
    record,
    records,
    route,
    written,
)
from quelea_client.views import Rows

if TYPE_CHECKING:
    import pandas as pd

JOB_SECONDS = 3600.0
_CITED_DOCUMENTS = 100


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
        transport: In the path of the network, for tests.

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

    # Questions

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """A cited answer: text, citations, figures, verdicts; `declined` says why there is none."""
        # It changes nothing that another question sees, unless it is saved.
        safe = not options.get("conversation_id")
        answer = await self._post(Answer, "/v1/ask", {"question": question, **body(options)}, safe=safe)
        answer.bind(question, self)
        return answer

    async def stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[Event, None]:
        """The answer as it is made: Started, perhaps Quotes, Delta…, Grounding, and last the Answer.

        Leaving the loop before its end ends the work on the answer; `contextlib.aclosing` does so at once.
        """
        wanted = {"question": question, **body(options), "stream": True}
        async with contextlib.aclosing(self.events("POST", "/v1/ask", json=wanted)) as events:
            async for sent in events:
                found = ask_event(sent)
                if isinstance(found, Answer):
                    found.bind(question, self)
                if found is not None:
                    yield found
                if isinstance(found, Answer):
                    return
        raise Unreachable("The connection closed before the answer was complete; ask again.")

    async def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """The best passages."""
        return await self._post(SearchResult, "/v1/search", {"query": query, **body(options)}, safe=True)

    async def check(self, text: str, passages: Sequence[str | Mapping[str, str]], *, question: str = "") -> TextCheck:
        """Verdicts on a text of anybody's: is each figure and sentence in these passages, or computed from them?

        Args:
            text: With markers [1], [2], … that name passages, or without.
            passages: Texts, or {"text": …, "table_head": …, "header": …, "published": …}.
            question: What was asked: which computations, of which times.
        """
        wanted = {"answer": text, "passages": list(passages), "question": question}
        return await self._post(TextCheck, "/v1/check", wanted, safe=True)

    async def rate(
        self,
        answer: Answer,
        thumb: Literal["up", "down"],
        *,
        why: str = "",
        reasons: Sequence[Reason] = (),
        conversation_id: str = "",
    ) -> Thumb:
        """A word on an answer; thumbs are kept, and exported as questions of an evaluation.

        Args:
            answer: Of `ask` or `stream`.
            thumb: "up" or "down".
            why: In your words.
            reasons: In those that can be counted.
            conversation_id: Of a saved conversation that has the answer, which shows the thumb from now on.
        """
        documents = list(dict.fromkeys(one.document_id for one in answer.citations))[:_CITED_DOCUMENTS]
        wanted = {
            "question": answer.question, "answer": answer.answer, "thumb": thumb, "why": why, "reasons": reasons,
            "as_of": answer.as_of, "model": answer.model, "prompt_version": answer.prompt_version,
            "document_ids": documents, "conversation_id": conversation_id,
        }  # fmt: skip
        return await self._post(Thumb, "/v1/feedback", given(wanted))

    async def thumbs(self, thumb: Literal["", "up", "down"] = "", *, most: int = 10_000) -> Rows[Thumb]:
        """Thumbs that were given, newest first."""
        return await self._rows(Thumb, "/v1/feedback", "feedback", {"thumb": thumb}, most)

    async def delete_thumb(self, thumb_id: str) -> None:
        """Forget a thumb."""
        await self._sent("DELETE", route("feedback", thumb_id))

    # Figures

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
        found = await self.list_facts(company, concept, most=most, **filters)
        return found.to_frame(exact=exact)

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
        return await self._rows(Fact, "/v1/facts", "facts", wanted, most)

    async def companies(self) -> Rows[Company]:
        """Every company that a stored document is about."""
        return await self._rows(Company, "/v1/companies", "companies", {}, 1_000_000)

    async def statement(self, company: str, name: str = "income", **options: Unpack[StatementOptions]) -> Statement:
        """A statement over the years: income, balance, cash_flow, comprehensive_income or breakdown."""
        return await self._get(Statement, route("companies", company, "statements"), {"statement": name, **options})

    async def compare(
        self, companies: Sequence[str], concepts: Sequence[str], **options: Unpack[ComparisonOptions]
    ) -> Comparison:
        """Figures of several companies side by side, by the calendar year or quarter of their periods."""
        wanted = {"company": companies, "concept": concepts, **options}
        return await self._get(Comparison, "/v1/comparison", wanted)

    # Files to hand on

    async def export(self, answer: Answer, path: str | Path, file_format: str = "") -> Path:
        """Save an answer with its sources.

        Args:
            answer: Of `ask` or `stream`.
            path: Where to.
            file_format: markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            ValueError: No format is named, and the ending is of none.
        """
        wanted = {
            "question": answer.question or "?",
            "answer": answer.model_dump(mode="json"),
            "format": format_of(path, file_format),
        }
        return written(path, await self.download("/v1/export", method="POST", json=wanted, safe=True))

    async def export_facts(
        self,
        path: str | Path,
        company: str | Sequence[str] = (),
        concept: str | Sequence[str] = (),
        **filters: Unpack[FactFilters],
    ) -> Path:
        """Save figures of statements as CSV or as a workbook, by the path's ending: .csv, .xlsx.

        Raises:
            ValueError: The path has another ending.
        """
        kind = Path(path).suffix.lower().lstrip(".")
        if kind not in ("csv", "xlsx"):
            raise ValueError(f"Figures are saved as .csv or .xlsx, not as {str(path)!r}.")
        wanted = {"company": company, "concept": concept, **filters, "format": kind}
        return written(path, await self.download("/v1/facts", params=query(wanted)))

    async def export_statements_xlsx(self, company: str, path: str | Path, **options: Unpack[StatementOptions]) -> Path:
        """Save every statement of a company as a workbook, each cell a link to the path that prints it."""
        params = query({"format": "xlsx", **options})
        return written(path, await self.download(route("companies", company, "statements"), params=params))

    async def export_comparison_xlsx(
        self,
        companies: Sequence[str],
        concepts: Sequence[str],
        path: str | Path,
        **options: Unpack[ComparisonOptions],
    ) -> Path:
        """Save a comparison as a workbook, each cell a link to the path that prints it."""
        params = query({"company": companies, "concept": concepts, "format": "xlsx", **options})
        return written(path, await self.download("/v1/comparison", params=params))

    # Documents

    async def documents(self, *, most: int = 10_000, **filters: Unpack[DocumentFilters]) -> Rows[Document]:
        """Documents of the knowledge base, newest first."""
        return await self._rows(Document, "/v1/documents", "documents", filters, most)

    async def document(self, document_id: str) -> Document:
        """A document."""
        return await self._get(Document, route("documents", document_id))

    async def delete_document(self, document_id: str, *, forget_quotes: bool = False) -> DeletedDocument:
        """Remove a document everywhere; with `forget_quotes` from saved answers too, but for `unreadable` ones."""
        params = query({"forget_quotes": forget_quotes or None})
        found = await self.request("DELETE", route("documents", document_id), params=params)
        return record(DeletedDocument, found, self.url)

    async def page(self, document_id: str, number: int) -> Page:
        """A page's text; pages count from 1."""
        return await self._get(Page, route("documents", document_id, "pages", str(number)))

    async def download_original(self, document_id: str, path: str | Path) -> Path:
        """Save a document's bytes as they came in."""
        return written(path, await self.download(route("documents", document_id, "original")))

    def page_url(self, place: Citation | Evidence | Operand | Passage | Mapping[str, Any]) -> str:
        """Where a citation, a passage or an operand opens, with its span marked; as it is, or as JSON."""
        at = dict(place)
        address = self.url + route("documents", at["document_id"], "pages", str(at["page"]))
        return f"{address}?start={at['start']}&end={at['end']}#quote" if at.get("end") else address

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
            path: Where it is.
            metadata: What is known of it: title, company, ticker, document_type, period, published, language, ….
            collection: Where it goes; empty: the default one.
            on_progress: Told of the bytes that went out.
        """
        name = Path(path).name
        data = given({"metadata": jsonlib.dumps(dict(metadata)) if metadata else "", "collection": collection})
        with Path(path).open("rb") as opened:  # noqa: ASYNC230  # of this machine; the HTTP library reads it in pieces
            sent: Any = WatchedFile(opened, name, on_progress) if on_progress else opened
            files = [("files", (name, sent, "application/octet-stream"))]
            return self._accepted(await self.request("POST", "/v1/documents", files=files, data=data))

    async def upload_url(
        self, url: str, *, metadata: Mapping[str, Any] | None = None, collection: str = ""
    ) -> Accepted:
        """Have a page of the web fetched and taken in."""
        wanted = given({"url": url, "metadata": dict(metadata) if metadata else None, "collection": collection})
        return self._accepted(await self.request("POST", "/v1/documents", json=wanted))

    def _accepted(self, answer: Any) -> Accepted:
        taken = record(Uploaded, answer, self.url)
        if not taken.jobs:
            raise UnexpectedAnswer("The gateway took the document without naming its job.")
        return taken.jobs[0]

    async def ingest(
        self,
        *paths: str | Path,
        metadata: Mapping[str, Any] | None = None,
        collection: str = "",
        on_progress: OnProgress | None = None,
        seconds: float = JOB_SECONDS,
    ) -> list[Job]:
        """Send documents and wait until they are in the knowledge base.

        Args:
            paths: Where they are.
            metadata: Of each of them.
            collection: Where they go; empty: the default one.
            on_progress: Told of bytes sent, then of pages.
            seconds: How long to wait for each.

        Raises:
            JobFailed: One could not be taken in; the message says why. Others that were sent go on.
            TimedOut: One is not in after that time.
        """
        taken = [
            await self.upload(one, metadata=metadata, collection=collection, on_progress=on_progress) for one in paths
        ]
        return [await self.wait(one.id, on_progress=on_progress, seconds=seconds) for one in taken]

    async def fetch(
        self,
        company: str,
        *,
        wait: bool = True,
        on_progress: OnProgress | None = None,
        seconds: float = JOB_SECONDS,
        **options: Unpack[FetchOptions],
    ) -> Fetched:
        """Fetch a company's filings from EDGAR or cninfo, and wait until they are in; what is stored is left alone.

        Args:
            company: Ticker, name, 简称, code of an A share, or CIK.
            wait: Otherwise it ends when the jobs are queued; `follow` them.
            on_progress: Told of pages.
            seconds: How long to wait for all of them.

        Returns:
            The filings, newest first, each with its job as it ended; `failed` are those that could not be taken in.

        Raises:
            TimedOut: One is not in after that time.
        """
        found = await self._post(Fetched, "/v1/fetch", {"company": company, **given(options)})
        queued = [one.job.id for one in found.filings if one.job]
        if not wait or not queued:
            return found
        jobs: dict[str, Job] = {}
        progress = ProgressReport(on_progress)
        async with contextlib.aclosing(self.follow(queued, seconds=seconds)) as followed:
            async for job in followed:
                progress.tell(job)
                jobs[job.id] = job
        return found.with_jobs(jobs)

    # Companies that are watched

    async def watch(self, company: str, **options: Unpack[FetchOptions]) -> Watched:
        """Fetch a company's filings now, and its new ones from now on, by themselves."""
        return await self._post(Watched, "/v1/watches", {"company": company, **given(options)})

    async def watches(self, *, most: int = 10_000) -> Rows[Watch]:
        """The watched companies, with how the last look went."""
        return await self._rows(Watch, "/v1/watches", "watches", {}, most)

    async def unwatch(self, watch_id: str) -> None:
        """Watch a company no more; its documents stay."""
        await self._sent("DELETE", route("watches", watch_id))

    # Jobs

    async def wait(self, job_id: str, *, on_progress: OnProgress | None = None, seconds: float = JOB_SECONDS) -> Job:
        """Wait until a job has ended. Raises JobFailed, TimedOut."""
        progress = ProgressReport(on_progress)
        async with contextlib.aclosing(self.follow([job_id], seconds=seconds)) as followed:
            async for job in followed:
                progress.tell(job)
                if job.state in ENDED:
                    return succeeded(job)
        raise AssertionError("A job is followed to its end.")

    async def follow(self, job_ids: Iterable[str], *, seconds: float = JOB_SECONDS) -> AsyncGenerator[Job, None]:
        """Jobs as they go on, each whenever it is looked at, until all have succeeded or failed. Raises TimedOut."""
        waiting, end, pause = list(dict.fromkeys(job_ids)), monotonic() + seconds, 0.0
        while waiting:
            await asyncio.sleep(pause)
            for job_id in tuple(waiting):
                job = await self.job(job_id)
                if job.state in ENDED:
                    waiting.remove(job_id)
                yield job
            left = end - monotonic()
            if waiting and left <= 0:
                others = f" and {len(waiting) - 1} more are" if waiting[1:] else " is"
                raise TimedOut(f"The job {waiting[0]}{others} not done after {seconds:g} s; it goes on.")
            pause = min(max(1.5 * pause, 0.1), 2.0, max(left, 0.0))

    async def job(self, job_id: str) -> Job:
        """A job."""
        return await self._get(Job, route("jobs", job_id))

    async def jobs(self, *, failed: bool = False, most: int = 1000) -> Rows[Job]:
        """Jobs, newest first.

        Args:
            failed: Only those that failed and can be replayed.
            most: Jobs.
        """
        return await self._rows(Job, "/v1/jobs", "jobs", {"replayable": True} if failed else {}, most)

    async def replay_jobs(self, job_ids: Sequence[str] = ()) -> list[Job]:
        """Try failed jobs once more; all that can be replayed when none is named."""
        found = await self.request("POST", "/v1/jobs/replay", json={"ids": list(job_ids)})
        return records(Job, found["jobs"], self.url)

    # Collections

    async def collections(self, *, most: int = 10_000) -> Rows[Collection]:
        """Collections that the key may read, with its right on each."""
        return await self._rows(Collection, "/v1/collections", "collections", {}, most)

    async def create_collection(self, name: str, title: str = "") -> Collection:
        """Make a collection.

        Args:
            name: Lower-case letters, digits and hyphens.
            title: What people call it.
        """
        return await self._post(Collection, "/v1/collections", given({"name": name, "title": title}))

    async def delete_collection(self, name: str) -> DeletedCollection:
        """Delete a collection with every document in it; how many there were."""
        found = await self.request("DELETE", route("collections", name))
        return record(DeletedCollection, found, self.url)

    # Conversations

    async def conversations(self, query: str = "", *, most: int = 1000) -> Rows[Conversation]:
        """Saved conversations of this key, the last one talked in first.

        Args:
            query: Only those that have every word of it in title, questions or answers.
            most: Conversations.
        """
        return await self._rows(Conversation, "/v1/conversations", "conversations", {"query": query}, most)

    async def conversation(self, conversation_id: str) -> WholeConversation:
        """One with its questions and answers, as they were given."""
        found = await self._get(WholeConversation, route("conversations", conversation_id))
        for turn in found.saved:
            turn.answer.bind(turn.question, self)
        return found

    async def create_conversation(self, title: str) -> Conversation:
        """Make an empty one: with `ask(…, conversation_id=one.id)` answers are saved in it, and follow-ups go on."""
        return await self._post(Conversation, "/v1/conversations", {"title": title})

    async def rename_conversation(self, conversation_id: str, title: str) -> Conversation:
        """Give it another title."""
        where = route("conversations", conversation_id)
        return record(Conversation, await self.request("PATCH", where, json={"title": title}, safe=True), self.url)

    async def delete_conversation(self, conversation_id: str) -> None:
        """Forget it with all its answers."""
        await self._sent("DELETE", route("conversations", conversation_id))

    async def export_conversation(self, conversation_id: str, path: str | Path, file_format: str = "") -> Path:
        """Save it with its sources.

        Args:
            conversation_id: Its id.
            path: Where to.
            file_format: json, markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            ValueError: No format is named, and the ending is of none.
        """
        as_json = file_format == "json" or (not file_format and Path(path).suffix.lower() == ".json")
        params = {} if as_json else {"format": format_of(path, file_format)}
        where = route("conversations", conversation_id, "export")
        return written(path, await self.download(where, params=params))

    # The agent

    async def analyse(
        self,
        question: str,
        *,
        on_event: Callable[[ServerEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Have the agent analyse a question by writing and running code, and wait for its end.

        Its answer is in `answer`; `state` says how it ended, `error` why it failed.
        """
        run = await self.start_run(question, **options)
        async with contextlib.aclosing(self.run_events(run.id)) as events:
            async for event in events:
                if on_event:
                    on_event(event)
        return await self.run(run.id)

    async def start_run(self, question: str, **options: Unpack[RunOptions]) -> Run:
        """Start a run of the agent; it goes on without us."""
        return await self._post(Run, "/v1/agent/runs", {"question": question, **body(options)})

    async def run_events(self, run_id: str, after: int = 0) -> AsyncGenerator[ServerEvent, None]:
        """What happens in a run until it has ended; a broken connection is taken up where it broke.

        Args:
            run_id: Its id.
            after: Leave out the events up to this number.
        """
        broken, where = 0, route("agent", "runs", run_id, "events")
        once = replace(self._connection, retries=0)  # it is counted here: what broke may break again at once
        while True:
            try:
                async with contextlib.aclosing(self._events(once, "GET", where, params={"after": after})) as events:
                    async for event in events:
                        after, broken = event.number or after, 0
                        yield event
                return
            except QueleaError as error:
                broken += 1
                pause = self._connection.pause(error, broken, safe=True, is_followed=True)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def run(self, run_id: str) -> Run:
        """A run with its answer, files and calls."""
        return await self._get(Run, route("agent", "runs", run_id))

    async def runs(self, *, most: int = 1000) -> Rows[Run]:
        """Runs of this key, newest first, without their answers."""
        return await self._rows(Run, "/v1/agent/runs", "runs", {}, most)

    async def cancel_run(self, run_id: str) -> bool:
        """End a run; False when it had ended already."""
        found = await self.request("POST", route("agent", "runs", run_id, "cancel"), safe=True)
        return bool(found["cancelled"])

    async def delete_run(self, run_id: str) -> None:
        """Forget a run."""
        await self._sent("DELETE", route("agent", "runs", run_id))

    async def download_run_file(self, run_id: str, name: str, path: str | Path) -> Path:
        """Save a file of a run: "notebook", "report.pdf", "archive", "bundle", or the name of one of its artifacts."""
        own = (name,) if name in ("notebook", "report.pdf", "archive", "bundle") else ("artifacts", name)
        return written(path, await self.download(route("agent", "runs", run_id, *own)))

    async def bundles(self, *, most: int = 10_000) -> Rows[Bundle]:
        """Recorded market data and filings that runs and fetches can replay; for administrators."""
        return await self._rows(Bundle, "/v1/agent/bundles", "bundles", {}, most)

    async def import_bundle(self, path: str | Path) -> ImportedBundle:
        """Bring a recording in; its id is one of the `bundle_ids` of a run or a fetch. For administrators."""
        headers = {"Content-Type": "application/octet-stream"}
        content = Path(path).read_bytes()  # noqa: ASYNC240  # of this machine
        found = await self.request("POST", "/v1/agent/bundles", content=content, headers=headers)
        return record(ImportedBundle, found, self.url)

    # The deployment

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
        return await self._rows(UsageRow, "/v1/usage", "usage", {"from": day_from, "to": day_to, "by": by}, most)

    async def info(self) -> Info:
        """What this deployment is and takes."""
        return await self._get(Info, "/v1/info")

    # Routes that have no method here

    async def request(self, method: str, path: str, *, safe: bool | None = None, **arguments: Any) -> Any:
        """One call of any route, as JSON; None where the answer has no body.

        Args:
            method: GET, POST, ….
            path: "/v1/tools".
            safe: It may be sent again after a failure in the middle. Left out: GET alone may.
            arguments: As httpx2 takes them: params, json, content, files and data, headers.
        """
        return json_of(await self._sent(method, path, safe=safe, **arguments))

    async def items(
        self, path: str, name: str, params: Mapping[str, Any] | None = None, *, most: int = 10_000
    ) -> list[dict[str, Any]]:
        """What a list route has, over all its pages, as JSON.

        Args:
            path: "/v1/prompts".
            name: Of the list in the answer: "prompts".
            params: Filters.
            most: Items.
        """
        found: list[dict[str, Any]] = []
        token: str | None = ""
        while token is not None and len(found) < most:
            wanted = {**query(params or {}), "page_size": min(most - len(found), PAGE)}
            page = await self.request("GET", path, params=wanted | ({"page_token": token} if token else {}))
            try:
                found += page[name]
                token = page["next_page_token"]
            except (KeyError, TypeError) as error:
                raise UnexpectedAnswer(f"{self.url}{path} does not answer like a Quelea gateway: {error}") from error
        return found[:most]

    async def download(self, path: str, *, method: str = "GET", safe: bool | None = None, **arguments: Any) -> bytes:
        """One call of any route that answers with a file. Arguments as of `request`."""
        headers = {"Accept": "*/*", **arguments.pop("headers", {})}
        return (await self._sent(method, path, safe=safe, headers=headers, **arguments)).content

    async def events(self, method: str, path: str, **arguments: Any) -> AsyncGenerator[ServerEvent, None]:
        """The events of any route that streams. It is opened again only while it has not begun."""
        async with contextlib.aclosing(self._events(self._connection, method, path, **arguments)) as events:
            async for event in events:
                yield event

    async def _events(
        self, connection: Connection, method: str, path: str, **arguments: Any
    ) -> AsyncGenerator[ServerEvent, None]:
        attempt = 0
        while True:
            attempt += 1
            begun = False
            try:
                headers = {"Accept": "text/event-stream"}
                async with self._http.stream(method, path, headers=headers, **arguments) as answer:
                    if not answer.is_success:
                        await answer.aread()
                        raise failure_of(answer)
                    begun = True
                    async for sent in httpx2.EventSource(answer, max_event_size=MAX_EVENT):
                        if sent.data:
                            yield server_event(sent.event, sent.data, sent.id)
                return
            except (httpx2.HTTPError, httpx2.SSEError, QueleaError) as error:
                told = error if isinstance(error, QueleaError) else connection.failed(error)
                pause = None if begun else connection.pause(told, attempt, safe=True)
                if pause is None:
                    raise told from error
            await asyncio.sleep(pause)

    async def _get(self, kind: type[M], path: str, params: Mapping[str, Any] | None = None) -> M:
        return record(kind, await self.request("GET", path, params=query(params or {})), self.url + path)

    async def _post(self, kind: type[M], path: str, wanted: Any, *, safe: bool = False) -> M:
        return record(kind, await self.request("POST", path, json=wanted, safe=safe), self.url + path)

    async def _rows(self, kind: type[M], path: str, name: str, params: Mapping[str, Any], most: int) -> Rows[M]:
        return records(kind, await self.items(path, name, params, most=most), self.url + path)

    async def _sent(self, method: str, path: str, *, safe: bool | None = None, **arguments: Any) -> httpx2.Response:
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = await self._http.request(method, path, **arguments)
                if answer.is_success:
                    return answer
                raise failure_of(answer)
            except (httpx2.HTTPError, QueleaError) as error:
                told = error if isinstance(error, QueleaError) else self._connection.failed(error)
                pause = self._connection.pause(told, attempt, safe=method == "GET" if safe is None else safe)
                if pause is None:
                    raise told from error
            await asyncio.sleep(pause)
