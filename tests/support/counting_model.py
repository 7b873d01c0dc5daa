"""A model for many runs at once: each question names a number, and every decision follows from the prompt alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quelea_gateway.core.model import Message
from support.agent_world import kind_of
from support.scripted_model import scripted_model

_NUMBER = re.compile(r"square of (\d+)")
PLAN = {"profile": "You compute squares.", "plan": [{"action": "code-exec", "task": "compute"}, {"action": "finish"}]}


def question(number: int) -> str:
    """What a run is asked; its square is what the container must print."""
    return f"What is the square of {number}, in units?"


def decide(body: dict[str, Any], *, before: str = "") -> str:
    """The model's answer to a request: code once, then the end, with the figure only if it was seen."""
    messages = [Message(one["role"], one["content"]) for one in body["messages"]]
    kind = kind_of(messages) if len(messages) > 1 else "?"
    prompt = messages[-1].text if len(messages) == 1 else messages[1].text
    found = _NUMBER.search(prompt)
    number = int(found.group(1)) if found else 0
    square = str(number * number)
    told = any(square in one.text for one in messages)
    if kind == "plan":
        return json.dumps(PLAN)
    if kind == "action":
        done = told or "could not be run" in prompt
        insight = f"The square is {square}." if told else "No code could be run."
        code = {"action": "code-exec", "task": "compute", "apis": []}
        return json.dumps(
            {"notes": [insight] if done else [], "plan": [], "actions": [{"action": "finish"} if done else code]}
        )
    if kind == "code":
        return f"```python\n{before}n = {number}\nprint(f'result: {{n * n}} units')\n```"
    if kind == "answer":
        text = f"The result is {square} units [1]." if told else "The square could not be computed."
        return json.dumps({"answer": text, "missing": [] if told else ["the square"]})
    return "1"


@contextmanager
def counting_model(folder: Path, *, before: str = "") -> Iterator[str]:
    """Its base URL with /v1.

    Args:
        folder: A place for a file.
        before: Lines of Python before each run's own.
    """
    empty = folder / "no-decisions.json"
    empty.write_text('{"decisions": []}', encoding="utf-8")
    with scripted_model(empty) as (url, server):
        server.decide = lambda body: decide(body, before=before)  # type: ignore[method-assign]  # by prompt, not by list
        yield url
