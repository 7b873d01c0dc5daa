"""Which fact of the evidence a figure of the answer is said of: the words about it fit one fact better than others."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from quelea_checker.matching.profiles import (
    CARRIED,
    FAR,
    OWN,
    Profile,
    Translations,
    WordZone,
    build_profile,
    distinctive_terms,
    find_word_zones,
)
from quelea_checker.reading.facts import Fact, Group, content_terms

_GROUPS = 16
"""Rows and sentences whose figures are set against the one that a figure of the answer is taken for."""
_SPREAD = 120
"""Rows and sentences that a term may stand in and still lead to them."""
_NAME, _LABEL, _COLUMN, _SECTION, _HEADER = 1.0, 0.95, 0.8, 0.6, 0.3
"""How nearly the words of a row, its column, its section and its passage's header are said of a cell; a name is what
remains of a row's label without brackets and words that many have."""
_GAIN, _LOSS = 1.0, 1.5
"""What two figures must gain together by being exchanged, and how much one of them may lose. Hand-set: of pairs of
figures in true sentences of the development data one in a thousand gains so much."""
_CLEAN = 1.0
"""What a rival must say more, and half of which the fact may say more, for it to be plainly the rival."""
_MORE, _MORE_BESIDE = 1.0, 2.0
"""The same at the least, of a rival elsewhere and of one in the same sentence, whose words are of both at times."""
_UNSAID = 0.3
"""What a word of a fact's name that the answer does not say takes from its fit."""
_TOTALS = content_terms("total sum 总额 总计 合计 共计 总数 总量 总和")
"""A total is a total of something: alone such a word names nothing."""
_OWNER = re.compile(r"[^()·]{1,60}(?= [(·])")
"""At the head of a title: whose document it is."""
Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FactWords:
    """What the evidence says a fact is of."""

    words: Profile
    beside: str


class Binder:
    """The words about each fact of the evidence, worked out when they are first asked for.

    Args:
        groups: Rows and sentences.
        by_term: Those with figures, by each of their terms.
        titles: The passages' headers.
    """

    def __init__(self, groups: Sequence[Group], by_term: Mapping[str, Sequence[Group]], titles: Sequence[str]) -> None:
        self._groups = groups
        self._by_term = by_term
        self._titles = titles
        self._named: dict[Key, FactWords] = {}
        self._zones: dict[int, dict[int, WordZone]] = {}
        self._weights: dict[str, float] = {}
        self._headers: dict[int, frozenset[str]] = {}

    def weight(self, term: str) -> float:
        """How rare a term is among the rows and sentences with figures; 0 of one that none has."""
        known = self._weights.get(term)
        if known is None:
            groups = len(self._by_term.get(term, ()))
            known = self._weights[term] = math.log((len(self._groups) + 1) / groups) if groups else 0.0
        return known

    def of(self, fact: Fact) -> FactWords:
        """What is said of a fact."""
        key = fact.group, fact.column, fact.figure.start
        known = self._named.get(key)
        if known is None:
            known = self._named[key] = self._read(fact)
        return known

    def _read(self, fact: Fact) -> FactWords:
        group = self._groups[fact.group]
        if fact.passage not in self._headers:
            self._headers[fact.passage] = content_terms(self._titles[fact.passage]) | self.owner(fact)
        found = dict.fromkeys(self._headers[fact.passage], _HEADER)
        if fact.table >= 0:
            found |= dict.fromkeys(distinctive_terms(fact.words), _COLUMN)
            found |= dict.fromkeys(distinctive_terms(group.section), _SECTION)
            found |= dict.fromkeys(distinctive_terms(group.label), _LABEL)
            found |= dict.fromkeys(group.name & distinctive_terms(group.label), OWN)
            return FactWords(found, "")
        zoned = self._zones.get(fact.group)
        if zoned is None:
            zoned = self._zones[fact.group] = find_word_zones(group.label, [f.figure for f in group.facts], known=True)
        zone = zoned.get(fact.figure.start, WordZone())
        return FactWords({**found, **build_profile(zone, group.label)}, zone.beside)

    def owner(self, fact: Fact) -> frozenset[str]:
        """The terms of whose document it is, as the header begins: also written as one word, ExxonMobil."""
        name = _OWNER.match(self._titles[fact.passage])
        return content_terms(f"{name[0]} {''.join(name[0].split())}") if name else frozenset()

    def score(self, said: Profile, fact: Fact) -> float:
        """How well the words said of a figure fit a fact: rare words of both, less those that only the fact has."""
        return self.fit(said, fact) - _UNSAID * self.unsaid(said, fact)

    def fit(self, said: Profile, fact: Fact) -> float:
        """How much of what is said of a figure is said of a fact."""
        words = self.of(fact).words
        return sum(near * words[term] * self.weight(term) for term, near in said.items() if term in words)

    def unsaid(self, said: Profile, fact: Fact) -> float:
        """How much of a row's name is not said; in prose what stands beside a figure is more than its name."""
        if fact.table < 0:
            return 0.0
        words = self.of(fact).words
        return sum(self.weight(t) for t, near in words.items() if near >= _NAME and t not in said)

    def near(self, said: Profile) -> list[Group]:
        """Rows and sentences with the rarest terms that are said of a figure."""
        scores: dict[int, float] = {}
        for term, near in said.items():
            own = self._by_term.get(term, ()) if near > FAR else ()
            if 0 < len(own) <= _SPREAD:
                weight = near * self.weight(term)
                for group in own:
                    number = group.facts[0].group
                    scores[number] = scores.get(number, 0.0) + weight
        return [self._groups[n] for n in sorted(scores, key=lambda n: -scores[n])[:_GROUPS]]


