"""Verdicts on sentences and markers, from the verdicts on figures and the terms that the passages share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quelea_fintext.glossary import known_phrases
from quelea_fintext.text import language_of

from quelea_checker.model import (
    UNSUPPORTED,
    CheckedFigure,
    CheckedSentence,
    Figure,
    MarkerFault,
    Markers,
    MissingMarker,
    Near,
    SentenceVerdict,
)
from quelea_checker.reading.amounts import MARKER
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import content_terms
from quelea_checker.reading.leads import Lead
from quelea_checker.verdicts import cross_language

_COVERED = 0.6
"""Share of a sentence's terms that a passage has when it supports the sentence; below _PARTLY it does not."""
_PARTLY = 0.34
_WITH_FIGURES = 0.3
"""The same of a sentence whose figures are all found: they say most of it."""
_TIMES = 0.75
"""What figures that are found count for in a sentence's score."""
_LEAST_TERMS = 3
_CLAUSE = re.compile(r"[,;，；]|\b(?:and|but|while|whereas)\b|但|而(?!且)")
_CLAUSE_COVERED = 0.75
"""Share of the terms of one clause that a passage has which is cited for that clause."""
_ACROSS = 0.5
"""Share of the words of a sentence in another language that a passage has, by the glossary, and at least three; of one
that it cites _PARTLY, and two."""
_FEW_WORDS = 2
_META = re.compile(r"^\W*(?:SOURCES?(?:\(S\))?\s*:|来源[:：]|参考|References?\b)", re.IGNORECASE)
_SOURCES = r"\b(?:passages?|evidence|sources?|excerpts?|context|documents?)\b"
_SAY_NOT = (
    r"(?:do(?:es)?|did) ?n[o']t (?:mention|state|say|contain|include|provide|specify|disclose|give|cover)",
    r"(?:未|没有)(?:提及|提到|说明|披露|提供|包含|涉及|给出)",
)
_SOURCES_ZH = "(?:资料|证据|段落|文中|来源|上文|文档)"
_OF_SOURCES = re.compile(
    rf"{_SOURCES} (?:provided |above |given )?{_SAY_NOT[0]}|{_SOURCES_ZH}[^，。；]{{0,8}}{_SAY_NOT[1]}", re.IGNORECASE
)
"""What a sentence says of its sources, or of what they do not say, is no claim about the subject."""
_THEY_SAY_NOT = re.compile(
    rf"\W*(?:they|it) (?:also )?{_SAY_NOT[0]}|\W*(?:它们?|其中)?[也亦]?{_SAY_NOT[1]}", re.IGNORECASE
)
_NAMES_SOURCES = re.compile(rf"{_SOURCES}|{_SOURCES_ZH}", re.IGNORECASE)
"""The sentence before one of "they": who does not say it."""
_LEAD = re.compile(r"[:：]\W*$")


_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_UNDER_HEAD = re.compile(r"[^\S\n]{0,80}+\n[^\S\n]{0,80}+(?=[ \t:|-]{0,200}?--)[ \t:|-]++(?:\n|$)")
"""The rule under the head of a Markdown table."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of the answer with what was read in it; spans are the answer's."""

    start: int
    end: int
    text: str
    figures: tuple[Figure, ...]
    marks: tuple[tuple[int, int, int], ...]
    """(number, start, end) of each marker's numbers."""
    lead: Lead
    """What the line before its list, or the heads of its table, say over it."""


