"""Calls of functions, read from a stream; and whether a model behind an endpoint makes any."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
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
_ID_CHARS = 128
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


@dataclass
class _Call:
    """A call as far as it has come."""

    order: int
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Its arguments are an object that is closed."""
        said = "".join(self.arguments)
        return said.rstrip().endswith("}") and _is_object(said)


class GatheredCalls:
    """Feed it every chunk of a stream.

    A fragment belongs to the call of its index. Servers that send whole calls give no index, or 0 for all of them:
    there a fragment with a name begins another call where the one before has another id, or all of its arguments.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}

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
            if isinstance(arguments, dict):  # as some servers have it
                arguments = json.dumps(arguments, ensure_ascii=False)
            if not isinstance(name, str) or not isinstance(arguments, str):
                raise TypeError("a call of a function is no text")
            call = self._call_of(fragment.get("index"), str(fragment.get("id") or "")[:_ID_CHARS], name)
            if call is None:
                continue
            call.name = (call.name + encodable(name))[:_NAME_CHARS]
            call.arguments.append(encodable(arguments))
            added.append(arguments)
        return "".join(added)

    def _call_of(self, given: Any, key: str, name: str) -> _Call | None:
        """The call that a fragment belongs to; None of one too many."""
        following = len(self._calls) if name else max(self._latest, default=0)
        index = following if given is None else int(given)
        call = self._latest.get(index)
        if call is None or (name and ((key and call.id and key != call.id) or call.complete)):
            if len(self._calls) >= _MOST_CALLS:
                return None
            call = self._latest[index] = _Call(index, key)
            self._calls.append(call)
        return call

    def calls(self) -> tuple[FunctionCall, ...]:
        """Those that have a name, in their order."""
        return tuple(
            FunctionCall(call.name, "".join(call.arguments).strip() or "{}")
            for call in sorted(self._calls, key=lambda call: call.order)
            if call.name
        )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


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
