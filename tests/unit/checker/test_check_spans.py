"""How long a time a figure is of: a quarter, a half year, nine months, the year to date."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

PROSE = CheckPassage(
    "Orders for Q3 2025 were $410 million, up 6% from Q3 2024, and $1.31 billion for YTD 2025, up 14% from YTD 2024. "
    "Rental volume decreased 21% in YTD 2025 on weak demand.",
    header="Halden Lifts · 10-Q · Q3 2025",
)
ROLLING = CheckPassage(
    "(in millions)\n\tTwelve Months Ended September 30,\n\t2024\t2025\nFree cash flow\t$ 418\t$ 366",
    header="Halden Lifts · 10-Q · Q3 2025",
)
ZH = CheckPassage(
    "前三季度公司新签订单386.5亿元，同比增长17.2%。第三季度回款42.8亿元。", header="中岭建设 · 季报 · Q3 2025"
)
RATE = CheckPassage(
    "The churn rate was 9% and 8% for the three months ended June 30, 2025 and 2024, respectively, and 9% and 5% for "
    "the six months ended June 30, 2025 and 2024, respectively."
)


def doubted(answer, passage):
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Orders rose 14% in the year to date.", PROSE),
        ("Orders were $410 million in the third quarter of 2025.", PROSE),
        ("Rental volume was down 21% year to date.", PROSE),
        ("Free cash flow for the twelve months ended September 30, 2025 was $366 million.", ROLLING),
        ("In 2025 free cash flow came to $366 million.", ROLLING),
        ("2025年前三季度新签订单386.5亿元，同比增长17.2%。", ZH),
        ("第三季度回款42.8亿元。", ZH),
        ("The churn rate rose 4 percentage points to 9% in the six months ended June 30, 2025.", RATE),
    ],
)
def test_the_same_length_of_time_passes(answer, passage):
    assert doubted(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage", "false"),
    [
        ("Rental volume was down 21% in the third quarter.", PROSE, "21%"),
        ("Free cash flow for the three months ended September 30, 2025 was $366 million.", ROLLING, "$366 million"),
        ("2025年第三季度新签订单386.5亿元。", ZH, "386.5亿元"),
        ("前三季度回款42.8亿元。", ZH, "42.8亿元"),
        (
            "The churn rate rose 4 percentage points to 9% in the three months ended June 30, 2025.",
            RATE,
            "4 percentage points",
        ),
    ],
)
def test_another_length_of_time_is_doubted(answer, passage, false):
    assert false in doubted(answer, passage)
