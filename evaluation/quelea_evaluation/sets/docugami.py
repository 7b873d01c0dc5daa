"""docugami KG-RAG SEC 10-Q: 20 filings, 195 reviewed questions (MIT)."""

from __future__ import annotations

import csv
import fnmatch
from pathlib import Path

from quelea_evaluation.judging.figures import amounts_of, figures_of
from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument

_KINDS = {
    "Single-Doc Single-Chunk RAG": "single-chunk",
    "Single-Doc Multi-Chunk RAG": "multi-chunk",
    "Multi-Doc RAG": "multi-document",
}


def load(data: Path) -> EvaluationSet:
    """Read the folder docugami_sec10q."""
    folder = data / "docugami_sec10q"
    documents = tuple(SourceDocument(p.stem, p.name, p.read_bytes()) for p in sorted((folder / "docs").glob("*.pdf")))
    keys = [d.key for d in documents]
    questions = []
    with (folder / "qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            pattern = row["Source Docs"].strip()
            gold = {k for k in keys if fnmatch.fnmatch(k, pattern)}
            if not gold:  # a list of several names
                gold = {k for k in keys if k in pattern}
            questions.append(
                Question(
                    id=str(number),
                    text=row["Question"].strip(),
                    kind=_KINDS[row["Question Type"]],
                    documents=frozenset(gold),
                    figures=figures_of(row["Answer"]),
                    amounts=amounts_of(row["Answer"]),
                )
            )
    return EvaluationSet("docugami", documents, tuple(questions))
