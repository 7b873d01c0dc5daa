"""`quelea ask` and `quelea search`: questions to the knowledge base."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from quelea_client import Client
from rich.console import Console

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import (
    DEFAULT_URL,
    ApiKey,
    AsJson,
    Collections,
    Companies,
    Languages,
    Periods,
    Tickers,
    Types,
    Url,
    connect,
    filters,
)
from quelea_cli.output import (
    Json,
    consoles,
    print_json,
    say,
    shorten,
    show_reading,
    show_route,
    show_sources,
    show_standalone,
    source_line,
)

FORMATS = {".docx": "docx", ".pdf": "pdf", ".xlsx": "xlsx", ".md": "markdown"}


class Route(StrEnum):
    """Where an answer may come from."""

    auto = "auto"
    local = "local"
    web = "web"


AsOf = Annotated[str, typer.Option(help="Answer as of this day, YYYY-MM-DD; default: today.")]


def ask(
    question: Annotated[str, typer.Argument(help="In English or Chinese; - reads it from standard input.")],
    stream: Annotated[bool, typer.Option(help="Show the answer while it is written.")] = True,
    as_of: AsOf = "",
    route: Annotated[
        Route, typer.Option(help="auto: search the web when the documents are not enough; local: never; web: always.")
    ] = Route.auto,
    k: Annotated[int, typer.Option(help="Number of passages to retrieve; 0: the server's default.", min=0)] = 0,
    j: Annotated[int, typer.Option(help="Number of passages to show the reader; 0: the server's default.", min=0)] = 0,
    company: Companies = None,
    ticker: Tickers = None,
    document_type: Types = None,
    period: Periods = None,
    language: Languages = None,
    collection: Collections = None,
    model: Annotated[str, typer.Option(help="Model of the reader, for example an adapter.")] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Leave out sentences with a figure that the evidence does not support.")
    ] = False,
    markdown: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Save the answer with its sources as Markdown in this file; -: standard output."
        ),
    ] = "",
    save_as: Annotated[
        list[Path] | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Save the answer too, as its ending says: .docx or .pdf, a research note with charts; .xlsx; .md. "
            "Repeatable.",
        ),
    ] = None,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Ask a question; the answer comes with numbered citations that open to a page."""
    if markdown and (as_json or save_as):
        raise CliError("Use either --markdown or --json and --save, not both.", EXIT_USAGE)
    formats = {path: format_of(path) for path in save_as or ()}
    body: Json = {"question": sys.stdin.read() if question == "-" else question}
    wanted = filters(company, ticker, document_type, period, language)
    given = (("as_of", as_of), ("k", k), ("j", j), ("filters", wanted), ("collections", collection), ("model", model))
    body |= {name: value for name, value in given if value}
    if route is not Route.auto:
        body["route"] = route.value
    if strict:
        body["strict"] = True
    out, errors = consoles()
    with connect(url, api_key) as gateway:
        if markdown:
            save(gateway.download("/v1/ask", method="POST", json={**body, "format": "markdown"}).decode(), markdown)
            return
        if as_json:
            answer = gateway.request("POST", "/v1/ask", json=body)
            print_json(answer)
        else:
            answer = (stream_answer if stream else whole)(out, gateway, body)
        for path, name in formats.items():
            asked = {"question": body["question"], "answer": answer, "format": name}
            keep(path, gateway.download("/v1/export", method="POST", json=asked))
            say(errors, f"written: {path}")


def format_of(path: Path) -> str:
    """The format that a file's ending names."""
    if path.suffix.lower() not in FORMATS:
        raise CliError(f"--save {path}: the file's ending must be one of {', '.join(FORMATS)}.", EXIT_USAGE)
    return FORMATS[path.suffix.lower()]


def keep(path: Path, data: bytes) -> None:
    """Into a file."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CliError(f"Cannot write {path}: {error.strerror}.", EXIT_USAGE) from error


def save(text: str, place: str) -> None:
    """Into a file, or to standard output."""
    if place == "-":
        sys.stdout.write(text)
        return
    try:
        Path(place).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CliError(f"Cannot write {place}: {error.strerror}.", EXIT_USAGE) from error


def whole(out: Console, gateway: Client, body: Json) -> Json:
    """Ask, then print; returns the answer."""
    answer: Json = gateway.request("POST", "/v1/ask", json=body)
    show_standalone(out, answer)
    show_reading(out, answer.get("reading"))
    show_route(out, answer)
    say(out, answer["answer"])
    say(out)
    show_sources(out, answer, gateway.page_url)
    return answer


def stream_answer(out: Console, gateway: Client, body: Json) -> Json:
    """Ask and print as it comes; returns the answer."""
    answer: Json | None = None
    wrote = ""
    for event in gateway.events("POST", "/v1/ask", json={**body, "stream": True}):
        if event.name == "started":
            show_standalone(out, event.data)
            show_reading(out, event.data.get("reading"))
            show_route(out, event.data)
        elif event.name == "quotes":
            say(out, f"Meanwhile, from the sources:\n{event.data['text']}\n", "dim")
        elif event.name == "delta":
            say(out, event.data["text"], end="")
            wrote += event.data["text"]
        elif event.name == "answer":
            answer = event.data
    if answer is None:
        raise CliError("The connection closed before the answer was complete; ask again.")
    if not wrote:
        say(out, answer["answer"])
    say(out, "\n" if wrote else "")
    if wrote and wrote.strip() != answer["answer"].strip():
        say(out, "As checked:", "bold")
        say(out, f"{answer['answer']}\n")
    show_sources(out, answer, gateway.page_url)
    return answer


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option(help="Number of passages; 0: the server's default.", min=0)] = 0,
    company: Companies = None,
    ticker: Tickers = None,
    document_type: Types = None,
    period: Periods = None,
    language: Languages = None,
    collection: Collections = None,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Find passages, best first, with their scores."""
    body: dict[str, Any] = {"query": query}
    wanted = filters(company, ticker, document_type, period, language)
    body |= {name: value for name, value in (("k", k), ("filters", wanted), ("collections", collection)) if value}
    out, _ = consoles()
    with connect(url, api_key) as gateway:
        found = gateway.request("POST", "/v1/search", json=body)
        if as_json:
            print_json(found)
            return
        show_reading(out, found.get("reading"))
        for number, passage in enumerate(found["passages"], start=1):
            scores = f"score {passage['score']:.3f}, cosine {passage['cosine']:.3f}"
            say(out, f"{number}. {source_line(passage)} ({scores})", "bold cyan")
            say(out, f"   {shorten(passage['text'])}")
            say(out, f"   {gateway.page_url(passage)}", "dim")
        if not found["passages"]:
            say(out, "Nothing found; `quelea docs` lists what is in the knowledge base.")
