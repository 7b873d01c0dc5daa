"""The companies that texts name, by the catalogue of what is stored: over the wire, with a real store."""

from __future__ import annotations

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import TooLarge
from quelea_retriever.testing import memory_folder, running_retriever, upsert_request

ZEBRA = {"company": "Zebra Technologies Corporation", "ticker": "ZBRA", "language": "en", "document_type": "10-Q"}


@pytest.fixture
async def service():
    with memory_folder() as folder:
        async with running_retriever(folder) as running:
            period = common_pb2.FiscalPeriod(
                label="FY2023 Q1", fiscal_year=2023, fiscal_quarter=1, end_date="2023-04-01"
            )
            await unary(running.stub.Upsert(upsert_request("spring", ["net sales"], period=period, **ZEBRA)))
            yield running


async def found(service, *texts):
    reply = await unary(service.stub.FindCompanies(pb.FindCompaniesRequest(texts=texts)))
    return [(one.text, one.company, one.stored) for one in reply.mentions]


async def test_stored_and_well_known_companies_are_found_as_they_are_written(service):
    assert await found(
        service, "What were Zebra Technologies' sales?", "and ZBRA's margin", "那腾讯呢？", "and Azure?"
    ) == [
        ("Zebra Technologies", "Zebra Technologies Corporation", True),
        ("ZBRA", "Zebra Technologies Corporation", True),
        ("腾讯", "Tencent", False),
    ]


async def test_texts_that_name_none_and_no_texts(service):
    assert await found(service, "How did revenue change?", "") == []
    assert await found(service) == []


async def test_too_many_and_too_long_texts_are_refused(service):
    for texts in (["Zebra"] * 51, ["Zebra " * 1000]):
        with pytest.raises(TooLarge):
            await found(service, *texts)
