"""`quelea eval tools`: are the right tools among the first that are found, as in table 1 of FinVerse (2406.06379)?"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import httpx2
import typer
from rich.console import Console
from rich.table import Table

MODES = ("dense", "lexical", "both")
DEPTH = 10
_CONCURRENT = 2
_INDEX_SECONDS = 1800.0

Tops = dict[str, list[str]]
"""Names by the question's id, best first."""


@dataclass(frozen=True)
class ToolQuestion:
    """A question with the tools that answer it.

    Attributes:
        gold: What is needed, each need as the tools of which any one will do.
    """

    id: str
    question: str
    language: str
    style: str
    group: str
    gold: tuple[frozenset[str], ...]

    @property
    def split(self) -> str:
        """ "dev" or "held-out", by a hash of the id: half each, and nobody chose."""
        return "dev" if int(hashlib.sha256(self.id.encode()).hexdigest(), 16) % 2 else "held-out"


@dataclass(frozen=True)
class ToolScores:
    """Shares of the questions, 0 to 1.

    Attributes:
        hit_1: One of the needed tools is first.
        all_right_5: Every need is met among the first five.
        all_wrong_5: None is.
    """

    mode: str
    group: str
    questions: int
    hit_1: float
    hit_5: float
    hit_10: float
    all_right_5: float
    all_wrong_5: float
    all_right_10: float
    all_wrong_10: float


