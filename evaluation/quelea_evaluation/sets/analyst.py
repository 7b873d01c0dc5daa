"""Questions as an analyst asks them, with the answers that were read in the documents; one JSON object a line.

A document: `{"document": KEY, "file": PATH below the data folder}`, with `"tags": false` for inline XBRL that is given
without its tags, or `{"document": KEY, "note": {"title": …, "text": …}}`. A question: `{"id", "part", "kind",
"documents": [KEY], "question"}`, with `answer`, things that must all be said, each as its acceptable wordings;
`page`, what stands on the right page, each a text or a list of its acceptable wordings (what no page has together
stands on several right pages, of two companies for example); `after`, the question before it. One without `answer`
must be declined.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quelea_evaluation.inputs import BadInput, read_rows, show
from quelea_evaluation.sets.model import SourceDocument
from quelea_evaluation.statements.key import without_tags

_SHAPE = "a JSON object with “document” or “question”"


@dataclass(frozen=True)
class AnalystQuestion:
    """A question with its key; see the module."""

    id: str
    part: str
    kind: str
    text: str
    documents: frozenset[str]
    answer: tuple[tuple[str, ...], ...] = ()
    page: tuple[tuple[str, ...], ...] = ()
    after: str = ""


@dataclass(frozen=True)
class AnalystSet:
    """Documents and questions of one file."""

    documents: tuple[SourceDocument, ...]
    questions: tuple[AnalystQuestion, ...]


def load(path: Path, data: Path) -> AnalystSet:
    """Read a file of questions, and its documents below a folder of data.

    Raises:
        BadInput: A line is neither, a document cannot be read, or a question is about one that the file does not name.
    """
    documents: list[SourceDocument] = []
    questions: list[AnalystQuestion] = []
    for number, row in read_rows(path, _SHAPE):
        try:
            if "document" in row:
                documents.append(_document(row, data))
            else:
                questions.append(_question(row))
        except OSError as error:
            raise BadInput(f"{path}, line {number}: cannot read {error.filename}: {error.strerror}") from error
        except (KeyError, TypeError) as error:
            raise BadInput(f"{path}, line {number} must be {_SHAPE}, got {show(row)} ({error})") from error
    known = {one.key for one in documents}
    for question in questions:
        if strange := question.documents - known:
            raise BadInput(f"{path}: question {question.id} is about {sorted(strange)}, which no line of it describes")
    return AnalystSet(tuple(documents), tuple(questions))


def _document(row: Mapping[str, Any], data: Path) -> SourceDocument:
    key = str(row["document"])
    if "note" in row:
        return SourceDocument(key, f"{key}.json", json.dumps(row["note"], ensure_ascii=False).encode())
    path = data / str(row["file"])
    raw = path.read_bytes()
    raw, name = (gzip.decompress(raw), path.stem) if path.suffix == ".gz" else (raw, path.name)
    return SourceDocument(key, name, without_tags(raw.decode()).encode() if row.get("tags") is False else raw)


def _question(row: Mapping[str, Any]) -> AnalystQuestion:
    said: Sequence[Sequence[str]] = row.get("answer", ())
    return AnalystQuestion(
        id=str(row["id"]),
        part=str(row["part"]),
        kind=str(row["kind"]),
        text=str(row["question"]),
        documents=frozenset(row["documents"]),
        answer=tuple(tuple(one) for one in said),
        page=tuple((one,) if isinstance(one, str) else tuple(one) for one in row.get("page", ())),
        after=str(row.get("after", "")),
    )
