"""From a text and the checker's report to the text that is shown, its verdicts, and its markers with what they mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quelea_gateway.core.checking import CheckedSentence, Report
from quelea_gateway.core.grounding.edits import Edit, Edited
from quelea_gateway.core.grounding.marking import Mark, literal_spans, marks
from quelea_gateway.core.grounding.quoted import Region
from quelea_gateway.core.verdicts import FigureVerdict, Grounding, SentenceVerdict

_QUOTATION = re.compile(r"“[^”\n]*”|「[^」\n]*」|『[^』\n]*』")
_STOPS = ".。!！?？;；"
_NO_MARKER = re.compile(r"^\s*#{1,6}\s|[:：]\W*$|^[\s|:+-]+$")
"""Headings, lines that lead to a list, and rules of tables get no marker of ours."""


@dataclass(frozen=True)
class Placed:
    """A marker's number in the final text, with the statement that it stands behind."""

    mark: Mark
    statement: str


@dataclass(frozen=True)
class Grounded:
    """What grounding made of an answer."""

    grounding: Grounding
    placed: tuple[Placed, ...] = ()
    corrected: int = 0
    """Markers that named a passage which does not support the sentence, or none, and now name one that does."""


@dataclass
class _Markers:
    """What becomes of one marker, text[start:end]."""

    start: int
    end: int
    numbers: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    corrected: list[int] = field(default_factory=list)


def ground(
    text: str,
    report: Report,
    sources: Sequence[str],
    *,
    quoted: Sequence[Region] = (),
    strict: bool = False,
) -> Grounded:
    """The final text of an answer with the verdicts on it.

    Args:
        text: What was checked; tidy.
        report: The checker's, on this text.
        sources: Texts of the evidence; [n] is the n-th.
        quoted: Parts that are quotes of the evidence by construction: they are supported, and their markers right.
        strict: Sentences with an unsupported figure are withheld.
    """
    figures = _figures(report, quoted)
    sentences = _sentences(report, quoted, figures)
    gone = [s for s in sentences if strict and _unsupported(s, figures)]
    found = _decided(marks(text, sources), report, sentences, quoted, len(sources))
    added = _missing(text, report, sentences, found)
    edits = [Edit(*_line(text, s.start, s.end)) for s in gone]
    edits += [Edit(m.start, m.end, _written(m.kept)) for m in found if m.kept and m.kept != m.numbers]
    edits += [Edit(*_with_space(text, *span)) for span in _removed(text, found)]
    edits += [Edit(at, at, f"{_space(text, at)}[{number}]") for at, number in added]
    edited = Edited(text, _disjoint(edits))
    shift = len(edited.text) - len(edited.text.lstrip()) if gone else 0
    final = edited.text.strip() if gone else edited.text

    def moved(start: int, end: int) -> tuple[int, int]:
        return max(0, edited.at(start) - shift), max(0, edited.at(end) - shift)

    left = [s for s in sentences if s not in gone]
    shown = tuple(_moved_sentence(final, s, *moved(s.start, s.end)) for s in left)
    removed = [f"[{number}]" for marker in found for number in marker.numbers if number not in marker.kept]
    names = [(at, number) for at, number in added if not _within(at - 1, gone)]
    names += [(m.start, n) for m in found for n in m.corrected if not _within(m.start, gone)]
    grounding = Grounding(
        text=final,
        sentences=shown,
        figures=tuple(
            replace(f, start=start, end=end)
            for f in figures
            if not _within(f.start, gone)
            for start, end in (moved(f.start, f.end),)
        ),
        removed_markers=tuple(removed),
        added_markers=tuple(f"[{number}]" for _, number in sorted(names)),
        withheld=tuple(s.text for s in gone),
    )
    return Grounded(grounding, _placed(final, sources, shown, grounding), sum(len(m.corrected) for m in found))


def _sentences(report: Report, quoted: Sequence[Region], figures: Sequence[FigureVerdict]) -> list[SentenceVerdict]:
    found = []
    for checked in report.sentences:
        numbers = [r.number for r in quoted if r.start < checked.end and checked.start < r.end]
        if numbers:
            doubtful = any(checked.start <= f.start < checked.end and f.verdict == "unsupported" for f in figures)
            found.append(_verdict(checked, "partly" if doubtful else "supported", tuple(dict.fromkeys(numbers))))
        elif checked.verdict != "no_claim" and not checked.passages:
            found.append(_verdict(checked, "unsupported", ()))
        else:
            found.append(_verdict(checked, checked.verdict, checked.passages))
    return found


def _verdict(checked: CheckedSentence, verdict: str, passages: tuple[int, ...]) -> SentenceVerdict:
    return SentenceVerdict(checked.text, checked.start, checked.end, verdict, passages)


