"""The one table of words for periods: months, spans, and the usual way to say what is put unusually."""

from __future__ import annotations

import re

import pytest
from quelea_fintext.text import normalise
from quelea_fintext.times.period_words import (
    RELATIVE,
    TO_DATE,
    find_months,
    find_written_days,
    month_number,
    months_asked,
    normalise_periods,
)


@pytest.mark.parametrize(
    ("said", "month"), [("Sept", 9), ("december", 12), ("7", 7), ("十二", 12), ("十", 10), ("六", 6), ("13", 13)]
)
def test_a_month_by_name_digit_or_numeral(said: str, month: int) -> None:
    assert month_number(said) == month


def test_a_word_that_is_no_month() -> None:
    with pytest.raises(ValueError, match="Smarch"):
        month_number("Smarch")


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("the three months ended July 1", 3),
        ("Amazon's income for 1H23", 6),
        ("H1 2023", 6),
        ("the half-year", 6),
        ("亚马逊2023年上半年", 6),
        ("英伟达2024财年上半财年收入", 6),
        ("截至4月1日止六个月的毛利", 6),
        ("截至7月1日的9个月", 9),
        ("前三季度的净销售额", 9),
        ("前三个季度", 9),
        ("year-to-date revenue", TO_DATE),
        ("revenue YTD", TO_DATE),
        ("年初至今的收入", TO_DATE),
        ("今年以来的收入", TO_DATE),
        ("revenue this year so far", TO_DATE),
        ("net sales in Q3 2023", 0),
        ("2023年第三季度", 0),
        ("下半年的收入", 0),
        ("36个月的合同", 0),
        ("2023年3月的收入", 0),
    ],
)
def test_the_span_that_a_question_names(question: str, months: int) -> None:
    assert months_asked(normalise(question)) == months


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("net income 3QFY23", "net income Q3 FY23"),
        ("the opening quarter of 2023", "the first quarter of 2023"),
        ("the holiday quarter of 2022", "the December quarter of 2022"),
        ("the 2022 holiday quarter", "the December quarter of 2022"),
        ("Apple's 2023 June quarter", "Apple's June quarter of 2023"),
        ("the three months to the end of June 2023", "the three months ended June 2023"),
        ("the quarter that ended in October 2022", "the quarter ended October 2022"),
        ("the nine months through July 1, 2023", "the nine months ended July 1, 2023"),
        ("the last quarter of fiscal 2023", "the fourth quarter of fiscal 2023"),
        ("苹果2022年假日季的营收", "苹果2022年12月季度的营收"),
        ("英特尔2023年首季的营业亏损", "英特尔2023年第一季度的营业亏损"),
        ("2023年末季营收", "2023年第四季度营收"),
        ("2023年前九个月的净利润", "2023年前三季度的净利润"),
        ("2023年前三个月", "2023年第一季度"),
        ("the Dec 2022 quarter", "the December 2022 quarter"),
        ("Sept. 30, 2023", "September 30, 2023"),
        ("from July to September 2023", "the three months ended September 2023"),
        ("January–June 2023", "the six months ended June 2023"),
        ("亚马逊2023年7至9月的净利润", "亚马逊2023年第三季度的净利润"),
        ("2023年1-6月", "2023年上半年"),
        ("截至四月一日的季度", "截至4月1日的季度"),
        ("二月三十日", "2月30日"),
        ("英特尔2023年三季报的净营收", "英特尔2023年第三季度报告的净营收"),
        ("2023年半年的净销售额", "2023年上半年的净销售额"),
    ],
)
def test_what_is_put_unusually_is_said_in_the_usual_way(said: str, plain: str) -> None:
    assert normalise_periods(said) == plain


@pytest.mark.parametrize(
    "question",
    [
        "What were Apple's net sales in the third quarter of fiscal 2023?",
        "Revenue last quarter?",
        "3M's revenue in 2023",
        "the six months ended June 30, 2023",
        "what happened from June to December 2023?",
        "苹果首季节促销",
        "去年的第三季度呢？",
        "the debt due through 2030",
        "from March to October 2023",
        "2023年3月至11月",
        "May 2023",
        "2023年7月1日至9月30日",
        "the last quarter",
        "过去三个月的收入",
    ],
)
def test_what_is_usual_stays_as_it_is(question: str) -> None:
    assert normalise_periods(question) == question


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sales in March 2023 and Dec. of 2022", [(2023, 3, False), (2022, 12, False)]),
        ("the June quarter of 2023", [(2023, 6, True)]),
        ("2023年3月与2022年的十一月", [(2023, 3, False), (2022, 11, False)]),
        ("sales 2023-03", [(2023, 3, False)]),
        ("in 2011-12, 2023-13, 2023年13月", []),
        ("March 5, 2023, 2023年3月5日, 2023-03-05", []),
        ("March", []),
    ],
)
def test_months_with_their_years(text: str, found: list[tuple[int, int, bool]]) -> None:
    assert [(one.year, one.month, one.ends_quarter) for one in find_months(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("March 5th and 30 February", [(0, 3, 5, True), (0, 2, 30, False)]),
        ("the 29th of February 2023", [(2023, 2, 29, False)]),
        ("Feb. 29, 2024", [(2024, 2, 29, True)]),
        ("2月30号, 2023年三月三十一日, 2023-13-05", [(0, 2, 30, False), (2023, 3, 31, True), (2023, 13, 5, False)]),
        ("it may 40", [(0, 5, 40, None)]),
        ("May 2023", []),
    ],
)
def test_days_as_they_are_written(text: str, found: list[tuple[int, int, int, bool | None]]) -> None:
    assert [(one.year, one.month, one.day, one.exists) for one in find_written_days(text)] == found


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("last month", "last month", "上个月"),
        ("last quarter", "the past quarter", "上一个季度"),
        ("year before last", "the year before last", "前年"),
        ("last year", "last year", "去年"),
    ],
)
def test_periods_by_their_distance_in_both_languages(name: str, english: str, chinese: str) -> None:
    for text, others in ((english, {name}), (chinese, {name})):
        assert {one for one, pattern in RELATIVE.items() if re.search(pattern, text)} == others
    assert not any(re.search(pattern, "大前年") for pattern in RELATIVE.values())
