"""Verbs of a question, said with the nouns of reports."""

from __future__ import annotations

import pytest
from quelea_fintext.nouns import in_nouns


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much did Zebra sell in Q3 2023?", "what were the net sales of Zebra in Q3 2023?"),
        ("How much has Zebra sold so far?", "what were the net sales of Zebra so far?"),
        ("Did Zebra make a profit or a loss in 2022?", "what was the net income of Zebra in 2022?"),
        ("斑马2023年卖了多少钱？", "斑马2023年的销售额是多少？"),
        ("斑马2023年赚了多少？", "斑马2023年的净利润是多少？"),
        ("斑马2023年是盈利还是亏损？", "斑马2023年的净利润是多少？"),
    ],
)
def test_the_noun_stands_for_the_verb(question: str, said: str) -> None:
    assert in_nouns(question) == said


@pytest.mark.parametrize(
    "question",
    [
        "How much did Zebra sell its stake for?",
        "How much did Zebra sell shares for?",
        "How much did Zebra spend?",
        "What did Zebra sell to Lion?",
        "What does Zebra sell in Europe?",
        "斑马卖了多少台手机？",
        "What were the net sales of Zebra?",
    ],
)
def test_other_questions_stay(question: str) -> None:
    assert in_nouns(question) == question
