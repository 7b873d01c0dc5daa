"""DISC-FinLLM retriever_eval: 61 Chinese questions, each with two or three reference news (Apache-2.0)."""

from __future__ import annotations

import json
from pathlib import Path

from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument


def load(data: Path) -> EvaluationSet:
    """Read disc_finllm/retriever_eval.json; news that several questions share is one document."""
    rows = json.loads((data / "disc_finllm" / "retriever_eval.json").read_text(encoding="utf-8"))
    documents: dict[str, SourceDocument] = {}
    questions = []
    for number, row in enumerate(rows):
        gold = set()
        for text, url in row["reference"]:
            if url not in documents:
                key = f"news-{len(documents):03d}"
                documents[url] = SourceDocument(key, f"{key}.txt", text.encode())
            gold.add(documents[url].key)
        questions.append(Question(id=str(number), text=row["question"], kind="news", documents=frozenset(gold)))
    return EvaluationSet("disc", tuple(documents.values()), tuple(questions))
