"""Which of two things is more, and which of all is most, where the answer does not repeat the figures."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

BOATS = CheckPassage(
    "In 2024 revenue of the Boats segment was $412 million and revenue of the Trucks segment was $903 million. Net "
    "income was $88 million, less than the $95 million that analysts had expected."
)
NORVELL = CheckPassage(
    "(in millions)\n\tYear Ended December 31,\n\t2024\t2023\nSubscription revenue\t$ 1,204\t$ 1,011\n"
    "Services revenue\t455\t498\nTotal revenue\t1,659\t1,509",
    header="Norvell · 10-K · FY2024",
)
GROWTH = CheckPassage("Online sales grew 12% and store sales grew 4%.")
NORTH = CheckPassage("Revenue was $41 million in Norway, $37 million in Sweden and $52 million in Denmark.")
TABLE = CheckPassage("(in millions)\tRevenue\tProfit\nNorway\t41\t6\nSweden\t37\t9\nDenmark\t52\t4")
EAST = CheckPassage("2024年，华东地区实现营业收入31.2亿元，华南地区实现营业收入18.7亿元，西北地区实现营业收入6.4亿元。")
COSTS = CheckPassage(
    "项目\t2024年\t2023年\n研发费用\t3,120\t2,870\n销售费用\t2,455\t2,990\n管理费用\t1,204\t1,150",
    header="海澜精工 · 年度报告 · 2024年",
)
OUTPUT = CheckPassage("按地区看，浙江产量为32万吨，江苏产量为45万吨，山东产量为28万吨。")


def doubted(answer: str, passage: CheckPassage) -> bool:
    report = check_answer(answer, [passage])
    return any(one.verdict in UNSUPPORTED for one in (*report.sentences, *report.figures))


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Revenue of the Trucks segment exceeded that of the Boats segment in 2024.", BOATS),
        ("Boats segment revenue was lower than Trucks segment revenue.", BOATS),
        ("In 2024 Trucks revenue was more than twice Boats revenue.", BOATS),
        ("Net income was less than analysts had expected.", BOATS),
        ("Subscription revenue exceeded services revenue in 2024.", NORVELL),
        ("Services revenue in 2024 was lower than in 2023.", NORVELL),
        ("Online sales grew faster than store sales.", GROWTH),
        ("Denmark had the highest revenue.", NORTH),
        ("Norway was the second largest market with $41 million.", NORTH),
        ("Revenue was lowest in Sweden.", NORTH),
        ("Sweden had the highest profit.", TABLE),
        ("2024年华东地区营业收入高于华南地区。", EAST),
        ("西北地区营业收入低于华南地区。", EAST),
        ("2023年销售费用超过研发费用。", COSTS),
        ("2024年销售费用低于2023年。", COSTS),
        ("江苏产量最高。", OUTPUT),
        ("浙江产量居第二。", OUTPUT),
    ],
)
def test_the_order_of_the_evidence_passes(answer: str, passage: CheckPassage) -> None:
    assert not doubted(answer, passage)


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Revenue of the Boats segment exceeded that of the Trucks segment in 2024.", BOATS),
        ("Boats had higher revenue than Trucks in 2024.", BOATS),
        ("Net income was more than analysts had expected.", BOATS),
        ("Services revenue exceeded subscription revenue in 2024.", NORVELL),
        ("Services revenue in 2024 was higher than in 2023.", NORVELL),
        ("Subscription revenue was less than half of total revenue in 2024.", NORVELL),
        ("Store sales grew faster than online sales.", GROWTH),
        ("Norway had the highest revenue.", NORTH),
        ("Sweden was the second largest market with $37 million.", NORTH),
        ("Revenue was lowest in Norway.", NORTH),
        ("Denmark had the highest profit.", TABLE),
        ("2024年华南地区营业收入高于华东地区。", EAST),
        ("华南地区营业收入低于西北地区。", EAST),
        ("2023年研发费用超过销售费用。", COSTS),
        ("2024年销售费用高于2023年。", COSTS),
        ("浙江产量最高。", OUTPUT),
    ],
)
def test_another_order_is_caught(answer: str, passage: CheckPassage) -> None:
    assert doubted(answer, passage)


CROSSED = CheckPassage(
    "€ mn\tFY2025\tFY2024\nPump sales\t145\t152\nValve sales\t154\t136\nTotal sales\t299\t288",
    header="Norvell · annual results 2025",
)
OVERTOOK = CheckPassage("In the second year the valve business overtook the pump business, as exports grew.")
TURNED = CheckPassage("万元\t2025年\t2024年\n水泵收入\t145\t152\n阀门收入\t154\t136", header="诺维尔 2025年年报")


@pytest.mark.parametrize(
    ("true", "false", "passage"),
    [
        (
            "In FY2025 valve sales overtook pump sales.",
            "In FY2025 pump sales overtook valve sales.",
            CROSSED,
        ),
        (
            "Pump sales were overtaken by valve sales in FY2025.",
            "Valve sales were overtaken by pump sales in FY2025.",
            CROSSED,
        ),
        (
            "Valve sales overtook pump sales between FY2024 and FY2025.",
            "Pump sales overtook valve sales between FY2024 and FY2025.",
            CROSSED,
        ),
        (
            "The valve business overtook the pump business in the second year.",
            "The pump business overtook the valve business in the second year.",
            OVERTOOK,
        ),
        ("2025年阀门收入反超水泵收入。", "2025年水泵收入反超阀门收入。", TURNED),
    ],
)
def test_who_overtakes_is_ahead_at_the_last_time(true: str, false: str, passage: CheckPassage) -> None:
    assert not doubted(true, passage)
    assert doubted(false, passage)


def test_who_was_overtaken_is_said_either_way() -> None:
    assert not doubted("The pump business was overtaken by the valve business in the second year.", OVERTOOK)
    assert not doubted("Valve sales overtook pump sales in FY2025 after trailing them in FY2024.", CROSSED)
