"""`quelea eval cross-language`: the same questions in the other language, on filings and news of both in one base."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from quelea_evaluation.retrieval.variants import VARIANTS, Row, Variant, rows_of, search
from quelea_evaluation.sets import SETS
from quelea_evaluation.sets.model import EvaluationSet
from quelea_evaluation.stack.running import Stack, running_stack

_MEASURED = ("dense + header", "sparse + header", "all (default)")


def translations(path: Path) -> dict[str, dict[str, str]]:
    """The questions in the other language, by set and id. Lines: {"set", "id", "language", "question"}."""
    found: dict[str, dict[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["set"], {})[row["id"]] = row["question"]
    return found


def evaluate(questions: Path, data: Path, home: Path, say: Callable[[str], None]) -> dict[str, list[Row]]:
    """Measures of each set's questions as they were and translated, by "set, as written" and "set, translated".

    All documents of all sets stand in one knowledge base, so that those in the question's own language compete.
    """
    translated = translations(questions)
    sets = [SETS[name](data) for name in translated]
    documents = tuple(document for one in sets for document in one.documents)
    rows: dict[str, list[Row]] = {}
    with running_stack(home / "cross-language") as stack:
        ids = stack.ingest(documents, say)
        for one in sets:
            chosen = [q for q in one.questions if q.id in translated[one.name]]
            other = [replace(q, text=translated[one.name][q.id]) for q in chosen]
            for title, asked in (("as written", chosen), ("translated", other)):
                name = f"{one.name}, {title}"
                say(name)
                rows[name] = []
                for variant in (v for v in VARIANTS if v.name in _MEASURED):
                    rows[name] += _rows(variant, replace(one, questions=tuple(asked)), ids, stack)
    return rows


def _rows(variant: Variant, one: EvaluationSet, ids: dict[str, str], stack: Stack) -> list[Row]:
    results = asyncio.run(search(one, stack, ids, variant))
    return [row for row in rows_of(variant.name, one, results) if row.group == "all"]
