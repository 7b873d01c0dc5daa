"""`quelea eval web`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any

import typer

from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell, tell_json
from quelea_evaluation.sets import SETS
from quelea_evaluation.web import longitudinal, preselection
from quelea_evaluation.web.asking import evaluate_web

app = typer.Typer()


@app.command()
def web(
    base: Annotated[str, typer.Option(help="The set whose documents are stored beforehand.")] = "disc",
    route: Annotated[bool, typer.Option(help="Time of the web route, and local answers after the refresh.")] = True,
    preselect: Annotated[
        bool, typer.Option(help="The loss in hit@5 from preselecting paragraphs by their words.")
    ] = True,
    stream: Annotated[
        int, typer.Option("--longitudinal", help="Stream so many questions, with quarantine on and off; 0 for none.")
    ] = 0,
    fixed: Annotated[str, typer.Option(help="The set that is measured before and after the stream.")] = "docugami",
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """The web route over the sample web: its time, what is local after the refresh, what noise does."""
    for name in (base, fixed):
        if name not in SETS:
            raise typer.BadParameter(f"no set is called {name}; there are {', '.join(SETS)}")
    result: dict[str, Any] = {}
    if route:
        result["rounds"] = [one.summary() for one in evaluate_web(SETS[base](data), home, say)]
    if preselect:
        result["preselection"] = asdict(preselection.preselection(home, say))
    if stream:
        foreign = [SETS[name](data) for name in ("disc", "tatqa", "docugami") if name != fixed]
        result["longitudinal"] = [
            asdict(longitudinal.run(SETS[fixed](data), foreign, home, stream, say, quarantine=on))
            for on in (True, False)
        ]
    if as_json:
        tell_json(result)
    else:
        tell(markdown(result))


def markdown(result: dict[str, Any]) -> str:
    """The result as tables for docs/experiments."""
    lines: list[str] = []
    if rounds := result.get("rounds"):
        lines += _rounds(rounds)
    if loss := result.get("preselection"):
        lines += ["", "| preselection | value |", "|---|---|", *(f"| {k} | {_number(v)} |" for k, v in loss.items())]
    for one in result.get("longitudinal", ()):
        lines += ["", *_longitudinal(one)]
    return "\n".join(lines).strip()


def _number(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) and value < 10 else f"{value:.0f}"


def _rounds(rounds: list[dict[str, Any]]) -> list[str]:
    shown = ("questions", "p50 ms", "p95 ms", "answered locally", "the page's words in a quote", "pages read, median")
    lines = [f"| round | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    lines += [f"| {one['round']} | {' | '.join(_number(one[name]) for name in shown)} |" for one in rounds]
    ratio = rounds[0]["p50 ms"] / rounds[1]["p50 ms"]
    lines += ["", f"Time of the web route against the same question again, medians: {ratio:.1f} : 1", ""]
    lines += ["| stage of the web route | p50 ms | share of the time |", "|---|---|---|"]
    lines += [f"| {name} | {s['p50 ms']:.0f} | {s['share']:.2f} |" for name, s in rounds[0]["stages"].items()]
    problems = Counter[str]()
    for one in rounds:
        problems.update(one["problems"])
    lines += [f"\n{count} × {problem}" for problem, count in problems.most_common()]
    return lines


def _longitudinal(one: dict[str, Any]) -> list[str]:
    states = ", ".join(f"{count} {state}" for state, count in one["states"].items())
    lines = [
        f"Quarantine {'on' if one['quarantine'] else 'off'}: {one['questions']} questions, {one['web']} to the web; "
        f"documents {one['documents_before']} → {one['documents_after']}; pages of the web: {states}.",
        "",
        "| questions | right | n | hit@5 before | after | MRR@10 before | after |",
        "|---|---|---|---|---|---|---|",
    ]
    for before, after in zip(one["before"], one["after"], strict=True):
        old, new = before["values"], after["values"]
        lines.append(
            f"| {before['group']} | {before['right']} | {old['questions']:.0f} "
            f"| {old['hit@5']:.3f} | {new['hit@5']:.3f} | {old['MRR@10']:.3f} | {new['MRR@10']:.3f} |"
        )
    return lines
