"""Plain chat completions, for callers with prompts of their own: under the same queue, budget and bounds as answers."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Literal

from quelea_generator.core.chat.budget import Budget
from quelea_generator.core.chat.chat_model import (
    NO_FUNCTIONS,
    ChatModel,
    ChatRequest,
    Function,
    FunctionCall,
    JsonSchema,
)
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.model import Delta

_TEMPLATE_TOKEN = re.compile(r"<(?=[|｜][^\s|｜<>]{1,40}[|｜]>|<SYS>>|</SYS>>|(?:start|end)_of_turn>)")
"""What opens or closes a turn in the usual chat templates. Ordinary markup and code stay as they are."""
_INST = re.compile(r"\[(?=/?INST\])")

Misfit = Callable[[Any, JsonSchema], str]
"""A JSON value and a schema -> what does not fit, "" when it fits."""


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A completion that is asked for; empty and 0: the server's defaults."""

    messages: tuple[Message, ...]
    schema: JsonSchema | None = None
    model: str = ""
    max_tokens: int = 0
    temperature: float | None = None
    tenant: str = ""
    functions: tuple[Function, ...] = ()


Reason = Literal["stop", "length", "invalid", "no_functions"]
"""How a completion ended. "invalid": the text is no JSON that fits the schema, or a call does not fit its function;
"no_functions": the model calls none, and wrote nothing."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The end of a completion, always the last event."""

    reason: Reason
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: tuple[FunctionCall, ...] = ()


class Completer:
    """Completions over any ChatModel.

    Args:
        chat: Where the model is.
        misfit: Says what of a value does not fit a schema.
        max_tokens: Longest completion; a request may ask for less.
        temperature: For requests that name none.
        token_safety: What an estimate of tokens is multiplied by where nobody counts them.
        context_tokens: The model's context where its endpoint does not tell it; 0: unknown.
    """

    def __init__(
        self,
        chat: ChatModel,
        misfit: Misfit,
        *,
        max_tokens: int,
        temperature: float,
        token_safety: float = 1.5,
        context_tokens: int = 0,
    ) -> None:
        self._chat = chat
        self._misfit = misfit
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._budget = Budget(
            chat, evidence_tokens=0, history_tokens=0, safety=token_safety, context_tokens=context_tokens
        )

    async def complete(self, wanted: CompletionRequest) -> AsyncGenerator[Delta | Completed, None]:
        """Text as it comes, then Completed.

        Raises:
            TooLarge: The prompt leaves no room for an answer in the model's context; names both in tokens.
            QueleaError: The endpoint failed, or is full.
        """
        model = wanted.model or self._chat.model
        await self._chat.refuse_when_full(wanted.tenant)
        messages = tuple(Message(message.role, escape_turns(message.content)) for message in wanted.messages)
        most = min(wanted.max_tokens or self._max_tokens, self._max_tokens)
        functions = tuple(_escaped(one) for one in wanted.functions)
        beside: Any = wanted.schema or [one.said() for one in functions] or None
        tokens, room = await self._budget.room(messages, model=model, max_tokens=most, beside=beside)
        shown: list[str] = []
        calls: tuple[FunctionCall, ...] = ()
        finish, prompt_tokens, completion_tokens = "", 0, 0
        temperature = self._temperature if wanted.temperature is None else wanted.temperature
        request = ChatRequest(
            messages, model, room, temperature, wanted.tenant, tokens, wanted.schema, functions=functions
        )
        async with contextlib.aclosing(self._chat.stream(request)) as stream:
            async for piece in stream:
                finish, calls = piece.finish or finish, piece.calls or calls
                prompt_tokens = piece.prompt_tokens or prompt_tokens
                completion_tokens = piece.completion_tokens or completion_tokens
                if piece.text:
                    shown.append(piece.text)
                    yield Delta(piece.text)
        if functions:
            reason = self._reason_of_calls(calls, finish, functions)
        else:
            reason = self._reason("".join(shown), finish, wanted.schema)
        yield Completed(reason, model, prompt_tokens, completion_tokens, calls)

    def _reason_of_calls(self, calls: tuple[FunctionCall, ...], finish: str, functions: tuple[Function, ...]) -> Reason:
        if finish in (NO_FUNCTIONS, "length"):
            return "no_functions" if finish == NO_FUNCTIONS else "length"
        schemas = {one.name: one.parameters for one in functions}
        fits = all(one.name in schemas and self._fits(one.arguments, schemas[one.name]) for one in calls)
        return "stop" if fits else "invalid"

    def _fits(self, text: str, schema: JsonSchema) -> bool:
        try:
            return not self._misfit(json.loads(text, parse_constant=_no_constant), schema)
        except (ValueError, RecursionError):
            return False

    def _reason(self, text: str, finish: str, schema: JsonSchema | None) -> Reason:
        cut = finish == "length"
        if schema is None:
            return "length" if cut else "stop"
        try:
            value = json.loads(text, parse_constant=_no_constant)
            fits = not self._misfit(value, schema)
        except (ValueError, RecursionError):
            value, fits = None, False
        if cut:  # a whole object is whole, also when blanks without end came after it; half a number looks like one
            return "stop" if fits and isinstance(value, dict | list) else "length"
        return "stop" if fits else "invalid"


def escape_turns(text: str) -> str:
    """The text without the marks by which chat templates tell one turn from the next."""
    return _INST.sub("［", _TEMPLATE_TOKEN.sub("‹", text))


def _escaped(function: Function) -> Function:
    """A function whose texts open no turn either."""
    parameters = json.loads(escape_turns(json.dumps(dict(function.parameters), ensure_ascii=False)))
    return Function(function.name, escape_turns(function.description), parameters)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
