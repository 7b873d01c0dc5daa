"""Periods and units that code writes beside a quote, in the question's language."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.extractive.answer_text import period_phrase, scale_phrase
from quelea_generator.core.extractive.spans import find_spans
from quelea_generator.core.model import Evidence, Task
from support.generator import lines_and_quotes


@pytest.mark.parametrize(
    ("said", "chinese"),
    [
        ("three months ended July 1, 2023", "截至2023年7月1日的三个月"),
        ("nine months ended Oct 1, 2022", "截至2022年10月1日的九个月"),
        ("December 31, 2022", "2022年12月31日"),
        ("fiscal years ended June 30, 2019", "截至2019年6月30日的财年"),
        ("years ended June 30, 2019", "截至2019年6月30日的年度"),
        ("2018", "2018年"),
        ("Q3 2023", "2023年第三季度"),
        ("Q2 FY2023", "2023财年第二季度"),
        ("three months ended Q2 2023", "2023年第二季度"),
        ("Year-over-Year Change", "变动"),
        ("本报告期", "本报告期"),
        ("some other head", "some other head"),
    ],
)
def test_a_head_is_said_in_chinese_and_left_in_english(said: str, chinese: str) -> None:
    assert period_phrase("zh", said) == chinese
    assert period_phrase("en", said) == said


@pytest.mark.parametrize(
    ("head", "row", "said"),
    [
        ("(In millions)", "Net sales\t$ 81,797\t$ 82,959", "百万美元"),
        ("(In thousands)", "Net sales\t81,797\t82,959", "单位：千"),
        ("(In millions; US$ and HK$)", "Net sales\t81,797\t82,959", "单位：百万"),
        ("(In millions)\nNet sales\t$ 5\t$ 6", "Number of employees\t81\t82", "单位：百万"),
        ("(In millions of US$)", "Net sales\t$ 81,797\t$ 82,959", "百万美元"),
        ("(in millions of U.S. dollars)", "Net sales\t81,797\t82,959", "百万美元"),
        ("单位：万元", "营业收入\t81,797\t82,959", "单位：万元"),
    ],
)
def test_the_currency_is_named_only_where_it_is_certain(head: str, row: str, said: str) -> None:
    text = f"{head}\n{row}"
    span = next(one for one in reversed(find_spans(text, is_table=True)) if one.row)
    assert scale_phrase("zh", Evidence(1, text, is_table=True), span) == said


def test_a_chinese_answer_names_period_and_unit_in_chinese_and_quotes_verbatim() -> None:
    text = "Three Months Ended\nMarch 30, 2024\tApril 1, 2023\n(In millions)\nNet income\t$ 19,881\t$ 19,442"
    evidence = Evidence(1, text, is_table=True, period_end="2024-03-30", period_label="FY2024 Q3")
    lines, quotes = lines_and_quotes(Task("2024年第三季度净利润是多少？", (evidence,), date(2024, 6, 1)))
    assert lines[1] == (
        "Net income：$ 19,881（截至2024年3月30日的三个月；百万美元），见表格行“Net income $ 19,881 $ 19,442” [1]"
    )
    assert quotes[0].text == "Net income\t$ 19,881\t$ 19,442"
