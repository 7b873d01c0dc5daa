"""EDGAR: its list of companies, a company's submissions, and the documents of a filing.

https://www.sec.gov/search-filings/edgar-application-programming-interfaces documents the JSON;
https://www.sec.gov/search-filings/edgar-search-assistance/accessing-edgar-data the archive's addresses and the limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from pydantic import BaseModel, RootModel, model_validator

from quelea_search.filings.core.model import Call, Company, Filing, Source, Span
from quelea_search.filings.core.replies import read_reply

TICKERS = "https://www.sec.gov/files/company_tickers.json"
TICKERS_CALL = Call(TICKERS)
_SUBMISSIONS = "https://data.sec.gov/submissions"
_ARCHIVES = "https://www.sec.gov/Archives/edgar/data"
MOST_OLDER = 5
"""Further lists of older filings that one fetch reads; each has some thousand."""


class _Ticker(BaseModel):
    cik_str: int
    ticker: str
    title: str


class _Tickers(RootModel[dict[str, _Ticker]]):
    pass


class _Columns(BaseModel):
    """Filings as columns of equal length."""

    accessionNumber: list[str]  # noqa: N815  # EDGAR's names
    filingDate: list[date]  # noqa: N815
    reportDate: list[str]  # noqa: N815
    form: list[str]
    primaryDocument: list[str]  # noqa: N815
    primaryDocDescription: list[str]  # noqa: N815

    @model_validator(mode="after")
    def _equally_long(self) -> _Columns:
        if len({len(getattr(self, name)) for name in type(self).model_fields}) != 1:
            raise ValueError("the columns differ in length")
        return self


class _Older(BaseModel):
    name: str
    filingFrom: date  # noqa: N815
    filingTo: date  # noqa: N815


class _Filings(BaseModel):
    recent: _Columns
    files: list[_Older]


class _Submissions(BaseModel):
    cik: str | int
    name: str
    tickers: list[str]
    filings: _Filings


def submissions(cik: str) -> Call:
    """The newest thousand filings of a company."""
    return Call(f"{_SUBMISSIONS}/CIK{cik}.json")


def index_of(company: Company, filing: Filing) -> Call:
    """The page that lists a filing's documents with their types."""
    return Call(f"{_folder(company, filing.accession)}/{filing.accession}-index.html")


def _folder(company: Company, accession: str) -> str:
    return f"{_ARCHIVES}/{int(company.id)}/{accession.replace('-', '')}"


def read_tickers(data: bytes) -> list[Company]:
    """Companies with a ticker, in EDGAR's order: the largest first. Raises UnexpectedReply."""
    rows = read_reply(_Tickers, data, TICKERS).root.values()
    return [Company(Source.EDGAR, str(row.cik_str).zfill(10), row.ticker, row.title) for row in rows]


def read_submissions(data: bytes, url: str) -> tuple[Company, list[Filing], list[tuple[Call, Span]]]:
    """A company, its newest filings, and where its older ones are listed. Raises UnexpectedReply."""
    said = read_reply(_Submissions, data, url)
    company = Company(Source.EDGAR, str(said.cik).zfill(10), said.tickers[0] if said.tickers else "", said.name)
    older = [
        (Call(f"{_SUBMISSIONS}/{one.name}"), Span(one.filingFrom, one.filingTo))
        for one in said.filings.files
        if "/" not in one.name
    ]
    return company, list(_rows(company, said.filings.recent)), older


def read_older(data: bytes, url: str, company: Company) -> list[Filing]:
    """A further list of a company's filings. Raises UnexpectedReply."""
    return list(_rows(company, read_reply(_Columns, data, url)))


def _rows(company: Company, columns: _Columns) -> Iterator[Filing]:
    for number, accession in enumerate(columns.accessionNumber):
        document, form = columns.primaryDocument[number], columns.form[number]
        if not document:  # filed on paper
            continue
        filed = columns.filingDate[number]
        yield Filing(
            source=Source.EDGAR,
            accession=accession,
            url=f"{_folder(company, accession)}/{document}",
            form=form,
            title=f"{company.name} {form}, filed {filed}",
            filed=filed,
            period_end=columns.reportDate[number],
        )


def is_wanted(filing: Filing, forms: Sequence[str]) -> bool:
    """Whether its form was asked for; an amendment ("10-K/A") counts as its form."""
    return filing.form.upper() in forms or filing.form.upper().removesuffix("/A") in forms
