"""Figures of a company's parts (products, regions, subsidiaries) that a question asks for, from its breakdowns.

What names a part, or a kind of parts, is what the company's own tables print. Everything that a question says must be
one of these, a line, a period or a word of no weight: of a question that says more, nothing is answered here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from quelea_fintext.asked_lines import in_chinese, plain_names, plain_words, without_periods
from quelea_fintext.concepts import concept_of_label
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import metrics
from quelea_fintext.text import language_of, normalise

from quelea_retriever.core.figures.statement_facts import BREAKDOWN, FactQuery, StatedFact

MOST_FIGURES = 40
_SPACE = re.compile(r"\s+")
_BRACKETED = re.compile(r"[（(][^（）()]{0,20}[）)]")
_LEAST_NAME = 2
"""Characters of a question's words that name a kind of parts."""


@dataclass(slots=True)
class _Said:
    """What a question says of parts."""

    parts: set[tuple[str, str]] = field(default_factory=set)
    """(label, what its group's name must have)."""
    kinds: set[str] = field(default_factory=set)
    measures: dict[str, None] = field(default_factory=dict)
    """Ids of concepts and metrics, else a column's name, in the order of the question."""
    is_change: bool = False
    is_share: bool = False


class AskedParts:
    """The parts of one company.

    Args:
        stated: Facts of its filings.
    """

    def __init__(self, stated: Sequence[StatedFact]) -> None:
        query = FactQuery(statements=frozenset({BREAKDOWN}))
        self._facts = query.select(one for one in stated if one.fact.statement == BREAKDOWN)

    def find(
        self, question: str, companies: Sequence[str], is_of_time: Callable[[StatedFact], bool]
    ) -> list[StatedFact]:
        """The figures that are asked for, part by part; none where one is not stated or the question says more.

        Args:
            question: As asked.
            companies: Words of it that name companies.
            is_of_time: Whether a figure is of the time that is asked for.
        """
        if not self._facts or language_of(question) != "zh":
            return []
        said = self._read(question, companies)
        if said is None or not (said.parts or said.kinds) or not said.measures:
            return []
        facts = [one for one in self._facts if is_of_time(one)]
        for group in dict.fromkeys(one.fact.group for one in facts if all(it in one.fact.group for it in said.kinds)):
            if found := self._of_group(said, [one for one in facts if one.fact.group == group]):
                return found if len(found) <= MOST_FIGURES else []
        return []

    def _of_group(self, said: _Said, facts: Sequence[StatedFact]) -> list[StatedFact]:
        """What is asked of the parts of one kind; none where one figure is missing."""
        wanted = {label for label, kind in said.parts if kind in facts[0].fact.group}
        if len(wanted) < len({label for label, _ in said.parts}):
            return []
        found: list[StatedFact] = []
        for label in dict.fromkeys(one.fact.label for one in facts):
            own = [one for one in facts if one.fact.label == label]
            if wanted and label not in wanted:
                continue
            for measure in said.measures:
                told = [one for one in own if _tells(one, measure, said)]
                if not told or (said.is_change and not any(_is_change(one) for one in told)):
                    return []
                found += told
        return found if wanted else _once(found)

    def _read(self, question: str, companies: Sequence[str]) -> _Said | None:
        """None where the question has a word that is none of these."""
        text = normalise(question)
        if any(word in text for word in plain_words("tells")):  # why, of what
            return None
        for name in sorted(map(normalise, companies), key=len, reverse=True):
            text = text.replace(name, " ")
        text = _SPACE.sub("", in_chinese(without_periods(text)))
        said = _Said()
        at = 0
        while at < len(text):
            length = self._take(text, at, said)
            if not length:
                return None
            at += length
        return said

    def _take(self, text: str, at: int, said: _Said) -> int:
        """Read the longest word there; how long it is, 0 where there is none."""
        part = _longest(text, at, self._parts)
        measure = _longest(text, at, self._measures)
        kind = max((_shared(text, at, group) for group in self._kinds), key=len, default="")
        plain = _longest(text, at, _plain())
        length = max(len(one) for one in (part, measure, kind, plain))
        if not length:
            return 0
        if len(part) == length:
            said.parts |= self._parts[part]
        elif len(measure) == length:
            said.measures[self._measures[measure]] = None
        elif len(plain) == length:
            said.is_change |= plain in plain_words("change")
            said.is_share |= plain in plain_words("share")
        else:
            said.kinds.add(kind)
        return length

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.fact.group for one in self._facts))

    @cached_property
    def _parts(self) -> Mapping[str, set[tuple[str, str]]]:
        """What a question may call a part: its label, with or without what its group's name ends with."""
        found: dict[str, set[tuple[str, str]]] = {}
        for one in self._facts:
            label, group = one.fact.label, one.fact.group
            for bare in {_plain_name(label), _plain_name(_BRACKETED.sub("", label))}:
                nouns = [group[at : at + 2] for at in range(len(group) - 1)]
                for noun in nouns:
                    found.setdefault(bare + noun, set()).add((label, noun))
                    if bare.endswith(noun) and len(bare) > len(noun):
                        found.setdefault(bare.removesuffix(noun), set()).add((label, noun))
                found.setdefault(bare, set()).add((label, ""))
        return {name: some for name, some in found.items() if name}

    @cached_property
    def _measures(self) -> Mapping[str, str]:
        """What a question may call what the columns tell: names of concepts and metrics, and the columns' own."""
        found: dict[str, str] = {}
        for one in self._facts:
            name = _plain_name(one.fact.column)
            if not _line_of(one.fact.column):
                found[name] = one.fact.column
                if len(name) == 3:  # 产量 of 生产量, 销量 of 销售量
                    found.setdefault(name[1:], one.fact.column)
                    found.setdefault(name[0] + name[2], one.fact.column)
        return _names() | found


