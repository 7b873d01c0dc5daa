"""`quelea eval omni report`: from a run's folder to result.json, values.jsonl, pictures and the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quelea_evaluation.endpoints.prices import Prices
from quelea_evaluation.omni.matrix import TASKS, Matrix
from quelea_evaluation.omni.questions.model import Question, QuestionIndex
from quelea_evaluation.omni.reporting.comparison import LOWER_IS_BETTER, compare
from quelea_evaluation.omni.reporting.page import ITEMS_OF_A_CELL, SHOWN, render
from quelea_evaluation.omni.reporting.results import FORMAT, Verdicts, items_of, read_verdicts, summarize
from quelea_evaluation.omni.runs.spending import spent_on_answers, spent_on_verdicts
from quelea_evaluation.reports.store import (
    BadRun,
    Row,
    RowFile,
    hash_file,
    read_formatted,
    read_manifest,
    write_json,
    write_whole,
)

RUN = "omni-run"
VERDICTS = "omni-verdicts"


@dataclass(frozen=True)
class Run:
    """A run's folder, read."""

    folder: Path
    manifest: Row
    questions: QuestionIndex

    @property
    def answers(self) -> RowFile:
        """Its answers."""
        return RowFile(self.folder / "answers.jsonl")

    def verdict_files(self) -> dict[str, RowFile]:
        """Judge → its verdicts."""
        found = {}
        for folder in sorted((self.folder / "judges").glob("*/")):
            found[read_manifest(folder, VERDICTS)["settings"]["judge"]] = RowFile(folder / "verdicts.jsonl")
        return found


def read_run(folder: Path) -> Run:
    """A run with its questions, a copy of which lies in its folder.

    Raises:
        BadRun: The folder is none of a run, or its questions were changed.
    """
    manifest = read_manifest(folder, RUN)
    file = folder / "questions.jsonl"
    if not file.is_file() or hash_file(file) != manifest["data"]["questions"]:
        raise BadRun(f"{file} is missing or was changed since the run; its answers belong to other questions.")
    return Run(folder, manifest, QuestionIndex(file))


def keep_questions(file: Path, folder: Path) -> None:
    """Keep a copy of the questions in the run's folder, so that its answers stay readable."""
    copy = folder / "questions.jsonl"
    if not copy.exists():
        shutil.copyfile(file, copy.with_name("questions.jsonl.new"))
        copy.with_name("questions.jsonl.new").replace(copy)


def write_report(
    run: Run, matrix: Matrix, against: Path | None = None, *, pictures: bool = True, prices: Prices | None = None
) -> Row:
    """Write result.json, values.jsonl, report.html and PNGs into the run's folder; returns the result.

    Raises:
        BadRun: A file of the run, or the run to compare with, cannot be used.
    """
    verdicts = read_verdicts(run.verdict_files())
    values = run.folder / "values.jsonl"
    scratch = RowFile(values.with_name("values.jsonl.new"))
    scratch.path.unlink(missing_ok=True)
    scratch.path.touch()

    def kept() -> Iterator[Row]:
        items = items_of(run.questions, run.answers.latest(), verdicts, retrieves=_retrieves(run))
        for item in items:
            scratch.append(item)
            yield item

    result = summarize(kept(), len(run.questions))
    scratch.close()
    scratch.path.replace(values)
    result["run"] = describe(run)
    result["spent"] = _spent(run, prices or Prices())
    if against is not None:
        result["comparison"] = {"against": against.name, **compare(read_values(against), RowFile(values))}
    write_json(run.folder / "result.json", result)
    write_whole(run.folder / "report.html", render(result, matrix, _shown(run, verdicts, values)))
    if pictures:
        _draw(run.folder, result, matrix)
    return result


def _spent(run: Run, prices: Prices) -> Row:
    judges = {name: spent_on_verdicts(rows, name, prices) for name, rows in run.verdict_files().items()}
    answers = spent_on_answers(run.answers, run.manifest["settings"], prices)
    return {"currency": prices.currency, "answers": answers, "judges": judges}


def _retrieves(run: Run) -> bool:
    return bool(run.manifest["settings"]["system"] == "quelea")


def describe(run: Run) -> Row:
    """What was run, for the head of the report."""
    sessions = run.manifest["sessions"]
    return {
        **run.manifest["settings"],
        "questions": run.manifest["data"]["questions"],
        "commit": ", ".join(dict.fromkeys(one["commit"][:12] for one in sessions if one["commit"])),
        "started": sessions[0]["started"],
        "sessions": len(sessions),
        "judges": ", ".join(run.verdict_files()),
    }


def read_result(folder: Path) -> Row:
    """result.json of a run.

    Raises:
        BadRun: There is none, or it was written by another version.
    """
    missing = f"{folder} has no result.json; make it with `quelea eval omni report`."
    return read_formatted(folder / "result.json", FORMAT, missing, "make the report again")


def read_values(folder: Path) -> RowFile:
    """values.jsonl beside a result that this version reads.

    Raises:
        BadRun: See `read_result`.
    """
    read_result(folder)
    return RowFile(folder / "values.jsonl")


