"""`quelea train pairs` and `quelea train review`."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from quelea_evaluation.console import DATA, HOME, STACK_HOME, AsJson, Data, StackHome, say, tell, tell_json
from quelea_evaluation.endpoints.chat import Chat
from quelea_evaluation.endpoints.client import STACK, Address, Client, EndpointError, read_address
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.console import Concurrency, Seconds, plain_errors
from quelea_evaluation.omni.questions.generation import Calls
from quelea_evaluation.omni.questions.knowledge import documents
from quelea_evaluation.omni.questions.model import questions_file, read_questions
from quelea_evaluation.reports.store import RowFile
from quelea_evaluation.stack.running import running_stack

from quelea_training.pairs import from_documents, from_model, making, review
from quelea_training.pairs.importers import NEVER_TRAINED, SOURCES, load_source
from quelea_training.pairs.making import Made, Plan
from quelea_training.pairs.model import Pair, Pairs, Passage, Split, read_pairs, write_pairs
from quelea_training.pairs.passages import collect

STORED = "stored"
REVIEW = "review.csv"

app = typer.Typer()


@app.command("pairs")
def make(
    out: Annotated[Path, typer.Argument(help="Folder to write; model calls in it are kept and not made again.")],
    source: Annotated[
        list[str] | None,
        typer.Option(
            help=f"“{STORED}” (the default): the documents at --gateway; or {', '.join(SOURCES)} from --data."
        ),
    ] = None,
    rules: Annotated[bool, typer.Option(help="Pairs from rows, headings, captions and titles too.")] = True,
    model: Annotated[
        str, typer.Option(help="Model that writes questions; “stack”: that of the stack on this machine; empty: none.")
    ] = "",
    model_url: Annotated[str, typer.Option(help="Its OpenAI-compatible endpoint, up to /v1.")] = "",
    api_key: Annotated[str, typer.Option(envvar="QUELEA_EVAL_API_KEY", help="Of the model.")] = "",
    model_passages: Annotated[int, typer.Option(min=1, help="Passages that the model reads, spread evenly.")] = 200,
    questions: Annotated[
        Path | None, typer.Option(help="Questions of `quelea eval omni generate` on these documents, file or folder.")
    ] = None,
    gateway: Annotated[str, typer.Option(envvar="QUELEA_URL", help="Where Quelea listens.")] = "http://127.0.0.1:8080",
    gateway_key: Annotated[str, typer.Option(envvar="QUELEA_API_KEY", help="Of the gateway.")] = "",
    licence: Annotated[str, typer.Option(help="Of your own documents, for the manifest.")] = "the operator's own",
    teacher_k: Annotated[
        int,
        typer.Option(min=0, max=100, help="A made pair stays when the product finds it among so many; 0: all stay."),
    ] = 10,
    negatives: Annotated[
        int, typer.Option(min=0, max=20, help="Hard negatives of a pair, from the product's search.")
    ] = 4,
    most: Annotated[int, typer.Option(min=1, help="Pairs of a document, at most.")] = 40,
    dev: Annotated[float, typer.Option(min=0, max=0.5, help="Share of companies and documents to develop on.")] = 0.1,
    test: Annotated[float, typer.Option(min=0, max=0.9, help="Share to test on.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Of the split and of samples.")] = 0,
    data: Data = DATA,
    stacks: Annotated[
        Path, typer.Option(help="Where the stacks that question sets are read into keep their data between runs.")
    ] = HOME,
    home: StackHome = STACK_HOME,
    concurrency: Concurrency = 2,
    seconds: Seconds = 300.0,
    as_json: AsJson = False,
) -> None:
    """Make pairs of query and passage from stored documents and question sets, split by company and document."""
    wanted = source or [STORED]
    plan = Plan(seed, dev, test, teacher_k, negatives, most, concurrency)
    work = _Work(out, plan, rules, model_passages, seconds)
    with plain_errors():
        writer = _writer(model, model_url, home)
        parts: list[Made] = []
        pairs: list[Pair] = []
        for name in wanted:
            if name == STORED:
                made, refined = asyncio.run(work.stored(gateway, gateway_key, licence, writer, api_key, questions))
            else:
                made, refined = _from_set(work, name, data, stacks, writer, api_key)
            parts.append(made)
            pairs += refined
        making.write_folder(out, parts, pairs, plan, _versions(writer))
        found = read_pairs(out)
        review.write_review(out / REVIEW, found.pairs, found.passages)
        manifest = making.read_manifest(out)
    if as_json:
        tell_json({name: manifest[name] for name in ("counts", "dropped", "settings")})
        return
    counts = manifest["counts"]
    tell(f"{counts['pairs']} pairs: " + ", ".join(f"{n} {split}" for split, n in counts["splits"].items()))
    tell("kinds: " + ", ".join(f"{kind} {n}" for kind, n in counts["kinds"].items()))
    for reason, n in manifest["dropped"].items():
        if n:
            tell(f"left out: {n} {reason}")
    for line in _missing(found.pairs, plan):
        say(line)
    say(f"to be read by people: {out / REVIEW}; then `quelea train review {out}`")


def _missing(pairs: Sequence[Pair], plan: Plan) -> Iterator[str]:
    """What a training will miss, source by source: where there are few companies, a split may have none."""
    for source in sorted({pair.source for pair in pairs}):
        mine = Counter(pair.split for pair in pairs if pair.source == source)
        never_trained = source in NEVER_TRAINED
        few = f"{source}: of {sum(mine.values())} pairs"
        other = "add documents of other companies (three are enough), or take another --seed"
        if not mine["train"] and not never_trained:
            yield f"{few} none is to train on: {other} or a smaller --test (it is {plan.test:g})"
        if not mine["test"]:
            yield f"{few} none is held out, so no training can be measured with it: {other} or a larger --test"
        if not mine["dev"]:
            lost = "no loss there can be watched" if never_trained else "time or steps alone end a training"
            yield f"{few} none is to develop on, so {lost}: {other} or a larger --dev"


@app.command("review")
def apply(
    folder: Annotated[Path, typer.Argument(help="What `quelea train pairs` wrote.")],
    table: Annotated[
        Path | None, typer.Option(help=f"The table with your changes; else {REVIEW} of the folder.")
    ] = None,
) -> None:
    """Take a review in: pairs marked “n” go, other words of a query are taken."""
    with plain_errors():
        manifest = making.read_manifest(folder)
        found = read_pairs(folder)
        reviewed = review.apply_review(table or folder / REVIEW, found.pairs)
        if not reviewed.pairs:
            raise BadInput("the review drops every pair; nothing was changed")
        after = Pairs(found.passages, reviewed.pairs)
        write_pairs(folder, after)
        about = {name: manifest[name] for name in ("settings", "dropped", "versions")}
        about["reviewed"] = {"dropped": reviewed.dropped, "reworded": reviewed.reworded}
        making.write_manifest(folder, after, about)
    tell(f"{reviewed.dropped} pairs dropped, {reviewed.reworded} asked in other words, {len(reviewed.pairs)} left")


class _Work:
    """What all sources share."""

    def __init__(self, out: Path, plan: Plan, rules: bool, model_passages: int, seconds: float) -> None:
        self._calls_file = out / "calls.jsonl"
        self._plan = plan
        self._rules = rules
        self._model_passages = model_passages
        self._seconds = seconds
        self._splits: dict[str, Split] = {}

    async def stored(
        self, url: str, key: str, licence: str, writer: Address | None, api_key: str, questions: Path | None
    ) -> tuple[Made, list[Pair]]:
        """Pairs of all documents at a gateway."""
        async with Client(url, key, self._seconds) as client:
            try:
                listed = {str(one["id"]): one for one in await documents(client)}
            except EndpointError as error:
                if not error.passing:
                    raise
                raise BadInput(
                    f"Quelea does not answer at {url} ({error}): start it with `quelea up`, or say with --gateway "
                    "where it listens"
                ) from error
            if not listed:
                raise BadInput(f"The knowledge base at {url} is empty; add documents with `quelea ingest`.")
            made = Made(await collect(client, listed, STORED, licence, say), [])
            if questions is not None:
                asked, lost = making.pairs_of_questions(read_questions(questions_file(questions)), made.passages)
                made.pairs += asked
                made.dropped["questions whose passages are not stored"] += lost
            return made, await self.finish(made, client, writer, api_key)

    async def of_set(
        self, url: str, name: str, data: Path, ids: dict[str, str], writer: Address | None, api_key: str
    ) -> tuple[Made, list[Pair]]:
        """Pairs of a set whose documents a gateway has."""
        source = load_source(name, data)
        async with Client(url, "", self._seconds) as client:
            wanted = set(ids.values())
            listed = {str(one["id"]): one for one in await documents(client) if one["id"] in wanted}
            passages = await collect(client, listed, source.name, source.licence, say)
            made = making.pairs_of_source(source, ids, passages)
            return made, await self.finish(made, client, writer, api_key)

    async def finish(self, made: Made, client: Client, writer: Address | None, api_key: str) -> list[Pair]:
        """What rules and a model add, then split and filters."""
        if self._rules and not made.never_train:
            made.pairs += from_documents.pairs_of(made.passages.values())
        if writer is not None and not made.never_train:
            chat = Chat(writer.url, writer.model, writer.key or api_key, self._seconds)
            rows = RowFile(self._calls_file)
            try:
                calls = Calls(
                    chat, rows, lambda spent: say(f"model: {spent.calls} calls") if spent.calls % 20 == 0 else None
                )
                spread = _spread(list(made.passages.values()), self._model_passages)
                written, dropped = await from_model.write_pairs(spread, calls, self._plan.concurrency)
            finally:
                rows.close()
                await chat.close()
            made.pairs += written
            made.dropped.update(dropped)
        return await making.refine(made, client, self._plan, self._splits, say)


def _from_set(
    work: _Work, name: str, data: Path, stacks: Path, writer: Address | None, api_key: str
) -> tuple[Made, list[Pair]]:
    source = load_source(name, data)
    with running_stack(stacks / name) as stack:
        ids = stack.ingest(source.documents, say)
        return asyncio.run(work.of_set(stack.url, name, data, ids, writer, api_key))


def _spread(items: Sequence[Passage], most: int) -> list[Passage]:
    return list(items) if len(items) <= most else [items[at * len(items) // most] for at in range(most)]


def _writer(model: str, url: str, home: Path) -> Address | None:
    if not model:
        return None
    if model == STACK:
        return read_address(STACK, "--model", home)
    if not url:
        raise BadInput("--model-url must say where the model is served, up to /v1; or --model stack")
    return Address(model, url)


def _versions(writer: Address | None) -> dict[str, str]:
    found = {name: metadata.version(name) for name in ("quelea-training", "datasketch")}
    found["python"] = sys.version.split()[0]
    return found | ({"model": writer.text, "prompt": str(from_model.PROMPT_VERSION)} if writer else {})
