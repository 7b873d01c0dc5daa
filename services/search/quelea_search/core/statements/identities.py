"""Sums that statements must keep, by which facts read from a table are checked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from quelea_search.core.statements.model import Fact, FactPeriod

_ROUNDING = Decimal("1.5")
"""Units of the last printed digit, for each term, by which a sum of rounded figures may differ."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`total` is the sum of `parts`; a part with a minus is taken off."""

    name: str
    total: str
    parts: tuple[str, ...]
    optional: tuple[str, ...] = ()
    """Terms that belong to the sum of some filers and not of others."""


IDENTITIES = (
    Identity("assets = liabilities and equity", "total_assets", ("total_liabilities_and_equity",)),
    Identity(
        "liabilities and equity = liabilities + equity",
        "total_liabilities_and_equity",
        ("total_liabilities", "total_equity"),
    ),
    Identity("assets = current + non-current", "total_assets", ("current_assets", "noncurrent_assets")),
    Identity(
        "liabilities = current + non-current", "total_liabilities", ("current_liabilities", "noncurrent_liabilities")
    ),
    Identity("equity = parent + non-controlling", "total_equity", ("equity_of_parent", "noncontrolling_interests")),
    Identity("gross profit = revenue - cost", "gross_profit", ("revenue", "-cost_of_revenue")),
    Identity("net income = before tax - tax", "net_income_total", ("pretax_income", "-income_tax")),
    Identity(
        "change in cash = operating + investing + financing",
        "change_in_cash",
        ("operating_cash_flow", "investing_cash_flow", "financing_cash_flow"),
        ("exchange_rate_effect",),
    ),
)


def check(facts: Sequence[Fact]) -> list[Fact]:
    """The facts, with the identities that each passed and failed."""
    groups: dict[tuple[str, FactPeriod], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, fact in enumerate(facts):
        if fact.concept:
            groups[fact.basis, fact.period][fact.concept].append(index)
    passed: dict[int, list[str]] = defaultdict(list)
    failed: dict[int, list[str]] = defaultdict(list)
    for of_concept in groups.values():
        for identity in IDENTITIES:
            involved, holds = _holds(identity, facts, of_concept)
            for index in involved:
                (passed if holds else failed)[index].append(identity.name)
    return [
        replace(fact, passed=tuple(passed[index]), failed=tuple(failed[index]))
        if index in passed or index in failed
        else fact
        for index, fact in enumerate(facts)
    ]


def _holds(identity: Identity, facts: Sequence[Fact], at: dict[str, list[int]]) -> tuple[list[int], bool]:
    """The facts that an identity speaks of, none where one is absent; and whether it holds."""
    names = [identity.total, *(part.removeprefix("-") for part in identity.parts)]
    if any(not at.get(name) for name in names):
        return [], False
    total = facts[at[identity.total][0]]
    slack = _ROUNDING * (len(names) - 1) * _last_digit(total)
    given = [one for one in identity.optional if at.get(one)]
    for parts in (identity.parts, (*identity.parts, *given)):
        terms = [(-1 if part.startswith("-") else 1, at[part.removeprefix("-")][0]) for part in parts]
        involved = [at[identity.total][0], *(index for _, index in terms)]
        if abs(sum((sign * facts[index].value for sign, index in terms), Decimal(0)) - total.value) <= slack:
            return involved, True
    # Where a term is not known by name a difference says nothing.
    return (involved, False) if len(given) == len(identity.optional) else ([], False)


def _last_digit(fact: Fact) -> Decimal:
    """The worth of one unit of the last printed digit."""
    digits = sum(1 for c in fact.printed if c.isdigit())
    whole = sum(1 for c in str(int(abs(fact.value)))) if fact.value else 1
    decimals = len(fact.printed.partition(".")[2].rstrip(") ")) if "." in fact.printed else 0
    return Decimal(10) ** (whole - (digits - decimals) - decimals) if fact.value else Decimal(1)
