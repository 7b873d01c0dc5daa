"""`quelea eval omni …`: OmniEval on your own documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quelea_evaluation.console import AsJson, say, tell, tell_json
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.question_commands import generate, review, topics
from quelea_evaluation.omni.run_commands import agreement, judge, report, run
from quelea_evaluation.omni.scoring.cases import read_cases
from quelea_evaluation.omni.scoring.rule_metrics import COMPAT, score

app = typer.Typer(no_args_is_help=True, help="OmniEval: topics × tasks, on your own documents, for any system.")


@app.callback()
def _main() -> None:
    """OmniEval: topics × tasks, on your own documents, for any system."""


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
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    different = result["expected"]["different"]
    if as_json:
        tell_json(result)
    else:
        tell(f"{result['n']} cases, definitions of {'the published code' if compat else 'the paper'}")
        for name, of in result["definitions"].items():
            value = result["mean"][name]
            tell(f"{name:8}{'-' if value is None else format(value, '.4f'):>8}  {of}, n = {result['counted'][of]}")
    if different:
        say(f"{len(different)} of {result['expected']['compared']} values differ from those that the file states")
    if different and check:
        raise typer.Exit(1)


for _command in (topics, generate, review, run, judge, agreement, report):
    app.command()(_command)
