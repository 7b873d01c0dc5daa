"""Whether a sentence says the opposite of what the evidence says of the same thing.

Every word that has an opposite ("increased", 之前, "rejected") is compared with the words of the evidence on its axis
that stand among the same others. The evidence is against the sentence when its closest word is the opposite one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from quelea_checker.opposites import Sign, plainly, signs
from quelea_checker.passage_facts import content
from quelea_checker.profiles import told

_SPLIT = re.compile(
    r"[,;:，；：、。！!?？]|\.(?=\s|$)"
    r"|\b(?:and|but|while|whereas|although|though|as|because|since|due to|owing to|after|before|once|when|which|by|than"
    r"|driven|result(?:ed|ing) in|le(?:d|ads?) to|caus(?:ed|ing)|made|thanks to|despite|until|so that)\b"
    r"|但|而(?!且)|因为|由于|因(?!此|素)|得益于|受益于|受(?!让|托|理|益)|使得?(?!用)|导致|带动|并(?!购)|则|(?<![今此随最事])后(?![续来期台])|之前|以前",
    re.IGNORECASE,
)
_ABOUT = 0.6
"""Share of the words around a word of the sentence that stand around its opposite in the evidence."""
_CLEARLY = 0.25
"""By how much more of them stand around the opposite than around a word that says the same."""
GENERIC = frozenset(
    content(
        "company companies group firm its said says billion million thousand dollars quarter year month week period"
        " first second third fourth fiscal same compared q h fy"
        " basis point percentage percent per cent"
        " 公司 企业 报告期 表示 亿元 万元 季度 本期 上年 同期 年度 百分点 基点"
        " 较 比 同比 环比 个 年 月 日 至 达 约 仍 则"
    )
)
"""Words that say nothing of what went up or down."""
_NOMINAL = frozenset(
    {"earn", "debt", "side", "trade", "where", "line", "majority", "extreme", "level", "gain", "plenty"}
)
"""Axes of names of things: what one says of them both ways is no contradiction unless all else is the same."""
_FEW = 2
"""Words of a clause that has no subject of its own, most likely."""
_NAME = re.compile(r"\b[A-Z][\w&-]*(?='s\b)|\b[A-Z]{2,}\b|(?<=[a-z,] )[A-Z][a-z]+")
"""A name in a sentence: what rose elsewhere is no opposite of what fell there."""
_NEXT = 40
"""Characters behind "before" and "after" that say before what."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A word of an axis with the words that it stands among, words of other axes as their signs."""

    axis: str
    end_of: int
    near: frozenset[str]
    whole: frozenset[str]


@lru_cache(maxsize=4096)
def placed(text: str, *, named: bool = True) -> tuple[Placed, ...]:
    """The words of a text that have opposites.

    Args:
        named: Else names of things are words like others: "revenue" is not "income", though both are earned.
    """
    text = plainly(text)
    found = signs(text) if named else [sign for sign in signs(text) if sign.axis not in _NOMINAL]
    if not found:
        return ()
    cuts = [0, *(match.start() for match in _SPLIT.finditer(text)), len(text)]
    result = []
    for sign in found:
        start = max(cut for cut in cuts if cut <= sign.start)
        end = min(cut for cut in cuts if cut >= sign.end)
        if sign.axis == "order":
            start, end = sign.start, min(len(text), sign.end + _NEXT)
            if re.match(r"[\u4e00-\u9fff]", text[sign.start]):
                start, end = max(0, sign.start - 8), sign.end
        if len(_words(text, found, (start, end), sign.axis)) < _FEW and sign.axis not in {"order", *_NOMINAL}:
            start = max((cut for cut in cuts if cut < start), default=start)  # its subject stands before
        near, whole = (_words(text, found, span, sign.axis) for span in ((start, end), (0, len(text))))
        result.append(Placed(sign.axis, sign.end_of, near or whole, whole))
    return tuple(result)


def _words(text: str, found: Sequence[Sign], span: tuple[int, int], axis: str) -> frozenset[str]:
    """The content of text[span]; words of axes are their signs, and those of the axis are left out."""
    start, end = span
    piece = list(text[start:end])
    extra = set()
    for sign in found:
        if start <= sign.start and sign.end <= end:
            piece[sign.start - start : sign.end - start] = " " * (sign.end - sign.start)
            if sign.axis != axis:
                extra.add(f"{sign.axis}{sign.end_of:+d}")
    others = {one for one in extra if not any(s.axis == axis and f"{s.axis}{s.end_of:+d}" == one for s in found)}
    return frozenset(content("".join(piece)) - GENERIC) | others


def is_opposed(sentence: str, evidence: Iterable[str], *, named: bool = True) -> bool:
    """Whether the evidence's closest statement is the opposite of the sentence's.

    Args:
        sentence: Without markers.
        evidence: Sentences of prose.
        named: Also names of things are compared, income with expense; not where figures say which is meant.
    """
    said = placed(sentence, named=named)
    if not said:
        return False
    names = frozenset() if named else told(" ".join(_NAME.findall(sentence)))
    stated = [one for text in evidence for one in placed(text, named=named) if names <= one.whole]
    listed = {one.axis for one in said if one.axis in _NOMINAL and any(_is_pair(one, other) for other in said)}
    return any(_against(one, stated) for one in said if one.axis not in listed)


def _is_pair(one: Placed, other: Placed) -> bool:
    """ "Suppliers, customers": both are named."""
    return one.axis == other.axis and one.end_of != other.end_of


def _against(one: Placed, stated: Sequence[Placed]) -> bool:
    same = opposite = 0.0
    for other in stated:
        if other.axis != one.axis:
            continue
        share = _share(one, other)
        if other.end_of == one.end_of:
            same = max(same, share)
        else:
            opposite = max(opposite, share)
    least = 0.75 if one.axis in _NOMINAL else _ABOUT
    return opposite >= least and opposite - same >= _CLEARLY


def _share(one: Placed, other: Placed) -> float:
    near = {word for word in one.near if word[-2:] not in {"+1", "-1"} or word[:-2] in _NOMINAL} or one.near
    both = near & other.near
    own = len(both) / len(near) if any(word[-2:] not in {"+1", "-1"} for word in both) or len(near) == 1 else 0.0
    whole = len(one.whole & other.whole) / len(one.whole) if one.whole else 0.0
    return 0.7 * own + 0.3 * whole


def contradicts(sentence: str, other: str) -> bool:
    """Whether a sentence says the opposite of one that says the same otherwise, in whichever language.

    Nothing but the words that have opposites is compared: where both have an axis, one of its ends in each, these
    must be the same.
    """
    said, told = _ends(sentence), _ends(other)
    return any(
        len(said[axis]) == 1 == len(told[axis]) and said[axis] != told[axis] for axis in said.keys() & told.keys()
    )


def _ends(text: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for sign in signs(plainly(text)):
        found.setdefault(sign.axis, set()).add(sign.end_of)
    return found
