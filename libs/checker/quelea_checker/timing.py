"""Which time the words about a figure speak of, and whether a figure of the evidence is of it: one comparison of both.

The words tell how long the time is (a quarter is no nine months), against which time a growth is stated (同比 is no
环比), and which of two times is meant. They are read alike of an answer and of prose; of a cell its head tells them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from quelea_checker import bases, times, wording
from quelea_checker.facts import Evidence
from quelea_checker.matching import TO_LEVEL, Claim
from quelea_checker.model import Period
from quelea_checker.passage_facts import Fact, Group

Verdict = Literal["fits", "contradicts", "unknown"]

_YEAR_AGO = re.compile(
    r"\byear[- ]over[- ]year|\byear[- ]on[- ]year|\byoy\b|\b(?:prior|previous|last) year|year[- ]ago|同比|上年",
    re.IGNORECASE,
)
_PRIOR = re.compile(r"(?<!比)(?:上年|去年)同期|\b(?:prior|previous|last)[- ]year\b", re.IGNORECASE)
"""The head of a column that is of a year before the one beside it."""
_OF_BEFORE = re.compile(
    r"(?:\bfrom|\bthan|\bversus|\bvs\.?|\bagainst|compared (?:to|with)|[较比从由]|上年|去年|同期"
    r"|prior|previous|last|ago|earlier)"
    r"[^,;，；。]{0,24}$",
    re.IGNORECASE,
)
_NARROWED = re.compile(r"\bnarrowed\b|\bwidened\b|收窄|扩大", re.IGNORECASE)
_SPANS = re.compile(
    r"(?P<q>\b(?:first|second|third|fourth)[- ](?:fiscal )?quarter\b|\bthe quarter\b|\bQ[1-4]\b|\b[1-4]Q\d"
    r"|\bthree[- ]months?\b|\bquarterly (?=(?:\w+ )?(?:revenue|sales|income|profit|earnings|loss))"
    r"|(?<![前个])[一二三四]季度|单季度?|三个月)"
    r"|(?P<h>\b(?:first|second)[- ]half\b|\bhalf[- ]year\b|\bsix[- ]months?\b|\b[12]H\d|\bH[12]\b|[上下]半年|六个月"
    r"|6个月)"
    r"|(?P<n>\bnine[- ]months?\b|前三季度|前三个季度|九个月|9个月)"
    r"|(?P<y>\btwelve[- ]months?\b|\bfull[- ](?:fiscal )?year\b|\b(?:entire|whole) year\b|全年|十二个月|12个月)"
    r"|(?P<d>\bYTD\b|\byear[- ]to[- ]date\b|年初至(?:今|本?报告期末)|本年累计)"
    r"|(?P<t>本报告期(?!末))",
    re.IGNORECASE,
)
_TO_DATE, _THIS = -1, -2
_LENGTHS = {"q": 3, "h": 6, "n": 9, "y": 12, "d": _TO_DATE, "t": _THIS}
_FIRST = re.compile(r"\bfirst[- ](?:fiscal )?quarter\b|\bQ1\b|\b1Q|(?<!第)一季度|第一季度", re.IGNORECASE)
"""The first quarter is the year to date."""
_AMOUNT = re.compile(rf"[$€£¥]\s?\d|\d\s?(?:million|billion|thousand|万|亿|元)|{bases.SHARE}", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(?:in|for|during|over|of) (?:the |its )?(?:first |last )?", re.IGNORECASE)
"""Between a figure and the length of its time."""
_YEAR_MONTHS, _QUARTER_MONTHS = 12, 3


@dataclass(frozen=True, slots=True)
class Said:
    """What the words about a figure say of its time.

    Attributes:
        length: Months that its clause speaks of; 0 where it speaks of none or it is not known of which; -1 of the
            year to date, -2 of "this period".
        whole: The same of its whole text, where its clause speaks of none.
        basis: Against which time it is stated.
    """

    length: int = 0
    whole: int = 0
    basis: bases.Basis = ""


def compare(claim: Claim, fact: Fact, evidence: Evidence) -> Verdict:
    """Whether the evidence's figure is of the time that the sentence says of its own."""
    if not times.fits(claim.periods, fact.periods, fact.years):
        return "contradicts"
    figure, group = claim.figure, evidence.groups[fact.group]
    own = said(claim.sentence, figure.start, figure.end)
    found = said(fact.words, fact.figure.start, fact.figure.end) if fact.table < 0 else None
    if _is_past(claim, fact, group) or not _bases_fit(claim, own, fact, found, group):
        return "contradicts"
    length = _length(own, claim.periods)
    if length and not _lengths_fit(claim, length, fact, found, group):
        return "contradicts"
    return "fits" if (claim.periods and fact.periods) or length else "unknown"


