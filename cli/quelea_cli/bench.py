"""`make bench`: how fast the product is on this machine, measured on a running stack.

The ask path is measured on about 5,000 passages: the sample filings and as many variants of their pages as it takes,
with other company names and other figures. Encoder and ingestion are measured by their services' own benches, as
ratios within one run, so that what else the machine does slows both sides.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_client import Answer, Client, Delta, Quotes

from quelea_cli.commands.docs import all_documents
from quelea_cli.commands.ingest import Upload, find_files, run
from quelea_cli.errors import CliError
from quelea_cli.output import Json, consoles

_VARIANT_PAGES = 25
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_BENCH_SECONDS = 900
_ASKED = 3
"""Each question is asked so often; the first round warms up and is not counted."""
_OF_MODEL = 12
"""Questions that the language model of this machine is asked, drawn evenly from all."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Measure:
    """One figure beside what it should be."""

    name: str
    value: float
    unit: str
    target: str
    good: bool


def variant(pages: list[str], number: int) -> str:
    """A text document of the pages, as another company's: same words, other names and figures."""
    chance = random.Random(number)  # noqa: S311  # repeatable, nothing secret

    def other(match: re.Match[str]) -> str:
        return "".join(str(chance.randrange(10)) if c.isdigit() else c for c in match.group())

    name = f"Northfield{number:03d}"
    text = "\n\n".join(pages)
    return _NUMBER.sub(other, re.sub(r"\b(?:Apple|NVIDIA)\b", name, text))


