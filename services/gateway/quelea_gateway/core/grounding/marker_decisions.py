"""Which markers of an answer stay, which name another passage, which go, and which are missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from quelea_checker import UNSUPPORTED, CheckedFigure, Report
from quelea_checker.reading.amounts import parse
from quelea_checker.reading.facts import content_terms
from quelea_checker.reading.markup import literal_spans
from quelea_fintext.text import language_of

from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.grounding.edits import Edit
from quelea_gateway.core.grounding.markers import Mark
from quelea_gateway.core.grounding.quotes import Region
from quelea_gateway.core.review.verdicts import SentenceVerdict

_OPEN, _CLOSE = "“「『", "”」』"
_STOPS = ".。!！?？;；"
_NO_MARKER = re.compile(r"^\s*#{1,6}\s|[:：]\W*$|^[\s|:+-]+$")
"""Headings, lines that lead to a list, and rules of tables get no marker of ours."""

_DENIES = re.compile(
    r"\b(?:not|no|none|never|neither|nor|cannot|without)\b|n[’']t\b|没有|未|无(?!论)|并非|不(?:存在|包[括含]|涉及|提供|披露|详)",
    re.IGNORECASE,
)
_LEAST_DIGITS = 2


@dataclass
class MarkerDecision:
    """What becomes of one marker, text[start:end]."""

    start: int
    end: int
    numbers: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    corrected: list[int] = field(default_factory=list)


def decide_markers(
    found: Sequence[Mark],
    report: Report,
    sentences: Sequence[SentenceVerdict],
    quoted: Sequence[Region],
    sources: Sequence[str],
) -> list[MarkerDecision]:
    """Of each marker, which numbers stay and which become others.

    One stays that stands behind a figure of its own passage, or behind words of it at the end of a sentence whose
    figures have markers of their own, and one in a sentence that says what is not there, which no passage can say.
    """
    count = len(sources)
    amounts = find_amounts(report)
    faults = {(f.number, f.start): f.suggested for f in (*report.markers.unresolved, *report.markers.corrections)}
    markers: dict[int, MarkerDecision] = {}
    for mark in found:
        markers.setdefault(mark.start, MarkerDecision(mark.start, mark.end)).numbers.append(mark.number)
    named: dict[int, set[int]] = {}
    for marker in markers.values():
        index = next((i for i, s in enumerate(sentences) if s.start <= marker.start < s.end), -1)
        sentence = sentences[index] if index >= 0 else None
        right = {r.number for r in quoted if sentence and r.start < marker.start and sentence.start < r.end}
        if sentence:
            right |= _have_figures(_stretch(marker, sentence, markers, amounts), sources)
            right |= set(range(1, count + 1)) if _is_denial(sentence, amounts) else set()
        before = named.setdefault(index, set())
        for number in marker.numbers:
            suggested = faults.get((number, marker.start))
            if (
                sentence
                and 1 <= number <= count
                and _has_words(number, suggested, _rest(marker, sentence, markers, amounts), sources)
            ):
                right.add(number)
            if number in right or (1 <= number <= count and _is_right(number, marker, faults, sentence)):
                chosen, corrected = number, False
            elif suggested and 1 <= suggested <= count:
                chosen, corrected = suggested, True
            else:
                continue
            if corrected and (chosen in before or chosen in marker.kept or chosen in _others(marker, index, markers)):
                continue
            if chosen in marker.kept:
                if chosen in marker.corrected and not corrected:
                    marker.corrected.remove(chosen)
                continue
            marker.kept.append(chosen)
            marker.corrected += [chosen] if corrected else []
        before.update(marker.kept)
    return list(markers.values())


def find_amounts(report: Report) -> list[CheckedFigure]:
    """The report's figures that are no times."""
    return [f for f in report.figures if any(one.kind != "period" for one in parse(f.text))]


def _stretch(
    marker: MarkerDecision,
    sentence: SentenceVerdict,
    markers: dict[int, MarkerDecision],
    amounts: Sequence[CheckedFigure],
) -> list[CheckedFigure]:
    """The figures that a marker stands behind: back to the marker before it, or to the one before its neighbours."""
    begin, first = sentence.start, marker.start
    for other in sorted(markers.values(), key=lambda one: -one.start):
        if other.start >= first or other.start < sentence.start:
            continue
        if first - other.end > 1:
            begin = other.end
            break
        first = other.start
    return [figure for figure in amounts if begin <= figure.start < marker.start]


def _rest(
    marker: MarkerDecision,
    sentence: SentenceVerdict,
    markers: dict[int, MarkerDecision],
    amounts: Sequence[CheckedFigure],
) -> str:
    """The words between a marker and the one before it in its sentence, where no figure is among them; else ""."""
    ends = [m.end for m in markers.values() if sentence.start <= m.start and m.end <= marker.start]
    begin = max(ends, default=-1)
    if begin < 0 or any(begin <= figure.start < marker.start for figure in amounts):
        return ""
    return sentence.text[begin - sentence.start : marker.start - sentence.start]


def _has_words(number: int, suggested: int | None, words: str, sources: Sequence[str]) -> bool:
    """The passage has half of these words, and no fewer than the one that is suggested instead."""
    said = content_terms(words)
    if not said:
        return False
    own = len(said & content_terms(sources[number - 1]))
    other = len(said & content_terms(sources[suggested - 1])) if suggested and suggested <= len(sources) else 0
    return 2 * own >= len(said) and own >= other


