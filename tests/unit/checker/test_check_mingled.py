"""What the evidence says of two things, mixed up: another subject, place, organisation or object."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

PLANTS = CheckPassage("Halden opened a plant in Poland. Corvane closed its plant in Spain.")
DEMAND = CheckPassage(
    "Demand recovered in Europe but stayed weak in North America. Halden Bank arranged the loan and Merrow Capital "
    "bought the bonds."
)
TRADE = CheckPassage(
    "Norvell supplies valves to Brightwell and buys turbines from Tessen. The fund invests in bonds and lends against "
    "property. Management closed the bakery and kept the dairy."
)
SITE = CheckPassage("Halden opened a plant in Poland. The facility employs welders. Its owner has a warehouse there.")
ZH = CheckPassage(
    "欧洲市场需求回暖，北美市场需求疲软。公司在浙江新建工厂，在广东扩建仓库。交通银行提供贷款，招商银行担任托管行。"
    "中信证券维持买入评级，海通证券下调至中性。公司主要生产轴承，并销售电机。"
)


def verdict(answer: str, passage: CheckPassage) -> str:
    return check_answer(answer, [passage]).sentences[0].verdict


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Corvane closed the plant in Spain.", PLANTS),
        ("A plant in Poland was opened by Halden.", PLANTS),
        ("Demand in North America stayed weak.", DEMAND),
        ("Merrow Capital bought the bonds.", DEMAND),
        ("It buys turbines from Tessen.", TRADE),
        ("Management kept the dairy.", TRADE),
        ("Halden opened a facility in Poland.", SITE),
        ("欧洲市场需求回暖。", ZH),
        ("招商银行担任托管银行。", ZH),
        ("交行提供了贷款。", ZH),
        ("公司在广东扩建仓库。", ZH),
        ("公司销售电机。", ZH),
    ],
)
def test_each_thing_with_its_own_passes(answer: str, passage: CheckPassage) -> None:
    assert verdict(answer, passage) == "supported"


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Corvane opened a plant in Poland.", PLANTS),
        ("Halden opened a plant in Spain.", PLANTS),
        ("Demand recovered in North America.", DEMAND),
        ("Halden Bank bought the bonds.", DEMAND),
        ("It buys valves from Tessen.", TRADE),
        ("The fund invests in property.", TRADE),
        ("Management closed the dairy.", TRADE),
        ("北美市场需求回暖。", ZH),
        ("公司在广东新建工厂。", ZH),
        ("招商银行提供了贷款。", ZH),
        ("海通证券维持买入评级。", ZH),
        ("公司主要生产电机。", ZH),
    ],
)
def test_one_with_the_others_is_unsupported(answer: str, passage: CheckPassage) -> None:
    assert verdict(answer, passage) in UNSUPPORTED
