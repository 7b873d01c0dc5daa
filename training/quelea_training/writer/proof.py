"""What a writer does on questions that were held out, asked through the generator: tuned against untuned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from quelea_evaluation.endpoints.client import Address
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.metrics.intervals import compare_paired, mean_interval
from quelea_evaluation.reports.plots import new_figure
from quelea_evaluation.reports.store import RowFile, RunFolder, hash_file, write_json
from quelea_kit.errors import QueleaError, Unavailable

from quelea_training.writer.drafts import FALL, Unit, figures, is_said, markers
from quelea_training.writer.generator import Generator, Limits, running_generator
from quelea_training.writer.model import PRODUCT, SAMPLES, Sample

KIND = "writer-test"
MEASURES = {
    "cites_rightly": "answers that cite passages that answer, and no others",
    "right_figures": "answers with the right figure",
    "declines": "declines where the evidence was taken away",
    "answers": "does not decline where the evidence is there",
}
YOUDEN = "youden"
"""Youden's index (Cancer 1950, 3(1):32-35) of knowing what can be answered: declines + answers - 1. A model that always
declines, or never, has 0."""
_FAILURES = 5
"""Questions in a row without an answer, after which the rest is not asked."""


@dataclass(frozen=True)
class Judged:
    """What one answer is worth; None: the sample does not ask for it."""

    cites_rightly: bool | None
    right_figures: bool | None
    declines: bool | None
    answers: bool | None


def judge(sample: Sample, text: str, declined: bool) -> Judged:
    """Judge a draft by the sample's own passages and figure."""
    if sample.task == "declined":
        return Judged(None, None, declined, None)
    cited = markers(text)
    cites = bool(cited) and cited <= set(sample.right) and not declined
    figure = not declined and _has_figure(sample, text) if sample.figure else None
    return Judged(cites, figure, None, bool(text.strip()) and not declined)


def _has_figure(sample: Sample, text: str) -> bool:
    """Whether the answer's first statement with a figure has the right one; the sample's own answer says its unit."""
    wanted = Decimal(sample.figure)
    unit: Unit = next((one.unit for one in figures(sample.output) if abs(one.value) == abs(wanted)), "")
    if not unit and "= %" in sample.output:
        unit = "%"
    fall_asked = bool(FALL.search(sample.question))
    return any(is_said(one, wanted, unit, fall_asked=fall_asked) for one in figures(text))