def _have_figures(figures: Sequence[CheckedFigure], sources: Sequence[str]) -> set[int]:
    """Numbers of the passages that have one of the figures, none of which is there by chance."""
    found: set[int] = set()
    for figure in figures:
        said = [number for number in find_numbers(figure.text) if len(number.replace(".", "")) >= _LEAST_DIGITS]
        if figure.verdict in UNSUPPORTED or not said:
            continue
        found.update(figure.passages)
        found.update(n for n, text in enumerate(sources, start=1) if set(said) <= set(find_numbers(text)))
    return found


def _is_denial(sentence: SentenceVerdict, amounts: Sequence[CheckedFigure]) -> bool:
    """It says that something is not, and states no amount that could be looked for."""
    return not _of(sentence, amounts) and bool(_DENIES.search(sentence.text))


def _others(marker: MarkerDecision, index: int, markers: dict[int, MarkerDecision]) -> set[int]:
    """Numbers that the markers right behind this one name: the same sentence's."""
    numbers: set[int] = set()
    end = marker.end
    for other in markers.values():
        if index >= 0 and other.start == end:
            numbers.update(other.numbers)
            end = other.end
    return numbers


def _is_right(
    number: int, marker: MarkerDecision, faults: dict[tuple[int, int], int | None], sentence: SentenceVerdict | None
) -> bool:
    if (number, marker.start) in faults:
        return False
    return sentence is None or sentence.verdict == "no_claim" or bool(sentence.passages)


def missing_markers(
    text: str, report: Report, sentences: Sequence[SentenceVerdict], found: Sequence[MarkerDecision]
) -> list[tuple[int, int]]:
    """(place, number) of markers that the reader forgot."""
    added: list[tuple[int, int]] = []
    amounts = find_amounts(report)
    literal = literal_spans(text)
    for one in report.markers.missing:
        start = report.sentences[one.sentence].start
        sentence = next((s for s in sentences if s.start == start), None)
        if sentence is None or _NO_MARKER.search(sentence.text) or _is_denial(sentence, amounts):
            continue
        if sentence.verdict == "partly" and not any(
            one.suggested in figure.passages for figure in _of(sentence, amounts)
        ):
            continue  # its passage has less than the sentence says
        if any(sentence.start <= m.start < sentence.end for m in found):
            continue
        at = one.at
        outside = _outside(text, at)
        if outside != at:  # behind the whole quotation, where its own marker may stand
            at = outside
            if any(0 <= m.start - at <= 1 for m in found) or any(place == at for place, _ in added):
                continue
        if any(start < at < end for start, end in literal):
            continue
        line = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
        if line.endswith("|"):  # a row of a table: into its last cell
            at = text.rfind("|", 0, at)
            at = len(text[:at].rstrip())
        added.append((at, one.suggested))
    return added


def _of(sentence: SentenceVerdict, amounts: Sequence[CheckedFigure]) -> list[CheckedFigure]:
    return [figure for figure in amounts if sentence.start <= figure.start < sentence.end]


def _outside(text: str, at: int) -> int:
    """The place itself, or behind the quotation that it is in; one may stand in another, none goes past its line."""
    begin = text.rfind("\n", 0, at) + 1
    end = (text + "\n").find("\n", at)
    depth = 0
    for index in range(begin, end):
        if index >= at and depth <= 0:
            return index
        depth += (text[index] in _OPEN) - (text[index] in _CLOSE and depth > 0)
    return end if depth <= 0 else at


def edits_of(text: str, found: Sequence[MarkerDecision], added: Sequence[tuple[int, int]]) -> list[Edit]:
    """What has to be changed in the text."""
    edits = [Edit(m.start, m.end, _write_markers(m.kept)) for m in found if m.kept and m.kept != m.numbers]
    edits += [Edit(*_with_space(text, *span)) for span in _removed_spans(text, found)]
    edits += [Edit(at, at, f"{_space(text, at)}[{number}]") for at, number in added]
    return edits


def is_quoted(sentence: SentenceVerdict, quoted: Sequence[Region]) -> bool:
    """Whether a part of the sentence is a quote by construction."""
    return any(region.start < sentence.end and sentence.start < region.end for region in quoted)


def _space(text: str, at: int) -> str:
    """Before a marker: a space behind Latin text, none in a Chinese line."""
    before = text[at - 1 : at]
    line = text[text.rfind("\n", 0, at) + 1 : (text + "\n").find("\n", at)]
    return " " if before.strip() and before.isascii() and before != "]" and language_of(line) == "en" else ""


def _write_markers(numbers: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _removed_spans(text: str, found: Sequence[MarkerDecision]) -> list[tuple[int, int]]:
    """Spans of markers of which nothing stays; neighbours are one span."""
    spans: list[tuple[int, int]] = []
    for marker in found:
        if marker.kept:
            continue
        if spans and not text[spans[-1][1] : marker.start].strip(" \t"):
            spans[-1] = (spans[-1][0], marker.end)
        else:
            spans.append((marker.start, marker.end))
    return spans


def _with_space(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with the space that would be left over."""
    behind = text[end : end + 1]
    if not behind or behind.isspace() or behind in _STOPS or behind in ",，、)）":
        while start and text[start - 1] in " \t":
            start -= 1
    if start == 0 or text[start - 1] == "\n":
        while end < len(text) and text[end] in " \t":
            end += 1
    return start, end
