"""Which of two things a sentence calls more, or of all the most, without or beside their figures: "A exceeded B".

Figures of one row, one column or one sentence are a series: its members are told apart by their words or their times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from quelea_checker import opposites
from quelea_checker.facts import TOTAL, Evidence
from quelea_checker.model import Period
from quelea_checker.passage_facts import Fact, Group
from quelea_checker.periods import find_periods
from quelea_checker.profiles import role, told, zones
from quelea_checker.superlatives import LEAST, LINE_ITEM, MOST, has_sum, parts
from quelea_checker.times import fits

_MORE, _LESS = opposites.ends("than")
_THAN = re.compile(
    rf"(?P<more>{_MORE}|\b(?:more|higher|greater|larger|bigger|faster|better|stronger) (?P<what>(?:\w+ ){{1,3}}?)than\b"
    r"|(?<=[\u4e00-\u9fff])高于)"
    rf"|(?P<less>{_LESS}|\b(?:less|lower|fewer|smaller|slower|weaker) (?P<what2>(?:\w+ ){{1,3}}?)than\b)",
    re.IGNORECASE,
)
_BI = re.compile(
    r"比(?P<other>[^，。；]{2,24}?)(?:更|要|还|略|明显|稍)?(?:(?P<more>[高多大快强])|(?P<less>[低少小慢弱]))"
)
_SUPER = re.compile(rf"(?P<more>{MOST}|\bthe most\b)|(?P<less>{LEAST}|\bthe least\b)", re.IGNORECASE)
_RANK = re.compile(r"(?:\b(?P<second>second|2nd)|\b(?:third|3rd))[- ]$|(?:第|居)(?:(?P<zh>二)|三)$", re.IGNORECASE)
_RANKED = re.compile(
    r"\b(?:fourth|fifth|next)[- ]|第[四五]|\bone of|\bamong\b|之一"
    r"|\bat (?:the )?(?:most|least|best)|\bever\b|record",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:increas|decreas|declin|growth|grew|rose|fell|chang|drop|gain)|增[长幅速]|降幅|跌幅|涨幅|变动", re.IGNORECASE
)
_OVERTAKES = re.compile(r"\bovert(?:ook|ak)|[赶反]超", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\b.{1,40}\band\b|\bfrom\b.{1,40}\bto\b", re.IGNORECASE)
"""Who overtakes between two times is ahead at the last one."""
_NOT = re.compile(
    r"\b(?:not|no|never|nor|if|unless|would|may|might|could)\b|n't\b|[未没]|不(?!及|足|如)|若|可能|预计|如果",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:half|third|quarter|twice|double|triple|times|combined|together|total of|sum|each|all)\b"
    r"|一半|倍|之和|合计|均|都",
    re.IGNORECASE,
)
_CUT = re.compile(r"[;；。，]|,(?!\d)|\b(?:and|but|while|whereas|because|which|with)\b|但|而")
_GENERIC = told(
    "segment business company companies market region country area category division"
    " 地区 区域 国家 业务 市场 分部 板块 年"
)
"""Words that tell no thing apart."""
_PLACE = re.compile(r"\s*(?:in|for|at|from|of|by|on|to) (?P<of>[^,;.，。]+?)(?=,|;|\.|\s+and\b|$)")
"""Behind a figure of a list, what it is of."""
_FEW = 3
_MOST_GROUPS = 80


@dataclass(frozen=True, slots=True)
class _Member:
    """A figure of a series with what tells it from the others."""

    own: frozenset[str]
    fact: Fact
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Series:
    """Figures of one kind and unit; `of` is what all of them are of."""

    of: frozenset[str]
    members: tuple[_Member, ...]


def is_misranked(sentence: str, evidence: Evidence) -> bool:
    """Whether the evidence's figures say the reverse of what the sentence does."""
    verdicts: list[bool] = []
    for part in _clauses(sentence):
        if not _NOT.search(part) and not _PART.search(part):
            verdicts += _compared(part, sentence, evidence)
            verdicts += _topped(part, sentence, evidence)
    return bool(verdicts) and not any(verdicts)


def _clauses(sentence: str) -> list[str]:
    return [part for part in re.split(r"[;；。]|(?<!\d),|\.(?=\s|$)|，", sentence) if part.strip()]


