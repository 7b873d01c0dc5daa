"""Questions with their candidates as the second stage sees them, asked of a running retriever once and kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from quelea.retriever.v1 import retriever_pb2
from quelea_evaluation.gate.asking import groups_of
from quelea_evaluation.judging.figures import holds, holds_rounded
from quelea_evaluation.sets.model import Found, Question
from quelea_evaluation.stack.services import Retriever
from quelea_kit.errors import InvalidInput

DEPTH = 200
"""So many of the best candidates of today's ranking are learned from."""
_CONCURRENT = 4


@dataclass(frozen=True)
class Candidates:
    """What one question found.

    Args:
        set: Name of its data set.
        question: Its id.
        group: Documents that share a question are of one group; a fold has all of a group or nothing.
        in_filing: The search was narrowed to a company's documents.
        features: Shape (candidates, features).
        lists: Which of the interleaved lists each is from.
        documents: Of each, by a number of its own.
        right: Which passages answer.
        right_document: Which are of a right document.
    """

    set: str
    question: str
    group: str
    in_filing: bool
    features: NDArray[np.float64]
    lists: NDArray[np.int64]
    documents: NDArray[np.int64]
    right: NDArray[np.bool_]
    right_document: NDArray[np.bool_]


@dataclass(frozen=True)
class Weights:
    """One weight for each feature, for both kinds of search; shape (features,)."""

    anywhere: NDArray[np.float64]
    in_filing: NDArray[np.float64]

    def of(self, one: Candidates) -> NDArray[np.float64]:
        """Those that the question's search has."""
        return self.in_filing if one.in_filing else self.anywhere


@dataclass(frozen=True)
class Collected:
    """Candidates of many questions, and whose features they are."""

    encoder: str
    version: int
    names: tuple[str, ...]
    prior: Weights
    """Of the retriever that was asked."""
    questions: tuple[Candidates, ...]

    def __add__(self, other: Collected) -> Collected:
        if (self.encoder, self.version, self.names) != (other.encoder, other.version, other.names):
            raise InvalidInput(
                f"Candidates of {self.encoder} (features version {self.version}) and of {other.encoder} (version "
                f"{other.version}) cannot be learned from together; collect both again with --again."
            )
        return replace(self, questions=self.questions + other.questions)


def is_right(question: Question, found: Found) -> bool:
    """Whether a passage answers: of a right document, with one of the figures or on the page where one is known."""
    if found.document not in question.documents:
        return False
    if question.page is not None:
        return found.page == question.page
    if question.figures:
        return holds(found.text, question.figures) or holds_rounded(found.text, question.figures, question.amounts)
    return True


async def collect(name: str, questions: Sequence[Question], keys: dict[str, str], address: str) -> Collected:
    """Ask the retriever at an address; `keys` is the questions' name of a document by its id."""
    retriever, gate = Retriever(address), asyncio.Semaphore(_CONCURRENT)

    async def ask(question: Question) -> tuple[Question, retriever_pb2.SearchResponse]:
        async with gate:
            return question, await retriever.answer(
                retriever_pb2.SearchRequest(query=question.text, k=DEPTH, with_features=True)
            )

    answers = await asyncio.gather(*(ask(question) for question in questions))
    if not answers:
        raise InvalidInput(f"{name} has no questions.")
    first, group = answers[0][1], groups_of(questions)
    return Collected(
        encoder=first.encoder,
        version=first.ranker.features_version,
        names=tuple(first.ranker.features),
        prior=Weights(np.array(first.ranker.anywhere_weights), np.array(first.ranker.in_filing_weights)),
        questions=tuple(
            _candidates(name, question, group[min(question.documents)], answer, keys)
            for question, answer in answers
            if answer.passages
        ),
    )


def _candidates(
    name: str, question: Question, group: str, answer: retriever_pb2.SearchResponse, keys: dict[str, str]
) -> Candidates:
    numbers: dict[str, int] = {}
    found = [
        Found(
            keys.get(p.passage.document_id, p.passage.document_id),
            p.passage.page,
            f"{p.passage.table_head}\n{p.passage.text}",
        )
        for p in answer.passages
    ]
    return Candidates(
        set=name,
        question=question.id,
        group=f"{name}/{group}",
        in_filing=answer.ranker.in_filing,
        features=np.array([p.features for p in answer.passages], dtype=np.float64),
        lists=np.array([p.list_number for p in answer.passages], dtype=np.int64),
        documents=np.array([numbers.setdefault(f.document, len(numbers)) for f in found], dtype=np.int64),
        right=np.array([is_right(question, f) for f in found], dtype=np.bool_),
        right_document=np.array([f.document in question.documents for f in found], dtype=np.bool_),
    )


def save(collected: Collected, path: Path) -> None:
    """As one .npz file, without pickled objects."""
    sizes = [len(one.right) for one in collected.questions]
    about = {
        "encoder": collected.encoder,
        "version": collected.version,
        "names": collected.names,
        "anywhere": collected.prior.anywhere.tolist(),
        "in_filing": collected.prior.in_filing.tolist(),
        "questions": [
            {"set": one.set, "question": one.question, "group": one.group, "in_filing": one.in_filing}
            for one in collected.questions
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            about=np.array(json.dumps(about)),
            sizes=np.array(sizes),
            features=np.concatenate([one.features for one in collected.questions]),
            lists=np.concatenate([one.lists for one in collected.questions]),
            documents=np.concatenate([one.documents for one in collected.questions]),
            right=np.concatenate([one.right for one in collected.questions]),
            right_document=np.concatenate([one.right_document for one in collected.questions]),
        )


def load(path: Path) -> Collected:
    """What `save` wrote. Raises InvalidInput when it is something else."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            ends = np.cumsum(file["sizes"])[:-1]
            parts = {
                name: np.split(file[name], ends)
                for name in ("features", "lists", "documents", "right", "right_document")
            }
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(f"{path} has no candidates of a ranking ({error}); collect them anew.") from error
    return Collected(
        encoder=str(about["encoder"]),
        version=int(about["version"]),
        names=tuple(about["names"]),
        prior=Weights(np.array(about["anywhere"]), np.array(about["in_filing"])),
        questions=tuple(
            Candidates(
                set=str(said["set"]),
                question=str(said["question"]),
                group=str(said["group"]),
                in_filing=bool(said["in_filing"]),
                features=parts["features"][i],
                lists=parts["lists"][i],
                documents=parts["documents"][i],
                right=parts["right"][i],
                right_document=parts["right_document"][i],
            )
            for i, said in enumerate(about["questions"])
        ),
    )
