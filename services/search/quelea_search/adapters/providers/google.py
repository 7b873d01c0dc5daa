"""Google Programmable Search: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list.

The range of days: https://developers.google.com/custom-search/docs/structured_search (restrict to range).
The key in a header: https://cloud.google.com/docs/authentication/api-keys-use.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx2
from pydantic import SecretStr

from quelea_search.adapters.providers.base import Ask, KeyedProvider, day_of, rows, text_of
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

_MOST = 10
_FIRST_DAY = "19900101"
_PUBLISHED = (
    "article:published_time", "og:article:published_time", "datepublished", "date", "pubdate", "publishdate",
    "dc.date", "dc.date.issued", "parsely-pub-date", "sailthru.date",
)  # fmt: skip


class Google(KeyedProvider):
    """Google's Custom Search JSON API.

    Its answers carry no date of their own; the page's meta tags are in `pagemap`.

    Args:
        key: API key; goes into a header.
        engine: Id of the programmable search engine (cx).
        url: For tests.
        transport: For tests.
    """

    name = "google"
    url = "https://customsearch.googleapis.com/customsearch/v1"
    hint = "are google_key and google_engine right, and is the Custom Search API enabled for the key?"

    def __init__(
        self, key: SecretStr, engine: str, *, url: str = "", transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        super().__init__(key, url=url, transport=transport)
        self._engine = engine

    def ask(self, query: WebQuery) -> Ask:
        """See KeyedProvider."""
        params: dict[str, str | int] = {
            "cx": self._engine,
            "q": query.text,
            "num": min(query.count, _MOST),
            "lr": "lang_zh-CN|lang_zh-TW" if query.language == "zh" else "lang_en",
            "safe": "active",
        }
        if query.in_the_past:
            first = query.since.strftime("%Y%m%d") if query.since else _FIRST_DAY
            params["sort"] = f"date:r:{first}:{query.as_of.strftime('%Y%m%d')}"
        elif query.since:
            params["dateRestrict"] = f"d{(query.today - query.since).days}"
        return Ask(self._url, params, {"X-Goog-Api-Key": self._key.get_secret_value()})

    def read(self, payload: dict[str, Any], query: WebQuery) -> Iterable[Result]:
        """See KeyedProvider."""
        return [
            Result(
                text_of(row, "link"),
                text_of(row, "title"),
                text_of(row, "snippet"),
                day_of(query.today, *_dates(row), _leading_date(text_of(row, "snippet"))),
            )
            for row in rows(payload, "items")
        ]


def _dates(row: dict[str, Any]) -> list[object]:
    tags = rows(row, "pagemap", "metatags")
    return [tag[name] for tag in tags for name in _PUBLISHED if name in tag]


def _leading_date(snippet: str) -> str:
    """Google begins the snippet of a dated page with its day: "Oct 27, 2023 ... Net sales were"."""
    head, dots, _ = snippet.partition("...")
    return head.strip() if dots and len(head) <= 20 else ""
