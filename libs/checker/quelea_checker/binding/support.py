"""Which facts of the evidence support a figure of the answer, and whether the evidence contradicts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quelea_checker.binding import scorer
from quelea_checker.binding.cells import is_of_other_kind, is_of_other_sign
from quelea_checker.binding.scorer import Binder
from quelea_checker.matching.claims import (
    Claim,
    find_facts_near,
    find_multipliers,
    find_scale,
    is_coincidence,
    same_currency,
    same_kind,
    sign_fits,
)
from quelea_checker.matching.profiles import find_translations
from quelea_checker.model import Figure
from quelea_checker.reading import calendar, wording
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact

_TOLD = 2
"""Digits of a figure that is set against another."""
_RIVALS = 12
"""Facts that the words fit best, which are tried as what the figure is said of."""


def find_supporting_facts(claim: Claim, evidence: Evidence, binder: Binder) -> Iterator[Fact]:
    """Facts that support the figure as it stands, each once; none where the words are of another."""
    found = [
        fact
        for fact in find_facts_near(claim, evidence)
        if agrees(claim, fact, evidence) and is_comparable(claim, fact)
    ]
    if found and not is_of_another(claim, found, evidence, binder):
        yield from found


def is_comparable(claim: Claim, fact: Fact) -> bool:
    """The claim may be about it: it is of its kind, currency and time, whatever its size and sign."""
    figure = claim.figure
    return (
        same_kind(figure, fact)
        and same_currency(figure, fact)
        and (not claim.is_compound or wording.is_compound(fact.words))
        and calendar.periods_fit(claim.periods, fact.periods, fact.years)
    )


def agrees(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """Its size, kind, sign and direction are what the claim says."""
    group = evidence.groups[fact.group]
    scale = find_scale(claim, fact)
    if scale is None or is_coincidence(claim, fact, scale) or not sign_fits(claim, fact, group.label):
        return False
    return not is_of_other_kind(claim, fact, evidence) and not is_of_other_sign(claim, fact, evidence)


def is_of_another(claim: Claim, found: Sequence[Fact], evidence: Evidence, binder: Binder) -> bool:
    """The words about the figure fit a fact that it disagrees with better than any that it agrees with."""
    figure, zone = claim.figure, claim.zone
    if zone is None or (figure.kind == "number" and figure.digits < _TOLD):
        return False
    said = claim.profile()
    own = scorer.find_best(binder, said, found)
    groups = binder.near(said)
    if all(group is not evidence.groups[own.group] for group in groups):
        groups.append(evidence.groups[own.group])
    values = {fact.value for fact in found}
    rivals = [fact for group in groups for fact in group.facts if fact.value not in values and is_alike(claim, fact)]
    ranked = sorted(rivals, key=lambda fact: -binder.score(said, fact))[:_RIVALS]
    against = [fact for fact in ranked if is_comparable(claim, fact) and not agrees(claim, fact, evidence)]
    called = find_translations(claim.sentence) if claim.is_cross_language else None
    return any(  # the first, in each place that prints it
        scorer.is_rival(scorer.rival_features(binder, said, zone.beside, own, rival, figure.digits, called))
        for rival in against
        if rival.value == against[0].value
    )


def is_alike(claim: Claim, fact: Fact) -> bool:
    """It may be set against the figure: it is money where the figure is, and no other figure of the sentence."""
    figure = claim.figure
    return (
        (figure.kind != "number" or fact.figure.digits >= _TOLD)
        and (figure.kind != "percent" or fact.figure.kind == "percent" or fact.unit.percent is True)
        and fact.passage not in claim.excluded_passages
        and not any(has_size_of(other, fact) for other in claim.other_figures)
        and (figure.kind != "number" or fact.table >= 0 or bool(figure.currency) == bool(fact.figure.currency))
    )


def has_size_of(figure: Figure, fact: Fact) -> bool:
    """The figure is the fact's, as far as the size tells."""
    return any(
        abs(figure.size - fact.figure.size * times) <= figure.tolerance for times in find_multipliers(figure, fact)
    )


def is_contradicted(claim: Claim, evidence: Evidence, binder: Binder) -> bool:
    """The evidence has what the words name, and its value is another.

    So it is where the figure stands in the evidence but is said there of something else, and where what the words
    name has another figure at a time that they name.
    """
    if any(agrees(claim, fact, evidence) and is_comparable(claim, fact) for fact in find_facts_near(claim, evidence)):
        return True
    groups = binder.near(claim.profile()) if claim.zone is not None else []
    return any(_is_named(claim, fact, evidence) for group in groups for fact in group.facts)


def _is_named(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The words name its row, or are all said of it in prose, and its time and kind fit."""
    if fact.table >= 0:
        name = evidence.groups[fact.group].name
        named = bool(name) and name <= claim.terms
    else:
        words = claim.terms_of(claim.sentence)
        named = bool(words) and words <= fact.terms
    return (
        named
        and calendar.periods_fit(claim.all_periods, fact.periods, fact.years)
        and is_alike(claim, fact)
        and is_comparable(claim, fact)
    )
