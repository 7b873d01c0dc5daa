"""Heads over groups of columns, units in a row's label, a year before named with "of", absences told of "them"."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

GROUPS = CheckPassage(
    "单位：元\n2023 年\t2022 年\t同比增减\n金额\t占营业收入比重\t金额\t占营业收入比重\n"
    "分产品\n风机叶片\t30,590,739.20\t9.62%\t3,114,102.56\t0.97%\t8.65%\n塔筒\t68,459,413.04\t21.53%\t68,671,715.41\t21.46%\t0.07%",
    header="远山风电 · 年报",
)
WORDS = CheckPassage(
    "单位：元\n产品分类\t项目\t2023 年\t2022 年\t同比增减\n金额\t占营业成本比重\t金额\t占营业成本比重\n"
    "风机叶片\t直接材料\t19,048,616.27\t12.08%\t4,144,485.61\t2.62%\t9.46%",
    header="远山风电 · 年报",
)
LABELS = CheckPassage("\t2023 年\t2022 年\n营业收入（元）\t318,024,319.30\t320,070,653.13\n研发人员数量（人）\t74\t61")
SCALED_LABELS = CheckPassage("单位：元\n\t2023 年\t2022 年\n回购（万股）\t3,200\t1,100\n研发人员（千人）\t1.2\t1.1")
INCOME = CheckPassage(
    "(In millions)\nThree Months Ended June 30,\n\t2025\t2024\nUpstream earnings\t5,402\t7,074", header="Larch · 10-Q"
)


def doubted(answer: str, *passages: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, list(passages)).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("passage", "true", "false"),
    [
        (GROUPS, "2022年风机叶片收入为3,114,102.56元。", "2023年风机叶片收入为3,114,102.56元。"),
        (GROUPS, "2023年风机叶片收入占营业收入的9.62%。", "2022年风机叶片收入占营业收入的9.62%。"),
        (WORDS, "2022年风机叶片的直接材料成本为4,144,485.61元。", "2023年风机叶片的直接材料成本为4,144,485.61元。"),
        (LABELS, "2023年营业收入为3.18亿元。", "2023年营业收入为318.02亿元。"),
        (SCALED_LABELS, "2023年回购3,200万股。", "2023年回购3.2亿股。"),
        (SCALED_LABELS, "2023年研发人员为1200人。", "2023年研发人员为12万人。"),
        (
            INCOME,
            "Upstream made $5,402 million in the second quarter of 2025, after the $7,074 million of a year before.",
            "Upstream made $5,402 million in the second quarter of 2025, after the $7,704 million of a year before.",
        ),
    ],
)  # fmt: skip
def test_a_true_one_passes_and_a_false_one_is_doubted(passage: CheckPassage, true: str, false: str) -> None:
    assert doubted(true, passage) == []
    assert doubted(false, passage)


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        ("The passages give yearly revenue. They do not give it for the fourth quarter of 2025.", "no_claim"),
        ("Larch sells timber in Europe. They do not give discounts to customers of other regions.", "not_found"),
        ("资料只给出全年收入。也没有说明第四季度的订单情况。", "no_claim"),
    ],
)  # fmt: skip
def test_what_they_do_not_say_is_no_claim_where_they_are_sources(answer: str, last: str) -> None:
    assert check_answer(answer, [INCOME]).sentences[-1].verdict == last