def judge(
    answer: str,
    every: Sequence[AnswerSentence],
    figures: Sequence[Sequence[CheckedFigure]],
    kinds: Sequence[Sequence[str]],
    evidence: Evidence,
    near: Mapping[str, Sequence[Near]] = MappingProxyType({}),
) -> tuple[list[CheckedSentence], Markers]:
    """One verdict for each sentence, and the faults of the markers.

    Args:
        answer: The whole text.
        every: Its sentences.
        figures: Of each sentence, its figures' verdicts.
        kinds: Of each figure, its kind: a time alone makes no claim of a passage.
        evidence: The passages, read.
        near: Of sentences in a language that no passage is in, without markers, what an encoder finds near; see
            cross_language.

    A sentence in a language that no passage is in is compared by those cosines, else by the glossary, which knows a
    part of its words: it is "partly" supported at best, unless its figures are found; by the glossary alone it gets no
    marker that it does not have.
    """
    count = len(evidence.terms)
    code = [match.span() for match in _FENCED.finditer(answer)] if "```" in answer else []
    verdicts: list[CheckedSentence] = []
    unresolved: list[MarkerFault] = []
    corrections: list[MarkerFault] = []
    missing: list[MissingMarker] = []
    for index, said in enumerate(every):
        own = figures[index]
        cross = evidence.is_foreign(language_of(said.text))
        close = near.get(cross_language.without_markers(said.text)) if cross and not own else None
        scores = (
            _by_meaning(close, count) if close is not None else _scores(said, own, kinds[index], evidence, cross=cross)
        )
        cited = [number for number, _, _ in said.marks if 1 <= number <= count]
        claims = own if any(kind != "period" for kind in kinds[index]) else ()
        mute = not claims and (_is_head(answer, said) or _inside(said, code))
        verdict = (
            "no_claim"
            if mute
            else _verdict(
                said,
                every[index - 1].text if index else "",
                own,
                scores,
                cited,
                cross=cross,
                timed=not claims and not cross,
                together=_together(said, cited, evidence, cross=cross),
            )
        )
        if verdict == "not_found" and any(figure.verdict == "contradicted" for figure in own):
            verdict = "contradicted"
        good = [n for n in sorted(scores, key=lambda n: (-scores[n], n)) if _supports(n, own, kinds[index], scores)]
        if not own and not cross and verdict not in UNSUPPORTED:
            good += [n for n in _of_clauses(said, evidence) if n in cited and n not in good]
        shown = [n for n in good if n in cited] or good
        verdicts.append(CheckedSentence(said.text, said.start, said.end, verdict, tuple(shown[:5])))
        best = good[0] if good and verdict != "no_claim" and (own or not cross or close) else None
        for number, start, end in said.marks:
            if not 1 <= number <= count:
                unresolved.append(MarkerFault(number, start, end, best))
            elif best and number not in good and verdict != "no_claim":
                corrections.append(MarkerFault(number, start, end, best))
        if not said.marks and best and not _inside(said, code) and verdict in {"supported", "partly"}:
            missing.append(MissingMarker(index, _end_of(answer, said), best))
    return verdicts, Markers(tuple(unresolved), tuple(corrections), tuple(missing))


def _is_head(answer: str, said: AnswerSentence) -> bool:
    """It is the head of a table, and claims nothing."""
    return "|" in said.text and _UNDER_HEAD.match(answer, said.end) is not None


def _inside(said: AnswerSentence, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= said.start < end for start, end in spans)


def _end_of(answer: str, said: AnswerSentence) -> int:
    """Before the full stop, where markers stand."""
    at = said.end
    while at > said.start and answer[at - 1] in ".。!！?？;；":
        at -= 1
    return at


def _coverage(said: AnswerSentence, evidence: Evidence) -> dict[int, float]:
    words = content_terms(MARKER.sub(" ", said.text))
    if not words:
        return dict.fromkeys(range(1, len(evidence.terms) + 1), 1.0)
    return {n: len(words & own) / len(words) for n, own in enumerate(evidence.terms, start=1)}


def _together(said: AnswerSentence, cited: Sequence[int], evidence: Evidence, *, cross: bool) -> float:
    """Share of a sentence's terms that the passages have which it cites, each for a clause."""
    words = content_terms(MARKER.sub(" ", said.text))
    own = [n for n in _of_clauses(said, evidence) if n in cited] if len(cited) > 1 and not cross else []
    return len(words & frozenset().union(*(evidence.terms[n - 1] for n in own))) / len(words) if own else 0.0


def _of_clauses(said: AnswerSentence, evidence: Evidence) -> list[int]:
    """Passages that have the words of one clause of the sentence, where another has the others."""
    clauses = [content_terms(part) for part in _CLAUSE.split(MARKER.sub(" ", said.text))]
    clauses = [words for words in clauses if len(words) >= _LEAST_TERMS]
    if len(clauses) < _FEW_WORDS:
        return []
    return [
        number
        for number, own in enumerate(evidence.terms, start=1)
        if any(len(words & own) >= _CLAUSE_COVERED * len(words) for words in clauses)
    ]


