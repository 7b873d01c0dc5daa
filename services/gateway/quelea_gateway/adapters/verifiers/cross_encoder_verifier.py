"""A cross-encoder as a verifier: does a passage entail the sentence, or contradict it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_checker import CheckPassage
from quelea_fintext.text import terms
from quelea_kit.errors import Unavailable

from quelea_gateway.core.review.verifier import Judgement, passage_text

MOST_PASSAGES = 8
"""Passages that a sentence is compared with: those that share most words with it."""
_MOST_CHARACTERS = 4_000
"""Of a passage; what is behind is not compared."""
_LEAST = 0.5
"""A verdict has the larger part of the probability, or it is none."""


class Entailer(Protocol):
    """What is needed of the retriever."""

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> retriever_pb2.EntailResponse:
        """One score a pair of premise and hypothesis, in order. Raises QueleaError."""
        ...


class CrossEncoderVerifier:
    """Asks the cross-encoder that the embedder serves.

    One passage that entails a sentence supports it; without one, a passage that contradicts it decides. A sentence is
    "not_found" only where every passage was read to its end: what was left out may say it.

    Args:
        entailer: Knows the cross-encoder.
    """

    def __init__(self, entailer: Entailer) -> None:
        self._entailer = entailer

    async def verify(self, sentences: Sequence[str], passages: Sequence[CheckPassage]) -> Sequence[Judgement | None]:
        """One judgement a sentence; None where no passage decides and not all was read.

        Raises:
            Unavailable: The answer does not fit the question.
            QueleaError: No cross-encoder is configured, or it failed or is full.
        """
        whole = [passage_text(passage) for passage in passages]
        texts = [text[:_MOST_CHARACTERS] for text in whole]
        words = [set(terms(text)) for text in texts]
        asked = [(s, p) for s, sentence in enumerate(sentences) for p in _nearest(sentence, words) if texts[p].strip()]
        if not asked:
            return [None] * len(sentences)
        answer = await self._entailer.entail([(texts[p], sentences[s]) for s, p in asked])
        if len(answer.scores) != len(asked):
            raise Unavailable("The cross-encoder did not score every sentence.")
        cut = {asked[index] for index in answer.truncated}
        found: list[list[tuple[int, common_pb2.EntailmentScore]]] = [[] for _ in sentences]
        for (s, p), score in zip(asked, answer.scores, strict=True):
            found[s].append((p, score))
        return [
            _judgement(
                scores,
                read_all=len(scores) == len(passages)
                and not any((s, p) in cut or len(texts[p]) < len(whole[p]) for p, _ in scores),
            )
            for s, scores in enumerate(found)
        ]


def _nearest(sentence: str, words: Sequence[set[str]]) -> list[int]:
    said = set(terms(sentence))
    return sorted(range(len(words)), key=lambda p: -len(said & words[p]))[:MOST_PASSAGES]


def _judgement(scores: Sequence[tuple[int, common_pb2.EntailmentScore]], *, read_all: bool) -> Judgement | None:
    entailed, supporting = max(((score.entailment, -p) for p, score in scores), default=(0.0, 0))
    if entailed > _LEAST:
        return Judgement("supported", 1 - supporting)
    contradicted, speaking = max(((score.contradiction, -p) for p, score in scores), default=(0.0, 0))
    if contradicted > _LEAST:
        return Judgement("contradicted", 1 - speaking)
    return Judgement("not_found") if read_all else None
