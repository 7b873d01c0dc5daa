"""GET /v1/facts and /v1/companies: figures as data, each with the place that prints it."""

from __future__ import annotations

import csv
import io

import openpyxl
import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2


def stated(label, value, start, end, *, statement="income", concept="revenue", passage="p1"):
    return retriever_pb2.StatedFact(
        fact=common_pb2.Fact(
            statement=statement, label=label, concept=concept, value=value, unit="USD", period_start=start,
            period_end=end, printed=value, start=10, end=14, basis="consolidated", source="table",
        ),
        document_id="d1",
        metadata=common_pb2.DocumentMetadata(title="Kestrel 10-K", company="Kestrel"),
        passage_id=passage,
        page=7,
    )  # fmt: skip


@pytest.fixture
def facts(stand):
    stand.world.facts = [
        stated("Turnover", "900", "2031-01-01", "2031-12-31"),
        stated("Turnover", "800", "2030-01-01", "2030-12-31", passage="p2"),
        stated("Turnover", "250", "2031-10-01", "2031-12-31", passage="p3"),
        stated("=Total assets", "5000", "", "2031-12-31", statement="balance", concept="total_assets", passage="p4"),
        stated("=Total assets", "4000", "", "2031-06-30", statement="balance", concept="total_assets", passage="p5"),
    ]


async def test_facts_open_to_their_place(web, facts):
    answer = (await web.get("/v1/facts", params={"company": "Kestrel", "concept": "revenue", "page_size": 2})).json()
    assert [one["value"] for one in answer["facts"]] == ["900", "800"]
    assert answer["facts"][0]["url"].endswith("/v1/documents/d1/pages/7?start=10&end=14#quote")
    assert (answer["total"], bool(answer["next_page_token"])) == (3, True)
    token = {"page_token": answer["next_page_token"], "company": "Kestrel", "concept": "revenue"}
    assert [one["value"] for one in (await web.get("/v1/facts", params=token)).json()["facts"]] == ["250"]


async def test_a_statement_is_lines_by_periods(web, facts):
    address = "/v1/companies/Kestrel/statements"
    years = (await web.get(address)).json()
    assert (years["periods"], [line["label"] for line in years["lines"]]) == (
        ["2031-12-31", "2030-12-31"],
        ["Turnover"],
    )
    assert [cell["value"] for cell in years["lines"][0]["cells"]] == ["900", "800"]
    quarters = (await web.get(address, params={"period": "quarterly"})).json()
    assert [[cell["value"] for cell in line["cells"]] for line in quarters["lines"]] == [["250"]]
    balance = (await web.get(address, params={"statement": "balance"})).json()
    assert balance["periods"] == ["2031-12-31"]


