"""From answers and verdicts to the matrix: values of every item, and of every cell n, mean, interval and failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from quelea_evaluation.metrics.intervals import mean_interval
from quelea_evaluation.omni.questions.model import Passage, Question, passage_of
from quelea_evaluation.omni.scoring.judges import ASPECTS, Aspect, tasks_of
from quelea_evaluation.omni.scoring.rule_metrics import CODE, PAPER, measure_answer, measure_retrieval
from quelea_evaluation.reports.store import Row

FORMAT = "quelea.omni.result/1"
TEXT_METRICS = ("em_max", "em_mean", "f1_token", "f1_char", "rouge1", "rouge2", "rougeL")
RETRIEVAL_METRICS = ("map_relevant", "map_retrieved", "mrr")
RULE_METRICS = (*TEXT_METRICS, *RETRIEVAL_METRICS)
_ZERO_WHEN_FAILED = ("accuracy", "completeness", "utilization")


@dataclass
class Judged:
    """What one judge said: status and number by the verdict's key, and the aspects that it was asked about."""

    by_key: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    aspects: set[str] = field(default_factory=set)


Verdicts = Mapping[str, Judged]
"""By the judge's name."""


@dataclass
class Column:
    """Values of one metric, and the verdicts that gave none."""

    values: list[float] = field(default_factory=list)
    failed: int = 0
    not_applicable: int = 0
    unjudged: int = 0
    """Verdicts that the judge has not been asked for yet, or not to the end."""

    def as_row(self, *, lower_is_better: bool) -> Row:
        """n, mean, interval; failed ones beside it, and the mean if every failed one were the worst value."""
        found = mean_interval(self.values)
        row: Row = {"n": 0, "mean": None, "low": None, "high": None} if found is None else asdict(found)
        row |= {"failed": self.failed, "not_applicable": self.not_applicable, "unjudged": self.unjudged}
        total = len(self.values) + self.failed
        worst = self.failed if lower_is_better else 0
        row["mean_failed_as_worst"] = (sum(self.values) + worst) / total if total else None
        return row


@dataclass
class Cell:
    """Items of a cell or of a margin."""

    n: int = 0
    failures: int = 0
    declined: int = 0
    columns: dict[str, Column] = field(default_factory=dict)

    def add(self, item: Row) -> None:
        """Count an item as `item_of` made it."""
        self.n += 1
        self.failures += item["failed"]
        self.declined += item["declined"]
        for name, told in item["values"].items():
            column = self.columns.setdefault(name, Column())
            column.failed += told["failed"]
            column.not_applicable += told["not_applicable"]
            column.unjudged += told.get("unjudged", 0)
            if told["value"] is not None:
                column.values.append(told["value"])

    def as_row(self) -> Row:
        """As it stands in the result."""
        lower = {aspect.id for aspect in ASPECTS if aspect.lower_is_better}
        return {
            "n": self.n,
            "failures": self.failures,
            "declined": self.declined,
            "metrics": {
                name: self.columns[name].as_row(lower_is_better=name.partition("@")[0] in lower)
                for name in sorted(self.columns)
            },
        }


def item_of(question: Question, answer: Row, verdicts: Verdicts, *, retrieves: bool) -> Row:
    """Values of one answered question: each metric the mean over its turns.

    Where the system failed the measures of its text, of its retrieval and the judges' ACC, COM and UTL are 0.
    """
    failed = "error" in answer
    values: dict[str, Row] = {}
    rules = _failed_rules(retrieves) if failed else _rule_values(question, answer)
    for name, value in rules.items():
        values[name] = {"value": value, "failed": 0, "not_applicable": 0}
    values |= _values_of_judges(question, answer, verdicts, failed=failed)
    return {
        "id": question.id,
        "topic": question.topic,
        "task": question.task,
        "failed": failed,
        "declined": any(one.get("declined") for one in answer["turns"]),
        "values": values,
    }


def _failed_rules(retrieves: bool) -> Mapping[str, float | None]:
    return dict.fromkeys(RULE_METRICS if retrieves else TEXT_METRICS, 0.0)


def _rule_values(question: Question, answer: Row) -> dict[str, float | None]:
    turns: list[dict[str, float]] = []
    for asked, told in zip(question.turns, answer["turns"], strict=True):
        found = measure_answer(told["text"], asked.answers)
        if told["retrieved"] is not None and question.passages:
            retrieved = [passage_of("retrieved", one) for one in told["retrieved"]]
            found |= measure_retrieval(
                ids_by_relevance(retrieved, question.passages), [one.id for one in question.passages]
            )
        turns.append(found)
    return {name: _mean([one[name] for one in turns if name in one]) for name in RULE_METRICS}


