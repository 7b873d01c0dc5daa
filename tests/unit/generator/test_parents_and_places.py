"""Of whom a row or a sentence is: the group or its parent company alone, one place or another, a company not stored."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.model import Evidence, Task
from support.generator import lines_and_quotes

PARENT = Evidence(
    1,
    "归属于母公司所有者权益合计\t1,745\t1,645\n母公司资产负债表\n单位:元\n"
    "项目\t2019 年 12 月 31 日\t2018 年 12 月 31 日\n"
    "货币资金\t122,775,584\t219,607,349\n存货\t85,985,888\t100,658,852",
    header="甲乙机械 · annual report · FY2019",
    company="甲乙机械",
    is_table=True,
)
GROUP = Evidence(
    2,
    "合并资产负债表\n2019 年 12 月 31 日\n单位:元\n项目\t2019 年 12 月 31 日\t2018 年 12 月 31 日\n"
    "货币资金\t905,402,299\t627,041,535\n存货\t637,613,800\t601,200,100",
    header="甲乙机械 · annual report · FY2019",
    company="甲乙机械",
    is_table=True,
)
JOBS = Evidence(1, "前三季度，全国城镇调查失业率平均值为5.3%，比去年同期回落0.3个百分点。", header="新闻 · 2023-10-27")


def said(question: str, *evidence: Evidence) -> str:
    lines, _ = lines_and_quotes(Task(question, evidence, date(2024, 1, 1)))
    return "\n".join(lines)


def test_the_group_is_meant_where_nobody_says_otherwise() -> None:
    assert said("甲乙机械2019年末货币资金是多少？", PARENT, GROUP).find("905,402,299") >= 0
    assert "122,775,584" not in said("甲乙机械2019年末货币资金是多少？", PARENT, GROUP).split("\n")[1]


def test_the_parent_company_alone_is_answered_from_its_own_statements() -> None:
    found = said("甲乙机械母公司2019年末存货是多少？", PARENT, GROUP)
    assert "85,985,888" in found
    assert "637,613,800" not in found
    assert said("甲乙机械母公司2019年末存货是多少？", GROUP) == ""


@pytest.mark.parametrize("question", ["美国2023年9月失业率是多少？", "What was the unemployment rate in Brazil?"])
def test_another_countrys_figure_is_no_answer(question: str) -> None:
    assert said(question, JOBS) == ""
    assert "5.3" in said("全国城镇调查失业率是多少？", JOBS)


def test_a_known_company_that_no_passage_names_is_declined() -> None:
    other = Evidence(
        1,
        "Net revenue was $ 11,715 million in the first quarter of 2023.",
        header="Ferrovane · 10-Q",
        company="Ferrovane",
    )
    assert said("高通2023年第一季度收入是多少？", other) == ""
    assert "11,715" in said("Ferrovane2023年第一季度收入是多少？", other)
