"""What the ask pipeline needs of other services; their clients are adapters."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from quelea_checker import CheckPassage, Near, Report

from quelea_gateway.core.model import (
    CompletionEnd,
    Delta,
    Figure,
    Filters,
    Finished,
    Function,
    Message,
    Passage,
    Question,
    Quote,
    Ranked,
    ReaderInfo,
    Retrieved,
    Standalone,
)


class Retriever(Protocol):
    """Finds passages, and puts given ones in order."""

    async def search(self, query: str, *, k: int, as_of: str, filters: Filters) -> Retrieved:
        """The k best passages. Raises QueleaError."""
        ...

    async def rank(self, query: str, passages: Sequence[Passage]) -> tuple[Ranked, ...]:
        """The passages by the same encoders, best first; the cosines of local ones are taken as known.

        Raises QueleaError.
        """
        ...

    async def companies(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Names of companies as the texts write them, by the knowledge base's catalogue. Raises QueleaError."""
        ...


class Generator(Protocol):
    """Writes answers from evidence."""

    async def info(self) -> ReaderInfo:
        """The reader in use; the last known one while the service is away."""
        ...

    async def rewrite(self, question: Question, companies: Sequence[str] = ()) -> Standalone | None:
        """What a question asks that leans on its history; None when it stands alone. Raises QueleaError.

        `companies` are known names of companies, as the question and the history write them.
        """
        ...

    def generate(
        self,
        question: Question,
        evidence: tuple[Passage, ...],
        *,
        evidence_incomplete: bool,
        figures: tuple[Figure, ...] = (),
    ) -> AsyncGenerator[Delta | Quote | Finished, None]:
        """Deltas and quotes, then Finished. Evidence is numbered from 1 in the given order. Raises QueleaError.

        The passages of the figures are among the evidence.
        """
        ...


class FilingSources(Protocol):
    """Where filings can be fetched from."""

    async def filing_sources(self) -> tuple[str, ...]:
        """ "edgar", "cninfo"; empty where nothing is fetched, and while that cannot be told."""
        ...


class Checker(Protocol):
    """Checks an answer against the passages that it was written from."""

    async def check(
        self,
        answer: str,
        passages: Sequence[CheckPassage],
        *,
        question: str = "",
        near: Mapping[str, Sequence[Near]] = MappingProxyType({}),
    ) -> Report:
        """The verdicts. Passages are numbered from 1, as markers [n] count. Raises QueleaError.

        `near` is what an encoder finds near to sentences in another language than the passages'.
        """
        ...


class ChatModel(Protocol):
    """A language model that is spoken to directly."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: str = "",
        model: str = "",
        max_tokens: int = 0,
        temperature: float | None = None,
        tenant: str = "",
        functions: Sequence[Function] = (),
    ) -> AsyncIterator[str | CompletionEnd]:
        """Text as it comes, then CompletionEnd; leaving early stops the model.

        Args:
            messages: The prompt.
            json_schema: What the text has to fit, as JSON; empty: free text.
            model: Which model, or adapter; empty: the default.
            max_tokens: Longest text; 0: the generator's limit.
            temperature: 0 to 2; None: the generator's.
            tenant: Whose turn it uses up.
            functions: What it may call instead of writing text; not together with a schema.

        Raises:
            InvalidInput: The prompt is longer than the model's context, or the schema is none.
            Conflict: The generator has no language model.
            Overloaded: Too many wait for it.
            Unavailable: It does not answer.
        """
        ...
