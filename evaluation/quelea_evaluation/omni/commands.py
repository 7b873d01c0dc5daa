"""`quelea eval omni …`: OmniEval on your own documents."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from quelea_evaluation.omni.cases import BadCases, read_cases
from quelea_evaluation.omni.scoring import COMPAT, score

if TYPE_CHECKING:
    from quelea_evaluation.omni.judges import Aspect
    from quelea_evaluation.omni.report import Run
    from quelea_evaluation.omni.systems import System

app = typer.Typer(no_args_is_help=True, help="OmniEval: topics × tasks, on your own documents, for any system.")

T = TypeVar("T")
Concurrency = Annotated[int, typer.Option(help="Requests at a time.", min=1, max=64)]
Seconds = Annotated[float, typer.Option(help="Deadline of a request.", min=1, max=3600)]
Key = Annotated[
    str, typer.Option(envvar="QUELEA_EVAL_API_KEY", help="Sent as bearer token; better given by the environment.")
]
TreeFile = Annotated[Path | None, typer.Option("--tree", help="Another tree of topics, TOML or JSON like matrix.toml.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@app.callback()
def _main() -> None:
    """OmniEval: topics × tasks, on your own documents, for any system."""


def _out(text: str) -> None:
    sys.stdout.write(text + "\n")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What is wrong with files, folders and endpoints as one sentence and exit code 1."""
    from quelea_evaluation.judging.endpoint import EndpointError  # noqa: PLC0415  # httpx2; `score` does without
    from quelea_evaluation.omni.comparison import BadThresholds  # noqa: PLC0415  # numpy; see above
    from quelea_evaluation.omni.matrix import BadMatrix  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.questions import BadQuestions  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.work import Gone  # noqa: PLC0415  # see above
    from quelea_evaluation.reports.store import BadRun  # noqa: PLC0415  # see above

    try:
        yield
    except (BadMatrix, BadQuestions, BadRun, BadThresholds, EndpointError, Gone) as error:
        _say(f"error: {error}")
        raise typer.Exit(1) from error


@contextmanager
def _progress(what: str, total: int) -> Iterator[Any]:
    """A bar on standard error; the function that it gives sets how many are done, and a note."""
    from rich.console import Console  # noqa: PLC0415  # see `_plain_errors`
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note="": bar.update(task, completed=done, note=note)


