"""Figures that no form of words asks for, accepted where they could hardly come out by chance; fractions in words."""

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
FRANCHISE = CheckPassage(
    "The definite-lived assets of the Orrin deal consist of $156 million of franchise rights, which are amortized on a "
    "straight-line basis over 24 years, and $33 million of software."
)
BANK = CheckPassage(
    "Ostra Bank, results 2024. Cost of risk was 34 basis points (28 basis points). The core ratio stood at 13.8% "
    "against a requirement of 10.9%. Total revenue was $3.04 billion, of which equipment revenue was $0.58 billion."
)
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
            "The group ended the year with net borrowings of £1.87bn, some 17% less than twelve months earlier.",
            "The group ended the year with net borrowings of £1.87bn, some 27% less than twelve months earlier.",
            BORROWED,
        ),
        (
            "Net freight income was about 5% lower than in the first half of 2023 but picked up in the second quarter.",
            "Net freight income was about 9% lower than in the first half of 2023 but picked up in the second quarter.",
            HALF,
        ),
        (
            "Amortizing the Orrin franchise rights costs about $6.5 million a year.",
            "Amortizing the Orrin franchise rights costs about $8.5 million a year.",
            FRANCHISE,
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
        ("Ostra's cost of risk was 0.34%.", "Ostra's cost of risk was 0.43%.", BANK),
        (
            "Of the $3.04 billion of revenue, $0.58 billion came from equipment. That is a shade less than a fifth.",
            "Of the $3.04 billion of revenue, $0.58 billion came from equipment. That is a shade less than a third.",
            BANK,
        ),
    ],
)
def test_a_computation_in_an_analysts_words_follows_and_another_number_does_not(
    true: str, false: str, passage: CheckPassage
) -> None:
    assert not verdicts(true, passage)
    assert verdicts(false, passage)


def test_the_formula_is_shown() -> None:
    report = check_answer("Amortizing the Orrin franchise rights costs about $6.5 million a year.", [FRANCHISE])
    assert [figure.formula for figure in report.figures] == ["= 156 ÷ 24"]


def test_a_way_that_the_words_do_not_say_is_no_agreement() -> None:
    up = "The group ended the year with net borrowings of £1.87bn, some 17% more than twelve months earlier."
    assert verdicts(up, BORROWED) == ["17%"]


@pytest.mark.parametrize(
    ("text", "percent", "step", "bound"),
    [
        ("just under a quarter of sales", 25, 10, -1),
        ("a shade less than half of it", 50, 10, -1),
        ("well over half of the fund", 50, 20, 1),
        ("fewer than half of its sites", 50, 20, -1),
        ("a tenth less than in 2019", 10, 3, 0),
        ("rose by almost a fifth on the year", 20, 8, -1),
        ("three-quarters of which", 75, 6, 0),
        ("三分之一强", 33.3, 10, 1),
        ("过半", 50, 10, 1),
        ("近两成", 20, 10, -1),
    ],
)
def test_a_fraction_in_words_is_a_range_of_percentages(text: str, percent: float, step: float, bound: int) -> None:
    (figure,) = parse_amounts(text)
    assert (figure.kind, float(figure.number), figure.bound) == ("percent", percent, bound)
    assert float(figure.step) == step


@pytest.mark.parametrize("text", ["half a percentage point", "profit down a half year", "in the second half of 2021"])
def test_what_is_no_part_of_a_whole_is_no_fraction(text: str) -> None:
    assert not any(figure.kind == "percent" for figure in parse_amounts(text))


def test_two_and_a_half_is_one_number() -> None:
    assert [(f.kind, float(f.size)) for f in parse_amounts("two and a half times what it was")] == [("multiple", 2.5)]
    assert [(f.kind, float(f.size)) for f in parse_amounts("增长约两倍半")] == [("multiple", 2.5)]
