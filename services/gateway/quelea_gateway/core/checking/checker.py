"""The check of an answer: its figures, its sentences, its markers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quelea_kit.text import language_of

from quelea_gateway.core.checking import sentences, support, wording
from quelea_gateway.core.checking.amounts import parse
from quelea_gateway.core.checking.attaching import attached
from quelea_gateway.core.checking.deriving import Budget, derive
from quelea_gateway.core.checking.facts import Evidence
from quelea_gateway.core.checking.matching import Claim, supporting
from quelea_gateway.core.checking.model import CheckedFigure, CheckPassage, Figure, Report
from quelea_gateway.core.checking.normal import plain
from quelea_gateway.core.checking.not_figures import MARKER
from quelea_gateway.core.checking.owners import Owners
from quelea_gateway.core.checking.passage_facts import content
from quelea_gateway.core.checking.periods import find_periods

_DOCUMENT = re.compile(
    r"(?:'s)?[\s,]{0,2}(?:quarterly |annual |earnings )?(?:Form )?(?:10-[KQ]|report|filing|release"
    r"|document|年报|季报|半年报|报告)",
    re.IGNORECASE,
)
"""Behind a time: it names a document, and says nothing of when a figure is from."""
_MARGIN = re.compile(r"\bmargins?\b|毛利率|净利率|利润率", re.IGNORECASE)
_OF_MARGINS = content("profit revenue sales 毛利 利润 营业收入")
"""What a margin is computed from is not named in it."""
_RANGED = re.compile(r"\s?(?:-|–|—|~|至|到|to)\s?[$€£¥]?\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s?[$€£¥]?\s*$|(?:介于|介乎)\s*$", re.IGNORECASE)
_FROM = re.compile(r"(?:\bfrom|[从由自])\s*$", re.IGNORECASE)
_TO = re.compile(r"(?:\bto|[至到])\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the answer with what was read in it; spans are the answer's."""

    start: int
    end: int
    text: str
    figures: tuple[Figure, ...]
    marks: tuple[tuple[int, int, int], ...]
    """(number, start, end) of each marker's numbers."""


def check_answer(answer: str, passages: Sequence[CheckPassage], *, question: str = "") -> Report:
    """The verdicts on an answer. Passages are numbered from 1 in the given order, as markers [n] count.

    Args:
        answer: Any text; may hold markers.
        passages: The evidence that the answer was written from.
        question: What was asked: it tells which computations are asked for, and of which times.
    """
    evidence = Evidence(passages)
    owners = Owners(passages)
    budget = Budget()
    asked = plain(question)
    every = [_read(answer, *span) for span in sentences.cut(plain(answer))]
    checked: list[CheckedFigure] = []
    by_sentence: list[list[CheckedFigure]] = []
    for said in every:
        own = _figures(said, asked, evidence, budget, owners)
        by_sentence.append(own)
        checked += own
    kinds = [[figure.kind for figure in said.figures] for said in every]
    cross = bool(passages) and language_of(answer) not in {language_of(p.text) for p in passages}
    verdicts, markers = support.judge(answer, every, by_sentence, kinds, evidence, cross=cross)
    return Report(tuple(verdicts), tuple(checked), markers)


def _read(answer: str, start: int, end: int) -> Said:
    text = answer[start:end]
    marks = tuple(
        (int(number), start + match.start(), start + match.end())
        for match in MARKER.finditer(text)
        for number in re.findall(r"\d+", match["n"])
    )
    return Said(start, end, text, tuple(parse(text)), marks)


