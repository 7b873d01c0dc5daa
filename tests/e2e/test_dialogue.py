"""Two turns on the running product, in both languages: the second is answered as it stands alone."""

from __future__ import annotations

from typing import Any

import pytest

ENGLISH = "What were Apple's total net sales in the third quarter of fiscal 2023?"
CHINESE = "2023年第三季度，三星的智能手机出货量是多少？"


def told(question: str, answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


@pytest.mark.parametrize(
    ("first", "follow_up", "alone", "figure"),
    [
        (
            ENGLISH,
            "And net income?",
            "What were Apple's net income in the third quarter of fiscal 2023?",
            "19,881",
        ),
        (
            "What were Apple's iPhone sales in the third quarter of fiscal 2023?",
            "and iPad?",
            "What were Apple's iPad sales in the third quarter of fiscal 2023?",
            "5,791",
        ),
        (CHINESE, "那小米呢？", "2023年第三季度，小米的智能手机出货量是多少？", "4150"),
    ],
)
def test_a_follow_up_is_answered_as_it_stands_alone(
    library: Any, first: str, follow_up: str, alone: str, figure: str
) -> None:
    before = library.ask(first)
    assert before["standalone"] is None
    answer = library.ask(follow_up, history=told(first, before["answer"]))
    assert answer["standalone"] == {"question": alone, "by": "rules"}
    assert "rewrite" in answer["timings"]
    assert not answer["declined"], answer
    assert figure in answer["answer"]
    assert answer["answer"] == library.ask(alone)["answer"]


@pytest.mark.parametrize(
    ("first", "follow_up", "alone"),
    [
        (ENGLISH, "and Microsoft?", "What were Microsoft's total net sales in the third quarter of fiscal 2023?"),
        ("苹果2023年第三季度的营收是多少？", "那腾讯呢？", "腾讯2023年第三季度的营收是多少？"),
    ],
)
def test_a_company_without_documents_is_swapped_in_and_nothing_of_the_other_is_told(
    library: Any, first: str, follow_up: str, alone: str
) -> None:
    answer = library.ask(follow_up, history=told(first, "…"))
    assert answer["standalone"] == {"question": alone, "by": "rules"}
    assert answer["declined"], answer
    assert answer["reading"]["company_missing"]


def test_the_year_before_keeps_the_company_and_the_item(library: Any) -> None:
    answer = library.ask("and the year before?", history=told(ENGLISH, "81,797 [1]"))
    assert answer["standalone"]["question"] == "What were Apple's total net sales in the third quarter of fiscal 2022?"
    assert answer["reading"]["companies"] == ["Apple"]
