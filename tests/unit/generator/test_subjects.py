"""What is quoted is about the company asked about; what shares only names with a question is no answer."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.extractive.subjects import find_subjects
from quelea_generator.core.model import Evidence, Task
from support.generator import lines_and_quotes

APPLE = Evidence(
    1,
    "The Company designs smartphones. Its products are sold in stores of its own.",
    header="Apple · 10-Q · FY2023 Q3",
    company="Apple",
)
LEAP = Evidence(
    2, "“十五亿欧元的投资将用于研发。”零跑科技董事长兼CEO朱江明表示。理想汽车CEO李想也在场。", header="零跑汽车 · news"
)
COOK = Evidence(3, "副总理19日在北京会见美国苹果公司首席执行官库克。", header="新闻 · 2023-10-20")
SHIPPED = Evidence(
    1,
    "三季度全球智能手机出货量达2.9亿部。三星位居榜首，出货量达5740万部，市场份额达20%。"
    "小米排名第三，出货量达4150万部，市场份额为14%。华为发布了Mate60系列，采用自研芯片。",
    header="第三季度全球智能手机市场 · news · 2023-10-27",
)
COURT = Evidence(1, "上海全市法院首次执行案件申请执行标的总额为63亿元，执行到位金额7亿元。", header="法院 · news")


def said(question: str, *evidence: Evidence) -> str:
    lines, _ = lines_and_quotes(Task(question, evidence, date(2024, 1, 1)))
    return "\n".join(lines)


@pytest.mark.parametrize("question", ["Who is the CEO of Apple?", "苹果的CEO是谁？"])
def test_another_companys_officer_is_no_answer(question: str) -> None:
    assert "零跑" not in said(question, LEAP, APPLE)
    assert "库克" in said("苹果的首席执行官是谁？", LEAP, COOK)


def test_in_a_round_up_each_company_has_its_own_sentences() -> None:
    assert "4150" in said("小米的出货量是多少？", SHIPPED)
    assert "5740" not in said("小米的出货量是多少？", SHIPPED)
    text = said("华为第三季度的市场份额", SHIPPED)
    assert "20%" not in text
    assert "14%" not in text
    both = said("三星和小米的出货量分别是多少？", SHIPPED)
    assert "5740" in both
    assert "4150" in both


def test_a_place_alone_is_no_answer() -> None:
    assert said("What is the weather in Shanghai tomorrow?", COURT) == ""
    storms = Evidence(2, "Extreme weather may disrupt our stores tomorrow or later.", header="Ferrovane · 10-K")
    assert said("What is the weather in Shanghai tomorrow?", COURT, storms) == ""
    staff = Evidence(1, "Ferrovane had revenue of $ 3,604 million in the year.", header="Ferrovane · 10-K")
    assert said("How many smelters does Ferrovane operate?", staff) == ""
    assert "3,604" in said("What was the revenue of Ferrovane?", staff)


def test_the_row_of_a_place_answers_what_is_asked_of_it_in_money() -> None:
    table = "Revenues by Geography\n(in millions)\t2024\t2023\nAmericas\t$ 2,150\t$ 2,011\nEurope\t891\t812"
    rows = Evidence(1, table, header="Ferrovane · 10-K", is_table=True, company="Ferrovane")
    assert "891" in said("What did Ferrovane sell in Europe in 2024, and how fast did it grow there?", rows)
    assert said("How many smelters does Ferrovane operate in Europe?", rows) == ""


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("苹果的收入", "苹果公司收入增长", True),
        ("What did Apple earn?", "苹果公司收入增长", True),
        ("What does an apple cost?", "Apple raised prices", False),
        ("社会大众的收入", "社会大众的收入增长", False),
        ("大众汽车的收入", "大众汽车销量增长", True),
        ("有没有完美的方案", "没有完美的方案", False),
        ("What did Apple earn?", "利率下调", False),
    ],
)
def test_a_name_is_one_only_where_it_is_written_as_one(question: str, text: str, found: bool) -> None:
    assert (find_subjects(question, [Evidence(1, text)]) is not None) is found


def test_a_longer_name_of_the_evidence_is_the_same_company() -> None:
    midea = Evidence(1, "上半年收入1836亿元。", header="美的集团 · report", company="美的集团")
    assert "1836" in said("美的集团上半年收入是多少？", midea)
    inc = Evidence(1, "Revenue was $ 3,604 million.", header="Apple Inc. · 10-Q", company="Apple Inc.")
    assert "3,604" in said("苹果的收入是多少？", inc)
