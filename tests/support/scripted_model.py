"""The recorded model for tests: it finds a decision by its sub-task, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quelea_cli.recorded_model import NAME, RecordedModel, read_recorded, serving
from quelea_gateway.core.model import Message
from support.agent_world import kind_of

__all__ = ["NAME", "ScriptedModel", "decisions_file", "scripted_model"]
TESTS = Path(__file__).parents[1]


def decisions_file(name: str) -> Path:
    """Of the tests of the agent, or of the samples."""
    own = TESTS / "integration/agent" / name
    return own if own.exists() else TESTS.parent / "samples/agent" / name


class ScriptedModel(RecordedModel):
    """Says the next decision of a sub-task, the last one for ever."""

    def __init__(self, recorded: dict[str, Any]) -> None:
        super().__init__(recorded)
        self.left: dict[str, list[str]] = {}
        for one in recorded["decisions"]:
            self.left.setdefault(one["subtask"], []).append(one["output"])
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def decide(self, body: dict[str, Any]) -> str:
        messages = [Message(one["role"], one["content"]) for one in body["messages"]]
        kind = kind_of(messages) if len(messages) > 1 else "?"
        with self._lock:
            self.asked.append((kind, body))
            outputs = self.left.get(kind, [])
            if not outputs:
                return ""
            return outputs.pop(0) if len(outputs) > 1 else outputs[0]


@contextmanager
def scripted_model(decisions: Path) -> Iterator[tuple[str, ScriptedModel]]:
    """(base URL with /v1, the server, whose `asked` has every sub-task with its request)."""
    with serving(ScriptedModel(read_recorded(decisions))) as model:
        yield model.url, model
