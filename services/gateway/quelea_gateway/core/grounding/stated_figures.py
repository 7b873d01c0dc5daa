"""An answer made of facts: what it says is looked up in them, which is much cheaper than a check, and surer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import product

from quelea_checker import CheckedFigure, CheckedSentence, Markers, Report
from quelea_checker.reading.amounts import parse
from quelea_checker.reading.sentences import plain, split_sentences

from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.grounding.markers import marks
from quelea_gateway.core.model import Figure, Passage

SCALES = (0, 3, 4, 6, 8, 9, 12)
"""Powers of ten that figures are written in."""


def report_of_figures(text: str, figures: Sequence[Figure], evidence: Sequence[Passage]) -> Report | None:
    """The report on an answer that states these figures alone; None where it says a number that they do not have."""
    sources = [passage.text for passage in evidence]
    every = tuple(dict.fromkeys(evidence.index(one.passage) + 1 for figure in figures for one in figure.operands))
    marked = marks(text, sources)
    values = [Decimal(value) for figure in figures for value in _values(figure)]
    about = frozenset(number for part in _around(figures, evidence, every) for number in find_numbers(part))
    sentences: list[CheckedSentence] = []
    found: list[CheckedFigure] = []
    for start, end in split_sentences(plain(text)):
        said = text[start:end]
        own = tuple(dict.fromkeys(mark.number for mark in marked if start <= mark.start < end))
        if not own and not find_numbers(said):
            sentences.append(CheckedSentence(said, start, end, "no_claim", ()))
            continue
        for figure in parse(said):
            numbers = find_numbers(figure.text)
            if not all(number in about or is_value(number, values) for number in numbers):
                return None
            place = (start + figure.start, start + figure.end)
            passages = own or every
            found.append(CheckedFigure(figure.text, *place, "supported", passages[0], "", passages))
        sentences.append(CheckedSentence(said, start, end, "supported", own or every))
    return Report(tuple(sentences), tuple(found), Markers((), (), ()))


def _values(figure: Figure) -> Iterable[str]:
    return filter(
        None,
        (figure.value, figure.growth, figure.later, figure.earlier, *(one.fact.value for one in figure.operands)),
    )


def _around(figures: Sequence[Figure], evidence: Sequence[Passage], numbers: Iterable[int]) -> Iterable[str]:
    """What names periods and labels: no amount of the answer may come from there alone but by their words."""
    for figure in figures:
        yield from (figure.period_start, figure.period_end, str(figure.fiscal_year), figure.formula)
        yield from (text for one in figure.operands for text in (one.fact.label, one.fact.group, one.fact.period_end))
    yield from (evidence[number - 1].header for number in numbers)


def is_value(number: str, values: Sequence[Decimal], scales: Sequence[int] = SCALES) -> bool:
    """A value, rounded as it is written, in one of the scales."""
    said = Decimal(number)
    step = Decimal(1).scaleb(min(0, int(said.as_tuple().exponent)))
    return any(
        abs(value).scaleb(-scale).quantize(step, ROUND_HALF_UP) == said for value, scale in product(values, scales)
    )
