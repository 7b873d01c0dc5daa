"""How a run of the agent looks on a terminal."""

from __future__ import annotations

import re
from typing import Any

from quelea_client import ServerEvent
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from quelea_cli.output import Json, minute, say, shorten

_LINES = 30
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_VERDICTS = {"supported": "✓", "derived": "=", "contradicted": "✗", "not_found": "?", "not_traced": "!"}


def show_event(console: Console, event: ServerEvent) -> None:
    """One event, as it comes."""
    data = event.data
    if event.name == "plan":
        say(console, plain(data.get("profile", "")), "dim")
        _plan(console, "Plan", data["plan"])
    elif event.name == "step":
        about = data.get("query") or data.get("need") or data.get("name") or data.get("task") or ""
        by = "" if data.get("by") == "model" else " (by rule)"
        say(console)
        say(console, f"Step {data['step']} · {data['action']}{by}  {shorten(plain(about), 200)}", "bold cyan")
    elif event.name == "code":
        _block(console, data["code"], "python")
    elif event.name == "output":
        _output(console, data)
    elif event.name == "plot":
        say(console, f"  plot: {data['name']}", "green")
    elif event.name == "reflection":
        for insight in data.get("insights", []):
            say(console, f"  → {shorten(plain(insight))}", "yellow")
        if data.get("plan"):
            _plan(console, f"Plan, revised ({data['result']})", data["plan"])
    elif event.name == "error":
        say(console, plain(data.get("message", "")), "red")


def _plan(console: Console, title: str, plan: list[Json]) -> None:
    say(console, title, "bold")
    for number, step in enumerate(plan, start=1):
        say(console, f"  {number}. {step['action']}: {shorten(plain(step['task']), 160)}")


def _output(console: Console, data: Json) -> None:
    reason = data.get("reason", "")
    if reason and reason != "ok":
        say(console, f"  ended with: {reason}", "red")
    for text, style in ((data.get("stdout") or data.get("text", ""), ""), (data.get("error", ""), "red")):
        lines = plain(text).rstrip().split("\n")
        for line in lines[:_LINES] if any(lines) else []:
            say(console, f"  {line[:200]}", style)
        if len(lines) > _LINES:
            say(console, f"  ... {len(lines) - _LINES} more lines", "dim")
    for file in data.get("files", []):
        say(console, f"  file: {file['name']} ({file['bytes']:,} bytes)", "green")


def _block(console: Console, code: str, language: str) -> None:
    if console.is_terminal:
        body: Any = Syntax(plain(code), language, line_numbers=False, word_wrap=True, background_color="default")
        console.print(Panel(body, border_style="dim"))
    else:
        for line in plain(code).split("\n"):
            say(console, f"    {line}")


def show_answer(console: Console, run: Json, url: str) -> None:
    """The answer with its sources and verdicts, and what can be downloaded."""
    answer = run.get("answer")
    say(console)
    if not answer:
        say(console, f"{run['state']}: {plain(run.get('error') or 'no answer')}", "red")
        return
    say(console, plain(answer["text"]), "bold" if console.is_terminal else "")
    say(console)
    figures = answer["figures"]
    if figures:
        marks = ", ".join(f"{_VERDICTS[one['verdict']]} {one['text']}" for one in figures[:20])
        say(console, f"figures: {plain(marks)}", "green" if answer["grounded"] else "red")
    for source in (one for one in answer["sources"] if one["used"]):
        where = f"step {source['step']}" + (f" of run {source['run']}" if source.get("run") else "")
        line = f"[{source['number']}] {source['kind']} · {where} · {plain(source['title'])}"
        say(console, line, "bold cyan")
        if source["sha256"]:
            say(console, f"    {source['url']} (fetched {minute(source['fetched'])}, sha256 {source['sha256']})", "dim")
        say(console, f"    {url}{source['open']}", "dim")
    for name, title in (
        ("missing", "missing"),
        ("withheld", "withheld, no source has its figures"),
        ("notices", "note"),
    ):
        for one in answer[name]:
            say(console, f"{title}: {plain(one)}", "yellow")
    for file in run["artifacts"]:
        say(console, f"file: {url}{file['url']}", "green")
    if run["state"] == "finished":
        say(console, f'follow up: quelea agent --follows {run["id"]} "…"', "dim")
    usage, path = run["usage"], f"{url}/v1/agent/runs/{run['id']}"
    say(console, f"notebook: {path}/notebook · report: {path}/report.pdf", "dim")
    say(
        console,
        f"run {run['id']} · {usage['steps']} steps · {usage['model_calls']} calls of the model · "
        f"{usage['tokens']:,} tokens · {usage['calls']} data calls · {usage['seconds']:.1f} s",
        "dim",
    )


def show_run_line(console: Console, run: Json) -> None:
    """A run in one line."""
    line = f"{run['id']}  {minute(run['created'])}  {run['state']:<11}  {shorten(plain(run['question']), 80)}"
    if console.is_terminal:
        console.print(Text(line, style="" if run["state"] == "finished" else "dim"))
    else:
        say(console, line)


def plain(text: str) -> str:
    """Text from a run without what a terminal would obey."""
    return _CONTROL.sub("", text)
