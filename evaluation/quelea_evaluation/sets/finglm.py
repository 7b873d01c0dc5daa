"""FinGLM: five Chinese annual reports and the questions that they answer (no licence: read, never committed)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument

_FACT = re.compile(r"^[\d,.]{5,}元?$")


def load(data: Path) -> EvaluationSet:
    """Read the folder finglm; a question's figures are the report's own items, not what is computed from them."""
    folder = data / "finglm"
    documents: dict[str, SourceDocument] = {}
    for suffix in (".html", ".pdf"):
        for path in sorted((folder / "reports").glob(f"*{suffix}")):
            _date, name, _code, _short, year, _kind = path.stem.split("__")
            documents.setdefault(f"{name}/{year}", SourceDocument(f"{name}/{year}", path.name, path.read_bytes()))
    questions = []
    for line in (folder / "gold_questions_available_reports.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        prompt = row["prompt"]
        gold = {key for key in documents if key.startswith(prompt["ent_name"] + "/")}
        figures = {
            value.removesuffix("元").replace(",", "")
            for key, value in prompt.items()
            if isinstance(value, str) and _FACT.match(value) and key != "prom_answer"
        }
        if gold:
            kind = "figure" if figures else "text"
            questions.append(Question(str(row["id"]), row["question"], kind, frozenset(gold), frozenset(figures)))
    return EvaluationSet("finglm", tuple(documents.values()), tuple(questions))
