"""Topics × tasks: the tree of topics, from a file, and the five tasks of OmniEval."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from quelea_evaluation.inputs import BadInput

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
_ID = re.compile(r"[a-z0-9_]{1,60}")
_MOST_TOPICS = 200


@dataclass(frozen=True)
class Topic:
    """A leaf of the tree: names by language, and what it belongs to."""

    id: str
    area: Mapping[str, str]
    name: Mapping[str, str]

    def label(self, language: str) -> str:
        """ "Banking - Retail banking", in the language, or in the one there is."""
        parts = (one.get(language) or next(iter(one.values()), "") for one in (self.area, self.name))
        return " - ".join(part for part in parts if part)


@dataclass(frozen=True)
class Task:
    """A kind of question.

    Args:
        documents: With how many sections questions of this kind are made: 1, 2 or either.
    """

    id: str
    name: Mapping[str, str]
    documents: tuple[int, ...]


TASKS = (
    Task("extractive", {"zh": "抽取类问答", "en": "Extractive"}, (1,)),
    Task("multi_hop", {"zh": "多跳推理类问答", "en": "Multi-hop"}, (1, 2)),
    Task("contrast", {"zh": "对比类问答", "en": "Contrast"}, (2,)),
    Task("long_form", {"zh": "长答案形式问答", "en": "Long-form"}, (2,)),
    Task("conversational", {"zh": "多轮对话能力", "en": "Conversational"}, (2,)),
)


@dataclass(frozen=True)
class Matrix:
    """The topics of a tree; the tasks are always the five."""

    name: str
    topics: tuple[Topic, ...]

    def topic(self, topic_id: str) -> Topic:
        """A topic by id; of an id that the tree does not have, one named like it."""
        return next((one for one in self.topics if one.id == topic_id), Topic(topic_id, {}, {"en": topic_id}))


def read_matrix(path: Path | None = None) -> Matrix:
    """The tree of a file, TOML or JSON, or the published one.

    Raises:
        BadInput: The file cannot be read, or a field is missing or of another kind.
    """
    if path is None:
        text = (resources.files(__package__) / "matrix.toml").read_text(encoding="utf-8")
        return parse_matrix(tomllib.loads(text), "matrix.toml")
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as {'JSON' if path.suffix == '.json' else 'TOML'}: {error}") from error
    return parse_matrix(document, path.name)


def parse_matrix(document: Any, place: str) -> Matrix:
    """The tree of a document as `matrix.toml` has it.

    Raises:
        BadInput: A field is missing or of another kind.
    """
    if not isinstance(document, dict) or not isinstance(document.get("topics"), list) or not document["topics"]:
        raise BadInput(f"{place}: topics must be a list of tables with id, area and name")
    if len(document["topics"]) > _MOST_TOPICS:
        raise BadInput(f"{place}: {len(document['topics'])} topics; {_MOST_TOPICS} at most")
    topics = tuple(_topic(f"{place}: topics[{at}]", one) for at, one in enumerate(document["topics"]))
    seen: set[str] = set()
    for one in topics:
        if one.id in seen:
            raise BadInput(f"{place}: the id {one.id!r} comes twice")
        seen.add(one.id)
    return Matrix(str(document.get("name") or Path(place).stem), topics)


def _topic(place: str, row: Any) -> Topic:
    if not isinstance(row, dict):
        raise BadInput(f"{place} must be a table")
    topic_id = row.get("id")
    if not isinstance(topic_id, str) or not _ID.fullmatch(topic_id):
        raise BadInput(f"{place}.id must be lower case letters, digits and _, got {topic_id!r}")
    return Topic(topic_id, _names(f"{place}.area", row.get("area", {})), _names(f"{place}.name", row.get("name")))


def _names(place: str, value: Any) -> dict[str, str]:
    if isinstance(value, str) and value:
        return {"en": value}
    wrong = not isinstance(value, dict) or not all(isinstance(one, str) and one for one in value.values())
    if wrong or (place.endswith(".name") and not value):
        raise BadInput(f"{place} must be a text, or texts by language (zh, en), got {value!r}")
    return dict(value)


def as_toml(matrix: Matrix) -> str:
    """The tree as a file that `read_matrix` reads and a person edits."""
    lines = [f"name = {_quote(matrix.name)}"]
    for one in matrix.topics:
        lines += ["", "[[topics]]", f"id = {_quote(one.id)}"]
        for field, names in (("area", one.area), ("name", one.name)):
            inner = ", ".join(f"{language} = {_quote(text)}" for language, text in names.items())
            lines.append(f"{field} = {{ {inner} }}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