def _compared(part: str, sentence: str, evidence: Evidence) -> Iterator[bool]:
    """Whether the order of two things is what the clause says, where all that the evidence has of them agrees."""
    over = find_periods(sentence)
    overtakes = len(over) > 1 and _OVERTAKES.search(part)
    if overtakes and not _BETWEEN.search(part):
        return  # at which of the times it was ahead is not said
    moving = bool(_CHANGED.search(part))
    for one, other, more, measure in _pairs(part):
        a, b = _told(one), _told(other)
        before, behind = (over[-1:],) * 2 if overtakes else (find_periods(one) or over, find_periods(other))
        found: Iterable[tuple[Decimal, Decimal]] = ()
        if b - a and a - b:
            every = _every(evidence, a | b, moving=moving)
            found = [pair for s in every for pair in _both(s, a, b, _told(measure), before, behind or before)]
        elif behind and a and not b - a and not moving:
            found = _over_time(evidence, a, before, behind)
        orders = {x > y if more else x < y for x, y in found if x != y and min(x, y) >= 0}
        if len(orders) == 1:
            yield orders.pop()


def _pairs(part: str) -> Iterator[tuple[str, str, bool, str]]:
    """(the one, the other, whether it is more, of what) of each comparison in a clause."""
    for match in _THAN.finditer(part):
        what = match["what"] or match["what2"] or ""
        before, behind = _CUT.split(part[: match.start()])[-1], _CUT.split(part[match.end() :])[0]
        yield f"{before} {what}", behind, match["more"] is not None, what
    for match in _BI.finditer(part):
        yield part[: match.start()] + part[match.end() :], match["other"], match["more"] is not None, ""


def _both(
    series: _Series,
    a: frozenset[str],
    b: frozenset[str],
    measure: frozenset[str],
    before: Sequence[Period],
    behind: Sequence[Period],
) -> Iterator[tuple[Decimal, Decimal]]:
    """The one member that is the first thing with the one that is the second, where nothing else may be meant."""
    one, other = _meant(series, a - b - measure, a | b, before), _meant(series, b - a, a | b, behind)
    if one and other and one is not other and not (a | b) - series.of - one.own - other.own:
        alike = (one.fact.figure.kind, one.fact.figure.scale) == (other.fact.figure.kind, other.fact.figure.scale)
        if alike and one.fact.unit.percent == other.fact.unit.percent:
            yield one.fact.value, other.fact.value


def _meant(series: _Series, own: frozenset[str], said: frozenset[str], times: Sequence[Period]) -> _Member | None:
    found = [m for m in series.members if m.own & own and m.own <= said and fits(times, m.fact.periods, m.fact.years)]
    return found[0] if len(found) == 1 else None


def _told(text: str) -> frozenset[str]:
    return told(text) - _GENERIC


def _over_time(
    evidence: Evidence, terms: frozenset[str], times: Sequence[Period], before: Sequence[Period]
) -> Iterator[tuple[Decimal, Decimal]]:
    """Of a row that the words name wholly, its figures of the one time and of the other."""
    for group in evidence.groups:
        if group.table < 0 or not group.name or not group.name - _GENERIC <= terms <= _whole(group, evidence):
            continue
        facts = [f for f in group.facts if not f.change and f.periods]
        one = [f for f in facts if fits(times, f.periods, f.years) and not fits(before, f.periods, f.years)]
        other = [f for f in facts if fits(before, f.periods, f.years) and not fits(times, f.periods, f.years)]
        if len(one) == len(other) == 1:
            yield one[0].value, other[0].value


def _whole(group: Group, evidence: Evidence) -> frozenset[str]:
    return told(f"{group.label} {group.section} {evidence.titles[group.passage]}")


