"""On what basis a figure is measured, and growth that a heading states without a sign."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

BRIDGE = CheckPassage(
    "(in millions, except percentages)\n\tYear Ended December 31,\n\t2025\t2024\nOperating income\t$ 1,284\t$ 1,207\n"
    "Plant closure costs\t146\t38\nAdjusted operating income (non-GAAP)\t$ 1,430\t$ 1,245",
    header="Tarrow Foods · 10-K · FY2025 · year ended December 31, 2025",
)
GROWTH = CheckPassage(
    "\tYear Ended December 31,\n\t2025\t2024\nPercentage growth (decline):\nBakery\t3%\t8%\nSnacks\t(4)\t7\n"
    "Percentage growth, excluding the effect of foreign\nexchange rates:\nBakery\t5%\t9%\nSnacks\t2\t6",
    header="Tarrow Foods · 10-K · FY2025 · year ended December 31, 2025",
)
PROSE = CheckPassage(
    "GAAP net income was $612 million in 2025. Non-GAAP net income was $744 million in 2025. "
    "2025年经调整净利润为53.1亿元，未经调整的净利润为47.6亿元。"
)


def doubted(answer, passage):
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("GAAP operating income was $1,284 million in 2025.", BRIDGE),
        ("Operating income was $1,284 million in 2025, and adjusted operating income $1,430 million.", BRIDGE),
        ("Snacks fell 4% in 2025.", GROWTH),
        ("At constant exchange rates Snacks grew 2% in 2025.", GROWTH),
        ("Growth of Bakery fell to 3% in 2025.", GROWTH),
        ("Net income under GAAP was $612 million in 2025.", PROSE),
        ("2025年经调整净利润为53.1亿元。", PROSE),
    ],
)
def test_the_same_basis_passes(answer, passage):
    assert doubted(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage", "false"),
    [
        ("On a GAAP basis, operating income was $1,430 million in 2025.", BRIDGE, "$1,430 million"),
        ("Adjusted operating income was $1,284 million in 2025.", BRIDGE, "$1,284 million"),
        ("At constant exchange rates Bakery grew 3% in 2025.", GROWTH, "3%"),
        ("At constant exchange rates Snacks shrank 2% in 2025.", GROWTH, "2%"),
        ("Non-GAAP net income was $612 million in 2025.", PROSE, "$612 million"),
        ("2025年未经调整的净利润为53.1亿元。", PROSE, "53.1亿元"),
    ],
)
def test_another_basis_is_doubted(answer, passage, false):
    assert doubted(answer, passage) == [false]
