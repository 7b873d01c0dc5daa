"""Facts come, are replaced and go with their document, and on a past day only those count that had come out."""

from __future__ import annotations

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import InvalidInput
from quelea_retriever.core.figures.statement_facts import STATED_ALIKE
from quelea_retriever.testing import document_id, upsert_request


def filing(name, value, *, year=2031, **metadata):
    said = {
        "company": "Kestrel",
        "ticker": "KST",
        "uri": "upload:10-K.pdf",
        "published": f"{year + 1}-02-01",
        **metadata,
    }
    request = upsert_request(name, [f"Turnover {value}"], **said)
    request.passages[0].facts.append(
        common_pb2.Fact(
            statement="income", label="Turnover", concept="revenue", value=value, unit="USD", printed=value, start=9,
            end=9 + len(value), period_start="2031-01-01", period_end="2031-12-31", source="table",
        )
    )  # fmt: skip
    return request


async def figures(service, **asked):
    found = await unary(service.stub.ListFacts(pb.ListFactsRequest(**asked)))
    return [(one.fact.value, one.document_id) for one in found.facts]


async def test_the_facts_of_a_replaced_document_are_gone(service):
    await unary(service.stub.Upsert(filing("first", "900")))
    assert await figures(service) == [("900", document_id("first"))]
    await unary(service.stub.Upsert(filing("second", "905")))
    assert await figures(service, include_doubtful=True) == [("905", document_id("second"))]
    await unary(service.stub.Delete(pb.DeleteRequest(document_id=document_id("second"))))
    assert await figures(service) == []


async def test_what_one_uploader_replaces_is_not_what_another_sent(service):
    await unary(service.stub.Upsert(filing("first", "900", uploader="desk", company="Kestrel A")))
    await unary(service.stub.Upsert(filing("second", "70", uploader="risk", company="Kestrel B")))
    await unary(service.stub.Upsert(filing("third", "905", uploader="desk", company="Kestrel A")))
    assert await figures(service) == [("905", document_id("third")), ("70", document_id("second"))]


async def test_facts_are_there_at_the_commit_and_not_before(service):
    request = filing("first", "900")
    request.commit = False
    await unary(service.stub.Upsert(request))
    assert await figures(service) == []
    await unary(service.stub.Upsert(pb.UpsertRequest(document=request.document, commit=True)))
    assert len(await figures(service)) == 1


async def test_what_is_said_of_a_document_anew_is_said_of_its_facts(service):
    await unary(service.stub.Upsert(filing("first", "900")))
    assert len(await figures(service)) == 1
    await unary(service.stub.Upsert(filing("first", "900", title="Form 10-K", published="2032-03-01")))
    (one,) = (await unary(service.stub.ListFacts(pb.ListFactsRequest()))).facts
    assert (one.metadata.title, one.metadata.published) == ("Form 10-K", "2032-03-01")


async def test_on_a_past_day_the_figure_is_the_one_that_was_known(service):
    await unary(service.stub.Upsert(filing("first", "900")))
    await unary(service.stub.Upsert(filing("later", "905", year=2032, uri="upload:next.pdf")))
    assert await figures(service) == [("905", document_id("later"))]
    assert await figures(service, as_of="2032-12-31") == await figures(service)  # that day is yet to come
    both = [filing("old", "900", year=2011, uri="upload:a"), filing("new", "905", year=2012, uri="upload:b")]
    for one in both:
        await unary(service.stub.Upsert(one))
    assert await figures(service, as_of="2012-06-30") == [("900", document_id("old"))]
    assert await figures(service, as_of="2013-06-30") == [("905", document_id("new"))]
    assert await figures(service, as_of="2011-12-31") == []
    with pytest.raises(InvalidInput):
        await figures(service, as_of="yesterday")


async def test_the_comparative_column_is_held_against_the_filing_of_the_year_before(service):
    await unary(service.stub.Upsert(filing("first", "900")))
    await unary(service.stub.Upsert(filing("later", "900", year=2032, uri="upload:next.pdf")))
    (one,) = (await unary(service.stub.ListFacts(pb.ListFactsRequest()))).facts
    assert (one.document_id, list(one.fact.passed)) == (document_id("later"), [STATED_ALIKE])
    await unary(service.stub.Delete(pb.DeleteRequest(document_id=document_id("first"))))
    (alone,) = (await unary(service.stub.ListFacts(pb.ListFactsRequest()))).facts
    assert list(alone.fact.passed) == []


async def test_filters_choose_the_documents(service):
    await unary(service.stub.Upsert(filing("first", "900")))
    await unary(service.stub.Upsert(filing("other", "70", company="Merlin", ticker="MER", uri="upload:m")))
    assert await figures(service, filters=pb.Filters(companies=["merlin"])) == [("70", document_id("other"))]
    assert await figures(service, filters=pb.Filters(tickers=["KST"])) == [("900", document_id("first"))]


async def test_parts_are_listed_where_their_kind_of_table_is_named(service):
    request = filing("first", "700")
    (fact,) = request.passages[0].facts
    fact.statement, fact.concept, fact.column, fact.group = "breakdown", "", "营业收入", "分产品"
    await unary(service.stub.Upsert(request))
    assert await figures(service) == []
    assert await figures(service, statements=["breakdown"]) == [("700", document_id("first"))]
    with pytest.raises(InvalidInput, match="breakdown"):
        await figures(service, statements=["ledger"])


@pytest.mark.parametrize(("asked", "said"), [("What was revenue?", ["900"]), ("What was the revenue of 瑞靠智电?", [])])
async def test_figures_of_the_one_company_are_nobody_elses(service, asked, said):
    period = common_pb2.FiscalPeriod(label="FY2021", fiscal_year=2021, end_date="2021-12-31")
    request = filing("first", "900", year=2021, company="东山电缆", language="zh", period=period)
    (fact,) = request.passages[0].facts
    fact.period_start, fact.period_end = "2021-01-01", "2021-12-31"
    await unary(service.stub.Upsert(request))
    found = await unary(service.stub.Search(pb.SearchRequest(query=asked, k=1)))
    assert [operand.fact.value for figure in found.figures for operand in figure.operands] == said
    assert found.reading.company_missing == (not said)
