"""False sentences that are made of the evidence's own words, and true ones in other words."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, check_answer

FILING = CheckPassage(
    "Services revenue rose because of advertising. Some suppliers may face shortages. The board rejected the offer "
    "from Vexley Partners. Energy costs fell after new contracts took effect. Norvell supplies valves to Brightwell.",
    header="Norvell · 10-Q · FY2025 Q2",
)
NEWS = CheckPassage(
    "白酒业务提价后销量下滑。部分客户推迟了订单。公司拟在越南建设新的生产基地。由松涛食品向竹溪乳业供应奶源。"
)


def verdict(answer: str, passage: CheckPassage, question: str = "") -> str:
    (sentence,) = check_answer(answer, [passage], question=question).sentences
    return sentence.verdict


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Services revenue decreased because of advertising.", FILING),
        ("All suppliers face shortages.", FILING),
        ("Some suppliers will face shortages.", FILING),
        ("The board accepted the offer from Vexley Partners.", FILING),
        ("The board rejected the offer from Merrow Capital.", FILING),
        ("Energy costs fell before new contracts took effect.", FILING),
        ("Energy costs fell because of a mild winter in Europe.", FILING),
        ("Brightwell supplies valves to Norvell.", FILING),
        (
            "The board rejected the merger of Vexley Partners.",
            CheckPassage("The board rejected the offer of Vexley Partners."),
        ),
        ("白酒业务提价后销量上升。", NEWS),
        ("白酒业务提价前销量下滑。", NEWS),
        ("全部客户推迟了订单。", NEWS),
        ("公司拟在泰国建设新的生产基地。", NEWS),
        ("竹溪乳业向松涛食品供应奶源。", NEWS),
    ],
)
def test_what_says_otherwise_than_the_evidence_is_unsupported(answer: str, passage: CheckPassage) -> None:
    assert verdict(answer, passage) == "unsupported"


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Advertising increased services revenue.", FILING),
        ("Certain suppliers may face shortages.", FILING),
        ("The offer from Vexley Partners was rejected by the board.", FILING),
        ("After new contracts took effect, energy costs declined.", FILING),
        ("Brightwell buys valves from Norvell.", FILING),
        ("提价之后白酒销量下滑。", NEWS),
        ("有部分客户推迟了订单。", NEWS),
        ("公司计划在越南建设新的生产基地。", NEWS),
        ("松涛食品向竹溪乳业供应奶源。", NEWS),
    ],
)
def test_the_same_in_other_words_is_supported(answer: str, passage: CheckPassage) -> None:
    assert verdict(answer, passage) == "supported"


def test_a_name_of_the_question_is_not_invented() -> None:
    answer = "The board of Norvell rejected the offer from Vexley Partners in Rotterdam."

    assert verdict(answer, FILING) == "unsupported"
    assert verdict(answer, FILING, "What did Norvell decide in Rotterdam?") == "supported"
