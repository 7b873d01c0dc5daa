"""Question sets of others as sources of pairs: what is stored, what is asked of it, and which passages answer.

Most are read by the evaluation's own loaders. Where a set names the document and not the passage, the answer's words or
figures tell which passages of the document are right; a question none of whose passages has them gives no pair. Where
the answer has neither figure nor page, nothing tells the passage: such a question tests whether its document is found,
in a set that is never trained on, and gives no pair in others.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.judging.figures import holds_rounded
from quelea_evaluation.sets import load_set
from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument

from quelea_training.pairs.model import Passage

Holds = Callable[[Passage], bool]


@dataclass(frozen=True)
class Asked:
    """A question, the documents it is about, and how a right passage of theirs is known."""

    query: str
    kind: str
    documents: frozenset[str]
    """Keys of the set."""
    holds: Holds | None
    """None: the set does not say where in the documents; every passage of theirs counts as right."""
    by_figure: bool = False
    """Whether `holds` looks for a figure, which may stand in many passages."""


@dataclass(frozen=True)
class Source:
    """A set of documents with its licence."""

    name: str
    licence: str
    documents: tuple[SourceDocument, ...]
    asked: tuple[Asked, ...]
    never_train: bool = False
    """It measures what is lost elsewhere: to develop on and to test with."""


LICENCES = {
    "docugami": "MIT (docugami/KG-RAG-datasets)",
    "tatqa": "CC BY 4.0 (TAT-QA)",
    "disc": "Apache-2.0 (DISC-FinLLM)",
    "fintextqa": "MIT (FinTextQA); regulations are their issuers'",
    "convfinqa": "MIT (ConvFinQA)",
}
NEVER_TRAINED = frozenset({"disc", "fintextqa"})
SOURCES = tuple(LICENCES)
_BEGINNING = 60
"""Characters of a sentence that tell it from others of a page."""


def load_source(name: str, data: Path) -> Source:
    """A source by its name.

    Args:
        name: Of `SOURCES`.
        data: Folder of the data sets, as the evaluation has it.

    Raises:
        BadInput: There is none of that name, or its files are not below the folder.
    """
    if name not in LICENCES:
        raise BadInput(f"no set is called {name!r}; there are {', '.join(SOURCES)}, and “stored”")
    try:
        if name == "convfinqa":
            return _convfinqa(data)
        one = load_set(name, data)
        asked = tuple(_tatqa(data)) if name == "tatqa" else tuple(_of_set(one))
    except OSError as error:
        raise BadInput(f"{name}: cannot read {error.filename}: {error.strerror}; say where with --data") from error
    return Source(name, LICENCES[name], one.documents, asked, never_train=name in NEVER_TRAINED)


def _of_set(one: EvaluationSet) -> Iterator[Asked]:
    for question in one.questions:
        yield Asked(question.text, question.kind, question.documents, _holds(question), bool(question.figures))


def _holds(question: Question) -> Holds | None:
    if question.figures:
        return lambda passage: holds_rounded(passage.encoded, question.figures, question.amounts)
    if question.page is not None:
        return lambda passage: passage.page == question.page
    return None


def _tatqa(data: Path) -> Iterator[Asked]:
    """The set's own answers: their words stand in a right passage; a computed one is read from the table."""
    contexts = json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text(encoding="utf-8"))
    for number, context in enumerate(contexts):
        label = context["table"]["table"][-1][0]
        for question in context["questions"]:
            said = question["answer"] if isinstance(question["answer"], list) else [question["answer"]]
            words = [str(one) for one in said] if question["answer_type"] in ("span", "multi-span") else [label]
            documents = frozenset({f"context-{number:03d}"})
            yield Asked(
                question["question"], f"{question['answer_type']} of {question['answer_from']}", documents, _says(words)
            )


def _says(words: list[str]) -> Holds:
    wanted = ["".join(one.split()).casefold() for one in words]
    return lambda passage: any(one in "".join(passage.encoded.split()).casefold() for one in wanted)


def _convfinqa(data: Path) -> Source:
    """The first question of each conversation, which stands alone; others lean on answers before.

    The right passage has the row that answers it, or the beginning of the sentence where no row does.
    """
    rows = json.loads((data / "convfinqa" / "convfinqa_dev_pot.json").read_text(encoding="utf-8"))
    documents: dict[str, SourceDocument] = {}
    asked = []
    for row in rows:
        page = (
            str(row["id"]).partition("_")[2].partition(".pdf")[0]
        )  # Single_MRO/2007/page_134.pdf-1, Double_…/page_9.pdf
        ticker, year, *_ = page.split("/")
        key = page.replace("/", "-")
        metadata = {"company": ticker, "ticker": ticker, "title": f"{ticker} annual report {year}"}
        documents.setdefault(key, SourceDocument(key, f"{key}.html", _page(row), metadata))
        golden = [line.split(" | ")[0] for line in str(row["golden_table"]).splitlines()[1:]]
        answer = golden[0].strip() if golden else str(row["golden_text"])[:_BEGINNING].strip()
        if answer:
            asked.append(Asked(f"{ticker} {year}: {row['questions'][0]}", "figure", frozenset({key}), _says([answer])))
    return Source("convfinqa", LICENCES["convfinqa"], tuple(documents.values()), tuple(asked))


def _page(row: Mapping[str, Any]) -> bytes:
    table = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line.split(" | ")) + "</tr>"
        for line in str(row["table"]).splitlines()
    )
    text = f"<p>{html.escape(str(row['text']))}</p>"
    head = "<!doctype html><html><head><meta charset='utf-8'></head>"
    return f"{head}<body><table>{table}</table>{text}</body></html>".encode()