def find_last(run: Run) -> Path | None:
    """The run beside this one that was last, over the same questions and of the same system, and has a result.

    One that did not keep its gate is no measure for the next: else the same fall would pass the second time.

    Raises:
        BadRun: Its result was written by another version.
    """
    found: list[tuple[str, Path]] = []
    for folder in run.folder.resolve().parent.iterdir():
        if folder == run.folder.resolve() or not (folder / "result.json").is_file():
            continue
        try:
            manifest = read_manifest(folder, RUN)
        except BadRun:
            continue
        same = manifest["data"] == run.manifest["data"]
        if same and manifest["settings"]["system"] == run.manifest["settings"]["system"]:
            found.append((manifest["sessions"][0]["started"], folder))
    kept = (
        folder
        for _, folder in sorted(found, reverse=True)
        if not (read_result(folder).get("gate") or {}).get("breaches")
    )
    return next(kept, None)


def _shown(run: Run, verdicts: Verdicts, values: Path) -> dict[tuple[str, str], list[Row]]:
    """The worst items of each cell, with all that a reader needs to judge them."""
    worst: dict[tuple[str, str], list[tuple[float, str, Row]]] = {}
    for item in RowFile(values):
        held = worst.setdefault((item["topic"], item["task"]), [])
        held.append((_quality(item), item["id"], item["values"]))
        if len(held) > 2 * ITEMS_OF_A_CELL:
            held.sort(key=lambda one: one[:2])
            del held[ITEMS_OF_A_CELL:]
    chosen: dict[str, tuple[tuple[str, str], int, Row]] = {}
    for cell, held in worst.items():
        held.sort(key=lambda one: one[:2])
        chosen |= {one[1]: (cell, at, one[2]) for at, one in enumerate(held[:ITEMS_OF_A_CELL])}
    found: dict[tuple[str, str], list[tuple[int, Row]]] = {}
    texts = _verdict_texts(run, verdicts, set(chosen))
    for answer in run.answers.latest():
        if place := chosen.get(str(answer["id"])):
            cell, at, told = place
            found.setdefault(cell, []).append((at, _item(run.questions[answer["id"]], answer, told, texts)))
    return {cell: [item for _, item in sorted(held, key=lambda one: one[0])] for cell, held in found.items()}


def _quality(item: Row) -> float:
    for name in SHOWN:
        told = item["values"].get(name)
        if told and told["value"] is not None:
            return float(told["value"])
    return 0.0


def _verdict_texts(run: Run, verdicts: Verdicts, questions: set[str]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for judge, rows in run.verdict_files().items() if verdicts else ():
        for row in rows:
            if row["question"] in questions:
                said = row.get("text") or row.get("problem", "")
                line = f"{row['aspect']}, turn {row['turn'] + 1}, {judge}: {row['status']} {row['value']}: {said}"
                texts.setdefault(row["question"], []).append(line)
    return texts


def _item(question: Question, answer: Row, values: Row, verdicts: dict[str, list[str]]) -> Row:
    told = answer["turns"]
    turns = [
        {
            "question": one.question,
            "answers": list(one.answers),
            "answer": told[at]["text"] if at < len(told) else "",
        }
        for at, one in enumerate(question.turns)
    ]
    evidence = [f"relevant · {one.title}, p. {one.page}: {one.text}" for one in question.passages]
    evidence += [
        f"read · {one.get('title', '')}, p. {one.get('page')}: {one.get('text', '')}"
        for turn in told
        for one in turn.get("documents") or ()
    ]
    return {
        "id": question.id,
        "turns": turns,
        "error": answer.get("error", ""),
        "evidence": evidence,
        "verdicts": verdicts.get(question.id, []),
        "values": values,
    }


def _draw(folder: Path, result: Row, matrix: Matrix) -> None:
    from quelea_evaluation.reports.plots import draw_heatmap  # noqa: PLC0415  # matplotlib takes a second

    names = {one.id: one.name["en"] for one in TASKS}
    topics = {one.id: _latin(one.name.get("en", ""), one.id) for one in matrix.topics}
    for cell in result["cells"]:
        topics.setdefault(cell["topic"], cell["topic"])
    for metric in SHOWN:
        lower = metric in LOWER_IS_BETTER
        found = {
            (topics[cell["topic"]], names[cell["task"]]): (cell["failures"], cell["metrics"][metric])
            for cell in result["cells"]
            if cell["metrics"].get(metric, {}).get("mean") is not None
        }
        if found:
            png = draw_heatmap(
                f"{metric}{' (lower is better)' if lower else ''}: {result['run']['system']}",
                list(topics.values()),
                list(names.values()),
                {place: told["mean"] for place, (_, told) in found.items()},
                {place: _cell_text(failures, told) for place, (failures, told) in found.items()},
                lower_is_better=lower,
            )
            (folder / f"{metric}.png").write_bytes(png)


def _cell_text(failures: int, metric: Row) -> str:
    """Mean, n, and in a picture too what failed: a mean over what is left says less."""
    failed = failures + metric["failed"]
    return f"{metric['mean']:.2f}\nn {metric['n']}{f', {failed} failed' if failed else ''}"


def _latin(name: str, otherwise: str) -> str:
    return name if name and name.isascii() else otherwise