def _run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@app.command("score")
def score_cases(
    cases: Annotated[
        Path, typer.Option(help="JSON or JSONL: pred, golds, and retrieved and relevant (ids) where they are known.")
    ],
    compat: Annotated[
        str, typer.Option(help=f"“{COMPAT}”: what its published code computes, where that differs from its paper.")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Exit code 1 when a value differs from the one that the file states.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rule metrics of answers in a file: EM, F1, ROUGE-1/2/L, MAP, MRR. Nothing needs to run."""
    if compat not in ("", COMPAT):
        raise typer.BadParameter(f"--compat knows {COMPAT}, not {compat!r}")
    try:
        result = score(read_cases(cases), compat == COMPAT)
    except BadCases as error:
        raise typer.BadParameter(str(error)) from error
    different = result["expected"]["different"]
    if as_json:
        _out(json.dumps(result, ensure_ascii=False, indent=1))
    else:
        _out(f"{result['n']} cases, definitions of {'the published code' if compat else 'the paper'}")
        for name, of in result["definitions"].items():
            value = result["mean"][name]
            _out(f"{name:8}{'-' if value is None else format(value, '.4f'):>8}  {of}, n = {result['counted'][of]}")
    if different:
        _say(f"{len(different)} of {result['expected']['compared']} values differ from those that the file states")
    if different and check:
        raise typer.Exit(1)


@app.command("run")
def run_system(
    questions: Annotated[Path, typer.Argument(help="questions.jsonl, or the folder of `generate`.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; one that was broken off goes on.")],
    system: Annotated[str, typer.Option(help="“quelea”, or the URL of an OpenAI-compatible endpoint.")] = "quelea",
    model: Annotated[str, typer.Option(help="Name of the endpoint's model.")] = "",
    passages: Annotated[
        str, typer.Option(help="Of an endpoint: “given” shows it the relevant passages, “none” is closed book.")
    ] = "none",
    gateway: Annotated[str, typer.Option(help="Where Quelea listens.")] = "http://127.0.0.1:8080",
    route: Annotated[str, typer.Option(help="Of Quelea: auto, local or web.")] = "local",
    concurrency: Concurrency = 4,
    seconds: Seconds = 300.0,
    api_key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Put every question to a system, conversations turn by turn; resumable, failures recorded."""
    from quelea_evaluation.judging.endpoint import Chat  # noqa: PLC0415  # see `_plain_errors`
    from quelea_evaluation.omni.questions import questions_file, read_questions  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.report import RUN, keep_questions  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.running import Progress, ask_all  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.systems import ChatSystem, Quelea  # noqa: PLC0415  # see above
    from quelea_evaluation.reports.store import RunFolder, hash_file  # noqa: PLC0415  # see above

    if passages not in ("given", "none"):
        raise typer.BadParameter(f"--passages must be given or none, not {passages!r}")
    if route not in ("auto", "local", "web"):
        raise typer.BadParameter(f"--route must be auto, local or web, not {route!r}")
    if system != "quelea" and not model:
        raise typer.BadParameter("--model must name the endpoint's model")
    with _plain_errors():
        file = questions_file(questions)
        total = sum(1 for _ in read_questions(file))
        if not total:
            _say(f"error: {file} holds no questions; make some with `quelea eval omni generate`")
            raise typer.Exit(1)
        target: System
        if system == "quelea":
            target = Quelea(gateway, api_key, route, seconds)
            settings = {"system": "quelea", "route": route}
        else:
            target = ChatSystem(Chat(system, model, api_key, seconds), given=passages == "given")
            settings = {"system": target.name, "model": model, "passages": passages}
        notes = {"address": gateway if system == "quelea" else system, "concurrency": concurrency}
        with RunFolder(out, RUN, settings, {"questions": hash_file(file)}, notes) as folder:
            keep_questions(file, out)
            rows = folder.rows("answers")

            async def work() -> Progress:
                try:
                    with _progress("questions", total) as show:
                        return await ask_all(
                            read_questions(out / "questions.jsonl"),
                            target,
                            rows,
                            concurrency,
                            lambda one: show(one.before + one.done, f"{one.failures} failed"),
                        )
                finally:
                    await target.close()
                    rows.close()

            _run(work())
            failures = sum("error" in one for one in rows.latest())
            summary = {"questions": total, "answers": total - failures, "failures": failures}
            folder.finish(summary)
    _out(
        json.dumps(summary) if as_json else f"{total} questions, {failures} failed; next: quelea eval omni report {out}"
    )


@app.command("judge")
def judge_run(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    judge: Annotated[list[str], typer.Option(help="MODEL@URL of an OpenAI-compatible endpoint; several may judge.")],
    aspects: Annotated[
        str,
        typer.Option(help="Of accuracy, completeness, utilization, hallucination, numerical_accuracy; all if empty."),
    ] = "",
    concurrency: Concurrency = 4,
    seconds: Seconds = 300.0,
    api_key: Key = "",
    as_json: AsJson = False,
) -> None:
    """ACC, COM, UTL, HAL and NAC by language models; a verdict that cannot be read is counted, never dropped."""
    from quelea_evaluation.omni.report import read_run  # noqa: PLC0415  # see `_plain_errors`

    chosen = _aspects(aspects)
    for one in judge:
        if not one.partition("@")[0] or "://" not in one.rpartition("@")[2]:
            raise typer.BadParameter(f"--judge must be MODEL@URL, not {one!r}")
    with _plain_errors():
        found = read_run(run)
        summary = {one: _judge_with(found, one, chosen, concurrency, seconds, api_key) for one in judge}
    if as_json:
        _out(json.dumps(summary))
        return
    for name, counts in summary.items():
        _out(f"{name}: {counts['verdicts']} verdicts, {counts['failed']} failed, {counts['tokens']} tokens")


def _aspects(named: str) -> tuple[Aspect, ...]:
    from quelea_evaluation.omni.judges import ASPECTS  # noqa: PLC0415  # see `_plain_errors`

    wanted = [one.strip() for one in named.split(",") if one.strip()] or [one.id for one in ASPECTS]
    known = {name: one for one in ASPECTS for name in (one.id, one.short, one.short.lower())}
    if unknown := [one for one in wanted if one not in known]:
        raise typer.BadParameter(f"no aspect is called {unknown[0]}; there are {', '.join(one.id for one in ASPECTS)}")
    return tuple(known[one] for one in wanted)


def _judge_with(
    run: Run, judge: str, aspects: tuple[Aspect, ...], concurrency: int, seconds: float, key: str
) -> dict[str, int]:
    from quelea_evaluation.judging.endpoint import Chat  # noqa: PLC0415  # see `_plain_errors`
    from quelea_evaluation.omni.judges import judge_all, tasks_of  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.matrix import LANGUAGES  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.prompts import load_prompts  # noqa: PLC0415  # see above
    from quelea_evaluation.omni.report import VERDICTS  # noqa: PLC0415  # see above
    from quelea_evaluation.reports.store import RunFolder  # noqa: PLC0415  # see above

    model, _, url = judge.rpartition("@")
    versions = {one: load_prompts(one).version for one in LANGUAGES}
    folder = run.folder / "judges" / re.sub(r"[^A-Za-z0-9._-]+", "_", model).strip(".")[:80]
    notes = {"address": url, "concurrency": concurrency}
    with RunFolder(folder, VERDICTS, {"judge": model, "prompts": versions}, {}, notes) as kept:
        rows = kept.rows("verdicts")

        def tasks() -> Iterator[Any]:
            for answer in run.answers.latest():
                if question := run.questions.get(str(answer["id"])):
                    yield from tasks_of(question, answer, aspects)

        async def work() -> None:
            chat = Chat(url, model, key, seconds)
            try:
                with _progress(f"verdicts of {model}", sum(1 for _ in tasks())) as show:
                    await judge_all(tasks(), chat, rows, concurrency, lambda done, bad: show(done, f"{bad} failed"))
            finally:
                await chat.close()
                rows.close()

        _run(work())
        counts = {"verdicts": 0, "failed": 0, "tokens": 0}
        for row in rows.latest():
            counts["verdicts"] += 1
            counts["failed"] += row["status"] != "given"
            counts["tokens"] += row["prompt_tokens"] + row["completion_tokens"]
        kept.finish(counts)
        return counts


@app.command("report")
def report_run(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    against: Annotated[Path | None, typer.Option(help="Another run over the same questions: a paired test.")] = None,
    gate: Annotated[
        Path | None,
        typer.Option(help="YAML with limits: exit code 1 when one is passed, or a metric is worse than last."),
    ] = None,
    tree: TreeFile = None,
    pictures: Annotated[bool, typer.Option(help="Also heat maps as PNG.")] = True,
    as_json: AsJson = False,
) -> None:
    """The matrix of a run: result.json, values.jsonl, report.html that opens offline, heat maps."""
    from quelea_evaluation.omni import comparison, report  # noqa: PLC0415  # see `_plain_errors`
    from quelea_evaluation.omni.matrix import read_matrix  # noqa: PLC0415  # see above

    breaches: list[str] = []
    with _plain_errors():
        thresholds = comparison.read_thresholds(gate) if gate else None
        found = report.read_run(run)
        last = against or (report.find_last(found) if gate else None)
        before = report.read_result(last) if last and gate else None
        result = report.write_report(found, read_matrix(tree), against, pictures=pictures)
        if thresholds is not None:
            breaches = comparison.find_breaches(thresholds, result, before)
            _say(f"gate: beside {last.name}" if last else "gate: no earlier run; only the limits of the file are held")
    if as_json:
        _out(json.dumps(result, ensure_ascii=False, indent=1))
    else:
        _show(result)
        _out(f"written: {run / 'report.html'}")
    for one in breaches:
        _say(f"gate: {one}")
    if breaches:
        raise typer.Exit(1)


def _show(result: dict[str, Any]) -> None:
    overall = result["overall"]
    _out(f"{result['questions']} questions, {overall['failures']} failed, {result['unanswered']} without an answer")
    for name, one in overall["metrics"].items():
        if one["mean"] is None:
            _out(f"{name:24}       –  n {one['n']}, verdicts failed {one['failed']}")
            continue
        interval = f"[{one['low']:.4f}, {one['high']:.4f}]"
        _out(f"{name:24}{one['mean']:8.4f}  {interval}  n {one['n']}, verdicts failed {one['failed']}")
