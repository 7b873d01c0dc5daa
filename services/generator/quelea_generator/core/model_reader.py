"""The reader that asks a language model, keeps its citations honest and quotes what they rest on."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from quelea_kit.text import language_of

from quelea_generator.core.chat import ChatModel
from quelea_generator.core.markers import MarkerFilter
from quelea_generator.core.model import Delta, Event, Finished, Task
from quelea_generator.core.prompt import build, versions
from quelea_generator.core.reader import REFUSALS
from quelea_generator.core.support import best_support


class ModelReader:
    """Reader over any ChatModel.

    Args:
        chat: Where the model is.
        evidence_tokens: Room for evidence in the prompt, estimated tokens.
        history_tokens: Room for earlier turns.
        max_tokens: Longest answer; a request may ask for less.
        temperature: For requests that name none.
    """

    name = "openai"

    def __init__(
        self, chat: ChatModel, *, evidence_tokens: int, history_tokens: int, max_tokens: int, temperature: float
    ) -> None:
        self._chat = chat
        self._evidence_tokens = evidence_tokens
        self._history_tokens = history_tokens
        self._max_tokens = max_tokens
        self._temperature = temperature
        self.model = chat.model
        self.prompt_version = versions()

    async def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """Stream the model's answer; then one quote per cited passage; then Finished."""
        prompt = build(task, evidence_tokens=self._evidence_tokens, history_tokens=self._history_tokens)
        model = task.model or self.model
        if not prompt.numbers:  # nothing to read: the model could only invent or decline
            yield Delta(REFUSALS[language_of(task.question)])
            yield Finished("declined", model, prompt.version)
            return
        markers = MarkerFilter(prompt.numbers)
        shown: list[str] = []
        finish, prompt_tokens, completion_tokens = "", 0, 0
        pieces = self._chat.stream(
            prompt.messages,
            model=model,
            max_tokens=min(task.max_tokens or self._max_tokens, self._max_tokens),
            temperature=self._temperature if task.temperature is None else task.temperature,
        )
        async with contextlib.aclosing(pieces) as stream:
            async for piece in stream:
                finish = piece.finish or finish
                prompt_tokens = piece.prompt_tokens or prompt_tokens
                completion_tokens = piece.completion_tokens or completion_tokens
                if text := markers.feed(piece.text):
                    shown.append(text)
                    yield Delta(text)
        if text := markers.finish():
            shown.append(text)
            yield Delta(text)
        answer = "".join(shown)
        if not answer.strip():
            answer = REFUSALS[language_of(task.question)]
            yield Delta(answer)
        declined = any(refusal in answer for refusal in REFUSALS.values())
        if not declined:
            by_number = {item.number: item for item in task.evidence}
            for number in markers.cited:
                quote = best_support(task.question, answer, by_number[number])
                if quote:
                    yield quote
        yield Finished(
            "declined" if declined else "length" if finish == "length" else "stop",
            model,
            prompt.version,
            prompt_tokens,
            completion_tokens,
            markers.removed,
        )

    async def ready(self) -> None:
        """The endpoint lists the model."""
        await self._chat.check()

    async def close(self) -> None:
        """Close the endpoint's connections."""
        await self._chat.close()
