"""`quelea eval arena` against an OpenAI-shaped server and a gateway-shaped one, killed and taken up again."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.arena.arena_folder import Arena
from quelea_evaluation.arena.commands import app
from quelea_evaluation.arena.speakers import Speaker, connect, describe
from quelea_evaluation.endpoints import client
from quelea_evaluation.endpoints.chat import Reply, Sampling
from quelea_evaluation.endpoints.client import Address, EndpointError
from quelea_kit.testing import wait_until
from support.asked_server import Asked, Cut, Decide, asked_server
from typer.testing import CliRunner

Json = dict[str, Any]
ASK = [{"role": "system", "content": "You advise."}, {"role": "user", "content": "Which loan?"}]


@pytest.fixture
def serve() -> Iterator[Callable[[Decide], Asked]]:
    with ExitStack() as servers:
        yield lambda decide: servers.enter_context(asked_server(decide))


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.01)


def said(text: str, finish: str = "stop") -> Json:
    return {
        "model": "fake-1",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 2},
    }


def call(speaker: Speaker) -> Reply:
    async def run() -> Reply:
        try:
            return await speaker.reply(ASK, Sampling(0.5, 7))
        finally:
            await speaker.close()

    return asyncio.run(run())


def chat(server: Asked, max_tokens: int = 0) -> Reply:
    return call(connect(Address("m", f"{server.url}/v1"), "key", max_tokens=max_tokens, seconds=5))


def test_what_an_endpoint_is_sent(serve: Callable[[Decide], Asked]) -> None:
    server = serve(lambda path, body: (200, said("This one.", "length")))
    reply = chat(server, max_tokens=50)
    assert (reply.text, reply.tokens, reply.tries, reply.model) == ("This one.", (11, 2), 1, "fake-1")
    assert describe(reply)["finish_reason"] == "length"
    path, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "m",
        "messages": ASK,
        "temperature": 0.5,
        "seed": 7,
        "max_tokens": 50,
    }


def test_a_gateway_is_asked_with_its_history(serve: Callable[[Decide], Asked]) -> None:
    server = serve(lambda path, body: (200, {"answer": "A. [1]", "citations": [{}], "route": "local", "reader": "x"}))
    reply = call(connect(Address("quelea", server.url)))
    assert (reply.text, reply.tokens) == ("A. [1]", None)
    assert reply.details == {"citations": 1, "route": "local", "reader": "x"}
    assert server.requests == [("/v1/ask", {"question": "Which loan?", "history": []})]


@pytest.mark.parametrize(
    ("answers", "tries"),
    [
        ([(503, {"error": {"message": "busy"}}), (200, said("ok"))], 2),
        ([(429, b"slow down"), (500, b""), (200, said("ok"))], 3),
        ([(200, b"<html>"), (200, said("ok"))], 2),
        ([(200, Cut(b'{"half')), (200, said("ok"))], 2),
    ],
)
def test_what_may_pass_is_tried_again(serve: Callable[[Decide], Asked], answers: list[Any], tries: int) -> None:
    waiting = iter(answers)
    server = serve(lambda path, body: next(waiting))
    reply = chat(server)
    assert (reply.text, reply.tries) == ("ok", tries)


@pytest.mark.parametrize(
    ("answer", "message", "requests", "passing"),
    [
        ((503, {"error": {"message": "busy"}}), "HTTP 503: busy (5 tries)", 5, True),
        ((400, {"error": {"message": "question is too long"}}), "HTTP 400: question is too long", 1, False),
        ((200, said(" ")), "the reply is empty", 1, False),
        ((200, {"choices": []}), "no chat completion", 1, False),
    ],
)
def test_what_failed_says_why(
    serve: Callable[[Decide], Asked], answer: Any, message: str, requests: int, passing: bool
) -> None:
    server = serve(lambda path, body: answer)
    with pytest.raises(EndpointError) as failed:
        chat(server)
    assert message in str(failed.value)
    assert (len(server.requests), failed.value.passing) == (requests, passing)


def test_an_answer_without_end_is_cut(serve: Callable[[Decide], Asked]) -> None:
    server = serve(lambda path, body: (200, b" " * 9_000_000))
    with pytest.raises(EndpointError, match="more than 8,000,000 bytes"):
        chat(server)


def play(path: str, body: Json) -> tuple[int, Any]:
    """User, systems and judge by their model's name. Items of 'Analyst' fail for alpha; the judge likes beta."""
    messages, model = body["messages"], body["model"]
    if model == "user":
        return 200, said("<Consultation Ended>" if len(messages) > 1 else "I have a question.")
    if model == "judge":
        text = messages[0]["content"]
        return 200, said("[[1]]" if text.index("beta speaks") < text.index("alpha speaks") else "[[2]]")
    if model == "alpha" and "research framework" in messages[0]["content"]:
        return 400, {"error": {"message": "refused"}}
    return 200, said(f"{model} speaks")


