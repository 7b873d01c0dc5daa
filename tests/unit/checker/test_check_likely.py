"""Figures that no form of words asks for, accepted where they could hardly come out by chance."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.reading.amounts import parse_amounts

HALF = CheckPassage(
    "NOK million | 1H2024 | 1H2023 | 2Q2024 | 1Q2024\n"
    "Net freight income | 238 | 251 | 124 | 114\nHarbour fees | 97 | 82 | 51 | 46\n"
    "Total income | 335 | 333 | 175 | 160",
    header="Nordhavn · half-year report 2024",
)
BORROWED = CheckPassage("Year end | 2024 | 2023\nNet borrowings | £1,870m | £2,253m\nTurnover | £9.4bn | £9.9bn")
PROFIT = CheckPassage(
    "百万美元 | 2024年第三季度 | 2023年第三季度\n营业利润 | 11,188 | 2,525\n营业收入 | 143,083 | 127,101"
)
YEAR_BEFORE = CheckPassage("百万欧元 | 2024年上半年 | 2023年上半年\n税后利润 | 62 | 4\n营业收入 | 411 | 398")


def verdicts(answer: str, passage: CheckPassage) -> list[str]:
    return [figure.text for figure in check_answer(answer, [passage]).figures if figure.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("true", "false", "passage"),
    [
        (
            "Net freight income was about 5% lower than in the first half of 2023 but picked up in the second quarter.",
            "Net freight income was about 9% lower than in the first half of 2023 but picked up in the second quarter.",
            HALF,
        ),
        (
            "2024年上半年税后利润为6,200万欧元，上年同期仅400万欧元。",
            "2024年上半年税后利润为6,200万欧元，上年同期仅700万欧元。",
            YEAR_BEFORE,
        ),
        (
            "2024年第三季度营业利润约112亿美元，是上年同期的四倍多。",
            "2024年第三季度营业利润约112亿美元，是上年同期的七倍多。",
            PROFIT,
        ),
    ],
)
def test_a_computation_in_an_analysts_words_follows_and_another_number_does_not(
    true: str, false: str, passage: CheckPassage
) -> None:
    assert not verdicts(true, passage)
    assert verdicts(false, passage)


def test_a_way_that_the_words_do_not_say_is_no_agreement() -> None:
    up = "The group ended the year with net borrowings of £1.87bn, some 17% more than twelve months earlier."
    assert verdicts(up, BORROWED) == ["17%"]


def test_two_and_a_half_is_one_number() -> None:
    assert [(f.kind, float(f.size)) for f in parse_amounts("two and a half times what it was")] == [("multiple", 2.5)]
    assert [(f.kind, float(f.size)) for f in parse_amounts("增长约两倍半")] == [("multiple", 2.5)]
