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
