"""Calls of functions, read from a stream; and whether a model behind an endpoint makes any."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import openai

from quelea_generator.adapters.chunks import encodable
from quelea_generator.core.chat.chat_model import ChatRequest, Function, FunctionCall
from quelea_generator.core.chat.prompt import Message

Wanted = Literal["probe", "yes", "no"]
"""Whether functions are offered: after a trial, always, never."""

_MOST_CALLS = 32
"""Of one answer; those after them are left out."""
_MOST_MODELS = 256
"""Whose trials are remembered, the latest ones."""
_NAME_CHARS = 64
_PROBED = Function(
    "report_state",
    "Reports the state of this machine.",
    {
        "type": "object",
        "properties": {"state": {"type": "string", "enum": ["ready", "busy"]}},
        "required": ["state"],
    },
)
_PROBE_TOKENS = 512
"""A model that thinks first has room for it."""
_OF_THE_MOMENT = frozenset({401, 403, 404, 408, 429, 502, 503, 504})
"""Statuses that say nothing of functions."""


class GatheredCalls:
    """Feed it every chunk of a stream."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._arguments: dict[int, list[str]] = {}

    def feed(self, chunk: Any) -> str:
        """What the chunk adds to arguments.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: It has another shape.
        """
        choices = chunk.get("choices")
        delta = (choices[0] if choices else {}).get("delta") or {}
        added = []
        for fragment in delta.get("tool_calls") or ():
            function = fragment.get("function") or {}
            name, arguments = function.get("name") or "", function.get("arguments") or ""
            given = fragment.get("index")
            if given is None:  # of a server that sends whole calls, in one chunk or in several: a name begins the next
                given = len(self._names) if name else max(self._names, default=0)
            index = int(given)
            if index not in self._names and len(self._names) >= _MOST_CALLS:
                continue
            if isinstance(arguments, dict):  # as some servers have it
                arguments = json.dumps(arguments, ensure_ascii=False)
            if not isinstance(name, str) or not isinstance(arguments, str):
                raise TypeError("a call of a function is no text")
            self._names[index] = (self._names.get(index, "") + encodable(name))[:_NAME_CHARS]
            self._arguments.setdefault(index, []).append(encodable(arguments))
            added.append(arguments)
        return "".join(added)

    def calls(self) -> tuple[FunctionCall, ...]:
        """Those that have a name, in their order."""
        return tuple(
            FunctionCall(name, "".join(self._arguments[index]).strip() or "{}")
            for index, name in sorted(self._names.items())
            if name
        )


def probe_request(model: str) -> ChatRequest:
    """A trial: whoever calls functions calls this one."""
    asked = "Report with the function report_state that this machine is ready."
    return ChatRequest((Message("user", asked),), model, _PROBE_TOKENS, functions=(_PROBED,))


def is_call_of_probe(calls: Sequence[FunctionCall]) -> bool:
    """The trial was passed: the function was called, with arguments that can be read."""
    for one in calls:
        if one.name != _PROBED.name:
            continue
        try:
            read = json.loads(one.arguments)
        except (ValueError, RecursionError):
            continue
        if isinstance(read, dict) and read.get("state") in ("ready", "busy"):
            return True
    return False


class FunctionSupport:
    """What is known of the models of one endpoint.

    Args:
        wanted: Whether they are offered functions.
        probe: Asks the model of a name for a call; returns whether one came. May raise openai.APIStatusError.
    """

    def __init__(self, wanted: Wanted, probe: Callable[[str], Awaitable[bool]]) -> None:
        self._wanted = wanted
        self._probe = probe
        self._known: OrderedDict[str, bool] = OrderedDict()
        self._asking = asyncio.Lock()

    async def has(self, model: str) -> bool:
        """Whether a model calls functions; the first time it is asked. Raises what a request raises."""
        if self._wanted != "probe":
            return self._wanted == "yes"
        async with self._asking:
            if model not in self._known:
                try:
                    found = await self._probe(model)
                except openai.APIStatusError as error:
                    if error.status_code in _OF_THE_MOMENT:
                        raise
                    found = False  # the server refuses the field
                self._known[model] = found
                if len(self._known) > _MOST_MODELS:
                    self._known.popitem(last=False)
            return self._known[model]

    def forget(self) -> None:
        """A restarted endpoint may be another version."""
        self._known.clear()
