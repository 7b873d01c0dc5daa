"""What is asked for over REST is done by the worker with the real commands, and is shown as the gateway reads it."""

import fcntl
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.cli import app
from quelea_evaluation.endpoints.client import Address
from quelea_evaluation.publishing.shelf import Shelf
from quelea_evaluation.publishing.steps import Means, Step, find_benches, find_questions
from quelea_evaluation.publishing.worker import READY, Worker
from quelea_kit.testing import wait_until
from support.asked_server import asked_server, chat_reply
from typer.testing import CliRunner

ID = "20261125000000000000-0123456789abcdef"
PLACE = {"document_id": "d1", "page": 3, "title": "Report", "start": 0, "end": 17}
QUESTIONS = [
    {
        "id": name, "topic": "stocks", "task": "extractive", "language": "en",
        "turns": [{"question": f"{name}: what were net sales?", "answers": ["7"]}],
        "passages": [{**PLACE, "text": "Net sales were 7."}],
    }
    for name in ("right", "wrong", "refused")
]  # fmt: skip
OMNI = {"questions": "set", "system": "quelea", "route": "local", "passages": "none", "judges": ["tiny"]}
ARENA = {
    "bench": "ucfe", "systems": ["quelea", "tiny"], "user": "", "judge": "tiny", "per_task": 1,
    "tasks": ["0_金融指标计算"],
}  # fmt: skip


def quelea(_path: str, body: dict[str, Any]) -> tuple[int, Any]:
    if body["question"].startswith("refused"):
        return 400, {"error": {"code": "INVALID_INPUT", "message": "no", "details": {}}}
    cited = {**PLACE, "number": 1, "quote": "Net sales were 7."}
    return 200, {
        "answer": "7 [1]" if body["question"].startswith("right") else "nine", "citations": [cited], "evidence": [],
        "further_reading": [], "declined": None, "reader": "extractive", "model": "", "timings": {"total": 1.0},
    }  # fmt: skip


def tiny(_path: str, body: dict[str, Any]) -> tuple[int, Any]:
    if "response_format" in body:
        scale = body["response_format"]["json_schema"]["schema"]["properties"]["prediction"]["enum"]
        prose = "<answer>\nnine" in body["messages"][1]["content"] and scale == [0, 1, 2]
        return chat_reply("Rather good." if prose else json.dumps({"reason": "r", "prediction": max(scale)}))
    return chat_reply("The first is better. [[1]]")


@pytest.fixture
def means(tmp_path: Path) -> Iterator[Means]:
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS), "utf-8")
    with asked_server(quelea) as gateway, asked_server(tiny) as model:
        models = {"tiny": Address("tiny-1", f"{model.url}/v1")}
        yield Means(gateway.url, models, find_questions(folder), find_benches(None))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(str(tmp_path / "store"))


def ask(shelf: Shelf, kind: str, settings: dict[str, Any], seconds: float = 300) -> None:
    shelf.write(ID, "request", {"id": ID, "kind": kind, "name": "n", "settings": settings, "seconds": seconds})


def worker(shelf: Shelf, means: Means, folder: Path, **more: Any) -> Worker:
    folder.mkdir(exist_ok=True)
    return Worker(shelf, means, folder, **more)


def items_of(tmp_path: Path, one: str = ID) -> dict[str, Any]:
    chunks = sorted((tmp_path / "store" / one / "items").iterdir())
    return {item["id"]: item for chunk in chunks for item in json.loads(chunk.read_text("utf-8"))["items"]}


def test_a_matrix_is_run_judged_and_shown_with_its_failures(means: Means, shelf: Shelf, tmp_path: Path) -> None:
    ask(shelf, "omni", OMNI)
    assert worker(shelf, means, tmp_path / "work").work(once=True) == 1
    told = shelf.read(ID, "state")
    assert told is not None
    assert (told["state"], told.get("error")) == ("succeeded", None)
    result = shelf.read(ID, "result")
    assert result is not None
    cell = result["cells"][0]
    assert (cell["topic"], cell["n"], cell["failures"]) == ("stocks", 3, 1)
    assert {"id": "retail_banking", "en": "Banking - Retail banking", "zh": "银行业务 - 零售银行"} in result["topics"]
    assert "accuracy" in result["metrics"]
    items = items_of(tmp_path)
    right, wrong, refused = items["right"], items["wrong"], items["refused"]
    assert [turn["text"] for turn in right["dialogues"][0]["turns"]] == ["right: what were net sales?", "7", "7"]
    assert right["values"]["em_max"] == 1
    assert {one["role"] for one in right["evidence"]} == {"relevant", "read"}
    assert [one["about"] for one in wrong["verdicts"] if one["failed"]] == ["accuracy", "utilization"]
    assert wrong["values"]["accuracy"] is None
    assert refused["failed"]
    assert "no" in refused["dialogues"][0]["error"]
    index = shelf.read(ID, "index")
    assert index is not None
    assert [line["id"] for line in index["items"]] == list(items)
    offered = json.loads((tmp_path / "store" / "worker.json").read_text("utf-8"))
    assert (offered["models"], offered["question_sets"], offered["benches"]) == (["tiny"], {"set": 3}, {"ucfe": 330})
    again = CliRunner().invoke(
        app, ["publish", str(tmp_path / "work" / ID / "run"), "--store", str(tmp_path / "store"), "--name", "by hand"]
    )
    assert again.exit_code == 0, again.output
    other = next(one for one in shelf.ids() if one != ID)
    assert items_of(tmp_path, other) == items


