"""What a draft pointed at needs no search: the verdict on such a figure is known, and its markers are right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType

from quelea_checker import UNSUPPORTED, CheckedFigure, CheckedSentence, Markers, Report
from quelea_checker.model import FigureVerdict
from quelea_checker.reading.amounts import parse
from quelea_checker.reading.attachment import is_base
from quelea_checker.reading.facts import content_terms
from quelea_checker.reading.wording import find_direction_beside, says_compound
from quelea_checker.verdicts.pointed import PointedFigure, find_differences

from quelea_gateway.core.answers.evidence import figures_of
from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.draft import DraftFigure, Sources
from quelea_gateway.core.grounding.stated_figures import SCALES, is_value
from quelea_gateway.core.model import AnswerFigure, Figure, Operand, Passage, Quote

_SLOT = re.compile(r"\{(\d+)\}")
_RATES = frozenset({"percent", "points", "times", "days"})
_RATE = re.compile(r"[%％]|percent|points?\b|times\b|days\b|[倍天]|百分点", re.IGNORECASE)
_LEAST_DIGITS = 3


def compare(text: str, pointed: Sequence[DraftFigure], sources: Sources, question: str) -> dict[int, str]:
    """By the start of a draft's figure, in what its sentence differs from its cells: "time", "row", "kind", …"""
    known = [
        PointedFigure(one.start, one.end, one.cells, bool(one.formula), one.is_change)
        for one in pointed
        if one.figure and one.cells and all(one.cells)
    ]
    return find_differences(text, known, sources.to_check, sources.evidence, question) if known else {}


def settle(
    report: Report, pointed: Sequence[DraftFigure], text: str, differences: Mapping[int, str] = MappingProxyType({})
) -> Report:
    """The report with the verdicts on figures that a draft pointed at.

    One that is printed is supported, one that was computed is derived, one that came to nothing is not found. A printed
    one that the checker says the evidence contradicts stays so: it is a true figure of something else, or of another
    time. Not so where a figure of the same row is compared with it, in a sentence that names the row and no time.

    Args:
        report: The checker's, on this text.
        pointed: The draft's figures, with their places in it.
        text: The answer.
        differences: What compare() found: the evidence contradicts such a figure.
    """
    if not pointed:
        return report
    sentences, figures = list(report.sentences), list(report.figures)
    for one in pointed:
        same = [f for f in figures if f.start < one.end and one.start < f.end]
        if (
            one.figure
            and not one.formula
            and any(f.verdict == "contradicted" for f in same)
            and not _is_base_from_its_row(one, one.figure, pointed, report, text)
        ):
            continue
        if one.formula and "^" not in one.formula and says_compound(text, one.start, one.end):
            one = replace(one, figure=None, formula="")  # noqa: PLW2901  # a year's growth, called compound
        figures = [f for f in figures if f not in same]
        checked = _to_checked_figure(one, text, same)
        if one.start in differences or one.moved * find_direction_beside(text, one.start, one.end) < 0:
            checked = replace(checked, verdict="contradicted", passage=None, passages=(), formula="")
        figures.append(checked)
    figures.sort(key=lambda figure: figure.start)
    sentences = [_settle_sentence(s, report, figures, pointed) for s in sentences]
    inside = [(one.start, one.behind) for one in pointed if one.behind > one.end]
    markers = Markers(
        unresolved=tuple(f for f in report.markers.unresolved if not _within(f.start, inside)),
        corrections=tuple(f for f in report.markers.corrections if not _within(f.start, inside)),
        missing=tuple(
            one
            for one in report.markers.missing
            if not any(_within(start, [_span(report.sentences[one.sentence])]) for start, _ in inside)
        ),
    )
    return Report(tuple(sentences), tuple(figures), markers)


def _is_base_from_its_row(
    one: DraftFigure, figure: AnswerFigure, pointed: Sequence[DraftFigure], report: Report, text: str
) -> bool:
    """The sentence names no time and compares another figure with this one: "6,976, compared with 5,403".

    Both must come from one row, which the sentence names by its label. From which of its columns is not looked at:
    columns are times, and the sentence names none.
    """
    sentence = next((s for s in report.sentences if s.start <= one.start < s.end), None)
    if sentence is None or not is_base(text[: one.start], one.start):
        return False
    if any(sentence.start <= f.start < sentence.end and _is_time(f.text) for f in report.figures):
        return False
    before = [other for other in pointed if sentence.start <= other.start < one.start]
    if not _rows(one) & {row for other in before for row in _rows(other)}:
        return False
    label = content_terms(figure.operands[0].label)
    return bool(label) and label <= content_terms(text[sentence.start : one.start])


