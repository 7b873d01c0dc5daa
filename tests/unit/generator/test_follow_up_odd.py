"""Follow-ups about periods that do not exist, about the whole, and put unusually; what comes after them."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.dialogue.follow_up import stand_alone
from quelea_generator.core.model import Turn

TODAY = date(2026, 11, 22)
KNOWN = ("Apple", "苹果", "Intel", "英特尔", "NVIDIA", "英伟达", "Amazon", "亚马逊", "Microsoft", "微软")


def asked(*questions: str) -> str:
    *before, last = questions
    return stand_alone(last, tuple(Turn("user", one) for one in before), TODAY, KNOWN).text


@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (
            ("What was NVIDIA's gross profit in Q2 of fiscal 2024?", "and Q5?"),
            "What was NVIDIA's gross profit in Q5 of fiscal 2024?",
        ),
        (("Intel's revenue in Q3 2023?", "and in the fifth quarter?"), "Intel's revenue in fifth quarter of 2023?"),
        (("英特尔2023年一季度净收入是多少？", "第五季度呢？"), "英特尔2023年第五季度净收入是多少？"),
        (("英伟达2023财年第一季度的游戏收入是多少？", "13月呢？"), "英伟达2023财年13月的游戏收入是多少？"),
        (
            ("How much cash did Apple have on April 1, 2023?", "And on February 30?"),
            "How much cash did Apple have on February 30 of 2023?",
        ),
    ],
)
def test_a_period_that_does_not_exist_is_asked_for_as_it_is_written(turns: tuple[str, ...], question: str) -> None:
    assert asked(*turns) == question


@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (
            ("Intel's revenue in Q3 2023?", "and in the fifth quarter?", "I mean the first quarter."),
            "Intel's revenue in the first quarter of 2023?",
        ),
        (("英特尔2023年一季度净收入是多少？", "第五季度呢？", "第二季度呢？"), "英特尔2023年第二季度净收入是多少？"),
        (("英特尔2023年一季度净收入是多少？", "第五季度呢？", "亚马逊呢？"), "亚马逊2023年第五季度净收入是多少？"),
    ],
)
def test_the_next_turn_forgets_it_or_keeps_it_whole(turns: tuple[str, ...], question: str) -> None:
    assert asked(*turns) == question


@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (
            ("What was Apple's iPhone revenue in Q1 of fiscal 2023?", "total?"),
            "What was Apple's total revenue in Q1 of fiscal 2023?",
        ),
        (
            ("What was Apple's iPhone revenue in Q1 of fiscal 2023?", "and in total?", "And Services?"),
            "What was Apple's Services revenue in Q1 of fiscal 2023?",
        ),
        (("英伟达2024财年第一季度的数据中心收入是多少？", "总共呢？"), "英伟达2024财年第一季度的总收入是多少？"),
        (("亚马逊2023年第二季度的营业利润是多少？", "总共呢？"), "亚马逊2023年第二季度的总营业利润是多少？"),
    ],
)
def test_the_whole_of_what_a_part_was_asked_about(turns: tuple[str, ...], question: str) -> None:
    assert asked(*turns) == question


@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (("英特尔2023年第二季度的营业亏损是多少？", "首季呢？"), "英特尔2023年第一季度的营业亏损是多少？"),
        (("苹果2023财年第三季度的净销售额是多少？", "毛利呢？"), "苹果2023财年第三季度的毛利是多少？"),
        (
            ("Net income of Microsoft in the quarter ended March 31, 2023?", "毛利率呢？"),
            "Microsoft 截至2023年3月31日止季度的毛利率是多少？",
        ),
        (
            ("What was Apple's revenue in Q1 2023?", "and in the opening quarter of 2022?"),
            "What was Apple's revenue in the first quarter of 2022?",
        ),
    ],
)
def test_what_is_put_unusually(turns: tuple[str, ...], question: str) -> None:
    assert asked(*turns) == question


def test_a_question_that_leans_on_nothing_stays_as_it_was_written() -> None:
    question = "What was Amazon's revenue in the holiday quarter of 2022?"
    found = stand_alone(question, (Turn("user", "Intel's revenue in Q3 2023?"),), TODAY, KNOWN)
    assert (found.text, found.leans) == (question, False)


def test_the_oldest_turn_that_is_left_may_itself_have_leaned_on_others() -> None:
    assert (
        asked("And what about Intel's net revenue in Q3 2023?", "and net income?") == "Intel's net income in Q3 2023?"
    )
    assert asked("那英特尔2023年三季度的净收入呢？", "亚马逊呢？").startswith("亚马逊2023年三季度的净收入")


@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (
            ("英伟达2024财年第二季度的数据中心收入是多少？", "游戏业务呢？"),
            "英伟达2024财年第二季度的游戏业务收入是多少？",
        ),
        (
            ("What were NVIDIA's data center revenues in Q2 2023?", "Same question for gaming"),
            "What were NVIDIA's gaming revenues in Q2 2023?",
        ),
        (("苹果2023年第二季度iPhone收入是多少？", "iPad呢？"), "苹果2023年第二季度iPad收入是多少？"),
        (("What was Apple's EPS in Q2 2023?", "Same for Q3 and Q1"), "What was Apple's EPS in Q3 2023 and Q1 2023?"),
        (("亚马逊2023年下半年的净销售额是多少？", "全年呢？"), "亚马逊2023年的净销售额是多少？"),
        (("亚马逊2022年第三季度的净利润", "再看2023年同期"), "亚马逊2023年第三季度的净利润"),
        (
            ("What was Apple's revenue in Q3 2022?", "Was it higher than Microsoft's?"),
            "Was Apple's revenue in Q3 2022 higher than Microsoft's?",
        ),
        (("英伟达2023财年的收入是多少？", "什么原因导致的？"), "英伟达2023财年的收入是多少？原因是什么？"),
        (("英伟达2023财年的收入是多少？", "今天天气怎么样？"), "今天天气怎么样？"),
    ],
)
def test_part_for_part_several_periods_and_what_it_is_held_against(turns: tuple[str, ...], question: str) -> None:
    assert asked(*turns) == question
