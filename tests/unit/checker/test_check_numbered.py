"""Counts of things in words, in the answer and in the evidence."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

FLEET = CheckPassage(
    "The company operates five vessels and two terminals. Three of its four directors are independent. The 12 stores "
    "in Norway and both stores in Iceland were closed. More than half of the orders came from Europe."
)
ZH = CheckPassage("公司旗下共有五家子公司，三座工厂。董事会由九名董事组成。超过一半的订单来自欧洲。")


def doubted(answer: str, passage: CheckPassage) -> bool:
    report = check_answer(answer, [passage])
    return any(one.verdict in UNSUPPORTED for one in (*report.sentences, *report.figures))


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("The company operates five vessels.", FLEET),
        ("It operates 5 vessels and 2 terminals.", FLEET),
        ("Three of the four directors are independent.", FLEET),
        ("Twelve stores in Norway were closed.", FLEET),
        ("Both stores in Iceland were closed.", FLEET),
        ("Over half of the orders were from Europe.", FLEET),
        ("公司旗下有五家子公司。", ZH),
        ("公司有5家子公司、3座工厂。", ZH),
        ("董事会有九名董事。", ZH),
        ("过半的订单来自欧洲。", ZH),
    ],
)
def test_true_counts_pass(answer: str, passage: CheckPassage) -> None:
    assert not doubted(answer, passage)


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("The company operates six vessels.", FLEET),
        ("It operates five vessels and three terminals.", FLEET),
        ("Two of the four directors are independent.", FLEET),
        ("All four directors are independent.", FLEET),
        ("Eleven stores in Norway were closed.", FLEET),
        ("Three stores in Iceland were closed.", FLEET),
        ("Fewer than half of the orders came from Europe.", FLEET),
        ("公司旗下有六家子公司。", ZH),
        ("公司有五家子公司、四座工厂。", ZH),
        ("董事会有七名董事。", ZH),
        ("不到一半的订单来自欧洲。", ZH),
    ],
)
def test_false_counts_are_caught(answer: str, passage: CheckPassage) -> None:
    assert doubted(answer, passage)
