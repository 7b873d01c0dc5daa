"""What words and figures cannot judge, a cause or a negation in other words, is put to a verifier, where there is one.

The checker judges first. A figure that it finds contradicted, or does not find, decides its sentence: the verifier is
not asked about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, Protocol

from quelea_checker import UNSUPPORTED, CheckedSentence, CheckPassage, Near, Report
from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_gateway.core.bound import Bound
from quelea_gateway.core.ports import Checker

log = get_logger(__name__)

MOST_SENTENCES = 20
"""Sentences of an answer that are put to the verifier; those behind keep the checker's verdict."""
MOST_ANSWERS = 8
"""Answers verified at once; further ones keep the checker's verdicts and say so."""

VerifierState = Literal["", "done", "partial", "unavailable"]
"""Empty: no verifier is configured, or it had nothing to judge."""


@dataclass(frozen=True)
class Judgement:
    """What the verifier says of a sentence.

    Attributes:
        passage: Number of the passage that says so, from 1; 0: none is named.
    """

    verdict: Literal["supported", "contradicted", "not_found"]
    passage: int = 0


def passage_text(passage: CheckPassage) -> str:
    """What a verifier reads of a passage: its header and the head of its table before it."""
    return "\n".join(part for part in (passage.header, passage.table_head, passage.text) if part)


class Verifier(Protocol):
    """Judges sentences by meaning."""

    async def verify(self, sentences: Sequence[str], passages: Sequence[CheckPassage]) -> Sequence[Judgement | None]:
        """One judgement a sentence, in their order; None where it has none. Raises QueleaError."""
        ...


@dataclass(frozen=True, slots=True)
class VerifiedReport(Report):
    """The checker's report after the verifier.

    Attributes:
        verifier: "done"; "partial": some sentences were not judged; "unavailable": none was.
    """

    verifier: VerifierState = ""


class VerifyingChecker:
    """A checker whose verdicts on sentences a verifier completes. Without it the checker's verdicts stand.

    Args:
        checker: Judges words and figures.
        verifier: Judges the sentences that are left to meaning.
        seconds: How long an answer waits for the verifier.
    """

    def __init__(self, checker: Checker, verifier: Verifier, *, seconds: float) -> None:
        self._checker = checker
        self._verifier = verifier
        self._seconds = seconds
        self._bound = Bound(MOST_ANSWERS)

    async def check(
        self,
        answer: str,
        passages: Sequence[CheckPassage],
        *,
        question: str = "",
        near: Mapping[str, Sequence[Near]] = MappingProxyType({}),
    ) -> Report:
        """See quelea_checker.check_answer. Raises QueleaError when the checker fails."""
        report = await self._checker.check(answer, passages, question=question, near=near)
        open_ = [index for index, one in enumerate(report.sentences) if _is_open(one, report)]
        if not open_:
            return report
        asked = open_[:MOST_SENTENCES]
        found = await self._judgements([report.sentences[index].text for index in asked], passages)
        judged = {index: one for index, one in zip(asked, found, strict=True) if one is not None}
        state: VerifierState = "done" if len(judged) == len(open_) else "partial" if judged else "unavailable"
        return _apply(report, judged, len(passages), state)

    async def _judgements(
        self, sentences: Sequence[str], passages: Sequence[CheckPassage]
    ) -> Sequence[Judgement | None]:
        """None for every sentence where the verifier is busy, late or away."""
        nothing = [None] * len(sentences)
        with self._bound.take() as room:
            if not room:
                log.warning("verifier_busy", sentences=len(sentences))
                return nothing
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._verifier.verify(sentences, passages)
            except TimeoutError:
                log.warning("verifier_late", seconds=self._seconds)
            except QueleaError as error:
                log.warning("verifier_failed", why=error.message)
        return nothing


def _is_open(sentence: CheckedSentence, report: Report) -> bool:
    """It claims something, and no figure speaks against it."""
    figures = [f for f in report.figures if sentence.start <= f.start < sentence.end]
    settled = sentence.verdict in {"no_claim", "contradicted"}
    return not settled and all(figure.verdict not in UNSUPPORTED for figure in figures)


def _apply(report: Report, judged: Mapping[int, Judgement], count: int, state: VerifierState) -> VerifiedReport:
    sentences = list(report.sentences)
    for index, judgement in judged.items():
        sentences[index] = _judge_sentence(sentences[index], judgement, report, count)
    markers = replace(
        report.markers,
        missing=tuple(m for m in report.markers.missing if sentences[m.sentence].verdict not in UNSUPPORTED),
    )
    return VerifiedReport(tuple(sentences), report.figures, markers, state)


def _judge_sentence(sentence: CheckedSentence, judgement: Judgement, report: Report, count: int) -> CheckedSentence:
    """A sentence with figures, which all hold here, is not "not found" by a verifier's word."""
    if judgement.verdict == "not_found" and any(sentence.start <= f.start < sentence.end for f in report.figures):
        return sentence
    if judgement.verdict != "supported":
        return replace(sentence, verdict=judgement.verdict, passages=())
    passages = sentence.passages or ((judgement.passage,) if 1 <= judgement.passage <= count else ())
    return replace(sentence, verdict="supported", passages=passages) if passages else sentence
