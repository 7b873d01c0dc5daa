"""`quelea eval gate`, first half: ask real questions with their document present, and again with it removed.

Nothing is encoded anew: each knowledge base is a copy of one that an evaluation has filled, with documents deleted.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quelea_evaluation.judging.figures import holds_rounded
from quelea_evaluation.sets.model import EvaluationSet, Question
from quelea_evaluation.stack.running import Stack, copy_of_home, running_stack
from quelea_evaluation.stack.services import encoder_of

_CALLERS = 2
_QUOTES = 3


@dataclass(frozen=True)
class Asked:
    """A question as it was answered from one knowledge base."""

    set: str
    question: str
    text: str
    group: str
    """Documents that share a question are of one group; a fold has all of a group or nothing."""
    answerable: bool
    """Its documents were there."""
    features: dict[str, float]
    right: bool
    """The answer's figure stands in a quote or, where it has none, a quote is of a right document."""
    reader: dict[str, float] = field(default_factory=dict)
    """What the reader made of the same passages (`read_verdict`), which the gate does not see; empty where it was asked
    before this was kept."""


def read_verdict(answer: dict[str, Any]) -> dict[str, float]:
    """The reader's verdict as features, each the larger the better the evidence answers.

    Args:
        answer: Of POST /v1/ask.
    """
    grounding = answer.get("grounding") or {"sentences": []}
    supported = [one["verdict"] == "supported" for one in grounding["sentences"] if one["verdict"] != "no_claim"]
    reason = (answer["declined"] or {}).get("reason", "")
    return {
        "reader_answers": float(not reason),
        "reader_finds": float(reason != "not_in_evidence"),
        "reader_quotes": min(len(answer["citations"]), _QUOTES) / _QUOTES,
        "reader_supported": sum(supported) / len(supported) if supported else 0.0,
        "reader_states": float(bool(answer.get("figures"))),
    }


def load_or_ask(
    one: EvaluationSet, home: Path, most: int, say: Callable[[str], None], *, again: bool = False
) -> tuple[str, list[Asked]]:
    """The encoder's name, and each of at most `most` questions twice.

    What was asked is kept in the home, and asked anew only with `again`. Of a set without documents the home has them,
    and the set names them by their ids; its questions and the models in use may change, and then it is asked anew.
    """
    mark = "" if one.documents else f"-{_mark(one, home)}"
    kept = home / f"gate-{one.name}-{most}{mark}.json"
    if kept.is_file() and not again:
        say(f"{one.name}: as asked before, {kept}")
        found = json.loads(kept.read_text(encoding="utf-8"))
        return str(found["encoder"]), [Asked(**row) for row in found["asked"]]
    encoder, asked = _ask_set(one, home, sample_evenly(one.questions, most), say)
    document = {"encoder": encoder, "asked": [asdict(a) for a in asked]}
    kept.write_text(json.dumps(document, ensure_ascii=False, indent=0), encoding="utf-8")
    return encoder, asked


def _mark(one: EvaluationSet, home: Path) -> str:
    """Of what the answers in a home of one's own depend on: the questions and the models in use, hashed."""
    models = home / one.name / "models" / "active" / "manifest.json"
    said = [
        sorted((question.id, question.text) for question in one.questions),
        models.read_text(encoding="utf-8") if models.is_file() else "",
        sorted((name, value) for name, value in os.environ.items() if name.startswith("QUELEA_EMBEDDER_")),
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


def sample_evenly(questions: Sequence[Question], most: int) -> list[Question]:
    """At most so many, from the whole of the set at even steps."""
    if len(questions) <= most:
        return list(questions)
    return [questions[i * len(questions) // most] for i in range(most)]


def groups_of(questions: Iterable[Question]) -> dict[str, str]:
    """Document key to the name of its group: documents of one question, and of others that share one, are together."""
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    for question in questions:
        first, *others = sorted(question.documents)
        for other in others:
            parent[root(other)] = root(first)
        root(first)
    return {key: root(key) for key in list(parent)}


def removals(keys: Iterable[str], questions: Sequence[Question]) -> list[tuple[frozenset[str], list[Question]]]:
    """Which documents to remove together, and which questions have then lost all of theirs; each question once.

    Every second document, then the others; a question that still has a document left is asked where every second
    group of documents is removed.
    """
    ordered, group = sorted(keys), groups_of(questions)
    names = sorted(set(group.values()))
    plans = [
        frozenset(ordered[::2]),
        frozenset(ordered[1::2]),
        frozenset(key for key in group if group[key] in set(names[::2])),
        frozenset(key for key in group if group[key] in set(names[1::2])),
    ]
    left = list(questions)
    found = []
    for gone in plans:
        mine = [q for q in left if q.documents <= gone]
        left = [q for q in left if q not in mine]
        if mine:
            found.append((gone, mine))
    return found


def _ask_set(
    one: EvaluationSet, home: Path, questions: Sequence[Question], say: Callable[[str], None]
) -> tuple[str, list[Asked]]:
    folder, group = home / one.name, groups_of(questions)
    with running_stack(folder) as stack:
        ids = stack.ingest(one.documents, say) or {key: key for question in one.questions for key in question.documents}
        encoder = asyncio.run(encoder_of(stack.address("embedder")))
        keys = {document_id: key for key, document_id in ids.items()}
        say(f"{one.name}: {len(questions)} questions, every document there")
        found = list(_judge(one, questions, _ask_all(stack, questions), keys, group, answerable=True))
    for gone, mine in removals(ids, questions):
        with without(folder, [ids[key] for key in sorted(gone)], say) as stack:
            say(f"{one.name}: {len(mine)} questions, {len(gone)} of {len(ids)} documents removed")
            found += _judge(one, mine, _ask_all(stack, mine), keys, group, answerable=False)
    return encoder, found


@contextlib.contextmanager
def without(folder: Path, document_ids: Sequence[str], say: Callable[[str], None]) -> Iterator[Stack]:
    """A stack on a copy of a home (which must not run) with documents deleted; the copy is thrown away."""
    with copy_of_home(folder, "-removed") as copy, running_stack(copy) as stack:
        for document_id in document_ids:
            stack.http.delete(f"/v1/documents/{document_id}").raise_for_status()
        say(f"removed {len(document_ids)} documents")
        yield stack


def _ask_all(stack: Stack, questions: Sequence[Question]) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(_CALLERS) as pool:
        return list(pool.map(lambda q: stack.ask(q.text, "local"), questions))


def _judge(
    one: EvaluationSet,
    questions: Sequence[Question],
    answers: Sequence[dict[str, Any]],
    keys: dict[str, str],
    group: dict[str, str],
    *,
    answerable: bool,
) -> Iterator[Asked]:
    for question, answer in zip(questions, answers, strict=True):
        yield Asked(
            set=one.name,
            question=question.id,
            text=question.text,
            group=f"{one.name}/{group[min(question.documents)]}",
            answerable=answerable,
            features={name: float(value) for name, value in answer["gate"]["features"].items()},
            right=right(question, answer, keys),
            reader=read_verdict(answer),
        )


def right(question: Question, answer: dict[str, Any], keys: dict[str, str]) -> bool:
    """Whether an answer is right, as far as that can be told without reading it."""
    quotes = answer["citations"][:_QUOTES]
    if answer["declined"] or not quotes:
        return False
    if question.figures:
        return any(holds_rounded(q["quote"], question.figures, question.amounts) for q in quotes)
    return any(keys.get(q["document_id"]) in question.documents for q in quotes)
