"""What something came to is not what it changed by; and what rounding allows."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

TABLE = CheckPassage(
    "(in millions)\n\tYear Ended December 31,\n\t2025\t2024\nRevenue\t$ 4,812\t$ 4,377\nOperating profit\t712\t655\n"
    "Net increase in cash\t218\t91",
    header="Selby Marine · 10-K · FY2025 · year ended December 31, 2025",
)
PROSE = CheckPassage(
    "Charter revenue was $938 million in 2025. Brokerage revenue fell by $64 million in 2025. "
    "2025年租赁收入为15.82亿元，维修收入比上年增加2.37亿元。"
)


def doubted(answer, passage):
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Revenue rose by $435 million in 2025.", TABLE),
        ("Revenue rose to $4,812 million in 2025.", TABLE),
        ("Cash increased by $218 million in 2025.", TABLE),
        ("Charter revenue was $938 million in 2025.", PROSE),
        ("Brokerage revenue declined $64 million in 2025.", PROSE),
        ("The decline of brokerage revenue was $64 million in 2025.", PROSE),
        ("2025年租赁收入达15.82亿元。", PROSE),
        ("2025年维修收入增长2.37亿元。", PROSE),
        ("Operating profit was about $0.7 billion in 2025.", TABLE),
    ],
)
def test_true_answers_pass(answer, passage):
    assert doubted(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage", "false"),
    [
        ("Revenue rose by $4,812 million in 2025.", TABLE, "$4,812 million"),
        ("Operating profit grew $712 million in 2025.", TABLE, "$712 million"),
        ("Charter revenue increased by $938 million in 2025.", PROSE, "$938 million"),
        ("Brokerage revenue was $64 million in 2025.", PROSE, "$64 million"),
        ("2025年租赁收入增加15.82亿元。", PROSE, "15.82亿元"),
        ("2025年维修收入为2.37亿元。", PROSE, "2.37亿元"),
    ],
)
def test_a_level_told_as_a_change_is_doubted(answer, passage, false):
    assert doubted(answer, passage) == [false]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Revenue was about $5 billion in 2025.", "supported"),
        ("Revenue was about $4.8 billion in 2025.", "supported"),
        ("Revenue was over $4 billion in 2025.", "supported"),
        ("Revenue was about $4 billion in 2025.", "contradicted"),
        ("Revenue was about $4.9 billion in 2025.", "contradicted"),
    ],
)
def test_about_is_a_rounding(answer, verdict):
    assert check_answer(answer, [TABLE]).figures[0].verdict == verdict