def _topped(part: str, sentence: str, evidence: Evidence) -> Iterator[bool]:
    """For each series that has the thing, whether it is at its end."""
    match = _SUPER.search(part)
    if not match or _RANKED.search(part) or _CHANGED.search(part) or _THAN.search(part):
        return
    terms = _told(f"{_RANK.sub(' ', part[: match.start()])} {part[match.end() :]}")
    times = find_periods(sentence)
    wanted = parts(sentence)
    for series in _every(evidence, terms, moving=False):
        members = _without_total([m for m in series.members if fits(times, m.fact.periods, m.fact.years)])
        named = [m for m in members if m.own and m.own <= terms]
        if len(named) != 1 or len(members) < _FEW or len({m.own for m in members}) < len(members):
            continue
        if (
            terms - series.of - named[0].own
            or not all(m.own for m in members)
            or len(members) != (wanted or len(members))
        ):
            continue
        if any(m.fact.table >= 0 and LINE_ITEM.search(m.label) for m in members):
            continue
        value, rest = named[0].fact.value, [m.fact.value for m in members if m is not named[0]]
        if min(value, *rest) >= 0 and not has_sum([value, *rest]):
            rank = _RANK.search(part[: match.start()])
            place = 0 if rank is None else 1 if rank["second"] or rank["zh"] else 2
            order = sorted((value, *rest), reverse=match["more"] is not None)
            yield order[min(place, len(rest))] == value


def _without_total(members: list[_Member]) -> list[_Member]:
    """Without the one that is the sum of all others: a total by another name."""
    values = [m.fact.value for m in members]
    return [m for m in members if len(members) < _FEW or 2 * m.fact.value != sum(values)]


def _every(evidence: Evidence, terms: frozenset[str], *, moving: bool) -> Iterator[_Series]:
    """The series of the evidence that have any of the terms: sentences, rows and columns.

    Args:
        moving: Of how much things rose, else of what they are.
    """
    groups = {id(g): g for term in terms for g in evidence.by_term.get(term, ())}
    seen = set()
    for group in list(groups.values())[:_MOST_GROUPS]:
        title = told(evidence.titles[group.passage])
        if group.table < 0:
            yield from _of_sentence(group, title, moving=moving)
            continue
        if moving:
            continue
        yield _row(group, title)
        for fact in group.facts:
            if (group.block, fact.column) not in seen and not fact.change:
                seen.add((group.block, fact.column))
                rows = [row for row in evidence.rows.get(fact.table, ()) if row.block == group.block]
                yield _column(rows, fact, title)


def _row(group: Group, title: frozenset[str]) -> _Series:
    """A row whose columns are things and not times."""
    of = told(f"{group.label} {group.section}")
    heads = [(told(f.words) - of - _GENERIC, f) for f in group.facts if not f.change]
    return _Series(of | title, tuple(_Member(own, f) for own, f in heads if own))


def _column(rows: Sequence[Group], fact: Fact, title: frozenset[str]) -> _Series:
    """A column: its rows are the members, what its head says all of them are of."""
    cells = [
        (told(row.label) - _GENERIC, f, row.label)
        for row in rows
        for f in row.facts
        if f.column == fact.column and row.label and not TOTAL.search(row.label)
    ]
    shared = frozenset.intersection(*(name for name, _, _ in cells)) if cells else frozenset()
    return _Series(
        told(fact.words) | shared | title, tuple(_Member(name - shared, f, label) for name, f, label in cells)
    )


def _of_sentence(group: Group, title: frozenset[str], *, moving: bool) -> Iterator[_Series]:
    """The figures of a sentence, by kind and unit, each with the words about it."""
    text = group.label
    about = zones(text, [f.figure for f in group.facts])
    kinds: dict[tuple[str, str, bool], list[Fact]] = {}
    for fact in group.facts:
        figure = fact.figure
        moves = role(text, figure.start) == "change" or (figure.kind != "number" and fact.direction != 0)
        if figure.start in about and moves == moving and not figure.negative:
            kinds.setdefault((figure.kind, figure.currency, bool(figure.scale)), []).append(fact)
    for alike in kinds.values():
        places = [_PLACE.match(text, f.figure.end) for f in alike]
        if all(places):  # a list: "Revenue was 41 in Norway, 37 in Sweden"
            said = [place["of"] for place in places if place]
        else:
            zoned = [about[f.figure.start] for f in alike]
            said = [next(filter(told, (_CUT.split(z.before)[-1], z.before, z.behind)), "") for z in zoned]
        words = [told(_THAN.sub(" ", part)) - _GENERIC for part in said]
        shared = frozenset.intersection(*words)
        of = shared | (told(text) - frozenset().union(*words)) | title
        yield _Series(of, tuple(_Member(w - shared, f) for w, f in zip(words, alike, strict=True)))
