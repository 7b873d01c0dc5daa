"""Whose figures a passage has, by its header; and whose a sentence speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_checker.model import CheckPassage
from quelea_checker.reading.sentences import plain

_TICKER = re.compile(r"\s{0,8}+\((?P<ticker>[A-Z][A-Z0-9.]{1,7}|\d{4,6}(?:\.[A-Z]{2})?)\)\s{0,8}+$")
_LEGAL = re.compile(
    r"(?:,?\s{1,8}(?:Inc|Incorporated|Corp|Corporation|Company|Co|plc|PLC|Ltd|Limited|LLC|L\.P|AG|AB|ASA|NV|N\.V|SE|SA|S\.A"
    r"|S\.p\.A|Group|Holdings?)\.?){1,6}$|(?:股份有限公司|有限责任公司|有限公司|集团|控股|股份){1,6}$"
)
_NO_NAME = re.compile(
    r"\d{3}|\b(?:report|filing|release|statement|10-[KQ]|results|page|document)\b|报告|年报|公告|季报|研报|新闻",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:,|,? and|&|、|和|与|及)\s*(?:the )?$")
_DISTINCT = re.compile(
    r"(?!(?:American|National|General|United|First|International|Global|Advanced|Applied|Western|Eastern|Southern"
    r"|Northern|Pacific|Atlantic|Central|Royal|Standard|Capital|Public|State|Digital|Industrial|European)$)[A-Z][a-z]{3,}"
)
"""The first word of a name by which it is called."""
_LONGEST = 60


def _read_names(header: str) -> tuple[str, ...]:
    """The name that a header begins with, without its legal form, and its ticker; none where it is no name."""
    name = plain(header).split(" · ")[0].strip()
    ticker = _TICKER.search(name)
    name = _LEGAL.sub("", _TICKER.sub("", name)).strip()
    least = 2 if re.search(r"[\u3400-\u9fff]", name) else 3
    if not least <= len(name) <= _LONGEST or _NO_NAME.search(name):
        return ()
    return (name, ticker["ticker"]) if ticker else (name,)


def _pattern(name: str) -> re.Pattern[str]:
    cjk = re.search(r"[\u3400-\u9fff]", name)
    return re.compile(re.escape(name) if cjk else rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


class Owners:
    """The companies that passages are of, where their headers name more than one.

    Args:
        passages: Their headers begin with the company: "Norrby (NOR) · annual report · FY2024".
    """

    def __init__(self, passages: Sequence[CheckPassage]) -> None:
        named = [_read_names(passage.header) for passage in passages]
        self._of = [names[0] if names else "" for names in named]
        self._patterns: dict[str, list[re.Pattern[str]]] = {}
        for names in named:
            if names and names[0] not in self._patterns:
                self._patterns[names[0]] = [_pattern(name) for name in names]
        firsts = [name.split()[0] for name in self._patterns]
        for name, first in zip(self._patterns, firsts, strict=True):
            if " " in name and _DISTINCT.fullmatch(first) and firsts.count(first) == 1:
                self._patterns[name].append(_pattern(first))  # "Harrow" of Harrow Optics
        if len(self._patterns) < 2:
            self._patterns = {}
        self._texts = [plain(f"{p.header}\n{p.table_head}\n{p.text}") for p in passages] if self._patterns else []
        self._mentions: dict[str, frozenset[int]] = {}

    def excluded_passages(self, sentence: str, question: str, start: int) -> frozenset[int]:
        """Numbers from 0 of the passages that are of other companies than the one a figure at `start` is said of.

        The nearest names before the figure tell, else the first behind it, else those of the question. A passage that
        mentions the company is never barred.
        """
        if not self._patterns:
            return frozenset()
        found = self._find_names(sentence)
        allowed = _find_nearest(sentence, found, start) if found else {name for *_, name in self._find_names(question)}
        if not allowed:
            return frozenset()
        about = frozenset().union(*(self._about(name) for name in allowed))
        return frozenset(n for n, owner in enumerate(self._of) if owner and n not in about)

    def _about(self, name: str) -> frozenset[int]:
        if name not in self._mentions:
            patterns = self._patterns[name]
            self._mentions[name] = frozenset(
                n for n, text in enumerate(self._texts) if any(pattern.search(text) for pattern in patterns)
            )
        return self._mentions[name]

    def _find_names(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, name) of each company in a text, the longest name first where two overlap."""
        every = [
            (match.start(), match.end(), name)
            for name, patterns in self._patterns.items()
            for pattern in patterns
            for match in pattern.finditer(text)
        ]
        kept: list[tuple[int, int, str]] = []
        for one in sorted(every, key=lambda m: (m[0] - m[1], m[0])):
            if all(one[1] <= other[0] or other[1] <= one[0] for other in kept):
                kept.append(one)
        return sorted(kept)


def _find_nearest(sentence: str, found: Sequence[tuple[int, int, str]], start: int) -> set[str]:
    """The last names before a place that are joined with one another: "Norrby and Ostrel"; else the first behind."""
    before = [one for one in found if one[1] <= start]
    if not before:
        return {found[0][2]}
    names = {before[-1][2]}
    for one, other in zip(reversed(before[:-1]), reversed(before), strict=False):
        if not _JOINED.fullmatch(sentence[one[1] : other[0]]):
            break
        names.add(one[2])
    return names
