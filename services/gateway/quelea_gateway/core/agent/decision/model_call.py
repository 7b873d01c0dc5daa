"""One question to the model: packed, under a schema, repaired a bounded number of times, then a safe fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from quelea_kit.errors import Conflict, DeadlineExceeded, InvalidInput, Overloaded, QueleaError, Unavailable

from quelea_gateway.core.agent.decision import prompts
from quelea_gateway.core.agent.decision.parsing import Misfit, clean
from quelea_gateway.core.agent.decision.token_budget import Section, cut_middle, tokens
from quelea_gateway.core.agent.ports import Completed
from quelea_gateway.core.agent.work import Work
from quelea_gateway.core.model import NO_FUNCTIONS, Function, FunctionCall, Message

T = TypeVar("T")

_SHOWN_BACK = 400
"""Tokens of an answer that does not fit, when it is shown back to the model."""
_LONGEST_PAUSE = 2.0
_FAILURES = 4
_FUNCTIONS_SHARE = 3
"""Of a prompt the part that functions may be: where they are more, the same is asked for as JSON."""


class ModelAway(Exception):
    """The model failed so often in a row that asking on makes no sense."""


@dataclass(frozen=True, slots=True)
class SubTask:
    """What is asked of the model.

    Attributes:
        kind: Of its template: "plan", "action", "code" or "answer".
        fixed: What fills the template and is never cut.
        sections: What fills it and is cut to the model's context.
        schema: JSON schema of the answer; empty: free text.
        functions: What the model calls instead, where it calls functions: the same answer in another form.
    """

    kind: str
    fixed: Mapping[str, str]
    sections: Sequence[Section]
    schema: str = ""
    functions: tuple[Function, ...] = ()

    @property
    def functions_tokens(self) -> int:
        """Estimated tokens of the functions, which the model reads before the prompt."""
        return sum(tokens(f"{one.name} {one.description} {one.parameters}") for one in self.functions)


@dataclass(frozen=True, slots=True)
class Answered:
    """What was asked, and what came: the matter of a supervised example."""

    kind: str
    messages: tuple[Message, ...]
    output: str
    schema: str
    repairs: int
    model: str
    functions: tuple[Function, ...] = ()
    calls: tuple[FunctionCall, ...] = ()


async def ask(
    work: Work,
    task: SubTask,
    decode: Callable[[str], T],
    *,
    read_calls: Callable[[Sequence[FunctionCall], str], T] | None = None,
    seconds: float = 0.0,
    temperature: float = 0.0,
    concluding: bool = False,
) -> tuple[T, Answered] | None:
    """What the decoder made of the model's answer; None when no answer could be used within the bounds.

    Args:
        decode: Reads the answer; raises Misfit with what is wrong, which the model is told.
        read_calls: Likewise, of calls and the text beside them.
        seconds: Deadline of all attempts; 0: the rules'.
        concluding: May use the time and tokens that are kept for the conclusion.

    Raises:
        ModelAway: the model failed several times in a row.
        Conflict: the reader is no language model.
    """
    end = work.ports.clock.monotonic() + (seconds or work.rules.model_seconds)
    misfit: tuple[str, str] | None = None
    attempt = -1
    while (attempt := attempt + 1) <= work.rules.repairs:
        native = work.calls_functions and 0 < task.functions_tokens <= work.prompt_tokens // _FUNCTIONS_SHARE
        functions = task.functions if native else ()
        left = end - work.ports.clock.monotonic()
        left = min(left, work.request.budget.seconds - work.elapsed if concluding else work.time_left)
        affordable = (work.request.budget.tokens - work.usage.tokens) if concluding else work.tokens_left
        messages = _messages(work, task, misfit, native=native)
        to_read = sum(tokens(one.text) for one in messages) + (task.functions_tokens if native else 0)
        if affordable < to_read:
            work.out_of_tokens = True
            break
        if left <= 0:
            break
        try:
            async with asyncio.timeout(left):
                reply = await work.ports.model.complete(
                    messages,
                    json_schema="" if native else task.schema,
                    functions=functions,
                    model=work.request.model,
                    max_tokens=max(16, min(work.output_tokens, affordable)),
                    temperature=_temperature(work, temperature, attempt),
                    tenant=work.request.tenant,
                )
        except Conflict:
            raise
        except (QueleaError, TimeoutError) as error:
            await _after_failure(work, error, to_read, left)
            continue
        work.failures = 0
        if reply.reason == NO_FUNCTIONS:  # nothing was asked of the model yet
            work.calls_functions = False
            attempt -= 1
            continue
        _account(work, to_read, reply)
        try:
            value = read_calls(reply.calls, reply.text) if reply.calls and read_calls else decode(reply.text)
        except Misfit as error:
            work.calls_functions = work.calls_functions and bool(reply.calls or not native)
            misfit = (cut_middle(clean(_said(reply)), _SHOWN_BACK), str(error))
            work.count(repairs=1)
            continue
        return value, Answered(
            task.kind,
            tuple(_messages(work, task, None, native=native)),
            work.scrubbed(clean(reply.text)),
            "" if native else task.schema,
            attempt,
            reply.model or work.info.model,
            functions,
            tuple(FunctionCall(one.name, work.scrubbed(clean(one.arguments))) for one in reply.calls),
        )
    work.count(fallbacks=1)
    return None


def _temperature(work: Work, usual: float, attempt: int) -> float:
    if work.rules.temperature is not None:  # some models take one alone
        return work.rules.temperature
    return usual if attempt == 0 else 0.3


def _said(reply: Completed) -> str:
    """Text and calls, as the model is shown them again."""
    return "\n".join(part for part in (reply.text, *(f"{one.name} {one.arguments}" for one in reply.calls)) if part)


def _messages(work: Work, task: SubTask, misfit: tuple[str, str] | None, *, native: bool) -> list[Message]:
    budget = work.prompt_tokens - (task.functions_tokens if native else 0)
    form: prompts.Form = ("calls" if native else "json") if task.functions else ""
    build = partial(prompts.build, task.kind, work.language, task.fixed, task.sections, edits=work.prompts, form=form)
    if misfit is None:
        return build(budget=budget)
    said, error = cut_middle(misfit[0], min(_SHOWN_BACK, budget // 6)), cut_middle(misfit[1], budget // 8)
    again = prompts.repair(work.language, error, work.prompts)
    budget -= tokens(said) + tokens(again.text) + 16
    first = build(budget=budget)
    return [*first, Message("assistant", said or "-"), again]


def _account(work: Work, to_read: int, reply: Completed) -> None:
    asked, said = reply.prompt_tokens, reply.completion_tokens
    if not asked + said:  # an endpoint that does not count
        asked, said = to_read, tokens(_said(reply)[:100_000])
    work.count(tokens=asked + said, prompt_tokens=asked, completion_tokens=said, model_calls=1)


async def _after_failure(work: Work, error: Exception, to_read: int, left: float) -> None:
    timed_out = isinstance(error, TimeoutError | DeadlineExceeded)  # then the engine has read the prompt
    lost = to_read if timed_out else 0
    work.count(model_calls=1, tokens=lost, prompt_tokens=lost)
    work.failures += 1
    if work.failures >= _FAILURES:
        raise ModelAway(error.message if isinstance(error, QueleaError) else "no answer in time") from error
    if isinstance(error, InvalidInput):
        # Most likely the prompt was too long for an endpoint that counts otherwise than we estimate.
        work.shrink = max(0.25, work.shrink * 0.6)
    elif isinstance(error, Overloaded | Unavailable):
        pause = min(error.retry_after or 0.5, _LONGEST_PAUSE, max(0.0, left))
        await asyncio.sleep(pause)


def _called(answered: Answered) -> dict[str, Any]:
    """Functions and calls, where they were offered, in OpenAI's words."""
    if not answered.functions:
        return {}
    return {
        "tools": [
            {"name": one.name, "description": one.description, "parameters": one.parameters}
            for one in answered.functions
        ],
        "tool_calls": [{"name": one.name, "arguments": one.arguments} for one in answered.calls],
    }


async def example(work: Work, answered: Answered, outcome: str, **more: Any) -> None:
    """Record a supervised example where the deployment asked for it."""
    if work.ports.trajectories is None:
        return
    await work.ports.trajectories.add(
        {
            "run": work.run_id,
            "step": work.step,
            "subtask": answered.kind,
            "language": work.language,
            "prompt_version": prompts.version(answered.kind, work.language, work.prompts),
            "model": answered.model,
            "messages": [{"role": m.role, "content": work.scrubbed(m.text)} for m in answered.messages],
            "schema": answered.schema,
            "output": answered.output,
            **_called(answered),
            "repairs": answered.repairs,
            "outcome": outcome,
            **more,
        }
    )
