"""`quelea eval agent run`, `judge`, `report` on a scripted gateway and judge."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.agent.questions import Figure, read_questions
from quelea_evaluation.agent.scoring import states
from quelea_evaluation.cli import app
from quelea_evaluation.endpoints import client
from quelea_evaluation.inputs import BadInput
from support.asked_server import asked_server, chat_reply
from typer.testing import CliRunner

ROWS = [
    {"id": "sales", "kind": "figure", "question": "Apple's net sales?", "figures": ["81797000000"]},
    {"id": "wrong", "kind": "figure", "question": "NVIDIA's revenue?", "figures": ["7192000000"]},
    {"id": "absent", "kind": "absent", "question": "Tesla's revenue?", "absent": True},
    {"id": "broken", "kind": "figure", "question": "It fails?", "says": [["yes"]]},
]
TEXTS = {
    "Apple's net sales?": ("Net sales were $81.8 billion [1].", True),
    "NVIDIA's revenue?": ("Revenue was $5,931 million [1].", True),
    "Tesla's revenue?": ("The documents do not have it.", False),
    "Palantir's CAGR?": ("It was 22.6% [1].", True),
}
RUBRIC = [
    {"operator": "correctness", "criteria": "2022 revenue: 1,905,871"},
    {"operator": "correctness", "criteria": "CAGR: 22.6%"},
    {"operator": "contradiction", "criteria": "CAGR: 22.6%"},
]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr("quelea_evaluation.agent.running._POLL_SECONDS", 0.0)


def agent(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["agent", *map(str, arguments)])
    assert result.exit_code == code, result.output + result.stderr
    return result.stdout if code == 0 else result.stderr


class Gateway:
    """Runs that are still running the first time they are looked at."""

    def __init__(self) -> None:
        self.looks: dict[str, int] = {}
        self.questions: list[str] = []
        self.away = self.locked = False

    def __call__(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if self.away:
            return 503, {"error": {"message": "It is restarting."}}
        if self.locked:
            return 401, {"error": {"message": "The key is not known."}}
        if body:
            self.questions.append(body["question"])
            return 202, {"id": f"run-{len(self.questions)}", "state": "queued"}
        name = path.rsplit("/", 1)[-1]
        self.looks[name] = self.looks.get(name, 0) + 1
        if self.looks[name] == 1:
            return 200, {"id": name, "state": "running"}
        question = self.questions[int(name.removeprefix("run-")) - 1]
        if question not in TEXTS:
            return 200, {"id": name, "state": "failed", "error": "No language model is configured.", "usage": {}}
        text, complete = TEXTS[question]
        answer = {"text": text, "complete": complete, "grounded": True, "missing": [] if complete else ["all of it"]}
        usage = {"steps": 3, "model_calls": 4, "seconds": 1.5}
        return 200, {"id": name, "state": "finished", "model": "capable", "answer": answer, "usage": usage}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return path


def test_a_run_is_asked_scored_and_reported(tmp_path: Path) -> None:
    questions, out = write(tmp_path / "own.jsonl", ROWS), tmp_path / "run"
    with asked_server(Gateway()) as gateway:
        said = agent("run", questions, "--out", out, "--gateway", gateway.url, "--steps", 6)
        assert "4 questions, 1 failed" in said
        assert gateway.bodies[0]["limits"] == {"steps": 6, "tokens": 0}
    result = json.loads(agent("report", out, "--json"))
    assert result["overall"]["right"]["mean"] == 0.5
    assert (result["overall"]["asked"], result["overall"]["failed"]) == (4, 1)
    assert result["kinds"]["absent"]["right"]["mean"] == 1.0
    assert result["overall"]["each"] == {"steps": 3.0, "model_calls": 4.0, "seconds": 1.5}
    assert result["run"]["model"] == "capable"
    page = (out / "report.html").read_text("utf-8")
    assert "1 runs failed. They count as not right." in page
    assert "not right, 0 of 1 points · figure · NVIDIA&#x27;s revenue?" in page
    values = [json.loads(line) for line in (out / "values.jsonl").read_text("utf-8").splitlines()]
    assert [(one["id"], one["right"]) for one in values] == [
        ("sales", True), ("wrong", False), ("absent", True), ("broken", False)]  # fmt: skip


def test_a_run_goes_on_where_the_gateway_was_away(tmp_path: Path) -> None:
    questions, out = write(tmp_path / "own.jsonl", ROWS), tmp_path / "run"
    scripted = Gateway()
    with asked_server(scripted) as gateway:
        scripted.away = True
        assert "503" in agent("run", questions, "--out", out, "--gateway", gateway.url, code=1)
        assert not scripted.questions
        scripted.away = False
        agent("run", questions, "--out", out, "--gateway", gateway.url)
        assert len(scripted.questions) == len(ROWS)
        agent("run", questions, "--out", out, "--gateway", gateway.url)
        assert len(scripted.questions) == len(ROWS)  # also the one that failed for good
        assert "other settings" in agent("run", questions, "--out", out, "--gateway", gateway.url, "--steps", 3, code=1)


def test_a_key_that_is_put_right_has_every_question_asked(tmp_path: Path) -> None:
    questions, out = write(tmp_path / "own.jsonl", ROWS), tmp_path / "run"
    scripted = Gateway()
    with asked_server(scripted) as gateway:
        scripted.locked = True
        assert "4 questions, 4 failed" in agent("run", questions, "--out", out, "--gateway", gateway.url)
        scripted.locked = False
        assert "4 questions, 1 failed" in agent("run", questions, "--out", out, "--gateway", gateway.url)


def test_a_rubric_takes_a_judge(tmp_path: Path) -> None:
    file, out = tmp_path / "public.csv", tmp_path / "run"
    with file.open("w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["Question", "Answer", "Question Type", "Expert time (mins)", "Rubric"])
        rows.writerow(["Palantir's CAGR?", "22.6%", "Numerical Reasoning", "5", json.dumps(RUBRIC)])
    with asked_server(Gateway()) as gateway:
        agent("run", file, "--out", out, "--gateway", gateway.url)
    waiting = json.loads(agent("report", out, "--json"))["overall"]
    assert (waiting["not judged"], waiting["right"]) == (1, None)
    replies = [chat_reply("I think so."), chat_reply('{"verdicts": [false, true, true]}')]
    with asked_server(lambda *_: replies.pop(0)) as judging:
        assert "0 without a verdict" in agent("judge", out, "--judge", f"fair@{judging.url}/v1")
        assert "3. The answer does not contradict this: CAGR: 22.6%" in judging.bodies[0]["messages"][1]["content"]
        agent("judge", out, "--judge", f"fair@{judging.url}/v1")
        assert len(judging.bodies) == 2
    judged = json.loads(agent("report", out, "--json"))
    assert judged["overall"]["right"]["mean"] == 0.0
    assert judged["overall"]["met"]["mean"] == pytest.approx(2 / 3)
    assert judged["run"]["judge"] == "fair"


@pytest.mark.parametrize(
    ("text", "figure", "is_stated"),
    [
        ("Net sales were $81,797 million.", "81797000000", True),
        ("Net sales were $81.8 billion [1].", "81797000000", True),
        ("净销售额为817.97亿美元。", "81797000000", True),
        ("Net sales were $82 billion.", "81797000000", False),  # too round to tell
        ("Net sales were $81.9 billion.", "81797000000", False),
        ("Net sales were $81,797 thousand.", "81797000000", False),
        ("Net sales were $81,797bn.", "81797000000", False),
        ("净销售额为81,797亿美元。", "81797000000", False),
        ("Net sales, in millions: 81,797.", "81797000000", True),
        ("It was 25.93%.", "25.933714%", True),
        ("It sold 25.9 million units.", "25.933714%", False),
        ("It was 26 percent.", "25.933714%", True),
        ("It was 25.9 percent, see [26].", "25.933714%", True),
        ("It was 0.2593.", "25.933714%", False),
        ("It fell by 1.4%.", "-1.400692%", True),
        ("It rose by 1.4%.", "-1.400692%", False),
        ("It came to 25.93.", "25.933714%", False),
        ("It was 25.9 percentage points.", "25.933714%", True),
        ("It rose from 20.6 to 25.9%.", "25.933714%", True),
        ("It rose from 25.9 [1] to 30.6% [2].", "25.933714%", True),
        ("占比为百分之25.93。", "25.933714%", True),
        ("| | Share (%) |\n|---|---|\n| Services | 25.93 |", "25.933714%", True),
        ("| | Amount |\n|---|---|\n| Services | 25.93 |", "25.933714%", False),
        ("It was −25.9%.", "25.933714%", False),
        ("The net loss was $3,319 million.", "-3319000000", True),
        ("Free cash flow was −$3,319 million.", "-3319000000", True),
        ("Free cash flow was ($3,319) million.", "-3319000000", True),
        ("Free cash flow was $3,319 million.", "-3319000000", False),
        ("自由现金流为-33.19亿美元。", "-3319000000", True),
        ("自由现金流为-33.19亿美元。", "3319000000", False),
        ("It was 157% of it.", "157000000", False),
        ("It grew by 1,234%.", "1234%", True),
        ("It grew by 1,234%.", "1234000000", False),
        ("It was 1,234 million and 5% of sales.", "1234000000", True),
        ("See [157].", "157000000", False),
        ("It rose by $157 million.", "157000000", True),
    ],
)
def test_a_figure_is_stated_at_any_scale_as_rounded_with_its_sign_and_kind(
    text: str, figure: str, is_stated: bool
) -> None:
    value = Decimal(figure.removesuffix("%"))
    assert states(text, Figure(value, figure.endswith("%"))) == is_stated


@pytest.mark.parametrize(
    "row",
    [
        {"id": "1", "kind": "k", "question": "Q?"},
        {"id": "1", "kind": "k", "question": "Q?", "absent": True, "figures": ["1"]},
        {"id": "1", "kind": "k", "question": " ", "absent": True},
        {"id": "1", "kind": "k", "question": "Q?", "figures": ["many"]},
        {"kind": "k", "question": "Q?", "absent": True},
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, row: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="line 1"):
        read_questions(write(tmp_path / "own.jsonl", [row]))


def test_the_project_s_own_questions_are_read() -> None:
    found = read_questions(Path(__file__).parents[2] / "eval/agent.jsonl")
    assert len({one.kind for one in found}) == 5