@lru_cache(maxsize=8192)
def said(text: str, start: int, end: int) -> Said:
    """What the words about text[start:end] say."""
    first, last = wording.clause(text, start, end)
    marks = _lengths(text)
    inside = [mark for mark in marks if first <= mark[0] and mark[1] <= last]
    own = {months for *_, months in inside}
    if len(own) > 1:
        own = _nearest(text, start, end, inside)
    return Said(_only(own), 0 if inside else _only({months for *_, months in marks}), bases.basis(text, start, end))


def _only(lengths: set[int]) -> int:
    return next(iter(lengths)) if len(lengths) == 1 else 0


def _nearest(text: str, start: int, end: int, marks: Sequence[tuple[int, int, int]]) -> set[int]:
    """Of several in a clause the one right behind the figure, else those between the figure before it and itself."""
    if "respectively" in text or "分别" in text:
        return set()
    for begin, _, months in marks:
        if begin >= end:
            if _BEHIND.fullmatch(text[end:begin]):
                return {months}
            break
    return {months for _, behind, months in marks if behind <= start and not _AMOUNT.search(text[behind:start])}


@lru_cache(maxsize=8192)
def _lengths(text: str) -> tuple[tuple[int, int, int], ...]:
    """(start, end, months) of the lengths that a text names."""
    return tuple((*match.span(), _LENGTHS[match.lastgroup or ""]) for match in _SPANS.finditer(text))


def _length(own: Said, periods: Sequence[Period]) -> int:
    """Of a figure of a time of another kind its whole text tells nothing."""
    return own.length or (own.whole if all(period.months or period.quarter for period in periods) else 0)


def _lengths_fit(claim: Claim, own: int, fact: Fact, found: Said | None, group: Group) -> bool:
    """The evidence does not say the figure of another length of time."""
    of_periods = {length for period in fact.periods if (length := _months(period))}
    if found is None:
        head = _of_head(fact, group)
        if (head or own < 0) and not _same(own, head or _only(of_periods), claim.sentence):
            return False
        timed = {length for period in claim.periods if (length := _months(period))}
        return len(of_periods) != 1 or timed != {own} or of_periods == timed
    told = _length(found, fact.periods) if _lengths(fact.words) else _only(of_periods)
    return _same(own, told, claim.sentence)


def _same(own: int, found: int, sentence: str) -> bool:
    """Two lengths may be of one time; 0 of any."""
    if not own or not found or own == found or _FIRST.search(sentence):
        return not (own > 0 and found > 0 and own != found)
    if _TO_DATE in {own, found}:
        return not {_QUARTER_MONTHS, _THIS} & {own, found}
    return _THIS in {own, found} and {own, found} <= {_THIS, _QUARTER_MONTHS, _YEAR_MONTHS}


def _of_head(fact: Fact, group: Group) -> int:
    """The length that a column's head names by the report: "this period" beside the year to date is a quarter."""
    head = _only({months for *_, months in _lengths(_head(fact, group)) if months < 0})
    if head == _THIS and not any(_TO_DATE in {m for *_, m in _lengths(_head(f, group))} for f in group.facts):
        return 0
    return head


def _head(fact: Fact, group: Group) -> str:
    return fact.words[len(group.label or "total") + len(group.section) + 1 :]


def _months(period: Period) -> int:
    """How long; 0 where that is not known."""
    return period.months or (3 if period.quarter else 6 if period.half else 0)


def _bases_fit(claim: Claim, own: Said, fact: Fact, found: Said | None, group: Group) -> bool:
    """The evidence's growth is against the time that the sentence says; where either does not say, it is."""
    if claim.figure.kind not in {"percent", "points"} and not fact.change:
        return found is None or not _beside(claim.sentence, claim.figure.end, fact.words, fact.figure.end)
    basis = bases.claimed(claim.sentence, claim.question, own.basis)
    if not basis:
        return True
    told = _of_cell(fact, group) if found is None else found.basis
    return not told or told == basis


def _beside(sentence: str, end: int, words: str, behind: int) -> bool:
    """ "$13.30 billion a quarter ago" is not that of a year ago."""
    one, other = (bases.right_behind(text, at) for text, at in ((sentence, end), (words, behind)))
    return bool(one and other and one != other)


