"""Counts of things in words: "six vessels" where the evidence has five, "both", "three of the four", 六家子公司."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from quelea_fintext.numerals import CARDINAL_WORD, number
from quelea_fintext.text import CJK, stem, words

from quelea_checker.passage_facts import content
from quelea_checker.periods import find_periods
from quelea_checker.times import fits

_N = rf"(?:{CARDINAL_WORD}|\d{{1,3}}(?![\d.,%]\d|%))"
_EN = re.compile(
    rf"\b(?:(?P<both>both)|(?P<all>all )?(?P<n>{_N})"
    rf"(?: of (?:(?:the|its|our|their|these|those|his|her) )?(?P<of>{_N}))?)"
    r"(?: (?:the|its|our|their|of the))?(?P<between>(?: [a-z][a-z-]+){0,2}?) (?P<noun>(?!points\b|times\b|percent"
    r"|thousands|millions|billions|dollars|euros|cents|shares|hours|days|weeks|months|quarters|years|others|was\b|is\b"
    r"|has\b|this\b)(?:[a-z-]+[^su\W]s|[a-z]+sses|people))\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"\b(?:of|in|for|to|at|on|by|from|with|and|or|the|than|is|are|was|were|has|have|per|percent|million|billion|thousand"
    r"|hundred|basis|fiscal)\b|(?:ed|ly)\b"
)
"""Between a count and its noun: it counts something else."""
_ZH = re.compile(
    r"(?<![第\d.,零〇一二两三四五六七八九十百千万])(?P<n>[二两三四五六七八九十百]{1,4}|\d{1,3})(?P<unit>家|座|名|位|艘|项|款|条|间|处|台|辆|架"
    r"|套|笔|起|件|种|类|所|栋|幢|个(?!月|季|百分|基点|财|年|小时|交易日|工作日)|大(?=[\u4e00-\u9fff]))(?P<noun>[\u4e00-\u9fff]{2,8})"
)
_REST = re.compile(r"\b(?:other|others|remaining|rest|besides)\b|其余|其他|其它|另外", re.IGNORECASE)
_NUMERAL = re.compile(rf"[一二两三四五六七八九十百](?!\w{{3}})|{CARDINAL_WORD}$")
_ABOUT = 0.5
"""Share of the sentence's other words that the evidence's sentence has, which counts otherwise."""
_FEW = 2


@dataclass(frozen=True, slots=True)
class Tally:
    """`number` things called `noun`, of `whole` that there are; 0 where that is not said. `spelled`: in words."""

    number: int
    whole: int
    noun: str
    spelled: bool


def is_miscounted(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether the evidence's sentences about the same count the same things otherwise, all of them."""
    said = [one for one in tallies(sentence) if one.spelled]
    if not said:
        return False
    terms = content(sentence)
    times = find_periods(sentence)
    near = []
    for text in evidence:
        found = tallies(text)
        if found and fits(times, find_periods(text), frozenset()):
            near.append((found, content(text)))
    return any(_is_other(one, terms, near, rest=bool(_REST.search(sentence))) for one in said)


def _is_other(
    one: Tally, terms: frozenset[str], near: Sequence[tuple[Sequence[Tally], frozenset[str]]], *, rest: bool
) -> bool:
    about = [t for t in terms if t != one.noun and not _NUMERAL.match(t)]
    alike = [
        other
        for found, own in near
        for other in found
        if other.noun == one.noun and sum(t in own for t in about) >= max(_ABOUT * len(about), min(_FEW, len(about)))
    ]
    if not alike:
        return False
    numbers = {n for other in alike for n in (other.number, other.whole) if n}
    if one.number == sum(numbers) or (rest and any(one.number == a - b for a in numbers for b in numbers)):
        return False
    parts = [other for other in alike if other.whole]
    if one.whole and parts:
        return all((one.number, one.whole) != (other.number, other.whole) for other in parts)
    return (one.whole or one.number) not in numbers


@lru_cache(maxsize=4096)
def tallies(text: str) -> tuple[Tally, ...]:
    """The counts of a text."""
    return tuple(_in_chinese(text) if CJK.search(text) else _in_english(text))


def _in_english(text: str) -> Iterator[Tally]:
    for match in _EN.finditer(text):
        if _WITHIN.search(match["between"]):
            continue
        counted = 2 if match["both"] else int(number(match["n"].lower()) or 0)
        whole = counted if match["both"] or match["all"] else int(number((match["of"] or "0").lower()) or 0)
        if counted > 1 or whole:
            yield Tally(counted, whole, stem(match["noun"].lower()), not (match["n"] or "x")[0].isdigit())


def _in_chinese(text: str) -> Iterator[Tally]:
    for match in _ZH.finditer(text):
        value = number(match["n"])
        things = [word for word in words(match["noun"]) if CJK.match(word)]
        if value is not None and things:
            yield Tally(int(value), 0, things[0], not match["n"][0].isdigit())
