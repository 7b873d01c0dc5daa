"""The reader that asks a language model, keeps its citations honest and quotes what they rest on."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable

from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import language_of
from quelea_kit.errors import TooLarge

from quelea_generator.core.chat.budget import Budget, FittedPrompt
from quelea_generator.core.chat.chat_model import ChatModel, ChatPiece, ChatRequest
from quelea_generator.core.chat.citations import MarkerFilter, quote_citations
from quelea_generator.core.chat.prompt import AnswerTemplate, Prompt, versions
from quelea_generator.core.chat.reply_filter import ThoughtFilter, strip_unseen
from quelea_generator.core.model import Decline, Delta, Event, Finished, Task


class ModelReader:
    """Reader over any ChatModel.

    Args:
        chat: Where the model is.
        evidence_tokens: Most evidence in the prompt, estimated tokens.
        history_tokens: Most of earlier turns.
        max_tokens: Longest answer; a request may ask for less.
        temperature: For requests that name none.
        token_safety: What an estimate of tokens is multiplied by where nobody counts them.
        context_tokens: The model's context where its endpoint does not tell it; 0: unknown.
        excerpt: Cuts a task's evidence to the lines that matter, for a model that reads slowly, or says why it need
            not be asked; None: whole passages.
        template: Of its prompts.
        sureness: Ask how sure the model is of the figures that it writes.
    """

    name = "openai"

    def __init__(
        self,
        chat: ChatModel,
        *,
        evidence_tokens: int,
        history_tokens: int,
        max_tokens: int,
        temperature: float,
        token_safety: float = 1.5,
        context_tokens: int = 0,
        excerpt: Callable[[Task], Awaitable[Task | Decline]] | None = None,
        template: AnswerTemplate = "answer",
        sureness: bool = False,
    ) -> None:
        self._chat = chat
        self._excerpt = excerpt
        self._budget = Budget(
            chat,
            evidence_tokens=evidence_tokens,
            history_tokens=history_tokens,
            safety=token_safety,
            context_tokens=context_tokens,
            template=template,
        )
        self._sureness = sureness
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._context_tokens = context_tokens
        self.model = chat.model
        self.prompt_version = versions(template)

    @property
    def context_tokens(self) -> int:
        """As set, else as the endpoint tells it; 0 while it has not."""
        return self._context_tokens or self._chat.context(self.model)

    @property
    def adapters(self) -> tuple[str, ...]:
        """As the endpoint tells them."""
        return self._chat.adapters

    async def read(self, task: Task, shown: Task | None = None) -> AsyncGenerator[Event, None]:
        """Stream the model's answer; then one quote per cited passage; then Finished.

        Args:
            task: With whole passages, which are quoted.
            shown: The same with what the model is shown of them, where the caller has cut them.
        """
        model = task.model or self.model
        if task.evidence:
            await self._chat.refuse_when_full(task.tenant)
        wanted = min(task.max_tokens or self._max_tokens, self._max_tokens)
        whole = task
        cut = shown or (await self._excerpt(task) if self._excerpt and task.evidence else task)
        if isinstance(cut, Decline):
            yield Delta(REFUSALS[language_of(task.question)])
            yield Finished("declined", model, self.prompt_version, decline=cut)
            return
        task = cut
        fitted = await self._budget.fit(task, model=model, max_tokens=wanted)
        prompt = fitted.prompt
        if not prompt.numbers:  # nothing to read: the model could only invent or decline
            yield Delta(REFUSALS[language_of(task.question)])
            why = "No passage fits the prompt." if task.evidence else "No passages were given."
            yield Finished("declined", model, prompt.version, decline=Decline("no_evidence", why))
            return
        written: list[str] = []
        finish, prompt_tokens, completion_tokens = "", 0, 0
        sureness = _Sureness()
        pieces, prompt = await self._start(task, fitted, model)
        thoughts, markers = ThoughtFilter(), MarkerFilter(prompt.numbers)
        async with contextlib.aclosing(pieces) as stream:
            async for piece in stream:
                finish = piece.finish or finish
                prompt_tokens = piece.prompt_tokens or prompt_tokens
                completion_tokens = piece.completion_tokens or completion_tokens
                sureness.add(piece)
                if text := markers.feed(strip_unseen(thoughts.feed(piece.text))):
                    written.append(text)
                    yield Delta(text, sureness.take())
        if text := markers.feed(strip_unseen(thoughts.finish())) + markers.finish():
            written.append(text)
            yield Delta(text)
        answer = "".join(written)
        decline = None
        if not answer.strip():
            decline = Decline("engine_empty", "The language model wrote no text.")
            yield Delta(REFUSALS[language_of(task.question)])
        elif any(refusal in answer for refusal in REFUSALS.values()):
            decline = Decline("model_refused", "The language model wrote that it cannot answer from the passages.")
        else:
            for quote in quote_citations(task.question, answer, whole.evidence):
                yield quote
        yield Finished(
            "declined" if decline else "length" if finish == "length" else "stop",
            model,
            prompt.version,
            prompt_tokens,
            completion_tokens,
            markers.removed,
            decline,
        )

    async def _start(
        self, task: Task, fitted: FittedPrompt, model: str
    ) -> tuple[AsyncGenerator[ChatPiece, None], Prompt]:
        """The stream with its first piece, and the prompt that the endpoint took.

        An endpoint that finds the prompt too long, although it told no context, gets a shorter one, twice at most.
        """
        for again in (True, True, False):
            request = ChatRequest(
                fitted.prompt.messages,
                model,
                fitted.max_tokens,
                self._temperature if task.temperature is None else task.temperature,
                task.tenant,
                fitted.tokens,
                sampling=task.sampling,
                sureness=self._sureness,
            )
            pieces = self._chat.stream(request)
            try:
                first = await anext(pieces, ChatPiece())
            except TooLarge:
                if not again:
                    raise
                if not fitted.counted:
                    exact = await self._budget.fit(task, model=model, max_tokens=fitted.max_tokens, exactly=True)
                    fitted = exact if exact.counted else self._budget.smaller(task, fitted)
                else:  # it takes less than it says
                    fitted = self._budget.smaller(task, fitted)
                continue
            return _resume(first, pieces), fitted.prompt
        raise AssertionError("the last round returns or raises")

    async def ready(self) -> None:
        """The model answers somewhere."""
        await self._chat.check()

    async def close(self) -> None:
        """Close the endpoint's connections."""
        await self._chat.close()


class _Sureness:
    """The lowest probability of a digit in the pieces since it was last taken, those of markers left out."""

    def __init__(self) -> None:
        self._in_marker = False
        self._lowest: float | None = None

    def add(self, piece: ChatPiece) -> None:
        opened, closed = piece.text.rfind("["), piece.text.rfind("]")
        was_open, self._in_marker = self._in_marker, opened > closed or (self._in_marker and closed < 0)
        if piece.sureness is not None and not was_open and opened < 0:
            self._lowest = min(piece.sureness, 1.0 if self._lowest is None else self._lowest)

    def take(self) -> float | None:
        lowest, self._lowest = self._lowest, None
        return lowest


async def _resume(first: ChatPiece, pieces: AsyncGenerator[ChatPiece, None]) -> AsyncGenerator[ChatPiece, None]:
    """The stream with the piece that was read ahead; closing it closes the stream."""
    async with contextlib.aclosing(pieces):
        yield first
        async for piece in pieces:
            yield piece