def _rows(one: DraftFigure) -> set[tuple[int, int]]:
    """Where its rows begin: a quote is the row up to its figure."""
    return {(quote.number, quote.start) for quote in one.quotes}


def _is_time(text: str) -> bool:
    return any(part.kind == "period" for part in parse(text))


def _to_checked_figure(one: DraftFigure, text: str, same: Sequence[CheckedFigure]) -> CheckedFigure:
    """Its verdict; the passages are its own, and others that the checker found to have it."""
    verdict: FigureVerdict = "not_found" if one.figure is None else "derived" if one.formula else "supported"
    others = (n for figure in same if figure.verdict == "supported" for n in figure.passages)
    passages = tuple(dict.fromkeys((*one.numbers, *others)))
    return CheckedFigure(
        text[one.start : one.end], one.start, one.end, verdict, next(iter(passages), None), one.formula, passages
    )


def _settle_sentence(
    sentence: CheckedSentence, report: Report, figures: Sequence[CheckedFigure], pointed: Sequence[DraftFigure]
) -> CheckedSentence:
    """Supported where nothing but figures spoke against it and all of them are settled; else as it was."""
    start, end = _span(sentence)
    own = [one for one in pointed if start <= one.start < end]
    if not own:
        return sentence
    passages = tuple(dict.fromkeys((*(n for one in own for n in one.numbers), *sentence.passages)))
    if any(one.figure is None for one in own):
        return replace(sentence, verdict="not_found", passages=passages)
    if any(start <= f.start < end and f.verdict in UNSUPPORTED for f in figures):
        return replace(sentence, passages=passages)
    doubted = any(start <= f.start < end and f.verdict in UNSUPPORTED for f in report.figures)
    verdict = "supported" if doubted else "partly" if sentence.verdict == "not_found" else sentence.verdict
    return replace(sentence, verdict=verdict, passages=passages)


def _span(sentence: CheckedSentence) -> tuple[int, int]:
    return sentence.start, sentence.end


def _within(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


@dataclass(frozen=True)
class _Known:
    """A value that statements say to the question."""

    figure: Figure
    value: Decimal
    is_rate: bool
    formula: str
    operands: tuple[Operand, ...]


def find_asked(report: Report, figures: Sequence[Figure], evidence: Sequence[Passage]) -> tuple[DraftFigure, ...]:
    """Plain figures of an answer that are one of those that the question asks for, as statements have them.

    One that the evidence contradicts stays so, unless it is computed: the checker knows no formulas of metrics.
    """
    known = [one for figure in figures for one in _values_of(figure)]
    found = []
    for said in report.figures:
        numbers = find_numbers(said.text)
        one = next((one for one in known if len(numbers) == 1 and _is_value(said.text, numbers[0], one)), None)
        if one is None or (said.verdict == "contradicted" and not one.formula):
            continue
        printed = [operand.fact.printed for operand in one.operands]
        quotes = {
            number: _cell(number, operand)
            for operand in reversed(one.operands)
            for number in [evidence.index(operand.passage) + 1]
        }
        (figure,) = figures_of([one.figure], evidence)
        found.append(
            DraftFigure(
                said=said.text,
                start=said.start,
                end=said.end,
                behind=said.end,
                figure=figure,
                formula=f"= {_fill(one.formula, printed)}" if one.formula else "",
                quotes=tuple(quotes.values())[::-1],
            )
        )
    return tuple(found)


def _values_of(figure: Figure) -> Iterator[_Known]:
    """The figure, what a change is made of, and the facts behind it."""
    rate = figure.unit in _RATES
    computed = len(figure.operands) > 1
    for value, is_rate, formula in (
        (figure.value, rate, figure.formula or "{0} − {1}"),
        (figure.growth, True, "({0} − {1}) / {1}"),
        (figure.later, rate, figure.formula),
        (figure.earlier, rate, figure.formula_before),
    ):
        if value and computed and formula:
            yield _Known(figure, Decimal(value), is_rate, formula, figure.operands)
    for operand in figure.operands:
        yield _Known(figure, Decimal(operand.fact.value), False, "", (operand,))


def _fill(formula: str, printed: Sequence[str]) -> str:
    return _SLOT.sub(lambda match: printed[int(match[1])], formula)


def _is_value(text: str, number: str, one: _Known) -> bool:
    """It has digits enough to be no chance, and its kind is the figure's: a rate or an amount."""
    if one.is_rate is not bool(_RATE.search(text)) or len(number.replace(".", "")) < _LEAST_DIGITS:
        return False
    return is_value(number, [one.value], (0,) if one.is_rate else SCALES)


def _cell(number: int, operand: Operand) -> Quote:
    fact, passage = operand.fact, operand.passage
    start, end = fact.start - passage.start, fact.end - passage.start
    return Quote(number, start, end, passage.text[start:end], 1.0)
