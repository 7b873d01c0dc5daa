"""Which rows and sentences of the evidence a figure may be computed from: those that share its sentence's terms."""

from __future__ import annotations

from decimal import Decimal

from quelea_checker.matching.claims import Claim
from quelea_checker.reading.evidence import TOTAL, Evidence
from quelea_checker.reading.facts import Group

_GROUPS = 16
"""Rows and sentences that are looked at for one figure: those that share most with the sentence."""
LOOKED = 3000
"""Rows and sentences that are weighed for one figure."""


def find_relevant_groups(claim: Claim, evidence: Evidence) -> list[Group]:
    """Groups with facts that share words with the sentence, those that share the rarest first.

    Terms are taken from the rarest on until LOOKED groups have been seen: what half the evidence says tells nothing.
    """
    scores: dict[int, tuple[Decimal, Group]] = {}
    looked = 0
    for term in sorted(claim.terms, key=lambda t: (len(evidence.by_term.get(t, ())), t)):
        groups = evidence.by_term.get(term, [])
        looked += len(groups)
        if looked > LOOKED:
            break
        for group in groups:
            if group.passage in claim.excluded_passages:
                continue
            score, _ = scores.get(id(group), (Decimal(0), group))
            scores[id(group)] = (score + Decimal(1) / len(groups), group)
    years = {period.year for period in claim.all_periods if period.year}
    precise = claim.figure.digits > 2
    found = []
    for score, group in scores.values():
        shared = len(group.name & claim.terms)
        named = (
            shared * 3 >= len(group.name) or shared > 1
            if precise
            else shared == len(group.name) or shared * 5 >= len(group.name) * (2 if shared > 1 else 3)
        )
        if group.table < 0 or named or TOTAL.search(group.label):
            timely = not group.name and any(p.year in years for f in group.facts[:1] for p in f.periods)
            cover = Decimal(len(group.terms & claim.terms)) / (len(group.terms) or 1)
            found.append((-(score + cover + timely), group.label, [fact.figure.text for fact in group.facts], group))
    seen = {id(group) for *_, group in found}
    for year in sorted(years):  # rows that are years have no other name
        found += [
            (Decimal(0), group.label, [fact.figure.text for fact in group.facts], group)
            for group in evidence.by_year.get(year, ())
            if id(group) not in seen
        ]
    if not claim.terms and len(evidence.groups) <= _GROUPS:
        found = [(Decimal(0), g.label, [f.figure.text for f in g.facts], g) for g in evidence.groups if g.facts]
    found.sort(key=lambda one: one[:3])
    return [group for *_, group in found[:_GROUPS]]
