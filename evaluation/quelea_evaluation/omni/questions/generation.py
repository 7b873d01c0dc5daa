"""`quelea eval omni generate`: questions for every cell, written over the documents in the knowledge base.

Sections are sorted by topic; for each cell a model writes questions about one section or two, another call inspects
each (0 drop, 1 correct, 2 keep), and what is left is cleaned. Every call is kept under the hash of what was asked, so
that a run that was broken off, or one with more documents, asks only what is new. What cannot be read is a failure and
is counted, never a question. Calls, sections and questions are in files; in memory are their places.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from quelea_evaluation.endpoints.chat import Chat, Message, Unparseable, parse_object
from quelea_evaluation.endpoints.client import EndpointError
from quelea_evaluation.endpoints.work import Liveness, run_all
from quelea_evaluation.omni.matrix import TASKS, Language, Matrix, Task
from quelea_evaluation.omni.prompts import Prompts, load_prompts
from quelea_evaluation.omni.questions.knowledge import Section, SectionFile, SectionPlace, locate
from quelea_evaluation.omni.questions.model import Passage, Question, Turn, question_id
from quelea_evaluation.reports.store import Row, RowFile, RowIndex, hash_json, hash_text

PARTNERS = 5
"""Second sections that are tried with a first one, as OmniEval has them."""
ITEMS = 3
"""Questions asked for in one call."""

Dropped = Counter[str]


@dataclass
class Cell:
    """What became of a cell."""

    topic: str
    task: Task
    questions: dict[str, int] = field(default_factory=dict)
    """Id → where it is among the drafts."""
    dropped: Dropped = field(default_factory=Counter)
    writings: int = 0
    """Calls that wrote for it."""
    gave_up: bool = False
    """It was left short when its calls were used up, with sections to spare."""


class Drafts:
    """Questions in a file, as they come from all cells.

    Args:
        path: What is there is of an earlier call, and is removed.
    """

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._rows = RowFile(path)

    def add(self, cell: Cell, question: Question) -> None:
        """Keep a question of a cell."""
        cell.questions[question.id] = self._rows.append(question.as_row())

    def of(self, cells: Sequence[Cell]) -> Iterator[Row]:
        """Rows of the questions, cell by cell; one in memory at a time."""
        return (self._rows.read_at(place) for cell in cells for place in cell.questions.values())

    def remove(self) -> None:
        """They are in questions.jsonl now."""
        self._rows.close()
        self._rows.path.unlink(missing_ok=True)


@dataclass
class Spent:
    """What the calls took; `asked` counts this session, the others everything that is kept."""

    calls: int = 0
    asked: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    """Replies of which the endpoint told no tokens: the sums are too small by these."""


class Failed(Exception):
    """A call gave nothing that can be used; the message is the reason that is counted."""


class Calls:
    """Calls of a model, each kept in a file under the hash of what was asked; in memory are only their places.

    Args:
        rows: Where they are kept.
    """

    def __init__(self, chat: Chat, rows: RowFile, on_call: Callable[[Spent], None] = lambda _: None) -> None:
        self._chat = chat
        self._kept = RowIndex(rows)
        self._liveness = Liveness()
        self._on_call = on_call
        self.spent = Spent()

    @property
    def model(self) -> str:
        """The model's name."""
        return self._chat.model

    async def ask(self, kind: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The object that the model wrote.

        Raises:
            Failed: It wrote none, was cut at the limit of tokens, or the endpoint refused.
            Gone: The endpoint stopped answering.
        """
        key = hash_json([self._chat.model, [dict(one) for one in messages], schema])
        row = self._kept.get(key)
        if row is None:
            row = {"id": key, "kind": kind, "model": self._chat.model, **await self._answer(messages, schema)}
            self.spent.asked += 1
            if not row.get("passing"):
                self._kept.append(row)
        self.spent.calls += 1
        self.spent.prompt_tokens += row["prompt_tokens"]
        self.spent.completion_tokens += row["completion_tokens"]
        self.spent.uncounted += bool(row["text"]) and not row["prompt_tokens"]
        self._on_call(self.spent)
        if row["problem"]:
            raise Failed(f"{kind}: {row['problem']}")
        try:
            return parse_object(row["text"])
        except Unparseable as error:
            cut = row["finish_reason"] == "length"
            raise Failed(f"{kind}: {'cut at the limit of tokens' if cut else 'no JSON'}") from error

    def check(self) -> None:
        """At the end of a stage.

        Raises:
            Gone: The endpoint answered nothing at all.
        """
        self._liveness.check()

    async def _answer(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> Row:
        try:
            reply = await self._chat.complete(messages, schema=schema)
        except EndpointError as error:
            self._liveness.failed(error)
            nothing: Row = {"text": "", "finish_reason": "", "prompt_tokens": 0, "completion_tokens": 0}
            return {**nothing, "problem": "the endpoint refused", "error": str(error), "passing": error.passing}
        self._liveness.succeeded()
        return {
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "problem": "",
        }


async def classify(
    sections: SectionFile, matrix: Matrix, calls: Calls, concurrency: int
) -> tuple[dict[str, list[SectionPlace]], Dropped]:
    """Topic → its sections in their order; and why sections have none."""
    found: dict[int, str] = {}
    dropped: Dropped = Counter()

    async def sort(place: SectionPlace) -> None:
        try:
            found[place.at] = await _topic(sections.read(place), matrix, calls)
        except Failed as failure:
            dropped[str(failure)] += 1

    await run_all(sections, sort, concurrency)
    calls.check()
    topics: dict[str, list[SectionPlace]] = {one.id: [] for one in matrix.topics}
    for place in sections:
        if topic := found.get(place.at):
            topics[topic].append(place)
    return topics, dropped


async def _topic(section: Section, matrix: Matrix, calls: Calls) -> str:
    prompts = _prompts(section)
    listed = "\n".join(f"{at}. {one.label(prompts.language)}" for at, one in enumerate(matrix.topics, 1))
    schema = _object(topic={"type": "integer", "minimum": 0, "maximum": len(matrix.topics)})
    messages = prompts.messages("classify", topics=listed, sections=_number_sections([section]))
    number = (await calls.ask("topic", messages, schema)).get("topic")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= len(matrix.topics):
        raise Failed("topic: not one of the numbers")
    if number == 0:
        raise Failed("topic: none of the topics")
    return matrix.topics[number - 1].id


async def fill(
    topics: Mapping[str, Sequence[SectionPlace]],
    sections: SectionFile,
    matrix: Matrix,
    wanted: Sequence[tuple[str, Task]],
    calls: Calls,
    drafts: Drafts,
    per_cell: int,
    tries: int,
    concurrency: int,
) -> list[Cell]:
    """Write, inspect and clean questions until each cell has enough, or its sections or its calls are used up.

    Args:
        per_cell: Questions of a cell, at most.
        tries: Calls that write for a cell, at most, for each of these questions. A writer that quotes badly would
            else be asked about every pair of sections.
    """
    cells = [Cell(topic, task) for topic, task in wanted]

    async def work(cell: Cell) -> None:
        seen: set[str] = set()
        for places in candidates(topics.get(cell.topic, ()), cell.task):
            if len(cell.questions) >= per_cell:
                return
            if cell.writings == tries * per_cell:
                cell.gave_up = True
                return
            cell.writings += 1
            chosen = tuple(map(sections.read, places))
            try:
                await _write(cell, chosen, matrix, calls, drafts, per_cell, seen)
            except Failed as failure:
                cell.dropped[str(failure)] += 1

    await run_all(cells, work, concurrency)
    calls.check()
    return cells


def candidates(sections: Sequence[SectionPlace], task: Task) -> Iterator[tuple[SectionPlace, ...]]:
    """What a cell's questions may be written about, in order: each section alone, and with partners.

    Partners are the next sections in its language: those of its own document first, for sections come document by
    document, then of others on the topic.
    """
    for at, first in enumerate(sections):
        if 1 in task.documents:
            yield (first,)
        if 2 in task.documents:
            later = (sections[number] for number in range(at + 1, len(sections)))
            alike = (one for one in later if one.language == first.language)
            yield from ((first, one) for one in islice(alike, PARTNERS))


async def _write(
    cell: Cell,
    sections: Sequence[Section],
    matrix: Matrix,
    calls: Calls,
    drafts: Drafts,
    per_cell: int,
    seen: set[str],
) -> None:
    prompts = _prompts(sections[0])
    shape = "conversational" if cell.task.id == "conversational" else "single"
    item = _item_schema(shape, len(sections))
    task_text = prompts.text("tasks", cell.task.id)
    messages = prompts.messages(
        "generate",
        topic=matrix.topic(cell.topic).label(prompts.language),
        task=task_text,
        shape=prompts.text("shapes", shape),
        most=ITEMS,
        sections=_number_sections(sections),
    )
    schema = _object(items={"type": "array", "maxItems": ITEMS, "items": item})
    items = (await calls.ask("writing", messages, schema)).get("items")
    if not isinstance(items, list):
        raise Failed("writing: no items")
    if not items:
        cell.dropped["writing: the model found nothing to ask"] += 1
    for one in items[:ITEMS]:
        if len(cell.questions) >= per_cell:
            return
        try:
            question = await _inspect(cell, one, sections, prompts, calls, item)
        except Failed as failure:
            cell.dropped[str(failure)] += 1
            continue
        words = hash_text("".join(question.turns[0].question.lower().split()))
        if words in seen:
            cell.dropped["asked before"] += 1
            continue
        seen.add(words)
        drafts.add(cell, question)


async def _inspect(
    cell: Cell,
    item: Any,
    sections: Sequence[Section],
    prompts: Prompts,
    calls: Calls,
    schema: Mapping[str, Any],
) -> Question:
    turns, passages = clean(item, sections, cell.task)
    shape = "conversational" if cell.task.id == "conversational" else "single"
    messages = prompts.messages(
        "inspect",
        task=prompts.text("tasks", cell.task.id),
        shape=prompts.text("shapes", shape),
        sections=_number_sections(sections),
        item=json.dumps(item, ensure_ascii=False),
    )
    # A correction stands where one is announced, and only there. The outermost schema may have no alternatives in
    # the protocol's strict mode, so they stand one level down.
    verdicts = (
        _object(evaluation={"type": "integer", "enum": [0, 2]}, corrected={"type": "null"}),
        _object(evaluation={"type": "integer", "enum": [1]}, corrected=schema),
    )
    reply = await calls.ask("inspection", messages, _object(inspection={"anyOf": list(verdicts)}))
    verdict = reply.get("inspection", reply)
    if not isinstance(verdict, dict):
        raise Failed("inspection: no object")
    mark = verdict.get("evaluation")
    if mark not in (0, 1, 2) or isinstance(mark, bool):
        raise Failed("inspection: not 0, 1 or 2")
    if mark == 0:
        raise Failed("inspection: useless")
    if mark == 1:
        turns, passages = clean(verdict.get("corrected"), sections, cell.task)
    return Question(
        id=question_id(cell.topic, cell.task.id, turns, passages),
        topic=cell.topic,
        task=cell.task.id,
        language=prompts.language,
        turns=turns,
        passages=passages,
        source={
            "model": calls.model,
            "prompt_version": prompts.version,
            "sections": [one.id for one in sections],
            "inspection": mark,
        },
    )


def clean(item: Any, sections: Sequence[Section], task: Task) -> tuple[tuple[Turn, ...], tuple[Passage, ...]]:
    """Turns and passages of what a model wrote.

    Raises:
        Failed: A field is missing or empty, or a quotation is not in its section.
    """
    if not isinstance(item, dict):
        raise Failed("cleaning: no object")
    rows = item.get("turns") if task.id == "conversational" else [item]
    if not isinstance(rows, list) or not rows or (task.id == "conversational" and len(rows) < 2):
        raise Failed("cleaning: a conversation of fewer than two turns")
    turns = tuple(_turn(one) for one in rows)
    quoted = item.get("passages")
    if not isinstance(quoted, list) or not quoted:
        raise Failed("cleaning: no relevant passage")
    places: dict[str, Passage] = {}
    for one in quoted:
        number, text = (one.get("section"), one.get("text")) if isinstance(one, dict) else (None, None)
        if not isinstance(number, int) or not 1 <= number <= len(sections) or not isinstance(text, str):
            raise Failed("cleaning: a passage of no section")
        place = locate(text, sections[number - 1])
        if place is None:
            raise Failed("cleaning: a passage that is not in its section")
        places[place.id] = place
    used = {(one.document_id, one.page) for one in places.values()}
    if len(sections) > 1 and task.id in ("multi_hop", "contrast") and len(used) < len(sections):
        raise Failed("cleaning: rests on one of two sections")
    return turns, tuple(places.values())


def _turn(row: Any) -> Turn:
    question = row.get("question") if isinstance(row, dict) else None
    answers = row.get("answers") if isinstance(row, dict) else None
    answers = [answers] if isinstance(answers, str) else answers
    if not isinstance(question, str) or not question.strip():
        raise Failed("cleaning: no question")
    if not isinstance(answers, list) or not answers or not all(isinstance(one, str) and one.strip() for one in answers):
        raise Failed("cleaning: no answer")
    return Turn(question.strip(), tuple(dict.fromkeys(one.strip() for one in answers)))


def _prompts(section: Section) -> Prompts:
    language: Language = "zh" if section.language == "zh" else "en"
    return load_prompts(language)


def _number_sections(sections: Sequence[Section]) -> str:
    return "\n\n".join(f"[{at}] {one.place.title}\n{one.place.text}" for at, one in enumerate(sections, 1))


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: dict(one) for name, one in properties.items()}
    return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}


def _item_schema(shape: str, sections: int) -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    answers = {"type": "array", "items": text, "minItems": 1, "maxItems": 5}
    turn = _object(question=text, answers=answers)
    quoted = _object(section={"type": "integer", "minimum": 1, "maximum": sections}, text=text)
    passages = {"type": "array", "items": quoted, "minItems": 1, "maxItems": 6}
    if shape == "conversational":
        return _object(turns={"type": "array", "items": turn, "minItems": 2, "maxItems": 4}, passages=passages)
    return _object(question=text, answers=answers, passages=passages)


def wanted_cells(matrix: Matrix, topics: Sequence[str], tasks: Sequence[str]) -> list[tuple[str, Task]]:
    """The cells of some topics and tasks; all where none is named."""
    chosen = [one.id for one in matrix.topics if not topics or one.id in topics]
    return [(topic, task) for topic in chosen for task in TASKS if not tasks or task.id in tasks]
