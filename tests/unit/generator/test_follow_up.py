"""Follow-ups made to stand alone by rules, in both languages: what they say replaces its like, the rest is carried."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_generator.core.dialogue.follow_up import stand_alone
from quelea_generator.core.dialogue.periods import find_periods
from quelea_generator.core.model import Turn

DAY = date(2024, 11, 22)
YEAR = "What was Apple's total revenue in fiscal 2023?"
QUARTER = "What was Apple's net income in the third quarter of fiscal 2023?"
DATED = "What were the net sales of Norbert Mills for the quarter ended March 30, 2024?"
MAOTAI = "贵州茅台2023年第三季度的营业收入是多少？"
BYD = "比亚迪2023年的净利润是多少？"


def asked(question: str, *earlier: str, as_of: date = DAY) -> str:
    """The question standing alone; "" when it was left as it is."""
    history = [turn for text in earlier for turn in (Turn("user", text), Turn("assistant", "It was 7 [1]."))]
    made = stand_alone(question, tuple(history), as_of)
    assert made.leans or made.text == question
    return made.text if made.leans else ""


@pytest.mark.parametrize(
    ("base", "question", "alone"),
    [
        (YEAR, "and the year before?", "What was Apple's total revenue in fiscal 2022?"),
        (YEAR, "two years earlier?", "What was Apple's total revenue in fiscal 2021?"),
        (YEAR, "What was it in the prior year?", "What was Apple's total revenue in fiscal 2022?"),
        (YEAR, "And the following year?", "What was Apple's total revenue in fiscal 2024?"),
        (YEAR, "and in 2021?", "What was Apple's total revenue in fiscal 2021?"),
        (YEAR, "and Microsoft?", "What was Microsoft's total revenue in fiscal 2023?"),
        (YEAR, "Thanks. And for Tesla?", "What was Tesla's total revenue in fiscal 2023?"),
        (
            YEAR,
            "what about the second quarter?",
            "What was Apple's total revenue in the second quarter of fiscal 2023?",
        ),
        (YEAR, "What about gross margin?", "What was Apple's gross margin in fiscal 2023?"),
        (YEAR, "and its net income?", "What was Apple's net income in fiscal 2023?"),
        (YEAR, "What was its operating income?", "What was Apple's operating income in fiscal 2023?"),
        (YEAR, "why?", "What was Apple's total revenue in fiscal 2023, and why?"),
        (
            YEAR,
            "Compared with the previous year?",
            "What was Apple's total revenue in fiscal 2023, compared with fiscal 2022?",
        ),
        (
            YEAR,
            "How did it compare with the year before?",
            "How did Apple's total revenue in fiscal 2023 compare with fiscal 2022?",
        ),
        (YEAR, "Did it grow?", "Did Apple's total revenue in fiscal 2023 grow?"),
        (YEAR, "Which segment grew the most?", "Which segment grew the most at Apple in fiscal 2023?"),
        (YEAR, "And what was Microsoft's revenue?", "What was Microsoft's revenue in fiscal 2023?"),
        (YEAR, "How about China?", "What was Apple's total revenue in fiscal 2023 for China?"),
        (YEAR, "and this year?", "What was Apple's total revenue in 2024?"),
        (
            YEAR,
            "What does the company say about competition?",
            "What does Apple say about competition in fiscal 2023?",
        ),
        (QUARTER, "and the year before?", "What was Apple's net income in the third quarter of fiscal 2022?"),
        (QUARTER, "And the previous quarter?", "What was Apple's net income in the second quarter of fiscal 2023?"),
        (QUARTER, "and the quarter after?", "What was Apple's net income in the fourth quarter of fiscal 2023?"),
        (QUARTER, "and for the full year?", "What was Apple's net income in fiscal 2023?"),
        (
            QUARTER,
            "compared with the same quarter last year?",
            "What was Apple's net income in the third quarter of fiscal 2023, compared with the third quarter of fiscal"
            " 2022?",
        ),
        (
            DATED,
            "and the year before?",
            "What were the net sales of Norbert Mills for the quarter ended March 30, 2023?",
        ),
        (MAOTAI, "那去年呢？", "贵州茅台2022年第三季度的营业收入是多少？"),
        (MAOTAI, "上一季度呢？", "贵州茅台2023年第二季度的营业收入是多少？"),
        (MAOTAI, "那第二季度呢", "贵州茅台2023年第二季度的营业收入是多少？"),
        (MAOTAI, "那前三季度呢", "贵州茅台2023年前三季度的营业收入是多少？"),
        (MAOTAI, "那2022年呢", "贵州茅台2022年第三季度的营业收入是多少？"),
        (MAOTAI, "那比亚迪呢？", "比亚迪2023年第三季度的营业收入是多少？"),
        (MAOTAI, "和去年同期相比呢", "贵州茅台2023年第三季度的营业收入是多少？与2022年第三季度相比如何？"),
        (MAOTAI, "它的毛利率呢", "贵州茅台2023年第三季度的毛利率是多少？"),
        (MAOTAI, "它的净利润是多少？", "贵州茅台2023年第三季度的净利润是多少？"),
        (MAOTAI, "该公司的主要风险是什么？", "贵州茅台2023年第三季度的主要风险是什么？"),
        (MAOTAI, "为什么？", "贵州茅台2023年第三季度的营业收入是多少？原因是什么？"),
        (MAOTAI, "同比增长多少？", "贵州茅台2023年第三季度的营业收入同比增长多少？"),
        (BYD, "那去年呢？", "比亚迪2022年的净利润是多少？"),
        (BYD, "前年呢", "比亚迪2021年的净利润是多少？"),
        (BYD, "上半年呢？", "比亚迪2023年上半年的净利润是多少？"),
        (BYD, "它今年的净利润呢", "比亚迪2024年的净利润是多少？"),
        (YEAR, "那去年呢？", "Apple 2022财年的total revenue是多少？"),
        (MAOTAI, "and the year before?", "What was the 营业收入 of 贵州茅台 in the third quarter of 2022?"),
    ],
)
def test_what_a_follow_up_says_replaces_its_like_and_the_rest_stays(base: str, question: str, alone: str) -> None:
    assert asked(question, base) == alone


@pytest.mark.parametrize(
    ("base", "question", "alone"),
    [
        ("What was Apple's revenue last year?", "and the year before?", "What was Apple's revenue in 2022?"),
        ("What was Apple's revenue?", "and the year before?", "What was Apple's revenue in 2023?"),
        (
            "What was Apple's revenue last year?",
            "and last quarter?",
            "What was Apple's revenue in the third quarter of 2024?",
        ),
        ("苹果公司的营收是多少？", "那去年呢？", "2023年苹果公司的营收是多少？"),
    ],
)
def test_without_a_period_before_it_counts_from_the_day_of_the_question(base: str, question: str, alone: str) -> None:
    assert asked(question, base) == alone


@pytest.mark.parametrize(
    ("base", "question"),
    [
        (YEAR, "What was Microsoft's revenue in 2022?"),
        (YEAR, "What is the capital of France?"),
        (YEAR, "What is EBITDA?"),
        (YEAR, "What did Tesla say about its margin in 2023?"),
        (MAOTAI, "宁德时代2022年的营收是多少？"),
        (MAOTAI, "什么是毛利率？"),
    ],
)
def test_a_question_that_stands_alone_is_left_as_it_is(base: str, question: str) -> None:
    assert asked(question, base) == ""


def test_the_first_question_never_leans() -> None:
    assert asked("and the year before?") == ""
    assert stand_alone("why?", (Turn("assistant", "Hello."),), DAY).leans is False


def test_a_chain_of_follow_ups_carries_through() -> None:
    assert asked("and its gross margin?", YEAR, "And Microsoft?", "and the year before?") == (
        "What was Microsoft's gross margin in fiscal 2022?"
    )
    assert asked("那毛利率呢", MAOTAI, "那比亚迪呢？", "去年呢") == "比亚迪2022年第三季度的毛利率是多少？"
    assert asked("and the year before that?", YEAR, "and the year before?", "and the year before that?") == (
        "What was Apple's total revenue in fiscal 2020?"
    )


@given(st.text(max_size=400), st.text(max_size=700))
def test_whatever_is_said_something_comes_back(question: str, base: str) -> None:
    made = stand_alone(question, (Turn("user", base),), DAY)
    assert made.leans or made.text == question
    assert len(made.text) <= 2 * (len(question) + len(base)) + 200


@given(
    st.integers(1990, 2049),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(["quarter", "half", "month", "year"]),
    st.sampled_from(["en", "zh"]),
)
def test_a_period_reads_as_it_was_written(year: int, part: int, fiscal: bool, kind: str, language: str) -> None:
    from quelea_generator.core.dialogue.periods import NamedPeriod

    part = 0 if kind == "year" else (part + 1) // 2 if kind == "half" else part
    period = NamedPeriod(kind, year, part, fiscal and kind != "month")  # type: ignore[arg-type]  # one of its kinds
    text = f"公司{period.text(language)}的收入" if language == "zh" else f"revenue in {period.text(language)} of it"
    assert [found.period for found in find_periods(text)] == [period]


@given(st.integers(1990, 2040), st.integers(1, 4), st.integers(-20, 20))
def test_moving_there_and_back_is_no_move(year: int, quarter: int, steps: int) -> None:
    from quelea_generator.core.dialogue.periods import NamedPeriod

    start = NamedPeriod("quarter", year, quarter)
    moved = start.moved(quarters=steps)
    assert moved is not None
    assert moved.moved(quarters=-steps) == start
    assert start.moved(years=1) == start.moved(quarters=4)


@pytest.mark.parametrize(
    ("base", "question", "alone"),
    [
        (QUARTER, "And as a percentage of revenue?", f"{QUARTER[:-1]}, as a percentage of revenue?"),
        (BYD, "占营业收入的比例呢？", "比亚迪2023年的净利润是多少，占营业收入的比例？"),
    ],
)
def test_what_was_asked_for_as_a_part_of_another_item(base: str, question: str, alone: str) -> None:
    assert asked(question, base) == alone
