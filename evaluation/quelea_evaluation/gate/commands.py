"""`quelea calibrate`, `quelea eval gate` and `quelea eval pairs`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell, tell_json
from quelea_evaluation.gate import efficiency
from quelea_evaluation.gate import fit as gate_fit
from quelea_evaluation.gate import pairs as pair_files
from quelea_evaluation.gate.asking import Asked, load_or_ask
from quelea_evaluation.gate.calibrate import cosines, encoder
from quelea_evaluation.gate.pair_making import pairs
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import write_json
from quelea_evaluation.sets import SETS, load_set

GATE_SETS = ("docugami", "tatqa", "disc")

app = typer.Typer()
app.command()(pairs)


@app.command()
def calibrate(
    pairs_file: Annotated[
        Path,
        typer.Argument(metavar="PAIRS", help="JSONL or CSV with the fields query and passage, held-out positives."),
    ],
    out: Annotated[Path, typer.Option(help="Where c goes, as JSON; the gateway reads it as its gate_file.")] = Path(
        "gate-cosine.json"
    ),
    png: Annotated[Path | None, typer.Option(help="Where the histogram goes; beside --out when left out.")] = None,
    quantile: Annotated[float, typer.Option(help="Of the cosines; the paper's is .01.", min=0.0, max=0.5)] = 0.01,
    home: Annotated[Path, typer.Option(help="A home whose running stack lends its encoder.")] = Path(".quelea/home"),
    embedder: Annotated[
        str, typer.Option(help="host:port of an embedder; else that of --home, else one is started.")
    ] = "",
) -> None:
    """The paper's gate: c is the 1 % quantile of the cosines of held-out positive pairs."""
    try:
        given = pair_files.read_pairs(pairs_file)
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    if len(given) < pair_files.FEW:
        say(
            f"warning: of {len(given)} pairs the {quantile:.0%} quantile is about the worst; "
            f"take {pair_files.FEW} and more"
        )
    with encoder(embedder, home, say) as address:
        values, name = cosines(address, given)
    found = pair_files.calibration(values, name, quantile)
    picture = png or out.with_suffix(".png")
    write_json(out, found)
    pair_files.draw(values, found, picture)
    tell_json(found, None)
    say(f"written: {out}, {picture}")
    say(f"for the gateway: QUELEA_GATEWAY_GATE_FILE={out.resolve()} QUELEA_GATEWAY_GATE=cosine")


@app.command()
def gate(
    sets: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(SETS)}; {', '.join(GATE_SETS)} by default.")
    ] = None,
    most: Annotated[int, typer.Option(help="Questions of each set; each is asked twice.", min=10)] = 200,
    fit: Annotated[Path | None, typer.Option(help="Write the fitted gate here, for the gateway's gate_file.")] = None,
    cosine: Annotated[Path | None, typer.Option(help="What `quelea calibrate` wrote: its c goes into --fit.")] = None,
    png: Annotated[Path, typer.Option(help="Where the efficiency curve is drawn.")] = Path("docs/experiments/gate.png"),
    again: Annotated[bool, typer.Option(help="Ask anew, though the answers of the last run are kept.")] = False,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """Document present or removed: AUC of the paper's and of the calibrated gate (5-fold), and the efficiency curve."""
    try:
        wanted = [load_set(name, data) for name in sets or GATE_SETS]
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    asked: list[Asked] = []
    model = ""
    for one in wanted:
        home.mkdir(parents=True, exist_ok=True)
        model, found = load_or_ask(one, home, most, say, again=again)
        asked += found
    held_out = gate_fit.predict_held_out(asked)
    rows = gate_fit.separations(asked, held_out)
    chosen = next(r.threshold for r in rows if r.gate.startswith("calibrated") and r.set == "all")
    points = [*efficiency.cosine_points(asked), *efficiency.calibrated_points(asked, held_out, chosen)]
    efficiency.draw(points, png)
    fitted = gate_fit.gate_file(asked, held_out, model, _c(cosine, model))
    if fit is not None:
        write_json(fit, fitted)
        say(f"written: {fit}")
    if as_json:
        document = {"separation": [asdict(r) for r in rows], "efficiency": [asdict(p) for p in points], "gate": fitted}
        tell_json(document)
        return
    _show(rows, fitted["features"])
    forced = np.mean([gate_fit.is_forced(a) for a in asked if a.answerable])
    tell(f"{forced:.3f} of the answerable ask for the latest or a newer period: a rule sends these to the web\n")
    tell(efficiency.table(points, chosen))
    say(f"drawn: {png}")


def _c(path: Path | None, model: str) -> float | None:
    if path is None:
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["encoder"] != model:
        raise typer.BadParameter(f"{path} is of the encoder {found['encoder']}, the questions were asked with {model}.")
    return float(found["c"])


def _show(rows: list[gate_fit.Separation], features: dict[str, dict[str, float]]) -> None:
    table = Table(
        "gate", "set", "questions", "ROC AUC", "threshold", f"answerable staying local at {gate_fit.SENT:.0%}"
    )
    for row in rows:
        table.add_row(
            row.gate, row.set, str(row.questions), f"{row.auc:.3f}", f"{row.threshold:.3f}", f"{row.stays:.3f}"
        )
    weights = Table("feature", "weight (standardised)")
    for name, one in sorted(features.items(), key=lambda item: -abs(item[1]["weight"])):
        weights.add_row(name, f"{one['weight']:+.3f}")
    console = Console(width=140)
    console.print(table)
    console.print(weights)