FEATURES = (
    "more", "less", "far_more", "far_less", "unsaid", "rival_unsaid", "covered", "beside", "rival_beside", "prose",
    "rival_prose", "same_group", "same_table", "digits", "across", "undated", "known", "more_share", "less_share",
    "gap", "rival_undated", "clean", "clean_table", "named",
)  # fmt: skip


def rival_features(
    binder: Binder, said: Profile, beside: str, own: Fact, rival: Fact, digits: int, ways: Translations | None
) -> list[float]:
    """What tells whether a rival is what a figure is said of, rather than the fact that it is taken for.

    Args:
        ways: Across languages, what can be said of each thing that is named: 收入, 营收 and 营业收入 are all revenue,
            and a rival that says it otherwise than the fact says no more. None: of one language.
    """
    mine, its = binder.of(own), binder.of(rival)
    more = less = far_more = far_less = covered = every = 0.0
    known = frozenset(term for term, near in mine.words.items() if near > FAR)
    same = frozenset[str]().union(*(term for thing in ways or () if any(w <= known for w in thing) for term in thing))
    shared = binder.owner(own) & binder.owner(rival)
    apart = own.table < 0 and own.group != rival.group
    bare = not any(near > CARRIED and term in its.words for term, near in said.items() if term not in _TOTALS)
    for term, near in said.items():
        weight = binder.weight(term)
        if not weight:
            continue
        there = mine.words.get(term, 0.0)
        gap = its.words.get(term, 0.0) - there
        if near <= FAR:
            far_more += weight * max(gap, 0.0)
            far_less += weight * max(-gap, 0.0)
            continue
        every += near * weight
        covered += near * weight * there
        if (apart and term in mine.words) or term in shared:
            gap = min(gap, 0.0)  # its sentence says it as well, or it is whose figures both are
        if near > CARRIED and term not in same and not (bare and term in _TOTALS):
            more += near * weight * max(gap, 0.0)
        less += near * weight * max(-gap, 0.0)
    unsaid, its_unsaid = binder.unsaid(said, own), binder.unsaid(said, rival)
    clean = float(more > _CLEAN and less < _CLEAN / 2 and its_unsaid <= unsaid)
    near = binder.score(said, rival) - binder.score(said, own)
    return [
        min(more, 15.0), min(less, 15.0), min(far_more, 15.0), min(far_less, 15.0),
        min(unsaid, 15.0), min(its_unsaid, 15.0),
        covered / every if every else 0.5, float(bool(beside) and mine.beside == beside),
        float(bool(beside) and its.beside == beside), float(own.table < 0), float(rival.table < 0),
        float(own.group == rival.group), float(own.table == rival.table >= 0), float(min(digits, 5)),
        float(ways is not None),
        float(bool(rival.periods) and not own.periods), min(every, 15.0), more / every if every else 0.0,
        less / every if every else 0.0, max(-15.0, min(15.0, near)),
        float(bool(own.periods) and not rival.periods), clean, clean * (own.table == rival.table >= 0),
        float(its_unsaid == 0.0),
    ]  # fmt: skip


def find_best(binder: Binder, said: Profile, facts: Iterable[Fact]) -> Fact:
    """The fact that the words fit best."""
    return max(facts, key=lambda fact: binder.score(said, fact))


@dataclass(frozen=True, slots=True)
class FigureMatch:
    """A figure of a sentence, by what is said of it, and the facts that it may be."""

    said: Profile
    facts: Sequence[Fact]


def are_exchanged(binder: Binder, one: FigureMatch, other: FigureMatch) -> bool:
    """Whether two figures of a sentence fit each other's facts better, by about a rare word or more, than their own."""
    ways = ((one, other), (other, one))
    gains = [_best_score(binder.score, a.said, b.facts) - _best_score(binder.score, a.said, a.facts) for a, b in ways]
    if sum(gains) <= _GAIN:
        return False  # what neither says of a long sentence takes the same from both
    return all(
        _best_score(binder.fit, a.said, b.facts) - _best_score(binder.fit, a.said, a.facts) > -_LOSS for a, b in ways
    )


def _best_score(fit: Callable[[Profile, Fact], float], said: Profile, facts: Iterable[Fact]) -> float:
    return max(fit(said, fact) for fact in facts)


@cache
def _weights() -> tuple[tuple[tuple[float, float, float], ...], float, float]:
    """(mean, scale, weight) of each feature, in the order of FEATURES; intercept; threshold as logit."""
    text = resources.files("quelea_checker.binding").joinpath("weights.json").read_text("utf-8")
    fitted = json.loads(text)
    each = tuple((f["mean"], f["scale"], f["weight"]) for f in (fitted["features"][name] for name in FEATURES))
    return each, fitted["intercept"], math.log(fitted["threshold"] / (1 - fitted["threshold"]))


def is_rival(values: Sequence[float]) -> bool:
    """Whether the features of a rival say that it is what the figure is said of.

    It must say words that the fact lacks: a fact of other words alone may be a paraphrase.
    """
    seen = dict(zip(FEATURES, values, strict=True))
    if seen["same_table"]:
        if not seen["more"]:
            return False  # the table's words are few, and may all be frequent ones
    elif seen["more"] < (_MORE_BESIDE if seen["same_group"] else _MORE):
        return False
    if seen["clean_table"] and seen["named"] and not seen["less"]:
        return True  # all that its name says is said, and more than of the fact
    each, total, least = _weights()
    for value, (mean, scale, weight) in zip(values, each, strict=True):
        total += (value - mean) / scale * weight
    return total > least
