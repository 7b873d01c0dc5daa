"""A table for people: pairs to keep, to drop or to ask in other words, and the same table read in again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.omni.questions.review import harmless, plain
from quelea_evaluation.reports.store import write_whole

from quelea_training.pairs.model import Pair, Passage

COLUMNS = ("id", "keep", "query", "passage", "kind", "language", "source", "split", "note")
_SHAPE = f"a table with the columns {', '.join(COLUMNS)}"
_YES, _NO = {"", "y", "yes", "1", "是"}, {"n", "no", "0", "否"}


@dataclass(frozen=True)
class Reviewed:
    """What a review changed."""

    pairs: tuple[Pair, ...]
    dropped: int
    reworded: int


def write_review(path: Path, pairs: Iterable[Pair], passages: Mapping[str, Passage]) -> None:
    """The pairs as CSV: "n" in `keep` drops one, other words in `query` are taken; empty cells change nothing."""
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(COLUMNS)
    for pair in pairs:
        text = passages[pair.passage].encoded
        row = (pair.id, "", pair.query, text, pair.kind, pair.language, pair.source, pair.split, "")
        table.writerow([harmless(cell) for cell in row])
    write_whole(path, out.getvalue())


def apply_review(path: Path, pairs: Iterable[Pair]) -> Reviewed:
    """The pairs after a review; those that the table does not have stay as they are.

    Raises:
        BadInput: A column is missing, a line names no pair of these, or `keep` is neither yes nor no.
    """
    known = {pair.id: pair for pair in pairs}
    dropped, reworded = set(), 0
    for line, row in read_rows(path, _SHAPE):
        if not {"id", "keep", "query"} <= row.keys():
            raise BadInput(f"{path} must be {_SHAPE}, got the columns {', '.join(map(str, row))}")
        name = str(row["id"])
        if name not in known:
            raise BadInput(f"{path}, line {line}: there is no pair {name!r} here; is the table of another folder?")
        keep = str(row["keep"] or "").strip().casefold()
        if keep not in _YES | _NO:
            raise BadInput(f"{path}, line {line}: keep must be y, n or empty, got {row['keep']!r}")
        query = plain(str(row["query"] or "").strip())
        if keep in _NO:
            dropped.add(name)
        elif query and query != known[name].query:
            known[name] = known[name].ask(query)
            reworded += 1
    return Reviewed(tuple(pair for name, pair in known.items() if name not in dropped), len(dropped), reworded)
