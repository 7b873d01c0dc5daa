"""`quelea eval pairs`: positive pairs out of the evaluation sets, for `quelea calibrate`.

The sets name the right document of a question, not its paragraph: the pair takes the passage of that document that the
product ranks first, as it is encoded (header, table head, text).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from quelea_evaluation.console import DATA, HOME, Data, Home, say
from quelea_evaluation.gate.asking import sample_evenly
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import write_rows
from quelea_evaluation.sets import SETS, load_set
from quelea_evaluation.sets.model import EvaluationSet
from quelea_evaluation.stack.running import running_stack

_DEFAULT = ["docugami", "tatqa", "disc"]


def pairs(
    out: Annotated[Path, typer.Argument(help="JSONL file to write.")],
    sets: Annotated[list[str] | None, typer.Option("--set", help=f"Of {', '.join(SETS)}.")] = None,
    most: Annotated[int, typer.Option(help="Pairs of each set.", min=1)] = 200,
    data: Data = DATA,
    home: Home = HOME,
) -> None:
    """Write questions with the passage that answers them best, for `quelea calibrate`."""
    try:
        asked = [load_set(name, data) for name in sets or _DEFAULT]
    except BadInput as error:
        raise typer.BadParameter(str(error)) from error
    found = [pair for one in asked for pair in _pairs(one, home, most)]
    write_rows(out, found)
    say(f"{len(found)} pairs in {out}")


def _pairs(one: EvaluationSet, home: Path, most: int) -> Iterator[dict[str, str]]:
    with running_stack(home / one.name) as stack:
        ids = stack.ingest(one.documents, say)
        for question in sample_evenly(one.questions, most):
            body = {
                "query": question.text,
                "k": 1,
                "filters": {"document_ids": sorted(ids[key] for key in question.documents)},
            }
            found: dict[str, Any] = stack.http.post("/v1/search", json=body).raise_for_status().json()
            for passage in found["passages"]:
                parts = (passage["header"], passage["table_head"], passage["text"])
                yield {"query": question.text, "passage": "\n".join(part for part in parts if part)}
