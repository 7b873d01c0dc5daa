"""What the words about a figure rule out although its size agrees, and what they do not."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

RETAIL = CheckPassage(
    "(in thousands)\n\tFiscal Year Ended\n\tJanuary 31, 2026\tFebruary 1, 2025\nNet sales\t$ 418,612\t$ 397,204\n"
    "Cost of goods sold\t261,310\t250,114\nSelling costs\t92,870\t88,415\nImpairment of stores\t7,204\t5,118\n"
    "Gross margin\t37.6%\t37.0%",
    header="Marlow Stores (MRLW) · 10-K · FY2025 · year ended January 31, 2026",
)
OUTLOOK = CheckPassage(
    "Capital expenditures are expected to be $21 million to $24 million, "
    "compared with the earlier range of $26 "
    "million to $29 million. Headcount was cut by 140 to 1,260. On May 6, Marlow sold its "
    "Danish shops to Ostrel for $64 million.",
    header="Marlow Stores (MRLW) · 10-K · FY2025 · year ended January 31, 2026",
)
CANADA = CheckPassage("(In millions of Canadian dollars)\n\t2025\t2024\nNet income\t238\t221")
QUARTER = CheckPassage(
    "第三季度报告（单位：元）\n项目\t本报告期\t年初至报告期末\n营业收入\t312,440,118\t905,227,640\n净利润\t41,205,330\t118,996,204",
    header="启明医疗 · 季度报告 · Q3 2025 · 2025年9月30日",
)
HALF = CheckPassage(
    "2025年中期业绩（单位：百万元人民币）\n\t截至6月30日止六个月\n\t2025年\t2024年\n收入\t8,436\t7,912\n经营亏损\t(312)\t(705)"
)
PLAN = CheckPassage(
    "2024年归母净利润6.37亿元，营业收入128.6亿元。公司拟每10股派发现金红利1.50元。董事会不建议派发特别股息。"
)


def doubted(answer, passages):
    report = check_answer(answer, passages)
    return [x.text for x in (*report.figures, *report.sentences) if x.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passages"),
    [
        ("Net sales were $418.6 million in fiscal 2025.", [RETAIL]),
        ("In fiscal 2024, which ended on February 1, 2025, net sales were $397.2 million.", [RETAIL]),
        ("Gross margin rose by 0.6 percentage points.", [RETAIL]),
        ("Cost of goods sold, selling costs and impairment together were $361.4 million in fiscal 2025.", [RETAIL]),
        ("Marlow now expects capital expenditures of between $21 million and $24 million.", [OUTLOOK]),
        ("Headcount was cut by 140 to 1,260.", [OUTLOOK]),
        ("Net income was C$238 million in 2025.", [CANADA]),
        ("第三季度营业收入3.12亿元，前三季度营业收入9.05亿元。", [QUARTER]),
        ("2024年上半年收入79.12亿元，经营亏损7.05亿元。", [HALF]),
        ("公司拟每10股派1.5元。", [PLAN]),
        ("2024年归母净利润6.37亿元。", [PLAN]),
    ],
)
def test_true_answers_pass(answer, passages):
    assert doubted(answer, passages) == []


@pytest.mark.parametrize(
    ("answer", "passages"),
    [
        ("Net sales were $418.6 million in fiscal 2026.", [RETAIL]),
        ("In fiscal 2024 net sales were $418.6 million.", [RETAIL]),
        ("Gross margin rose by 0.6%.", [RETAIL]),
        ("Net income was US$238 million in 2025.", [CANADA]),
        ("第三季度营业收入9.05亿元。", [QUARTER]),
        ("前三季度净利润0.41亿元。", [QUARTER]),
    ],
)
def test_false_answers_are_doubted(answer, passages):
    assert doubted(answer, passages)
