"""`quelea eval omni topics`, `generate` and `review` over a scripted knowledge base and model, with every failure."""

import csv
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
from quelea_evaluation.omni.matrix import read_matrix
from quelea_kit.testing import wait_until
from support.asked_server import Asked, asked_server, chat_reply
from typer.testing import CliRunner

TOPICS = [one.id for one in read_matrix().topics]
FILLER = "The figures of this page are unaudited and are stated in millions unless it says otherwise. " * 4


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)


def omni(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["omni", *map(str, arguments)])
    assert result.exit_code == code, result.output + result.stderr
    return result.stdout if code == 0 else " ".join(result.stderr.replace("│", " ").split())


def page_text(document: str, number: int) -> str:
    return f"  \n{document} page {number}: sales\n  were {number}7 million.\n{FILLER}"


def knowledge(documents: dict[str, int]) -> Any:
    def decide(path: str, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path.startswith("/v1/documents?"):
            listed = [{"id": name, "title": f"Report {name}", "pages": pages} for name, pages in documents.items()]
            at = 1 if "page_token=more" in path else 0
            return 200, {
                "documents": listed[:1] if not at else listed[1:],
                "next_page_token": "more" if not at and len(listed) > 1 else None,
                "total": len(listed),
            }
        _, _, _, name, _, number = path.split("/")
        return 200, {"text": page_text(name, int(number)), "page": int(number)}

    return decide


def stock_model(_: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Every section is of the stock market; a question quotes the first line of each section; all is inspected as 2."""
    fields = set(body["response_format"]["json_schema"]["schema"]["properties"])
    user = body["messages"][1]["content"]
    if fields == {"topic"}:
        return chat_reply(json.dumps({"topic": TOPICS.index("stocks") + 1}))
    if fields == {"inspection"}:
        return chat_reply('{"inspection": {"evaluation": 2, "corrected": null}}')
    parts = user.split("\n\n[")
    lines = [part.splitlines()[1] for part in parts]
    passages = [{"section": at, "text": f"{line} were"} for at, line in enumerate(lines, 1)]
    first = {"question": f"What of {' and '.join(lines)}?", "answers": ["7", "7 "]}
    shape = body["response_format"]["json_schema"]["schema"]["properties"]["items"]["items"]["properties"]
    item: dict[str, Any] = {**first, "passages": passages}
    if "turns" in shape:
        item = {"turns": [first, {"question": "And then?", "answers": ["8"]}], "passages": passages}
    return chat_reply(json.dumps({"items": [item]}))


@pytest.fixture
def gateway() -> Iterator[Asked]:
    with asked_server(knowledge({"a": 3, "b": 2})) as server:
        yield server


def generate(out: Path, gateway: Asked, model: Asked, *more: object, code: int = 0) -> Any:
    given = ("--model-url", f"{model.url}/v1", "--model", "writer", "--gateway", gateway.url, "--out", out)
    text = omni("generate", *given, "--json", *more, code=code)
    return text if code else json.loads(text)


def omni_again(out: Path, gateway: Asked, model: Asked, *more: object) -> str:
    """What the same command tells a person."""
    given = ("--model-url", f"{model.url}/v1", "--model", "writer", "--gateway", gateway.url, "--out", out)
    result = CliRunner().invoke(app, ["omni", "generate", *map(str, given), *map(str, more)])
    assert result.exit_code == 0, result.stderr
    return result.output + result.stderr


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_kind_of_question_with_passages_that_stand_in_the_pages(tmp_path: Path, gateway: Asked) -> None:
    with asked_server(stock_model) as model:
        told = generate(tmp_path / "q", gateway, model, "--per-cell", 4, "--prices", "1/10")
    assert told["sections"] == 5
    assert told["sections_by_topic"]["stocks"] == 5
    filled = {cell["task"]: cell["questions"] for cell in told["cells"] if cell["topic"] == "stocks"}
    assert set(filled.values()) == {4}
    assert all(not cell["questions"] for cell in told["cells"] if cell["topic"] != "stocks")
    assert told["cost"] == pytest.approx((told["prompt_tokens"] + 10 * told["completion_tokens"]) / 1e6)
    made = rows(tmp_path / "q" / "questions.jsonl")
    assert len(made) == told["questions"] == 20
    assert len({one["id"] for one in made}) == 20
    for one in made:
        assert one["source"]["model"] == "writer"
        assert one["source"]["prompt_version"].startswith("en-3-")
        for passage in one["passages"]:
            page = page_text(passage["document_id"], passage["page"])
            assert page[passage["start"] : passage["end"]] == passage["text"]
            assert passage["text"].split() == f"{passage['document_id']} page {passage['page']}: sales were".split()
    hops = [len(one["source"]["sections"]) for one in made if one["task"] == "multi_hop"]
    assert set(hops) == {1, 2}
    assert all(len(one["turns"]) == 2 for one in made if one["task"] == "conversational")
    assert made[0]["turns"][0]["answers"] == ["7"]


def test_a_second_run_asks_nothing_and_a_larger_one_only_what_is_new(tmp_path: Path, gateway: Asked) -> None:
    only = ("--topic", "stocks", "--task", "extractive")
    with asked_server(stock_model) as model:
        generate(tmp_path / "q", gateway, model, "--per-cell", 2, *only)
        before, asked = (tmp_path / "q" / "questions.jsonl").read_bytes(), len(model.bodies)
        assert generate(tmp_path / "q", gateway, model, "--per-cell", 2, *only)["calls_of_this_session"] == 0
        assert (tmp_path / "q" / "questions.jsonl").read_bytes() == before
        assert len(model.bodies) == asked
        more = generate(tmp_path / "q", gateway, model, "--per-cell", 3, *only)
        assert (more["calls_of_this_session"], more["not_in_review"]) == (2, 1)
        assert (tmp_path / "q" / "questions.jsonl").read_bytes().startswith(before)


def test_killed_and_resumed_equals_unbroken(tmp_path: Path, gateway: Asked) -> None:
    gate = threading.Event()
    free = threading.Semaphore(12)

    def slow(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if not gate.is_set() and not free.acquire(blocking=False):
            gate.wait(120)
        return stock_model(path, body)

    with asked_server(slow) as model:
        command = [sys.executable, "-c", "from quelea_evaluation.cli import app; app()", "omni", "generate"]
        command += ["--model-url", f"{model.url}/v1", "--model", "writer", "--gateway", gateway.url]
        process = subprocess.Popen([*command, "--out", str(tmp_path / "killed")], stderr=subprocess.DEVNULL)
        calls = tmp_path / "killed" / "calls.jsonl"
        wait_until(lambda: calls.exists() and calls.read_bytes().count(b"\n") >= 12, what="twelve calls")
        process.kill()
        process.wait(60)
        gate.set()
        resumed = generate(tmp_path / "killed", gateway, model)
        whole = generate(tmp_path / "whole", gateway, model)
    assert resumed["calls_of_this_session"] == whole["calls_of_this_session"] - 12
    assert {**resumed, "calls_of_this_session": 0} == {**whole, "calls_of_this_session": 0}
    first, second = (tmp_path / name / "questions.jsonl" for name in ("killed", "whole"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (chat_reply("Here are some good questions."), "writing: no JSON"),
        (chat_reply('{"items": [{"question": "What', "length"), "writing: cut at the limit of tokens"),
        (chat_reply('{"items": []}'), "writing: the model found nothing to ask"),
        (chat_reply('{"items": [{"question": " ", "answers": ["7"], "passages": []}]}'), "cleaning: no question"),
        (chat_reply('{"items": [{"question": "Q?", "answers": [""], "passages": []}]}'), "cleaning: no answer"),
        (
            chat_reply(
                '{"items": [{"question": "Q?", "answers": "7", "passages": [{"section": 1, "text": "made up"}]}]}'
            ),
            "cleaning: a passage that is not in its section",
        ),
        ((400, {"error": "no"}), "writing: the endpoint refused"),
    ],
)
def test_what_cannot_be_used_is_counted_and_is_no_question(
    tmp_path: Path, gateway: Asked, reply: tuple[int, dict[str, Any]], reason: str
) -> None:
    def broken(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        form = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {"items": 0})
        return reply if "items" in form else stock_model(path, body)

    with asked_server(broken) as model:
        told = generate(tmp_path / "q", gateway, model, "--topic", "stocks", "--task", "extractive")
    assert told["questions"] == 0
    assert told["cells"][0]["dropped"] == {reason: 5}
    assert (tmp_path / "q" / "questions.jsonl").read_bytes() == b""


def test_a_writer_that_quotes_badly_is_asked_a_bounded_number_of_times(tmp_path: Path, gateway: Asked) -> None:
    def careless(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, reply = stock_model(path, body)
        return status, json.loads(json.dumps(reply).replace(" were", " are"))

    only = ("--topic", "stocks", "--task", "contrast", "--per-cell", 1)
    with asked_server(careless) as model:
        cell = generate(tmp_path / "q", gateway, model, *only, "--tries", 3)["cells"][0]
        assert (cell["questions"], cell["writings"], cell["gave_up"]) == (0, 3, True)
        assert "used up (--tries): 1" in (told := omni_again(tmp_path / "q", gateway, model, *only, "--tries", 3)), told
        cell = generate(tmp_path / "q", gateway, model, *only, "--tries", 99)["cells"][0]
    assert (cell["writings"], cell["gave_up"]) == (10, False), "every pair of the five sections was tried"


@pytest.mark.parametrize(
    ("verdict", "kept", "reason"),
    [
        ('{"evaluation": 0, "corrected": null}', 0, "inspection: useless"),
        ("It is a fine question.", 0, "inspection: no JSON"),
        ('{"inspection": "fine"}', 0, "inspection: no object"),
        ('{"inspection": {"evaluation": 0, "corrected": null}}', 0, "inspection: useless"),
        ('{"evaluation": 3, "corrected": null}', 0, "inspection: not 0, 1 or 2"),
        ('{"evaluation": 1, "corrected": null}', 0, "cleaning: no object"),
        (
            '{"evaluation": 1, "corrected": {"question": "Better?", "answers": ["7"], '
            '"passages": [{"section": 1, "text": "sales were"}]}}',
            1,
            "asked before",
        ),
    ],
)
def test_inspection_drops_corrects_and_never_passes_what_it_cannot_read(
    tmp_path: Path, gateway: Asked, verdict: str, kept: int, reason: str
) -> None:
    def inspecting(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        fields = body["response_format"]["json_schema"]["schema"]["properties"]
        return chat_reply(verdict) if "inspection" in fields else stock_model(path, body)

    with asked_server(inspecting) as model:
        told = generate(tmp_path / "q", gateway, model, "--topic", "stocks", "--task", "extractive")
    assert told["questions"] == kept
    assert told["cells"][0]["dropped"] == {reason: 5 - kept}
    if kept:
        (one,) = rows(tmp_path / "q" / "questions.jsonl")
        assert (one["turns"][0]["question"], one["source"]["inspection"]) == ("Better?", 1)


def test_an_empty_base_a_topic_without_documents_and_a_dead_model(tmp_path: Path, gateway: Asked) -> None:
    with asked_server(stock_model) as model:
        with asked_server(knowledge({})) as empty:
            assert "is empty; add documents" in generate(tmp_path / "e", empty, model, code=1)
        told = omni(
            *("generate", "--model-url", f"{model.url}/v1", "--model", "writer", "--gateway", gateway.url),
            *("--out", tmp_path / "q", "--topic", "bonds"),
        )
        assert "0 questions in 5 cells, 5 of them empty" in told
        assert "topics without documents:" in told
        assert "bonds" in told
    said = generate(tmp_path / "d", gateway, Asked("http://127.0.0.1:9"), code=1)
    assert "5 requests in a row failed" in said
    assert "ConnectError" in said


def test_review_there_and_back(tmp_path: Path, gateway: Asked) -> None:
    folder = tmp_path / "q"
    with asked_server(stock_model) as model:
        generate(folder, gateway, model, "--topic", "stocks", "--per-cell", 2)
        with (folder / "review.csv").open(encoding="utf-8-sig", newline="") as file:
            table = list(csv.DictReader(file))
        made = rows(folder / "questions.jsonl")
        assert len(table) == sum(len(one["turns"]) for one in made)
        assert "10 questions kept, 0 of them edited, 0 dropped" in omni("review", folder)
        table[0] |= {"question": "=What was sold?", "answers": "7 || seven", "note": "clearer"}
        table[1]["keep"] = "no"
        with (folder / "review.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows(table)
        assert "9 questions kept, 1 of them edited, 1 dropped" in omni("review", folder)
        generate(folder, gateway, model, "--topic", "stocks", "--per-cell", 2)
    assert "clearer" in (folder / "review.csv").read_text("utf-8"), "a person's work is not written over"
    first = rows(folder / "reviewed.jsonl")[0]
    assert first["turns"] == [{"question": "=What was sold?", "answers": ["7", "seven"]}]
    assert (first["id"], first["source"]["edited"], first["source"]["note"]) == (made[0]["id"], True, "clearer")
    for column, value, said in (("keep", "maybe", "row 2: keep must be yes or no"), ("id", "x", "has the id 'x'")):
        with (folder / "bad.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows([{**table[0], column: value}, *table[1:]])
        assert said in omni("review", folder, "--file", folder / "bad.csv", code=1)


def test_a_model_proposes_topics_that_generate_takes(tmp_path: Path, gateway: Asked) -> None:
    replies = iter(["No idea.", '{"topics": [{"id": "sales", "area": "Results", "name": "Sales"}]}'])

    def proposing(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        assert "a page 1: sales" in body["messages"][1]["content"]
        return chat_reply(next(replies, "Nothing more."))

    tree = tmp_path / "tree.toml"
    with asked_server(proposing) as model:
        given = ("--model-url", f"{model.url}/v1", "--model", "m", "--gateway", gateway.url)
        assert "Results - Sales" in omni("topics", *given, "--out", tree)
        assert "is there already" in omni("topics", *given, "--out", tree, code=2)
        assert "proposed no tree" in omni("topics", *given, "--out", tmp_path / "b.toml", code=1)
    assert [one.id for one in read_matrix(tree).topics] == ["sales"]

    def one_topic(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        fields = body["response_format"]["json_schema"]["schema"]["properties"]
        return chat_reply('{"topic": 1}') if "topic" in fields else stock_model(path, body)

    with asked_server(one_topic) as model:
        told = generate(tmp_path / "q", gateway, model, "--tree", tree, "--per-cell", 1)
    assert {cell["topic"] for cell in told["cells"]} == {"sales"}
    assert told["questions"] == 5
