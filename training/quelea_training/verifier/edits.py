"""A sentence made false in its words alone: its direction, a "not", its cause. Figures stay as they are.

Changes of figures, periods and subjects are the evaluation's (`quelea_evaluation.figures.corruption`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

from quelea_evaluation.figures.corruption import OPPOSITE

_OPPOSITE_ZH = {
    "增长": "下降", "下降": "增长", "增加": "减少", "减少": "增加", "上升": "下降", "上涨": "下跌", "下跌": "上涨",
    "高于": "低于", "低于": "高于", "提高": "降低", "降低": "提高", "扩大": "缩小", "盈利": "亏损",
}  # fmt: skip
_DIRECTION = re.compile(rf"\b(?:{'|'.join(OPPOSITE)})\b|{'|'.join(_OPPOSITE_ZH)}")
_HELPER = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had|will|would|can|could|must|should|does|do|did)\b(?P<not> not\b)?+"
    r"(?! only\b)"
)  # without "may", as what may not be may be, too
_HELPER_ZH = re.compile(
    r"(?P<not>没有|尚未|并未|未能|不会|不能|不再)|(?P<verb>已经|可以|能够|将会|将|已)(?![^，。；]{0,2}[年月日])"
)
_UNSAID = {"没有": "有", "尚未": "已", "并未": "已", "未能": "能够", "不会": "会", "不能": "能", "不再": "仍"}
_SAID = {"已经": "尚未", "可以": "不能", "能够": "不能", "将会": "不会", "将": "不会", "已": "未"}
_CAUSE = re.compile(
    r"\b(?P<link>(?:primarily |mainly |largely |principally |partly )?(?:due to|because of|because|as a result of|"
    r"driven by|attributable to|resulting from|resulted from|owing to|caused by|reflecting))\s(?P<cause>[^.;]{12,200})"
)
_CAUSE_ZH = re.compile(r"(?P<link>主要由于|主要系|主要因为|由于|受益于|得益于|因为)(?P<cause>[^，。；]{4,60})")

Edit = Callable[[str, Sequence[str], Random], str]
"""Sentence and other sentences of the same documents -> the false sentence; empty where it cannot be made so."""


def turn(sentence: str, others: Sequence[str], chance: Random) -> str:
    """One word of direction is its opposite."""
    del others
    found = list(_DIRECTION.finditer(sentence))
    if not found:
        return ""
    match = chance.choice(found)
    word = match.group()
    return sentence[: match.start()] + (OPPOSITE.get(word) or _OPPOSITE_ZH[word]) + sentence[match.end() :]


def negate(sentence: str, others: Sequence[str], chance: Random) -> str:
    """A "not" is put in, or taken out."""
    del others
    found = [*_HELPER.finditer(sentence), *_HELPER_ZH.finditer(sentence)]
    if not found:
        return ""
    match = chance.choice(found)
    verb, denied = match["verb"] or "", match["not"] or ""
    english = verb if denied else f"{verb} not"
    chinese = _UNSAID.get(denied) or _SAID.get(verb, "")
    new = english if match.re is _HELPER else chinese
    return sentence[: match.start()] + new + sentence[match.end() :]


def blame(sentence: str, others: Sequence[str], chance: Random) -> str:
    """Its cause is that of another sentence."""
    own = _cause(sentence)
    if own is None:
        return ""
    mine = own["cause"].casefold()
    found = [
        match["cause"]
        for other in others
        if (match := _cause(other)) and match.re is own.re and match["cause"].casefold() not in mine
        and mine not in match["cause"].casefold()
    ]  # fmt: skip
    if not found:
        return ""
    return sentence[: own.start("cause")] + chance.choice(found) + sentence[own.end("cause") :]


def _cause(sentence: str) -> re.Match[str] | None:
    return _CAUSE.search(sentence) or _CAUSE_ZH.search(sentence)


EDITS: Mapping[str, Edit] = {"direction": turn, "negation": negate, "cause": blame}
