"""`quelea eval checker-cost`: what checking an answer of 20 sentences against 8 passages costs.

The inputs are TAT-QA's and ConvFinQA's: the passages of neighbouring contexts, each passage in one input alone so that
none has been read before, and answers of those contexts, the true ones first, then corrupted ones. A process of its
own checks them all, several times over, each time anew; of each input the least processor time counts, as whatever else
the machine does only adds to it. `--instructions` counts the instructions of some of them under valgrind, which come
out alike within a few in a thousand on any machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import mean, median, quantiles
from typing import Annotated, Any

import typer
from quelea_checker import CheckPassage, check_answer

from quelea_evaluation.console import DATA, AsJson, Data, tell, tell_json
from quelea_evaluation.figures.corruption import corrupt
from quelea_evaluation.figures.items import Item, convfinqa, tatqa

_SENTENCES = 20
_PASSAGES = 8
_SAMPLED = 20
"""Of so many inputs the instructions of one are counted: valgrind takes fifty times as long."""
_LIMIT = 1800
"""Seconds for one process."""

Input = Mapping[str, Any]
"""An answer and its passages, as POST /v1/check takes them."""


@dataclass(frozen=True)
class Cost:
    """Of each input what it costs, in milliseconds of processor time or in millions of instructions."""

    unit: str
    each: Sequence[float]

    def summary(self) -> dict[str, float]:
        """How many inputs, and their mean, median and nine tenths."""
        tenths = quantiles(self.each, n=10) if len(self.each) > 1 else [self.each[0]] * 9
        return {"inputs": len(self.each), "mean": mean(self.each), "median": median(self.each), "p90": tenths[-1]}


def make_inputs(items: Sequence[Item]) -> Iterator[Input]:
    """Inputs of 20 sentences and 8 passages; contexts whose answers are too few are put together with the next."""
    passages: list[dict[str, str]] = []
    answers: list[Item] = []
    for one in _contexts(items):
        if len(passages) < _PASSAGES:
            passages += one[0].passages
            answers += one
        if len(passages) >= _PASSAGES:
            said = [*answers, *chain.from_iterable(map(corrupt, answers))]
            lines = [re.sub(r"\s+", " ", item.answer).strip() for item in said]
            if len(lines) >= _SENTENCES:
                yield {"answer": "\n".join(lines[:_SENTENCES]), "passages": passages[:_PASSAGES]}
            passages, answers = [], []


def _contexts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Items of one context, by its passages, in the set's order."""
    found: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        found.setdefault(tuple(p["text"] for p in item.passages), []).append(item)
    yield from found.values()


def check_inputs(inputs: Sequence[Input]) -> list[float]:
    """Seconds of processor time that each took, passages unread."""
    spent = []
    for one in inputs:
        passages = [CheckPassage(**passage) for passage in one["passages"]]
        start = time.process_time()
        check_answer(one["answer"], passages)
        spent.append(time.process_time() - start)
    return spent


def measure_time(inputs: Sequence[Input], rounds: int) -> Cost:
    """The least time of each input in so many processes."""
    every = [json.loads(_run([sys.executable, "-m", __spec__.name], inputs).stdout) for _ in range(rounds)]
    return Cost("ms", [min(times) * 1000 for times in zip(*every, strict=True)])


def count_instructions(inputs: Sequence[Input]) -> Cost:
    """Millions of instructions of every twentieth input, on average, less what the process takes without any.

    Raises:
        typer.BadParameter: valgrind is not installed.
    """
    some = inputs[::_SAMPLED]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-m", __spec__.name]
    try:
        none, all_ = (
            int(re.findall(r"Collected : (\d+)", _run(command, given).stderr)[0]) for given in (some[:1], some)
        )
    except FileNotFoundError as error:
        raise typer.BadParameter("valgrind is not installed (Debian: apt-get install valgrind)") from error
    return Cost("million instructions", [(all_ - none) / (len(some) - 1) / 1e6])


def _run(command: Sequence[str], inputs: Sequence[Input]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(  # noqa: S603  # our own command line
        command, input=json.dumps(inputs), capture_output=True, text=True, check=True, timeout=_LIMIT, env=environment
    )


def checker_cost(
    data: Data = DATA,
    rounds: Annotated[int, typer.Option(min=1, help="How many times all is checked; the least time counts.")] = 3,
    instructions: Annotated[bool, typer.Option(help="Count instructions under valgrind instead: minutes.")] = False,
    as_json: AsJson = False,
) -> None:
    """What checking 20 sentences against 8 passages costs that were not read before."""
    inputs = list(make_inputs([*tatqa(data), *convfinqa(data)]))
    cost = count_instructions(inputs) if instructions else measure_time(inputs, rounds)
    if as_json:
        tell_json({"unit": cost.unit, **cost.summary()}, None)
        return
    for name, value in cost.summary().items():
        tell(f"{name:8} {value:10.2f}" if name != "inputs" else f"{name:8} {value:7.0f}    ({cost.unit})")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(check_inputs(json.load(sys.stdin))))