def test_an_arena_is_talked_judged_and_rated(means: Means, shelf: Shelf, tmp_path: Path) -> None:
    ask(shelf, "arena", ARENA)
    worker(shelf, means, tmp_path / "work").work(once=True)
    told = shelf.read(ID, "state")
    assert told is not None
    assert (told["state"], told.get("error")) == ("succeeded", None)
    result = shelf.read(ID, "result")
    assert result is not None
    assert {line["model"]: line["ties"] for line in result["leaderboard"]} == {"quelea": 1, "tiny": 1}
    (item,) = items_of(tmp_path).values()
    assert (item["topic"], item["values"], item["failed"]) == ("quelea · tiny", {"score": 0.5}, False)
    assert [one["verdict"] for one in item["verdicts"]] == ["quelea", "tiny"]
    assert [one["turns"][-1]["role"] for one in item["dialogues"]] == ["assistant", "assistant"]


def sleeping(seconds: float, then: str = "") -> Any:
    code = f"import sys, time; time.sleep({seconds}); {then}"
    return lambda *_: [Step("run", (sys.executable, "-c", code))]


@pytest.mark.parametrize(
    ("seconds", "steps", "said"),
    [
        (0.1, sleeping(60), "deadline has passed"),
        (60, sleeping(0, "sys.exit('error: nobody answers at http://x')"), "run: nobody answers at http://x"),
    ],
)
def test_a_step_that_fails_or_takes_too_long_ends_it_with_the_reason(
    means: Means, shelf: Shelf, tmp_path: Path, seconds: float, steps: Any, said: str
) -> None:
    ask(shelf, "omni", OMNI, seconds)
    worker(shelf, means, tmp_path / "work", make_steps=steps).work(once=True)
    told = shelf.read(ID, "state")
    assert told is not None
    assert told["state"] == "failed"
    assert said in told["error"]


def test_a_job_asks_for_one_does_it_and_fails_with_it(means: Means, tmp_path: Path) -> None:
    store = tmp_path / "store"

    def work(questions: str, seconds: float = 0) -> Any:
        asked = json.dumps({"kind": "omni", "settings": {"questions": questions}, "seconds": seconds})
        places = ("--store", str(store), "--folder", str(tmp_path / "work"), "--questions", str(tmp_path / "questions"))
        words = ("work", "--once", *places, "--gateway", means.gateway, "--ask", asked)
        return CliRunner().invoke(app, list(words))

    good = work("set")
    assert good.exit_code == 0, good.output
    (one,) = Shelf(str(store)).ids()
    assert (Shelf(str(store)).read(one, "result") or {})["questions"] == len(QUESTIONS)
    late = work("set", seconds=0.001)
    assert (late.exit_code, "The deadline has passed" in late.output) == (1, True)
    wrong = work("other")
    assert (wrong.exit_code, "'other'" in wrong.output) == (1, True)
    assert len(Shelf(str(store)).ids()) == 2


