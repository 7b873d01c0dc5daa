"""`quelea train ranker`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell_json
from quelea_evaluation.gate.asking import sample_evenly
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import write_json
from quelea_evaluation.sets import SETS, load_set
from quelea_evaluation.sets.model import EvaluationSet
from quelea_evaluation.stack.running import running_stack
from quelea_kit.errors import InvalidInput
from rich.console import Console
from rich.table import Table

from quelea_training.own_questions import own_set, resting
from quelea_training.ranking.candidates import Collected, Weights, collect, load, save
from quelea_training.ranking.proof import KINDS, LeftOut, Proof, prove

RANKER_SETS = ("docugami", "tatqa", "disc", "fintextqa")
_DIGITS = 4

app = typer.Typer()


@app.callback()
def _room() -> None:
    """The second stage of the ranking."""


@app.command()
def ranker(
    sets: Annotated[
        list[str] | None,
        typer.Argument(help=f"Of {', '.join(SETS)}; without --pairs {', '.join(RANKER_SETS)} by default."),
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Folder of `quelea train pairs`: its questions about the documents of --stored.")
    ] = None,
    stored: Annotated[Path | None, typer.Option(help="Home with these documents; its stack must not run.")] = None,
    most: Annotated[int, typer.Option(help="Questions of each set.", min=10)] = 1000,
    out: Annotated[Path, typer.Option(help="Where the weights go, for the retriever's ranker_file.")] = Path(
        "ranker.json"
    ),
    again: Annotated[bool, typer.Option(help="Ask anew, though the candidates of the last run are kept.")] = False,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """Fit the weights of the ranking's second stage, and prove them on each set left out.

    Weights that are not as good as those before on everything left out are not written: the old ones stay.
    """
    if (pairs is None) != (stored is None):
        raise typer.BadParameter("--pairs and --stored go together: questions, and the home with their documents.")
    try:
        wanted = [(load_set(name, data), home) for name in sets or ([] if pairs else RANKER_SETS)]
        if pairs is not None and stored is not None:
            place = resting(stored)
            wanted.append((own_set(pairs, place.name), place.parent))
        collected = _collect(wanted, most, again=again)
        found = prove(collected.questions, collected.names, collected.prior)
    except (InvalidInput, BadInput) as error:
        raise typer.BadParameter(str(error)) from error
    write_json(out, ranker_file(collected, found))
    if as_json:
        tell_json({"left_out": [asdict(row) for row in found.left_out], "accepted": found.accepted})
    else:
        _show(collected, found)
    kept = [kind for kind in KINDS if kind not in found.accepted]
    if kept:
        say(f"not as good on everything left out, so the weights before are kept: {', '.join(kept)}")
    say(f"written: {out}; for the retriever: QUELEA_RETRIEVER_RANKER_FILE={out.resolve()}")


def _collect(wanted: list[tuple[EvaluationSet, Path]], most: int, *, again: bool) -> Collected:
    whole: Collected | None = None
    for one, home in wanted:
        kept = home / f"ranking-{one.name}-{most}.npz"
        if kept.is_file() and not again:
            say(f"{one.name}: candidates as found before, {kept}")
            found = load(kept)
        else:
            with running_stack(home / one.name) as stack:
                ids = stack.ingest(one.documents, say) or {key: key for q in one.questions for key in q.documents}
                questions = sample_evenly(one.questions, most)
                say(f"{one.name}: {len(questions)} questions")
                keys = {document_id: key for key, document_id in ids.items()}
                found = asyncio.run(collect(one.name, questions, keys, stack.address("retriever")))
            save(found, kept)
        whole = found if whole is None else whole + found
    assert whole is not None  # noqa: S101  # there is a set
    return whole


def ranker_file(collected: Collected, found: Proof) -> dict[str, Any]:
    """What the retriever reads, with the proof beside it."""
    sets = ", ".join(dict.fromkeys(one.set for one in collected.questions))
    fitted = f"{date.today().isoformat()}: {len(collected.questions)} questions of {sets}"  # the runner's day
    return {
        "features_version": collected.version,
        "encoder": collected.encoder if found.accepted else "",
        "fitted": fitted if found.accepted else "",
        "note": "Written by `quelea train ranker`; kinds of search with fitted weights: "
        f"{', '.join(found.accepted) or 'none, all are as before'}.",
        **{kind: _named(getattr(found.weights, kind), collected.names) for kind in KINDS},
        "proof": {"strength": found.strength, "left_out": [asdict(row) for row in found.left_out]},
    }


def _named(weights: np.ndarray[Any, np.dtype[np.float64]], names: tuple[str, ...]) -> dict[str, float]:
    return {name: round(float(w), _DIGITS) for name, w in zip(names, weights, strict=True) if round(w, _DIGITS) > 0}


def _show(collected: Collected, found: Proof) -> None:
    table = Table("search", "set", "left out", "n", "hit@1", "hit@5", "MRR@10", "document@1", "document@5", "as good")
    for row in found.left_out:
        table.add_row(
            row.kind, row.after.set, row.by, str(row.after.questions), *_changes(row), "yes" if row.as_good else "no"
        )
    Console(width=150).print(table)
    weights = Table("feature", "anywhere: before", "fitted", "in a filing: before", "fitted")
    before, after = collected.prior, found.fitted
    for i, name in enumerate(collected.names):
        weights.add_row(name, *(f"{one[i]:.3f}" for one in _columns(before, after)))
    Console(width=120).print(weights)


def _columns(before: Weights, after: Weights) -> list[Any]:
    return [before.anywhere, after.anywhere, before.in_filing, after.in_filing]


def _changes(row: LeftOut) -> list[str]:
    fields = ("hit1", "hit5", "mrr10", "document1", "document5")
    return [f"{getattr(row.before, field):.3f} → {getattr(row.after, field):.3f}" for field in fields]
