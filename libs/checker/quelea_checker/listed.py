"""Figures that a sentence hands out in order ("A and B were 5 and 3, respectively", A和B分别为5和3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from quelea_checker.facts import Evidence
from quelea_checker.matching import Claim, same_currency, same_kind, sizes
from quelea_checker.model import Figure
from quelea_checker.passage_facts import Fact, content
from quelea_checker.times import fits

_IN_ORDER = re.compile(r"\brespectively\b|\bin that order\b|分别|依次", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:,? and|,|、|和|与|及|以及|，)\s*(?:by |to |at |about )?[$€£¥]?\s*", re.IGNORECASE)
_MORE = re.compile(r"\s*(?:,? and\b|,|，|、|和|与|及|以及)\s*", re.IGNORECASE)
_NOT_NAMED = re.compile(
    r"\b(?:was|were|is|are|totall?ed|reached|came|amounted|stood|had|rose|fell|grew|increased|decreased|declined|of|in"
    r"|at|for|during|made|recorded|reported|accounted|represented)\b|分别|依次|实现|达到?|为|是|占",
    re.IGNORECASE,
)
_NO_THING = re.compile(r"分别|依次|同比|环比|增长|下降|减少|增加|提高|\b(?:year|quarter)[- ]over[- ](?:year|quarter)\b")
_MOST = 60
_LONGEST = 8
_BRACKETS = re.compile(r"\s*\([^()]*\)|[:：*]")


def broken(sentence: str, figures: Sequence[Figure], evidence: Evidence) -> Iterator[int]:
    """Starts of figures that stand in the other order than what they are said of, in all the places they stand in."""
    if not _IN_ORDER.search(sentence):
        return
    amounts = [f for f in figures if f.period is None]
    times = tuple(f.period for f in figures if f.period is not None)
    terms = content(sentence)
    for run in _runs(sentence, amounts):
        standing = []
        for figure in run:
            claim = Claim(figure, sentence, "", terms, times, times, 0)
            standing.append(list(_standing(claim, evidence)))
        for at, to in combinations(range(min(len(run), _LONGEST)), 2):
            if run[at].size != run[to].size and _turned(sentence, run, (at, to), standing, evidence):
                yield run[at].start
                yield run[to].start


def _runs(sentence: str, amounts: Sequence[Figure]) -> Iterator[list[Figure]]:
    """Figures of one kind in a list, two and more."""
    run: list[Figure] = []
    for figure in amounts:
        if run and run[-1].kind == figure.kind and _JOINED.fullmatch(sentence[run[-1].end : figure.start]):
            run.append(figure)
            continue
        if len(run) > 1:
            yield run
        run = [figure]
    if len(run) > 1:
        yield run


def _standing(claim: Claim, evidence: Evidence) -> Iterator[Fact]:
    figure = claim.figure
    seen: set[int] = set()
    for power in (0,) if figure.kind != "number" else (0, 3, 4, 6, 8, 9):
        low = (figure.size - claim.tolerance).scaleb(-power)
        high = (figure.size + claim.tolerance).scaleb(-power)
        for fact in evidence.near(low, high, _MOST):
            if id(fact) not in seen and same_kind(figure, fact) and same_currency(figure, fact):
                seen.add(id(fact))
                if sizes(claim, fact) is not None and fits(claim.periods, fact.periods, fact.years):
                    yield fact


def _turned(
    sentence: str, run: Sequence[Figure], pair: tuple[int, int], standing: Sequence[Sequence[Fact]], evidence: Evidence
) -> bool:
    """Two figures are, wherever it is known, of what the sentence names the other way round."""
    verdicts = {
        _order(sentence, run, pair, one, other, evidence)
        for one in standing[pair[0]]
        for other in standing[pair[1]]
        if one is not other
    }
    return False in verdicts and True not in verdicts


def _order(
    sentence: str, run: Sequence[Figure], pair: tuple[int, int], one: Fact, other: Fact, evidence: Evidence
) -> bool | None:
    """Whether two facts stand in the order in which the sentence names what they are of; None where it is not known."""
    if one.table >= 0 and other.table >= 0:
        if one.table != other.table or one.column != other.column:
            return None
        rows = [evidence.groups[f.group] for f in (one, other)]
        names = [g.section for g in rows] if rows[0].label == rows[1].label else [g.label for g in rows]
        part = sentence[: run[0].start]
        first, second = (_place(part, *pair) or _place(part, *_own(*pair)) for pair in (names, names[::-1]))
        return None if not first or not second or first == second else first < second
    if one.table >= 0 or other.table >= 0:
        return None
    said = _chunks(sentence, run[0].start, len(run))
    return None if said is None else _in_prose(said[pair[0]], said[pair[1]], one, other, evidence)


def _place(part: str, label: str, other: str) -> int:
    """Where a text names a row, from 1; 0 where it does not, or more than once, or not by another name than `other`."""
    name = _BRACKETS.sub("", label).strip()
    if len(name) < 2 or name == _BRACKETS.sub("", other).strip():  # one letter names nothing
        return 0
    bounded = rf"\b{re.escape(name)}\b" if name[0].isascii() else re.escape(name)
    found = [m.start() for m in re.finditer(bounded, part, re.IGNORECASE)]
    return found[0] + 1 if len(found) == 1 else 0


def _own(label: str, other: str) -> tuple[str, str]:
    """The labels without the words that both end with: "Advertising" and "Subscription" of two kinds of services."""
    one, two = _BRACKETS.sub("", label).split(), _BRACKETS.sub("", other).split()
    while one and two and one[-1].lower() == two[-1].lower():
        one, two = one[:-1], two[:-1]
    return " ".join(one), " ".join(two)


def _in_prose(a: frozenset[str], b: frozenset[str], one: Fact, other: Fact, evidence: Evidence) -> bool | None:
    """By the words about either: of "A and B were 5 and 3, respectively" A and B, else those before the figure."""
    c, d = (_about(fact, evidence) for fact in (one, other))
    straight = (a - b) & (c - d), (b - a) & (d - c)
    across = (a - b) & (d - c), (b - a) & (c - d)
    if all(across) and not all(straight):  # what stands before the first and behind the last is of both
        return False
    return True if any(straight) and not any(across) else None


def _about(fact: Fact, evidence: Evidence) -> frozenset[str]:
    """The terms of what a figure of prose is said of."""
    words, facts = fact.words, sorted(evidence.groups[fact.group].facts, key=lambda f: f.figure.start)
    place = next(n for n, f in enumerate(facts) if f.figure.start == fact.figure.start)
    if _IN_ORDER.search(words):
        runs = _runs(words, [f.figure for f in facts])
        own = next((run for run in runs if fact.figure in run), None)
        if own:  # "A and B were 5 and 3, up 10% and 20%, respectively": the first list of as many is behind the names
            first = next(run for run in _runs(words, [f.figure for f in facts]) if len(run) == len(own))
            chunks = _chunks(words, first[0].start, len(own))
            if chunks is not None:
                return chunks[own.index(fact.figure)]
    before = facts[place - 1].figure.end if place else 0
    return content(words[before : fact.figure.start])


def _chunks(text: str, before: int, count: int) -> list[frozenset[str]] | None:
    """The terms of the last so many things that are listed before a place; None where so many are not."""
    pieces = [piece for piece in _MORE.split(text[:before]) if content(_NO_THING.sub(" ", piece))][-count:]
    if len(pieces) < count:
        return None
    cut = _NOT_NAMED.search(pieces[-1], 1)
    pieces[-1] = pieces[-1][: cut.start()] if cut else pieces[-1]
    chunks = [content(piece) for piece in pieces]
    return chunks if all(chunks) else None
