"""What speaks against a figure of the evidence although its size, unit and time agree: the words about it."""

from __future__ import annotations

import re
from collections.abc import Container

from quelea_gateway.core.checking import wording
from quelea_gateway.core.checking.facts import Evidence
from quelea_gateway.core.checking.model import Figure
from quelea_gateway.core.checking.passage_facts import Fact, Group

_SIDES = 60
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
_GOOD = r"\b(?:profit|income|earnings|gain(?:s|ed)?|inflows?|provided|surplus|earned)\b|盈利|净?利润|流入|盈余"
_BAD = r"\b(?:loss(?:es)?|lost|deficit|outflows?|used)\b|亏损|净?亏|流出|赤字"
_POLAR = re.compile(rf"(?P<bad>{_BAD})|(?P<good>{_GOOD})", re.IGNORECASE)
_EITHER = re.compile(
    r"(?:income|profits?|earnings|gains?|surplus|benefit)\s?[/(]+\s?\(?\s?(?:loss(?:es)?|deficit|expense|provision)\)*"
    r"|(?:loss(?:es)?|deficit)\s?[/(]+\s?\(?(?:income|profits?|earnings|gains?|surplus)\)*"
    r"|(?:provided by|from)\s?[/(]+\s?\(?used (?:in|for|by)\)*|used (?:in|for)\s?[/(]+\s?\(?provided by\)*"
    r"|\(?(?:used in|used for)\)\s?(?:/\s?)?provided by|provided by \(used in\)"
    r"|(?:利润|盈利|收益)[(（/][亏损损失]+[)）]?|流[入出][(（/]流?[入出][)）]?",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\bloss(?:es)? (?:ratio|given|allowance|reserve|adjustment)|\bincome tax|\bcost of|利润率", re.IGNORECASE
)


def polarity(text: str, start: int, end: int) -> int:
    """1 when the words about text[start:end] say profit, gain, inflow; -1 loss, outflow; 0 neither, or either.

    The nearest word before it in its clause decides, else the nearest behind it.
    """
    first, last = wording.clause(text, start, end)
    part = _OTHER.sub(_blank, _EITHER.sub(_blank, text[first:last]))
    before = after = 0
    for match in _POLAR.finditer(part):
        sign = -1 if match["bad"] else 1
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


def polarity_fits(sentence: str, figure: Figure, fact: Fact, label: str) -> bool:
    """A profit is no loss: what the sentence calls the figure is not the opposite of what the evidence does."""
    said = polarity(sentence, figure.start, figure.end)
    if not said or figure.negative or figure.kind != "number" or fact.figure.kind != "number" or not fact.figure.size:
        return True
    if fact.table < 0:
        if fact.figure.negative and not fact.figure.loose:
            return said == -1
        return said != -polarity(fact.words, fact.figure.start, fact.figure.end)
    if not is_either(label):
        signs = {-1 if match["bad"] else 1 for match in _POLAR.finditer(_OTHER.sub(_blank, label))}
        opposite = signs == {-said}
        return not opposite or (said == -1 and fact.figure.negative)
    return said == (-1 if fact.figure.negative else 1)


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


def is_oldest(fact: Fact, group: Group) -> bool:
    """Its row has later figures, and none before it."""
    years = [(p.year, p.month, p.quarter) for f in group.facts if not f.change for p in f.periods[:1] if p.year]
    own = [(p.year, p.month, p.quarter) for p in fact.periods[:1] if p.year]
    return bool(own) and len(set(years)) > 1 and own[0] == min(years)


def other_row(fact: Fact, terms: frozenset[str], evidence: Evidence, but: Container[int] = ()) -> bool:
    """The words name another row of its table, wholly, and its own less: Europe's sales are not Asia's.

    Rows of `but` are no others: they are parts of the same computation.
    """
    group = evidence.groups[fact.group]
    own = group.name
    if fact.table < 0 or not own or own <= terms:
        return False
    shared = own & terms
    for row in evidence.rows.get(fact.table, ()):
        if row.facts and row.facts[0].group in but:
            continue
        if row is not group and row.name and row.name <= terms and shared < row.name and not row.name <= own:
            return any(f.column == fact.column and f.figure.size != fact.figure.size for f in row.facts)
    return False
