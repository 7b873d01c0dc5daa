"""`quelea train gate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell_json
from quelea_evaluation.gate import fit as gate_fit
from quelea_evaluation.gate.asking import Asked, groups_of, load_or_ask, sample_evenly
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import write_json
from quelea_evaluation.sets import SETS, load_set
from quelea_evaluation.sets.model import Question
from rich.console import Console
from rich.table import Table

from quelea_training.gate.reliability import bins, brier, calibration_error, draw
from quelea_training.own_questions import own_set, resting

GATE_SETS = ("docugami", "tatqa", "disc")
LEAST = 50
"""Fewer questions fit nothing that could be believed."""

app = typer.Typer()


@app.callback()
def _room() -> None:
    """The gate."""


@app.command()
def gate(
    sets: Annotated[
        list[str] | None,
        typer.Argument(help=f"Of {', '.join(SETS)}; without --pairs {', '.join(GATE_SETS)} by default."),
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Folder of `quelea train pairs`: its questions about the documents of --stored.")
    ] = None,
    stored: Annotated[
        Path | None, typer.Option(help="Home with these documents. Its stack must not run; it is copied, not changed.")
    ] = None,
    most: Annotated[int, typer.Option(help="Questions of each set; each is asked twice.", min=10)] = 200,
    out: Annotated[Path, typer.Option(help="Where the gate goes, for the gateway's gate_file.")] = Path("gate.json"),
    png: Annotated[Path | None, typer.Option(help="The reliability diagram; beside --out when left out.")] = None,
    again: Annotated[bool, typer.Option(help="Ask anew, though the answers of the last run are kept.")] = False,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """Fit the gate to questions with their documents stored and without, and show how far it can be believed.

    All figures are of questions that the weights have not seen: documents that share a question are in one fold.
    """
    if (pairs is None) != (stored is None):
        raise typer.BadParameter("--pairs and --stored go together: questions, and the home with their documents.")
    try:
        model, asked = _ask(sets or ([] if pairs else list(GATE_SETS)), pairs, stored, most, data, home, again=again)
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    held_out = gate_fit.predict_held_out(asked)
    labels = np.array([one.answerable for one in asked])
    found = bins(held_out, labels)
    measured = {"brier": brier(held_out, labels), "calibration_error": calibration_error(found)}
    fitted = gate_fit.gate_file(asked, held_out, model, None)
    fitted["note"] = "Written by `quelea train gate`."
    write_json(out, fitted)
    picture = png or out.with_suffix(".png")
    draw(found, f"{len(asked)} questions, held out, {model}", picture)
    rows = [row for row in gate_fit.separations(asked, held_out) if row.gate.startswith("calibrated")]
    if as_json:
        tell_json({"separation": [asdict(row) for row in rows], "bins": [asdict(one) for one in found], **measured})
    else:
        _show(rows, measured)
    say(f"written: {out}, {picture}; for the gateway: QUELEA_GATEWAY_GATE_FILE={out.resolve()}")


def _ask(
    sets: list[str], pairs: Path | None, stored: Path | None, most: int, data: Path, home: Path, *, again: bool
) -> tuple[str, list[Asked]]:
    home.mkdir(parents=True, exist_ok=True)
    wanted = [(load_set(name, data), home) for name in sets]
    if pairs is not None and stored is not None:
        place = resting(stored)
        wanted.append((own_set(pairs, place.name), place.parent))
    _refuse_too_little([sample_evenly(one.questions, most) for one, _ in wanted])
    encoders: set[str] = set()
    asked: list[Asked] = []
    for one, place in wanted:
        model, rows = load_or_ask(one, place, most, say, again=again)
        encoders.add(model)
        asked += rows
    if len(encoders) > 1:
        raise BadInput(f"Asked with different encoders ({', '.join(sorted(encoders))}); ask anew with --again.")
    return encoders.pop(), asked


def _refuse_too_little(questions: Sequence[Sequence[Question]]) -> None:
    """See that there is enough for a gate, and for a measure of it on documents that it has not seen.

    Args:
        questions: Of each set, as they will be asked, each twice.

    Raises:
        BadInput: There is not.
    """
    askings = 2 * sum(map(len, questions))
    if askings < LEAST:
        raise BadInput(
            f"{askings} askings are too few to fit a gate; at least {LEAST} are needed, two of each question: make "
            "more pairs of more documents with `quelea train pairs`, or raise --most."
        )
    groups = sum(len(set(groups_of(each).values())) for each in questions)
    if groups < gate_fit.FOLDS:
        raise BadInput(
            f"the questions are about {groups} documents, or groups of documents that share a question, and the gate "
            f"is measured on those that it has not seen: at least {gate_fit.FOLDS} are needed; store more documents."
        )


def _show(rows: list[gate_fit.Separation], measured: dict[str, Any]) -> None:
    table = Table("set", "questions", "ROC AUC", "threshold", f"answerable staying local at {gate_fit.SENT:.0%}")
    for row in rows:
        table.add_row(row.set, str(row.questions), f"{row.auc:.3f}", f"{row.threshold:.3f}", f"{row.stays:.3f}")
    Console(width=120).print(table)
    Console(width=120).print(", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in measured.items()))