def _figures(report: Report, quoted: Sequence[Region]) -> list[FigureVerdict]:
    found = []
    for figure in report.figures:
        own = next((r.number for r in quoted if r.start <= figure.start and figure.end <= r.end), 0)
        verdict = "supported" if own else figure.verdict
        number, formula = (own, "") if own else (figure.passage or 0, figure.formula)
        found.append(FigureVerdict(figure.text, figure.start, figure.end, verdict, number, formula))
    return found


def _unsupported(sentence: SentenceVerdict, figures: Sequence[FigureVerdict]) -> bool:
    return any(sentence.start <= f.start < sentence.end and f.verdict == "unsupported" for f in figures)


def _within(position: int, sentences: Sequence[SentenceVerdict]) -> bool:
    return any(s.start <= position < s.end for s in sentences)


def _decided(
    found: Sequence[Mark],
    report: Report,
    sentences: Sequence[SentenceVerdict],
    quoted: Sequence[Region],
    count: int,
) -> list[_Markers]:
    """Of each marker, which numbers stay and which become others."""
    faults = {(f.number, f.start): f.suggested for f in (*report.markers.unresolved, *report.markers.corrections)}
    markers: dict[int, _Markers] = {}
    for mark in found:
        markers.setdefault(mark.start, _Markers(mark.start, mark.end)).numbers.append(mark.number)
    named: dict[int, set[int]] = {}
    for marker in markers.values():
        index = next((i for i, s in enumerate(sentences) if s.start <= marker.start < s.end), -1)
        sentence = sentences[index] if index >= 0 else None
        right = {r.number for r in quoted if sentence and r.start < marker.start and sentence.start < r.end}
        before = named.setdefault(index, set())
        for number in marker.numbers:
            suggested = faults.get((number, marker.start))
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


def _others(marker: _Markers, index: int, markers: dict[int, _Markers]) -> set[int]:
    """Numbers that the markers right behind this one name: the same sentence's."""
    numbers: set[int] = set()
    end = marker.end
    for other in markers.values():
        if index >= 0 and other.start == end:
            numbers.update(other.numbers)
            end = other.end
    return numbers


def _is_right(
    number: int, marker: _Markers, faults: dict[tuple[int, int], int | None], sentence: SentenceVerdict | None
) -> bool:
    if (number, marker.start) in faults:
        return False
    return sentence is None or sentence.verdict == "no_claim" or bool(sentence.passages)


def _missing(
    text: str, report: Report, sentences: Sequence[SentenceVerdict], found: Sequence[_Markers]
) -> list[tuple[int, int]]:
    """(place, number) of markers that the reader forgot."""
    added = []
    literal = literal_spans(text)
    quotations = [match.span() for match in _QUOTATION.finditer(text)]
    for one in report.markers.missing:
        sentence = sentences[one.sentence]
        if _NO_MARKER.search(sentence.text) or any(sentence.start <= m.start < sentence.end for m in found):
            continue
        at = one.at
        inside = next(((start, end) for start, end in quotations if start < at < end), None)
        if inside:  # behind the whole quotation, where its own marker may stand
            at = inside[1]
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


def _space(text: str, at: int) -> str:
    """Before a marker: a space behind Latin text, none behind Chinese."""
    before = text[at - 1 : at]
    return " " if before.isascii() and before.strip() and before != "]" else ""


def _written(numbers: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _removed(text: str, found: Sequence[_Markers]) -> list[tuple[int, int]]:
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


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """A sentence with the space behind it; with its line's end when nothing else is on the line."""
    while end < len(text) and text[end] in " \t":
        end += 1
    alone = (start == 0 or text[start - 1] == "\n") and end < len(text) and text[end] == "\n"
    return start, end + 1 if alone else end


def _disjoint(edits: Sequence[Edit]) -> list[Edit]:
    """The edits without those that lie in another, longer one."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.start, -(e.end - e.start))):
        if kept and edit.start < kept[-1].end:
            continue
        kept.append(edit)
    return kept


def _moved_sentence(final: str, sentence: SentenceVerdict, start: int, end: int) -> SentenceVerdict:
    end = min(end, len(final))
    return replace(sentence, text=final[start:end], start=start, end=end)


def _placed(
    final: str, sources: Sequence[str], sentences: Sequence[SentenceVerdict], grounding: Grounding
) -> tuple[Placed, ...]:
    """The markers of the final text; a derived figure's statement names what it was computed from."""
    placed = []
    for mark in marks(final, sources):
        sentence = next((s for s in sentences if s.start <= mark.start < s.end), None)
        if sentence is None:
            placed.append(Placed(mark, ""))
            continue
        own = [f.formula for f in grounding.figures if sentence.start <= f.start < sentence.end and f.formula]
        placed.append(Placed(mark, " ".join((sentence.text, *own))))
    return tuple(placed)
