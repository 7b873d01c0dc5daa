"""Periods that do not exist and periods that have not begun, in both languages; and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.times.unreal_periods import find_unreal_periods, is_spoken_of

DAY = "2024-11-22"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was Apple's revenue in Q5 2023?", "Q5 2023"),
        ("Apple revenue FY2023 Q7", "FY2023 Q7"),
        ("What was revenue in the fifth quarter of fiscal 2023?", "fifth quarter of fiscal 2023"),
        ("Net income for the third half of 2022?", "third half of 2022"),
        ("苹果2023年第五季度的营收是多少？", "2023年第五季度"),
        ("2023年Q6的净利润", "2023年Q6"),
        ("公司2023年13月的销量", "2023年13月"),
        ("2022年第三个半年的利润", "2022年第三个半年"),
        ("What happened on February 30, 2023?", "February 30, 2023"),
        ("What happened on 31 April 2024?", "31 April 2024"),
        ("2023年2月30日的收盘价", "2023年2月30日"),
        ("2月30日的收盘价是多少", "2月30日"),
        ("cash as of 2023-02-29", "2023-02-29"),
        ("cash as of 2023-13-05", "2023-13-05"),
    ],
)
def test_what_does_not_exist_is_named(question: str, said: str) -> None:
    assert find_unreal_periods(question, DAY).none_such == (said,)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was Apple's revenue in fiscal 2031?", "fiscal 2031"),
        ("What was Apple's net income for Q3 2031?", "Q3 2031"),
        ("What was revenue in 2031?", "2031"),
        ("2024年十二月的销量是多少？", "2024年十二月"),
        ("苹果2031财年的营收是多少？", "2031财年"),
        ("苹果2031年第三季度的营收是多少？", "2031年第三季度"),
        ("苹果2031年的营收是多少？", "2031年"),
    ],
)
def test_what_has_not_begun_is_named(question: str, said: str) -> None:
    found = find_unreal_periods(question, DAY)
    assert (found.none_such, found.not_begun) == ((), (said,))


@pytest.mark.parametrize(
    "question",
    [
        "What was Apple's revenue in Q4 2023?",
        "Revenue grew for the fifth consecutive quarter; why?",
        "What was revenue in fiscal 2025?",  # begun at some filers by November 2024
        "What are the notes due 2031 worth?",
        "利润连续第五个季度下降的原因是什么？",
        "2024年2月29日的股价",
        "What was the balance on February 29, 2024?",
        "In March 2024, what were sales?",
        "May 40 people vote?",
        "2031年到期的债券有多少？",
        "2030年目标是什么？",
        "Sales of 2.30 million",
        "苹果2023年第四季度的营收是多少？",
    ],
)
def test_what_exists_is_left_alone(question: str) -> None:
    found = find_unreal_periods(question, DAY)
    assert (found.none_such, found.not_begun) == ((), ())


@given(st.dates(), st.sampled_from(["%B %d, %Y", "%d %B %Y", "%Y-%m-%d", "%Y年%m月%d日"]))
def test_no_real_day_is_called_unreal(day, form: str) -> None:
    if day.year >= 1900:
        assert not find_unreal_periods(f"cash as of {day.strftime(form)}?", "2100-01-01").none_such


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    find_unreal_periods(text, DAY)


def test_a_document_may_speak_of_a_year_to_come() -> None:
    (period,) = find_unreal_periods("What net sales does it expect for fiscal 2031?", DAY).not_begun
    assert is_spoken_of(period, ["Net sales of fiscal 2031 are expected to reach 12 billion."])
    assert not is_spoken_of(period, ["Net sales of fiscal 2023 were 8 billion."])


@pytest.mark.parametrize(
    "question",
    [
        "What was Harbour's Q5 revenue?",
        "What did Harbour earn in the fifth quarter?",
        "Harbour H3 revenue",
        "What was revenue in 5Q23?",
        "Revenue in Q5'23?",
        "FY23 Q6 net income",
        "Revenue in the fiscal 2023 fifth quarter",
        "Net sales for the quarter ended June 31, 2023?",
        "Revenue in quarter five of 2023",
        "What was revenue in the 13th month of 2023?",
        "What was revenue in week 54 of 2023?",
        "Cash on 30/02/2023",
        "Cash on 02/30/2023",
        "Cash on Feb 29, 2023",
        "公司第五季度营收是多少？",
        "公司第五财季的净利润",
        "2023财年第6季度营收",
        "23年第五季净利润",
        "二〇二三年第五季度营收",
        "2023年十三月的销量",
        "截至2023年9月31日的季度",
        "2023年H3营收",
        "2023年二月三十号的营收",
        "Revenue in 2023 Q1.5",
        "公司2023年第1.5季度的收入",
        "Net sales for the six quarters of 2023",
        "公司2023年第十三个月营收",
        "公司2023年第55周的营收",
        "二〇二三年公司第五季营收",
    ],
)
def test_more_that_does_not_exist(question: str) -> None:
    assert find_unreal_periods(question, "2026-11-22").none_such


@pytest.mark.parametrize(
    "question",
    [
        "Revenue in FY31?",
        "Revenue in March 2031?",
        "Net sales for the quarter ended June 30, 2029?",
        "As of December 31, 2030, what was cash?",
        "What will revenue be next year?",
        "Harbour 2045 revenue",
        "H1 2029 revenue",
        "明年的营收是多少",
        "2030年3月的营收",
        "截至2029年12月31日的现金",
        "2029年上半年营收",
    ],
)
def test_more_that_has_not_begun(question: str) -> None:
    found = find_unreal_periods(question, "2026-11-22")
    assert found.not_begun
    assert not found.none_such


@pytest.mark.parametrize(
    "question",
    [
        "Will the notes due December 31, 2030 be repaid?",
        "Revenue rose for the fifth quarter in a row, why?",
        "What is the Q5 model?",
        "Revenue for FY26?",
        "Net sales on 3/7/2023",
        "In Q4 '23, what was EPS?",
        "Compare 5 quarters of revenue",
        "What does the company expect for next year?",
        "公司预计明年营收多少？",
        "2030年12月31日到期的债券",
        "2024年十二月的销量",
        "过去五个季度的营收",
        "2023年前五个月的收入",
    ],
)
def test_more_that_exists_or_may_be_asked_for(question: str) -> None:
    found = find_unreal_periods(question, "2026-11-22")
    assert (found.none_such, found.not_begun) == ((), ())


@pytest.mark.parametrize(
    "question",
    [
        "Revenue for fiscal year 20233",
        "20233财年的营业收入",
        "Net sales in fiscal year 202",
        "收入，19世纪",
        "FY0 net income",
    ],
)
def test_a_year_that_no_calendar_has_is_out_of_reach_and_spoken_of_by_nothing(question: str) -> None:
    (period,) = find_unreal_periods(question, DAY).out_of_reach
    assert not is_spoken_of(period, ["Revenue of fiscal 2023 was 8 billion."])


@pytest.mark.parametrize(
    "question", ["Revenue in the 21st century", "2023财年的营业收入", "FY23 revenue", "FY2023 revenue"]
)
def test_a_year_that_a_report_may_be_of_is_within_reach(question: str) -> None:
    assert not find_unreal_periods(question, DAY).out_of_reach
