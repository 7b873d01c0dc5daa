"""Times that are named by their months: July to September, 2022年7至9月, the nine months to March."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, check_answer
from quelea_checker.reading.amounts import parse_amounts
from quelea_checker.reading.attachment import attach_periods
from quelea_checker.reading.periods import find_periods

TABLE = CheckPassage(
    "Three Months Ended\tNine Months Ended\n(In Millions)\tOct 1, 2022\tSep 25, 2021\tOct 1, 2022\tSep 25, 2021\n"
    "Toy sales\t$ 4,410\t$ 5,944\t$ 15,119\t$ 19,634\nFreight costs\t720\t815\t2,290\t2,466"
)


@pytest.mark.parametrize(
    ("text", "year", "month", "months"),
    [
        ("2021年4至6月的收入", 2021, 6, 3),
        ("2021年10月至12月", 2021, 12, 3),
        ("2019年1-4月份，利润", 2019, 0, 4),
        ("From January to April 2019, profits", 2019, 0, 4),
        ("between April and June 2021", 2021, 6, 3),
        ("over the six months to September 2020", 2020, 9, 6),
        ("in the quarter to December 2018", 2018, 12, 3),
        ("截至2020年9月底的六个月", 2020, 9, 6),
    ],
)
def test_a_span_of_months(text, year, month, months):
    (period,) = find_periods(text)
    assert (period.year, period.month, period.day, period.months) == (year, month, 0, months)


def test_two_months_of_two_years_are_two_times():
    assert [p.year for p in find_periods("from March 2022 to March 2023")] == [2022, 2023]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Toy sales were $4,410 million from July to September 2022.", "supported"),
        ("Toy sales were $15,119 million from July to September 2022.", "contradicted"),
        ("Toy sales were $15,119 million in the nine months to September 2022.", "supported"),
        ("Toy sales were $4,410 million in the nine months to September 2022.", "contradicted"),
    ],
)
def test_it_is_the_column_of_that_length_though_weeks_end_later(answer, verdict):
    figures = check_answer(answer, [TABLE]).figures
    assert [f.verdict for f in figures] == [verdict, "supported"]


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("In 2021 sales grew 12% compared with 2020.", [2021]),
        ("Sales of 2021 fell 5%, from 2020.", [2021]),
        ("2021年占比为40%，比2020年提高5个百分点。", [2021]),
        ("2021年市占率为65%，低于2020年的71%。", [2020]),
        ("The rate was 41% in 2021, higher than 2020's 40%.", [2020]),
    ],
)
def test_a_change_is_not_of_the_time_it_is_measured_from(text, years):
    figures, periods = parse_amounts(text), find_periods(text)
    assert [period.year for period in attach_periods(text, figures, periods)[-1]] == years


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ("2021年1至3月，货运收入为11.2亿美元。", {"supported"}),
        ("2021年1至3月，货运收入为34.2亿美元。", {"supported", "not_found"}),
        ("截至2021年3月底的九个月，货运收入为34.2亿美元。", {"supported"}),
        ("Freight revenue was $3,420 million between January and March 2021.", {"supported", "contradicted"}),
        ("Freight revenue was $3,420 million in the nine months to March 2021.", {"supported"}),
    ],
)
def test_a_unit_over_the_labels_is_the_head_of_no_column(answer, verdicts):
    table = CheckPassage(
        "(In millions)\tThree Months Ended March 31,\tNine Months Ended March 31,\n2021\t2020\t2021\t2020\n"
        "Parcel revenue\t$ 3,205\t$ 2,911\t$ 9,100\t$ 8,650\nFreight revenue\t1,120\t1,304\t3,420\t3,815"
    )
    assert {figure.verdict for figure in check_answer(answer, [table]).figures} == verdicts
