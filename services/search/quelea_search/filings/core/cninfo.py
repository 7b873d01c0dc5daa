"""cninfo (巨潮资讯): its list of A shares and their announcements, asked for as akshare 1.19.5 does."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

from pydantic import BaseModel

from quelea_search.filings.core.forms import REPORTS
from quelea_search.filings.core.model import Call, Company, Filing, Source, Span
from quelea_search.filings.core.replies import read_reply

STOCKS = "http://www.cninfo.com.cn/new/data/szse_stock.json"
"""Of all three exchanges, whatever its name says."""
STOCKS_CALL = Call(STOCKS)
_QUERY = "http://www.cninfo.com.cn/new/hisAnnouncement/query"
_STATIC = "http://static.cninfo.com.cn/"
PAGE_SIZE = 30
_CHINA = timezone(timedelta(hours=8))
_TAG = re.compile(r"<[^<>]{1,20}>")
_NOTE = re.compile(r"\s{0,8}[（(][^（）()]{1,40}[)）]\s{0,8}$")
_WHOLE = ("报告", "报告全文", "报告正文")
"""How the title of a whole periodic report ends; summaries (摘要) and notices about one (公告) end otherwise."""
_ENGLISH = re.compile(r"英文|english", re.I)


class _Stock(BaseModel):
    orgId: str  # noqa: N815  # cninfo's names
    code: str
    zwjc: str


class _Stocks(BaseModel):
    stockList: list[_Stock]  # noqa: N815


class _Announcement(BaseModel):
    announcementId: str  # noqa: N815
    announcementTitle: str  # noqa: N815
    announcementTime: int  # noqa: N815
    adjunctUrl: str  # noqa: N815
    secCode: str  # noqa: N815
    secName: str | None = None  # noqa: N815


class _Page(BaseModel):
    announcements: list[_Announcement] | None
    hasMore: bool  # noqa: N815


def read_stocks(data: bytes) -> list[Company]:
    """All A shares. Raises UnexpectedReply."""
    rows = read_reply(_Stocks, data, STOCKS).stockList
    return [Company(Source.CNINFO, f"{row.code},{row.orgId}", row.code, row.zwjc) for row in rows]


def query(company: Company, report: str, span: Span, page: int) -> Call:
    """One page of a company's announcements of a kind, newest first.

    Args:
        company: Of cninfo.
        report: One of REPORTS.
        span: Days on which they were published.
        page: Counts from 1.
    """
    fields: dict[str, Any] = {
        "pageNum": page,
        "pageSize": PAGE_SIZE,
        "column": "szse",
        "tabName": "fulltext",
        "plate": "",
        "stock": company.id,
        "searchkey": "",
        "secid": "",
        "category": REPORTS[report][0],
        "trade": "",
        "seDate": f"{span.first}~{span.last}",
        "sortName": "",
        "sortType": "",
        "isHLtitle": "true",
    }
    return Call(_QUERY, tuple((name, str(value)) for name, value in fields.items()))


def read_announcements(data: bytes, company: Company, report: str) -> tuple[list[Filing], bool]:
    """Whole reports on a page of announcements, and whether there is a further page. Raises UnexpectedReply."""
    said = read_reply(_Page, data, _QUERY)
    found = []
    for row in said.announcements or ():
        title = _TAG.sub("", row.announcementTitle).strip()
        if row.secCode != company.ticker or not _is_whole(title) or "://" in row.adjunctUrl:
            continue
        found.append(
            Filing(
                source=Source.CNINFO,
                accession=row.announcementId,
                url=_STATIC + row.adjunctUrl.lstrip("/"),
                form=report,
                title=title if company.name in title else f"{company.name}：{title}",
                filed=_day(row.announcementTime),
            )
        )
    return found, said.hasMore


def _is_whole(title: str) -> bool:
    """Whether a title is of a report itself in Chinese, in whatever version: "2023年年度报告（修订版）"."""
    return not _ENGLISH.search(title) and _NOTE.sub("", title).endswith(_WHOLE)


def _day(milliseconds: int) -> date:
    return datetime.fromtimestamp(milliseconds / 1000, _CHINA).date()