def load(path: Path) -> list[ToolQuestion]:
    """The questions of a JSON lines file."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        gold = tuple(frozenset(need) for need in said["gold"])
        found.append(ToolQuestion(said["id"], said["question"], said["language"], said["style"], said["group"], gold))
    return found


def met(question: ToolQuestion, top: Sequence[str], k: int) -> int:
    """How many of its needs are met among the first k."""
    first = frozenset(top[:k])
    return sum(1 for need in question.gold if need & first)


def score(mode: str, group: str, questions: Sequence[ToolQuestion], tops: Tops) -> ToolScores:
    """Means over the questions."""

    def share(holds: Callable[[ToolQuestion], bool]) -> float:
        return sum(map(holds, questions)) / len(questions) if questions else 0.0

    def hit(k: int) -> float:
        return share(lambda q: met(q, tops[q.id], k) > 0)

    def complete(k: int) -> float:
        return share(lambda q: met(q, tops[q.id], k) == len(q.gold))

    return ToolScores(
        mode, group, len(questions), hit(1), hit(5), hit(10), complete(5), 1 - hit(5), complete(10), 1 - hit(10)
    )


def groups(questions: Sequence[ToolQuestion]) -> dict[str, list[ToolQuestion]]:
    """All, both halves, and parts of the held-out half."""
    held = [q for q in questions if q.split == "held-out"]
    found = {
        "all": list(questions),
        "dev": [q for q in questions if q.split == "dev"],
        "held-out": held,
        "held-out, Chinese": [q for q in held if q.language == "zh"],
        "held-out, English": [q for q in held if q.language == "en"],
        "held-out, as users say it": [q for q in held if q.style == "user"],
        "held-out, as documented": [q for q in held if q.style == "docs"],
    }
    return found | {f"all, {name}": [q for q in questions if q.group == name] for name in {q.group for q in questions}}


async def ask(url: str, questions: Sequence[ToolQuestion], mode: str) -> Tops:
    """The first ten of every question, from a gateway."""
    gate = asyncio.Semaphore(_CONCURRENT)
    async with httpx2.AsyncClient(base_url=url, timeout=120, trust_env=False) as web:

        async def one(question: ToolQuestion) -> tuple[str, list[str]]:
            async with gate:
                answer = await web.get("/v1/tools", params={"q": question.question, "k": DEPTH, "mode": mode})
            return question.id, [tool["name"] for tool in answer.raise_for_status().json()["tools"]]

        return dict(await asyncio.gather(*(one(question) for question in questions)))


def wait_for_index(url: str, say: Callable[[str], None]) -> None:
    """Until the gateway has indexed its catalogue."""
    end, said = time.monotonic() + _INDEX_SECONDS, False
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as web:
        while time.monotonic() < end:
            with contextlib.suppress(httpx2.HTTPError):
                answer = web.get("/v1/tools", params={"q": "x", "k": 1})
                if answer.status_code == 200:
                    return
            if not said:
                say("the catalogue is being indexed; minutes the first time")
                said = True
            time.sleep(1)
    raise RuntimeError(f"the catalogue was not indexed within {_INDEX_SECONDS:.0f} s")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def parts(home: Path, catalogue: Path, model: Path) -> Iterator[dict[str, str]]:
    """Embedder, retriever and catalogue, as processes on a home that is kept; their addresses by name.

    Vectors are kept there by the hash of their texts, so only what changed is embedded again.
    """
    home.mkdir(parents=True, exist_ok=True)
    addresses = {name: f"127.0.0.1:{_free_port()}" for name in ("embedder", "vectors", "retriever", "tools")}
    kept = ["quelea_evaluation.vector_cache", addresses["vectors"], addresses["embedder"], str(home / "vectors.sqlite")]
    plan: dict[tuple[str, ...], dict[str, str]] = {
        ("quelea_embedder",): {"QUELEA_EMBEDDER_LISTEN": addresses["embedder"], "QUELEA_EMBEDDER_MODEL": str(model)},
        tuple(kept): {},
        ("quelea_retriever",): {
            "QUELEA_RETRIEVER_LISTEN": addresses["retriever"],
            "QUELEA_RETRIEVER_EMBEDDER": addresses["vectors"],
            "QUELEA_RETRIEVER_DATA_DIR": str(home / "index"),
        },
        ("quelea_sandbox.registry.serve",): {
            "QUELEA_SANDBOX_LISTEN": addresses["tools"],
            "QUELEA_SANDBOX_TOOLS_FILE": str(catalogue),
            "QUELEA_SANDBOX_TOOL_HEALTH_FILE": str(home / "tool-health.json"),
        },
    }
    with _processes(plan, home / "evaluation.log"):
        yield addresses


@contextlib.contextmanager
def serving(home: Path, catalogue: Path, model: Path) -> Iterator[str]:
    """The same with a gateway; yields its URL."""
    http = f"127.0.0.1:{_free_port()}"
    with parts(home, catalogue, model) as addresses:
        settings = {
            "QUELEA_GATEWAY_HTTP_LISTEN": http,
            "QUELEA_GATEWAY_AUTH": "off",
            "QUELEA_GATEWAY_RETRIEVER": addresses["retriever"],
            "QUELEA_GATEWAY_TOOLS": addresses["tools"],
        }
        with _processes({("quelea_gateway",): settings}, home / "gateway.log"):
            yield f"http://{http}"


@contextlib.contextmanager
def _processes(plan: dict[tuple[str, ...], dict[str, str]], log_file: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(log_file.open("w"))
        for arguments, settings in plan.items():
            process = subprocess.Popen(  # noqa: S603  # our own command line
                [sys.executable, "-m", *arguments], env={**os.environ, **settings}, stdout=log, stderr=subprocess.STDOUT
            )
            stack.callback(_end, process)
        yield


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()


def tools(
    questions: Annotated[Path, typer.Option(help="The questions, JSON lines.")] = Path("tests/eval/tools.jsonl"),
    catalogue: Annotated[Path, typer.Option(help="`make tools` makes it.")] = Path(".cache/tools/catalogue.jsonl"),
    model: Annotated[Path, typer.Option(help="The encoder.")] = Path(".cache/models/multilingual-e5-small"),
    home: Annotated[Path, typer.Option(help="Where the index is kept between runs.")] = Path(".quelea/eval/tools"),
    url: Annotated[str, typer.Option(help="A running gateway, instead of starting one.")] = "",
    misses: Annotated[bool, typer.Option(help="Show the development questions that `both` missed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Right tools among the first 5 and 10: by meaning, by words, and by both; nobody names a category."""
    asked = load(questions)

    def say(line: str) -> None:
        sys.stderr.write(line + "\n")

    with (
        serving(home.resolve(), catalogue.resolve(), model.resolve()) if not url else contextlib.nullcontext(url) as at
    ):
        wait_for_index(at, say)
        tops = {}
        for mode in MODES:
            say(f"{len(asked)} questions: {mode}")
            tops[mode] = asyncio.run(ask(at, asked, mode))
    rows = [score(mode, name, part, tops[mode]) for name, part in groups(asked).items() if part for mode in MODES]
    if as_json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1) + "\n")
        return
    table = Table("questions", "n", "mode", "hit@1", "hit@5", "hit@10", "all right 5", "all wrong 5", "10", "10")
    for row in rows:
        values = asdict(row)
        cells = [f"{100 * value:.1f}" for name, value in values.items() if name not in ("mode", "group", "questions")]
        table.add_row(row.group, str(row.questions), row.mode, *cells)
    Console(width=140).print(table)
    if misses:
        for question in asked:
            if question.split == "dev" and not met(question, tops["both"][question.id], DEPTH):
                say(f"{question.id}\t{question.question}\t{', '.join(tops['both'][question.id][:5])}")
