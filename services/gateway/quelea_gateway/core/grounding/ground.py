"""From a text and the checker's report to the text that is shown, its verdicts, and its markers with what they mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quelea_checker import UNSUPPORTED, CheckedSentence, Report

from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.draft import DraftFigure
from quelea_gateway.core.grounding.edits import Edit, Edited
from quelea_gateway.core.grounding.marker_decisions import decide_markers, edits_of, is_quoted, missing_markers
from quelea_gateway.core.grounding.markers import Mark, marks
from quelea_gateway.core.grounding.quotes import Region
from quelea_gateway.core.model import Quote
from quelea_gateway.core.review.verdicts import FigureVerdict, Grounding, SentenceVerdict
from quelea_gateway.core.review.verifier import VerifiedReport


@dataclass(frozen=True)
class Placed:
    """A marker's number in the final text, with the statement that it stands behind."""

    mark: Mark
    statement: str
    quote: Quote | None = None
    """What it opens, where that is known: a figure that the draft pointed at."""


@dataclass(frozen=True)
class Grounded:
    """What grounding made of an answer."""

    grounding: Grounding
    placed: tuple[Placed, ...] = ()


def ground(
    text: str,
    report: Report,
    sources: Sequence[str],
    *,
    quoted: Sequence[Region] = (),
    verbatim: Sequence[Region] = (),
    pointed: Sequence[DraftFigure] = (),
    strict: bool = False,
) -> Grounded:
    """The final text of an answer with the verdicts on it.

    Args:
        text: What was checked; tidy.
        report: The checker's, on this text.
        sources: Texts of the evidence; [n] is the n-th.
        quoted: Parts that are quotes of the evidence by construction: they are supported, and their markers right.
        verbatim: Quotations of the evidence: the figures in them are supported.
        pointed: Figures that the draft pointed at, with the quotes that their markers open.
        strict: Sentences that are contradicted, or have a figure that is contradicted or not found, are withheld.
    """
    named = _figures(text, report, quoted, verbatim)
    sentences = _sentences(report, quoted, named)
    gone = [s for s in sentences if strict and (s.verdict == "contradicted" or _has_unsupported(s, named))]
    found = decide_markers(marks(text, sources), report, sentences, quoted, sources)
    added = missing_markers(text, report, [s for s in sentences if not is_quoted(s, quoted)], found)
    edits = [Edit(*_line(text, s.start, s.end)) for s in gone]
    edits += _unlink(text, sentences, gone)
    edits += edits_of(text, found, added)
    edited = Edited(text, _disjoint(edits))
    shift = len(edited.text) - len(edited.text.lstrip()) if gone else 0
    final = edited.text.strip() if gone else edited.text

    def moved(start: int, end: int) -> tuple[int, int]:
        return max(0, edited.at(start) - shift), max(0, edited.at(end) - shift)

    left = [s for s in sentences if s not in gone]
    shown = tuple(_move_sentence(final, s, *moved(s.start, s.end)) for s in left)
    removed = [f"[{number}]" for marker in found for number in marker.numbers if number not in marker.kept]
    names = [(at, number) for at, number in added if not _within(at - 1, gone)]
    names += [(m.start, n) for m in found for n in m.corrected if not _within(m.start, gone)]
    grounding = Grounding(
        text=final,
        sentences=shown,
        figures=tuple(
            replace(f, start=max(0, edited.at(f.start) - shift), end=max(0, edited.until(f.end) - shift))
            for f in named
            if not _within(f.start, gone)
        ),
        removed_markers=tuple(removed),
        added_markers=tuple(f"[{number}]" for _, number in sorted(names)),
        withheld=tuple(s.text for s in gone),
        verifier=report.verifier if isinstance(report, VerifiedReport) else "",
    )
    opened = [(moved(one.end, one.behind), one) for one in pointed if one.quotes and not _within(one.start, gone)]
    return Grounded(grounding, _place_markers(final, sources, shown, grounding, opened))


def _sentences(report: Report, quoted: Sequence[Region], figures: Sequence[FigureVerdict]) -> list[SentenceVerdict]:
    found = []
    for checked in report.sentences:
        numbers = [r.number for r in quoted if r.start < checked.end and checked.start < r.end]
        if numbers:
            doubtful = any(checked.start <= f.start < checked.end and f.verdict in UNSUPPORTED for f in figures)
            found.append(_verdict(checked, "partly" if doubtful else "supported", tuple(dict.fromkeys(numbers))))
        elif checked.verdict != "no_claim" and not checked.passages:
            verdict = checked.verdict if checked.verdict in UNSUPPORTED else "not_found"
            found.append(_verdict(checked, verdict, ()))
        else:
            found.append(_verdict(checked, _heal(checked, report, figures), checked.passages))
    return found


