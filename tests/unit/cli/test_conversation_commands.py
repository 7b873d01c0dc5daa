"""`quelea chat` keeps the conversation; `quelea ask` shows how a follow-up was understood."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from typing import Any

import pytest
from quelea_cli.commands.chat import trim

Run = Callable[..., tuple[int, str, str]]


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    left = list(lines)

    def read(_: str) -> str:
        if not left:
            raise EOFError
        return left.pop(0)

    monkeypatch.setattr(builtins, "input", read)


def asked(gateway: Any) -> list[dict[str, Any]]:
    return [json.loads(body) for _, path, _, body in gateway.seen if path == "/v1/ask"]


def test_a_chat_sends_what_was_said_before(gateway: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "What were sales?", "and the year before?", "/new", "Something else?", "")
    code, out, err = run("chat", "--as-of", "2024-01-31", "--company", "Apple")
    assert (code, err) == (0, "")
    first, second, third = asked(gateway)
    assert (first["question"], first["history"], first["as_of"]) == ("What were sales?", [], "2024-01-31")
    assert second["history"] == [
        {"role": "user", "content": "What were sales?"},
        {"role": "assistant", "content": "Total net sales were 81,797 [1]."},
    ]
    assert third["history"] == []
    assert third["filters"] == {"companies": ["Apple"]}
    assert out.count("Total net sales were 81,797 [1].") == 3


def test_a_question_that_fails_does_not_end_the_chat(gateway: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"error": {"code": "INVALID_INPUT", "message": "The question is odd.", "details": {}}}
    gateway.answer("/v1/ask", (400, error))
    typed(monkeypatch, "Odd?", "Odd again?")
    code, _, err = run("chat")
    assert (code, err.count("The question is odd.")) == (0, 2)
    assert asked(gateway)[1]["history"] == []


def test_a_long_history_keeps_its_newest_turns_whole() -> None:
    history = [{"role": role, "content": f"{n} " * 800} for n in range(20) for role in ("user", "assistant")]
    kept = trim(history)
    assert kept == history[-len(kept) :]
    assert kept[0]["role"] == "user"
    assert 10 < len(kept) <= 30
    assert sum(len(turn["content"]) for turn in kept) <= 30_000
    assert trim([{"role": "user", "content": "x" * 40_000}, {"role": "assistant", "content": "y"}]) == []


def test_ask_shows_how_a_follow_up_was_understood(gateway: Any, run: Run) -> None:
    answer = {"answer": "7", "citations": [], "further_reading": [], "timings": {}, "checks": [], "notices": []}
    alone = {"question": "What were sales in [fiscal] 2022?", "by": "rules"}
    gateway.answer("/v1/ask", (200, {**answer, "standalone": alone}), (200, {**answer, "standalone": None}))
    _, out, _ = run("ask", "and before?", "--no-stream")
    assert out.splitlines()[0] == "asked: What were sales in [fiscal] 2022?"
    _, out, _ = run("ask", "What were sales?", "--no-stream")
    assert "asked:" not in out
