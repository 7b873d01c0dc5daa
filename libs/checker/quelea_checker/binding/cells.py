"""What a cell is and what the sentence says of the figure that rests on it, compared: when, of what, of which kind and
sign. One comparison for a figure that is pointed at, one that was found, and the operands of one that is computed.

Each part compares what is known on both sides; where either says nothing, nothing is different.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from quelea_fintext.asked_lines import read_asked_lines
from quelea_fintext.concepts import concept_of_label, concepts
from quelea_fintext.metrics import metrics
from quelea_fintext.text import CJK, stem

from quelea_checker.binding import scorer
from quelea_checker.binding.scorer import Binder
from quelea_checker.matching.claims import Claim
from quelea_checker.matching.profiles import distinctive_terms, find_translations
from quelea_checker.model import Figure
from quelea_checker.reading import calendar, units, wording
from quelea_checker.reading.attachment import is_start_of_move
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, content_terms

Difference = Literal["", "time", "row", "kind", "sign"]

_PAIR = 2
_TOLD = 2
"""Digits of a cell that another may be taken for."""
_OF = re.compile(r"(?:\s?\[\d{1,3}\]){0,6}\s?of\b")
_CHANGE = re.compile(r"\bby\b\D{0,20}$|[升增降减跌][长加少低]?了?约?$")
"""Before a figure: it is the change, not what something changed to."""


def find_difference(
    claim: Claim, facts: Sequence[Fact], evidence: Evidence, binder: Binder, *, change: bool = False
) -> Difference:
    """In what the sentence differs from the cells that its figure is, or is computed from.

    Args:
        claim: The figure with what is said of it.
        facts: One cell, or a computation's operands.
        change: What is computed is a difference or a growth.
    """
    if is_of_other_time(claim, facts):
        return "time"
    if len(facts) == 1 and is_of_other_kind(claim, facts[0], evidence):
        return "kind"
    if len(facts) == 1 and is_of_other_sign(claim, facts[0], evidence):
        return "sign"
    if change and len(facts) > 1 and has_unnamed_row(claim, facts, evidence):
        return "row"
    if all(is_of_other_part(claim, fact, evidence) for fact in facts):
        return "row"
    if is_of_other_concept(claim, facts, evidence):
        return "row"
    told = [(claim, fact) for fact in facts] if change or len(facts) == 1 else _told_apart(claim, facts)
    return "row" if any(is_of_other_row(one, fact, facts, evidence, binder) for one, fact in told) else ""


def _told_apart(claim: Claim, facts: Sequence[Fact]) -> Iterator[tuple[Claim, Fact]]:
    """Of a ratio what is above and what is below, each with its own words: "A was 5% of B"."""
    if claim.zone is None or not distinctive_terms(claim.zone.before):
        return  # "compared with 33.5%": its words are another figure's
    yield replace(claim, zone=replace(claim.zone, behind="")), facts[0]
    if _OF.match(claim.zone.behind) and distinctive_terms(claim.zone.behind):
        yield replace(claim, zone=replace(claim.zone, before=claim.zone.behind, behind="", carried="")), facts[-1]


def is_of_other_time(claim: Claim, facts: Sequence[Fact]) -> bool:
    """None of the latest cells is of a time that the figure is said of; or cells of two lengths are computed with."""
    dated = [fact for fact in facts if fact.periods]
    said = {period.months for period in claim.all_periods if period.months}
    lengths = [{period.months for period in fact.periods if period.months} for fact in dated]
    known = {min(one) for one in lengths if len(one) == 1}
    if len(known) > 1 and len(said) < 2:  # a quarter's share of its year is said with both
        return True
    times = claim.periods if len(facts) == 1 and not _is_parted(claim) else claim.all_periods
    if not dated or not claim.periods or len({fact.figure.kind for fact in facts}) > 1:
        return False  # "up 279%, which implies 3.8 a year before": the result is of another time than its operands
    latest = max(fact.latest_date for fact in dated)
    return not any(
        calendar.periods_fit(times, fact.periods, fact.years) for fact in dated if fact.latest_date == latest
    )


def _is_parted(claim: Claim) -> bool:
    """Another figure stands before the time that is taken for this one's: "5 after 4 in 2024"."""
    end = claim.figure.end
    return any(end <= other.start and other.end <= p.start for p in claim.periods for other in claim.other_figures)


