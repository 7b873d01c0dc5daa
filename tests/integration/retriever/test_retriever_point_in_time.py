"""Two filings of one company, asked before, between and after them: nothing of the later one is used before its day."""

from __future__ import annotations

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_retriever.testing import memory_folder, running_retriever, upsert_request

COMPANY = {"company": "Zebra", "ticker": "ZBRA", "language": "en", "document_type": "10-Q"}
SPRING = {"published": "2023-05-02", "period": ("FY2023 Q1", 1, "2023-04-01")}
SUMMER = {"published": "2023-08-01", "period": ("FY2023 Q2", 2, "2023-07-01")}


@pytest.fixture
async def search():
    with memory_folder() as folder:
        async with running_retriever(folder) as service:
            for name, said in (("spring", SPRING), ("summer", SUMMER)):
                label, quarter, end = said["period"]
                period = common_pb2.FiscalPeriod(label=label, fiscal_year=2023, fiscal_quarter=quarter, end_date=end)
                texts = [f"net sales of the {name} quarter were high", f"gross margin in {name}"]
                request = upsert_request(name, texts, published=said["published"], period=period, **COMPANY)
                await unary(service.stub.Upsert(request))

            async def ask(query, as_of, **more):
                return await unary(service.stub.Search(pb.SearchRequest(query=query, as_of=as_of, **more)))

            yield ask


def titles(answer):
    return {passage.metadata.title for passage in answer.passages}


@pytest.mark.parametrize(
    ("day", "latest", "last", "known"),
    [
        ("2023-05-01", set(), set(), set()),
        ("2023-05-02", {"spring"}, {"spring"}, {"spring"}),
        ("2023-06-30", {"spring"}, {"spring"}, {"spring"}),
        # The second quarter is over, and its report is not out: the latest is the older one, the last quarter missing.
        ("2023-07-31", {"spring"}, None, {"spring"}),
        ("2023-08-01", {"summer"}, {"summer"}, {"spring", "summer"}),
        ("2023-09-29", {"summer"}, {"summer"}, {"spring", "summer"}),
    ],
)
async def test_latest_and_last_quarter_on_a_day(search, day, latest, last, known):
    assert titles(await search("What were Zebra's latest net sales?", day)) == latest
    for question in ("What were Zebra's net sales last quarter?", "Zebra上个季度的销售额"):
        answer = await search(question, day)
        if last is None:
            assert answer.reading.period_missing
            assert titles(answer) <= known
        else:
            assert titles(answer) == last
    for question in ("net sales", "What were Zebra's net sales in the quarter ended July 1, 2023?", "Zebra over time"):
        for more in ({}, {"ignore_reading": True}):
            assert titles(await search(question, day, **more)) <= known
    assert titles(await search("net sales", day, ignore_reading=True)) == known


async def test_a_filing_that_came_out_later_is_not_what_the_base_reaches_to(search):
    named = "What were Zebra's net sales in the quarter ended July 1, 2023?"
    for question in (named, "Zebra Q2 2023 net sales", "Zebra net sales last quarter"):
        before = (await search(question, "2023-07-31")).reading
        assert before.period_newer, question
        assert before.period_missing, question
        after = (await search(question, "2023-08-01")).reading
        assert not after.period_newer, question
        assert not after.period_missing, question


YEARS = [
    ("june-22", "2022-07-28", ("FY2022 Q3", 2022, 3, "2022-06-25")),
    ("december-22", "2023-02-02", ("FY2023 Q1", 2023, 1, "2022-12-31")),
    ("april-23", "2023-05-04", ("FY2023 Q2", 2023, 2, "2023-04-01")),
    ("july-23", "2023-08-03", ("FY2023 Q3", 2023, 3, "2023-07-01")),
]
"""Four filings of one company whose year ends in September."""


@pytest.fixture
async def quarters():
    with memory_folder() as folder:
        async with running_retriever(folder) as service:
            for name, published, (label, year, quarter, end) in YEARS:
                period = common_pb2.FiscalPeriod(label=label, fiscal_year=year, fiscal_quarter=quarter, end_date=end)
                texts = [f"total net sales of {name}", f"gross margin of {name}"]
                await unary(
                    service.stub.Upsert(upsert_request(name, texts, published=published, period=period, **COMPANY))
                )

            async def ask(query, as_of):
                return await unary(service.stub.Search(pb.SearchRequest(query=query, as_of=as_of)))

            yield ask


@pytest.mark.parametrize(
    ("question", "day", "found"),
    [
        ("What were Zebra's net sales in the past three months?", "2023-08-31", "july-23"),
        ("What were Zebra's net sales in the past three months?", "2023-06-15", "april-23"),
        ("Zebra过去三个月的销售收入", "2023-08-31", "july-23"),
        ("Zebra上季度的销售收入", "2023-06-15", "april-23"),
        ("Zebra最近一个季度的销售收入", "2023-06-15", "april-23"),
        ("What were Zebra's net sales two quarters ago?", "2023-08-31", "april-23"),
        ("What were Zebra's net sales three quarters ago?", "2023-08-31", "december-22"),
        ("What were Zebra's net sales in the same period last year?", "2023-08-31", "june-22"),
        ("Zebra去年同期的销售收入是多少？", "2023-08-31", "june-22"),
        ("What were Zebra's net sales in the first half?", "2023-08-31", "april-23"),
        ("Zebra上半财年的销售收入", "2023-08-31", "april-23"),
        ("What were Zebra's net sales in the first half of fiscal 2023?", "2023-08-31", "april-23"),
        ("What were Zebra's net sales in November 2022?", "2023-08-31", "december-22"),
        ("Zebra2023年5月的销售收入", "2023-08-31", "july-23"),
    ],
)
async def test_relative_times_and_months_find_their_filing(quarters, question, day, found):
    answer = await quarters(question, day)
    assert titles(answer) == {found}, answer.reading
    assert not answer.reading.period_missing


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What were Zebra's net sales last month?", "2023-08-31"),
        ("Zebra上个月的销售收入", "2023-08-31"),
        ("What were Zebra's net sales in the past three months?", "2023-07-15"),
        ("What were Zebra's net sales in December 2023?", "2024-03-01"),
        ("Zebra去年同期的销售收入是多少？", "2022-09-01"),
    ],
)
async def test_what_no_filing_holds_is_missing(quarters, question, day):
    assert (await quarters(question, day)).reading.period_missing


@pytest.mark.parametrize(
    "question",
    [
        "How did Zebra's net sales change from the same period last year?",
        "Zebra的销售收入比去年同期增长了多少？",
        "Zebra2023年第三季度的销售收入与去年同期相比如何？",
    ],
)
async def test_the_same_period_as_a_comparison_leaves_no_filing_out(quarters, question):
    assert "july-23" in titles(await quarters(question, "2023-08-31"))
