"""Figures of a company's parts (products, regions, subsidiaries) that a question asks for, from its breakdowns.

What names a part, or a kind of parts, is what the company's own tables print. Everything that a question says must be
one of these, a line, a period or a word of no weight: of a question that says more, nothing is answered here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from quelea_fintext.asked_lines import in_chinese, plain_names, plain_words, without_periods
from quelea_fintext.concepts import concept_of_label
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import metrics
from quelea_fintext.numerals import how_many
from quelea_fintext.text import language_of, normalise

from quelea_retriever.core.figures.statement_facts import BREAKDOWN, FactQuery, StatedFact

MOST_FIGURES = 40
_SPACE = re.compile(r"\s+")
_BRACKETED = re.compile(r"[（(][^（）()]{0,20}[）)]")
_LONGEST_NAME = 64
"""No name is longer: of a part with the noun of its kind, of a column, of a line."""
_PROSE = LANGUAGES.pattern("questions.prose")
_RANK = LANGUAGES.pattern("questions.rank")
_PLACELESS = ("其他", "其它", "其中")
_LEAST_NAME = 2
"""Characters of a question's words that name a kind of parts."""


@dataclass(slots=True)
class _Said:
    """What a question says of parts."""

    parts: list[frozenset[tuple[str, str]]] = field(default_factory=list)
    """For each name of a part what it may mean: (label, what its group's name must have)."""
    kinds: set[str] = field(default_factory=set)
    measures: dict[str, None] = field(default_factory=dict)
    """Ids of concepts and metrics, else a column's name, in the order of the question."""
    units: set[str] = field(default_factory=set)
    """In which something is counted, which names its column where nothing else does: "多少股"."""
    is_change: bool = False
    falls: bool = False
    is_share: bool = False
    rank: int = 0
    """Of which place: 1 the largest, 2 the second, -1 the smallest; 0 where none is asked for."""


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
        if said is None or not (said.parts or said.kinds) or not (said.measures or said.units or said.rank):
            return []
        facts = [one for one in self._facts if is_of_time(one)]
        for group, own in _by(facts, lambda one: one.fact.group).items():
            if not all(kind in group for kind in said.kinds):
                continue
            found = self._of_group(said, own)
            if found or (said.rank and len(_ranked(said, own)) > 1):  # a second table breaks no tie of the first
                return found if len(found) <= MOST_FIGURES else []
        return []

    def _of_group(self, said: _Said, facts: Sequence[StatedFact]) -> list[StatedFact]:
        """What is asked of the parts of one kind; none where one figure is missing."""
        labels = {one.fact.label for one in facts}
        each = [{one for one, kind in some if kind in facts[0].fact.group and one in labels} for some in said.parts]
        if not all(each):
            return []
        if said.rank:
            return _of_rank(said, facts) if not said.parts else []
        measures = _measures_of(said, facts)
        wanted = {label for some in each for label in some}
        found: list[StatedFact] = []
        for label, own in _by(facts, lambda one: one.fact.label).items():
            if wanted and label not in wanted:
                continue
            for measure in measures:
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
        if rank := _RANK.match(text, at):
            if said.rank:  # of two places
                return 0
            said.rank = how_many(rank["nth"]) if rank["nth"] else -1 if rank["least"] else 1
            return len(rank[0])
        part = _longest(text, at, self._parts)
        measure = _longest(text, at, self._measures)
        unit = "" if measure else _longest(text, at, self._counted)
        kind = self._kind(text, at)
        plain = _longest(text, at, _plain())
        length = max(len(one) for one in (part, measure, unit, kind, plain))
        if not length:
            return 0
        if len(part) == length:
            said.parts.append(frozenset(self._parts[part]))
        elif len(measure) == length:
            said.measures[self._measures[measure]] = None
        elif len(unit) == length:
            said.units.add(unit)
        elif len(plain) == length:
            said.is_change |= plain in plain_words("change")
            said.falls |= plain in plain_words("falls")
            said.is_share |= plain in plain_words("share") | plain_words("ratio")
        else:
            said.kinds.add(kind)
        return length

    def _kind(self, text: str, at: int) -> str:
        """The longest word there that the name of a kind of parts has too, and that says something by itself."""
        if text[at : at + _LEAST_NAME] not in self._beginnings:
            return ""
        kind = max((_shared(text, at, group) for group in self._kinds), key=len, default="")
        return "" if _is_plain(kind) or _PROSE.fullmatch(kind) else kind

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """All that a word of a kind can begin with: most places of a question need no look at each kind."""
        return frozenset(
            group[at : at + _LEAST_NAME] for group in self._kinds for at in range(len(group) - _LEAST_NAME + 1)
        )

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._kind_of.values()))

    @cached_property
    def _kind_of(self) -> Mapping[str, str]:
        """What a group's name says of its parts: without the measures that a title names besides (各地区的营业收入)."""
        return {group: self._without_measures(group) for group in dict.fromkeys(one.fact.group for one in self._facts)}

    def _without_measures(self, group: str) -> str:
        kept, at = [], 0
        while at < len(group):
            name = _longest(group, at, self._measures)
            kept.append(" " if name else group[at])
            at += len(name) or 1
        return "".join(kept)

    @cached_property
    def _parts(self) -> Mapping[str, set[tuple[str, str]]]:
        """What a question may call a part: its label, with or without what its group's name ends with."""
        found: dict[str, set[tuple[str, str]]] = {}
        for label, group in dict.fromkeys((one.fact.label, one.fact.group) for one in self._facts):
            for bare in {_plain_name(label), _plain_name(_BRACKETED.sub("", label))}:
                kind = self._kind_of[group]
                nouns = (kind[at : at + 2] for at in range(len(kind) - 1))
                for noun in (one for one in nouns if " " not in one):
                    found.setdefault(bare + noun, set()).add((label, noun))
                    if bare.endswith(noun) and len(bare) > len(noun):
                        found.setdefault(bare.removesuffix(noun), set()).add((label, noun))
                found.setdefault(bare, set()).add((label, ""))
        return {name: some for name, some in found.items() if name}

    @cached_property
    def _measures(self) -> Mapping[str, str]:
        """What a question may call what the columns tell: names of concepts and metrics, and the columns' own."""
        found: dict[str, str] = {}
        for column in dict.fromkeys(one.fact.column for one in self._facts):
            name = _plain_name(column)
            if not _line_of(column):
                found[name] = column
                bare = name
                while before := _longest(bare, 0, plain_words("frame")):
                    bare = bare[len(before) :]
                    if len(bare) > 1:  # 持股数量 of 报告期末持股数量
                        found.setdefault(bare, column)
                if len(name) == 3:  # 产量 of 生产量, 销量 of 销售量
                    found.setdefault(name[1:], column)
                    found.setdefault(name[0] + name[2], column)
        return _names() | found

    @cached_property
    def _counted(self) -> frozenset[str]:
        """Units of what is counted or weighed."""
        return frozenset(one.unit for one in self._facts if not one.unit.isascii())


