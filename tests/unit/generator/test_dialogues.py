"""Dialogues of several turns about invented companies: what is carried over, and what is not."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.dialogue.follow_up import stand_alone
from quelea_generator.core.model import Turn

DAY = date(2025, 9, 1)


def stood(*questions: str) -> list[str]:
    """Each turn as it stands alone."""
    history: list[Turn] = []
    found = []
    for question in questions:
        found.append(stand_alone(question, tuple(history), DAY).text)
        history += [Turn("user", question), Turn("assistant", "Something was quoted.")]
    return found


ENGLISH = [
    ("What was Larkfield's revenue in Q3 2023?", "What was Larkfield's revenue in Q3 2023?"),
    ("and Penrose?", "What was Penrose's revenue in Q3 2023?"),
    ("what about net income?", "What was Penrose's net income in Q3 2023?"),
    ("and the year before?", "What was Penrose's net income in Q3 2022?"),
    ("And Oakhurst Farms?", "What was Oakhurst Farms's net income in Q3 2022?"),
    ("gross margin?", "What was Oakhurst Farms's gross margin in Q3 2022?"),
    ("Q4?", "What was Oakhurst Farms's gross margin in Q4 2022?"),
    ("Did they pay a dividend?", "Did Oakhurst Farms pay a dividend in Q4 2022?"),
]
CHINESE = [
    ("松涛食品2023年第三季度的营收是多少？", "松涛食品2023年第三季度的营收是多少？"),
    ("那竹溪乳业呢？", "竹溪乳业2023年第三季度的营收是多少？"),
    ("净利润呢？", "竹溪乳业2023年第三季度的净利润是多少？"),
    ("去年同期呢？", "竹溪乳业2022年第三季度的净利润是多少？"),
    ("榆林农场呢", "榆林农场2022年第三季度的净利润是多少？"),
    ("那毛利率呢？", "榆林农场2022年第三季度的毛利率是多少？"),
    ("它的研发费用是多少？", "榆林农场2022年第三季度的研发费用是多少？"),
    ("换成松涛食品", "松涛食品2022年第三季度的研发费用是多少？"),
]


@pytest.mark.parametrize("turns", [ENGLISH, CHINESE])
def test_a_long_dialogue_carries_company_item_and_period(turns):
    assert stood(*(said for said, _ in turns)) == [alone for _, alone in turns]


@pytest.mark.parametrize(
    ("turns", "alone"),
    [
        # the company is replaced, whatever it looks like
        (["What was Larkfield's EPS in 2024?", "and PNR?"], "What was PNR's EPS in 2024?"),
        (["What was Larkfield's EPS in 2024?", "and 7Oaks?"], "What was 7Oaks's EPS in 2024?"),
        (["What was larkfield's revenue in 2024?", "and penrose?"], "What was penrose's revenue in 2024?"),
        (["What was Larkfield's revenue in 2024?", "same for Penrose"], "What was Penrose's revenue in 2024?"),
        (["What was Larkfield's revenue in 2024?", "Penrose Dairies?"], "What was Penrose Dairies's revenue in 2024?"),
        (["What was Larkfield's revenue in 2024?", "Thanks. And Penrose in 2023?"],
         "What was Penrose's revenue in 2023?"),
        (["松涛食品2024年的营收是多少？", "三全呢"], "三全2024年的营收是多少？"),
        # the period, and the item
        (["What was Larkfield's revenue in 2024?", "and in 2022?"], "What was Larkfield's revenue in 2022?"),
        (["What was Larkfield's revenue in 2024?", "and the cost of sales?"],
         "What was Larkfield's cost of sales in 2024?"),
        (["松涛食品2024年的营收是多少？", "2023年呢？"], "松涛食品2023年的营收是多少？"),
        # compared with another company, the first stays
        (
            ["What was Larkfield's revenue in 2024?", "How does that compare with Penrose?"],
            "What was Larkfield's revenue in 2024, compared with Penrose?",
        ),
        (["松涛食品2024年的营收是多少？", "与竹溪乳业相比呢？"], "松涛食品2024年的营收是多少？与竹溪乳业相比如何？"),
        # in the other language
        (["What was Larkfield's revenue in 2024?", "那竹溪乳业呢？"], "竹溪乳业2024年的revenue是多少？"),
        (["松涛食品2024年净利润多少？", "他们的负债呢？"], "松涛食品2024年负债多少？"),
    ],
)  # fmt: skip
def test_a_follow_up_replaces_its_like(turns, alone):
    assert stood(*turns)[-1] == alone


@pytest.mark.parametrize(
    ("first", "new"),
    [
        ("What was Larkfield's revenue in 2024?", "What is EBITDA?"),
        ("What was Larkfield's revenue in 2024?", "What is the Fed funds rate?"),
        ("What was Larkfield's revenue in 2024?", "Who founded Oakhurst?"),
        ("What was Larkfield's revenue in 2024?", "What was Penrose's net income in 2022?"),
        ("What was Larkfield's revenue in 2024?", "Which risks does Penrose name?"),
        ("松涛食品2024年的营收是多少？", "什么是市盈率？"),
        ("松涛食品2024年的营收是多少？", "竹溪乳业的董事长是谁？"),
        ("松涛食品2024年的营收是多少？", "竹溪乳业2022年的净利润是多少？"),
    ],
)
def test_a_new_topic_takes_nothing_along(first, new):
    assert stood(first, new)[-1] == new


@pytest.mark.parametrize("word", ["globally", "overseas", "wearables", "segments"])
def test_a_small_word_is_no_company(word):
    (_, alone) = stood("What was Larkfield's revenue in 2024?", f"and {word}?")
    assert alone.startswith("What was Larkfield's revenue in 2024")
