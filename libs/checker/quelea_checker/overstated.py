"""Sentences that say more than the evidence: "all" of its "some", "will" of its "may"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quelea_checker.opposites import plainly
from quelea_checker.passage_facts import content

_ALL = re.compile(
    r"\b(?:all|every|each|entire|whole)\b|全部|所有|全体|每[个家项]|均|(?<!首)都(?!市)|一律", re.IGNORECASE
)
_SOME = re.compile(
    r"\b(?:some|certain|several|most|many|few|part of|partly|a limited number of|majority"
    r"|minority|selected|primarily)\b"
    r"|部分|某些|若干|多数|少数|有的|一些|个别|多个|主要|越来越多",
    re.IGNORECASE,
)
_NO_WHOLE = re.compile(r"\b(?:not all|at all|all of us|above all|in all|after all|all-time)\b|不都|首都", re.IGNORECASE)
_SURE = re.compile(
    r"\b(?:will|shall|must|certainly|definitely|undoubtedly|inevitably|has been|have been|has already|have already"
    r"|is certain|guarantee[sd]?|confirmed)\b|必将|必定|必然|势必|一定(?!程度)|肯定|无疑|已经|已(?!于)|确认|确定",
    re.IGNORECASE,
)
_PERHAPS = re.compile(
    r"\b(?:may|might|could|possib\w+|perhaps|potential(?:ly)?|subject to|likely|unlikely|not certain|uncertain|hint\w*"
    r"|consider\w*)\b|可能|或(?=将|有|会|可|能)|或许|有望|暗示|尚需|有待|不排除|考虑",
    re.IGNORECASE,
)
_MONTH = re.compile(r"\b(?:in|of|on|since|until|by|last|this|next|from|to) May\b|\bMay (?:\d|of)")
_HEDGED = re.compile(
    r"\b(?:expect\w*|plan\w*|intend\w*|believ\w*|anticipat\w*|propos\w*|would|should|if|unless|estimat\w*|forecast\w*)\b"
    r"|预计|预期|拟|计划|如果|若|建议|力争|估计|预测",
    re.IGNORECASE,
)
_ABOUT = 0.6
_SPLIT = re.compile(r"[,;，；。!?！？]|\.(?=\s|$)|\b(?:but|while|whereas|although|and)\b|但|而")
_REACH_EN, _REACH_ZH = 30, 8
"""Characters behind "all" and "some" that say of what."""


def is_overstated(sentence: str, evidence: Iterable[str]) -> bool:
    """Whether the clauses of the evidence that are about the same say it of a part, or as possible, all of them."""
    whole = _ALL.search(_NO_WHOLE.sub(" ", sentence)) if not _SOME.search(sentence) else None
    sure = bool(_SURE.search(sentence)) and not _is_hedged(sentence)
    if whole is None and not sure:
        return False
    terms = content(plainly(sentence))
    if not terms:
        return False
    best: list[tuple[float, str]] = []
    for text in evidence:
        for clause in (text, *_SPLIT.split(text)):
            share = len(content(clause) & terms) / len(terms)
            if share >= _ABOUT:
                best.append((share, clause))
    if not best:
        return False
    most = max(share for share, _ in best)
    near = [clause for share, clause in best if share >= most - 0.1]
    if whole is not None and all(_is_of_some(sentence, whole, clause) for clause in near):
        return True
    return sure and all(_is_perhaps(clause) for clause in near)


def _is_hedged(text: str) -> bool:
    return _is_perhaps(text) or bool(_HEDGED.search(text))


def _is_perhaps(text: str) -> bool:
    return bool(_PERHAPS.search(_MONTH.sub(" ", text)))


def _is_of_some(sentence: str, whole: re.Match[str], clause: str) -> bool:
    """The clause says "some" of what the sentence says "all" of."""
    if _ALL.search(_NO_WHOLE.sub(" ", clause)):
        return False
    return any(_behind(sentence, whole) & _behind(clause, some) for some in _SOME.finditer(clause))


def _behind(text: str, match: re.Match[str]) -> frozenset[str]:
    reach = _REACH_ZH if re.search(r"[\u4e00-\u9fff]", match.group()) else _REACH_EN
    if match.group() in {"均", "都"}:
        return content(text[max(0, match.start() - reach) : match.start()])
    return content(text[match.end() : match.end() + reach])