def _measures_of(said: _Said, facts: Sequence[StatedFact]) -> list[str]:
    """What is asked of a group's parts; by the unit alone where one column has it."""
    columns = dict.fromkeys(one.fact.column for one in facts if one.unit in said.units)
    return list(said.measures) or (list(columns) if len(columns) == 1 else [])


def _ranked(said: _Said, facts: Sequence[StatedFact]) -> list[StatedFact]:
    """Figures by which a group's parts are ranked, the first place first: the first thing that is asked, else the first
    column. What is left over (其他) or counted within another row (其中) has no place."""
    first = next(iter(_measures_of(said, facts)), "")
    ranking = [
        one
        for one in facts
        if not one.fact.label.startswith(_PLACELESS)
        and (not first or (_tells(one, first, said) and _is_change(one) is said.is_change))
    ]
    by = [one for one in ranking if one.fact.column == ranking[0].fact.column]
    return sorted(by, key=lambda one: one.amount, reverse=said.rank > 0)


def _of_rank(said: _Said, facts: Sequence[StatedFact]) -> list[StatedFact]:
    """What is asked of the largest part, the second, …; all that is told of it where nothing else is asked."""
    ranked, place = _ranked(said, facts), abs(said.rank) - 1
    if said.falls or len({one.unit for one in ranked}) != 1:
        return []  # what fell most has the least change
    if len({one.fact.label for one in ranked}) < max(2, place + 1, len(ranked)):
        return []
    if [one.amount for one in ranked].count(ranked[place].amount) > 1:
        return []  # nobody knows which of the two is meant
    own = [one for one in facts if one.fact.label == ranked[place].fact.label]
    measures = _measures_of(said, facts)
    if not measures:
        return own
    each = [[one for one in own if _tells(one, measure, said)] for measure in measures]
    return [one for some in each for one in some] if all(each) else []


def _once(facts: Sequence[StatedFact]) -> list[StatedFact]:
    """Without parts that a second table calls otherwise: all that is told of them is told of an earlier one."""
    told: dict[tuple[tuple[str, str], ...], list[StatedFact]] = {}
    for some in _by(facts, lambda one: one.fact.label).values():
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
    metric = next((one.id for one in metrics().values() if name in one.names), "")
    return metric or _names().get(_plain_name(name), "")  # a column that is called as questions call a line: 销售额


def _plain_name(text: str) -> str:
    return _SPACE.sub("", normalise(text))


@cache
def _names() -> dict[str, str]:
    """What a Chinese question calls concepts and metrics, to their ids."""
    return {"".join(key): line.id for key, line in plain_names().items()}


def _by(facts: Iterable[StatedFact], key: Callable[[StatedFact], str]) -> dict[str, list[StatedFact]]:
    found: dict[str, list[StatedFact]] = {}
    for one in facts:
        found.setdefault(key(one), []).append(one)
    return found


def _longest(text: str, at: int, names: Container[str]) -> str:
    lengths = range(min(_LONGEST_NAME, len(text) - at), 0, -1)
    return next((name for length in lengths if (name := text[at : at + length]) in names), "")


def _is_plain(text: str) -> bool:
    """Whether it is made of nothing but words of no weight: "公司情况"."""
    at = 0
    while at < len(text):
        length = len(_longest(text, at, _plain()))
        if not length:
            return False
        at += length
    return True


def _shared(text: str, at: int, group: str) -> str:
    """The longest word there that the name of a kind of parts has too."""
    length = 0
    while at + length < len(text) and text[at : at + length + 1] in group:
        length += 1
    return text[at : at + length] if length >= _LEAST_NAME else ""


def _plain() -> frozenset[str]:
    return plain_words("frame") | plain_words("change") | plain_words("share") | plain_words("parts")