def choose(samples: Sequence[Sample], most: int) -> list[Sample]:
    """Held-out samples of the product's tasks, so many questions at most, each with its twin without evidence.

    Raises:
        BadInput: There are none.
    """
    held = [one for one in samples if one.split == "test" and one.task in PRODUCT]
    questions = sorted({one.question for one in held if one.task != "declined"})
    spread = (
        questions if not most else [questions[at * len(questions) // most] for at in range(min(most, len(questions)))]
    )
    if not spread:
        raise BadInput("no question of these samples is held out; make them with --test above 0")
    return [one for one in held if one.question in set(spread)]


def test(
    folders: Sequence[Path],
    samples: Sequence[Sample],
    systems: Mapping[str, Address],
    limits: Limits,
    out: Path,
    *,
    key: str,
    as_of: str,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Ask every system every sample; an interrupted run is resumed. Gives the report, also written to `out`.

    Raises:
        BadRun: The folder holds another test.
        Unavailable: A generator did not start, or five questions in a row got no answer. There is no report then; what
            was answered is kept.
    """
    settings = {**asdict(limits), "as_of": as_of, "systems": {name: one.text for name, one in systems.items()}}
    settings["samples"] = [one.id for one in samples]
    data = {f"samples {folder}": hash_file(folder / SAMPLES) for folder in folders}
    with RunFolder(out, KIND, settings, data) as folder:
        rows = folder.rows("answers")
        for name, address in systems.items():
            done = rows.done(lambda row: not row["error"])  # what failed is asked again
            left = [one for one in samples if f"{name} {one.id}" not in done]
            if not left:
                continue
            log = out / f"generator-{name}.log"
            with running_generator(address.url, address.model, address.key or key, limits, log) as at:
                asyncio.run(_ask(name, at, left, as_of, rows, say))
        by_name = {one.id: one for one in samples}
        judged: dict[str, dict[str, Judged]] = {name: {} for name in systems}
        failed = dict.fromkeys(systems, 0)
        for row in rows.latest():
            name, _, sample = str(row["id"]).partition(" ")
            failed[name] += bool(row["error"])
            judged[name][sample] = judge(by_name[sample], row["text"], bool(row["declined"]))
        found = {"failed": failed, **_report(judged)}
        write_json(out / "report.json", found)
        index = {f"{name}/{YOUDEN}": value for name, value in found[YOUDEN].items()}
        write_json(out / "metrics.json", {name: one["mean"] for name, one in found["means"].items()} | index)
        _draw(found["means"], list(systems), out / "report.png")
        folder.finish({"samples": len(samples)})
    return found


async def _ask(
    name: str, address: str, samples: Sequence[Sample], as_of: str, rows: RowFile, say: Callable[[str], None]
) -> None:
    generator = Generator(address)
    failures = 0
    try:
        for number, one in enumerate(samples, 1):
            row: dict[str, Any] = {"id": f"{name} {one.id}", "task": one.task, "question": one.question, "error": ""}
            try:
                reply = await generator.answer(one, as_of)
                row |= {"text": reply.text, "declined": reply.declined}
                failures = 0
            except QueleaError as error:  # counted as no answer, whoever's fault it was
                row |= {"text": "", "declined": False, "error": error.message}
                failures += 1
            rows.append(row)
            if failures == _FAILURES:
                raise Unavailable(
                    f"{name}: {failures} questions in a row got no answer, the last one: {row['error']} See that its "
                    "model runs, then give the same command: what was answered is kept."
                )
            if number % 10 == 0 or number == len(samples):
                say(f"{name}: {number} of {len(samples)}")
    finally:
        await generator.close()


def _report(judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, Any]:
    means: dict[str, Any] = {}
    differences: dict[str, Any] = {}
    names = list(judged)
    for measure in MEASURES:
        values_of = {
            name: {key: float(value) for key, one in mine.items() if (value := getattr(one, measure)) is not None}
            for name, mine in judged.items()
        }
        for name, mine in values_of.items():
            if (interval := mean_interval(list(mine.values()))) is not None:
                means[f"{name}/{measure}"] = asdict(interval)
        for other in names[1:]:
            both = sorted(values_of[names[0]].keys() & values_of[other].keys())
            paired = compare_paired([values_of[names[0]][key] for key in both], [values_of[other][key] for key in both])
            if paired is not None:
                differences[f"{other} − {names[0]}/{measure}"] = asdict(paired)
    return {"means": means, "differences": differences, YOUDEN: _youden(means, names)}


def _youden(means: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    both = {name: (means.get(f"{name}/declines"), means.get(f"{name}/answers")) for name in names}
    return {name: one["mean"] + other["mean"] - 1 for name, (one, other) in both.items() if one and other}


def table(found: Mapping[str, Any]) -> str:
    """Markdown: each measure of each system, then the differences, with their intervals."""
    lines = ["| system | measure | n | share | 95 % |", "|---|---|---|---|---|"]
    for name, one in found["means"].items():
        system, _, measure = name.rpartition("/")
        lines.append(
            f"| {system} | {measure} | {one['n']} | {one['mean']:.3f} | {one['low']:.3f} to {one['high']:.3f} |"
        )
    lines += [f"| {name} | declines + answers − 1 (Youden) | | {one:.3f} | |" for name, one in found[YOUDEN].items()]
    lines += ["", "| difference | measure | points | 95 % | p |", "|---|---|---|---|---|"]
    for name, one in found["differences"].items():
        system, _, measure = name.rpartition("/")
        ends = f"{100 * one['low']:+.1f} to {100 * one['high']:+.1f}"
        lines.append(f"| {system} | {measure} | {100 * one['difference']:+.1f} | {ends} | {one['p']:.3f} |")
    return "\n".join(lines)


def _draw(means: Mapping[str, Any], systems: Sequence[str], path: Path) -> None:
    figure, axes = new_figure()
    width = 0.8 / len(systems)
    for at, system in enumerate(systems):
        mine = [means.get(f"{system}/{measure}") for measure in MEASURES]
        heights = [one["mean"] if one else 0.0 for one in mine]
        ends = [
            [one["mean"] - one["low"] if one else 0 for one in mine],
            [one["high"] - one["mean"] if one else 0 for one in mine],
        ]
        places = [place + at * width for place in range(len(MEASURES))]
        axes.bar(places, heights, width * 0.95, yerr=ends, capsize=3, label=system)
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(MEASURES))], list(MEASURES))
    axes.set_ylim(0, 1)
    axes.legend()
    figure.savefig(path, dpi=110)