def _figures(said: Said, question: str, evidence: Evidence, budget: Budget, owners: Owners) -> list[CheckedFigure]:
    sentence = plain(said.text)
    amounts = [figure for figure in said.figures if figure.period is None]
    periods = [f.period for f in said.figures if f.period is not None and not _DOCUMENT.match(sentence, f.end)]
    allowed = dict(zip([f.start for f in amounts], attached(sentence, amounts, periods), strict=True))
    terms = content(f"{MARKER.sub(' ', said.text)} {question}")
    if _MARGIN.search(f"{said.text} {question}"):
        terms |= _OF_MARGINS
    asked = tuple(find_periods(question)) if not periods else ()
    broken = _contradicted(sentence, amounts)
    found = []
    places: dict[int, set[int]] = {}
    for figure in said.figures:
        blank = CheckedFigure(figure.text, said.start + figure.start, said.start + figure.end, "unsupported", None, "")
        if figure.period is not None:
            numbers = evidence.calendar.passages(figure.period)
            found.append(
                replace(blank, verdict="supported", passage=numbers[0], passages=numbers) if numbers else blank
            )
            continue
        own = allowed[figure.start]
        every = own if any(period not in periods for period in own) else tuple(periods) or asked
        claim = Claim(figure, sentence, question, terms, own, every,
                      wording.direction(sentence, figure.start, figure.end),
                      owners.barred(sentence, question, figure.start))  # fmt: skip
        budget.sought -= 1
        cited = {number for number, _, _ in said.marks}
        found.append(
            blank if figure.start in broken or budget.sought < 0
            else _amount(claim, blank, cited, evidence, budget, places.setdefault(figure.start, set()))
        )  # fmt: skip
    torn = {said.start + start for start in _torn(sentence, amounts, places)}
    return [
        replace(f, verdict="unsupported", passage=None, passages=())
        if f.start in torn and f.verdict == "supported"
        else f
        for f in found
    ]


def _torn(sentence: str, amounts: Sequence[Figure], places: dict[int, set[int]]) -> Iterator[int]:
    """Starts of the second figures of ranges, "210 to 230", whose two ends stand in no one row or sentence."""
    for one, other in pairwise(amounts):
        joined = sentence[one.end : other.start]
        ranged = (_RANGED.fullmatch(joined) or _is_between(sentence, one, joined)) and one.kind == other.kind
        moved = _FROM.search(sentence[: one.start]) or wording.direction(sentence, one.start, other.end)
        ends = places.get(one.start, set()), places.get(other.start, set())
        if ranged and not moved and all(ends) and not ends[0] & ends[1]:
            yield other.start


def _is_between(sentence: str, one: Figure, joined: str) -> bool:
    """ "between $1.70 and $1.85": the two ends of a range."""
    return bool(_BETWEEN.search(sentence[: one.start]) and re.fullmatch(r"\s?(?:and|[与和])\s?[$€£¥]?\s?", joined))


def _amount(
    claim: Claim, blank: CheckedFigure, cited: set[int], evidence: Evidence, budget: Budget, places: set[int]
) -> CheckedFigure:
    """The verdict; `places` takes the rows and sentences in which the figure stands."""
    best: dict[int, int] = {}
    for fact in supporting(claim, evidence):
        places.add(fact.group)
        number = fact.passage + 1
        best[number] = max(best.get(number, -1), len(fact.terms & claim.terms))
    if best:
        order = sorted(best, key=lambda number: (number not in cited, -best[number], number))
        return replace(blank, verdict="supported", passage=order[0], passages=tuple(sorted(best)))
    derived = derive(claim, evidence, budget)
    if derived:
        numbers = tuple(sorted({fact.passage + 1 for fact in derived.operands}))
        first = derived.operands[0].passage + 1
        return replace(blank, verdict="derived", passage=first, formula=derived.formula, passages=numbers)
    return blank


def _contradicted(sentence: str, amounts: Sequence[Figure]) -> set[int]:
    """Starts of figures that their own sentence contradicts: "increased from 5 to 4"."""
    broken = set()
    for one, other in pairwise(amounts):
        if one.kind != other.kind or one.size == other.size:
            continue
        between = sentence[one.end : other.start]
        before = sentence[: one.start]
        if len(between) > 80:
            continue
        if _FROM.search(before) and _TO.search(between):
            old, new = one, other
        elif _TO.search(before) and _FROM.search(between):
            new, old = one, other
        else:
            continue
        direction = wording.direction(sentence, one.start, one.end)
        if direction and (new.value - old.value) * direction < 0 and (new.scale == old.scale):
            broken |= {one.start, other.start}
    return broken
