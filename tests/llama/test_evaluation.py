"""`quelea eval` with a real model as writer, tested system and judge: that every step reads real text.

What a small model writes is poor and differs between processors, so nothing here rests on what it says: a verdict, a
counted failure, a dropped question are all right; a step that ends, loses an item or hides a failure is not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.cli import app
from support.stack import Stack
from typer.testing import CliRunner

pytestmark = pytest.mark.slow(reason="a language model writes and judges, on the CPU")

PAGE = (
    "Larkfield Foods\nHalf-year report, six months ended June 30, 2022\n"
    "Revenue rose to $412 million from $365 million a year before. The company opened nine bakeries and closed two. "
    "Capital expenditure was $31 million. The board declared an interim dividend of 14 cents a share.\n"
)
TREE = '[[topics]]\nid = "food"\nname = "Results of food companies"\n[[topics]]\nid = "ships"\nname = "Shipping"\n'
ASKED = (
    ("What was the revenue of Larkfield Foods in the first half of 2022?", "$412 million"),
    ("How many bakeries did Larkfield Foods open in the first half of 2022?", "nine"),
)


def evaluate(*arguments: object, codes: tuple[int, ...] = (0,)) -> Any:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code in codes, result.output
    return json.loads(result.stdout)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    shared = {"topic": "food", "task": "extractive", "language": "en", "passages": []}
    turns = [[{"question": question, "answers": [answer]}] for question, answer in ASKED]
    file.write_text(
        "".join(json.dumps({**shared, "id": f"q{at}", "turns": one}) + "\n" for at, one in enumerate(turns))
    )
    return file


def test_questions_are_written_over_the_documents(product: Stack, tmp_path: Path) -> None:
    product.ingest(("larkfield.txt", PAGE.encode()), metadata={"company": "Larkfield Foods"})
    tree = tmp_path / "topics.toml"
    tree.write_text(TREE)
    told = evaluate(
        *("omni", "generate", "--model", "stack", "--home", product.home, "--gateway", product.url),
        *("--tree", tree, "--topic", "food", "--task", "extractive", "--per-cell", 2, "--concurrency", 1),
        *("--out", tmp_path / "made", "--json"),
    )
    assert told["sections"] == 1  # the page of Harrow Lines says too little to ask about
    calls = rows(tmp_path / "made" / "calls.jsonl")
    assert told["calls"] == len(calls)
    assert calls[0]["kind"] == "topic"
    assert all(one["problem"] == "" and one["prompt_tokens"] > 0 for one in calls)
    (cell,) = told["cells"]
    without_topic = sum(told["sections_without_topic"].values()) + told["sections_by_topic"]["ships"]
    assert cell["questions"] + sum(cell["dropped"].values()) + without_topic > 0
    made = rows(tmp_path / "made" / "questions.jsonl")
    assert len(made) == cell["questions"] <= 2
    assert all(passage["text"] in PAGE for one in made for passage in one["passages"])


def test_answers_are_judged_and_shown(product: Stack, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    stack = ("--home", product.home, "--concurrency", 1, "--json")
    assert evaluate("omni", "run", questions, "--out", out, "--system", "stack", *stack)["answers"] == len(ASKED)
    told = evaluate("omni", "judge", out, "--judge", "stack", "--aspects", "ACC,NAC", *stack)
    assert told["stack"]["verdicts"] == 2 * len(ASKED)
    given = [one for one in rows(next(out.glob("judges/*/verdicts.jsonl"))) if one["status"] == "given"]
    assert len(given) == told["stack"]["verdicts"] - told["stack"]["failed"] > 0
    assert all(one["value"] in (-1, 0, 1, 2) for one in given)
    result = evaluate("omni", "report", out, "--no-pictures", "--json")
    accuracy = result["overall"]["metrics"]["accuracy"]
    assert accuracy["n"] + accuracy["failed"] == len(ASKED)
    assert ASKED[0][0] in (out / "report.html").read_text("utf-8")


def test_two_systems_meet_in_an_arena(product: Stack, tmp_path: Path) -> None:
    item = {
        "id": 1,
        "role_prompt": "",
        "model_prompt": "{needs}",
        "information": "",
        "needs": "What was the operating income of Harrow Lines in the three months ended June 30, 2021?",
        "evaluation_prompt": "{needs} {dialogue1} {dialogue2}",
        "evaluation_hints": "It was $77 million.",
    }
    bench, arena = tmp_path / "bench.json", tmp_path / "arena"
    bench.write_text(json.dumps({"0_figures": [item]}))
    shared = ("--bench", bench, "--home", product.home, "--at-once", 1, "--max-tokens", 96, "--json")
    for name, system in (("closed", "stack"), ("with-documents", f"quelea@{product.url}")):
        told = evaluate("arena", "talk", arena, "--system", system, "--name", name, *shared)
        assert told["dialogues"] == {"complete": 1}
    told = evaluate("arena", "judge", arena, "--judge", "stack", *shared, codes=(0, 1))  # 1: no verdict can be read
    assert sum(told["judgements"].values()) == 1
    (line,) = rows(next(arena.glob("judges/*/judgements.jsonl")))
    assert [one["order"][0] for one in line["verdicts"]] == ["closed", "with-documents"]
    if line["status"] == "judged":
        rated = evaluate("arena", "rate", arena, "--resamples", 50, "--json")
        assert rated["games"] == 1
    else:
        assert line["error"]
