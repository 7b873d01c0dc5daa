"""`quelea train samples`, `quelea train sft` and `quelea train sft-test`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from quelea_evaluation.console import DATA, STACK_HOME, AsJson, Data, StackHome, say, tell, tell_json
from quelea_evaluation.endpoints.client import Client, read_address
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.console import plain_errors
from quelea_kit.errors import QueleaError

from quelea_training.training_options import Device, Epochs, Interval, Minutes, Out, Patience, Seed, Threads
from quelea_training.writer import making, proof
from quelea_training.writer.generator import Limits
from quelea_training.writer.model import SAMPLES, load
from quelea_training.writer.recipe import Recipe

_USUAL, _LIMITS, _PLAN = Recipe(), Limits(), making.Plan()
BASE = Path(".cache/models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
_PAGE = 200
_Evidence = Annotated[int, typer.Option(min=100, help="Of the generator: most evidence in a prompt, in tokens.")]
_Excerpt = Annotated[
    int, typer.Option(min=0, help="Of the generator: rows and sentences that matter, in tokens; 0: whole passages.")
]
_Answer = Annotated[int, typer.Option(min=16, help="Of the generator: longest answer, in tokens.")]
_Context = Annotated[int, typer.Option(min=512, help="Of the generator: the model's context, in tokens.")]
_AsOf = Annotated[str, typer.Option(help="The current date of the prompts, YYYY-MM-DD.")]

app = typer.Typer()


@app.callback()
def _main() -> None:
    """Writers."""


@app.command("samples")
def make(
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    pairs: Annotated[
        list[Path] | None,
        typer.Option(help="Folders of `quelea train pairs`: their documents, evidence, split and what they hold out."),
    ] = None,
    facts: Annotated[bool, typer.Option(help="Questions after the facts of the documents at --gateway too.")] = False,
    answers: Annotated[
        Path | None, typer.Option(help="Questions with answers that stand alone: `question` and `answer` in each row.")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder of QUELEA_GATEWAY_TRAJECTORIES: the agent's recorded runs.")
    ] = None,
    licence: Annotated[str, typer.Option(help="Of answers and runs, for the manifest.")] = "the operator's own",
    passages: Annotated[int, typer.Option(min=2, max=20, help="Passages of a question's evidence.")] = _PLAN.passages,
    most: Annotated[int, typer.Option(min=0, help="Samples of a task and split, at most; 0: all.")] = _PLAN.most,
    dev: Annotated[float, typer.Option(min=0, max=0.5, help="Share to develop on, where no pairs say.")] = _PLAN.dev,
    test: Annotated[float, typer.Option(min=0, max=0.9, help="Share to test on, where no pairs say.")] = _PLAN.test,
    seed: Annotated[int, typer.Option(help="Of the split, and of how evidence is laid out.")] = _PLAN.seed,
    as_of: _AsOf = _PLAN.as_of,
    evidence_tokens: _Evidence = _LIMITS.evidence_tokens,
    excerpt_tokens: _Excerpt = _LIMITS.excerpt_tokens,
    max_tokens: _Answer = _LIMITS.max_tokens,
    context_tokens: _Context = _LIMITS.context_tokens,
    gateway: Annotated[str, typer.Option(envvar="QUELEA_URL", help="Where Quelea listens.")] = "http://127.0.0.1:8080",
    gateway_key: Annotated[str, typer.Option(envvar="QUELEA_API_KEY", help="Of the gateway.")] = "",
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Make samples for a writer: from pairs, facts, answers of yours and recorded runs of the agent."""
    plan = making.Plan(seed, dev, test, passages, most, as_of)
    limits = Limits(evidence_tokens, excerpt_tokens, max_tokens, context_tokens)
    with plain_errors(), _plain_failures():
        if not (pairs or answers or runs):
            raise BadInput("name what samples are made from: --pairs, --answers or --runs")
        stored = asyncio.run(_facts(gateway, gateway_key)) if facts else []
        given = making.Given(tuple(pairs or ()), data, stored, answers, runs, licence)
        making.make(out, given, plan, limits, say)
        samples, manifest = import_module("quelea_training.writer.model").read_samples(out)
    if as_json:
        tell_json({name: manifest[name] for name in ("counts", "dropped", "settings")})
        return
    tell(f"{len(samples)} samples in {out / SAMPLES}")
    for split, counts in manifest["counts"].items():
        tell(f"{split}: " + (", ".join(f"{task} {n}" for task, n in counts.items()) or "none"))
    for reason, n in manifest["dropped"].items():
        if n:
            tell(f"left out: {n} {reason}")


