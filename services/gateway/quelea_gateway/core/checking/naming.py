"""What prose calls its figures: a net profit is no operating profit, and one segment's growth is not another's."""

from __future__ import annotations

import re

from quelea_gateway.core.checking import wording
from quelea_gateway.core.checking.facts import Evidence
from quelea_gateway.core.checking.model import Figure
from quelea_gateway.core.checking.passage_facts import Fact, content

_ITEMS = re.compile(
    r"(?P<operating>\boperating (?:income|profit|loss|earnings)\b|营业利润|经营利润|经营亏损|营业亏损)"
    r"|(?P<gross>\bgross profit\b|毛利(?!率))"
    r"|(?P<margin>\b(?:gross|operating|net|profit) margin\b|毛利率|净利率|利润率)"
    r"|(?P<pretax>\b(?:income|profit|loss|earnings) before (?:income )?tax(?:es)?\b|利润总额|税前利润)"
    r"|(?P<each>\b(?:earnings|income|loss|profit|dividends?) per (?:diluted |basic )?share\b"
    r"|\bEPS\b|每股收益|每股亏损|每股派)"
    r"|(?P<net>\bnet (?:income|profit|loss|earnings)\b|净利润|净亏损)"
    r"|(?P<revenue>\b(?:total |net )?(?:revenues?|sales)\b|\bturnover\b|营业收入|营业总收入|营收)"
    r"|(?P<research>\bresearch and development\b|\bR&D\b|研发)"
    r"|(?P<capital>\bcapital (?:expenditures?|spending)\b|\bcapex\b|资本(?:性)?(?:开支|支出))"
    r"|(?P<operations>\boperating activities\b|\boperating cash flows?\b|经营活动|经营性现金流)"
    r"|(?P<debt>\b(?:total|net|long-term) debt\b|有息负债|净负债)"
    r"|(?P<assets>\btotal assets\b|总资产)",
    re.IGNORECASE,
)
_NEAR = 40
"""Characters between an item and its figure."""
_BESIDE = 3
"""Sentences before and behind one in which the words of another figure may stand."""


def item_fits(sentence: str, figure: Figure, fact: Fact) -> bool:
    """The line item that stands before the figure is not another than the one before the fact, in prose."""
    if fact.table >= 0 or figure.kind != "number" or fact.figure.kind != "number":
        return True
    said, found = _item(sentence, figure.start), _item(fact.words, fact.figure.start)
    return not said or not found or said == found


def _item(text: str, at: int) -> str:
    first, _ = wording.clause(text, at, at + 1)
    matches = [m for m in _ITEMS.finditer(text[first:at]) if at - first - m.end() <= _NEAR]
    return (matches[-1].lastgroup or "") if len(matches) == 1 else ""


def is_of_another(sentence: str, figure: Figure, fact: Fact, evidence: Evidence) -> bool:
    """The words of its clause are of a sentence beside the fact's, which has such a figure too, and not of its own."""
    if fact.table >= 0 or figure.kind not in {"percent", "points"}:
        return False
    first, last = wording.clause(sentence, figure.start, figure.end)
    said = content(wording.DIRECTION.sub(" ", sentence[first:last]))
    group = evidence.groups[fact.group]
    if not said or said <= group.terms:
        return False
    for place in range(max(0, fact.group - _BESIDE), min(len(evidence.groups), fact.group + _BESIDE + 1)):
        other = evidence.groups[place]
        if other is group or other.table >= 0 or other.passage != group.passage:
            continue
        alike = any(f.figure.kind == fact.figure.kind for f in other.facts)
        if alike and said <= other.terms and not (said & group.terms) - other.terms:
            return True
    return False