def is_of_other_row(claim: Claim, fact: Fact, facts: Sequence[Fact], evidence: Evidence, binder: Binder) -> bool:
    """The words about the figure fit another row of the cell's column better than the cell's own.

    Whether they do is told by the fitted score that binds plain figures.
    """
    zone = claim.zone
    if fact.table < 0 or zone is None or fact.figure.digits < _TOLD:
        return False
    if _concept_of(fact, evidence) in named_concepts(f"{zone.before} {zone.behind}"):
        return False
    own = {one.group for one in facts}
    said = claim.profile()
    called = find_translations(claim.sentence) if claim.is_cross_language else None
    for group in evidence.rows.get(fact.table, ()):
        rival = next((one for one in group.facts if one.column == fact.column), None)
        if rival is None or rival.group in own or rival.figure.kind != fact.figure.kind or rival.value == fact.value:
            continue
        values = scorer.rival_features(binder, said, zone.beside, fact, rival, fact.figure.digits, called)
        if scorer.is_rival(values):
            return True
    return False


def is_of_other_concept(claim: Claim, facts: Sequence[Fact], evidence: Evidence) -> bool:
    """The words name a line of statements that a cell's table has and no cell is of, and a cell is of a line that they
    do not name: by all names that filers and readers have for a line or for a metric made of it.
    """
    if claim.zone is None:
        return False
    named = named_concepts(f"{claim.zone.before} {claim.zone.behind}")
    own = [(fact, _concept_of(fact, evidence)) for fact in facts if fact.table >= 0]
    missing = named - {concept for _, concept in own}
    return any(concept and concept not in named and missing & _concepts_beside(fact, evidence) for fact, concept in own)


@lru_cache(maxsize=1024)
def named_concepts(words: str) -> frozenset[str]:
    """Ids of the concepts that words name, alone or in the formula of a metric, with those that may stand for them."""
    lines = read_asked_lines(words).lines
    found = {line.id for line in lines if line.id in concepts()}
    found |= {concept for line in lines if line.id in metrics() for concept in metrics()[line.id].concepts}
    return frozenset(found | {one.instead for one in map(concepts().__getitem__, found) if one.instead})


def _concept_of(fact: Fact, evidence: Evidence) -> str:
    concept = concept_of_label(evidence.groups[fact.group].label)
    return concept.id if concept else ""


def _concepts_beside(fact: Fact, evidence: Evidence) -> set[str]:
    """Of the other rows of its column."""
    rows = (one for group in evidence.rows.get(fact.table, ()) for one in group.facts if one.column == fact.column)
    return {_concept_of(one, evidence) for one in rows if one.group != fact.group and one.value != fact.value}


