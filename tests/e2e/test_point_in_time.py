"""Point in time on the running product, with two filings of one company; periods that do not exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.stack import SAMPLES

NET_SALES = "What were Apple's total net sales in the {}?"
NAMED = NET_SALES.format("third quarter of fiscal 2023")
SPRING, SUMMER = "94,836", "81,797"
"""Total net sales of the quarters ended April 1 and July 1, 2023, of which the filings are of May 4 and August 3."""
HALF = "211,990"
"""Of the six months ended April 1, 2023."""
CHINESE = "2023年第三季度，三星的智能手机出货量是多少？"


@pytest.fixture(scope="module")
def two_filings(library: Any) -> Iterator[Any]:
    """The shared stack with one more, older 10-Q of the same company, which is taken out afterwards."""
    file = SAMPLES / "filings" / "2023 Q2 AAPL.pdf"
    (job,) = library.ingest((file.name, file.read_bytes()))
    assert job["state"] == "succeeded", job
    yield library
    library.http.delete(f"/v1/documents/{job['document_id']}").raise_for_status()


def seen(answer: dict[str, Any]) -> list[str]:
    """Dates of publication of everything that the answer shows."""
    return [one["published"] for one in (*answer["citations"], *answer["further_reading"])]


@pytest.mark.parametrize(
    ("when", "day", "figure"),
    [
        ("latest quarter", "2023-06-15", SPRING),
        ("latest quarter", "2023-08-31", SUMMER),
        ("last quarter", "2023-06-15", SPRING),
        ("last quarter", "2023-08-31", SUMMER),
        ("quarter before last", "2023-08-31", SPRING),
        ("past three months", "2023-08-31", SUMMER),
        ("past three months", "2023-06-15", SPRING),
        ("first half of the year", "2023-08-31", HALF),
    ],
)
def test_the_day_of_the_question_chooses_the_filing(two_filings: Any, when: str, day: str, figure: str) -> None:
    answer = two_filings.ask(NET_SALES.format(when), as_of=day)
    assert answer["as_of"] == day
    assert not answer["declined"], answer
    assert figure in answer["answer"]
    assert all(published <= day for published in seen(answer))


@pytest.mark.parametrize(("question", "day"), [(NAMED, "2023-08-01"), (CHINESE, "2023-10-26")])
def test_nothing_published_later_is_used(two_filings: Any, question: str, day: str) -> None:
    answer = two_filings.ask(question, as_of=day)
    assert answer["as_of"] == day
    assert answer["declined"], answer
    assert all(published <= day for published in seen(answer))


def test_a_relative_period_is_shown_as_what_it_was_read_as(two_filings: Any) -> None:
    answer = two_filings.ask("苹果上个季度的总净销售额是多少？", as_of="2023-08-31")
    assert "上个季度 = " in answer["reading"]["text"], answer["reading"]
    assert "July 1, 2023" in answer["reading"]["text"]


def test_last_quarter_before_its_filing_is_out_is_declined(two_filings: Any) -> None:
    answer = two_filings.ask(NET_SALES.format("last quarter"), as_of="2023-07-15")
    assert answer["declined"], answer


@pytest.mark.parametrize(
    ("question", "notice"),
    [
        ("What were Apple's total net sales in Q5 2023?", "There is no such period: Q5 2023."),
        ("三星2023年第五季度的智能手机出货量是多少？", "不存在这样的期间：2023年第五季度。"),
    ],
)
def test_a_period_that_does_not_exist_is_declined(library: Any, question: str, notice: str) -> None:
    answer = library.ask(question)
    assert answer["declined"]
    assert notice in answer["notices"]
    assert not answer["citations"]


@pytest.mark.parametrize("question", ["What were Apple's total net sales in fiscal 2071?", "苹果2071年的营收是多少？"])
def test_a_period_that_has_not_begun_is_declined(library: Any, question: str) -> None:
    answer = library.ask(question)
    assert answer["declined"], answer
    assert any("2071" in notice for notice in answer["notices"])


@pytest.mark.parametrize(
    ("question", "day", "figure"),
    [
        ("苹果上季度的总净销售额是多少？", "2023-06-15", SPRING),
        ("苹果上季度的总净销售额是多少？", "2023-08-31", SUMMER),
        ("苹果过去三个月的总净销售额是多少？", "2023-08-31", SUMMER),
        ("苹果最近一个季度的总净销售额是多少？", "2023-06-15", SPRING),
    ],
)
def test_relative_times_in_chinese_are_counted_from_the_day(
    two_filings: Any, question: str, day: str, figure: str
) -> None:
    answer = two_filings.ask(question, as_of=day)
    assert not answer["declined"], answer
    assert figure in answer["answer"]
    assert all(published <= day for published in seen(answer))


@pytest.mark.parametrize(
    ("question", "period"),
    [("What were Apple's total net sales last month?", "last month"), ("苹果上个月的总净销售额是多少？", "上个月")],
)
def test_last_month_which_no_filing_holds_yet_is_declined_by_name(two_filings: Any, question: str, period: str) -> None:
    answer = two_filings.ask(question, as_of="2023-08-31")
    assert answer["declined"], answer
    assert any(period in notice for notice in answer["notices"])


@pytest.mark.parametrize(
    ("question", "notice"),
    [
        (
            "What were Apple's total net sales in May 2023?",
            "No evidence reports this period by itself; "
            "there is only a longer one that holds it: May 2023 (FY2023 Q3).",
        ),
        (
            "苹果2023年5月的总净销售额是多少？",
            "资料没有单独报告该期间，只有包含它的更长的期间：2023年5月 (FY2023 Q3)。",
        ),
    ],
)
def test_a_month_gets_the_quarter_that_holds_it_and_says_so(two_filings: Any, question: str, notice: str) -> None:
    answer = two_filings.ask(question)
    assert notice in answer["notices"], answer
    assert all(one["period"] == "FY2023 Q3" for one in answer["citations"])


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("What were Apple's total net sales in December 2023?", "December 2023"),
        ("苹果2023年12月的总净销售额是多少？", "2023年12月"),
        ("What were Apple's total net sales in winter 2023?", "winter 2023"),
        ("苹果农历2023年正月的总净销售额是多少？", "农历2023年正月"),
        ("What were Apple's total net sales in the year 3000?", "3000"),
        ("苹果1898年的总净销售额是多少？", "1898年"),
    ],
)
def test_a_period_of_which_nothing_is_evidence_is_declined_by_name(
    two_filings: Any, question: str, period: str
) -> None:
    answer = two_filings.ask(question)
    assert answer["declined"], answer
    assert not answer["citations"]
    assert any(period in notice for notice in answer["notices"])
