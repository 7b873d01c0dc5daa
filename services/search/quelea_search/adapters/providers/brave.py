"""Brave Search: https://api-dashboard.search.brave.com/api-reference/web/search/get."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quelea_search.adapters.providers.base import Ask, KeyedProvider, day_of, rows, text_of
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

_MOST = 20
_FIRST_DAY = "1990-01-01"


class Brave(KeyedProvider):
    """The Brave Search API."""

    name = "brave"
    url = "https://api.search.brave.com/res/v1/web/search"
    hint = "is brave_key right?"

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
