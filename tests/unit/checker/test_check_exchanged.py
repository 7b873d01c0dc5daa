"""Subjects exchanged, computations that the words do not ask for, times that are only compared with."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

PHONES = CheckPassage(
    "三季度手机出货量：阿尔法位居第四，出货量达2640万部，市场份额为9%。贝塔位居第五，出货量达2600万部。"
)
NOTES = CheckPassage(
    "As of May 31, 2024\n(In millions)\n"
    "\tCarrying amount\tFair value\nTerm notes\t$ 4,120\t$ 3,870\nBank loans\t$ 910\t$ 905"
)
EXPORTS = CheckPassage("2021年共出口3155亿元，同比增长8.4%。其中，甲类出口1452亿元，同比下降5.6%，较2019年增长22.0%。")
BUYBACKS = CheckPassage(
    "During the third quarter and first nine months of fiscal year 2023, we repurchased 28 million shares for $3.65 "
    "billion and 56 million shares for $8.99 billion, respectively."
)
TAX = CheckPassage("(In millions)\n\tQ3 2023\tQ3 2022\nIncome tax expense (benefit)\t(67)\t174")
APPLE = CheckPassage(
    "(In millions)\nQuarter ended\tJune 25, 2022\tJune 26, 2021\nTotal net sales\t82,959\t81,434",
    header="Orchard (ORC) · 10-Q · FY2022 Q3 · quarter ended June 25, 2022",
)


def unsupported(answer: str, *passages: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, passages).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("true", "false", "passage"),
    [
        ("阿尔法出货2640万部，贝塔出货2600万部。", "阿尔法出货2600万部，贝塔出货2640万部。", PHONES),
        (
            "Term notes had a carrying amount of $4,120 million and a fair value of $3,870 million.",
            "Term notes had a fair value of $4,120 million and a carrying amount of $3,870 million.",
            NOTES,
        ),
        (
            "In the first nine months of fiscal year 2023 it repurchased 56 million shares for $8.99 billion.",
            "In the third quarter of fiscal year 2023 it repurchased 56 million shares for $8.99 billion.",
            BUYBACKS,
        ),
        (
            "Net sales were $81.4 billion in Q3 of fiscal 2021.",
            "Net sales were $81.4 billion in Q2 of fiscal 2021.",
            APPLE,
        ),
    ],
)
def test_true_passes_and_false_is_caught(true: str, false: str, passage: CheckPassage) -> None:
    assert unsupported(true, passage) == []
    assert unsupported(false, passage) != []


def test_a_time_that_is_compared_with_is_not_the_figures_own() -> None:
    assert unsupported("2021年甲类出口1452亿元，同比下降5.6%。", EXPORTS) == []


def test_growth_of_an_english_table_in_a_chinese_answer() -> None:
    assert unsupported("2022财年第三季度总净销售额为829.59亿美元，同比增长约1.9%。", APPLE) == []
    assert unsupported("2022财年第三季度总净销售额为829.59亿美元，同比增长约2.9%。", APPLE) == ["2.9%"]
