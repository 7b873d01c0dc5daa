"""`quelea eval tools`: are the right tools among the first that are found, as in table 1 of FinVerse (2406.06379)?"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from quelea_evaluation.console import AsJson, say, tell_json
from quelea_evaluation.tools.stand import serving, wait_for_index

MODES = ("dense", "lexical", "both")
DEPTH = 10
SETS = [Path("tests/eval/tools.jsonl"), Path("tests/eval/tools_fresh.jsonl"), Path("tests/eval/tools_fresh2.jsonl")]
_TABLE_1 = ("all right 5 %", "all wrong 5 %", "all right 10 %", "all wrong 10 %")
_CONCURRENT = 2

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
        source: The questions' file, without its ending.
        hit_1: One of the needed tools is first.
        all_right_5: Every need is met among the first five.
        all_wrong_5: None is.
    """

    source: str
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


def score(source: str, mode: str, group: str, questions: Sequence[ToolQuestion], tops: Tops) -> ToolScores:
    """Means over the questions."""

    def share(holds: Callable[[ToolQuestion], bool]) -> float:
        return sum(map(holds, questions)) / len(questions) if questions else 0.0

    def hit(k: int) -> float:
        return share(lambda q: met(q, tops[q.id], k) > 0)

    def complete(k: int) -> float:
        return share(lambda q: met(q, tops[q.id], k) == len(q.gold))

    return ToolScores(
        source, mode, group, len(questions), hit(1), hit(5), hit(10), complete(5), 1 - hit(5), complete(10), 1 - hit(10)
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


def measure(
    url: str, asked: dict[str, list[ToolQuestion]], say: Callable[[str], None]
) -> tuple[list[ToolScores], Tops]:
    """Scores of every file's questions by part and mode, and what `both` found."""
    every = [question for part in asked.values() for question in part]
    tops = {}
    for mode in MODES:
        say(f"{len(every)} questions: {mode}")
        tops[mode] = asyncio.run(ask(url, every, mode))
    rows = [
        score(source, mode, name, part, tops[mode])
        for source, questions in asked.items()
        for name, part in groups(questions).items()
        if part
        for mode in MODES
    ]
    return rows, tops["both"]


def table_of(rows: Sequence[ToolScores]) -> Table:
    """hit@k, and the paper's Table 1: every need met, and none, among the first 5 and 10."""
    table = Table("file", "questions", "n", "mode", "hit@1", "hit@5", "hit@10", *_TABLE_1)
    for row in rows:
        hits = (f"{value:.3f}" for value in (row.hit_1, row.hit_5, row.hit_10))
        shares = (row.all_right_5, row.all_wrong_5, row.all_right_10, row.all_wrong_10)
        table.add_row(
            row.source, row.group, str(row.questions), row.mode, *hits, *(f"{100 * value:.1f}" for value in shares)
        )
    return table


def tools(
    questions: Annotated[list[Path], typer.Option(help="Questions, JSON lines; may be given several times.")] = SETS,
    catalogue: Annotated[Path, typer.Option(help="`make tools` makes it.")] = Path(".cache/tools/catalogue.jsonl"),
    model: Annotated[Path, typer.Option(help="The encoder.")] = Path(".cache/models/multilingual-e5-small"),
    home: Annotated[Path, typer.Option(help="Where vectors are kept between runs.")] = Path(".quelea/eval/tools"),
    url: Annotated[str, typer.Option(help="A running gateway, instead of starting one.")] = "",
    misses: Annotated[bool, typer.Option(help="Show the development questions that `both` missed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Right tools among the first 5 and 10: by meaning, by words, and by both; nobody names a category."""
    asked = {path.stem: load(path) for path in questions}
    with contextlib.ExitStack() as stack:
        if url:
            wait_for_index(url, lambda: None, say)
            rows, found = measure(url, asked, say)
        else:
            stand = stack.enter_context(serving(home.resolve(), catalogue.resolve(), model.resolve()))
            wait_for_index(stand.url, stand.check, say)
            rows, found = measure(stand.url, asked, say)
    if as_json:
        tell_json([asdict(row) for row in rows])
    else:
        Console(width=140).print(table_of(rows))
    if misses:
        for question in (one for part in asked.values() for one in part):
            if question.split == "dev" and not met(question, found[question.id], DEPTH):
                say(f"{question.id}\t{question.question}\t{', '.join(found[question.id][:5])}")
