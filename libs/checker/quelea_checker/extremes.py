"""What a sentence calls the largest rise or the smallest fall, where the evidence lists it at the other end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quelea_checker.facts import Evidence
from quelea_checker.model import Figure
from quelea_checker.passage_facts import Fact
from quelea_checker.superlatives import LEAST, MOST

_WORDS = re.compile(
    r"(?:(?:[涨跌增降]幅|增速|[增下][长降跌滑])[^,，;。\d]{0,3}"
    rf"(?:(?P<most>{MOST}|居首|居前|第一)|(?P<least>{LEAST}|垫底|居末)))"
    rf"|(?:(?:(?P<most2>{MOST})|(?P<least2>{LEAST}))"
    r" (?:percentage )?(?:increase|decrease|decline|drop|fall|rise|gain|growth|loss)\b)"
    r"|(?:\b(?:rose|grew|gained|fell|declined|dropped|lost) (?:the )?(?:(?P<most3>most)|(?P<least3>least))\b)",
    re.IGNORECASE,
)
_ELSE = re.compile(r"\bone of the $|\b(?:second|third)[- ]$|第[二三]|\bnot (?:the )?$", re.IGNORECASE)
_FEWEST = 3
"""Figures that are a list."""
_REACH = 40


def broken(sentence: str, figures: Sequence[Figure], evidence: Evidence) -> Iterator[int]:
    """Starts of percentages that are called the largest change and stand as the smallest in a list, or the reverse."""
    for word in _WORDS.finditer(sentence):
        if _ELSE.search(sentence[: word.start()][-16:]):
            continue
        most = bool(word["most"] or word["most2"] or word["most3"])
        behind = [f for f in figures if f.kind == "percent" and 0 <= f.start - word.end() <= _REACH]
        for figure in behind[:1]:
            lists = [(own, rest) for own in _standing(figure, evidence) if (rest := _alike(own, evidence))]
            if lists and all(_is_last(own, rest, most=most) for own, rest in lists):
                yield figure.start


def _standing(figure: Figure, evidence: Evidence) -> Iterator[Fact]:
    for fact in evidence.near(figure.size - figure.tolerance, figure.size + figure.tolerance, _REACH):
        if fact.table < 0 and fact.figure.kind == "percent":
            yield fact


def _alike(own: Fact, evidence: Evidence) -> list[Fact]:
    """The other percentages of its sentence that move the same way; none where they are no list."""
    ways: dict[int, list[Fact]] = {}
    way, mine = 0, 0
    for fact in evidence.groups[own.group].facts:
        if fact.figure.kind != "percent":
            continue
        way = fact.direction or way  # "fell 3% in A, 7% in B": the word is said once
        if fact is own:
            mine = way
        else:
            ways.setdefault(way, []).append(fact)
    rest = ways.get(mine, []) if mine else []
    return rest if len(rest) + 1 >= _FEWEST else []


def _is_last(own: Fact, rest: Sequence[Fact], *, most: bool) -> bool:
    sizes = [fact.figure.size for fact in rest]
    return own.figure.size < min(sizes) if most else own.figure.size > max(sizes)
