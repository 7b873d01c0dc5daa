"""Sums of several things, trade balances, and what is counted: figures of parts, of the other way, of other units."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

PARTS = CheckPassage(
    "(in millions)\n\tYear Ended June 30,\n\t2025\t2024\nNet sales:\nFerries\t$ 612\t$ 588\nTerminals\t274\t251\n"
    "Catering\t93\t97\nTotal net sales\t$ 979\t$ 936",
    header="Norwick Lines · 10-K · FY2025 · year ended June 30, 2025",
)
PARTS_ZH = CheckPassage(
    "2025年公司空调业务收入318.4亿元，同比增长6%；冰箱业务收入152.7亿元，同比增长3%；合计收入471.1亿元。"
)
TRADE_ZH = CheckPassage("2025年，该省对东盟出口612.5亿美元，自东盟进口388.2亿美元。")
TRADE = CheckPassage("In 2025 the country's exports came to $84.2 billion, and its imports to $97.9 billion.")
SHARES_ZH = CheckPassage(
    "公司拟向大股东转让所持子公司2571万股，作价1.36亿元。2018年认缴出资3200万元，目前仍持有629万股。"
)


def doubted(answer, passage):
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Ferries and terminals together sold $886 million in 2025.", PARTS),
        ("Ferries and terminals together sold $886 million in 2025, while catering sold $93 million.", PARTS),
        ("Ferries, terminals and catering combined reached net sales of $979 million in 2025.", PARTS),
        ("Ferries sold $612 million and terminals $274 million in 2025.", PARTS),
        ("2025年空调与冰箱业务收入合计471.1亿元。", PARTS_ZH),
        ("2025年空调业务收入318.4亿元，冰箱业务收入152.7亿元，合计471.1亿元。", PARTS_ZH),
        ("2025年该省对东盟贸易顺差为224.3亿美元。", TRADE_ZH),
        ("The trade deficit was $13.7 billion in 2025.", TRADE),
        ("公司转让2571万股，作价1.36亿元。", SHARES_ZH),
    ],
)
def test_true_answers_pass(answer, passage):
    assert doubted(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage", "false"),
    [
        ("Ferries and terminals together sold $612 million in 2025.", PARTS, "$612 million"),
        ("Terminals and catering combined sold $274 million in 2025.", PARTS, "$274 million"),
        ("2025年空调与冰箱业务收入合计318.4亿元。", PARTS_ZH, "318.4亿元"),
        ("2025年该省对东盟贸易逆差为224.3亿美元。", TRADE_ZH, "224.3亿美元"),
        ("The trade surplus was $13.7 billion in 2025.", TRADE, "$13.7 billion"),
        ("公司转让2571万元股权，作价1.36亿元。", SHARES_ZH, "2571万元"),
    ],
)
def test_a_part_the_other_way_or_another_unit_is_doubted(answer, passage, false):
    assert doubted(answer, passage) == [false]
