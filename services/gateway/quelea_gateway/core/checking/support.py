"""Verdicts on sentences and markers, from the verdicts on figures and the terms that the passages share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from quelea_gateway.core.checking.contrary import is_contrary
from quelea_gateway.core.checking.facts import Evidence
from quelea_gateway.core.checking.model import (
    CheckedFigure,
    CheckedSentence,
    MarkerFault,
    Markers,
    MissingMarker,
    SentenceVerdict,
)
from quelea_gateway.core.checking.not_figures import MARKER
from quelea_gateway.core.checking.passage_facts import content

_COVERED = 0.6
"""Share of a sentence's terms that a passage has when it supports the sentence; below _PARTLY it does not."""
_PARTLY = 0.34
_WITH_FIGURES = 0.3
"""The same of a sentence whose figures are all found: they say most of it."""
_LEAST_TERMS = 3
_LOOKED_AT = 3
"""Passages in which a sentence's opposite is looked for, and how many sentences of them."""
_MOST_SENTENCES = 600
_META = re.compile(r"^\W*(?:SOURCES?(?:\(S\))?\s*:|来源[:：]|参考|References?\b)", re.IGNORECASE)
_LEAD = re.compile(r"[:：]\W*$")


class Said(Protocol):
    """A sentence as the checker reads it."""

    @property
    def start(self) -> int:
        """In the answer."""
        ...

    @property
    def end(self) -> int:
        """In the answer."""
        ...

    @property
    def text(self) -> str:
        """answer[start:end]."""
        ...

    @property
    def marks(self) -> tuple[tuple[int, int, int], ...]:
        """(number, start, end)."""
        ...


def judge(
    answer: str,
    every: Sequence[Said],
    figures: Sequence[Sequence[CheckedFigure]],
    kinds: Sequence[Sequence[str]],
    evidence: Evidence,
    *,
    cross: bool,
) -> tuple[list[CheckedSentence], Markers]:
    """One verdict for each sentence, and the faults of the markers.

    Args:
        answer: The whole text.
        every: Its sentences.
        figures: Of each sentence, its figures' verdicts.
        kinds: Of each figure, its kind: a time alone makes no claim of a passage.
        evidence: The passages, read.
        cross: The answer's language is none of the passages': terms do not compare, figures decide.
    """
    count = len(evidence.terms)
    verdicts: list[CheckedSentence] = []
    unresolved: list[MarkerFault] = []
    corrections: list[MarkerFault] = []
    missing: list[MissingMarker] = []
    for index, said in enumerate(every):
        own = figures[index]
        scores = _scores(said, own, kinds[index], evidence, cross=cross)
        cited = [number for number, _, _ in said.marks if 1 <= number <= count]
        verdict = _verdict(said, own, scores, cited, cross=cross)
        if verdict in {"supported", "partly"} and not cross and _is_contrary(said, scores, evidence):
            verdict = "unsupported"
        good = [n for n in sorted(scores, key=lambda n: (-scores[n], n)) if _supports(n, own, kinds[index], scores)]
        shown = [n for n in good if n in cited] or good
        verdicts.append(CheckedSentence(said.text, said.start, said.end, verdict, tuple(shown[:5])))
        best = good[0] if good and verdict != "no_claim" else None
        for number, start, end in said.marks:
            if not 1 <= number <= count:
                unresolved.append(MarkerFault(number, start, end, best))
            elif best and number not in good and verdict != "no_claim":
                corrections.append(MarkerFault(number, start, end, best))
        if not said.marks and best and verdict in {"supported", "partly"}:
            missing.append(MissingMarker(index, _end_of(answer, said), best))
    return verdicts, Markers(tuple(unresolved), tuple(corrections), tuple(missing))


def _is_contrary(said: Said, scores: dict[int, float], evidence: Evidence) -> bool:
    """The sentences of the passages that support it best say the opposite."""
    best = sorted(scores, key=lambda number: (-scores[number], number))[:_LOOKED_AT]
    return is_contrary(MARKER.sub(" ", said.text), islice(evidence.sentences(best), _MOST_SENTENCES))


def _end_of(answer: str, said: Said) -> int:
    """Before the full stop, where markers stand."""
    at = said.end
    while at > said.start and answer[at - 1] in ".。!！?？;；":
        at -= 1
    return at


def _coverage(said: Said, evidence: Evidence) -> dict[int, float]:
    words = content(MARKER.sub(" ", said.text))
    if not words:
        return dict.fromkeys(range(1, len(evidence.terms) + 1), 1.0)
    return {n: len(words & own) / len(words) for n, own in enumerate(evidence.terms, start=1)}


def _scores(
    said: Said, own: Sequence[CheckedFigure], kinds: Sequence[str], evidence: Evidence, *, cross: bool
) -> dict[int, float]:
    """How well each passage supports the sentence: figures weigh three words' worth of all the terms."""
    covered = dict.fromkeys(range(1, len(evidence.terms) + 1), 0.5) if cross else _coverage(said, evidence)
    weight = [0.3 if kind == "period" else 1.0 for kind in kinds]
    whole = sum(weight)
    scores = {}
    for number, share in covered.items():
        found = sum(w for w, figure in zip(weight, own, strict=True) if number in figure.passages)
        scores[number] = share if not own else 0.25 * share + 0.75 * found / whole
    return scores


def _supports(number: int, own: Sequence[CheckedFigure], kinds: Sequence[str], scores: dict[int, float]) -> bool:
    amounts = [f for f, kind in zip(own, kinds, strict=True) if kind != "period" and f.verdict != "unsupported"]
    if amounts:
        return any(number in figure.passages for figure in amounts)
    return scores[number] >= (_PARTLY if not own else _WITH_FIGURES) and scores[number] >= 0.7 * max(scores.values())


def _verdict(
    said: Said, own: Sequence[CheckedFigure], scores: dict[int, float], cited: Sequence[int], *, cross: bool
) -> SentenceVerdict:
    text = MARKER.sub(" ", said.text)
    words = content(text)
    if _META.match(text):
        return "no_claim"
    if not own and (len(words) < _LEAST_TERMS or text.rstrip().endswith(("?", "？")) or _LEAD.search(text)):
        return "no_claim"
    looked = cited or list(scores)
    if own:
        good = [figure for figure in own if figure.verdict != "unsupported"]
        if len(good) < len(own):
            return "partly" if good else "unsupported"
        held = not cited or all(set(figure.passages) & set(cited) for figure in own)
        return "supported" if held else "partly"
    if cross:
        return "partly"
    best = max((scores[n] for n in looked), default=0.0)
    return "supported" if best >= _COVERED else "partly" if best >= _PARTLY else "unsupported"
