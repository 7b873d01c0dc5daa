"""Questions of the evaluation sets with passages of their documents, cut as the product cuts them, without a stack.

A document is read by the search service's own code, its passages get the retriever's header, and a question is shown
the eight that TF-IDF finds in the documents of its set, its own 0.15 nearer, as a filter for company and period would
bring them; once more without its own, those of the same company nearer. Facts of statements, which answer before the
reader does, and what the knowledge base lacks are left out. Passages are kept, a file for each document, as reading a
filing takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from quelea_evaluation.sets import SETS
from quelea_evaluation.sets.analyst import AnalystQuestion, load
from quelea_evaluation.sets.model import Question, SourceDocument
from quelea_generator.core.model import Evidence, Task
from quelea_retriever.core.header import contextual_header
from quelea_search.adapters.formats import parse
from quelea_search.core.chunk import chunk
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import ParseLimits
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # no stubs are published

ANALYSTS = {"direction": "analyst_direction.jsonl", "fresh": "analyst_fresh.jsonl", "analyst": "analyst.jsonl"}
SHOWN, NEARER = 8, 0.15
EVERY = {"fintextqa": 3}
"""Of a set of long documents not every question is read."""
AS_OF = date(2026, 1, 1)
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Asked:
    """A question of a set, with its documents among the passages and without; None where there are no others."""

    question: Question | AnalystQuestion
    there: Task
    away: Task | None


def read_set(name: str, data: Path, kept: Path) -> Iterator[Asked]:
    """Every question of a set by its name, but follow-ups."""
    one = load(HERE / ANALYSTS[name], data) if name in ANALYSTS else SETS[name](data)
    passages = [(document.key, row) for document in one.documents for row in _passages(document, kept)]
    finder = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[A-Za-z0-9]+|[\u3400-\u9fff]")
    vectors = finder.fit_transform([f"{row['header']} {row['table_head']} {row['text']}" for _, row in passages])
    keys = np.array([key for key, _ in passages])
    companies = np.array([row["company"] or key for key, row in passages])
    for question in one.questions[:: EVERY.get(name, 1)]:
        if isinstance(question, AnalystQuestion) and question.after:
            continue
        near = (vectors @ finder.transform([question.text]).T).toarray().ravel()
        own = np.isin(keys, [*question.documents])
        there, away = near + NEARER * own, np.where(own, -1.0, near + NEARER * np.isin(companies, companies[own]))
        both = [_task(question.text, passages, of) if of.max() >= 0 else None for of in (there, away)]
        assert both[0]
        yield Asked(question, both[0], both[1])


def _task(question: str, passages: list[tuple[str, dict[str, Any]]], near: Any) -> Task:
    best = [passages[at][1] for at in np.argsort(-near, kind="stable")[:SHOWN] if near[at] >= 0]
    return Task(question, tuple(Evidence(number, **row) for number, row in enumerate(best, 1)), AS_OF)


def _passages(document: SourceDocument, kept: Path) -> list[dict[str, Any]]:
    path = kept / f"{sha256(document.data).hexdigest()[:24]}.json"
    if not path.exists():
        kept.mkdir(parents=True, exist_ok=True)
        parsed = parse(document.data, document.filename, limits=ParseLimits(), on_progress=lambda _done, _total: None)
        facts = read_metadata(parsed, document.filename, None)
        rows = [
            {
                "text": one.text,
                "header": contextual_header(facts, one.section),
                "table_head": one.table_head,
                "is_table": one.is_table,
                "published": facts.published,
                "period_end": facts.period.end_date,
                "period_label": facts.period.label,
                "company": facts.company,
            }
            for one in chunk(parsed)
        ]
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found
