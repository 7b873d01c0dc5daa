"""Words that say the opposite of one another, in English and Chinese: up and down, before and after (opposites.txt).

An axis has two ends. Its words are signs of no language, so that a Chinese sentence can be held against an English one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from quelea_fintext.text import CJK, stem

_PHRASES = (
    (re.compile(r"\b(?:years?|quarters?|months?|period) (?:earlier|before|later|after)\b", re.IGNORECASE), "year"),
    (re.compile(r"\b(?:more than|over|at least) (?:a |one )?half\b", re.IGNORECASE), "overhalf"),
    (re.compile(r"\b(?:less than|under|fewer than|not even) (?:a |one )?half\b", re.IGNORECASE), "underhalf"),
    (re.compile(r"\b(?:less|least) likely\b", re.IGNORECASE), "unlikely"),
    (re.compile(r"\b(?:more|most) likely\b", re.IGNORECASE), "likely"),
    (re.compile(r"\bas follows\b|\bthe following\b(?= [a-z]+ (?:table|show|present|summari|set))", re.IGNORECASE), ""),
    (re.compile(r"\b(?:in|the) fall of\b", re.IGNORECASE), "autumn"),
    (re.compile(r"\bprior to\b|\bahead of\b|\bin advance of\b", re.IGNORECASE), "before"),
    (re.compile(r"\bas soon as\b|\bsubsequent to\b", re.IGNORECASE), "after"),
    (re.compile(r"\bvot(?:ed|e|es) for\b", re.IGNORECASE), "approved"),
    (re.compile(r"\bbrought forward\b", re.IGNORECASE), "early"),
    (re.compile(r"\bshort of\b", re.IGNORECASE), "insufficient"),
    (re.compile(r"\bloss-making\b", re.IGNORECASE), "lossmaking"),
    (re.compile(r"\bover-?capacity\b", re.IGNORECASE), "overcapacity"),
    (re.compile(r"\bfewer\b|\bless\b(?! than \d)", re.IGNORECASE), "lower"),
    (re.compile(r"\bmore\b(?=\s+\w+(?:\s+\w+)?\s+than\b)", re.IGNORECASE), "higher"),
)
_NOT = re.compile(
    r"\b(?:not|no|never|nor|neither|cannot|without|hardly)\b|n't\b|不(?!断|仅|但)|未(?!来|分配)|没有|无(?!形|锡|线)|并非",
    re.IGNORECASE,
)
_REACH_EN, _REACH_ZH = 24, 5
"""Characters before a word in which a "not" denies it."""
_WORD = re.compile(r"[A-Za-z]+")
_SINGLE = {"增", "涨", "减", "跌", "强", "弱", "高", "低", "前", "后"}
_COUPLED = re.compile(
    r"[目以日此当]前|前[期景三五十年]|[三五十]强|[增减]值|后[续期市]|[提升]高|[降减]低|高(?:新|管|科|速|端|度|于)|低于|加强|增强"
)
"""Words with a single character of _SINGLE in them that say nothing of its axis."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A word of an axis: text[start:end]; `end_of` is 1 or -1, turned round by a "not" before it."""

    axis: str
    end_of: int
    start: int
    end: int


_Ways = dict[str, list[tuple[str, int]]]
_Ends = tuple[list[str], list[str]]


def _read() -> tuple[_Ways, _Ways, dict[str, _Ends]]:
    """English stems and Chinese words, each with its axes' ends; of each axis the patterns of its two ends."""
    english: _Ways = {}
    chinese: _Ways = {}
    patterns: dict[str, _Ends] = {}
    listed = resources.files(__package__).joinpath("opposites.txt").read_text("utf-8")
    for line in listed.splitlines():
        if line.startswith("#"):
            continue
        axis, _, ends = line.partition(":")
        for sign, side in zip((1, -1), ends.split(" / "), strict=True):
            for entry in side.split():
                word = entry.lstrip("+=")
                if entry[0] != "=":
                    patterns.setdefault(axis, ([], []))[sign < 0].append(_pattern(word))
                if entry[0] != "+":
                    table, key = (chinese, word) if CJK.match(word) else (english, stem(word.rstrip("*")))
                    if (axis, sign) not in table.setdefault(key, []):
                        table[key].append((axis, sign))
    return english, chinese, patterns


def _pattern(word: str) -> str:
    """A word of the list as a regular expression: with its endings, or with any after its stem."""
    if CJK.search(word):
        return word
    if word.endswith("*"):
        return rf"\b{stem(word[:-1])}\w*"
    return rf"\b{word}(?:e?[sd]|ing)?\b" if word.isalpha() else rf"\b{word.replace('_', ' ')}\b"


_ENGLISH, _CHINESE, _PATTERNS = _read()
_ANY_CHINESE = re.compile("|".join(sorted(map(re.escape, _CHINESE), key=len, reverse=True)))


def ends(*axes: str) -> tuple[str, str]:
    """The two ends of axes, as regular expressions without groups that capture."""
    up, down = ("|".join(way for axis in axes for way in _PATTERNS[axis][end]) for end in (0, 1))
    return up, down


def pattern(*axes: str) -> re.Pattern[str]:
    """The words of axes beside figures: groups "up" and "down", of which one is found."""
    up, down = ends(*axes)
    return re.compile(rf"(?P<up>{up})|(?P<down>{down})", re.IGNORECASE)


def plainly(text: str) -> str:
    """The text with phrases of an axis as its single words; lower case."""
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


def signs(text: str) -> list[Sign]:
    """Every word of an axis in a plainly() text."""
    found: list[Sign] = []
    for match in _WORD.finditer(text):
        for axis, sign in _ENGLISH.get(stem(match.group().lower()), ()):
            found.append(Sign(axis, sign * _denied(text, match.start(), _REACH_EN), *match.span()))
    if CJK.search(text):
        barred = [match.span() for match in _COUPLED.finditer(text)]
        for match in _ANY_CHINESE.finditer(text):
            word = match.group()
            if word in _SINGLE and any(start <= match.start() < end for start, end in barred):
                continue
            for axis, sign in _CHINESE[word]:
                found.append(Sign(axis, sign * _denied(text, match.start(), _REACH_ZH), *match.span()))
    return found


def _denied(text: str, at: int, reach: int) -> int:
    """-1 where an odd number of "not" stands close before, in the same clause; else 1."""
    before = re.split(r"[,;.，；。、]", text[max(0, at - reach) : at])[-1]
    return -1 if len(_NOT.findall(before)) % 2 else 1
