"""SearXNG: https://docs.searxng.org/dev/search_api.html (format=json must be enabled in its settings.yml)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx2

from quelea_search.adapters.providers.base import Ask, HttpProvider, day_of, inside, rows, text_of
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

_MONTH_DAYS = 31


class SearXNG(HttpProvider):
    """A SearXNG instance, usually the operator's own.

    It has no upper limit for a date, only `time_range`, and gives as many results as its engines do: both are cut here.

    Args:
        url: Its address, with its path where it has one.
        transport: For tests.
    """

    name = "searxng"
    hint = "is `json` among search.formats in its settings.yml?"

    def __init__(self, url: str, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        super().__init__(proxies=not inside(url), transport=transport)
        self._url = url.rstrip("/") + "/search"

    def ask(self, query: WebQuery) -> Ask:
        """See HttpProvider."""
        params: dict[str, str | int] = {"q": query.text, "format": "json", "language": query.language}
        if query.since and not query.in_the_past:
            params["time_range"] = "month" if (query.today - query.since).days <= _MONTH_DAYS else "year"
        return Ask(self._url, params)

    def read(self, payload: dict[str, Any], query: WebQuery) -> Iterable[Result]:
        """See HttpProvider."""
        found = rows(payload, "results")
        if not found and payload.get("unresponsive_engines"):
            raise ProviderError("NO_ENGINE", "none of the engines behind it answered")
        return [
            Result(
                text_of(row, "url"),
                text_of(row, "title"),
                text_of(row, "content"),
                day_of(query.today, row.get("publishedDate"), row.get("pubdate")),
            )
            for row in found
        ]
