"""What `quelea demo` shows: documents go in, questions come back answered, with citations that open, or declined; what
the documents do not answer is found on the sample web, flows back, and is then answered from the knowledge base."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from quelea_client import Client
from rich.console import Console

from quelea_cli.commands.ask import stream_answer
from quelea_cli.commands.ingest import find_files, run, summary
from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.output import Json, say
from quelea_cli.sample_web.site import HOSTS

DOCUMENTS = ("filings", "ixbrl", "news", "reports")
QUESTIONS = Path("questions/demo.json")
_REFRESH_SECONDS = 300.0
_POLL_SECONDS = 0.3


@dataclass(frozen=True)
class DemoQuestion:
    """A question and what a right answer to it looks like."""

    question: str
    says: str | list[str] = ""
    """In the quote of a citation, one of them; empty when the question must be declined."""
    about: str = ""
    """Shown above it."""
    web: bool = False
    """Not answered by the documents but by the sample web; asked twice, before and after the page has flowed back."""


def read_questions(path: Path) -> list[DemoQuestion]:
    """The questions of the file, a JSON array."""
    try:
        return [DemoQuestion(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise CliError(f"Cannot read the questions of {path}: {error}.", EXIT_USAGE) from error


def show(gateway: Client, samples: Path, console: Console, *, judged: bool = True) -> None:
    """Ingest the samples, ask the questions; CliError when something did not go as it should.

    Args:
        gateway: Of the stack.
        samples: Folder of the samples.
        console: Where it is shown.
        judged: Whether the answers must be right; else only that every citation opens and holds its quote.
    """
    questions = read_questions(samples / QUESTIONS)
    local = [question for question in questions if question.says and not question.web]
    unknown = [question for question in questions if not question.says]
    # What an earlier run brought in would answer at once.
    gateway.request("POST", "/v1/web/pages/roll-back", json={"hosts": list(HOSTS)})
    began = time.monotonic()
    uploads, _ = find_files([samples / name for name in DOCUMENTS])
    say(
        console, f"\n1. {len(uploads)} sample documents become a knowledge base (samples/README.md: where from)", "bold"
    )
    run(gateway, uploads, {}, console, short=True)
    say(console, f"{summary(uploads, 0)}, {time.monotonic() - began:.0f} s")
    faults = [f"{upload.path}: {upload.error}" for upload in uploads if upload.error]
    say(console, f"\n2. {len(local)} questions to the documents", "bold")
    faults += ask_questions(gateway, local, console, judged=judged)
    # Before the question that nothing answers: its search of the web may find the same pages useful.
    for question in (one for one in questions if one.web):
        say(console, "\n3. A question that the documents do not answer, and the web does", "bold")
        faults += through_the_web(gateway, question, console, judged=judged)
    say(console, "\n4. A question that nothing here answers", "bold")
    faults += ask_questions(gateway, unknown, console, judged=judged)
    if faults:
        raise CliError("The demo failed: " + "; ".join(faults))


def ask_questions(
    gateway: Client, questions: list[DemoQuestion], console: Console, *, judged: bool = True
) -> list[str]:
    """Ask one after the other; what did not go as it should."""
    faults = []
    for question in questions:
        say(console, f"\n{question.about}\n> {question.question}", "bold magenta")
        faults += check(
            gateway, question, stream_answer(console, gateway, {"question": question.question}), judged=judged
        )
    return faults


def through_the_web(gateway: Client, question: DemoQuestion, console: Console, *, judged: bool = True) -> list[str]:
    """Ask, wait until the useful pages are documents, ask again; what did not go as it should."""
    say(console, f"\n{question.about}\n> {question.question}", "bold magenta")
    body = {"question": question.question}
    first = stream_answer(console, gateway, body)
    faults = check(gateway, question, first, judged=judged)
    if first["route"] != "local+web" or (judged and all(one["source"] != "web" for one in first["citations"])):
        return [*faults, f"“{question.question}” was not answered from the web (route {first['route']})"]
    began = time.monotonic()
    pages = wait_for_pages(gateway, question.question)
    kept = [page for page in pages if page["state"] == "kept"]
    say(console, f"\nIn the background, {time.monotonic() - began:.1f} s:", "bold")
    for page in pages:
        say(console, f"  {page['state']}: {page['title']} · {page['url']} ({page['reason']})")
    if not kept:
        return [*faults, "no page of the web flowed back into the knowledge base"]
    say(console, f"\nThe same question again\n> {question.question}", "bold magenta")
    second = stream_answer(console, gateway, body)
    faults += check(gateway, question, second, judged=judged)
    if second["route"] != "local":
        faults.append(f"“{question.question}” was not answered locally the second time (route {second['route']})")
    web, local = (answer["timings"]["total"] / 1000 for answer in (first, second))
    say(console, f"\nthrough the web {web:.2f} s, from the knowledge base {local:.2f} s", "bold")
    return faults


def wait_for_pages(gateway: Client, question: str) -> list[Json]:
    """The pages that were useful for a question, once those that need no approval are documents."""
    end = time.monotonic() + _REFRESH_SECONDS
    while time.monotonic() < end:
        pages = gateway.request("GET", "/v1/web/pages", params={"page_size": 1000})["pages"]
        mine = [page for page in pages if question in page["queries"]]
        jobs = gateway.request("GET", "/v1/jobs", params={"page_size": 200})["jobs"]
        # The newest job of each page; older ones are those of an earlier run.
        newest = {job["url"]: job for job in reversed(jobs) if job["lane"] == "refresh"}
        work = [newest.get(page["url"]) for page in mine if page["state"] == "kept"]
        failed = next((job for job in work if job and job["state"] == "failed"), None)
        if failed:
            raise CliError(f"The page {failed['url']} could not be added: {failed['error']}")
        if mine and all(job and job["state"] == "succeeded" for job in work):
            return mine
        time.sleep(_POLL_SECONDS)
    raise CliError(f"No web page was added within {_REFRESH_SECONDS:.0f} s; `quelea jobs` shows what is waiting.")


def check(gateway: Client, question: DemoQuestion, answer: Json, *, judged: bool = True) -> list[str]:
    """What is wrong with an answer; every citation is opened and must hold its quote, character for character."""
    name = f"“{question.question}”"
    faults = []
    for citation in answer["citations"]:
        page = gateway.request("GET", f"/v1/documents/{citation['document_id']}/pages/{citation['page']}")
        if page["text"][citation["start"] : citation["end"]] != citation["quote"]:
            faults.append(f"{name}: [{citation['number']}] is not on its page")
    return faults + (_misses(question, answer, name) if judged else [])


def _misses(question: DemoQuestion, answer: Json, name: str) -> list[str]:
    if not question.says:
        return [] if answer["declined"] else [f"{name} was not declined"]
    if answer["declined"] or not answer["citations"]:
        return [f"{name} got no cited answer"]
    faults = [f"{name}: check {one['name']} failed" for one in answer["checks"] if not one["passed"]]
    wanted = [question.says] if isinstance(question.says, str) else question.says
    if not any(says in citation["quote"] for citation in answer["citations"] for says in wanted):
        faults.append(f"{name}: no citation says {' or '.join(wanted)}")
    return faults
