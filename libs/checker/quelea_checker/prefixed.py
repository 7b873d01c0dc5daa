"""A word and its denial by a prefix: "non-cancellable" and "cancellable", 不可撤销 and 可撤销."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from quelea_fintext.text import CJK, stem

from quelea_checker.clauses import GENERIC
from quelea_checker.passage_facts import content

_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_PREFIX = re.compile(r"(?:non|un|in|im|ir|il|dis)(?=[a-z]{4})|non-", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no|never|cannot|without|nor|neither)(?: \w+)?\s*$|n't(?: \w+)?\s*$", re.IGNORECASE)
_ZH = re.compile(r"(?P<not>(?<![是无并])非|不可|未经|无)(?P<base>[\u4e00-\u9fff]{2,3})")
_DENIED = re.compile(r"非|不|未|无|没")
_YES = {"不可": "可", "未经": "经", "无": "有"}
_ABOUT = 0.6
"""Share of the words around it that stand around its denial in the evidence."""


def is_prefixed(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether a word of the sentence stands denied among the same others in the evidence, or the reverse, and nowhere
    as it is said."""
    return _in_chinese(sentence, evidence) if CJK.search(sentence) else _in_english(sentence, evidence)


def _in_english(sentence: str, evidence: Sequence[str]) -> bool:
    said = dict(_ends(sentence))
    told = [(text, dict(_ends(text))) for text in evidence]
    prefixed = {base for ends in (said, *(own for _, own in told)) for base, (_, denied) in ends.items() if denied}
    for base in said.keys() & prefixed:
        rest = frozenset(t for t in content(sentence) - GENERIC if base not in t)
        if not rest:
            continue
        ways = {
            own[base][0]
            for text, own in told
            if base in own and len(rest & content(text)) >= _ABOUT * len(rest)
            if own[base][1] or said[base][1]
        }
        same = any(own.get(base, (0, False))[0] == said[base][0] and rest & content(text) for text, own in told)
        if ways == {-said[base][0]} and not same:
            return True
    return False


@lru_cache(maxsize=4096)
def _ends(text: str) -> tuple[tuple[str, tuple[int, bool]], ...]:
    """(stem without prefix, (1 or -1 where it is denied, whether by a prefix)) of words that have, or may have, one."""
    found: dict[str, tuple[int, bool]] = {}
    words = [(match.group().lower(), match.start()) for match in _WORD.finditer(text)]
    for word, at in words:
        prefix = _PREFIX.match(word)
        sign = -1 if _NOT.search(text[max(0, at - 16) : at]) else 1
        if prefix:
            found.setdefault(_base(word[prefix.end() :]), (-sign, True))
        if not prefix or "-" not in word:
            found.setdefault(_base(word), (sign, False))
    return tuple(found.items())


def _base(word: str) -> str:
    return stem(word.lstrip("-").replace("ll", "l").replace("-", ""))


def _in_chinese(sentence: str, evidence: Sequence[str]) -> bool:
    terms = content(sentence) - GENERIC
    for denying, plain in [(sentence, text) for text in evidence] + [(text, sentence) for text in evidence]:
        for way, base in _denials(denying):
            around = frozenset(t for t in terms if base not in t and t not in base and t != way)
            other = plain if denying is sentence else denying
            if (
                around
                and len(around & content(other)) >= _ABOUT * len(around)
                and _is_plain(plain, base, way)
                and not any(_agrees(sentence, text, base) for text in evidence)
            ):
                return True
    return False


def _denials(text: str) -> Iterator[tuple[str, str]]:
    for match in _ZH.finditer(text):
        for size in (3, 2):
            if len(match["base"]) >= size:
                yield match["not"], match["base"][:size]


def _is_plain(text: str, base: str, way: str) -> bool:
    """The word stands there undenied; of 不可 and 无 as 可 and 有."""
    return not _DENIED.search(text) and re.search(rf"{_YES.get(way, '')}{base}", text) is not None


def _agrees(sentence: str, text: str, base: str) -> bool:
    return base in text and any(base == b for _, b in _denials(sentence)) == any(base == b for _, b in _denials(text))
