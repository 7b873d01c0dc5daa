"""Metrics as data: what a formula gives, from which operands, and where it gives nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pytest
from quelea_fintext.concepts import concepts
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import Lookup, compute, metrics


@dataclass(frozen=True)
class Figure:
    amount: Decimal
    unit: str = "USD"


def stated(unit: Callable[[str], str] = lambda _: "USD", /, **values: int | tuple[int, int]) -> Lookup[Figure]:
    """Values by concept; a pair is the closing balance and that of a year before."""

    def lookup(concept: str, before: bool) -> Figure | None:
        value = values.get(concept)
        if value is None or (before and not isinstance(value, tuple)):
            return None
        number = value[before] if isinstance(value, tuple) else value
        return Figure(Decimal(number), unit(concept))

    return lookup


def test_every_metric_has_a_formula_and_a_name_in_every_language() -> None:
    assert len(metrics()) >= 60
    for code, names in LANGUAGES.of("metrics").items():
        assert names.keys() == metrics().keys(), code
    assert all(metric.concepts and metric.unit for metric in metrics().values())


def test_no_name_means_two_metrics() -> None:
    names = [name.lower() for metric in metrics().values() for name in metric.names]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("metric", "values", "expected", "formula"),
    [
        ("gross_margin", {"gross_profit": 40, "revenue": 100, "cost_of_revenue": 1}, "40", "{0} / {1}"),
        ("gross_margin", {"revenue": 100, "cost_of_revenue": 60}, "40", "({0} − {1}) / {0}"),
        ("free_cash_flow", {"operating_cash_flow": 90, "capital_expenditure": 25}, "65", "{0} − {1}"),
        ("return_on_equity", {"net_income": 30, "equity_of_parent": (320, 280)}, "10", "{0} / (({1} + {2}) / 2)"),
        ("days_sales_outstanding", {"receivables": (20, 1), "revenue": 100}, "73", "{0} / {1} × 365"),
        ("payout_ratio", {"dividends_paid": 12, "net_income_total": 48}, "25", "{0} / {1}"),
        ("retention_ratio", {"dividends_paid": 12, "net_income": 48}, "75", "1 − {0} / {1}"),
        ("net_debt", {"long_term_debt": 70, "cash_and_equivalents": 30}, "40", "{0} − {1}"),
        ("net_debt", {"long_term_debt": 70, "short_term_debt": 5, "cash_and_equivalents": 30}, "45", "{0} + {1} − {2}"),
        ("quick_ratio", {"current_assets": 9, "inventories": 3, "current_liabilities": 4}, "1.5", "({0} − {1}) / {2}"),
    ],
)
def test_a_metric_and_its_formula(metric: str, values: dict[str, int], expected: str, formula: str) -> None:
    done = compute(metrics()[metric], stated(**values))
    assert done is not None
    assert (done.value, done.formula) == (Decimal(expected), formula)
    assert all(operand.concept in values for operand in done.operands)


def test_conventions_that_a_question_asks_for() -> None:
    lookup = stated(receivables=(20, 10), revenue=100, cost_of_revenue=100, inventories=(20, 20))
    days, turns = metrics()["days_sales_outstanding"], metrics()["inventory_turnover"]
    assert compute(days, lookup, balances="average").value == Decimal("54.75")  # type: ignore[union-attr]
    assert compute(days, lookup, year=360).value == 72  # type: ignore[union-attr]
    assert compute(days, lookup, months=3).value == Decimal("18.2")  # type: ignore[union-attr]
    assert compute(turns, lookup, balances="closing").value == 5  # type: ignore[union-attr]


def test_what_is_left_out_is_said() -> None:
    done = compute(metrics()["total_debt"], stated(long_term_debt=70))
    assert done is not None
    assert done.absent == ("short_term_debt", "current_portion_of_long_term_debt", "bonds_payable")


def test_no_metric_without_its_operands_over_nothing_or_in_two_currencies() -> None:
    margin = metrics()["operating_margin"]
    assert compute(margin, stated(operating_income=5)) is None
    assert compute(margin, stated(operating_income=5, revenue=0)) is None
    mixed = stated(lambda concept: "CNY" if concept == "revenue" else "USD", operating_income=5, revenue=10)
    assert compute(margin, mixed) is None
    assert compute(metrics()["return_on_assets"], stated(net_income=5, total_assets=10)) is None


def test_per_share_metrics_take_the_currency() -> None:
    lookup = stated(lambda concept: "shares" if concept.startswith("shares") else "USD", operating_cash_flow=8,
                    capital_expenditure=2, shares_diluted=3)  # fmt: skip
    done = compute(metrics()["free_cash_flow_per_share"], lookup)
    assert done is not None
    assert (done.value, done.unit) == (2, "USD/share")


def test_what_answers_instead_is_a_concept_of_the_same_statement() -> None:
    assert len(concepts()) >= 150
    for one in concepts().values():
        assert not one.instead or concepts()[one.instead].statement == one.statement
