"""TAT-QA dev: 278 contexts (a table and its paragraphs), 1,668 questions (data CC BY 4.0)."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument


def load(data: Path) -> EvaluationSet:
    """Read tatqa/tatqa_dataset_dev.json; each context becomes one HTML document."""
    contexts = json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text(encoding="utf-8"))
    documents, questions = [], []
    for number, context in enumerate(contexts):
        key = f"context-{number:03d}"
        documents.append(SourceDocument(key, f"{key}.html", _page(context).encode()))
        questions += [
            Question(id=q["uid"], text=q["question"], kind=q["answer_from"], documents=frozenset({key}))
            for q in context["questions"]
        ]
    return EvaluationSet("tatqa", tuple(documents), tuple(questions))


def _page(context: dict[str, Any]) -> str:
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in context["table"]["table"]
    )
    paragraphs = sorted(context["paragraphs"], key=lambda p: p["order"])
    text = "".join(f"<p>{html.escape(p['text'])}</p>" for p in paragraphs)
    return f"<!doctype html><html><head><meta charset='utf-8'></head><body><table>{rows}</table>{text}</body></html>"
