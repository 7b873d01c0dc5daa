"""What `quelea demo` shows: documents go in, questions come back answered, with citations that open, or declined."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from quelea_cli.commands.ask import streamed
from quelea_cli.commands.ingest import find_files, run, summary
from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.gateway import Gateway, Json
from quelea_cli.output import say

DOCUMENTS = ("filings", "news", "reports")
QUESTIONS = Path("questions/demo.json")


@dataclass(frozen=True)
class DemoQuestion:
    """A question and what a right answer to it looks like."""

    question: str
    says: str = ""
    """In the quote of a citation; empty when the question must be declined."""
    about: str = ""
    """Shown above it."""


def read_questions(path: Path) -> list[DemoQuestion]:
    """The questions of the file, a JSON array."""
    try:
        return [DemoQuestion(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise CliError(f"Cannot read the questions of {path}: {error}.", EXIT_USAGE) from error


def show(gateway: Gateway, samples: Path, console: Console) -> None:
    """Ingest the samples, ask the questions; CliError when something did not go as it should."""
    questions = read_questions(samples / QUESTIONS)
    began = time.monotonic()
    uploads, _ = find_files([samples / name for name in DOCUMENTS])
    say(
        console, f"\n1. {len(uploads)} sample documents become a knowledge base (samples/README.md: where from)", "bold"
    )
    run(gateway, uploads, {}, console, short=True)
    say(console, f"{summary(uploads, 0)}, {time.monotonic() - began:.0f} s")
    faults = [f"{upload.path}: {upload.error}" for upload in uploads if upload.error]
    say(console, f"\n2. {len(questions)} questions", "bold")
    for question in questions:
        say(console, f"\n{question.about}\n> {question.question}", "bold magenta")
        answer = streamed(console, gateway, {"question": question.question})
        faults += check(gateway, question, answer)
    if faults:
        raise CliError("The demo did not go as it should: " + "; ".join(faults))


def check(gateway: Gateway, question: DemoQuestion, answer: Json) -> list[str]:
    """What is wrong with an answer; every citation is opened and must hold its quote, character for character."""
    name = f"“{question.question}”"
    if not question.says:
        return [] if answer["declined"] else [f"{name} was not declined"]
    if answer["declined"] or not answer["citations"]:
        return [f"{name} got no cited answer"]
    faults = [f"{name}: check {one['name']} failed" for one in answer["checks"] if not one["passed"]]
    for citation in answer["citations"]:
        page = gateway.request("GET", f"/v1/documents/{citation['document_id']}/pages/{citation['page']}")
        if page["text"][citation["start"] : citation["end"]] != citation["quote"]:
            faults.append(f"{name}: [{citation['number']}] is not on its page")
    if not any(question.says in citation["quote"] for citation in answer["citations"]):
        faults.append(f"{name}: no citation says {question.says}")
    return faults