def fill(gateway: Client, samples: Path, wanted: int, say: Say) -> int:
    """Ingest until there are about so many passages; returns how many there are."""
    uploads, _ = find_files([samples / "filings"])
    _, err = consoles()
    run(gateway, uploads, {}, err, short=True)
    documents, _ = all_documents(gateway, 10_000)
    there = sum(int(one["passages"]) for one in documents)
    originals = [one for one in documents if one["uri"].endswith(".pdf")]
    pages = [
        str(gateway.request("GET", f"/v1/documents/{one['id']}/pages/{page}")["text"])
        for one in originals
        for page in range(1, int(one["pages"]) + 1)
    ]
    number = len(documents) - len(originals)
    with tempfile.TemporaryDirectory() as folder:
        while there < wanted:
            say(f"{there} of {wanted} passages")
            batch = []
            for _ in range(max(1, min(10, (wanted - there) // 80))):
                first = number * _VARIANT_PAGES % max(len(pages) - _VARIANT_PAGES, 1)
                path = Path(folder) / f"variant-{number:03d}.txt"
                path.write_text(variant(pages[first : first + _VARIANT_PAGES], number), encoding="utf-8")
                batch.append(Upload(path, f"upload:{path.name}"))
                number += 1
            run(gateway, batch, {}, err, quiet=True)
            failed = [one.error for one in batch if one.error]
            if failed:
                raise CliError(f"A variant could not be ingested: {failed[0]}")
            there = sum(int(one["passages"]) for one in all_documents(gateway, 10_000)[0])
    return there


def ask_path(gateway: Client, samples: Path, passages: int) -> list[Measure]:
    """The questions of the samples, one after the other."""
    questions = _questions(samples)
    totals: list[float] = []
    overheads: list[float] = []
    for turn in range(_ASKED + 1):
        for question in questions:
            text = question + "?" * turn  # never the same text twice: the encoder remembers queries
            timings = gateway.request("POST", "/v1/ask", json={"question": text})["timings"]
            if turn:
                totals.append(timings["total"])
                overheads.append(timings["gateway"])
    middle, high = statistics.median(totals), statistics.quantiles(overheads, n=20)[-1]
    return [
        Measure(f"ask, p50 at {passages} passages", middle, "ms", "< 300", middle < 300),
        Measure("ask, p95", statistics.quantiles(totals, n=20)[-1], "ms", "", True),
        Measure("gateway's own part, p95", high, "ms", "< 25", high < 25),
    ]


def small_model(gateway: Client, samples: Path) -> list[Measure]:
    """The language model of this machine on some of the samples' questions: first word and whole answer, one by one.

    Questions that statements answer are not asked of it: they count among all, and not among those that it wrote.
    """
    questions = _questions(samples)
    questions = questions[:: max(1, len(questions) // _OF_MODEL)][: _OF_MODEL + 1]
    _timed(gateway, questions[0])  # it reads its rules once
    found = [_timed(gateway, question) for question in questions[1:]]
    written = [one for one in found if one.by_model]
    if not written:
        raise CliError("The language model wrote none of the answers; the log of the generator may say why.")
    some = f"{len(written)} of {len(found)} answers by the model"
    return [
        *_spread("first words shown, model or quotes", [one.first_shown for one in found], 8.0),
        *_spread(f"first word of the answer, {some}", [one.first_word for one in written], 8.0),
        *_spread("whole answer of the model", [one.whole for one in written], 15.0),
    ]


@dataclass(frozen=True)
class _Timed:
    """Seconds from the question."""

    first_shown: float
    first_word: float
    whole: float
    by_model: bool


def _timed(gateway: Client, question: str) -> _Timed:
    began = time.perf_counter()
    shown: float | None = None
    word: float | None = None
    whole, by_model = 0.0, False
    for event in gateway.stream(question, route="local"):
        now = time.perf_counter() - began
        if isinstance(event, Quotes | Delta | Answer):
            shown = now if shown is None else shown
        if isinstance(event, Delta | Answer):
            word = now if word is None else word
        if isinstance(event, Answer):
            whole, by_model = now, event.reader == "openai" and not event.declined
    return _Timed(shown or 0.0, word or 0.0, whole, by_model)


def _spread(name: str, seconds: list[float], wanted: float) -> list[Measure]:
    middle, high = statistics.median(seconds), max(seconds)
    target = f"< {wanted:g}"
    return [
        Measure(f"{name}, p50", middle, "s", target, middle < wanted),
        Measure(f"{name}, longest", high, "s", target, high < wanted),
    ]


def _questions(samples: Path) -> list[str]:
    with (samples / "questions/filings.csv").open(encoding="utf-8", newline="") as file:
        return [row["Question"] for row in csv.DictReader(file)]


def encoder() -> list[Measure]:
    """32 callers against one, and against the encoder's own best."""
    found = _bench("quelea_embedder.bench", "--json")
    queries, passages = found["query_ratio"], found["passage_ratio"]
    return [
        Measure("32 callers, a query each, against one", queries, "×", "≥ 3", queries >= 3),
        Measure("32 callers, a passage each, against the best", passages, "×", "≥ 0.85", passages >= 0.85),
    ]


def ingestion(ports: dict[str, int], secret: Path, samples: Path) -> list[Measure]:
    """Filings end to end: two against the encoder's own rate, and the seconds of one of 100 pages.

    Args:
        ports: Of the services, by name.
        secret: File of the stack's secret, which the services ask of one another.
        samples: Folder of the samples.
    """
    at = {name: f"127.0.0.1:{ports[name]}" for name in ("embedder", "search")}
    files = [str(path) for path in sorted((samples / "filings").glob("*.pdf"))]
    services = ("--embedder", at["embedder"], "--search", at["search"], "--json")
    shown = {"QUELEA_STACK_SECRET": secret.read_text(encoding="utf-8")}
    two = _bench("quelea_search.bench", *services, *files[:2], **shown)
    long = _bench("quelea_search.bench", *services, "--pages", "100", *files, **shown)
    return [
        Measure("ingestion against the encoder's rate", two["ratio"], "×", "≥ 0.8", two["ratio"] >= 0.8),
        Measure("a filing of 100 pages", long["seconds"], "s", "< 15", long["seconds"] < 15),
    ]


def _bench(module: str, *arguments: str, **environment: str) -> Json:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(  # noqa: S603  # our own command line
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=_BENCH_SECONDS,
        env={**os.environ, **environment},
    )
    if done.returncode:
        raise CliError(f"{module} failed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
