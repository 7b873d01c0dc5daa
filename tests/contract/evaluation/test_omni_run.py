"""`quelea eval omni run`, `judge`, `report` on scripted systems and judges: a known matrix, and every failure."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.cli import app
from quelea_evaluation.endpoints import client
from quelea_kit.testing import wait_until
from support.asked_server import Asked, asked_server, chat_reply
from typer.testing import CliRunner

PLACE = {"document_id": "d1", "page": 3, "title": "Report", "text": "Net sales were 7."}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)


def omni(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["omni", *map(str, arguments)])
    assert result.exit_code == code, result.output + result.stderr
    return result.stdout if code == 0 else result.stderr


def question(name: str, topic: str = "stocks", task: str = "extractive", turns: int = 1) -> dict[str, Any]:
    said = [{"question": f"{name} turn {at}?", "answers": [f"answer {name}", "another wording"]} for at in range(turns)]
    passages = [{**PLACE, "start": 100, "end": 150}]
    return {"id": name, "topic": topic, "task": task, "language": "en", "turns": said, "passages": passages}


QUESTIONS = [
    question("right1"),
    question("right2"),
    question("late3"),
    question("fail4"),
    question("odd5", "bonds"),
    question("once6", "bonds"),
    question("talk7", "bonds", "conversational", 2),
]


def write_questions(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return path


def citation(start: int, end: int, document: str = "d1") -> dict[str, Any]:
    return {
        "number": 1,
        "document_id": document,
        "page": 3,
        "start": start,
        "end": end,
        "quote": "Net sales",
        "title": "Report",
    }


def quelea(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """right: as the reference; late: wrong, the relevant passage second; fail: refused; the others: another wording."""
    assert path == "/v1/ask"
    name = body["question"].split()[0]
    if name.startswith("fail"):
        return 400, {"error": {"code": "INVALID_INPUT", "message": "no", "details": {}}}
    answer = {"right": f"answer {name}", "late3": "nothing known"}.get(name.rstrip("0123456789"), "")
    answer = answer or {"late3": "nothing known", "odd5": "odd", "once6": "once"}.get(name, "another wording")
    cited = [citation(0, 50)] if name == "late3" else [citation(120, 130)]
    further = [citation(140, 200)] if name == "late3" else [citation(0, 9, "d2")]
    return 200, {
        "answer": f"{answer} [1]",
        "citations": cited,
        "further_reading": further,
        "evidence": [citation(90, 160)] if name != "late3" else [],
        "declined": {"reason": "no_evidence"} if name == "late3" else None,
        "reader": "extractive",
        "model": "",
        "timings": {"total": 12.0},
    }


class Judge:
    """2 or 1 for whoever says what the reference says, else 0; -1 of completeness; odd: prose; once: prose at first."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.lock = threading.Lock()

    def __call__(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        assert path == "/v1/chat/completions"
        text = body["messages"][1]["content"]
        scale = body["response_format"]["json_schema"]["schema"]["properties"]["prediction"]["enum"]
        said = text.split("<answer>")[1].split("</answer>")[0].strip()
        with self.lock:
            self.asked[json.dumps(body["messages"])] = times = self.asked.get(json.dumps(body["messages"]), 0) + 1
        if said == "odd" or (said == "once" and times == 1):
            return chat_reply("I would say that this is quite a good answer.")
        if scale == [-1, 0, 1, 2]:
            return chat_reply('{"reason": "one point", "prediction": -1}')
        if scale == [0, 1]:
            return chat_reply('{"reason": "supported", "prediction": 0}')
        good = said.startswith("answer ") or said == "another wording"
        return chat_reply(json.dumps({"reason": "r", "prediction": max(scale) if good else 0}))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[tuple[Path, Asked]]:
    file = write_questions(tmp_path / "q.jsonl", QUESTIONS)
    with asked_server(quelea) as gateway:
        omni("run", file, "--out", tmp_path / "run", "--gateway", gateway.url, "--concurrency", 3)
        yield tmp_path / "run", gateway


PRICES = ("--prices", "1/10")


def result_of(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text("utf-8"))


def test_a_scripted_system_and_judge_give_the_known_matrix(run: tuple[Path, Asked]) -> None:
    folder, gateway = run
    assert gateway.most_at_once <= 3
    judge = Judge()
    with asked_server(judge) as judging:
        told = json.loads(omni("judge", folder, "--judge", f"scripted@{judging.url}/v1", "--json", *PRICES))
    answered = 6 + 1  # six items, one of them with two turns
    assert told[f"scripted@{judging.url}/v1"] == {
        "verdicts": 5 * answered,
        "failed": 5,
        "tokens": 12 * (5 * answered + 5 + 5),
        "prompt_tokens": 10 * (5 * answered + 5 + 5),
        "completion_tokens": 2 * (5 * answered + 5 + 5),
        "uncounted": 0,
        "reasons": {"no JSON object": 5},
        "cost": pytest.approx(30e-6 * (5 * answered + 5 + 5)),
    }
    omni("report", folder)
    result = result_of(folder)
    cells = {(one["topic"], one["task"]): one for one in result["cells"]}
    stocks = cells["stocks", "extractive"]
    assert (stocks["n"], stocks["failures"], stocks["declined"]) == (4, 1, 1)
    values = {name: one["mean"] for name, one in stocks["metrics"].items()}
    assert values["em_max"] == 2 / 4
    assert values["em_mean"] == (0.5 + 0.5 + 0 + 0) / 4
    assert values["mrr"] == (1 + 1 + 1 / 2 + 0) / 4
    assert values["map_relevant"] == values["map_retrieved"] == (1 + 1 + 1 / 2 + 0) / 4
    assert values["accuracy"] == (1 + 1 + 0 + 0) / 4
    assert values["hallucination"] == 0
    assert stocks["metrics"]["hallucination"]["n"] == 3
    assert stocks["metrics"]["completeness"]["not_applicable"] == 3
    bonds = cells["bonds", "extractive"]["metrics"]
    assert (bonds["accuracy"]["n"], bonds["accuracy"]["failed"], bonds["accuracy"]["mean"]) == (1, 1, 0.0)
    assert bonds["hallucination"]["mean_failed_as_worst"] == 0.5
    talk = cells["bonds", "conversational"]["metrics"]
    assert (talk["em_max"]["mean"], talk["accuracy"]["mean"], talk["numerical_accuracy"]["mean"]) == (1.0, 1.0, 1.0)
    assert result["by_topic"]["bonds"]["n"] == 3
    assert result["by_task"]["extractive"]["n"] == 6
    assert (result["overall"]["n"], result["overall"]["failures"], result["unanswered"]) == (7, 1, 0)
    assert result["overall"]["metrics"]["accuracy"]["failed"] == 1
    page = (folder / "report.html").read_text("utf-8")
    assert "Of 7 questions 1 failed" in page
    assert "no items" in page
    assert page.count('href="#stocks-extractive"') > 1
    assert page.count('id="stocks-extractive"') == 1
    assert "not known" in page
    assert result["spent"]["answers"]["prompt_tokens"] is None
    omni("report", folder, "--no-pictures", *PRICES)
    assert result_of(folder)["spent"]["judges"]["scripted"]["cost"] == pytest.approx(30e-6 * 45)
    assert "0.0014" in (folder / "report.html").read_text("utf-8")
    assert "http" not in page.replace(gateway.url, "")
    assert (folder / "accuracy.png").read_bytes().startswith(b"\x89PNG")
    assert len((folder / "values.jsonl").read_text().splitlines()) == 7


def test_conversations_go_on_from_the_answers_of_the_system(run: tuple[Path, Asked]) -> None:
    second = next(one for one in run[1].bodies if one["question"] == "talk7 turn 1?")
    assert second["history"] == [
        {"role": "user", "content": "talk7 turn 0?"},
        {"role": "assistant", "content": "another wording"},
    ]


def test_judges_are_held_against_people(run: tuple[Path, Asked], tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    rows = ["right1,ACC,2,", "right2,ACC,1,", "late3,ACC,0,", "odd5,ACC,0,", "talk7,ACC,2,2", "fail4,ACC,0,"]
    labels.write_text("question,aspect,label,turn\n" + "\n".join(rows) + "\n", "utf-8")
    assert "No label is of an answer" in omni("agreement", labels, "--run", run[0], code=1)
    with asked_server(Judge()) as judging:
        omni("judge", run[0], "--judge", f"scripted@{judging.url}/v1", "--aspects", "ACC")
    found = {one["aspect"]: one for one in json.loads(omni("agreement", labels, "--run", run[0], "--json"))}
    accuracy = found["accuracy"]
    assert (accuracy["judge"], accuracy["n"], accuracy["failed"]) == ("scripted", 4, 1)
    assert (accuracy["accuracy"], accuracy["accuracy_failed_as_wrong"]) == (3 / 4, 3 / 5)
    assert accuracy["kappa"] == pytest.approx((3 / 4 - 7 / 16) / (1 - 7 / 16))


def test_judging_again_asks_nothing(run: tuple[Path, Asked]) -> None:
    with asked_server(Judge()) as judging:
        first = omni("judge", run[0], "--judge", f"scripted@{judging.url}/v1", "--json")
        asked = len(judging.bodies)
        assert omni("judge", run[0], "--judge", f"scripted@{judging.url}/v1", "--json") == first
        assert len(judging.bodies) == asked


def test_two_judges_stand_beside_each_other(run: tuple[Path, Asked]) -> None:
    def harsh(_: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return chat_reply('{"reason": "no", "prediction": 0}')

    with asked_server(Judge()) as mild, asked_server(harsh) as other:
        judges = (f"--judge=mild@{mild.url}/v1", f"--judge=harsh@{other.url}/v1")
        omni("judge", run[0], *judges, "--aspects", "ACC,NAC")
    omni("report", run[0], "--no-pictures")
    stocks = next(one for one in result_of(run[0])["cells"] if one["topic"] == "stocks")["metrics"]
    assert stocks["accuracy@mild"]["mean"] == 0.5
    assert stocks["accuracy@harsh"]["mean"] == 0.0
    assert stocks["accuracy"]["mean"] == 0.25
    same = (f"--judge=mild@{mild.url}/v1", f"--judge=mild@{other.url}/v1")
    assert "two judges are called mild" in omni("judge", run[0], *same, code=2)
    assert "completeness" not in stocks


def test_a_chat_endpoint_with_passages_and_without(tmp_path: Path) -> None:
    file = write_questions(tmp_path / "q.jsonl", QUESTIONS[:1])

    def model(_: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        given = "Net sales were 7." in body["messages"][0]["content"]
        return chat_reply("answer right1" if given else "unknown")

    with asked_server(model) as server:
        for passages, em in (("given", 1.0), ("none", 0.0)):
            out = tmp_path / passages
            system = ("--system", f"{server.url}/v1", "--model", "m", "--passages", passages)
            said = omni("run", file, "--out", out, *system, *(PRICES if passages == "given" else ()))
            assert f"10 + 2 tokens, cost {'0.0000' if passages == 'given' else 'not known'}" in said
            omni("report", out, "--no-pictures")
            metrics = result_of(out)["overall"]["metrics"]
            assert metrics["em_max"]["mean"] == em
            assert "mrr" not in metrics or metrics["mrr"]["n"] == 0
        with asked_server(Judge()) as judging:
            for passages, verdicts in (("given", 5), ("none", 3)):
                told = json.loads(omni("judge", tmp_path / passages, "--judge", f"j@{judging.url}/v1", "--json"))
                assert next(iter(told.values()))["verdicts"] == verdicts


def rows_of(file: Path) -> list[dict[str, Any]]:
    return sorted((json.loads(line) for line in file.read_text("utf-8").splitlines()), key=lambda one: one["id"])


def test_a_run_killed_and_resumed_equals_one_that_was_not(tmp_path: Path) -> None:
    file = write_questions(tmp_path / "q.jsonl", [question(f"right{at}") for at in range(30)])
    gate = threading.Event()
    held = threading.Semaphore(9)

    def slow(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if not gate.is_set() and not held.acquire(blocking=False):
            gate.wait(120)
        return quelea(path, body)

    with asked_server(slow) as gateway:
        command = [sys.executable, "-c", "from quelea_evaluation.cli import app; app()", "omni", "run", str(file)]
        command += ["--out", str(tmp_path / "killed"), "--gateway", gateway.url, "--concurrency", "3"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        answers = tmp_path / "killed" / "answers.jsonl"
        wait_until(lambda: answers.exists() and answers.read_bytes().count(b"\n") >= 9, what="nine answers")
        process.kill()
        process.wait(60)
        gate.set()
        with answers.open("ab") as torn:
            torn.write(b'{"id": "right2')  # what a kill leaves of a row
        asked = len(gateway.bodies)
        omni("run", file, "--out", tmp_path / "killed", "--gateway", gateway.url, "--concurrency", 3)
        assert len(gateway.bodies) - asked == 30 - 9
        omni("run", file, "--out", tmp_path / "whole", "--gateway", gateway.url)
    assert rows_of(answers) == rows_of(tmp_path / "whole" / "answers.jsonl")
    for name in ("killed", "whole"):
        omni("report", tmp_path / name, "--no-pictures")
    killed, whole = result_of(tmp_path / "killed"), result_of(tmp_path / "whole")
    assert {**killed, "run": 0} == {**whole, "run": 0}


def test_judging_killed_and_resumed_equals_judging_that_was_not(tmp_path: Path) -> None:
    names = [f"right{at}" for at in range(7)] + ["odd5"]
    file = write_questions(tmp_path / "q.jsonl", [question(one) for one in names])
    with asked_server(quelea) as gateway:
        for name in ("killed", "whole"):
            omni("run", file, "--out", tmp_path / name, "--gateway", gateway.url)
    judge = Judge()
    gate = threading.Event()
    free = threading.Semaphore(11)

    def slow(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if not gate.is_set() and not free.acquire(blocking=False):
            gate.wait(120)
        return judge(path, body)

    with asked_server(slow) as judging:
        address = f"scripted@{judging.url}/v1"
        command = [sys.executable, "-c", "from quelea_evaluation.cli import app; app()", "omni", "judge"]
        command += [str(tmp_path / "killed"), "--judge", address, "--concurrency", "1"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        verdicts = tmp_path / "killed" / "judges" / "scripted" / "verdicts.jsonl"
        wait_until(lambda: verdicts.exists() and verdicts.read_bytes().count(b"\n") >= 9, what="nine verdicts")
        process.kill()
        process.wait(60)
        gate.set()
        there = verdicts.read_bytes().count(b"\n")
        assert there < 40
        omni("report", tmp_path / "killed", "--no-pictures")
        metrics = result_of(tmp_path / "killed")["overall"]["metrics"]
        assert sum(one["unjudged"] for one in metrics.values()) == 40 - there
        assert f"{40 - there} verdicts were not given yet" in (tmp_path / "killed" / "report.html").read_text("utf-8")
        resumed = json.loads(omni("judge", tmp_path / "killed", "--judge", address, "--json"))
        assert resumed == json.loads(omni("judge", tmp_path / "whole", "--judge", address, "--json"))
    assert rows_of(verdicts) == rows_of(tmp_path / "whole" / "judges" / "scripted" / "verdicts.jsonl")
    results = []
    for name in ("killed", "whole"):
        omni("report", tmp_path / name, "--no-pictures")
        results.append({**result_of(tmp_path / name), "run": 0})
    assert results[0] == results[1]
    assert results[0]["overall"]["metrics"]["accuracy"]["failed"] == 1


def test_what_may_pass_is_asked_again_and_a_dead_system_ends_the_run(tmp_path: Path) -> None:
    file = write_questions(tmp_path / "q.jsonl", [question(f"right{at}") for at in range(40)])
    down = threading.Event()
    down.set()

    def flaky(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return (503, {}) if down.is_set() else quelea(path, body)

    with asked_server(flaky) as gateway:
        said = omni("run", file, "--out", tmp_path / "run", "--gateway", gateway.url, code=1)
        assert "12 requests in a row failed" in said
        assert "call again" in said
        down.clear()
        told = json.loads(omni("run", file, "--out", tmp_path / "run", "--gateway", gateway.url, "--json"))
    assert (told["questions"], told["answers"], told["failures"]) == (40, 40, 0)


def test_two_runs_are_compared_in_pairs(run: tuple[Path, Asked], tmp_path: Path) -> None:
    def better(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        name = body["question"].split()[0]
        status, found = quelea(path, {**body, "question": "right9"})
        return status, {**found, "answer": f"answer {name}"}

    omni("report", run[0], "--no-pictures")
    with asked_server(better) as gateway:
        omni("run", tmp_path / "q.jsonl", "--out", tmp_path / "better", "--gateway", gateway.url)
    omni("report", tmp_path / "better", "--against", run[0], "--no-pictures")
    comparison = result_of(tmp_path / "better")["comparison"]
    overall = next(one for one in comparison["groups"] if one["by"] == "overall")["metrics"]["em_max"]
    assert (overall["n"], overall["first"], overall["second"]) == (7, 3 / 7, 1.0)
    assert overall["difference"] == pytest.approx(4 / 7)
    assert 0.05 < overall["p"] < 0.3  # 2 of 16 signs
    assert "Beside another run" in (tmp_path / "better" / "report.html").read_text("utf-8")


def test_the_gate_stops_what_is_worse_than_the_last_run(tmp_path: Path) -> None:
    file = write_questions(tmp_path / "q.jsonl", [question(f"right{at}") for at in range(20)])
    limits = tmp_path / "thresholds.yaml"
    limits.write_text("metrics:\n  em_max: {at_least: 0.3}\n  rougeL:\nfailures_at_most: 0.0\n")

    def worse(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, found = quelea(path, body)
        wrong = int(body["question"].split()[0].removeprefix("right")) % 2
        return status, {**found, "answer": "nothing" if wrong else found["answer"]}

    for name, decide in (("first", quelea), ("second", worse)):
        with asked_server(decide) as gateway:
            omni("run", file, "--out", tmp_path / name, "--gateway", gateway.url)
    omni("report", tmp_path / "first", "--gate", limits, "--no-pictures")
    said = omni("report", tmp_path / "second", "--gate", limits, "--no-pictures", code=1)
    assert "em_max is 0.5000, the last run had 1.0000 [1.0000, 1.0000]" in said
    assert "at least" not in said
    with asked_server(worse) as gateway:
        omni("run", file, "--out", tmp_path / "third", "--gateway", gateway.url)
    said = omni("report", tmp_path / "third", "--gate", limits, "--no-pictures", code=1)
    assert "gate: beside first" in said, "a run that did not keep its gate is no measure for the next"
    limits.write_text("metrics:\n  em_max: {at_least: 0.6, may_fall: true}\n  accuracy:\n")
    said = omni("report", tmp_path / "second", "--gate", limits, "--no-pictures", code=1)
    assert "em_max is 0.5000, at least 0.6 is wanted" in said
    assert "accuracy was not measured" in said
    result = result_of(tmp_path / "first")
    (tmp_path / "first" / "result.json").write_text(json.dumps({**result, "format": 0}))
    said = omni("report", tmp_path / "third", "--gate", limits, "--no-pictures", code=1)
    assert "was written in format 0" in said, "a last run that cannot be read is no missing one"
    limits.write_text("metrics:\n  em_max: {minimum: 0.6}\n")
    assert "em_max may have at_least" in omni("report", tmp_path / "second", "--gate", limits, code=1)


def test_bad_input_ends_with_a_sentence_and_loses_nothing(run: tuple[Path, Asked], tmp_path: Path) -> None:
    folder, gateway = run
    kept = (folder / "answers.jsonl").read_bytes()
    gone = ("--gateway", gateway.url)
    empty = write_questions(tmp_path / "empty.jsonl", [])
    assert "holds no questions" in omni("run", empty, "--out", tmp_path / "x", *gone, code=1)
    no_answers = {**QUESTIONS[0], "turns": [{"question": "?"}]}
    bad = write_questions(tmp_path / "bad.jsonl", [QUESTIONS[1], no_answers])
    said = omni("run", bad, "--out", tmp_path / "x", *gone, code=1)
    assert "bad.jsonl, line 2: turns[0].answers must be a list of texts, got null" in said
    assert "File exists" in omni("run", tmp_path / "q.jsonl", "--out", bad, *gone, code=1)
    other = write_questions(tmp_path / "other.jsonl", QUESTIONS[:2])
    assert "other data: questions" in omni("run", other, "--out", folder, *gone, code=1)
    assert "other settings" in omni("run", tmp_path / "q.jsonl", "--out", folder, "--route", "web", *gone, code=1)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 0}))
    assert "format 0, this version reads 1" in omni("report", folder, code=1)
    assert (folder / "answers.jsonl").read_bytes() == kept


def test_an_unfinished_run_says_what_is_missing(run: tuple[Path, Asked]) -> None:
    folder, _ = run
    rows = (folder / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "answers.jsonl").write_bytes(b"".join(rows[:3]))
    omni("report", folder, "--no-pictures")
    assert result_of(folder)["unanswered"] == 4
    assert "4 have no answer yet" in (folder / "report.html").read_text("utf-8")
    (folder / "answers.jsonl").write_bytes(b"")
    omni("report", folder, "--no-pictures")
    assert "nothing to show" in (folder / "report.html").read_text("utf-8")
