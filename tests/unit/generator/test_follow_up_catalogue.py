"""Follow-ups beside a catalogue of companies: the company is swapped, period and item stay; products are none."""

from datetime import date

import pytest
from quelea_generator.core.dialogue.follow_up import stand_alone
from quelea_generator.core.model import Turn

DAY = date(2023, 11, 20)
KNOWN = ("Apple", "Microsoft", "NVIDIA", "penrose", "3M", "腾讯", "贵州茅台", "阿里巴巴", "Alphabet", "中国平安")


def made(*questions: str, known: tuple[str, ...] = KNOWN) -> str:
    *history, question = questions
    return stand_alone(question, tuple(Turn("user", one) for one in history), DAY, known).text


@pytest.mark.parametrize(
    ("first", "then", "alone"),
    [
        (
            "What was Apple's revenue in the third quarter of fiscal 2023?",
            "and Microsoft?",
            "What was Microsoft's revenue in the third quarter of fiscal 2023?",
        ),
        (
            "What was Microsoft's Azure revenue in fiscal 2023?",
            "and the year before?",
            "What was Microsoft's Azure revenue in fiscal 2022?",
        ),
        (
            "What was NVIDIA's Gaming revenue in Q1 2023?",
            "And Data Center revenue?",
            "What was NVIDIA's Data Center revenue in Q1 2023?",
        ),
        (
            "What was NVIDIA's revenue in Q1 2023?",
            "And Data Center revenue?",
            "What was NVIDIA's Data Center revenue in Q1 2023?",
        ),
        ("What were Apple's iPhone sales in Q1 2023?", "and iPad?", "What were Apple's iPad sales in Q1 2023?"),
        ("What were Apple's iPhone sales in Q1 2023?", "and Mac?", "What were Apple's Mac sales in Q1 2023?"),
        ("What was Apple's revenue in 2022?", "and Zyxel?", "What was Zyxel's revenue in 2022?"),
        ("What was Apple's revenue in 2022?", "what about penrose?", "What was penrose's revenue in 2022?"),
        ("What was Apple's revenue in 2022?", "and 3M?", "What was 3M's revenue in 2022?"),
        ("贵州茅台2023年第三季度的营业收入是多少？", "那腾讯呢？", "腾讯2023年第三季度的营业收入是多少？"),
        ("腾讯2023年第三季度的营业收入是多少？", "那去年呢？", "腾讯2022年第三季度的营业收入是多少？"),
        ("阿里巴巴2023年第三季度的净利润是多少？", "中国平安呢？", "中国平安2023年第三季度的净利润是多少？"),
    ],
)
def test_a_piece_replaces_its_like(first: str, then: str, alone: str) -> None:
    assert made(first, then) == alone


def test_the_company_changes_twice_and_the_year_goes_on_from_the_last_question() -> None:
    first = "What was Apple's net income in fiscal 2023?"
    assert made(first, "and Microsoft?", "and the year before?") == "What was Microsoft's net income in fiscal 2022?"


def test_other_names_of_the_question_are_kept_when_the_company_is_swapped() -> None:
    first = "How did Apple explain its revenue in Greater Bay in fiscal 2023?"
    assert made(first, "and Microsoft?") == "How did Microsoft explain its revenue in Greater Bay in fiscal 2023?"


def test_without_a_catalogue_names_are_guessed() -> None:
    first = "What was Apple's revenue in 2022?"
    assert made(first, "and Microsoft?", known=()) == "What was Microsoft's revenue in 2022?"


def test_a_name_inside_another_word_is_none() -> None:
    first = "What was Apple's revenue in 2022?"
    assert "Alphabetical" in made(first, "in Alphabetical order?")
