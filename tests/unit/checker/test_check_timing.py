"""Of which time a figure is: its length and its base, told without a date, by a fiscal name, or by a column's head."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

NINE = CheckPassage("Orlin Tools earned revenue of $530 million in the first nine months.")
BOTH = CheckPassage("Orlin Tools' revenue was $180 million for the third quarter and $530 million for the nine months.")
HYPHENS = CheckPassage(
    "Third-quarter revenue of Orlin Tools came to $180 million, and nine-month revenue to $530 million."
)
MONTHS = CheckPassage("雁回股份2024年1-9月营业收入为53.2亿元。")
GROWTH = CheckPassage(
    "Third-quarter revenue of Orlin Tools rose 8% sequentially and 21% year over year.",
    header="Orlin Tools · 10-Q · FY2024 Q3",
)
WEAK = CheckPassage("The third quarter of fiscal 2023 and the second quarter of fiscal 2024 were weak.")
NAMED = CheckPassage(
    "Revenue of Orlin Tools in the third quarter of fiscal 2024 rose 8% from the second quarter and 21% from the third "
    "quarter of fiscal 2023."
)
ZH_NAMED = CheckPassage("雁回股份2024年第三季度营业收入环比增长8%，同比增长21%。2023年第三季度和2024年第二季度较弱。")
TABLE = "项目\t本报告期\t年初至报告期末\n营业收入\t18.4\t53.2\n净利润\t2.6\t7.1"
COLUMNS = CheckPassage(TABLE, table_head="单位：亿元")
THIRD = CheckPassage(TABLE, table_head="单位：亿元", header="雁回股份 · 2024年第三季度报告")


def doubted(answer, *passages):
    return [f.text for f in check_answer(answer, passages).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passages"),
    [
        ("Orlin Tools' nine-month revenue was $530 million.", [NINE]),
        ("Orlin Tools' revenue was $180 million in the third quarter.", [BOTH]),
        ("Orlin Tools' revenue was $530 million in the first nine months.", [BOTH]),
        ("Orlin Tools' revenue was $530 million in the first nine months.", [HYPHENS]),
        ("雁回股份前三季度营业收入为53.2亿元。", [MONTHS]),
        ("Revenue in the third quarter of fiscal 2024 rose 8% from the second quarter of fiscal 2024.", [GROWTH, WEAK]),
        ("Revenue in the third quarter of fiscal 2024 rose 21% from the third quarter of fiscal 2023.", [GROWTH, WEAK]),
        ("Orlin Tools' revenue rose 21% year over year in the third quarter of fiscal 2024.", [NAMED]),
        ("雁回股份2024年第三季度营业收入较2023年第三季度增长21%。", [ZH_NAMED]),
        ("雁回股份本报告期营业收入为18.4亿元。", [COLUMNS]),
        ("雁回股份年初至报告期末营业收入为53.2亿元。", [COLUMNS]),
        ("雁回股份第三季度营业收入为18.4亿元。", [THIRD]),
        ("雁回股份前三季度营业收入为53.2亿元。", [THIRD]),
    ],
)
def test_a_figure_of_the_time_said_passes(answer, passages):
    assert doubted(answer, *passages) == []


@pytest.mark.parametrize(
    ("answer", "passages", "false"),
    [
        ("Orlin Tools' third-quarter revenue was $530 million.", [NINE], "$530 million"),
        ("Orlin Tools' quarterly revenue was $530 million.", [NINE], "$530 million"),
        ("Orlin Tools' revenue was $530 million in the third quarter.", [BOTH], "$530 million"),
        ("Orlin Tools' revenue was $180 million in the first nine months.", [BOTH], "$180 million"),
        ("Orlin Tools' revenue was $530 million in the third quarter.", [HYPHENS], "$530 million"),
        ("雁回股份单季营业收入为53.2亿元。", [MONTHS], "53.2亿元"),
        (
            "Revenue in the third quarter of fiscal 2024 rose 21% from the second quarter of fiscal 2024.",
            [GROWTH, WEAK],
            "21%",
        ),
        (
            "Revenue in the third quarter of fiscal 2024 rose 8% from the third quarter of fiscal 2023.",
            [GROWTH, WEAK],
            "8%",
        ),
        ("Orlin Tools' revenue rose 21% sequentially in the third quarter of fiscal 2024.", [NAMED], "21%"),
        ("雁回股份2024年第三季度营业收入较2023年第三季度增长8%。", [ZH_NAMED], "8%"),
        ("雁回股份本报告期营业收入为53.2亿元。", [COLUMNS], "53.2亿元"),
        ("雁回股份年初至报告期末营业收入为18.4亿元。", [COLUMNS], "18.4亿元"),
        ("雁回股份本报告期营业收入为53.2亿元。", [THIRD], "53.2亿元"),
        ("雁回股份第三季度营业收入为53.2亿元。", [THIRD], "53.2亿元"),
    ],
)
def test_a_figure_of_another_time_is_flagged(answer, passages, false):
    assert false in doubted(answer, *passages)
