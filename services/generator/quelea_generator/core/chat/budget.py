"""A prompt that fits the model's context, by the model's own tokenizer where there is one.

What does not fit goes in this order: the lowest-ranked evidence, then the oldest turns of the conversation, whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from quelea_fintext.text import estimate_tokens
from quelea_kit.errors import TooLarge

from quelea_generator.core.chat.chat_model import ChatModel, TokenCount
from quelea_generator.core.chat.prompt import AnswerTemplate, Message, Prompt, build_prompt
from quelea_generator.core.model import Task

_PER_MESSAGE = 8
"""Tokens of a chat template around a message, estimated; with the tokenizer they are counted."""
_LEAST_EVIDENCE = 160
"""Estimated tokens of evidence that stay as long as a turn of the history can go instead."""
_LEAST_ANSWER = 16
"""Tokens of a completion below which there is no room for one, unless fewer are asked for."""
_COUNTS = 4
_TEMPLATE = 4096
"""Tokens that a chat template may add of its own, rules and tools among them; what counts more is no count."""
_LEAST_RATIO = 0.1
"""Of counted to estimated tokens: no tokenizer does with fewer, whatever an endpoint says."""
_CLOSER = 1.04
"""After a count that was too large: how much further than computed the prompt shrinks."""


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt, and what is known of its size.

    Attributes:
        prompt: To send.
        tokens: Of the prompt; counted, or estimated.
        max_tokens: Longest answer that the context has room for beside it.
        counted: Whether tokens is the tokenizer's word.
    """

    prompt: Prompt
    tokens: int
    max_tokens: int
    counted: bool = False