def ids_by_relevance(retrieved: Iterable[Passage], relevant: Sequence[Passage]) -> list[str]:
    """Ids of what was retrieved, a passage that overlaps a relevant one under the id of that.

    One that covers several relevant passages gives each of them, one after the other.
    """
    ids: list[str] = []
    for one in retrieved:
        covered = [other.id for other in relevant if one.overlaps(other)]
        ids += [other for other in covered if other not in ids] or covered[:1] or [one.id]
    return ids


def _values_of_judges(question: Question, answer: Row, verdicts: Verdicts, *, failed: bool) -> dict[str, Row]:
    values: dict[str, Row] = {}
    for aspect in ASPECTS:
        by_judge: dict[str, Row] = {}
        for judge, given in verdicts.items():
            if aspect.id not in given.aspects:
                continue
            if failed:
                zero = 0.0 if aspect.id in _ZERO_WHEN_FAILED else None
                by_judge[judge] = {"value": zero, "failed": 0, "not_applicable": 0}
                continue
            wanted = [one.key for one in tasks_of(question, answer, (aspect,))]
            if wanted:
                by_judge[judge] = _of_verdicts([given.by_key.get(key) for key in wanted], aspect)
        if not by_judge:
            continue
        values |= {f"{aspect.id}@{judge}": one for judge, one in by_judge.items() if len(verdicts) > 1}
        values[aspect.id] = {
            "value": _mean([one["value"] for one in by_judge.values() if one["value"] is not None]),
            "failed": sum(one["failed"] for one in by_judge.values()),
            "not_applicable": sum(one["not_applicable"] for one in by_judge.values()),
            "unjudged": sum(one.get("unjudged", 0) for one in by_judge.values()),
        }
    return values


def _of_verdicts(verdicts: Sequence[tuple[str, int | None] | None], aspect: Aspect) -> Row:
    """Value and counts of one judge's verdicts on an answer's turns; None is one that was not given yet."""
    seen = [one for one in verdicts if one is not None]
    numbers = [value for status, value in seen if status == "given" and value is not None]
    applicable = [value / aspect.divisor for value in numbers if value != aspect.not_applicable]
    return {
        "value": _mean(applicable),
        "failed": sum(status != "given" for status, _ in seen),
        "not_applicable": len(numbers) - len(applicable),
        "unjudged": len(verdicts) - len(seen),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def read_verdicts(files: Mapping[str, Iterable[Row]]) -> dict[str, Judged]:
    """What every judge said; a later row of a key replaces an earlier one."""
    found: dict[str, Judged] = {}
    alike: dict[tuple[str, int | None], tuple[str, int | None]] = {}  # there are few kinds of them, and many verdicts
    for judge, rows in files.items():
        judged = found.setdefault(judge, Judged())
        for row in rows:
            said = (str(row["status"]), row["value"])
            judged.by_key[str(row["id"])] = alike.setdefault(said, said)
            judged.aspects.add(str(row["aspect"]))
    return found


def items_of(
    questions: Mapping[str, Question], answers: Iterable[Row], verdicts: Verdicts, *, retrieves: bool
) -> Iterator[Row]:
    """The item of every answer whose question is there, in the answers' order."""
    for answer in answers:
        question = questions.get(str(answer["id"]))
        if question is not None:
            yield item_of(question, answer, verdicts, retrieves=retrieves)


def summarize(items: Iterable[Row], expected: int) -> Row:
    """The result: cells, margins and everything, with how many questions have no answer row."""
    cells: dict[tuple[str, str], Cell] = {}
    topics: dict[str, Cell] = {}
    tasks: dict[str, Cell] = {}
    overall = Cell()
    for item in items:
        topic, task = item["topic"], item["task"]
        cell = cells.setdefault((topic, task), Cell())
        for one in (cell, topics.setdefault(topic, Cell()), tasks.setdefault(task, Cell()), overall):
            one.add(item)
    return {
        "format": FORMAT,
        "definitions": {"paper": dict(PAPER), "omnieval": dict(CODE)},
        "questions": expected,
        "unanswered": expected - overall.n,
        "overall": overall.as_row(),
        "by_topic": {name: topics[name].as_row() for name in sorted(topics)},
        "by_task": {name: tasks[name].as_row() for name in sorted(tasks)},
        "cells": [{"topic": a, "task": b, **cells[a, b].as_row()} for a, b in sorted(cells)],
    }
