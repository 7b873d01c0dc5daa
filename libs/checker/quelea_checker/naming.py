"""What prose calls its figures: a net profit is no operating profit, and shares are no money."""

from __future__ import annotations

import re

from quelea_checker import wording
from quelea_checker.model import Figure
from quelea_checker.passage_facts import Fact

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
_COUNTED = re.compile(
    r"\s?(?:\w+ )?(?:shares|RSUs|units|employees|people|vehicles|customers|stores|square feet)\b"
    r"|\s?(?:股|名|人|家|台|辆|部|吨)(?!民币)"
)
_OF_THINGS = re.compile(
    r"\bshares (?:used|outstanding|issued|repurchased)|\bnumber of|\bRSUs\b|\bheadcount\b|股数|人数", re.IGNORECASE
)
_BY = re.compile(r"\bby (?:about |around |roughly |nearly |almost |over |some )?\S{0,2}$", re.IGNORECASE)
_SHARE = re.compile(r"\s?(?:%|per ?cent)?\s?of (?:net |total |our |its |the )?(?:sales|revenues?)\b", re.IGNORECASE)
_FEW = 2
"""Digits of a number that stands in two places by luck."""
_NEAR = 40
"""Characters between an item and its figure."""


def item_fits(sentence: str, figure: Figure, fact: Fact) -> bool:
    """The line item that stands before the figure is not another than the one before the fact, in prose."""
    if fact.table >= 0 or figure.kind != "number" or fact.figure.kind != "number":
        return True
    said, found = _item(sentence, figure.start), _item(fact.words, fact.figure.start)
    return not said or not found or said == found


def things_fit(sentence: str, figure: Figure, fact: Fact) -> bool:
    """A number of shares is no amount of money, and a change no share."""
    if figure.kind == fact.figure.kind == "percent":  # by how much something fell is no share of another
        return not (_BY.search(sentence[: figure.start + 3]) and _SHARE.match(fact.words, fact.figure.end))
    if figure.kind != "number" or fact.figure.kind != "number":
        return True
    if not figure.currency:
        money = bool(fact.figure.currency) and not fact.unit.currency
        return not (money and fact.table < 0 and _COUNTED.match(sentence, figure.end))
    if fact.figure.currency:
        return True
    return not (_OF_THINGS.search(fact.words) if fact.table >= 0 else _COUNTED.match(fact.words, fact.figure.end))


def is_count(figure: Figure, sentence: str, fact: Fact) -> bool:
    """The same number stands in prose as that of things, where the figure is money."""
    same = (figure.number, figure.scale) == (fact.figure.number, fact.figure.scale) and figure.digits > _FEW
    return same and fact.table < 0 and not things_fit(sentence, figure, fact)


def _item(text: str, at: int) -> str:
    first, _ = wording.clause(text, at, at + 1)
    matches = [m for m in _ITEMS.finditer(text[first:at]) if at - first - m.end() <= _NEAR]
    return (matches[-1].lastgroup or "") if len(matches) == 1 else ""