@pytest.mark.slow(reason="four evaluations, each of the whole set")
@pytest.mark.slow(reason="four evaluations of two processes each, looked at once a second")
def test_a_job_fails_when_a_metric_is_worse_than_at_the_last_run_that_kept_its_gate(tmp_path: Path) -> None:
    names = [f"right{at}" for at in range(12)]
    (tmp_path / "questions").mkdir()
    rows = [{**QUESTIONS[0], "id": name, "turns": [{"question": name, "answers": ["7"]}]} for name in names]
    (tmp_path / "questions" / "set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    limits = tmp_path / "thresholds.yaml"
    limits.write_text("metrics: {em_max: {}}\nfailures_at_most: 0\n")
    shelf = Shelf(str(tmp_path / "store"))

    def work(gateway: Any, *more: str, kind: str = "omni") -> Any:
        asked = json.dumps({"kind": kind, "settings": {"questions": "set", "systems": ["quelea"], "judge": "tiny"}})
        places = ("--store", str(tmp_path / "store"), "--folder", str(tmp_path / "work"))
        words = ("work", *places, "--questions", str(tmp_path / "questions"), "--gateway", gateway.url, "--ask", asked)
        return CliRunner().invoke(app, [*words, "--gate", str(limits), *more])

    def worse(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        status, found = quelea(path, body)
        return status, {**found, "answer": "nine"}

    with asked_server(quelea) as good, asked_server(worse) as bad:
        first = work(good, "--once")
        assert first.exit_code == 0, first.output
        assert "no earlier evaluation like it" in first.stderr
        for _ in range(2):  # what fell is no measure for the next
            fallen = work(bad, "--once")
            assert fallen.exit_code == 1, fallen.output
            assert "gate: em_max is 0.0000, the last run had 1.0000 [1.0000, 1.0000]" in fallen.stderr
        states = [shelf.read(one, "state") or {} for one in shelf.ids()]
        assert [one["state"] for one in states] == ["succeeded"] * 3
        assert [bool(one.get("error")) for one in states] == [False, True, True]
        again = work(good, "--once")
        assert (again.exit_code, f"beside {shelf.ids()[0]}" in again.stderr) == (0, True), again.output
        assert work(good).exit_code == 2
        assert work(good, "--once", kind="arena").exit_code == 1
        limits.write_text("metrics: {em_max: {minimum: 1}}\n")
        refused = work(good, "--once")
        assert (refused.exit_code, "may have at_least" in refused.stderr) == (1, True)
    assert len(shelf.ids()) == 4, "what is refused is not asked for"


def test_a_second_worker_is_refused_or_waits(means: Means, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    words = ["work", "--store", str(tmp_path / "store"), "--folder", str(tmp_path / "work"), "--once"]
    with (tmp_path / "work" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = CliRunner().invoke(app, words)
        assert (refused.exit_code, "another worker has" in refused.output) == (1, True)
        command = [sys.executable, "-m", "quelea_evaluation", *words, "--wait"]
        waiting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr
        assert waiting.stderr.readline().startswith(f"{READY}, and waits")
        assert waiting.poll() is None
    assert waiting.wait(120) == 0
    waiting.stderr.close()


def test_what_was_under_way_is_not_asked_for_twice(shelf: Shelf) -> None:
    request = {"kind": "omni", "name": "nightly", "settings": {"questions": "set"}, "seconds": 60.0}
    one = shelf.ask(request)
    shelf.write(one, "state", {"state": "running"})
    assert shelf.ask(request) == one
    assert shelf.ask({**request, "name": "weekly"}) != one
    shelf.write(one, "state", {"state": "succeeded"})
    assert shelf.ask(request) != one


def test_a_set_that_cannot_be_read_is_left_out_and_a_new_one_found(means: Means, tmp_path: Path) -> None:
    folder = tmp_path / "questions"
    means = replace(means, folders=(folder, None))
    (folder / "broken.jsonl").write_text("{}\n")
    (folder / "second.jsonl").write_text((folder / "set.jsonl").read_text())
    assert means.look_again().as_row()["question_sets"] == {"set": 3, "second": 3}


def test_one_that_was_cancelled_ends_before_or_while_it_runs(means: Means, shelf: Shelf, tmp_path: Path) -> None:
    ask(shelf, "omni", OMNI)

    def cancel(*_: Any) -> list[Step]:
        shelf.write(ID, "cancel", {})
        return sleeping(60)()

    worker(shelf, means, tmp_path / "work", make_steps=cancel).work(once=True)
    assert (shelf.read(ID, "state") or {})["state"] == "cancelled"
    shelf.write(ID, "state", {"state": "queued"})
    assert worker(shelf, means, tmp_path / "work").work(once=True) == 0
    assert (shelf.read(ID, "state") or {})["state"] == "cancelled"


def test_a_killed_worker_leaves_no_step_behind_and_the_next_takes_it_up(
    means: Means, shelf: Shelf, tmp_path: Path
) -> None:
    ask(shelf, "omni", {**OMNI, "judges": []})
    code = (
        "import sys; from pathlib import Path; from quelea_evaluation.publishing.steps import *;"
        "from quelea_evaluation.publishing.worker import *; store, folder = sys.argv[1:];"
        'pid = f\'import os, time; open({folder!r} + "/pid", "w").write(str(os.getpid())); time.sleep(600)\';'
        "steps = lambda *_: [Step('run', (sys.executable, '-c', pid))];"
        "Worker(Shelf(store), Means('', {}, {}, {}), Path(folder), make_steps=steps).work()"
    )
    folder = tmp_path / "work"
    folder.mkdir()
    killed = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "store"), str(folder)])
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text().isdigit())
    step = int((folder / "pid").read_text())
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    wait_until(lambda: not Path(f"/proc/{step}").exists() or " Z " in Path(f"/proc/{step}/stat").read_text())
    assert (shelf.read(ID, "state") or {})["state"] == "running"
    steps = sleeping(0, "sys.exit('error: taken up')")
    assert worker(shelf, means, folder, make_steps=steps).work(once=True) == 1
    assert (shelf.read(ID, "state") or {})["error"] == "run: taken up"
