"""FinTextQA regulations: 15 PDFs, questions aligned to the page that holds the quoted reference."""

from __future__ import annotations

import json
from pathlib import Path

from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument

_MIN_OVERLAP = 0.6  # below this the alignment itself is doubtful


def load(data: Path) -> EvaluationSet:
    """Read the folder fintextqa."""
    folder = data / "fintextqa"
    documents = tuple(SourceDocument(p.stem, p.name, p.read_bytes()) for p in sorted(folder.glob("*.pdf")))
    questions = []
    for line in (folder / "regulation_qa_aligned.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["best_doc"] and row["overlap"] >= _MIN_OVERLAP:
            questions.append(
                Question(
                    id=str(row["id"]),
                    text=row["question"],
                    kind=row["institute"],
                    documents=frozenset({row["best_doc"]}),
                    page=int(row["best_page"]) + 1,  # the alignment counts from 0
                )
            )
    return EvaluationSet("fintextqa", documents, tuple(questions))
