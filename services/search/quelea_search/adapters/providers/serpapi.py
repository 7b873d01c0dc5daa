"""SerpApi: https://serpapi.com/search-api, https://serpapi.com/organic-results, https://serpapi.com/search-errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quelea_search.adapters.providers.base import Ask, KeyedProvider, day_of, rows, text_of
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

_NOTHING = "hasn't returned any results"


class SerpApi(KeyedProvider):
    """SerpApi over Google. The key can only go into a parameter, so nothing may ever show the address."""

    name = "serpapi"
    url = "https://serpapi.com/search.json"
    hint = "is serpapi_key right?"

    def ask(self, query: WebQuery) -> Ask:
        """See HttpProvider."""
        chinese = query.language == "zh"
        params: dict[str, str | int] = {
            "engine": "google",
            "q": query.text,
            "num": query.count,
            "hl": "zh-cn" if chinese else "en",
            "gl": "cn" if chinese else "us",
            "api_key": self._key.get_secret_value(),
        }
        if query.since or query.in_the_past:
            first = f",cd_min:{query.since.strftime('%m/%d/%Y')}" if query.since else ""
            params["tbs"] = f"cdr:1{first},cd_max:{query.as_of.strftime('%m/%d/%Y')}"
        return Ask(self._url, params)

    def read(self, payload: dict[str, Any], query: WebQuery) -> Iterable[Result]:
        """See HttpProvider."""
        found = rows(payload, "organic_results")
        error = text_of(payload, "error")
        if not found and error and _NOTHING not in error:
            raise ProviderError("FAILED", "it says that the search failed")
        return [
            Result(
                text_of(row, "link"),
                text_of(row, "title"),
                text_of(row, "snippet"),
                day_of(query.today, row.get("date")),
            )
            for row in found
        ]
