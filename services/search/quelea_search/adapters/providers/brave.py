"""Brave Search: https://api-dashboard.search.brave.com/api-reference/web/search/get."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx2
from pydantic import SecretStr

from quelea_search.adapters.providers.base import Ask, HttpProvider, day_of, rows, text_of
from quelea_search.core.web import Result
from quelea_search.core.web_query import WebQuery

_URL = "https://api.search.brave.com/res/v1/web/search"
_MOST = 20
_FIRST_DAY = "1990-01-01"


class Brave(HttpProvider):
    """The Brave Search API.

    Args:
        key: Subscription token; goes into a header.
        url: For tests.
        transport: For tests.
    """

    name = "brave"
    hint = "is brave_key right?"

    def __init__(self, key: SecretStr, *, url: str = _URL, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        super().__init__(transport=transport)
        self._key = key
        self._url = url

    def ask(self, query: WebQuery) -> Ask:
        """See HttpProvider."""
        chinese = query.language == "zh"
        params: dict[str, str | int] = {
            "q": query.text,
            "count": min(query.count, _MOST),
            "search_lang": "zh-hans" if chinese else "en",
            "country": "CN" if chinese else "ALL",
            "result_filter": "web",
            "text_decorations": "false",
        }
        if query.since or query.in_the_past:
            first = query.since.isoformat() if query.since else _FIRST_DAY
            params["freshness"] = f"{first}to{query.as_of.isoformat()}"
        return Ask(self._url, params, {"X-Subscription-Token": self._key.get_secret_value()})

    def read(self, payload: dict[str, Any], query: WebQuery) -> Iterable[Result]:
        """See HttpProvider."""
        return [
            Result(
                text_of(row, "url"),
                text_of(row, "title"),
                text_of(row, "description"),
                day_of(query.today, row.get("page_age"), row.get("age")),
            )
            for row in rows(payload, "web", "results")
        ]
