"""A company's facts by the line that they state, and which of them is a line's in a period."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from quelea_fintext.asked_lines import AskedLines, Line, name_key
from quelea_fintext.concepts import concept_of_label, concepts, goes_on, label_key
from quelea_fintext.dates import parse_iso

from quelea_retriever.core.figures.fact_periods import LONGEST, Target
from quelea_retriever.core.figures.statement_facts import BREAKDOWN, STATEMENTS, FactQuery, StatedFact
from quelea_retriever.core.question.filings import NEAR


class StatedLines:
    """Facts of one company's statements.

    Args:
        asked: What the question asks for: the parent's own statements or the group's, and rows of which heading.
        stated: All its facts.
    """

    def __init__(self, asked: AskedLines, stated: Sequence[StatedFact]) -> None:
        self._asked = asked
        basis = "parent" if asked.parent else "consolidated"
        wanted = FactQuery(statements=frozenset(STATEMENTS), basis=basis, include_doubtful=True).select(stated)
        self._restated = {_of_period(one) for one in wanted if one.restated}
        self.facts = [one for one in wanted if not (one.fact.failed or one.restated)]
        self._by_concept: dict[str, list[StatedFact]] = defaultdict(list)
        self._by_label: dict[str, list[StatedFact]] = defaultdict(list)
        for one in self.facts:
            self._by_label[label_key(one.fact.label)].append(one)
            if (concept := concept_of(one)) or (concept := _flow_elsewhere(one)):
                self._by_concept[concept].append(one)

    def is_restated(self, one: StatedFact) -> bool:
        """Whether a later filing states its line and period again."""
        return _of_period(one) in self._restated

    def stated(self, line: Line, target: Target) -> StatedFact | None:
        """The fact that states a line in a period; None: none does, or several differ."""
        if line.kind == "concept":
            return self.of_concept(line.id, target)
        fitting = self._fitting(self._by_label[line.id], target)
        if target.is_span and any(one.fact.months for one in fitting):  # a balance's row and that of its change
            fitting = [one for one in fitting if one.fact.months]
        if not fitting and (named := [one for one in self._by_label[line.id] if concept_of(one)]):
            return self.of_concept(concept_of(named[0]), target)
        if others := set(self._asked.others):  # the heading of the row, where several rows have its label
            fitting = [one for one in fitting if one.fact.group and others <= set(name_key(one.fact.group))]
        return fitting[0] if len({one.fact.value for one in fitting}) == 1 else None

    def of_concept(self, concept: str, target: Target) -> StatedFact | None:
        """The fact that states a concept in a period, or what answers instead of it."""
        fitting = self._fitting(self._by_concept[concept], target, concepts()[concept].statement)
        if fitting:  # "net income attributable to" the company is its net income where both are stated
            return next((one for one in fitting if goes_on(one.fact.label)), fitting[0])
        instead = concepts()[concept].instead
        other = self._fitting(self._by_concept[instead], target) if instead else []
        return other[0] if other else None

    def _fitting(self, facts: Sequence[StatedFact], target: Target, statement: str = "") -> list[StatedFact]:
        """Facts of that period, the best first: of the right length, in their statement, in a primary one."""
        near = [one for one in facts if (end := parse_iso(one.fact.period_end)) and abs(end - target.end) <= NEAR]
        near.sort(
            key=lambda one: (
                one.fact.statement != statement,
                STATEMENTS.index(one.fact.statement),
                one.ordinal,
                one.fact.start,
            )
        )
        lengths = {one.fact.months for one in near} - {0}
        if target.months > 0:
            wanted = {months for months in lengths if abs(months - target.months) <= 1}
            if not wanted and all(one.fact.statement == "cash_flow" for one in near):
                wanted = {max(lengths)} if lengths else set()  # a quarter's cash flows are stated from the year's start
        elif lengths:
            wanted = {max(lengths)} if target.months == LONGEST else {min(lengths)}
        else:
            wanted = set()
        return [one for one in near if not one.fact.months or one.fact.months in wanted]


def _of_period(one: StatedFact) -> tuple[str, str, str, str]:
    """What is stated again where a line of a period is restated."""
    fact = one.fact
    return concept_of(one) or label_key(fact.label), fact.period_start, fact.period_end, fact.unit


def concept_of(one: StatedFact) -> str:
    """Its concept; of a fact that was stored before its label had one, that."""
    if one.fact.concept or one.fact.statement == "note":
        return one.fact.concept
    found = concept_of_label(one.fact.label, one.fact.statement, kind_of(one))
    return found.id if found else ""


def _flow_elsewhere(one: StatedFact) -> str:
    """The concept of a flow that is stated in another flow statement than its own: depreciation among the expenses."""
    found = concept_of_label(one.fact.label, "", kind_of(one)) if one.fact.months else None
    return found.id if found and found.statement != "balance" and one.fact.statement != "note" else ""


def kind_of(one: StatedFact) -> str:
    """Shares, or an amount for each; empty for all else."""
    return "shares" if one.unit == "shares" else "per_share" if one.unit.endswith("/share") else ""


def labels_of(stated: Sequence[StatedFact]) -> dict[tuple[str, ...], str]:
    """Printed labels of primary statements, as a question may say them."""
    found: dict[tuple[str, ...], str] = {}
    for one in stated:
        label = one.fact.label
        if one.fact.statement in ("note", BREAKDOWN):
            continue
        for form in (label, re.sub(r"\([^()]{0,80}\)|（[^（）]{0,80}）", " ", label)):
            if key := name_key(form):
                found.setdefault(key, label_key(label))
    return found
