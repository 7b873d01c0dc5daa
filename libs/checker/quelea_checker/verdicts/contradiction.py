"""Of a figure that nothing bears out: does the evidence say otherwise, or does it say nothing of it?"""

from __future__ import annotations

from quelea_checker.binding.scorer import Binder
from quelea_checker.binding.support import is_alike, is_comparable
from quelea_checker.matching.claims import Claim, is_luck, near, sizes
from quelea_checker.reading.calendar import fits
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import TIMES, Fact


def is_contradicted(claim: Claim, evidence: Evidence, binder: Binder) -> bool:
    """The evidence has what the words name, and its value is another.

    So it is where the figure stands in the evidence but is said there of something else or goes the other way, and
    where a row that the words name has another figure at a time that they name.
    """
    if any(_is_printed(claim, fact, evidence) for fact in near(claim, evidence)):
        return True
    groups = binder.near(claim.said()) if claim.zone is not None else []
    return any(_is_named(claim, fact, evidence) for group in groups for fact in group.facts)


def _is_printed(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The figure stands there, whatever its sign, and is of its time."""
    scale = sizes(claim, fact)
    return (
        scale is not None
        and is_comparable(claim, fact)
        and not is_luck(claim, fact, scale, evidence.groups[fact.group].name)
    )


def _is_named(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The words name its row, or are all said of it in prose; and its time, kind and unit fit."""
    if fact.table >= 0:
        name = evidence.groups[fact.group].name
        named = bool(name) and name <= claim.terms
    else:
        words = claim.heard(claim.sentence) - TIMES
        named = bool(words) and words <= fact.terms
    return (
        named and fits(claim.every, fact.periods, fact.years) and is_alike(claim, fact) and is_comparable(claim, fact)
    )