class Budget:
    """Makes prompts that fit.

    Args:
        chat: Knows the context and counts tokens.
        evidence_tokens: Most evidence, estimated tokens, however large the context is.
        history_tokens: Most of earlier turns.
        safety: What an estimate is multiplied by where nobody counts, or where its room need not be known exactly.
        context_tokens: The context of a model whose endpoint does not tell it; 0: then nothing is cut for it.
        template: Of the prompts.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        evidence_tokens: int,
        history_tokens: int,
        safety: float = 1.5,
        context_tokens: int = 0,
        template: AnswerTemplate = "answer",
    ) -> None:
        self._chat = chat
        self._evidence_tokens = evidence_tokens
        self._history_tokens = history_tokens
        self._safety = safety
        self._context_tokens = context_tokens
        self._template: AnswerTemplate = template
        self._ratios: dict[str, float] = {}

    async def fit(self, task: Task, *, model: str, max_tokens: int, exactly: bool = False) -> FittedPrompt:
        """The prompt of a task, with as much of its evidence and history as the context takes.

        One count of tokens as a rule; a count keeps the first word waiting. None where even a token per byte would
        fit, or, unless `exactly`, where a prompt of this model has been counted before and by its rate this one is so
        much smaller than the room that the estimate's safety fits too.

        Raises:
            TooLarge: The question does not fit with even a little evidence.
        """
        context = self._context_tokens or self._chat.context(model)
        ratio = self._ratios.get(model, 1.0)
        for _ in range(_COUNTS):
            answer = min(max_tokens, context // 2) if context else max_tokens
            room = context - answer
            prompt, smallest = self._build(task, int(room / ratio) if context else None)
            estimate = _estimated(prompt.messages)
            sure = not task.evidence or not context or _bytes(prompt.messages) <= room
            if sure or (model in self._ratios and not exactly and estimate * max(ratio, 1.0) * self._safety <= room):
                return FittedPrompt(prompt, round(estimate * ratio), answer)
            counted = await self._count(prompt.messages, model)
            if counted is None:
                return self._estimated(task, room, answer)
            context = min(context, counted.context or context)
            # Also when it grows again: what the next prompts are made of is likely to be like this one's.
            self._ratios[model] = ratio = max(_LEAST_RATIO, counted.tokens / estimate)
            if counted.tokens <= context - answer and prompt.numbers:
                return FittedPrompt(prompt, counted.tokens, answer, counted=True)
            if smallest or not prompt.numbers:
                raise _too_long(counted.tokens, context, answer)
            ratio *= _CLOSER
        return self._estimated(task, context - answer, answer)

    async def room(
        self, messages: tuple[Message, ...], *, model: str, max_tokens: int, beside: Any = None
    ) -> tuple[int, int]:
        """Tokens of a prompt that must not be cut, and how long an answer the context has room for beside it.

        What goes along as JSON counts too: functions, and a schema, which endpoints that cannot enforce one get in the
        prompt.

        Raises:
            TooLarge: There is no room for an answer.
        """
        context = self._context_tokens or self._chat.context(model)
        said = estimate_tokens(json.dumps(beside, ensure_ascii=False)) if beside else 0
        tokens = _estimated(messages) + said
        if not context or _bytes(messages) + 4 * said + max_tokens <= context:
            return tokens, max_tokens
        counted = await self._count(messages, model)
        if counted is None:
            tokens = round(tokens * self._safety)
        else:
            tokens = counted.tokens + said
            context = min(context, counted.context or context)
        if context - tokens < min(max_tokens, _LEAST_ANSWER):
            raise TooLarge(
                f"The prompt has {tokens} tokens and leaves no room for an answer in a context of {context}.",
                details={"prompt_tokens": str(tokens), "context_tokens": str(context)},
            )
        return tokens, min(max_tokens, context - tokens)

    def smaller(self, task: Task, fitted: FittedPrompt) -> FittedPrompt:
        """About half of the prompt, for an endpoint that found it too long although it told no or a larger context.

        Raises:
            TooLarge: It does not get smaller.
        """
        before = _estimated(fitted.prompt.messages)
        prompt, _ = self._build(task, before // 2)
        after = _estimated(prompt.messages)
        if after >= before or not prompt.numbers:
            raise _too_long(fitted.tokens, fitted.tokens + fitted.max_tokens - 1, fitted.max_tokens)
        return FittedPrompt(prompt, round(fitted.tokens * after / before), fitted.max_tokens)

    async def _count(self, messages: tuple[Message, ...], model: str) -> TokenCount | None:
        """The endpoint's count, where it can be true: a token a message at least, and a token per byte at most."""
        counted = await self._chat.count(messages, model=model)
        if counted and len(messages) <= counted.tokens <= _bytes(messages) + _TEMPLATE:
            return counted
        return None

    def _estimated(self, task: Task, room: int, answer: int) -> FittedPrompt:
        prompt, _ = self._build(task, int(room / self._safety))
        tokens = round(_estimated(prompt.messages) * self._safety)
        if tokens > room or (task.evidence and not prompt.numbers):
            raise _too_long(tokens, room + answer, answer)
        return FittedPrompt(prompt, tokens, answer)

    def _build(self, task: Task, room: int | None) -> tuple[Prompt, bool]:
        """The prompt for so many estimated tokens, and whether it cannot be made smaller."""
        history = self._history_tokens
        prompt = build_prompt(task, evidence_tokens=self._evidence_tokens, history_tokens=history, name=self._template)
        if room is None or _estimated(prompt.messages) <= room:
            return prompt, False
        task = replace(task, history=task.history[len(task.history) - (len(prompt.messages) - 2) :])
        while True:
            rest = _estimated(
                build_prompt(task, evidence_tokens=0, history_tokens=history, name=self._template).messages
            )
            if room - rest >= _LEAST_EVIDENCE or not task.history:
                break
            task = replace(task, history=task.history[1:])
        evidence = min(self._evidence_tokens, max(room - rest, _LEAST_EVIDENCE))
        prompt = build_prompt(task, evidence_tokens=evidence, history_tokens=history, name=self._template)
        return prompt, room - rest <= _LEAST_EVIDENCE


def _estimated(messages: tuple[Message, ...]) -> int:
    return sum(_PER_MESSAGE + estimate_tokens(message.content) for message in messages)


def _bytes(messages: tuple[Message, ...]) -> int:
    """More tokens than the bytes of the text no byte-level tokenizer makes of it."""
    return sum(4 * _PER_MESSAGE + len(message.content.encode("utf-8", "replace")) for message in messages)


def _too_long(tokens: int, context: int, answer: int) -> TooLarge:
    return TooLarge(
        f"The question is too long for the language model: with little evidence the prompt has {tokens} tokens, and "
        f"with an answer of {answer} it exceeds the context of {context}. Shorten the question, or lower max_tokens.",
        details={"prompt_tokens": str(tokens), "context_tokens": str(context), "max_tokens": str(answer)},
    )