def is_of_other_part(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The same row stands in its table under a heading that the sentence names, and the cell's is not named."""
    group = evidence.groups[fact.group]
    own = content_terms(group.section)
    if fact.table < 0 or not own or own & claim.terms:
        return False
    others = (one.section for one in evidence.rows.get(fact.table, ()) if one.name == group.name)
    return any((more := content_terms(other) - own) and more <= claim.terms for other in others)


def has_unnamed_row(claim: Claim, facts: Sequence[Fact], evidence: Evidence) -> bool:
    """A change between two rows of one table, of which the sentence names but one: it changed into something else."""
    groups = [evidence.groups[fact.group] for fact in facts]
    names = {group.name for group in groups}
    if len(names) < _PAIR or len({group.table for group in groups}) > 1 or groups[0].table < 0:
        return False
    terms = claim.terms_of(claim.sentence)
    named = [bool(name & terms) for name in names if name]
    return any(named) and not all(named)


def is_of_other_kind(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The sentence counts what the cell does not: people or shops where it is money, money where it is shares."""
    figure, sentence = claim.figure, claim.sentence
    if figure.kind != "number" or fact.figure.kind != "number" or fact.table < 0:
        return False
    kind = _kind_of(fact, evidence)
    if kind == "shares":
        return bool(figure.currency)
    counted = units.find_counted(sentence, figure.end)
    if counted is None or (kind != "money" and not figure.currency):
        return False
    return bool(CJK.search(counted)) or stem(counted) not in fact.terms


def _kind_of(fact: Fact, evidence: Evidence) -> str:
    """ "money" or "shares", where the cell, its row or the concept that its label names says so; else empty."""
    if fact.figure.currency:
        return "money"
    group = evidence.groups[fact.group]
    if units.counts_shares(group.label):
        return "shares"
    concept = concept_of_label(group.label)
    if concept is not None:
        return concept.unit or "money"
    return "money" if any(one.figure.currency for one in group.facts) else ""


def is_of_other_sign(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The sentence calls a loss what the cell has as a profit, or a profit what its row calls a loss."""
    figure = claim.figure
    if fact.table < 0 or fact.change or claim.zone is None:
        return False
    label = evidence.groups[fact.group].label
    named = wording.find_level_sign(label)
    said = wording.find_level_sign(claim.sentence[: figure.start])
    if not said or not fact.figure.number or wording.is_spent(label):
        return False
    if figure.negative and not figure.loose:
        said = -1
    if said < 0:
        return named > 0 and not fact.figure.negative
    return named < 0 and not wording.is_negative(claim.sentence)


def find_moves(sentence: str, figures: Sequence[Figure]) -> Iterator[tuple[Figure, Figure, int]]:
    """(later, earlier, 1 or -1) of each two figures between which a sentence says that something rose or fell.

    "Rose to 5 from 4", "from 4 to 5", 由4增长到5.
    """
    bases: set[int] = set()
    for at, (one, other) in enumerate(pairwise(figures)):
        if one.kind != other.kind or one.kind == "period" or one.currency != other.currency:
            continue
        if is_start_of_move(sentence, one, other):
            old, new = one, other
        elif is_start_of_move(sentence, other, None) and one.start not in bases:
            new, old = one, other
            behind = figures[at + _PAIR] if at + _PAIR < len(figures) else None
            if wording.ends_with(_CHANGE, sentence, one.start) or (
                behind is not None and is_start_of_move(sentence, other, behind)
            ):  # "costs grew from 30 to 35 and sales from 350 to 400"
                continue
        else:
            continue
        bases.add(old.start)
        way = wording.find_direction(sentence, new.start, new.end)
        if way:
            yield new, old, way


def moves_otherwise(new: Claim, old: Claim, cells: tuple[Fact, Fact] | None, way: int, evidence: Evidence) -> bool:
    """The two figures of a move went the other way than is said; or their cells are of two rows of which the sentence
    names one, or are said in the wrong order.

    A loss widens where its size grows, with its minus or without; what is not called a loss falls then.
    """
    a, b = new.figure, old.figure
    if a.negative != b.negative or not a.size or not b.size:
        return False
    is_loss = wording.find_level_sign(new.sentence[: min(a.start, b.start)]) < 0
    if (a.size - b.size) * way * (-1 if a.negative and not is_loss else 1) < 0:
        return True
    if cells is None:
        return False
    later, earlier = cells
    if has_unnamed_row(new, cells, evidence):
        return True
    dates = later.latest_date, earlier.latest_date
    return later.group == earlier.group and 0 not in (dates[0][0], dates[1][0]) and dates[0] < dates[1]


def as_said_of(claim: Claim, fact: Fact) -> Claim:
    """The claim, had it the cell's own figure: of an operand it is not the size that is compared."""
    return replace(claim, figure=replace(fact.figure, start=claim.figure.start, end=claim.figure.end))
