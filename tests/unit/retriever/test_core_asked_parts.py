"""Figures of a company's parts that questions in Chinese ask for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from quelea_fintext.facts import Fact
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.figures.asked_figures import find_figures
from quelea_retriever.core.figures.asked_parts import AskedParts
from quelea_retriever.core.figures.figure_search import plan_figures
from quelea_retriever.core.figures.statement_facts import FactQuery, StatedFact
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query

TODAY = date(2032, 6, 1)
REPORT = DocumentFacts(
    "r", company="北岸船务", language="zh", document_type="年度报告",
    period=ReportingPeriod("FY2031", 2031, 0, "2031-12-31"), published="2032-03-20",
)  # fmt: skip


def told(group: str, label: str, column: str, value: str, unit: str = "CNY", year: int = 2031) -> StatedFact:
    fact = Fact(
        "breakdown", label, "", value, unit, f"{year}-01-01", f"{year}-12-31", value, 0, 1, group=group, column=column
    )
    return StatedFact(fact, REPORT, "r-1", 1, 1)


TOTALS = [
    StatedFact(
        Fact("income", "营业收入", "revenue", value, "CNY", f"{year}-01-01", f"{year}-12-31", value, 0, 1),
        REPORT,
        "r-2",
        2,
        2,
    )
    for value, year in (("900", 2031), ("800", 2030))
]
FACTS = [
    *TOTALS,
    told("分行业", "渡轮", "营业收入", "600"),
    told("分行业", "渡轮", "毛利率", "33.36", "percent"),
    told("分行业", "渡轮", "毛利率比上年增减", "-2.07", "points"),
    told("分行业", "渡轮", "占营业收入比重", "66.67", "percent"),
    told("分行业", "渡轮", "营业收入", "500", year=2030),
    told("分行业", "船坞", "营业收入", "300"),
    told("分行业", "船坞", "毛利率", "8.97", "percent"),
    told("分地区", "国外", "营业收入", "200"),
    told("产销量情况 主要产品", "缆绳", "生产量", "9384", "千米"),
    told("产销量情况 主要产品", "缆绳", "销售量", "9353", "千米"),
    told("主要子公司情况分析 公司名称", "南岸缆绳有限公司", "净利润", "-11"),
    told("各地区分部的营业收入情况 项目", "内河", "营业收入", "70"),
    told("产销量情况 行业分类", "渡轮行业", "载客量", "41", "万人"),
]


def values(question: str, documents: Sequence[DocumentFacts] = (REPORT,)) -> list[str]:
    catalogue = Catalogue.build(list(documents))
    plan = plan_figures(question, read_query(question, catalogue, TODAY), catalogue, TODAY)
    return (
        [f"{one.operands[0].fact.label} {one.value.normalize():f}" for one in find_figures(plan, FACTS)] if plan else []
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("北岸船务2031年营业收入是多少？", ["营业收入 900"]),
        ("北岸船务2031年分行业的营业收入和毛利率分别是多少？", ["渡轮 600", "渡轮 33.36", "船坞 300", "船坞 8.97"]),
        ("北岸船务渡轮行业的营业收入是多少", ["渡轮 600"]),
        ("北岸船务2030年渡轮行业的营业收入是多少", ["渡轮 500"]),
        ("北岸船务2031年渡轮业务的毛利率比上年变动多少？", ["渡轮 33.36", "渡轮 -2.07"]),
        ("北岸船务渡轮行业的营业收入占比是多少", ["渡轮 66.67"]),
        ("北岸船务国外地区的收入", ["国外 200"]),
        ("北岸船务主要产品的产量和销量", ["缆绳 9384", "缆绳 9353"]),
        ("北岸船务主要子公司的净利润各是多少", ["南岸缆绳有限公司 -11"]),
        ("北岸船务渡轮行业的revenue", ["渡轮 600"]),
        ("北岸船务内河地区2031年的营业收入是多少", ["内河 70"]),  # the title of its table names the line too
        ("北岸船务渡轮行业的载客量", ["渡轮行业 41"]),  # another table calls it 渡轮, of its 行业
    ],
)
def test_parts_are_named_as_the_tables_name_them(question: str, expected: list[str]) -> None:
    assert values(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "北岸船务2031年驳船行业的营业收入是多少",  # no such part
        "北岸船务2031年渡轮行业的营业收入为什么增长",  # a cause is no figure
        "北岸船务2029年渡轮行业的营业收入",
        "北岸船务船坞行业的毛利率比上年变动多少",  # not told of this part
        "北岸船务主要产品的产能是多少",
        "北岸船务前五名渡轮客户的营业收入",
        "北岸船务2031年第四季度渡轮行业的营业收入",  # the year ends then, too
        "北岸船务2031年渡轮和国外的营业收入",  # of two tables: one of them would be half an answer
        "北岸船务2031年下半年渡轮行业的营业收入",
        "北岸船务2031年渡轮行业各季度的营业收入",
        "北岸船务近两年渡轮的营业收入",  # not the company's own
        "请分析北岸船务的净利润",  # a word of a table's title is no kind of parts
    ],
)
def test_a_question_that_says_more_is_not_answered_with_parts(question: str) -> None:
    assert values(question) == []


def test_parts_are_shown_only_where_they_are_asked_for() -> None:
    assert [one.fact.label for one in FactQuery().select(FACTS)] == ["营业收入"] * 2
    assert [one.fact.value for one in FactQuery(names=("revenue",)).select(FACTS)] == ["900", "800"]
    assert len(FactQuery(statements=frozenset({"breakdown"})).select(FACTS)) == len(FACTS) - len(TOTALS)


def test_parts_are_of_the_newest_year_also_where_a_quarter_was_filed_since() -> None:
    spring = ReportingPeriod("FY2032 Q1", 2032, 1, "2032-03-31")
    quarter = replace(REPORT, id="q", period=spring, published="2032-04-25")
    assert values("北岸船务渡轮行业的营业收入是多少", [REPORT, quarter]) == ["渡轮 600"]


def test_questions_and_tables_of_very_many_names_take_no_product_of_both() -> None:
    parts = AskedParts([told(f"分产品 第{at}表", f"缆绳{at}号", "营业收入", "1") for at in range(3000)])
    named = "、".join(f"缆绳{at}号" for at in range(500))
    begun = time.process_time()
    assert parts.find(f"{named}的营业收入", (), lambda _: True) == []
    assert len(parts.find("缆绳2999号的营业收入", (), lambda _: True)) == 1
    assert time.process_time() - begun < 20  # slow machines and coverage included


HOLDERS = [
    told("股东数量及持股情况 股东名称", name, column, value, unit)
    for name, share, held in (("林渡", "31.5", "630"), ("苏梅", "20", "400"), ("方石", "2", "40"), ("白帆", "2", "40"))
    for column, value, unit in (("持股比例", share, "percent"), ("报告期末持股数量", held, "股"))
]
OTHER_RANKS = [
    *(
        told("前十大流通股东 股东名称", name, "持股比例", share, "percent")
        for name, share in (("林渡", "31"), ("苏梅", "20"), ("岸石", "1"))
    ),
    *(
        told("客户资料 客户名称", name, "销售额", value)
        for name, value in (("其他客户", "900"), ("甲", "90"), ("其中：乙", "80"), ("丙", "70"))
    ),
    told("分行业", "渡轮", "营业收入比上年增减", "5", "percent"),
    told("分行业", "船坞", "营业收入比上年增减", "-7", "percent"),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("北岸船务的第一大股东是谁，持有多少股？", ["林渡 630"]),
        ("北岸船务第二大股东的持股比例是多少？", ["苏梅 20"]),
        ("北岸船务第二大股东是谁？", ["苏梅 20", "苏梅 400"]),
        ("苏梅持有北岸船务多少股？", ["苏梅 400"]),
        ("北岸船务第三大股东是谁？", []),  # two hold as much
        ("北岸船务第九大股东是谁？", []),
        ("北岸船务哪个行业的营业收入最高？", ["渡轮 600"]),
        ("北岸船务哪个行业的毛利率最低？", ["船坞 8.97"]),
        ("北岸船务最大的风险是什么？", []),
        ("北岸船务二大股东是谁？", []),  # both, not the second
        ("北岸船务第一大股东和第二大股东的持股比例是多少？", []),
        ("北岸船务哪个行业的营业收入最高，哪个行业的毛利率最低？", []),
        ("北岸船务哪个行业的营业收入增长最快？", ["渡轮 600", "渡轮 5"]),
        ("北岸船务哪个行业的营业收入下降最多？", []),
        ("北岸船务第一大客户是谁？", ["甲 90"]),  # what is left over is nobody
        ("北岸船务第二大客户的销售额是多少？", ["丙 70"]),
    ],
)
def test_the_largest_part_and_the_second(question: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.FACTS", [*FACTS, *HOLDERS, *OTHER_RANKS])
    assert values(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("北岸船务缆绳的销售量是多少千米？", ["缆绳 9353"]),  # and not what was made, in the same unit
        ("北岸船务的缆绳有多少千米？", []),
        ("北岸船务渡轮行业的营业收入比例是多少", ["渡轮 66.67"]),
        ("北岸船务渡轮行业的单位营业收入", []),
    ],
)
def test_units_and_ratios_do_not_ask_for_another_column(question: str, expected: list[str]) -> None:
    assert values(question) == expected
