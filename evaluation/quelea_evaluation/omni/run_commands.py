"""`quelea eval omni run`, `judge`, `agreement` and `report`."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from quelea_evaluation.console import STACK_HOME, AsJson, StackHome, say, tell, tell_json
from quelea_evaluation.endpoints.chat import Chat
from quelea_evaluation.endpoints.client import STACK, Address, read_address
from quelea_evaluation.endpoints.prices import Prices, PricesText, read_prices
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.console import Concurrency, Key, Seconds, TreeFile, plain_errors, progress
from quelea_evaluation.omni.matrix import LANGUAGES, read_matrix
from quelea_evaluation.omni.prompts import load_prompts
from quelea_evaluation.omni.questions.model import questions_file, read_questions
from quelea_evaluation.omni.reporting.comparison import find_breaches, read_thresholds
from quelea_evaluation.omni.reporting.labels import measure_agreement, read_labels
from quelea_evaluation.omni.reporting.report import (
    RUN,
    VERDICTS,
    Run,
    find_last,
    keep_questions,
    read_result,
    read_run,
    write_report,
)
from quelea_evaluation.omni.runs.running import Progress, ask_all
from quelea_evaluation.omni.runs.spending import spent_on_answers, spent_on_verdicts
from quelea_evaluation.omni.runs.systems import ChatSystem, Quelea, System
from quelea_evaluation.omni.scoring.judges import ASPECTS, Aspect, judge_all, tasks_of
from quelea_evaluation.reports.store import Row, RunFolder, hash_file, write_json

_REASONS = 5
"""Why verdicts failed, the most frequent."""


def run(
    questions: Annotated[Path, typer.Argument(help="questions.jsonl, or the folder of `generate`.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; one that was broken off goes on.")],
    system: Annotated[
        str,
        typer.Option(
            help="“quelea”, the URL of an OpenAI-compatible endpoint, or “stack”: the model that the stack runs here."
        ),
    ] = "quelea",
    model: Annotated[str, typer.Option(help="Name of the endpoint's model.")] = "",
    passages: Annotated[
        str, typer.Option(help="Of an endpoint: “given” shows it the relevant passages, “none” is closed book.")
    ] = "none",
    gateway: Annotated[str, typer.Option(help="Where Quelea listens.")] = "http://127.0.0.1:8080",
    route: Annotated[str, typer.Option(help="Of Quelea: auto, local or web.")] = "local",
    concurrency: Concurrency = 4,
    seconds: Seconds = 300.0,
    api_key: Key = "",
    home: StackHome = STACK_HOME,
    prices: PricesText = "",
    as_json: AsJson = False,
) -> None:
    """Put every question to a system, conversations turn by turn; resumable, failures recorded."""

    if passages not in ("given", "none"):
        raise typer.BadParameter(f"--passages must be given or none, not {passages!r}")
    if route not in ("auto", "local", "web"):
        raise typer.BadParameter(f"--route must be auto, local or web, not {route!r}")
    if system not in ("quelea", STACK) and not model:
        raise typer.BadParameter("--model must name the endpoint's model")
    with plain_errors():
        known = read_prices(prices)
        file = questions_file(questions)
        total = sum(1 for _ in read_questions(file))
        if not total:
            say(f"error: {file} holds no questions; make some with `quelea eval omni generate`")
            raise typer.Exit(1)
        target: System
        if system == "quelea":
            target = Quelea(gateway, api_key, route, seconds)
            settings = {"system": "quelea", "route": route}
        else:
            address = read_address(STACK, "--system", home) if system == STACK else Address(model, system)
            chat = Chat(address.url, address.model, address.key or api_key, seconds, max_tokens=1024)
            target = ChatSystem(chat, given=passages == "given")
            settings = {"system": target.name, "model": address.model, "passages": passages}
        notes = {"address": gateway if system == "quelea" else system, "concurrency": concurrency}
        with RunFolder(out, RUN, settings, {"questions": hash_file(file)}, notes) as folder:
            keep_questions(file, out)
            rows = folder.rows("answers")

            async def work() -> Progress:
                try:
                    with progress("questions", total) as show:
                        return await ask_all(
                            read_questions(out / "questions.jsonl"),
                            target,
                            rows,
                            concurrency,
                            lambda one: show(one.before + one.done, f"{one.failures} failed"),
                        )
                finally:
                    await target.close()

            asyncio.run(work())
            failures = sum("error" in one for one in rows.latest())
            spent = spent_on_answers(rows, settings, known)
            summary = {"questions": total, "answers": total - failures, "failures": failures, **spent}
            folder.finish(summary)
    if as_json:
        tell_json(summary, None)
    else:
        tell(f"{total} questions, {failures} failed; {_spent(spent, known)}; next: quelea eval omni report {out}")


def _spent(spent: Row, prices: Prices) -> str:
    if spent["prompt_tokens"] is None:
        return "tokens and cost not known"
    return f"{spent['prompt_tokens']} + {spent['completion_tokens']} tokens, cost {prices.write_cost(spent['cost'])}"


def judge(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    judge: Annotated[
        list[str], typer.Option(help="MODEL@URL of an OpenAI-compatible endpoint, or stack; several may judge.")
    ],
    aspects: Annotated[
        str,
        typer.Option(help="Of accuracy, completeness, utilization, hallucination, numerical_accuracy; all if empty."),
    ] = "",
    concurrency: Concurrency = 4,
    seconds: Seconds = 300.0,
    api_key: Key = "",
    home: StackHome = STACK_HOME,
    prices: PricesText = "",
    as_json: AsJson = False,
) -> None:
    """ACC, COM, UTL, HAL and NAC by language models; a verdict that cannot be read is counted, never dropped."""

    chosen = _aspects(aspects)
    try:
        judges = {one: read_address(one, "--judge", home) for one in judge}
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    names = [one.model for one in judges.values()]
    if twice := [one for one in names if names.count(one) > 1]:
        raise typer.BadParameter(f"two judges are called {twice[0]}; verdicts are kept by the model's name")
    with plain_errors():
        known = read_prices(prices)
        found = read_run(run)
        summary = {
            name: _judge_with(found, one, chosen, concurrency, seconds, api_key, known) for name, one in judges.items()
        }
    if as_json:
        tell_json(summary, None)
        return
    for name, counts in summary.items():
        tell(f"{name}: {counts['verdicts']} verdicts, {counts['failed']} failed, {_spent(counts, known)}")
        for reason, count in counts["reasons"].items():
            tell(f"{count:6} × {reason}")


def _aspects(named: str) -> tuple[Aspect, ...]:

    wanted = [one.strip() for one in named.split(",") if one.strip()] or [one.id for one in ASPECTS]
    known = {name: one for one in ASPECTS for name in (one.id, one.short, one.short.lower())}
    if unknown := [one for one in wanted if one not in known]:
        raise typer.BadParameter(f"no aspect is called {unknown[0]}; there are {', '.join(one.id for one in ASPECTS)}")
    return tuple(known[one] for one in wanted)


def _judge_with(
    run: Run,
    judge: Address,
    aspects: tuple[Aspect, ...],
    concurrency: int,
    seconds: float,
    key: str,
    prices: Prices,
) -> Row:
    model = judge.model
    versions = {one: load_prompts(one).version for one in LANGUAGES}
    folder = run.folder / "judges" / re.sub(r"[^A-Za-z0-9._-]+", "_", model).strip(".")[:80]
    notes = {"address": STACK if judge.key else judge.url, "concurrency": concurrency}
    with RunFolder(folder, VERDICTS, {"judge": model, "prompts": versions}, {}, notes) as kept:
        rows = kept.rows("verdicts")

        def tasks() -> Iterator[Any]:
            for answer in run.answers.latest():
                if question := run.questions.get(str(answer["id"])):
                    yield from tasks_of(question, answer, aspects)

        async def work() -> None:
            chat = Chat(judge.url, model, judge.key or key, seconds)
            try:
                with progress(f"verdicts of {model}", sum(1 for _ in tasks())) as show:
                    await judge_all(tasks(), chat, rows, concurrency, lambda done, bad: show(done, f"{bad} failed"))
            finally:
                await chat.close()

        asyncio.run(work())
        spent = spent_on_verdicts(rows, model, prices)
        reasons = Counter[str]()
        counts: Row = {
            "verdicts": 0,
            "failed": 0,
            "tokens": spent["prompt_tokens"] + spent["completion_tokens"],
            **spent,
        }
        for row in rows.latest():
            counts["verdicts"] += 1
            counts["failed"] += row["status"] != "given"
            if row["status"] != "given":
                reasons[str(row.get("problem") or row["status"]).partition(":")[0]] += 1
        counts["reasons"] = dict(reasons.most_common(_REASONS))
        kept.finish(counts)
        return counts


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    against: Annotated[Path | None, typer.Option(help="Another run over the same questions: a paired test.")] = None,
    gate: Annotated[
        Path | None,
        typer.Option(help="YAML with limits: exit code 1 when one is passed, or a metric is worse than last."),
    ] = None,
    tree: TreeFile = None,
    pictures: Annotated[bool, typer.Option(help="Also heat maps as PNG.")] = True,
    prices: PricesText = "",
    as_json: AsJson = False,
) -> None:
    """The matrix of a run: result.json, values.jsonl, report.html that opens offline, heat maps."""

    breaches: list[str] = []
    with plain_errors():
        known = read_prices(prices)
        thresholds = read_thresholds(gate) if gate else None
        found = read_run(run)
        last = against or (find_last(found) if gate else None)
        before = read_result(last) if last and gate else None
        result = write_report(found, read_matrix(tree), against, pictures=pictures, prices=known)
        if thresholds is not None:
            breaches = find_breaches(thresholds, result, before)
            result["gate"] = {"beside": last.name if last else "", "breaches": breaches}
            write_json(run / "result.json", result)
            say(f"gate: beside {last.name}" if last else "gate: no earlier run; only the limits of the file are held")
    if as_json:
        tell_json(result)
    else:
        _show(result)
        tell(f"written: {run / 'report.html'}")
    for one in breaches:
        say(f"gate: {one}")
    if breaches:
        raise typer.Exit(1)


def _show(result: dict[str, Any]) -> None:
    overall = result["overall"]
    tell(f"{result['questions']} questions, {overall['failures']} failed, {result['unanswered']} without an answer")
    for name, one in overall["metrics"].items():
        if one["mean"] is None:
            tell(f"{name:24}       –  n {one['n']}, verdicts failed {one['failed']}")
            continue
        interval = f"[{one['low']:.4f}, {one['high']:.4f}]"
        tell(f"{name:24}{one['mean']:8.4f}  {interval}  n {one['n']}, verdicts failed {one['failed']}")


def agreement(
    labels: Annotated[
        Path,
        typer.Argument(help="CSV or JSONL of people's labels: question, aspect, label; turn, judge if known."),
    ],
    run: Annotated[
        Path | None, typer.Option(help="Folder of the judged run, where the labels do not hold the judge's numbers.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How far judges agree with people: accuracy and Cohen's kappa with intervals, for each aspect."""
    with plain_errors():
        found = measure_agreement(read_labels(labels), read_run(run) if run else None)
    if as_json:
        tell_json(found)
        return
    for one in found:
        kappa = "–" if one["kappa"] is None else f"{one['kappa']:.3f} [{one['kappa_low']:.3f}, {one['kappa_high']:.3f}]"
        accuracy = f"{one['accuracy']:.3f} [{one['accuracy_low']:.3f}, {one['accuracy_high']:.3f}]"
        name = f"{one['judge']} {one['aspect']}".strip()
        tell(f"{name:44} n {one['n']}, accuracy {accuracy}, kappa {kappa}, no verdict {one['failed']}")
