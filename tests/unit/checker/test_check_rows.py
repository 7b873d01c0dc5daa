"""Figures of a row that the words do not name, where they name another: in both languages."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

HEADER = "Larch (LRC) · 10-Q · FY2023 Q3 · quarter ended July 1, 2023"
INCOME = CheckPassage(
    "(In millions, except per share amounts)\nThree Months Ended\nJuly 1, 2023\tJune 25, 2022\n"
    "Operating expenses:\nResearch and development\t7,442\t6,797\nSelling, general and administrative\t5,973\t6,012\n"
    "Total operating expenses\t13,415\t12,809\nNet income\t$ 19,881\t$ 19,442\n"
    "Shares used in computing earnings per share:\nDiluted\t15,775,021\t16,262,203",
    header=HEADER,
)
BALANCE = CheckPassage(
    "(In millions)\nApril 1, 2023\tSeptember 24, 2022\nAccounts receivable, net\t$ 17,936\t$ 28,184\n"
    "Accounts payable\t42,945\t64,115\nLong-term debt\t97,041\t98,959\nShort-term debt\t10,578\t11,128",
    header=HEADER,
)
SEGMENTS = CheckPassage(
    "(In millions)\nThree Months Ended\nJuly 1, 2023\tJune 25, 2022\nEurope:\nNet sales\t$ 20,205\t$ 19,287\n"
    "Operating income\t7,098\t6,503\nJapan:\nNet sales\t$ 4,821\t$ 5,446\nOperating income\t2,389\t2,418",
    header=HEADER,
)
CHANGES = CheckPassage(
    "(dollars in millions)\nThree Months Ended\nJuly 1, 2023\tJune 25, 2022\tChange\n"
    "Greater China\t$ 15,758\t$ 14,604\t8%\nRest of Asia Pacific\t5,630\t6,150\t(8)%",
    header=HEADER,
)
OPERATING = CheckPassage(
    "Operating income by segment\n(In millions)\nThree Months Ended\nJuly 1, 2023\tJune 25, 2022\n"
    "Graphics\t1,211\t657\nNetworking\t6,728\t816\nTotal\t7,939\t1,473",
    header=HEADER,
)
BUYBACK = CheckPassage("In the nine months the company repurchased 365 million shares for $56.1 billion.")

FALSE = [
    (INCOME, "Research and development expense was $5,973 million in the quarter ended July 1, 2023."),
    (INCOME, "截至2023年7月1日的季度，研发费用为59.73亿美元。"),
    (INCOME, "Diluted earnings per share were $15,775,021 thousand in the quarter ended July 1, 2023."),
    (BALANCE, "Accounts receivable stood at $42,945 million on April 1, 2023."),
    (BALANCE, "截至2023年4月1日，应收账款为429.45亿美元。"),
    (BALANCE, "截至2023年4月1日，短期债务为970.41亿美元。"),
    (SEGMENTS, "Japan's net sales were $20,205 million in the quarter ended July 1, 2023."),
    (CHANGES, "Net sales in Greater China fell 8% in the quarter ended July 1, 2023."),
    (CHANGES, "截至2023年7月1日的季度，大中华区净销售额下降8%。"),
    (BUYBACK, "In the nine months the company repurchased shares for $365 million."),
]
TRUE = [
    (INCOME, "Research and development expense was $7,442 million, above the $5,973 million of selling, general and "
             "administrative expense, in the quarter ended July 1, 2023."),
    (INCOME, "Operating expenses other than research and development were $5,973 million in the quarter ended July 1, "
             "2023."),
    (BALANCE, "截至2023年4月1日，应收账款为179.36亿美元，应付账款为429.45亿美元，短期债务为105.78亿美元。"),
    (SEGMENTS, "Net sales in Japan were $4,821 million and in Europe $20,205 million in the third quarter of 2023."),
    (CHANGES, "Net sales in Greater China rose 8% in the quarter ended July 1, 2023."),
    (BUYBACK, "In the nine months the company repurchased 365 million shares."),
]  # fmt: skip


def _unsupported(answer: str, *passages: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, list(passages)).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(("passage", "answer"), TRUE, ids=[answer[:40] for _, answer in TRUE])
def test_a_figure_of_the_named_row_is_supported(passage: CheckPassage, answer: str) -> None:
    assert _unsupported(answer, passage) == []


@pytest.mark.parametrize("answer", ["Net income was $7,939 million in the quarter ended July 1, 2023.",
                                    "截至2023年7月1日的季度，净利润为79.39亿美元。"])  # fmt: skip
def test_a_total_is_not_what_a_row_of_another_table_is_called(answer: str) -> None:
    assert _unsupported(answer, INCOME, OPERATING)
    assert (
        _unsupported("Operating income was $7,939 million in the quarter ended July 1, 2023.", INCOME, OPERATING) == []
    )


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Net income was down 2.2% from a year earlier in the quarter ended July 1, 2023.", True),
        ("Net income of $19,881 million in the quarter ended July 1, 2023 was up 2.3% from a year earlier.", False),
        ("Net income of $19,881 million in the quarter ended July 1, 2023 was up $439 million from a year ago.", False),
    ],
)
def test_a_change_from_a_year_earlier_is_not_a_figure_of_that_year(answer: str, wrong: bool) -> None:
    assert bool(_unsupported(answer, INCOME)) == wrong


QUARTERS = CheckPassage(
    "($ in millions)\nThree Months Ended\nJuly 30, 2023\tApril 30, 2023\tJuly 31, 2022\n"
    "Net income\t$ 6,188\t$ 2,043\t$ 656\nGross margin\t70.1%\t64.6%\t43.5%",
    header="Nordlys (NDL) · 10-Q · FY2024 Q2 · quarter ended July 30, 2023",
)


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Net income was $2,043 million in the second quarter of fiscal 2024.", True),
        ("Net income was $2,043 million in the first quarter of fiscal 2024.", False),
        ("Net income was $6,188 million in the second quarter of fiscal 2024, up from $2,043 million in the quarter "
         "before.", False),
        ("2024财年第二季度净利润为20.43亿美元。", True),
        ("2024财年第二季度净利润为61.88亿美元，上一季度为20.43亿美元。", False),
        ("2024财年第二季度毛利率为64.6%。", True),
        ("截至2023年7月30日的九个月，净利润为61.88亿美元。", True),
        ("截至2023年7月30日的三个月，净利润为61.88亿美元。", False),
    ],
)  # fmt: skip
def test_a_figure_is_of_the_fiscal_quarter_that_its_date_ends(answer: str, wrong: bool) -> None:
    found = check_answer(answer, [QUARTERS]).figures
    amounts = [f for f in found if f.text.endswith(("million", "亿美元", "%"))]
    assert any(f.verdict in UNSUPPORTED for f in amounts) == wrong
