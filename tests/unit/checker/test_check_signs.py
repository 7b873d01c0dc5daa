"""The sign of a figure, said by a word in the answer and by brackets, a heading or another word in the evidence."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

BREWERY = CheckPassage(
    "(in millions)\n\tYear Ended December 31,\n\t2025\t2024\nOperating income (loss):\nBeer\t$ 318\t$ 297\n"
    "Spirits\t(46)\t(81)\nYear-over-year percentage growth (decline):\nBeer\t7%\t4%\nSpirits\t(13)\t9",
    header="Corvane Brewing · 10-K · FY2025 · year ended December 31, 2025",
)
CASH = CheckPassage(
    "(in millions)\n\tYear Ended December 31,\n\t2025\t2024\nNet cash provided by (used in) operating activities\t$ 742"
    "\t$ 698\nPurchases of equipment\t(931)\t(512)\nFree cash flow\t$ (189)\t$ 186",
    header="Corvane Brewing · 10-K · FY2025 · year ended December 31, 2025",
)
HOLDING = CheckPassage(
    "Included in other income (expense), net is a gain (loss) of $(538) million in 2025 from our holding in Delmar. "
    "Exchange rates had an unfavorable effect of $27 million on revenue in 2025.",
    header="Corvane Brewing · 10-K · FY2025 · year ended December 31, 2025",
)
ZH = CheckPassage(
    "合并现金流量表（单位：万元）\n项目\t2025年\t2024年\n经营活动产生的现金流量净额\t-6,318\t7,245\n"
    "投资活动产生的现金流量净额\t4,102\t-9,876",
    header="海澜精工 · 年度报告 · 2025年",
)
ZH_PROSE = CheckPassage("2025年公司处置子公司损失2,316万元。2025年对巴西的贸易顺差为48.2亿元。")


def doubted(answer, passage):
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Spirits lost $46 million in 2025.", BREWERY),
        ("Beer earned $318 million in 2025, up from $297 million.", BREWERY),
        ("Spirits fell 13% in 2025 after growing 9% in 2024.", BREWERY),
        ("2025年烈酒业务（Spirits）亏损4600万美元。", BREWERY),
        ("Free cash flow was an outflow of $189 million in 2025.", CASH),
        ("Free cash flow swung from an inflow of $186 million in 2024 to an outflow of $189 million in 2025.", CASH),
        ("The holding in Delmar brought a loss of $538 million in 2025.", HOLDING),
        ("Exchange rates had an unfavorable effect of $27 million.", HOLDING),
        ("2025年经营活动现金净流出6,318万元。", ZH),
        ("2025年投资活动现金净流入4,102万元。", ZH),
        ("处置子公司损失2,316万元。", ZH_PROSE),
        ("2025年对巴西的贸易顺差为48.2亿元。", ZH_PROSE),
    ],
)
def test_a_sign_that_is_said_and_printed_alike_passes(answer, passage):
    assert doubted(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage", "false"),
    [
        ("Spirits earned $46 million in 2025.", BREWERY, "$46 million"),
        ("Beer lost $318 million in 2025.", BREWERY, "$318 million"),
        ("Spirits grew 13% in 2025.", BREWERY, "13%"),
        ("Spirits sales rose 13% in 2025.", BREWERY, "13%"),
        ("2025年啤酒业务（Beer）亏损3.18亿美元。", BREWERY, "3.18亿美元"),
        ("Free cash flow was an inflow of $189 million in 2025.", CASH, "$189 million"),
        ("Free cash flow was an outflow of $186 million in 2024.", CASH, "$186 million"),
        ("The holding in Delmar brought a gain of $538 million in 2025.", HOLDING, "$538 million"),
        ("Exchange rates had a favorable effect of $27 million.", HOLDING, "$27 million"),
        ("2025年经营活动现金净流入6,318万元。", ZH, "6,318万元"),
        ("2025年投资活动现金净流出4,102万元。", ZH, "4,102万元"),
        ("处置子公司收益2,316万元。", ZH_PROSE, "2,316万元"),
        ("2025年对巴西的贸易逆差为48.2亿元。", ZH_PROSE, "48.2亿元"),
    ],
)
def test_the_other_sign_is_doubted(answer, passage, false):
    assert doubted(answer, passage) == [false]
