"""Periods that do not exist and periods that have not begun, in both languages; and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_gateway.core.unreal_periods import spoken_of, unreal_periods

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
    assert unreal_periods(question, DAY).none_such == (said,)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was Apple's revenue in fiscal 2031?", "fiscal 2031"),
        ("What was Apple's net income for Q3 2031?", "Q3 2031"),
        ("What was revenue in 2031?", "2031"),
        ("苹果2031财年的营收是多少？", "2031财年"),
        ("苹果2031年第三季度的营收是多少？", "2031年第三季度"),
        ("苹果2031年的营收是多少？", "2031年"),
    ],
)
def test_what_has_not_begun_is_named(question: str, said: str) -> None:
    found = unreal_periods(question, DAY)
    assert (found.none_such, found.not_begun) == ((), (said,))


@pytest.mark.parametrize(
    "question",
    [
        "What was Apple's revenue in Q4 2023?",
        "How many Audi Q5 2023 models were sold?",
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
    found = unreal_periods(question, DAY)
    assert (found.none_such, found.not_begun) == ((), ())


@given(st.dates(), st.sampled_from(["%B %d, %Y", "%d %B %Y", "%Y-%m-%d", "%Y年%m月%d日"]))
def test_no_real_day_is_called_unreal(day, form: str) -> None:
    if day.year >= 1900:
        assert not unreal_periods(f"cash as of {day.strftime(form)}?", "2100-01-01").none_such


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    unreal_periods(text, DAY)


def test_a_document_may_speak_of_a_year_to_come() -> None:
    (period,) = unreal_periods("What net sales does it expect for fiscal 2031?", DAY).not_begun
    assert spoken_of(period, ["Net sales of fiscal 2031 are expected to reach 12 billion."])
    assert not spoken_of(period, ["Net sales of fiscal 2023 were 8 billion."])
