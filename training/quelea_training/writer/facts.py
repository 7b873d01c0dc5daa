"""Questions after the facts of stored documents: a printed figure, its change between two periods, and a printed figure
beside one of another period that the evidence lacks.

Passages with a fact that nearly is the one that is asked for, of another period or company, are the question's hard
negatives: with them alone it must be declined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from quelea_fintext.text import language_of, normalise

from quelea_training.own_questions import STORED
from quelea_training.pairs.from_documents import RULES
from quelea_training.pairs.model import Pair, Pairs, Passage
from quelea_training.pairs.splits import split_of
from quelea_training.writer.questions import Answered, prints

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MOST_OF_DOCUMENT = 40
_NEAR = 3
"""Passages with nearly the fact that is asked for, at most."""
_LOOKED_AT = 60
"""Facts with a line's label, of the company and then of all, from which these are chosen."""
_ANY = "*"
Fact = Mapping[str, Any]
"""A row of GET /v1/facts."""


@dataclass(frozen=True)
class _Placed:
    """A fact, and the passage that prints it."""

    fact: Fact
    passage: Passage

    @property
    def company(self) -> str:
        return str(self.fact["company"])


def ask_facts(
    facts: Iterable[Fact], pairs: Pairs, *, seed: int, dev: float, test: float
) -> tuple[Pairs, dict[tuple[str, str], Answered]]:
    """Pairs of questions after facts whose cells are in these passages, and their answers.

    Args:
        facts: As GET /v1/facts lists them.
        pairs: With the passages of the same documents; a document that they have pairs of keeps their split.
        seed: Of the split of the other documents.
        dev: Share of companies and documents to develop on.
        test: Share to test on.
    """
    of_document: dict[str, list[Passage]] = {}
    for one in pairs.passages.values():
        of_document.setdefault(one.document, []).append(one)
    splits = {pair.document: pair.split for pair in pairs.pairs}
    made: dict[str, Pair] = {}
    answered: dict[tuple[str, str], Answered] = {}
    counts: dict[str, int] = {}
    earlier: dict[tuple[str, ...], tuple[Fact, Passage]] = {}
    placed = list(_placed(facts, of_document))
    same_line: dict[tuple[str, str], list[_Placed]] = {}
    for each in placed:
        for company in {each.company, _ANY}:
            same_line.setdefault((company, normalise(str(each.fact["label"]))), []).append(each)
    for each in placed:
        fact, passage = each.fact, each.passage
        if counts.get(passage.document, 0) >= _MOST_OF_DOCUMENT:
            continue
        split = splits.get(passage.document) or split_of(passage.group, seed, dev, test)
        label = normalise(str(fact["label"]))
        near = _near(each, [*same_line[each.company, label][:_LOOKED_AT], *same_line[_ANY, label][:_LOOKED_AT]])
        for asked in (_printed(fact), _changed(fact, passage, earlier), _partly(each, near)):
            if asked is None:
                continue
            pair = replace(Pair.of(asked.question, passage, "fact", RULES), split=split, source=STORED)
            pair = replace(pair, negatives=tuple(dict.fromkeys(other.passage.id for other in near))[:_NEAR])
            made[pair.id] = replace(pair, language=language_of(asked.question))
            answered[asked.document, asked.question] = asked
            counts[passage.document] = counts.get(passage.document, 0) + 1
    return Pairs(pairs.passages, (*pairs.pairs, *made.values())), answered


def _placed(facts: Iterable[Fact], of_document: Mapping[str, Sequence[Passage]]) -> Iterator[_Placed]:
    for fact in facts:
        passage = _passage_of(fact, of_document.get(str(fact["document_id"]), ()))
        if passage is not None and _NUMBER.search(str(fact["printed"])):
            yield _Placed(fact, passage)


