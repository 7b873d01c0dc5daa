"""Replies of EDGAR and cninfo become companies and filings; what is not in their shape is an error."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from quelea_kit.errors import InvalidInput
from quelea_search.filings.adapters.edgar_index import read_index
from quelea_search.filings.core import cninfo, edgar
from quelea_search.filings.core.company_match import CompanyNames
from quelea_search.filings.core.forms import choose, cik, stock_code
from quelea_search.filings.core.model import Company, Source, Span, UnexpectedReply, check_years, years_back

REPLIES = Path(__file__).parent / "filing_replies"
MOUTAI = Company(Source.CNINFO, "600519,gssh0600519", "600519", "贵州茅台")


def reply(name: str) -> bytes:
    return (REPLIES / name).read_bytes()


@pytest.fixture
def names() -> CompanyNames:
    return CompanyNames(edgar.read_tickers(reply("company_tickers.json")))


@pytest.mark.parametrize(
    ("asked", "ticker"),
    [
        ("aapl", "AAPL"),
        (" Apple ", "AAPL"),
        ("Apple Inc", "AAPL"),
        ("Tesla", "TSLA"),
        ("brk.b", "BRK-B"),
        ("Berkshire Hathaway", "BRK-B"),
        ("Apple Hospitality REIT", "APLE"),
    ],
)
def test_a_company_is_found_by_ticker_and_by_its_whole_name(names: CompanyNames, asked: str, ticker: str) -> None:
    found = names.find(asked)
    assert found is not None and found.ticker == ticker


def test_an_unknown_company_has_suggestions(names: CompanyNames) -> None:
    assert names.find("Appel") is None
    assert names.nearest("Appel")[0].ticker == "AAPL"
    assert [one.ticker for one in names.nearest("Netflx")] == ["NFLX"]
    assert names.nearest("qqqqqqqq") == []


def test_submissions_have_filings_and_say_where_older_ones_are() -> None:
    company, filings, older = edgar.read_submissions(reply("CIK0001065280.json"), "u")
    assert company == Company(Source.EDGAR, "0001065280", "NFLX", "NETFLIX INC")
    annual = [filing for filing in filings if edgar.is_wanted(filing, ("10-K",))]
    assert [(one.accession, one.filed, one.period_end) for one in annual] == [
        ("0001065280-25-000044", date(2025, 1, 27), "2024-12-31"),
        ("0001065280-24-000030", date(2024, 1, 26), "2023-12-31"),
    ]
    assert annual[0].url == "https://www.sec.gov/Archives/edgar/data/1065280/000106528025000044/nflx-20241231.htm"
    assert annual[0].filing_id == "edgar:0001065280-25-000044"
    assert [(call.url, span) for call, span in older] == [
        (
            "https://data.sec.gov/submissions/CIK0001065280-submissions-001.json",
            Span(date(2002, 3, 6), date(2012, 12, 10)),
        )
    ]


def test_an_amendment_is_wanted_with_its_form_and_alone() -> None:
    _, filings, _ = edgar.read_submissions(reply("CIK0001065280.json"), "u")
    amended = replace(filings[0], form="10-K/A")
    assert edgar.is_wanted(amended, ("10-K",)) and edgar.is_wanted(amended, ("10-K/A",))
    assert not edgar.is_wanted(filings[0], ("10-K/A",)) and not edgar.is_wanted(filings[0], ("10-Q",))


def test_what_was_filed_on_paper_is_left_out_and_an_8k_has_its_exhibits() -> None:
    company, filings, _ = edgar.read_submissions(reply("CIK0001648960.json"), "u")
    (report,) = filings
    assert edgar.index_of(company, report).url == (
        "https://www.sec.gov/Archives/edgar/data/1648960/000121390024004875/0001213900-24-004875-index.html"
    )
    exhibits = read_index(reply("0001213900-24-004875-index.html"), report)
    assert [(one.form, one.filename) for one in exhibits] == [
        ("EX-99.1", "ea191807ex99-1_datchat.htm"),
        ("EX-99.2", "ea191807ex99-2_datchat.htm"),
        ("EX-99.3", "ea191807ex99-3_datchat.htm"),
    ]
    assert exhibits[0].title.endswith("PRESS RELEASE DATED JANUARY 16, 2024")
    assert {one.filing_id for one in exhibits} == {report.filing_id}


def test_cninfos_list_and_announcements() -> None:
    stocks = CompanyNames(cninfo.read_stocks(reply("szse_stock.json")))
    assert stocks.find("600519") == stocks.find("贵州茅台") == MOUTAI
    filings, has_more = cninfo.read_announcements(reply("announcements.json"), MOUTAI, "年报")
    assert not has_more
    assert [(one.accession, one.title, one.filed) for one in filings] == [
        ("1219506510", "贵州茅台2023年年度报告", date(2024, 4, 3)),
        ("1216240711", "贵州茅台：2022年年度报告（修订版）", date(2023, 3, 31)),
    ]
    assert filings[0].url == "http://static.cninfo.com.cn/finalpage/2024-04-03/1219506510.PDF"
    call = cninfo.query(MOUTAI, "年报", Span(date(2022, 1, 1), date(2024, 12, 31)), 2)
    assert dict(call.form) | {"pageNum": "2"} == dict(call.form)
    assert {"stock": MOUTAI.id, "category": "category_ndbg_szsh", "seDate": "2022-01-01~2024-12-31"}.items() <= dict(
        call.form
    ).items()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda d: d["filings"]["recent"]["form"].pop(), "differ in length"),
        (lambda d: d["filings"].pop("recent"), "filings.recent"),
        (lambda d: d["filings"]["recent"]["filingDate"].__setitem__(0, "soon"), "filingDate"),
    ],
)
def test_another_shape_is_an_error_that_says_where(damage: object, said: str) -> None:
    data = json.loads(reply("CIK0001065280.json"))
    damage(data)  # type: ignore[operator]  # a function of the parameters
    with pytest.raises(UnexpectedReply, match=said):
        edgar.read_submissions(json.dumps(data).encode(), "https://data.sec.gov/x")


@pytest.mark.parametrize("data", [b"", b"<html>Request Rate Threshold Exceeded</html>", b'{"announcements": 3}'])
def test_a_page_in_place_of_json_is_an_error(data: bytes) -> None:
    with pytest.raises(UnexpectedReply):
        edgar.read_tickers(data)
    with pytest.raises(UnexpectedReply):
        cninfo.read_announcements(data, MOUTAI, "年报")
    _, filings, _ = edgar.read_submissions(reply("CIK0001648960.json"), "u")
    with pytest.raises(UnexpectedReply):
        read_index(data, filings[0])


@pytest.mark.parametrize(
    ("company", "forms", "source", "chosen"),
    [
        ("AAPL", (), Source.EDGAR, ("10-K", "10-Q")),
        ("600519", (), Source.CNINFO, ("年报",)),
        ("600519.SH", (), Source.CNINFO, ("年报",)),
        ("贵州茅台", (), Source.CNINFO, ("年报",)),
        ("320193", ("10-k",), Source.EDGAR, ("10-K",)),
        ("000001", ("年报", "半年报"), Source.CNINFO, ("年报", "半年报")),
    ],
)
def test_the_forms_choose_the_source(company: str, forms: tuple[str, ...], source: Source, chosen: object) -> None:
    assert choose(company, forms) == (source, chosen)


@pytest.mark.parametrize(
    ("company", "forms", "said"),
    [("", (), "company"), ("A", ("10-K", "年报"), "mixes"), ("A", ("季报!",), "forms has"), ("A", ("x",) * 21, "most")],
)
def test_what_cannot_be_asked_for(company: str, forms: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        choose(company, forms)


def test_numbers_of_companies() -> None:
    assert (cik("320193"), cik("CIK0000320193"), cik("0000320193")) == ("0000320193",) * 3
    assert (cik("AAPL"), cik("0"), cik("12345678901")) == ("", "", "")
    assert (stock_code("SH600519"), stock_code("600519.ss"), stock_code("60051")) == ("600519", "600519", "")


def test_years() -> None:
    assert years_back(date(2024, 2, 29), 3) == Span(date(2021, 2, 28), date(2024, 2, 29))
    assert (check_years(0, 3), check_years(5, 3)) == (3, 5)
    with pytest.raises(InvalidInput, match="years"):
        check_years(21, 3)
