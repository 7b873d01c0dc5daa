"""What a text says a figure is of: the words about it, those nearest first; alike for answers and for evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from quelea_fintext.glossary import gloss_phrases, known_phrases

from quelea_checker.model import Figure
from quelea_checker.reading import wording
from quelea_checker.reading.facts import content_terms

Terms = frozenset[str]
Translations = tuple[tuple[Terms, ...], ...]
Profile = Mapping[str, float]
"""How nearly each term is said of the figure: OWN to FAR."""

OWN, NEXT, BEHIND, CARRIED, FAR = 1.0, 0.9, 0.5, 0.25, 0.2
_MOST = 60
"""Figures of a sentence whose words are told apart."""
_LONGEST = 120
"""Characters before or behind a figure that are its own words."""
_BESIDE = 8
"""Characters before a figure that a quotation repeats."""
_BREAK = re.compile(r"[;；。]|\.(?=\s|$)")
_JOIN = re.compile(
    r",(?!\d)|[，、;；()（）|]|\b(?:and|while|whereas|but|versus|vs\.?|compared (?:to|with)|against)\b|[和与及而但]",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\s?(?:\[\d{1,3}\]\s?)?of [^,;()\d]{1,60}?\b(?:on|from|and|against|compared (?:to|with)|versus)\b", re.IGNORECASE
)
"""Behind an amount: what it is an amount of, up to what joins the next one."""
RESPECTIVELY = re.compile(r"\brespectively\b|分别", re.IGNORECASE)
_LISTED = (
    re.compile(r",\s{0,8}+(?:and\s{1,8})?|、|以及", re.IGNORECASE),
    re.compile(r",\s{0,8}+(?:and\s{1,8})?|\s{1,8}and\s{1,8}|\s{1,8}versus\s{1,8}|[、和与及]|以及", re.IGNORECASE),
)
"""What divides the items of a list: the names of items have "and" as well."""
_SAID = content_terms(
    "q h quarter quarterly annual fiscal year month half period ended ending three six nine twelve "
    "january february march april may june july august september october november december first second "
    "third fourth compared respectively approximately million billion thousand company amount amounted "
    "report reported record recorded came stood 季度 一季度 二季度 三季度 四季度 前三季度 年度 财年 "
    "上半年 下半年 月 年 同期 同比 环比 分别 约 达 达到 实现 其中 亿 万 亿元 万元 美元 亿美元 人民币 公司 "
    "增长 长 下降 增加 减少 上升 较 比 报告期 本期 上年 去年 截至 "
)
"""Terms of times, units and saying: they tell no thing apart."""


@dataclass(frozen=True, slots=True)
class WordZone:
    """The words about one figure of a sentence.

    Attributes:
        before: Its own, in front of it.
        behind: Its own, behind it.
        carried: The subject of the clauses before, that may be carried over to it.
        beside: The last characters in front of it.
    """

    before: str = ""
    behind: str = ""
    carried: str = ""
    beside: str = ""


@lru_cache(maxsize=16384)
def distinctive_terms(text: str) -> Terms:
    """The terms of a text that can tell one thing from another."""
    return content_terms(wording.strip_direction(text)) - _SAID


@lru_cache(maxsize=4096)
def distinctive_terms_across(text: str) -> Terms:
    """The same with what they are called in the other language."""
    return distinctive_terms(text) | distinctive_terms(" ; ".join(gloss_phrases(text)))


@lru_cache(maxsize=4096)
def find_translations(text: str) -> Translations:
    """For each thing that a text names, the terms of each way to call it in the other language."""
    every = (tuple(distinctive_terms(phrase) for phrase in phrases) for phrases in known_phrases(text)[0])
    return tuple(tuple(terms for terms in thing if terms) for thing in every)


def find_word_zones(sentence: str, amounts: Sequence[Figure], *, known: bool = False) -> dict[int, WordZone]:
    """By the start of a figure of a sentence, the words about it; none of a list that cannot be taken apart.

    What stands between two figures is the first one's up to the first comma or "and", and the second one's from there;
    where nothing stands before the first figure, it is the first one's: "5 of A and 4 of B". Of a list with
    "respectively" the items are the figures' in their order.

    Args:
        known: Of a list that cannot be taken apart, each figure has all the words.
    """
    if not amounts or len(amounts) > _MOST:
        return {}
    opening = sentence[: amounts[0].start]
    listed = _split_respective(opening, sentence, amounts)
    if listed is None:
        if not known:
            return {}
        listed = {figure.start: opening for figure in amounts}
    ahead = bool(distinctive_terms(opening)) or not distinctive_terms(sentence[amounts[0].end :])
    found = {}
    carried = ""
    for at, figure in enumerate(amounts):
        first = amounts[at - 1].end if at else 0
        last = amounts[at + 1].start if at + 1 < len(amounts) else len(sentence)
        before, behind = sentence[first : figure.start], sentence[figure.end : last]
        if not at:
            before = _after_break(before)
        elif ahead:
            before = before[_find_cut(before, amounts[at - 1]) :]
        else:
            before = ""
        if last == len(sentence):
            stop = _BREAK.search(behind)
            behind = behind[: stop.start()] if stop else behind
        elif ahead:
            behind = behind[: _find_cut(behind, figure)]
        if figure.start in listed:
            before, behind = listed[figure.start], ""
        beside = sentence[max(0, figure.start - _BESIDE) : figure.start]
        found[figure.start] = WordZone(before[-_LONGEST:], behind[:_LONGEST], carried, beside)
        if distinctive_terms(before):
            carried = before[-_LONGEST:]
    return found


def _after_break(text: str) -> str:
    end = len(text)
    for match in reversed([*_BREAK.finditer(text)]):
        if distinctive_terms(text[match.end() : end]):
            return text[match.end() :]
        end = match.end()
    return text


def _find_cut(between: str, first: Figure) -> int:
    """Where the words of the second of two figures begin: of "$6 million of income on $23 million", behind "on"."""
    if first.kind == "number" and (own := _OF.match(between)) and distinctive_terms(own[0]):
        return own.end()
    match = _JOIN.search(between)
    if match and distinctive_terms(between[match.end() :]):
        return match.end()
    return 0 if distinctive_terms(between) else len(between)


def _split_respective(opening: str, sentence: str, amounts: Sequence[Figure]) -> dict[int, str] | None:
    """ "A and B were 5 and 4, respectively": each figure's own item; None where there are not as many as figures."""
    if len(amounts) < 2 or not RESPECTIVELY.search(sentence):
        return {}
    for divider in _LISTED:
        items = [item for item in divider.split(opening) if distinctive_terms(item)]
        if len(items) == len(amounts):
            return {figure.start: item for figure, item in zip(amounts, items, strict=True)}
    return None


def build_profile(
    zone: WordZone, sentence: str, heard: Callable[[str], Terms] = distinctive_terms, question: str = ""
) -> dict[str, float]:
    """How nearly each term is said of a figure: by its own words, and where it has none by those carried to it."""
    found: dict[str, float] = dict.fromkeys(heard(question), FAR) if question else {}
    found |= dict.fromkeys(heard(sentence), FAR)
    own, behind = heard(zone.before), heard(zone.behind)
    found |= dict.fromkeys(heard(zone.carried), CARRIED if own or behind else OWN)
    found |= dict.fromkeys(behind, BEHIND if own else NEXT)
    found |= dict.fromkeys(own, OWN)
    return found