def _coverage_across(said: AnswerSentence, evidence: Evidence) -> dict[int, float]:
    """The same of a sentence in another language: what the glossary does not know is covered only as it stands."""
    phrases, rest = known_phrases(MARKER.sub(" ", said.text))
    known = [[content_terms(phrase) for phrase in ways] for ways in phrases]
    words = content_terms(rest)
    cited = {number for number, _, _ in said.marks}
    found = {}
    for n, own in enumerate(evidence.terms, start=1):
        covered = sum(any(way <= own for way in ways) for ways in known) + len(words & own)
        share = covered / (len(known) + len(words) or 1)
        least, many = (_PARTLY, _FEW_WORDS) if n in cited else (_ACROSS, _LEAST_TERMS)
        found[n] = share if share >= least and covered >= many else 0.0
    return found


def _by_meaning(near: Sequence[Near], count: int) -> dict[int, float]:
    """The cosines of the passages that may support it; of the others nought."""
    found = cross_language.best_cosines(near)
    return {number: found.get(number, 0.0) for number in range(1, count + 1)}


def _scores(
    said: AnswerSentence, own: Sequence[CheckedFigure], kinds: Sequence[str], evidence: Evidence, *, cross: bool
) -> dict[int, float]:
    """How well each passage supports the sentence: figures weigh three words' worth of all the terms."""
    if cross and own:  # its figures decide
        covered = dict.fromkeys(range(1, len(evidence.terms) + 1), 0.5)
    else:
        covered = _coverage_across(said, evidence) if cross else _coverage(said, evidence)
    weight = [0.3 if kind == "period" else 1.0 for kind in kinds]
    whole = sum(weight)
    scores = {}
    for number, share in covered.items():
        found = sum(w for w, figure in zip(weight, own, strict=True) if number in figure.passages)
        scores[number] = share if not own else (1 - _TIMES) * share + _TIMES * found / whole
    return scores


def _supports(number: int, own: Sequence[CheckedFigure], kinds: Sequence[str], scores: dict[int, float]) -> bool:
    amounts = [f for f, kind in zip(own, kinds, strict=True) if kind != "period" and f.verdict not in UNSUPPORTED]
    if amounts:
        return any(number in figure.passages for figure in amounts)
    return scores[number] >= (_PARTLY if not own else _WITH_FIGURES) and scores[number] >= 0.7 * max(scores.values())


def _verdict(
    said: AnswerSentence,
    before: str,
    own: Sequence[CheckedFigure],
    scores: dict[int, float],
    cited: Sequence[int],
    *,
    cross: bool,
    timed: bool,
    together: float,
) -> SentenceVerdict:
    """The verdict by words and figures.

    Args:
        before: The sentence before it.
        timed: Its figures are times alone, and its language is the evidence's.
        together: Share of its terms that the cited passages have together, each a clause's.
    """
    text = MARKER.sub(" ", said.text)
    words = content_terms(text)
    if _META.match(text) or _OF_SOURCES.search(text) or (_THEY_SAY_NOT.match(text) and _NAMES_SOURCES.search(before)):
        return "no_claim"
    if not own and (len(words) < _LEAST_TERMS or text.rstrip().endswith(("?", "？")) or _LEAD.search(text)):
        return "no_claim"
    looked = cited or list(scores)
    if own:
        good = [figure for figure in own if figure.verdict not in UNSUPPORTED]
        if len(good) < len(own):
            return "partly" if good else "not_found"
        if timed:
            return _of_times(scores, looked, few=len(words) < _LEAST_TERMS)
        held = not cited or any(set(figure.passages) & set(cited) for figure in own)
        return "supported" if held else "partly"
    best = max((*(scores[n] for n in looked), together), default=0.0)
    return "supported" if best >= _COVERED and not cross else "partly" if best >= _PARTLY else "not_found"


def _of_times(scores: dict[int, float], looked: Sequence[int], *, few: bool) -> SentenceVerdict:
    """Of a sentence whose only figures are times that the evidence has: a date alone supports no words."""
    share = max(0.0, max((scores[n] for n in looked), default=0.0) - _TIMES) / (1 - _TIMES)
    if few or share >= _COVERED:
        return "supported"
    return "partly" if share >= _PARTLY else "not_found"
