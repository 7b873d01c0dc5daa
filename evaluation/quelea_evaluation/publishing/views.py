"""What the gateway's page shows of a run: its result, and every item with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from quelea_evaluation.arena.arena_folder import Arena, dialogue_id
from quelea_evaluation.arena.leaderboard import rate_games_table
from quelea_evaluation.arena.people import compare_with_people, describe_raters
from quelea_evaluation.arena.statistics import describe_arena, failure_notices
from quelea_evaluation.arena.votes import read_all_votes
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.matrix import TASKS, Matrix
from quelea_evaluation.omni.questions.model import Passage, Question, passage_of
from quelea_evaluation.omni.reporting.page import SHOWN
from quelea_evaluation.omni.reporting.report import Run, read_result, read_values
from quelea_evaluation.omni.scoring.judges import ASPECTS, verdict_key
from quelea_evaluation.reports.store import Row, RowIndex

_TITLE = 200
"""Longest title of an item, in characters."""
LINE = ("id", "topic", "task", "title", "failed", "declined", "values")
"""Fields of an item that stand in the index too."""


def omni_result(run: Run, matrix: Matrix) -> Row:
    """The result of a reported run, with the names of topics, tasks and metrics to show.

    Raises:
        BadRun: There is no report yet.
    """
    result = read_result(run.folder)
    named = {one.id for one in matrix.topics}
    topics = [one.id for one in matrix.topics] + sorted(set(result["by_topic"]) - named)
    shown = [name for name in SHOWN if name in result["overall"]["metrics"]]
    return {
        **result,
        "topics": [{"id": one, **{name: matrix.topic(one).label(name) for name in ("en", "zh")}} for one in topics],
        "tasks": [{"id": one.id, **one.name} for one in TASKS],
        "metrics": shown,
        "lower_is_better": [one.id for one in ASPECTS if one.lower_is_better],
        "scales": {one.id: list(one.scale) for one in ASPECTS},
    }


def omni_items(run: Run) -> Iterator[Row]:
    """Every item of a reported run: question, evidence, answer, verdicts; one in memory at a time."""
    answers = RowIndex(run.answers)
    verdicts = {judge: RowIndex(rows) for judge, rows in run.verdict_files().items()}
    system = str(run.manifest["settings"]["system"])
    for values in read_values(run.folder):
        question = run.questions[values["id"]]
        answer = answers.get(question.id) or {"turns": []}
        yield {
            "id": question.id,
            "topic": question.topic,
            "task": question.task,
            "title": question.turns[0].question[:_TITLE],
            "failed": values["failed"],
            "declined": values["declined"],
            "values": {name: told["value"] for name, told in values["values"].items()},
            "dialogues": [_dialogue(system, question, answer)],
            "evidence": [
                *(_evidence("relevant", one) for one in question.passages),
                *(
                    _evidence("read", passage_of("documents", one))
                    for turn in answer["turns"]
                    for one in turn.get("documents") or ()
                ),
            ],
            "verdicts": list(_verdicts(question, answer, verdicts)),
        }


def _dialogue(system: str, question: Question, answer: Row) -> Row:
    turns = []
    for at, turn in enumerate(question.turns):
        turns.append({"role": "question", "text": turn.question})
        turns += [{"role": "reference", "text": one} for one in turn.answers]
        if at < len(answer["turns"]):
            turns.append({"role": "answer", "text": answer["turns"][at]["text"]})
    return {"system": system, "turns": turns, "error": answer.get("error")}


def _evidence(role: str, one: Passage) -> Row:
    place = {name: getattr(one, name) for name in ("document_id", "title", "page", "start", "end", "text")}
    return {"role": role, **place}


def _verdicts(question: Question, answer: Row, verdicts: Mapping[str, RowIndex]) -> Iterator[Row]:
    for at, turn in enumerate(answer["turns"]):
        for aspect in ASPECTS:
            for judge, rows in verdicts.items():
                row = rows.get(verdict_key(question.id, at, aspect.id, turn["text"]))
                if row is None:
                    continue
                failed = row["status"] != "given"
                yield {
                    "judge": judge,
                    "about": aspect.id if len(answer["turns"]) == 1 else f"{aspect.id}, {at + 1}",
                    "verdict": "" if failed else str(row["value"]),
                    "text": str(row.get("text") or row.get("problem", "")),
                    "failed": failed,
                }


def arena_result(arena: Arena) -> Row:
    """Leaderboard, wins, failures, and agreement with people where some voted.

    Raises:
        BadInput: Several judged, nobody did, or no judgement has a score.
    """
    judge = arena.only_judge(None)
    games, run = arena.games(judge), describe_arena(arena, judge)
    if not games:
        errors = run["judgements"]["errors"] or "no error"
        raise BadInput(f"no judgement of {judge} has a score: {run['judgements']['statuses']}, {errors}")
    table = rate_games_table(games)
    result = {**table, **run, "notices": [*failure_notices(run), *table["notices"]]}
    if votes := read_all_votes(arena):
        result["agreement"] = {"raters": describe_raters(votes), "people": compare_with_people(games, votes)}
    return result


def arena_items(arena: Arena) -> Iterator[Row]:
    """Every judgement with both dialogues."""
    judge = arena.only_judge(None)
    dialogues = {system: arena.dialogues(system) for system in arena.systems}
    for row in arena.judgements(judge).latest():
        names = (row["first"], row["second"])
        both = {name: dialogues[name].get(dialogue_id(row["item"])) for name in names}
        yield {
            "id": str(row["id"]).replace(" ", ":"),
            "topic": " · ".join(names),
            "task": row["task"],
            "title": f"{row['item']}: {_first_words(both)}",
            "failed": row["score"] is None,
            "declined": False,
            "values": {"score": row["score"]},
            "dialogues": [_talk(name, one) for name, one in both.items()],
            "evidence": [],
            "verdicts": [
                {
                    "judge": judge,
                    "about": " · ".join(one["order"]),
                    "verdict": "" if one["error"] else one["winner"] or "=",
                    "text": str(one.get("text") or one["error"] or ""),
                    "failed": bool(one["error"]),
                }
                for one in row["verdicts"]
            ],
        }


def _first_words(both: Mapping[str, Row | None]) -> str:
    said = (turn["content"] for one in both.values() if one for turn in one["turns"] if turn["role"] == "user")
    return str(next(said, ""))[:_TITLE]


def _talk(name: str, dialogue: Row | None) -> Row:
    if dialogue is None:
        return {"system": name, "turns": [], "error": "no dialogue"}
    turns = [{"role": turn["role"], "text": turn["content"]} for turn in dialogue["turns"]]
    return {"system": name, "turns": turns, "error": dialogue.get("error")}


def is_arena(folder: Path) -> bool:
    """The folder is that of an arena, not of a run of OmniEval."""
    return (folder / "systems").is_dir()