def _near(one: _Placed, same_line: Sequence[_Placed]) -> list[_Placed]:
    """The same line of another period or company, the company's own first, where the figure is not printed, too."""
    return [
        other
        for other in same_line
        if (other.company, _when(other.fact)) != (one.company, _when(one.fact))
        and other.passage.document != one.passage.document
        and not prints(other.passage, _digits(one.fact))
    ]


def _partly(one: _Placed, near: Sequence[_Placed]) -> Answered | None:
    """The figure, asked for together with one of another period that its passage does not print."""
    other = next((each for each in near if each.company == one.company), None)
    if other is None or not one.company or prints(one.passage, _digits(other.fact)):
        return None
    label, when, missing = str(one.fact["label"]), _when(one.fact), _when(other.fact)
    figure = _digits(one.fact)
    if language_of(label) == "zh":
        question = f"{one.company}{when}和{missing}的{label}分别是多少？"
        begins, lacks = f"{one.company}{when}{label}为", f"信息中没有{missing}的数据。"
    else:
        question = f"What was {one.company}'s {label} for {when} and for {missing}?"
        begins, lacks = f"{one.company}'s {label} for {when} was", f"The information does not give it for {missing}."
    return Answered(
        question, one.passage.document, (figure,), "", is_percent=False, begins=begins, lacks=lacks,
        absent=_digits(other.fact),
    )  # fmt: skip


def _passage_of(fact: Fact, passages: Iterable[Passage]) -> Passage | None:
    page, start, end = (int(fact[name]) for name in ("page", "start", "end"))
    return next((one for one in passages if one.page == page and one.start <= start and end <= one.end), None)


def _printed(fact: Fact) -> Answered:
    label, company, when = str(fact["label"]), str(fact["company"]), _when(fact)
    if language_of(label) == "zh":
        question = f"{company}{when}{label}是多少？"
    else:
        question = f"What was {company}'s {label} for {when}?" if company else f"What was {label} for {when}?"
    return Answered(question, str(fact["document_id"]), (_digits(fact),), "", is_percent=False)


def _changed(fact: Fact, passage: Passage, earlier: dict[tuple[str, ...], tuple[Fact, Passage]]) -> Answered | None:
    """By what share it changed, where the same row's other period stands in the same passage."""
    key = tuple(str(fact[name]) for name in ("document_id", "company", "label", "statement", "group", "unit"))
    known = earlier.get(key)
    earlier[key] = (fact, passage)
    if known is None or known[1].id != passage.id or _months(known[0]) != _months(fact):
        return None
    new, old = sorted((known[0], fact), key=lambda one: str(one["period_end"]), reverse=True)
    before, after = (Decimal(_digits(one).replace(",", "")) for one in (old, new))
    signs = {str(one["value"]).startswith("-") for one in (old, new)}
    if not before or len(signs) > 1 or str(new["period_end"]) == str(old["period_end"]):
        return None
    label, company = str(fact["label"]), str(fact["company"])
    if language_of(label) == "zh":
        question = f"{company}{label}从{_when(old)}到{_when(new)}的变动百分比是多少？"
    else:
        whose = f"{company}'s " if company else ""
        question = f"What was the percentage change of {whose}{label} from {_when(old)} to {_when(new)}?"
    change = (after - before) / before * 100
    one, other = _digits(new), _digits(old)
    return Answered(question, passage.document, (f"{change:.2f}",), f"({one} - {other}) / {other}", is_percent=True)


def _digits(fact: Fact) -> str:
    match = _NUMBER.search(str(fact["printed"]))
    return match[0] if match else ""


def _when(fact: Fact) -> str:
    start, end = str(fact["period_start"]), str(fact["period_end"])
    chinese = language_of(str(fact["label"])) == "zh"
    if not start:
        return f"{end}" if chinese else f"the day {end}"
    return f"{start}至{end}" if chinese else f"the period from {start} to {end}"


def _months(fact: Fact) -> int:
    start, end = str(fact["period_start"]), str(fact["period_end"])
    return (int(end[:4]) - int(start[:4])) * 12 + int(end[5:7]) - int(start[5:7]) if start else 0
