"""The agent on fakes in memory: a model that says what a test wants, a journal that a test reads."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quelea_gateway.adapters.services.fake_door import FakeMarket
from quelea_gateway.adapters.services.fake_sandbox import FakeSandbox
from quelea_gateway.adapters.services.fake_tools import FakeTools
from quelea_gateway.core.agent.loop import run
from quelea_gateway.core.agent.model import Artifact, Budget, RunAnswer, RunRequest, Usage
from quelea_gateway.core.agent.ports import Completed, ModelInfo
from quelea_gateway.core.agent.work import Ports, Rules
from quelea_gateway.core.model import Message, Passage, Retrieved

URL = "https://quotes.example/NVDA"
QUOTES = "date,close\n2026-11-09,181.25\n2026-11-13,190.17\n2026-11-20,186.5\n"


class Clock:
    """The real time, which a test may push on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 22, 12, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


class Knowledge:
    """One passage for every query."""

    def __init__(self, text: str = "Revenue of NVIDIA was $35,082 million in the quarter.") -> None:
        self.text = text
        self.asked: list[str] = []

    async def search(self, query: str, *, k: int, as_of: str, filters: Any) -> Retrieved:
        self.asked.append(query)
        if not self.text:
            return Retrieved(())
        return Retrieved(
            (Passage("doc-1", 1, 0, len(self.text), self.text, title="NVIDIA 10-Q", published="2026-11-19"),)
        )


def kind_of(messages: Sequence[Message]) -> str:
    """Which sub-task a prompt is for."""
    text = messages[1].text
    marks = {
        "plan": ('"plan": the steps, in order', '"plan"：按顺序列出'),
        "action": ("Choose the next action", "选择下一步行动"),
        "code": ("Write the code for this task", "请为这个任务编写代码"),
        "answer": ("The evidence, numbered:", "带编号的证据："),
    }
    for kind, one in marks.items():
        if any(mark in text for mark in one):
            return kind
    return "?"


Said = str | Exception | Callable[[str, Sequence[Message]], Any]


class SayingModel:
    """Says by sub-task what a test gives: one text for all, a list in order (the last for ever), or a function."""

    def __init__(self, says: dict[str, Said | list[Said]], context: int = 8192) -> None:
        self.says = says
        self.context = context
        self.asked: list[tuple[str, Sequence[Message], str]] = []
        self.language_model = True

    async def info(self) -> ModelInfo:
        return ModelInfo("saying", self.context, self.language_model)

    async def complete(self, messages: Sequence[Message], *, json_schema: str = "", **_: Any) -> Completed:
        kind = kind_of(messages)
        self.asked.append((kind, messages, json_schema))
        said = self.says.get(kind, "")
        if isinstance(said, list):
            said = said.pop(0) if len(said) > 1 else said[0]
        if callable(said) and not isinstance(said, Exception):
            said = said(kind, messages)
            if asyncio.iscoroutine(said):
                said = await said
        if isinstance(said, Exception):
            raise said
        return Completed(said, "stop", "saying", 100, 20)


class Noted:
    """A journal in memory."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.files: dict[str, bytes] = {}
        self.used: Any = None
        self.calls: Any = ()

    async def event(self, name: str, data: dict[str, Any]) -> None:
        json.dumps(data, ensure_ascii=False).encode()  # must be storable
        self.events.append((name, data))

    async def artifact(self, artifact: Artifact, data: bytes) -> None:
        self.files[artifact.name] = data

    def progress(self, usage: Any, calls: Any, model: str) -> None:
        self.used, self.calls = usage, calls

    def of(self, name: str) -> list[dict[str, Any]]:
        return [data for one, data in self.events if one == name]


class Examples:
    """Trajectories in memory."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []

    async def add(self, example: dict[str, Any]) -> None:
        self.kept.append(example)


def world(model: Any, **more: Any) -> Ports:
    """The agent's world in memory."""
    market = more.pop("market", None) or FakeMarket({URL: QUOTES})
    usual: dict[str, Any] = {
        "knowledge": Knowledge(), "clock": Clock(), "tools": FakeTools(), "sandbox": FakeSandbox(market),
        "door": market, "trajectories": Examples(),
    }  # fmt: skip
    return Ports(model=model, **{**usual, **more})


def asking(question: str = "What is NVIDIA's price trend over the last two weeks?", **more: Any) -> RunRequest:
    """A request."""
    budget = {"steps": 10, "tokens": 200_000, "seconds": 30.0, "calls": 20, **more.pop("budget", {})}
    usual: dict[str, Any] = {"as_of": "2026-11-22", "tenant": "desk", "language": "en"}
    return RunRequest(question, budget=Budget(**budget), **{**usual, **more})


@dataclass
class Ran:
    """How a run ended."""

    answer: RunAnswer
    usage: Usage
    calls: tuple[dict[str, Any], ...]


async def ran(ports: Ports, request: RunRequest, rules: Rules) -> tuple[Ran, Noted]:
    """One run, with its journal."""
    journal = Noted()
    answer = await run("run-1", request, ports, rules, journal)
    return Ran(answer, journal.used, journal.calls), journal


FAST = Rules(model_seconds=5, code_seconds=5, search_seconds=5)

GOOD: dict[str, Any] = {
    "plan": json.dumps(
        {"profile": "A stock analyst.",
         "plan": [{"action": "api-select", "task": "find daily prices"}, {"action": "code-exec", "task": "get them"},
                  {"action": "finish", "task": "conclude"}]}
    ),
    "action": [
        json.dumps({"action": "api-select", "category": "Stock", "need": "daily prices of a US stock"}),
        json.dumps({"action": "code-exec", "task": "print the closes, plot them", "apis": ["stock_us_daily"]}),
        json.dumps(
            {"notes": ["The close of 2026-11-13 was 190.17."], "plan": [], "actions": [{"action": "finish"}]}
        ),
    ],
    "code": f'```python\ndata = fetch("{URL}")\nprint("{{market}}")\nplt.savefig("trend.png")\n```',
    "answer": json.dumps(
        {"answer": "NVIDIA rose from 181.25 to 186.5 [1]. The highest close was 190.17 on 2026-11-13 [1].",
         "missing": []}
    ),
}  # fmt: skip
"""A model that does it right."""


def good(**changed: Any) -> dict[str, Any]:
    """GOOD, with some sub-tasks changed; lists are copied."""
    return {name: list(one) if isinstance(one, list) else one for name, one in {**GOOD, **changed}.items()}