def _once(facts: Sequence[StatedFact]) -> list[StatedFact]:
    """Without parts that a second table calls otherwise: all that is told of them is told of an earlier one."""
    of_part: dict[str, list[StatedFact]] = {}
    for one in facts:
        of_part.setdefault(one.fact.label, []).append(one)
    told: dict[tuple[tuple[str, str], ...], list[StatedFact]] = {}
    for some in of_part.values():
        told.setdefault(tuple((one.fact.column, one.fact.value) for one in some), some)
    return [one for some in told.values() for one in some]


def _is_change(one: StatedFact) -> bool:
    return re.search(LANGUAGES.alternatives("statements.breakdowns.change"), one.fact.column) is not None


def _tells(one: StatedFact, measure: str, said: _Said) -> bool:
    """Whether a column tells what is asked: the measure itself, its change too where that is asked, or its share."""
    column = one.fact.column
    is_share = re.search(LANGUAGES.alternatives("statements.breakdowns.share"), column)
    if is_share:
        return said.is_share and (_line_of(is_share["whole"]) or is_share["whole"]) == measure
    if said.is_share:
        return False
    change = re.search(LANGUAGES.alternatives("statements.breakdowns.change"), column)
    name = column[: change.start()] if change else column
    return (_line_of(name) or name) == measure and (said.is_change or not change)


def _line_of(name: str) -> str:
    """Id of the concept or metric that a column names; empty where it is none's."""
    concept = concept_of_label(name)
    if concept is not None:
        return concept.id
    return next((one.id for one in metrics().values() if name in one.names), "")


def _plain_name(text: str) -> str:
    return _SPACE.sub("", normalise(text))


def _names() -> dict[str, str]:
    """What a Chinese question calls concepts and metrics, to their ids."""
    return {"".join(key): line.id for key, line in plain_names().items()}


def _longest(text: str, at: int, names: Iterable[str]) -> str:
    return max((name for name in names if text.startswith(name, at)), key=len, default="")


def _shared(text: str, at: int, group: str) -> str:
    """The longest word there that the name of a kind of parts has too."""
    length = 0
    while at + length < len(text) and text[at : at + length + 1] in group:
        length += 1
    return text[at : at + length] if length >= _LEAST_NAME else ""


def _plain() -> frozenset[str]:
    return plain_words("frame") | plain_words("change") | plain_words("share") | plain_words("parts")
