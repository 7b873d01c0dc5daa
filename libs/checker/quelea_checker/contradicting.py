"""What speaks against a figure of the evidence although its size, unit and time agree: the words about it."""

from __future__ import annotations

import re

from quelea_checker import wording
from quelea_checker.model import Figure
from quelea_checker.passage_facts import Fact, Group

_TO = re.compile(r"(?:\bto|[至到])\s*(?:about|approximately|nearly|约)?\s*$", re.IGNORECASE)
_FROM = re.compile(r"(?:\bfrom|[从由自])\s*(?:about|approximately|nearly|约)?\s*$", re.IGNORECASE)
_BY = re.compile(r"\bby\s*(?:about|approximately|nearly)?\s*$", re.IGNORECASE)
_EACH = re.compile(
    r"每(?P<n>\d*|[一十百千万]*)(?P<of>股|户|人|吨|台|平方米)"
    r"|\bper (?P<n2>\d[\d,]*|hundred|thousand)? ?(?P<of2>shares?)\b"
)
_FORMER = re.compile(
    r"\b(?:earlier|previous(?:ly)?|prior|former(?:ly)?|original(?:ly)?) (?:\w+ )?(?:range|guidance|forecast|estimate"
    r"|outlook|target|plan|expect\w*)|此前(?:预计|预测|指引)|原(?:先|来)?(?:预计|计划|指引)",
    re.IGNORECASE,
)
_LATTER = re.compile(
    r"\bnow\b|\bcurrently\b|\bnew(?:est)?\b|\blatest\b|\brevised\b|目前|现(?:在|预计)|最新", re.IGNORECASE
)
_STEADY = re.compile(
    r"\b(?:unchanged|stayed|remained (?:at|flat|stable|steady|unchanged|constant)|flat|held steady)\b"
    r"|持平|不变|保持在|维持在",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:rose|grew|grown|increas(?:ed|ing)|climbed|jumped|gained|fell|fallen|declin(?:ed|ing)|decreas(?:ed|ing)|dropped"
    r"|up|down)(?: by)?\s*(?:about|approximately|nearly|some|over)?\s*$"
    r"|(?<!净)(?:增长|增加|上升|提高|减少|下降|下滑|降低)了?约?\s*$",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"\b(?:was|were|total(?:ed|ing)|reached|amounted to|came to|stood at)"
    r"\s*(?:about|approximately|nearly|some|over)?\s*$"
    r"|(?:为|达到?|实现|共计|合计)了?约?\s*$",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    wording.DIRECTION.pattern
    + r"|\bchang|\bdiffer|\bnet (?:add|new)|\bimpact|\beffect|\badditions?\b|变动|变化|差|影响|新增",
    re.IGNORECASE,
)


def levels_fit(sentence: str, figure: Figure, fact: Fact, group: Group, terms: frozenset[str]) -> bool:
    """What something rose by is not what it came to, nor the reverse."""
    if figure.kind != "number" or fact.figure.kind != "number" or not (figure.scale or figure.currency):
        return True
    before = sentence[: figure.start]
    if fact.table >= 0:
        if not _MOVED.search(before) or fact.change or _CHANGES.search(fact.words) or not group.name <= terms:
            return True
        return sum(not other.change for other in group.facts) < 2 or not group.name
    written = fact.words[: fact.figure.start]
    if _MOVED.search(before):
        return not _WAS.search(written) or bool(_CHANGES.search(_clause(fact.words, fact.figure)))
    if not _WAS.search(before) or _CHANGES.search(_clause(sentence, figure)):
        return True
    return not _MOVED.search(written)


def _clause(text: str, figure: Figure) -> str:
    first, last = wording.clause(text, figure.start, figure.end)
    return text[first:last]


def ends_fit(sentence: str, figure: Figure, fact: Fact) -> bool:
    """ "Cut to 480" is not what "from 480 to 320" says; nor "rose to 5" what "stayed at 5" does."""
    if fact.table >= 0:
        return True
    before, written = sentence[: figure.start], fact.words[: fact.figure.start]
    if (_TO.search(before) and _BY.search(written)) or (_BY.search(before) and _TO.search(written)):
        return False  # "cut to 140" of "cut by 140 to 1,260"
    if (_TO.search(before) and _FROM.search(written)) or (_FROM.search(before) and _TO.search(written)):
        return False
    if not wording.direction(sentence, figure.start, figure.end) or fact.figure.kind == "points":
        return True
    first, last = wording.clause(fact.words, fact.figure.start, fact.figure.end)
    own, until = wording.clause(sentence, figure.start, figure.end)
    return not (_STEADY.search(fact.words[first:last]) and not _STEADY.search(sentence[own:until]))


def words_fit(sentence: str, figure: Figure, fact: Fact) -> bool:
    """Per ten shares is not per share, and what was expected earlier is not what is expected now."""
    if fact.table >= 0:
        return True
    said, found = _each(sentence, figure.start), _each(fact.words, fact.figure.start)
    if said and found and said[1] == found[1] and said[0] != found[0]:
        return False
    if not _LATTER.search(sentence) or _FORMER.search(sentence):
        return True
    first, _ = wording.clause(fact.words, fact.figure.start, fact.figure.end)
    return not _FORMER.search(fact.words[first : fact.figure.start])


def _each(text: str, start: int) -> tuple[str, str] | None:
    """Of how many of what an amount is, as the words before it say: ("10", 股) of 每10股派."""
    found = None
    for match in _EACH.finditer(text[:start]):
        found = (match["n"] or match["n2"] or "1").replace("一", "1").replace("十", "10"), match["of"] or "share"
    return found