async def test_csv_for_spreadsheets_runs_no_formula_of_a_document(web, facts):
    response = await web.get("/v1/companies/Kestrel/statements", params={"statement": "balance", "format": "csv"})
    assert response.headers["content-type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(response.text.removeprefix("\ufeff"))))
    assert rows == [
        ["label", "column", "concept", "group", "unit", "2031-12-31"],
        ["'=Total assets", "", "total_assets", "", "USD", "5000"],
    ]
    listed = list(csv.reader(io.StringIO((await web.get("/v1/facts", params={"format": "csv"})).text)))
    assert len(listed) == 6


async def workbook(web, address, **params):
    response = await web.get(address, params={"format": "xlsx", **params})
    assert response.headers["content-type"].startswith("application/vnd.openxmlformats")
    return openpyxl.load_workbook(io.BytesIO(response.content))


async def test_a_workbook_has_a_sheet_for_each_statement_and_a_link_in_each_cell(web, facts):
    book = await workbook(web, "/v1/companies/Kestrel/statements")
    assert book.sheetnames == ["income", "balance", "figures"]
    turnover = book["income"]
    assert [cell.value for cell in turnover[1]] == [None, "2031-12-31", "2030-12-31", "unit", "concept"]
    assert [cell.value for cell in turnover[2]] == ["Turnover", 900, 800, "USD", "revenue"]
    assert turnover["B2"].hyperlink.target.endswith("/v1/documents/d1/pages/7?start=10&end=14#quote")
    assert turnover["B2"].number_format.startswith("#,##0")
    assert (book["balance"]["A2"].value, book["balance"]["A2"].data_type) == ("=Total assets", "s")
    assert book["figures"].max_row == 4
    one = await workbook(web, "/v1/companies/Kestrel/statements", statement="balance")
    assert one.sheetnames == ["balance", "figures"]


async def test_figures_as_a_workbook(web, stand, facts):
    stand.world.facts[0].fact.value = "0.30"
    stand.world.facts[0].fact.unit = "USD/share"
    stand.world.facts[0].fact.label = "Earnings \x01 per share"
    sheet = (await workbook(web, "/v1/facts", concept="revenue"))["figures"]
    head = [cell.value for cell in sheet[1]]
    first = dict(zip(head, [cell.value for cell in sheet[2]], strict=True))
    assert (first["value"], first["label"], first["page"]) == (0.3, "Earnings  per share", 7)
    assert sheet.max_row == 4


async def test_doubtful_figures_are_marked_and_what_was_stated_before_is_beside_them(web, stand, facts):
    old = stated("Turnover", "870", "2031-01-01", "2031-12-31", passage="p6")
    old.restated, old.metadata.title = True, "Kestrel 10-K of before"
    stand.world.facts.append(old)
    stand.world.facts[1].fact.failed.append("gross profit = revenue - cost")
    address, asked = "/v1/companies/Kestrel/statements", {"doubtful": "true", "as_of": "2023-03-01"}
    now, before = (await web.get(address, params=asked)).json()["lines"][0]["cells"]
    assert (now["value"], [one["value"] for one in now["earlier"]]) == ("900", ["870"])
    assert before["failed"] == ["gross profit = revenue - cost"]
    sent = stand.world.fact_requests[-1]
    assert (sent.include_doubtful, sent.as_of) == (True, "2023-03-01")
    sheet = (await workbook(web, address, **asked))["income"]
    assert "stated before as 870 (Kestrel 10-K of before, p. 7)" in sheet["B2"].comment.text
    assert "gross profit" in sheet["C2"].comment.text


async def test_an_unknown_company_and_odd_parameters_are_told(web, facts):
    missing = await web.get("/v1/companies/Nobody/statements")
    assert (missing.status_code, "Nobody" in missing.json()["error"]["message"]) == (404, True)
    for params in (
        {"statement": "ledger"},
        {"basis": "mine"},
        {"months": "0"},
        {"period_from": "2031-99-99"},
        {"form": "csv"},
        {"as_of": "2999-01-01"},
    ):
        assert (await web.get("/v1/facts", params=params)).status_code == 400, params


def part(label, column, value, unit="CNY", end="2031-12-31", **more):
    one = stated(label, value, f"{end[:4]}-01-01", end, statement="breakdown", concept="", **more)
    one.fact.column, one.fact.group, one.fact.unit = column, "分产品", unit
    return one


async def test_parts_of_a_company_are_listed_where_they_are_asked_for(web, stand, facts):
    stand.world.facts += [
        part("渡轮", "营业收入", "700"),
        part("渡轮", "毛利率", "12.5", "percent"),
        part("渡轮", "营业收入", "600", end="2030-12-31"),
    ]
    listed = (await web.get("/v1/facts", params={"statement": "breakdown"})).json()["facts"]
    told = [(one["group"], one["label"], one["column"], one["value"], one["unit"]) for one in listed]
    assert told[:2] == [("分产品", "渡轮", "营业收入", "700", "CNY"), ("分产品", "渡轮", "毛利率", "12.5", "percent")]
    assert list(stand.world.fact_requests[-1].statements) == ["breakdown"]
    address, asked = "/v1/companies/Kestrel/statements", {"statement": "breakdown"}
    grid = (await web.get(address, params=asked)).json()
    lines = [(one["group"], one["label"], one["column"], one["unit"]) for one in grid["lines"]]
    assert lines == [("分产品", "渡轮", "营业收入", "CNY"), ("分产品", "渡轮", "毛利率", "percent")]
    assert [[cell and cell["value"] for cell in one["cells"]] for one in grid["lines"]] == [
        ["700", "600"],
        ["12.5", None],
    ]
    rows = list(csv.reader(io.StringIO((await web.get(address, params=asked | {"format": "csv"})).text)))
    assert rows[2] == ["渡轮", "毛利率", "", "分产品", "percent", "12.5", ""]
    book = await workbook(web, address)
    assert book.sheetnames == ["income", "balance", "breakdown", "figures"]
    assert [cell.value for cell in book["breakdown"][3]] == ["渡轮 · 毛利率", 12.5, None, "percent", None]
    head = [cell.value for cell in book["figures"][1]]
    last = dict(zip(head, [cell.value for cell in book["figures"][book["figures"].max_row]], strict=True))
    assert (last["statement"], last["group"], last["column"]) == ("breakdown", "分产品", "毛利率")


async def test_a_statement_of_quarters_stays_so_where_a_table_of_parts_has_a_year(web, stand):
    sales = stated("Turnover", "250", "2031-10-01", "2031-12-31")
    stand.world.facts = [sales, part("渡轮", "营业收入", "700")]
    address = "/v1/companies/Kestrel/statements"
    (line,) = (await web.get(address)).json()["lines"]
    assert [cell["value"] for cell in line["cells"]] == ["250"]
    stand.world.facts = [part("渡轮", "营业收入", "700")]
    assert (await web.get(address)).status_code == 404
    assert (await web.get(address, params={"statement": "breakdown"})).status_code == 200


async def test_companies_are_those_of_the_documents(web, stand):
    answer = (await web.get("/v1/companies")).json()
    assert {one["name"] for one in answer["companies"]} == {
        stored.metadata.company for stored in stand.world.documents.values() if stored.metadata.company
    }


async def test_companies_stand_side_by_side(web, stand, facts):
    other = stated("Sales", "77", "2031-02-01", "2032-01-31", passage="p7")
    other.metadata.company = "Osprey"
    stand.world.facts.append(other)
    asked = {"company": ["Kestrel", "Osprey"], "concept": ["revenue", "total_assets"]}
    grid = (await web.get("/v1/comparison", params=asked)).json()
    assert grid["periods"] == ["2031", "2030"]
    shown = [[one["company"], *(cell and cell["value"] for cell in one["cells"])] for one in grid["lines"]]
    assert shown == [["Kestrel", "900", "800"], ["Osprey", "77", None], ["Kestrel", "5000", None]]
    assert grid["missing"] == [{"company": "Osprey", "concept": "total_assets", "stated": ""}]
    quarter = stated("Sales", "20", "2032-02-01", "2032-04-30", passage="p8")
    quarter.metadata.company = "Heron"
    stand.world.facts.append(quarter)
    only = (await web.get("/v1/comparison", params={"company": "Heron", "concept": "revenue"})).json()
    assert (only["period"], only["periods"]) == ("quarterly", ["2032 Q1"])  # no year of it is stored
    both = {"company": ["Kestrel", "Heron"], "concept": "revenue"}
    years = (await web.get("/v1/comparison", params=both)).json()
    assert (years["period"], [one["company"] for one in years["lines"]]) == ("annual", ["Kestrel"])
    assert years["missing"] == [{"company": "Heron", "concept": "revenue", "stated": "quarterly"}]
    of_both = (await workbook(web, "/v1/comparison", **both))["comparison"]
    assert [cell.value for cell in of_both[3]][:3] == ["revenue", "Heron", "stated for quarterly periods only"]
    table = (await web.get("/v1/companies/Heron/statements")).json()
    assert table["periods"] == ["2032-04-30"]
    book = await workbook(web, "/v1/comparison", **asked)
    sheet = book["comparison"]
    assert [cell.value for cell in sheet[3]] == ["revenue", "Osprey", 77, None, "USD", "Sales"]
    assert sheet["C3"].hyperlink.target.endswith("/v1/documents/d1/pages/7?start=10&end=14#quote")
    assert sheet["C3"].comment.text == "2031-02-01 to 2032-01-31"
    assert [cell.value for cell in sheet[5]][:3] == ["total_assets", "Osprey", "not stated by any stored document"]
    text = (await web.get("/v1/comparison", params={**asked, "format": "csv"})).text
    assert "revenue,Osprey,Sales,USD,77," in text
    for params in ({"company": "Kestrel"}, {"company": [], "concept": "revenue"}):
        assert (await web.get("/v1/comparison", params=params)).status_code == 400
    many = {"company": [f"C{n}" for n in range(20)], "concept": [f"c{n}" for n in range(20)]}
    assert "fewer at a time" in (await web.get("/v1/comparison", params=many)).json()["error"]["message"]
