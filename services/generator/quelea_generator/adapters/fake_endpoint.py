"""A chat model that says what a test tells it to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from quelea_kit.errors import QueleaError

from quelea_generator.core.chat.chat_model import (
    NO_FUNCTIONS,
    ChatPiece,
    ChatRequest,
    Function,
    FunctionCall,
    JsonSchema,
    TokenCount,
)
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.model import Sampling


class FakeEndpoint:
    """ChatModel with a script, and an engine for a pool.

    Args:
        pieces: What it streams.
        error: Raised after the pieces, if any.
        wait: Awaited after the first piece, to hold a call open.
        context: Of every model, in tokens; a token is a word.
        counts: Whether it counts tokens itself.
        name: Its address.
        sureness: Of each piece that has a digit, where a request asks for it.
        calls: What it calls when it is offered functions; None: it calls none.

    Attributes:
        seen: Messages of every call.
        counted: Prompts whose tokens were counted.
        tenants, schemas, samplings, functions: Of every call.
        closed: Calls that ended, in whichever way.
        failing: What check() and probe() raise.
        error, wait: As above; may be changed between calls.
        probed: Calls of probe().
    """

    def __init__(
        self,
        pieces: Sequence[str],
        *,
        error: QueleaError | None = None,
        wait: asyncio.Event | None = None,
        context: int = 0,
        counts: bool = False,
        name: str = "http://fake/v1",
        calls: tuple[FunctionCall, ...] | None = None,
        sureness: float | None = None,
    ) -> None:
        self._sureness = sureness
        self.name = name
        self.probed = 0
        self.model = "fake"
        self.counted = 0
        self.tenants: list[str] = []
        self.schemas: list[JsonSchema | None] = []
        self.samplings: list[Sampling] = []
        self.functions: list[tuple[Function, ...]] = []
        self._calls = calls
        self.seen: list[tuple[Message, ...]] = []
        self.closed = 0
        self.failing: QueleaError | None = None
        self._pieces = pieces
        self.error = error
        self.wait = wait
        self._context = context
        self._counts = counts

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """The script; one piece counts as one token, and it never says more than max_tokens pieces."""
        self.seen.append(request.messages)
        self.tenants.append(request.tenant)
        self.schemas.append(request.schema)
        self.samplings.append(request.sampling)
        self.functions.append(request.functions)
        try:
            if request.functions and self._calls is None:
                yield ChatPiece(finish=NO_FUNCTIONS)
                return
            for index, piece in enumerate(self._pieces[: request.max_tokens]):
                counts = request.sureness and any(character.isdigit() for character in piece)
                yield ChatPiece(piece, sureness=self._sureness if counts else None)
                if index == 0 and self.wait:
                    await self.wait.wait()
            if self.error:
                raise self.error
            full = len(self._pieces) <= request.max_tokens
            yield ChatPiece(
                finish="stop" if full else "length",
                prompt_tokens=len(request.messages),
                completion_tokens=min(len(self._pieces), request.max_tokens),
                calls=(self._calls or ()) if request.functions else (),
            )
        finally:
            self.closed += 1

    @property
    def adapters(self) -> tuple[str, ...]:
        """One."""
        return ("fake-adapter",)

    def context(self, model: str) -> int:
        """As told."""
        return self._context

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        """Words, where it counts."""
        self.counted += 1
        return TokenCount(self.words(messages), self._context) if self._counts else None

    @staticmethod
    def words(messages: Sequence[Message]) -> int:
        """What count() says."""
        return sum(len(message.content.split()) for message in messages)

    async def refuse_when_full(self, tenant: str) -> None:
        """Never."""

    async def check(self) -> None:
        """As told."""
        if self.failing:
            raise self.failing

    async def probe(self) -> None:
        """As told."""
        self.probed += 1
        await self.check()

    async def close(self) -> None:
        """Nothing to close."""
