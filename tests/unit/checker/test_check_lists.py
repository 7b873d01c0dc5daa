"""What a list, a table or a line shares: a unit that stands once, a head that holds for the lines under it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from quelea_checker import CheckPassage, check_answer
from quelea_checker.reading.amounts import parse


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("两项业务分别实现收入 3.27、 8.4 亿元", [327_000_000, 840_000_000]),
        ("毛利为3.2、4.1和5.6亿元", [320_000_000, 410_000_000, 560_000_000]),
        ("sales of 7.25 and 9.5 billion yuan", [7_250_000_000, 9_500_000_000]),
        ("收入2.5亿元、利润3.1", [250_000_000, Decimal("3.1")]),
        ("平台实现GMV512亿元", [51_200_000_000]),
        ("采购H20芯片花费3万元", [30_000]),
        ("an order of A100 cards for $3 million", [3_000_000]),
    ],
)
def test_a_unit_that_stands_once(text, sizes):
    assert [figure.size for figure in parse(text)] == sizes


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        ("毛利率提高1.5pct至20%", "points", Decimal("1.5")),
        ("费用率（-0.8pct）", "points", Decimal("0.8")),
        ("净息差下降20bps至3.1%", "points", Decimal("0.2")),
        ("prices rose 5 pct", "percent", Decimal(5)),
        ("the share gained 3pts", "points", Decimal(3)),
    ],
)
def test_points_as_reports_write_them(text, kind, size):
    first = parse(text)[0]
    assert (first.kind, first.size) == (kind, size)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Aldora bought back 22.4 million shares in total.", "supported"),
        ("Aldora bought back $22.4 million of shares in total.", "contradicted"),
        ("Aldora bought back 2.24 million shares in total.", "contradicted"),
        ("Aldora bought back 22.4 trillion shares in total.", "contradicted"),
        ("Its authorization had $41,250 million left after April.", "supported"),
    ],
)
def test_a_count_printed_in_full_in_a_table_of_millions(answer, verdict):
    table = CheckPassage(
        "Shares bought back by Aldora\nPeriod\tShares\tLeft of the authorization (In millions)\n"
        "April\t7,912,306\t$ 41,250\nMay\t16,473,118\t39,800\nTotal\t22,385,423"
    )
    assert check_answer(answer, [table]).figures[0].verdict == verdict
