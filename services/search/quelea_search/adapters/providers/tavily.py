"""Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quelea_search.adapters.providers.base import Ask, KeyedProvider, day_of, rows, text_of
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

_MOST = 20


class Tavily(KeyedProvider):
    """The Tavily search API."""

    name = "tavily"
    url = "https://api.tavily.com/search"
    # 432 and 433: the plan's or the account's limit is used up.
    reasons = {**KeyedProvider.reasons, 432: "RATE_LIMITED", 433: "RATE_LIMITED"}  # noqa: RUF012  # a Mapping, never written
    hint = "is tavily_key right?"

    def ask(self, query: WebQuery) -> Ask:
        """See HttpProvider."""
        body: dict[str, Any] = {
            "query": query.text,
            "topic": "general",
            "search_depth": "basic",
            "max_results": min(query.count, _MOST),
        }
        if query.since:
            body["start_date"] = query.since.isoformat()
        if query.in_the_past:
            body["end_date"] = query.as_of.isoformat()
        return Ask(self._url, headers={"Authorization": f"Bearer {self._key.get_secret_value()}"}, body=body)

    def read(self, payload: dict[str, Any], query: WebQuery) -> Iterable[Result]:
        """See HttpProvider."""
        return [
            Result(
                text_of(row, "url"),
                text_of(row, "title"),
                text_of(row, "content"),
                day_of(query.today, row.get("published_date")),
            )
            for row in rows(payload, "results")
        ]