@app.command()
def sft(
    samples: Annotated[list[Path], typer.Argument(help="Folders of `quelea train samples`.")],
    out: Out,
    test_with: Annotated[
        list[Path] | None, typer.Option(help="More folders, of which only what they hold out is used: to refuse it.")
    ] = None,
    base: Annotated[Path, typer.Option(help="The model: a folder of transformers, or a GGUF file.")] = BASE,
    rank: Annotated[int, typer.Option(min=1, help="Of LoRA.")] = _USUAL.rank,
    alpha: Annotated[int, typer.Option(min=1, help="Of LoRA.")] = _USUAL.alpha,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Of LoRA.")] = _USUAL.dropout,
    rate: Annotated[float, typer.Option(min=0, help="Highest learning rate.")] = _USUAL.rate,
    batch: Annotated[int, typer.Option(min=1, help="Samples in memory at once, of each process.")] = _USUAL.batch,
    accumulate: Annotated[int, typer.Option(min=1, help="Batches of a step.")] = _USUAL.accumulate,
    max_tokens: Annotated[int, typer.Option(min=16, help="Longer samples are left out.")] = _USUAL.max_tokens,
    epochs: Epochs = _USUAL.epochs,
    warm_up: Annotated[float, typer.Option(min=0, max=0.5, help="Share of the work.")] = _USUAL.warm_up,
    dtype: Annotated[str, typer.Option(help="Of the base's weights: float32 or bfloat16.")] = _USUAL.dtype,
    checkpointing: Annotated[bool, typer.Option(help="Less memory, a third more time.")] = _USUAL.checkpointing,
    minutes: Minutes = 0.0,
    interval: Interval = 10,
    patience: Patience = 4,
    threads: Threads = 0,
    dev_samples: Annotated[int, typer.Option(min=0, help="Looked at at each checkpoint.")] = 24,
    seed: Seed = _USUAL.seed,
    device: Device = "",
    as_json: AsJson = False,
) -> None:
    """Tune a language model by LoRA on samples, and write the adapter as vLLM and llama.cpp serve it."""
    running, long_runs = (import_module(f"quelea_training.{name}") for name in ("writer.running", "long_runs"))
    recipe = Recipe(
        rank=rank,
        alpha=alpha,
        dropout=dropout,
        rate=rate,
        batch=batch,
        accumulate=accumulate,
        max_tokens=max_tokens,
        epochs=epochs,
        warm_up=warm_up,
        dtype=dtype,
        checkpointing=checkpointing,
        seed=seed,
    )
    order = running.Order(tuple(samples), tuple(test_with or ()), base, out, device, dev_samples)
    with plain_errors():
        found = running.run(order, recipe, long_runs.Budget(minutes, interval, patience, threads), say)
    if not long_runs.is_first():
        return
    if as_json:
        tell_json(found)
        return
    tell(found["developed"])
    say(f"written: {', '.join(str(out / name) for name in ('adapter', 'report.json', 'loss.png'))}")
    say(f"a set with it: quelea models make NAME --part adapter={out / 'adapter'} --licence adapter=…")


@app.command("sft-test")
def test(
    samples: Annotated[list[Path], typer.Argument(help="Folders of `quelea train samples`.")],
    system: Annotated[
        list[str], typer.Option(help="NAME=MODEL@URL, the untuned one first; repeatable. URL goes up to /v1.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the test; an interrupted one is resumed.")],
    most: Annotated[int, typer.Option(min=0, help="Questions, at most; 0: all that are held out.")] = 100,
    api_key: Annotated[str, typer.Option(envvar="QUELEA_EVAL_API_KEY", help="Of the models.")] = "",
    as_of: _AsOf = _PLAN.as_of,
    evidence_tokens: _Evidence = _LIMITS.evidence_tokens,
    excerpt_tokens: _Excerpt = _LIMITS.excerpt_tokens,
    max_tokens: _Answer = _LIMITS.max_tokens,
    context_tokens: _Context = _LIMITS.context_tokens,
    home: StackHome = STACK_HOME,
    as_json: AsJson = False,
) -> None:
    """Ask models held-out questions through the generator, with their evidence and without: tuned against untuned."""
    limits = Limits(evidence_tokens, excerpt_tokens, max_tokens, context_tokens)
    with plain_errors(), _plain_failures():
        systems = {}
        for one in system:
            name, equals, address = one.partition("=")
            if not (name and equals and address) or " " in name or name in systems:
                raise BadInput(f"--system must be NAME=MODEL@URL, each name once and without spaces, got {one!r}")
            systems[name] = read_address(address, "--system", home)
        chosen = proof.choose(load((), tuple(samples))[0], most)
        found = proof.test(samples, chosen, systems, limits, out, key=api_key, as_of=as_of, say=say)
    if as_json:
        tell_json(found)
        return
    tell(proof.table(found))
    for name, count in found["failed"].items():
        if count:
            say(f"{name}: {count} questions got no answer; they count as wrong, and {out} says why")
    say(f"written: {out / 'report.json'}, {out / 'report.png'}, and {out / 'metrics.json'} for `quelea models make`")


async def _facts(url: str, key: str) -> list[dict[str, Any]]:
    async with Client(url, key) as client:
        return [one async for one in client.each("/v1/facts", "facts", _PAGE)]


@contextlib.contextmanager
def _plain_failures() -> Iterator[None]:
    """A failure of the product as one of what was given."""
    try:
        yield
    except QueleaError as error:
        raise BadInput(error.message) from error
