"""`quelea eval omni topics`, `generate` and `review`."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from quelea_evaluation.console import STACK_HOME, AsJson, StackHome, say, tell, tell_json
from quelea_evaluation.endpoints.chat import Chat
from quelea_evaluation.endpoints.client import STACK, Address, Client, read_address
from quelea_evaluation.endpoints.prices import Prices, PricesText, read_prices
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.console import Concurrency, Seconds, TreeFile, plain_errors, progress
from quelea_evaluation.omni.matrix import LANGUAGES, TASKS, Matrix, as_toml, read_matrix
from quelea_evaluation.omni.prompts import load_prompts
from quelea_evaluation.omni.questions.generation import Calls, Cell, Drafts, classify, fill, wanted_cells
from quelea_evaluation.omni.questions.knowledge import Section, SectionFile, documents, sections_of
from quelea_evaluation.omni.questions.model import Question, read_questions
from quelea_evaluation.omni.questions.proposal import propose_topics
from quelea_evaluation.omni.questions.review import read_review, reviewed_ids, write_review
from quelea_evaluation.omni.questions.review_page import Review, ReviewServer
from quelea_evaluation.reports.store import Row, RunFolder, write_rows, write_whole

QUESTIONS = "omni-questions"
GatewayUrl = Annotated[str, typer.Option(help="Where Quelea listens.")]
GatewayKey = Annotated[str, typer.Option(envvar="QUELEA_API_KEY", help="Of the gateway.")]
ModelUrl = Annotated[str, typer.Option(help="OpenAI-compatible endpoint of the writing model, up to /v1.")]
ModelName = Annotated[str, typer.Option(help="Its name there; “stack”: the model of the stack on this machine.")]
ModelKey = Annotated[str, typer.Option(envvar="QUELEA_EVAL_API_KEY", help="Of the model; better by the environment.")]


def topics(
    model: ModelName,
    out: Annotated[Path, typer.Option(help="File of the tree; edit it, then give it to generate and report.")] = Path(
        "topics.toml"
    ),
    least: Annotated[int, typer.Option(min=1, max=50, help="Topics at least.")] = 4,
    most: Annotated[int, typer.Option(min=1, max=50, help="Topics at most.")] = 16,
    gateway: GatewayUrl = "http://127.0.0.1:8080",
    gateway_key: GatewayKey = "",
    model_url: ModelUrl = "",
    api_key: ModelKey = "",
    home: StackHome = STACK_HOME,
    seconds: Seconds = 300.0,
) -> None:
    """Propose a tree of topics from the titles and openings of your documents."""
    if out.exists():
        raise typer.BadParameter(f"{out} is there already; choose another file with --out")
    address = _writer(model, model_url, home)

    async def work() -> Matrix:
        chat = Chat(address.url, address.model, address.key or api_key, seconds)
        try:
            openings = [one async for one in _read(gateway, gateway_key, 1, seconds)]
            return await propose_topics(openings, chat, least, max(least, most))
        finally:
            await chat.close()

    with plain_errors():
        matrix = asyncio.run(work())
    write_whole(out, as_toml(matrix))
    for one in matrix.topics:
        tell(f"{one.id:40} {one.label('en')}")
    say(f"written: {out}")


def _writer(model: str, url: str, home: Path) -> Address:
    if model != STACK and not url:
        raise typer.BadParameter("--model-url must say where the model is served, up to /v1; or --model stack")
    with plain_errors():
        return read_address(STACK, "--model", home) if model == STACK else Address(model, url)


async def _read(gateway: str, key: str, per_document: int, seconds: float) -> AsyncIterator[Section]:
    """Sections of all documents, document by document.

    Raises:
        BadInput: There is no document, or none with text enough.
    """
    async with Client(gateway, key, seconds) as client:
        listed = await documents(client)
        if not listed:
            raise BadInput(f"The knowledge base at {gateway} is empty; add documents with `quelea ingest`.")
        found = 0
        with progress("documents read", len(listed)) as show:
            for at, one in enumerate(listed, 1):
                for section in await sections_of(client, one, per_document):
                    found += 1
                    yield section
                show(at)
    if not found:
        raise BadInput(f"None of the {len(listed)} documents at {gateway} has a page with text enough to ask about.")


@dataclass
class _Made:
    """What `generate` made, for its summary."""

    sections: int
    topics: dict[str, int]
    unsorted: Counter[str]
    cells: list[Cell]
    calls: Calls


def generate(
    model: ModelName,
    out: Annotated[Path, typer.Option(help="Folder of the questions; one that was broken off goes on.")],
    per_cell: Annotated[int, typer.Option(min=1, max=1000, help="Questions of a cell, at most.")] = 5,
    sections: Annotated[
        int, typer.Option(min=1, max=1000, help="Sections of a document, spread evenly over its pages.")
    ] = 6,
    tries: Annotated[
        int,
        typer.Option(
            min=1, max=1000, help="Most writing calls for each question wanted; a cell that used them up stays short."
        ),
    ] = 4,
    topic: Annotated[list[str] | None, typer.Option(help="Only these topics, by id.")] = None,
    task: Annotated[list[str] | None, typer.Option(help=f"Only these: {', '.join(one.id for one in TASKS)}.")] = None,
    tree: TreeFile = None,
    prices: PricesText = "",
    gateway: GatewayUrl = "http://127.0.0.1:8080",
    gateway_key: GatewayKey = "",
    model_url: ModelUrl = "",
    api_key: ModelKey = "",
    home: StackHome = STACK_HOME,
    concurrency: Concurrency = 4,
    seconds: Seconds = 300.0,
    as_json: AsJson = False,
) -> None:
    """Write, inspect and clean questions over the documents of the knowledge base, for every cell of the matrix."""
    with plain_errors():
        price = read_prices(prices)
    address = _writer(model, model_url, home)
    with plain_errors():
        matrix = read_matrix(tree)
        _check_names("topic", topic or (), [one.id for one in matrix.topics])
        _check_names("task", task or (), [one.id for one in TASKS])
        settings = {"model": address.model, "prompts": {one: load_prompts(one).version for one in LANGUAGES}}
        notes = {
            "address": model_url or STACK,
            "tree": matrix.name,
            "per_cell": per_cell,
            "tries": tries,
            "sections": sections,
        }
        with RunFolder(out, QUESTIONS, settings, {}, notes) as folder:
            rows = folder.rows("calls")
            drafts, found = Drafts(out / "drafts.jsonl"), SectionFile(out / "sections.jsonl")

            async def work() -> _Made:
                chat = Chat(address.url, address.model, address.key or api_key, seconds)
                try:
                    async for section in _read(gateway, gateway_key, sections, seconds):
                        found.add(section)
                    with progress("calls", None) as show:
                        calls = Calls(
                            chat, rows, lambda s: show(s.calls, f"{s.prompt_tokens + s.completion_tokens} tokens")
                        )
                        sorted_, unsorted = await classify(found, matrix, calls, concurrency)
                        wanted = wanted_cells(matrix, topic or (), task or ())
                        cells = await fill(sorted_, found, matrix, wanted, calls, drafts, per_cell, tries, concurrency)
                    counts = {name: len(held) for name, held in sorted_.items()}
                    return _Made(len(found), counts, unsorted, cells, calls)
                finally:
                    await chat.close()
                    found.close()

            made = asyncio.run(work())
            write_rows(out / "questions.jsonl", drafts.of(made.cells))
            drafts.remove()
            table = out / "review.csv"
            if not table.exists():
                write_review(table, read_questions(out / "questions.jsonl"))
            unread = {one for cell in made.cells for one in cell.questions} - reviewed_ids(table)
            summary = {**_summary(made, price), "not_in_review": len(unread)}
            folder.finish(summary)
    if as_json:
        tell_json(summary)
    else:
        _show(summary, out, price)


def _check_names(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [one for one in given if one not in known]:
        raise typer.BadParameter(f"no {what} is called {unknown[0]!r}; there are {', '.join(known)}")


def _summary(made: _Made, prices: Prices) -> Row:
    spent = made.calls.spent
    cost = prices.cost(made.calls.model, spent.prompt_tokens, spent.completion_tokens)
    return {
        "sections": made.sections,
        "sections_by_topic": made.topics,
        "sections_without_topic": dict(made.unsorted.most_common()),
        "questions": sum(len(one.questions) for one in made.cells),
        "cells": [
            {
                "topic": one.topic,
                "task": one.task.id,
                "questions": len(one.questions),
                "dropped": dict(one.dropped),
                "writings": one.writings,
                "gave_up": one.gave_up,
            }
            for one in made.cells
        ],
        "calls": spent.calls,
        "calls_of_this_session": spent.asked,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "uncounted": spent.uncounted,
        "cost": None if spent.uncounted else cost,
    }


def _show(summary: dict[str, Any], folder: Path, prices: Prices) -> None:
    dropped: Counter[str] = Counter(summary["sections_without_topic"])
    for cell in summary["cells"]:
        dropped.update(cell["dropped"])
    wanted = {cell["topic"] for cell in summary["cells"]}
    empty = [name for name, count in summary["sections_by_topic"].items() if name in wanted and not count]
    short = sum(not cell["questions"] for cell in summary["cells"])
    tell(f"{summary['questions']} questions in {len(summary['cells'])} cells, {short} of them empty")
    if empty:
        tell(f"topics without documents: {', '.join(empty)}")
    if gave_up := sum(cell["gave_up"] for cell in summary["cells"]):
        tell(f"cells left short because their calls were used up (--tries): {gave_up}")
    for reason, count in dropped.most_common():
        tell(f"{count:6} × {reason}")
    tokens = f"{summary['prompt_tokens']} + {summary['completion_tokens']} tokens"
    tell(f"{summary['calls']} calls, {tokens}, cost {prices.write_cost(summary['cost'])}")
    if new := summary["not_in_review"]:
        tell(
            f"{new} questions are not in {folder / 'review.csv'}, which is of an earlier call and was left alone; "
            "rename it and call again to have them all in a new one, else `review` drops them"
        )
    tell(f"read and edit {folder / 'review.csv'}, then: quelea eval omni review {folder} (--page opens it as a page)")


def _serve_review(edited: Review, questions: int, port: int) -> None:
    edited.page()  # what cannot be read is said before a browser is opened
    with ReviewServer(edited, port) as server:
        tell(f"{questions} questions at {server.url} (Ctrl-C ends)")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def review(
    folder: Annotated[Path, typer.Argument(help="Folder of `generate`.")],
    file: Annotated[Path | None, typer.Option(help="The edited table; review.csv of the folder when left out.")] = None,
    page: Annotated[
        bool, typer.Option("--page", help="Read and edit the questions on a page on loopback first, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0 takes a free one.")] = 0,
    tree: TreeFile = None,
) -> None:
    """Read an edited review.csv back: what is kept and corrected becomes reviewed.jsonl, which `run` takes."""
    with plain_errors():
        made: list[Question] = list(read_questions(folder / "questions.jsonl"))
        if not made:
            raise BadInput(f"{folder / 'questions.jsonl'} holds no questions")
        if page:
            _serve_review(Review(folder, file or folder / "review.csv", made, read_matrix(tree)), len(made), port)
        kept, edited, dropped = read_review(file or folder / "review.csv", made)
    write_rows(folder / "reviewed.jsonl", (one.as_row() for one in kept))
    tell(f"{len(kept)} questions kept, {edited} of them edited, {dropped} dropped: {folder / 'reviewed.jsonl'}")
