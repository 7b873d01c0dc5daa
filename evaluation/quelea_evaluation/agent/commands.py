"""`quelea eval agent run`, `judge` and `report`."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated

import typer

from quelea_evaluation.agent.judging import PROMPT_VERSION, judge_all, verdicts_of
from quelea_evaluation.agent.page import render
from quelea_evaluation.agent.questions import AgentQuestion, read_questions
from quelea_evaluation.agent.running import ask_all
from quelea_evaluation.agent.scoring import score, summarize
from quelea_evaluation.console import STACK_HOME, AsJson, StackHome, say, tell, tell_json
from quelea_evaluation.endpoints.chat import Chat
from quelea_evaluation.endpoints.client import Client, read_address
from quelea_evaluation.omni.console import Concurrency, Key, Seconds, plain_errors, progress
from quelea_evaluation.reports.store import (
    BadRun,
    Row,
    RowFile,
    RunFolder,
    hash_file,
    read_manifest,
    write_json,
    write_rows,
    write_whole,
)

RUN, VERDICTS = "agent-run", "agent-verdicts"
OWN = Path("tests/eval/agent.jsonl")

app = typer.Typer(no_args_is_help=True, help="Questions for the agent on public companies.")
Folder = Annotated[Path, typer.Argument(help="Folder of a run.")]


@app.command()
def run(
    out: Annotated[Path, typer.Option(help="Folder of the run; one that was broken off goes on.")],
    questions: Annotated[
        Path, typer.Argument(help="JSON lines of ours, or the public.csv of vals.ai's Finance Agent benchmark.")
    ] = OWN,
    gateway: Annotated[str, typer.Option(help="Where Quelea listens, with an agent.")] = "http://127.0.0.1:8080",
    model: Annotated[str, typer.Option(help="Which of its models; empty: its own.")] = "",
    steps: Annotated[int, typer.Option(help="Most steps of a run; 0: the gateway's default.", min=0)] = 0,
    tokens: Annotated[int, typer.Option(help="Most tokens of a run; 0: the gateway's default.", min=0)] = 0,
    concurrency: Concurrency = 1,
    seconds: Seconds = 900.0,
    api_key: Annotated[str, typer.Option(envvar="QUELEA_API_KEY", help="The gateway's key.")] = "",
    as_json: AsJson = False,
) -> None:
    """Put every question to the agent; resumable, failures recorded."""
    with plain_errors():
        asked = read_questions(questions)
        settings = {"model": model, "steps": steps, "tokens": tokens}
        notes = {"address": gateway, "concurrency": concurrency, "questions": str(questions)}
        with RunFolder(out, RUN, settings, {"questions": hash_file(questions)}, notes) as folder:
            _keep(questions, out)
            rows = folder.rows("answers")

            async def work() -> None:
                async with Client(gateway, api_key, min(seconds, 60.0)) as client:
                    with progress("questions", len(asked)) as show:
                        await ask_all(
                            asked,
                            client,
                            rows,
                            concurrency=concurrency,
                            seconds=seconds,
                            limits={"steps": steps, "tokens": tokens},
                            model=model,
                            on_progress=lambda done, failed: show(done, f"{failed} failed"),
                        )

            asyncio.run(work())
            failures = sum("error" in one for one in rows.latest())
            summary = {"questions": len(asked), "failures": failures}
            folder.finish(summary)
    if as_json:
        tell_json(summary, None)
    else:
        tell(f"{len(asked)} questions, {failures} failed; next: quelea eval agent report {out}")


@app.command()
def judge(
    folder: Folder,
    judge: Annotated[str, typer.Option(help="MODEL@URL of an OpenAI-compatible endpoint, or stack.")],
    concurrency: Concurrency = 4,
    seconds: Seconds = 300.0,
    api_key: Key = "",
    home: StackHome = STACK_HOME,
) -> None:
    """Points of rubrics by a language model; questions of ours need none."""
    with plain_errors():
        asked, rows = _read(folder)
        address = read_address(judge, "--judge", home)
        settings = {"judge": address.model, "prompt": PROMPT_VERSION}
        place = folder / "judges" / re.sub(r"[^A-Za-z0-9._-]+", "_", address.model).strip(".")[:80]
        with RunFolder(place, VERDICTS, settings, {}, {"address": address.text, "concurrency": concurrency}) as kept:
            verdicts = kept.rows("verdicts")
            due = [(one, rows[one.id]) for one in asked if one.id in rows and one.rubric]

            async def work() -> None:
                chat = Chat(address.url, address.model, address.key or api_key, seconds)
                try:
                    with progress(f"answers for {address.model}", len(due)) as show:
                        await judge_all(due, chat, verdicts, concurrency, lambda done, bad: show(done, f"{bad} failed"))
                finally:
                    await chat.close()

            asyncio.run(work())
            failed = sum("problem" in one for one in verdicts.latest())
            kept.finish({"answers": len(due), "failed": failed})
    tell(f"{len(due)} answers with a rubric, {failed} without a verdict; next: quelea eval agent report {folder}")


@app.command()
def report(folder: Folder, as_json: AsJson = False) -> None:
    """Score a run: result.json, values.jsonl and report.html in its folder; with several judges, the first by name."""
    with plain_errors():
        asked, rows = _read(folder)
        judges = sorted((folder / "judges").glob("*/verdicts.jsonl"))
        given = {str(one["id"]): one for one in RowFile(judges[0]).latest()} if judges else {}
        scored = []
        for one in asked:
            row = rows.get(one.id)
            scored.append(score(one, row, verdicts_of(one, row, given) if row else None))
        manifest = read_manifest(folder, RUN)
        models = sorted({str(one.get("model", "")) for one in rows.values() if one.get("model")})
        facts = {
            "questions": manifest["sessions"][-1]["notes"].get("questions", ""),
            "hash of the questions": manifest["data"]["questions"],
            "model": ", ".join(models),
            "judge": judges[0].parent.name if judges else "",
            "commit": manifest["sessions"][-1]["commit"],
            "started": manifest["sessions"][0]["started"],
            "sessions": len(manifest["sessions"]),
            **{f"most {name}": value for name, value in manifest["settings"].items() if name != "model" and value},
        }
        result: Row = {"kind": "agent", "run": facts, **summarize(scored)}
        write_json(folder / "result.json", result)
        write_rows(folder / "values.jsonl", scored)
        write_whole(folder / "report.html", render(result, scored))
    if as_json:
        tell_json(result)
        return
    for kind, one in [("all", result["overall"]), *result["kinds"].items()]:
        right, met, grounded = (_write_share(one[name]) for name in ("right", "met", "grounded"))
        tell(f"{kind:24} asked {one['asked']:3}  right {right}  points met {met}  grounded {grounded}")
    say(f"{folder / 'report.html'}")


def _write_share(share: Row | None) -> str:
    return "  – " if share is None else f"{share['mean']:.2f}"


def _keep(file: Path, folder: Path) -> None:
    """A copy of the questions in the run's folder, so that its answers stay readable."""
    copy = folder / f"questions{file.suffix.lower()}"
    if not copy.exists():
        write_whole(copy, file.read_text(encoding="utf-8-sig"))


def _read(folder: Path) -> tuple[list[AgentQuestion], dict[str, Row]]:
    """The questions of a run, and its rows by question. Raises BadRun, BadInput."""
    read_manifest(folder, RUN)
    files = sorted(folder.glob("questions.*"))
    if not files:
        raise BadRun(f"{folder} has no questions; call quelea eval agent run again.")
    return read_questions(files[0]), {str(one["id"]): one for one in RowFile(folder / "answers.jsonl").latest()}
