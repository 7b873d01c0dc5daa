"""`quelea eval omni …`: OmniEval on your own documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from quelea_evaluation.omni.cases import BadCases, read_cases
from quelea_evaluation.omni.scoring import COMPAT, score

app = typer.Typer(no_args_is_help=True, help="OmniEval: topics × tasks, on your own documents, for any system.")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@app.callback()
def _main() -> None:
    """OmniEval: topics × tasks, on your own documents, for any system."""


def _out(text: str) -> None:
    sys.stdout.write(text + "\n")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


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
