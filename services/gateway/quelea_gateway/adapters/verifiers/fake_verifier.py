"""A verifier in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from quelea_checker import CheckPassage

from quelea_gateway.core.review.verifier import Judgement


class FakeVerifier:
    """Says of each sentence what it was told to say; of the others nothing.

    Args:
        judgements: By the words that a sentence holds.
        error: Raised instead.
        hangs: It never answers.
    """

    def __init__(
        self, judgements: Mapping[str, Judgement], *, error: Exception | None = None, hangs: bool = False
    ) -> None:
        self._judgements = judgements
        self._error = error
        self._hangs = hangs
        self.asked: list[list[str]] = []
        """The sentences of each call."""

    async def verify(self, sentences: Sequence[str], passages: Sequence[CheckPassage]) -> Sequence[Judgement | None]:
        """See core.verifier.Verifier; `passages` change nothing."""
        self.asked.append(list(sentences))
        if self._hangs:
            await asyncio.Event().wait()
        if self._error:
            raise self._error
        return [next((j for words, j in self._judgements.items() if words in s), None) for s in sentences]
