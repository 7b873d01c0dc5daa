"""The sign that words give a figure: profit or loss, inflow or outflow, surplus or deficit, favorable or not."""

from __future__ import annotations

import re

from quelea_checker import opposites, wording
from quelea_checker.model import Figure
from quelea_checker.passage_facts import Fact

_SIDES = 60
_POLAR = opposites.pattern("gain", "flow", "balance")
"""One end is printed without brackets where a row may be either."""
_FAVOUR = opposites.pattern("favorable")
_GOOD = r"(?:income|profits?|earnings|gains?|surplus|benefit)"
_BAD = r"(?:loss(?:es)?|deficit)"
_EITHER = re.compile(
    rf"{_GOOD}\s?[/(]+\s?\(?\s?(?:{_BAD}|expense|provision)\)*"
    rf"|{_BAD}\s?[/(]+\s?\(?{_GOOD}\)*"
    r"|(?:provided by|from)\s?[/(]+\s?\(?used (?:in|for|by)\)*|used (?:in|for)\s?[/(]+\s?\(?provided by\)*"
    r"|\(?(?:used in|used for)\)\s?(?:/\s?)?provided by|provided by \(used in\)"
    r"|(?:in|out)flows?\s?[/(]+\s?\(?(?:in|out)flows?\)*"
    r"|(?:利润|盈利|收益)[(（/][亏损损失]+[)）]?|流[入出][(（/]流?[入出][)）]?",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\bloss(?:es)? (?:ratio|given|allowance|reserve|adjustment)|\bincome tax|\bcost of|利润率"
    r"|每股收益|收益率|收益(?:凭证|权|类)|损失(?:准备|率)",
    re.IGNORECASE,
)
_NET_OF_BOTH = re.compile(r"\bcash flows?\s*(?:,|$|\(|from|less|after|before)|现金(?:净流量|流量?净额)", re.IGNORECASE)
"""A row that may be either way round although its name does not say so."""
_TAX = re.compile(
    r"(?P<either>(?:\btax )?(?:expense|provision|charge)s?\b[^.;,]{0,30}?[/(]+\s?"
    r"\(?(?:benefit|credit|recovery|income)\)*"
    r"|\(?(?:benefit|credit)\)?[^.;,]{0,30}?[/(]+\s?\(?(?:expense|provision)\)*)"
    r"|\btax (?:benefit|credit)s?\b|\bbenefit (?:from|for) (?:income )?tax"
    r"|(?P<bad>\btax (?:expense|provision|charge)s?\b"
    r"|\bprovision for (?:income )?tax)",
    re.IGNORECASE,
)
_BALANCE = re.compile(r"(?P<more>\bsurplus\b|顺差|净出口)|\bdeficit\b|逆差|净进口", re.IGNORECASE)
_TRADE = opposites.pattern("trade")
_AMOUNT = re.compile(r"[$€£¥]\s?\d|illion|\d[亿万]")


def fit(sentence: str, figure: Figure, fact: Fact, label: str, section: str) -> bool:
    """What the sentence calls the figure is not the opposite of what the evidence calls it, or prints it as."""
    return (
        _polarity_fits(sentence, figure, fact, label, section)
        and _favour_fits(sentence, figure, fact)
        and _tax_fits(sentence, figure, fact, label)
    )


def _polarity_fits(sentence: str, figure: Figure, fact: Fact, label: str, section: str) -> bool:
    """A profit is no loss, though the evidence says it by a sign alone: in brackets "Income (loss)" is a loss."""
    said = polarity(sentence, figure.start, figure.end)
    if not said or figure.negative or figure.kind != "number" or fact.figure.kind != "number" or not fact.figure.size:
        return True
    printed = -1 if fact.figure.negative else 1
    if fact.table < 0:
        if fact.figure.negative and not fact.figure.loose:
            return said == -1
        return said != -polarity(fact.words, fact.figure.start, fact.figure.end)
    if is_either(label):
        return said == printed
    signs = {-1 if match["down"] else 1 for match in _POLAR.finditer(_OTHER.sub(_blank, label))}
    if not signs and (is_either(section) or _NET_OF_BOTH.search(label)):
        return said == printed
    return signs != {-said} or (said == -1 and fact.figure.negative)


def _favour_fits(sentence: str, figure: Figure, fact: Fact) -> bool:
    """What was favorable in prose was not unfavorable."""
    if fact.table >= 0 or figure.negative or fact.figure.negative:
        return True
    said = polarity(sentence, figure.start, figure.end, _FAVOUR)
    return not said or said != -polarity(fact.words, fact.figure.start, fact.figure.end, _FAVOUR)


def _tax_fits(sentence: str, figure: Figure, fact: Fact, label: str) -> bool:
    """A tax benefit is no tax expense: "Income tax expense (benefit)" in brackets is a benefit."""
    said = _tax(sentence[: figure.start])
    if said is None or said["either"] or figure.kind != "number" or figure.negative or not fact.figure.size:
        return True
    found = _TAX.search(label) if fact.table >= 0 else _tax(fact.words[: fact.figure.start])
    if found is None:
        return True
    if found["either"]:
        benefit = fact.figure.negative != found.group().lower().removeprefix("tax ").startswith(
            ("benefit", "(benefit", "credit")
        )
        return fact.table < 0 or bool(said["bad"]) != benefit
    return bool(said["bad"]) == bool(found["bad"])


def balance_fits(sentence: str, figure: Figure, one: Fact, other: Fact) -> bool:
    """A surplus in trade is what is exported more than imported, a deficit the reverse."""
    first, last = wording.clause(sentence, figure.start, figure.end)
    ends = {bool(match["more"]) for match in _BALANCE.finditer(sentence[first:last])}
    ways = [_way(fact) for fact in (one, other)]
    if len(ends) != 1 or set(ways) != {1, -1} or figure.negative:
        return True
    out, come = (one, other) if ways[0] == 1 else (other, one)
    return (out.figure.size > come.figure.size) == ends.pop()


def _way(fact: Fact) -> int:
    """1 of what is exported, -1 of what is imported, 0 of neither: by the last word before the figure, or the row's."""
    text = fact.words if fact.table >= 0 else fact.words[: fact.figure.start]
    ways = [1 if match["up"] else -1 for match in _TRADE.finditer(text)]
    return ways[-1] if ways and (fact.table < 0 or len(set(ways)) == 1) else 0


def _tax(before: str) -> re.Match[str] | None:
    """The last words about tax, unless an amount stands behind them: they are of that."""
    found = list(_TAX.finditer(before))
    return found[-1] if found and not _AMOUNT.search(before, found[-1].end()) else None


def polarity(text: str, start: int, end: int, axis: re.Pattern[str] = _POLAR) -> int:
    """1 when the words about text[start:end] say profit, gain, inflow; -1 loss, outflow; 0 neither, or either.

    The nearest word before it in its clause decides, else the nearest behind it.
    """
    first, last = wording.clause(text, start, end)
    part = _OTHER.sub(_blank, _EITHER.sub(_blank, text[first:last]))
    before = after = 0
    for match in axis.finditer(part):
        sign = -1 if match["down"] else 1
        if match.end() + first <= start:
            before = sign
        elif match.start() + first >= end and match.start() + first - end < _SIDES:
            after = after or sign
    return before or after


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def is_either(label: str) -> bool:
    """ "Income (loss)", "provided by (used in)": the sign tells which."""
    return bool(_EITHER.search(label))