def spans_fit(claim: Claim, operands: Sequence[Fact]) -> bool:
    """Whether a change may be computed from two figures: they lie as far apart as the sentence says and are as long.

    A growth "from a year ago" needs one a year older, a sequential one that of the quarter before. Where times are
    not known, they fit.
    """
    sentence, question, figure = claim.sentence, claim.question, claim.figure
    against = (
        bases.claimed(sentence, question, bases.basis(sentence, figure.start, figure.end)) if len(operands) == 2 else ""
    )
    if against:
        if all(
            f.figure.kind in {"percent", "points"} and (f.change or (f.table < 0 and f.direction)) for f in operands
        ):
            return False  # growth less growth is none
        apart = _apart(*operands)
        if apart and (apart < _YEAR_MONTHS - 1 if against == "year" else apart > _QUARTER_MONTHS + 1):
            return False
    own = {months for *_, months in _lengths(sentence)}
    if len(own) != 1 or min(own) < 0:
        return True
    months = {length for fact in operands for period in fact.periods if (length := _months(period))}
    timed = {_months(period) for period in claim.every}
    return months <= own or not (own <= months or (timed == own and len(months) == 1))


def _of_cell(fact: Fact, group: Group) -> bases.Basis:
    """As its column's head says; of a column of changes else as the two columns before it lie apart."""
    if kind := bases.only(_head(fact, group)):
        return kind
    before = [f for f in group.facts[: fact.column] if not f.change][-2:] if fact.change else []
    months = _apart(*before) if len(before) == 2 else 0
    return "year" if months == _YEAR_MONTHS else "quarter" if months == _QUARTER_MONTHS else ""


def _apart(one: Fact, other: Fact) -> int:
    """How many months lie between two figures' times; 0 where that is not known."""
    if one.table == other.table >= 0 and bool(_PRIOR.search(one.words)) != bool(_PRIOR.search(other.words)):
        return _YEAR_MONTHS
    # Of several times the last stands nearest above the figure.
    a, b = (next((p for p in reversed(f.periods) if p.year and (p.month or p.quarter)), None) for f in (one, other))
    if a is None or b is None or bool(a.month) != bool(b.month) or bool(a.quarter) != bool(b.quarter):
        return 0
    if a.months != b.months and a.months and b.months:
        return 0
    months = abs(12 * (a.year - b.year) + (a.month or 3 * a.quarter) - (b.month or 3 * b.quarter))
    return next((whole for whole in (_YEAR_MONTHS, _QUARTER_MONTHS) if abs(months - whole) <= 1), months)


def _is_past(claim: Claim, fact: Fact, group: Group) -> bool:
    """The sentence names no time and compares with the year before; the figure is what there was then."""
    if claim.every or fact.table < 0 or fact.change or not _YEAR_AGO.search(claim.sentence[claim.figure.end :]):
        return False
    return not _OF_BEFORE.search(claim.sentence[: claim.figure.start]) and _is_oldest(fact, group)


def moves_fit(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """ "Decreased to 81,797" contradicts a row whose earlier figure, which the sentence is about, is smaller."""
    if (
        not claim.direction
        or fact.table < 0
        or fact.change
        or not TO_LEVEL.search(claim.sentence[: claim.figure.start])
    ):
        return True
    if bases.only(claim.sentence) == "quarter":
        return True  # what it was a year before is another matter
    group = evidence.groups[fact.group]
    if not claim.every and _is_oldest(fact, group):
        return False  # what it came to is no figure that later ones follow
    compared = bool(_YEAR_AGO.search(claim.sentence) or _NARROWED.search(claim.sentence))
    for other in group.facts:
        if other is fact or other.change or not other.periods or not fact.periods or not _is_before(other, fact):
            continue
        spoken = re.sub(r"[^\d.,]", "", other.figure.text).strip(",.")
        bracketed = fact.value < 0 and other.value < 0 and not claim.figure.negative  # a loss narrows
        moved = other.value - fact.value if bracketed else fact.value - other.value
        if (compared or (spoken and spoken in claim.sentence)) and moved * claim.direction < 0:
            return False
    return True


def _is_before(one: Fact, other: Fact) -> bool:
    a, b = one.periods[0], other.periods[0]
    return 0 < a.year == b.year - 1 and a.months == b.months and a.quarter == b.quarter and abs(a.month - b.month) <= 1


def _is_oldest(fact: Fact, group: Group) -> bool:
    """Its row has later figures, and none before it."""
    times_of = [(p.year, p.month, p.quarter) for f in group.facts if not f.change for p in f.periods[:1] if p.year]
    own = [(p.year, p.month, p.quarter) for p in fact.periods[:1] if p.year]
    return bool(own) and len(set(times_of)) > 1 and own[0] == min(times_of)