def _heal(checked: CheckedSentence, report: Report, figures: Sequence[FigureVerdict]) -> str:
    """Its verdict; "supported" when all that spoke against it were figures that turned out to be quoted."""
    own = [f for f in figures if checked.start <= f.start < checked.end]
    doubted = any(checked.start <= f.start < checked.end and f.verdict in UNSUPPORTED for f in report.figures)
    if checked.verdict == "no_claim":
        return "no_claim"
    amended = checked.verdict == "partly" and bool(own) and _is_amended(checked, report)
    sound = all(f.verdict not in UNSUPPORTED for f in own)
    return "supported" if (doubted or amended) and sound else checked.verdict


def _is_amended(checked: CheckedSentence, report: Report) -> bool:
    """Its figures are right, and its marker was not: it is now."""
    faults = (*report.markers.corrections, *report.markers.unresolved)
    return any(checked.start <= fault.start < checked.end and fault.suggested for fault in faults)


def _verdict(checked: CheckedSentence, verdict: str, passages: tuple[int, ...]) -> SentenceVerdict:
    return SentenceVerdict(checked.text, checked.start, checked.end, verdict, passages)


def _figures(text: str, report: Report, quoted: Sequence[Region], verbatim: Sequence[Region]) -> list[FigureVerdict]:
    """The checker's verdicts; but a figure that is quoted, or that a quote of the same line has, is supported by it."""
    found = []
    for figure in report.figures:
        line = text.rfind("\n", 0, figure.start) + 1, (text + "\n").find("\n", figure.end)
        near = [r for r in quoted if line[0] <= r.start and r.end <= line[1]]
        inside = (*near, *(verbatim if figure.verdict in UNSUPPORTED else ()))
        own = next((r.number for r in inside if r.start <= figure.start and figure.end <= r.end), 0)
        wanted = set(find_numbers(figure.text))
        if not own and figure.verdict in UNSUPPORTED and wanted:
            own = next((r.number for r in near if wanted <= set(find_numbers(text[r.start : r.end]))), 0)
        verdict = "supported" if own else figure.verdict
        number, formula = (own, "") if own else (figure.passage or 0, figure.formula)
        found.append(FigureVerdict(figure.text, figure.start, figure.end, verdict, number, formula))
    return found


def _has_unsupported(sentence: SentenceVerdict, figures: Sequence[FigureVerdict]) -> bool:
    return any(sentence.start <= f.start < sentence.end and f.verdict in UNSUPPORTED for f in figures)


_LINK = re.compile(
    r"(?:However|But|Yet|Moreover|Furthermore|In addition|Additionally|Also|Therefore|Thus|Hence|Consequently"
    r"|As a result|By contrast|In contrast|Nevertheless|Nonetheless|Similarly|Likewise|Meanwhile|Instead|Conversely)"
    r",?\s+(?P<en>\w)"
    r"|(?:但是|但|不过|然而|此外|另外|因此|所以|因而|同时|而且|并且|相反|同样)[，,]?"
)


def _unlink(text: str, sentences: Sequence[SentenceVerdict], gone: Sequence[SentenceVerdict]) -> list[Edit]:
    """Of a sentence behind a withheld one of its line, without the "However" that leans on that."""
    found = []
    for before, after in pairwise(sentences):
        link = _LINK.match(text, after.start, after.end)
        if before in gone and after not in gone and link and "\n" not in text[before.end : after.start]:
            found.append(Edit(link.start(), link.end(), (link["en"] or "").upper()))
    return found


def _within(position: int, sentences: Sequence[SentenceVerdict]) -> bool:
    return any(s.start <= position < s.end for s in sentences)


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


def _move_sentence(final: str, sentence: SentenceVerdict, start: int, end: int) -> SentenceVerdict:
    end = min(end, len(final))
    return replace(sentence, text=final[start:end], start=start, end=end)


def opened_by(mark: Mark, opened: Sequence[tuple[tuple[int, int], DraftFigure]]) -> Quote | None:
    """The quote of the figure behind which the marker stands; `opened` has the places of their markers."""
    quotes = (quote for (start, end), one in opened if start <= mark.start < end for quote in one.quotes)
    return next((quote for quote in quotes if quote.number == mark.number), None)


def _place_markers(
    final: str,
    sources: Sequence[str],
    sentences: Sequence[SentenceVerdict],
    grounding: Grounding,
    opened: Sequence[tuple[tuple[int, int], DraftFigure]],
) -> tuple[Placed, ...]:
    """The markers of the final text; a derived figure's statement names what it was computed from."""
    placed = []
    for mark in marks(final, sources):
        quote = opened_by(mark, opened)
        sentence = next((s for s in sentences if s.start <= mark.start < s.end), None)
        if sentence is None:
            placed.append(Placed(mark, "", quote))
            continue
        own = [f.formula for f in grounding.figures if sentence.start <= f.start < sentence.end and f.formula]
        placed.append(Placed(mark, " ".join((sentence.text, *own)), quote))
    return tuple(placed)
