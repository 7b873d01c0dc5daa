"""Statements of a real filing as data, through the whole product."""

from __future__ import annotations

from typing import Any


def facts(library: Any, **params: Any) -> list[dict[str, Any]]:
    return library.http.get("/v1/facts", params={"company": "Apple", **params}).raise_for_status().json()["facts"]


def test_the_figures_of_a_real_10_q(library: Any) -> None:
    (sales,) = facts(library, concept="net sales", months=3, period_from="2023-07-01")
    assert (sales["value"], sales["unit"], sales["period_start"]) == ("81797000000", "USD", "2023-04-02")
    text, _ = page(library, sales)
    assert text == "81,797"
    (assets,) = facts(library, concept="总资产", period_from="2023-07-01")
    assert (assets["value"], assets["period_start"]) == ("335038000000", "")
    assert assets["passed"] and not assets["failed"]
    (spent,) = facts(library, concept="capex", period_from="2023-07-01")
    assert (spent["value"], spent["period_start"], spent["concept"]) == (
        "8796000000",
        "2022-09-25",
        "capital_expenditure",
    )


def page(library: Any, fact: dict[str, Any]) -> tuple[str, int]:
    """The text of a fact's span, and its page."""
    path, _, query = fact["url"].partition("/v1/")[2].partition("?")
    shown = library.http.get(f"/v1/{path}", headers={"Accept": "application/json"}).raise_for_status().json()
    start, end = (int(part.partition("=")[2]) for part in query.partition("#")[0].split("&"))
    return shown["text"][start:end], shown["page"]


def test_a_statement_over_quarters_and_as_csv(library: Any) -> None:
    address = "/v1/companies/AAPL/statements"
    statement = library.http.get(address, params={"period": "quarterly"}).raise_for_status().json()
    assert statement["periods"] == ["2023-07-01", "2022-06-25"]
    net = next(line for line in statement["lines"] if line["concept"] == "net_income")
    assert [cell["value"] for cell in net["cells"]] == ["19881000000", "19442000000"]
    csv = library.http.get(address, params={"period": "quarterly", "format": "csv"}).text
    assert "19881000000,19442000000" in csv


def test_a_metric_is_answered_from_facts_with_each_operand_cited(library: Any) -> None:
    question = "What was Apple's free cash flow for the nine months ended July 1, 2023?"
    answer = library.ask(question)
    assert answer["declined"] is None
    assert "was $80,149 million: " in answer["answer"]
    assert ["88,945" in one["quote"] for one in answer["citations"]] == [True, False]
    assert answer["citations"][1]["quote"].endswith("(8,796)")
    (figure,) = answer["figures"]
    assert (figure["metric"], figure["value"], figure["unit"]) == ("free_cash_flow", "80149000000", "USD")
    assert [one["concept"] for one in figure["operands"]] == ["operating_cash_flow", "capital_expenditure"]
    for one in figure["operands"]:
        page = library.http.get(
            f"/v1/documents/{one['document_id']}/pages/{one['page']}", headers={"Accept": "application/json"}
        ).json()
        assert page["text"][one["start"] : one["end"]] == one["printed"]
        (shown,) = [place for place in answer["evidence"] if place["number"] == one["number"]]
        assert (shown["document_id"], shown["page"]) == (one["document_id"], one["page"])
        assert shown["start"] <= one["start"] < one["end"] <= shown["end"]
    assert all(check["passed"] for check in answer["checks"])


def test_facts_go_with_their_document(library: Any) -> None:
    name, data = "kestrel.html", STATEMENT.encode()
    (job,) = library.ingest((name, data))
    (found,) = library.http.get("/v1/facts", params={"document_id": job["document_id"], "concept": "revenue"}).json()[
        "facts"
    ]
    assert found["value"] == "9876000000"
    library.http.delete(f"/v1/documents/{job['document_id']}").raise_for_status()
    left = library.http.get("/v1/facts", params={"document_id": job["document_id"]}).json()
    assert left["facts"] == []


STATEMENT = f"""<html><body><p>Kestrel Ferries Annual report for the fiscal year ended December 31, 2031</p>
<p style="font-weight:bold">CONSOLIDATED STATEMENTS OF INCOME</p><p>(in millions)</p>
<table><tr><td>Year ended December 31,</td><td>2031</td></tr>
{
    "".join(
        f"<tr><td>{label}</td><td>{value}</td></tr>"
        for label, value in [
            ("Total revenues", "9,876"),
            ("Cost of revenues", "5,432"),
            ("Gross profit", "4,444"),
            ("Net income", "321"),
        ]
    )
}
</table></body></html>"""
