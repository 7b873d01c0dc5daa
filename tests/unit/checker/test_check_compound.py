"""A compound rate is no growth of a year, and what annual reports call 上期 is the year before."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.reading.wording import says_compound

SALES = CheckPassage(
    "(in millions)\nYear Ended January 31,\n2025\t2024\t2023\tGrowth Rate\nTotal revenues\t37,895\t34,857\t31,352\t9%\n"
    "Cost of revenues\t8,643\t8,541\t8,360\t1%",
    header="Kestrel · 10-K · FY2025 · year ended January 31, 2025",
)
PRINTED = CheckPassage("Revenue CAGR: 9.9407 %\nGrowth of revenue in fiscal 2025: 8.7156 %")
NOTES = CheckPassage(
    "单位：元\n项目\t本期发生额\t上期发生额\n研发费用\t22,334,548.66\t15,665,695.27\n销售费用\t36,139,018.24\t25,844,972.78",
    header="云鹏电气 · annual report · FY2019 · 2019年12月31日",
)
JOINED = CheckPassage(
    "Exxon Kestrel's earnings were $7.1 billion in the second quarter of 2025.",
    header="Exxon Kestrel (XKS) · 10-Q · FY2025 Q2 · quarter ended June 30, 2025",
)
UPSTREAM = CheckPassage(
    "(millions of dollars)\tThree Months Ended June 30,\n2025\t2024\nEarnings (loss)\n"
    "United States\t1,212\t2,430\nTotal\t5,402\t7,074",
    header="Exxon Kestrel (XKS) · 10-Q · FY2025 Q2 · quarter ended June 30, 2025 · UPSTREAM",
)


def doubted(answer: str, *passages: CheckPassage) -> list[str]:
    return [one.text for one in check_answer(answer, passages).figures if one.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("passage", "true", "false"),
    [
        (
            SALES,
            "Revenues grew at a compound annual rate of 9.9% from fiscal 2023 to fiscal 2025; "
            "in fiscal 2025 revenues grew 8.7%.",
            "Revenues grew at a compound annual rate of 8.7% from fiscal 2023 to fiscal 2025; "
            "in fiscal 2025 revenues grew 9.9%.",
        ),
        (
            SALES,
            "The CAGR of revenues from fiscal 2023 to fiscal 2025 was 9.94%.",
            "The CAGR of revenues from fiscal 2023 to fiscal 2025 was 20.9%.",
        ),
        (
            PRINTED,
            "Revenue grew at a compound annual rate of 9.94%.",
            "Revenue grew at a compound annual rate of 8.72%.",
        ),
        (
            NOTES,
            "云鹏电气2019年研发费用为22,334,548.66元，2018年为15,665,695.27元。",
            "云鹏电气2019年研发费用为15,665,695.27元。",
        ),
        (NOTES, "云鹏电气2019年销售费用为36,139,018.24元。", "云鹏电气2019年销售费用为22,334,548.66元。"),
        (SALES, "Total revenues were $37,895 million in fiscal 2025.", "Total revenues were $37,895 in fiscal 2025."),
        (
            SALES,
            "Costs were $8,643 million of revenues of $37,895 million in fiscal 2025.",
            "Costs were $4.4 million in fiscal 2025, a share of revenues.",
        ),
    ],
)
def test_a_true_one_passes_and_a_false_one_is_doubted(passage: CheckPassage, true: str, false: str) -> None:
    assert doubted(true, passage) == []
    assert doubted(false, passage)


def test_a_companys_name_tells_no_figure_of_it_from_another() -> None:
    said = "ExxonKestrel's Upstream earned $5,402 million in the second quarter of 2025."
    assert doubted(said, JOINED, UPSTREAM) == []


@pytest.mark.parametrize(
    "true",
    [
        "Upstream earnings were $5,402 (in millions) in the second quarter of 2025.",
        "Upstream earnings, in millions of dollars, were $5,402 in the second quarter of 2025.",
        "Amounts are in millions. Upstream earnings were $5,402 in the second quarter of 2025.",
    ],
)
def test_a_scale_that_is_said_apart_from_the_figure_is_its_scale(true: str) -> None:
    assert doubted(true, UPSTREAM) == []
    assert doubted(true.replace("millions", "thousands"), UPSTREAM) == ["$5,402"]


@pytest.mark.parametrize(
    ("text", "plain", "compound"),
    [
        ("Revenues grew 8.7%, or less than the compound annual rate of 9.9%.", "8.7%", "9.9%"),
        ("收入增长8.7%低于复合增长率9.9%。", "8.7%", "9.9%"),
        ("Revenues grew 9.9% compounded, and 8.7% in the year.", "8.7%", "9.9%"),
    ],
)
def test_a_growth_that_is_set_beside_a_compound_rate_is_none(text: str, plain: str, compound: str) -> None:
    assert not says_compound(text, text.index(plain), text.index(plain) + len(plain))
    assert says_compound(text, text.index(compound), text.index(compound) + len(compound))