def arena(*args: str) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_from_dialogues_to_ratings(serve: Callable[[Decide], Asked], tmp_path: Path) -> None:
    url = serve(play).url + "/v1"
    for name in ("alpha", "beta"):
        done = arena("talk", tmp_path, "--system", f"{name}@{url}", "--user", f"user@{url}", "--most", "1", "--json")
        assert done.exit_code == 0, done.output
    first = json.loads((tmp_path / "systems" / "alpha" / "manifest.json").read_text())
    assert first["settings"]["system"] == f"alpha@{url}"
    assert first["sessions"][0]["started"]
    done = arena("judge", tmp_path, "--judge", f"judge@{url}", "--json")
    assert json.loads(done.stdout) == {"judge": "judge", "judgements": {"judged": 16, "missing": 1}}
    table = json.loads(arena("rate", tmp_path, "--json").stdout)
    assert [(line["model"], line["wins"]) for line in table["leaderboard"]] == [("beta", 16), ("alpha", 0)]
    assert table["dialogues"]["alpha"]["statuses"] == {"complete": 16, "failed": 1}
    assert "1 of 17 dialogues of alpha failed; their items gave no game." in table["notices"]
    compat = json.loads(arena("rate", tmp_path, "--compat", "ucfe", "--json").stdout)
    assert compat["win_counts"] == {"alpha": 0, "beta": 32}


def test_a_run_that_was_killed_goes_on(serve: Callable[[Decide], Asked], tmp_path: Path) -> None:
    blocked = threading.Event()
    go = threading.Event()

    def slow(path: str, body: Json) -> tuple[int, Any]:
        if len(server.requests) == 7:  # a task of one round has one call an item, so this is the seventh item
            blocked.set()
            go.wait(60)
        return play(path, body)

    server = serve(slow)
    url = server.url + "/v1"
    options = ["--system", f"beta@{url}", "--task", "0_股价预测", "--at-once", "1", "--most", "9"]
    command = [sys.executable, "-m", "quelea_evaluation.arena", "talk", str(tmp_path / "broken"), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(blocked.is_set)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        go.set()
    index = Arena(tmp_path / "broken").dialogues("beta")
    assert len(index) == 6
    refused = arena("talk", tmp_path / "broken", *options)
    assert refused.exit_code == 2
    assert "--resume goes on with it" in refused.stderr
    assert arena("talk", tmp_path / "broken", *options, "--resume").exit_code == 0
    assert arena("talk", tmp_path / "whole", *options).exit_code == 0

    def lasting(folder: str) -> list[Json]:
        times = {"started", "milliseconds"}
        lines = list(Arena(tmp_path / folder).dialogues("beta").latest())
        for line in lines:
            line["turns"] = [{k: v for k, v in turn.items() if k not in times} for turn in line["turns"]]
        return [{k: v for k, v in line.items() if k not in times} for line in lines]

    assert lasting("broken") == lasting("whole")
    assert len(server.requests) == 9 + 1 + 9  # one was lost


def test_conversations_need_a_user(tmp_path: Path) -> None:
    refused = arena("talk", tmp_path, "--system", "m@http://127.0.0.1:9/v1")
    assert refused.exit_code == 2
    assert "name the simulated user with --user" in refused.stderr
