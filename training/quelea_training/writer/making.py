"""From folders of pairs, stored facts, the operator's answers and recorded runs to a folder of samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput

from quelea_training.pairs.making import read_manifest
from quelea_training.pairs.model import Pairs, read_pairs
from quelea_training.writer import agent_runs, facts, questions, tatqa, weaverbird
from quelea_training.writer.generator import Limits, write_prompts
from quelea_training.writer.model import PRODUCT, Message, Sample, refuse_held_out, write_samples
from quelea_training.writer.questions import Answered, Shape

_DIGITS = re.compile(r"\{([^{}]*)\}")
_FIGURE = re.compile(r"\d[\d,.]*(?=\s*\[)")


@dataclass(frozen=True)
class Plan:
    """What decides a folder, beside what it is made from; all of it is in the manifest."""

    seed: int = 0
    dev: float = 0.1
    test: float = 0.2
    passages: int = 4
    most: int = 0
    """Samples of a task and split, at most; 0: all."""
    as_of: str = "2026-01-01"
    """The current date of the prompts."""


@dataclass(frozen=True)
class Given:
    """What samples are made from."""

    pairs: Sequence[Path] = ()
    data: Path = Path()
    stored: Sequence[Mapping[str, Any]] = ()
    """Facts of the documents that these pairs are from."""
    answers: Path | None = None
    runs: Path | None = None
    licence: str = ""


def make(out: Path, given: Given, plan: Plan, limits: Limits, say: Callable[[str], None]) -> list[Sample]:
    """Make the samples, have the generator write their prompts, and write the folder.

    Raises:
        BadInput: Nothing came of it, or something given cannot be read.
        BadRun: A folder of pairs has no manifest.
        Unavailable: The generator did not start.
    """
    dropped: Counter[str] = Counter()
    made: list[Sample] = []
    held: list[Mapping[str, Sequence[str]]] = []
    hashes: dict[str, str] = {}
    everything: list[Pairs] = []
    for folder in given.pairs:
        manifest = read_manifest(folder)
        held.append(manifest["held_out"])
        hashes[folder.name] = manifest["files"]["pairs.jsonl"]
        found = read_pairs(folder)
        answered: dict[tuple[str, str], Answered] = {}
        if any(pair.source == tatqa.NAME for pair in found.pairs):
            answered |= tatqa.answered(given.data)
        if given.stored:
            found, known = facts.ask_facts(given.stored, found, seed=plan.seed, dev=plan.dev, test=plan.test)
            answered |= known
        everything.append(found)
        made += questions.samples_of(answered, found, Shape(plan.passages, plan.seed))
        made += weaverbird.samples_of(found, answered)
    if given.answers:
        made += weaverbird.open_questions(given.answers, given.licence, seed=plan.seed, dev=plan.dev, test=plan.test)
    if given.runs:
        tested = {pair.document for pairs in everything for pair in pairs.pairs if pair.split == "test"}
        test = [one for pairs in everything for one in pairs.passages.values() if one.document in tested]
        recorded, lost = agent_runs.samples_of(
            given.runs, given.licence, test, seed=plan.seed, dev=plan.dev, test_share=plan.test
        )
        made += recorded
        dropped.update(lost)
    made = _without_leaks(made, held, dropped)
    chosen = _at_most(list({one.id: one for one in made}.values()), plan.most)
    dropped["over the most of a task"] += len(made) - len(chosen)
    versions = {name: metadata.version(name) for name in ("quelea-training", "quelea-generator")}
    written, versions["prompt"] = _with_prompts(chosen, plan, limits, out / "generator.log", dropped, say)
    about = {"settings": {**asdict(plan), **asdict(limits)}, "dropped": dict(dropped), "versions": versions}
    write_samples(out, written, {**about, "pairs": hashes})
    return written


def _without_leaks(
    made: Sequence[Sample], held: Sequence[Mapping[str, Sequence[str]]], dropped: Counter[str]
) -> list[Sample]:
    kept = []
    for one in made:
        try:
            refuse_held_out([one], held)
            kept.append(one)
        except BadInput:
            dropped["what is tested with"] += 1
    return kept


def _at_most(made: Sequence[Sample], most: int) -> list[Sample]:
    """The first by id of each task and split: the ids are hashes, so that is a sample, and the same every time."""
    if not most:
        return list(made)
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for one in sorted(made, key=lambda one: one.id):
        counts[one.task, one.split] += 1
        if counts[one.task, one.split] <= most:
            kept.append(one)
    return kept


def _with_prompts(
    made: Sequence[Sample],
    plan: Plan,
    limits: Limits,
    log: Path,
    dropped: Counter[str],
    say: Callable[[str], None],
) -> tuple[list[Sample], str]:
    product = [one for one in made if one.task in PRODUCT]
    written = [one for one in made if one.task not in PRODUCT]
    if not product:
        return written, ""
    say(f"the generator writes {len(product)} prompts")
    prompts, version = write_prompts(product, limits, log, plan.as_of)
    for one, messages in zip(product, prompts, strict=True):
        if _shows(messages, one):
            written.append(replace(one, messages=messages))
        else:
            dropped["the excerpt leaves out what answers"] += 1
    return written, version


def _shows(messages: Sequence[Message], sample: Sample) -> bool:
    """Whether the prompt has the figures that the answer points at, and the passages that it cites."""
    said = messages[-1]["content"]
    pointed = [m[0] for group in _DIGITS.findall(sample.output) for m in _FIGURE.finditer(group)]
    return all(one in said for one in pointed) and all(f"[{at}] " in said for at in sample.right)
