"""Each provider's requests and replies; the replies are in provider_replies/ (see its README)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest
from pydantic import SecretStr
from quelea_search.adapters.providers.base import HttpProvider
from quelea_search.adapters.providers.brave import Brave
from quelea_search.adapters.providers.google import Google
from quelea_search.adapters.providers.searxng import SearXNG
from quelea_search.adapters.providers.serpapi import SerpApi
from quelea_search.adapters.providers.tavily import Tavily
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.query import WebQuery, web_query

REPLIES = Path(__file__).parent / "provider_replies"
TODAY = date(2023, 8, 10)
SECRET = "sk-do-not-show-4711"
KEY = SecretStr(SECRET)

Make = Callable[[httpx2.AsyncBaseTransport], HttpProvider]
MAKERS: dict[str, Make] = {
    "searxng": lambda transport: SearXNG("http://searxng.internal:8080/", transport=transport),
    "brave": lambda transport: Brave(KEY, transport=transport),
    "google": lambda transport: Google(KEY, "cx-1", transport=transport),
    "serpapi": lambda transport: SerpApi(KEY, transport=transport),
    "tavily": lambda transport: Tavily(KEY, transport=transport),
}
ASKED = web_query("Apple net sales third quarter 2023", count=10, today=TODAY)


def streamed(said: httpx2.Response) -> httpx2.Response:
    """As it would come over a wire: not read yet."""
    return httpx2.Response(said.status_code, headers=said.headers, stream=httpx2.ByteStream(said.content))


class Wire:
    """What went out, and what comes back."""

    def __init__(self, *replies: httpx2.Response) -> None:
        self.replies = list(replies)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        said = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return streamed(said)


def reply(name: str) -> httpx2.Response:
    return httpx2.Response(200, json=json.loads((REPLIES / f"{name}.json").read_text("utf-8")))


async def ask(name: str, wire: Wire, query: WebQuery = ASKED) -> list[Any]:
    provider = MAKERS[name](httpx2.MockTransport(wire))
    try:
        return await provider.search(query)
    finally:
        await provider.close()


async def params(name: str, query: WebQuery) -> dict[str, Any]:
    """What a provider is asked for the query."""
    wire = Wire(reply(f"{name}_empty"))
    await ask(name, wire, query)
    (request,) = wire.requests
    if request.method == "POST":
        return dict(json.loads(request.content))
    return {k: v[0] for k, v in parse_qs(request.url.query.decode()).items()}


async def test_searxng_is_read() -> None:
    wire = Wire(reply("searxng"))
    found = await ask("searxng", wire)
    assert [(r.url, r.published) for r in found] == [
        ("https://www.apple.com/newsroom/2023/08/apple-reports-third-quarter-results/", "2023-08-03"),
        ("https://finance.example.com/apple-q3", ""),
        # A day that is still to come is a mistake, and no reason to leave the page out.
        ("https://later.example.com/apple", ""),
    ]
    assert found[0].snippet == "The Company posted quarterly revenue of $81.8 billion, down 1 percent year over year."
    assert found[1].title == "Apple Q3 & what it means"
    assert str(wire.requests[0].url).startswith("http://searxng.internal:8080/search?q=Apple")


async def test_what_says_a_later_day_is_left_out() -> None:
    past = web_query("Apple", count=10, today=date(2023, 11, 1), as_of=date(2023, 8, 10))
    assert "https://later.example.com/apple" not in {r.url for r in await ask("searxng", Wire(reply("searxng")), past)}
    day = web_query("Apple", count=10, today=date(2023, 11, 1), as_of=date(2023, 10, 27))
    found = await ask("searxng", Wire(reply("searxng")), day)
    assert [r.published for r in found] == ["2023-08-03", "", "2023-10-27"]


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("brave", ["2023-08-03", "2023-08-07", ""]),
        ("google", ["2023-08-03", "", "", "2023-07-01"]),
        ("serpapi", ["2023-08-03", "2023-08-08", "2023-08-04"]),
        ("tavily", ["2023-08-03", "", ""]),
    ],
)
async def test_the_keyed_ones_are_read(name: str, days: list[str]) -> None:
    wire = Wire(reply(name))
    found = await ask(name, wire)
    assert [r.published for r in found] == days
    assert found[0].url == "https://www.apple.com/newsroom/q3"
    assert found[0].title == "Apple reports third quarter results"
    assert "$81.8 billion" in found[0].snippet
    assert "<" not in found[0].snippet
    (request,) = wire.requests
    in_headers = any(SECRET in value for value in request.headers.values())
    assert in_headers is (name != "serpapi")
    assert (SECRET in str(request.url)) is (name == "serpapi")


@pytest.mark.parametrize("name", MAKERS)
async def test_an_empty_list_is_an_answer(name: str) -> None:
    assert await ask(name, Wire(reply(f"{name}_empty"))) == []


@pytest.mark.parametrize(
    ("name", "file", "reason"),
    [("searxng", "searxng_unresponsive", "NO_ENGINE"), ("serpapi", "serpapi_failed", "FAILED")],
)
async def test_a_failure_inside_a_reply_is_one(name: str, file: str, reason: str) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(name, Wire(reply(file)))
    assert caught.value.reason == reason


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"results": None, "items": None, "web": None, "organic_results": None},
        {"results": "x", "items": {"a": 1}, "web": {"results": 5}, "organic_results": [[1], None, 7]},
        {"results": [{}], "items": [{}], "web": {"results": [{}]}, "organic_results": [{}]},
        {
            "results": [{"url": ["x"], "title": 3, "publishedDate": {}}],
            "items": [{"link": None, "pagemap": [], "snippet": 4}],
            "web": {"results": [{"url": {}, "page_age": []}]},
            "organic_results": [{"link": 1.5, "date": True}],
        },
        {"results": [{"url": "http://a b"}, {"url": "http://a\nb"}, {"url": "http://" + "a" * 5000}]},
    ],
)
async def test_missing_and_odd_fields_do_no_harm(name: str, payload: dict[str, Any]) -> None:
    assert await ask(name, Wire(httpx2.Response(200, json=payload))) == []


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("body", [b"<!doctype html><h1>Are you a robot?</h1>", b"", b"[1, 2]", b"[" * 100_000, b"\xff"])
async def test_what_is_no_json_says_so(name: str, body: bytes) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(name, Wire(httpx2.Response(200, content=body, headers={"content-type": "text/html; charset=utf-8"})))
    assert caught.value.reason == "NOT_JSON"
    assert "text/html" in caught.value.message


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("header", "wait"), [("30", 30.0), ("", None), ("soon", None)])
async def test_a_rate_limit_carries_its_wait(name: str, header: str, wait: float | None) -> None:
    refusal = httpx2.Response(
        429, json=json.loads((REPLIES / "google_429.json").read_text()), headers={"retry-after": header}
    )
    wire = Wire(refusal)
    with pytest.raises(ProviderError) as caught:
        await ask(name, wire)
    assert (caught.value.reason, caught.value.retry_after) == ("RATE_LIMITED", wait)
    assert len(wire.requests) == 1, "a rate limit is not tried again"


async def test_retry_after_may_be_a_date() -> None:
    late = httpx2.Response(429, headers={"retry-after": "Wed, 21 Oct 2065 07:28:00 GMT"})
    with pytest.raises(ProviderError) as caught:
        await ask("brave", Wire(late))
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 1e9


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    ("status", "reason", "calls"),
    [(401, "KEY_REFUSED", 1), (403, "KEY_REFUSED", 1), (302, "STATUS", 1), (400, "STATUS", 1), (503, "STATUS", 2)],
)
async def test_only_server_errors_are_tried_again_and_once(name: str, status: int, reason: str, calls: int) -> None:
    wire = Wire(httpx2.Response(status, headers={"location": "http://elsewhere.example.com"}))
    with pytest.raises(ProviderError) as caught:
        await ask(name, wire)
    assert (caught.value.reason, len(wire.requests)) == (reason, calls)
    assert str(status) in caught.value.message


async def test_a_second_try_may_succeed() -> None:
    wire = Wire(httpx2.Response(502), reply("brave"))
    assert len(await ask("brave", wire)) == 3


async def test_tavily_says_in_a_status_of_its_own_that_the_plan_is_used_up() -> None:
    with pytest.raises(ProviderError) as caught:
        await ask("tavily", Wire(httpx2.Response(432)))
    assert caught.value.reason == "RATE_LIMITED"


async def test_the_day_asked_about_becomes_a_range_where_the_api_has_one() -> None:
    past = web_query("Apple net sales", count=10, today=date(2023, 11, 1), as_of=date(2023, 8, 10))
    assert (await params("brave", past))["freshness"] == "1990-01-01to2023-08-10"
    assert (await params("google", past))["sort"] == "date:r:19900101:20230810"
    assert (await params("serpapi", past))["tbs"] == "cdr:1,cd_max:08/10/2023"
    assert (await params("tavily", past))["end_date"] == "2023-08-10"
    assert "time_range" not in await params("searxng", past)


async def test_a_question_for_the_latest_looks_back_a_year() -> None:
    latest = web_query("latest Apple net sales", count=10, today=TODAY)
    assert (await params("searxng", latest))["time_range"] == "year"
    assert (await params("brave", latest))["freshness"] == "2022-08-09to2023-08-10"
    assert (await params("google", latest))["dateRestrict"] == "d366"
    assert (await params("serpapi", latest))["tbs"] == "cdr:1,cd_min:08/09/2022,cd_max:08/10/2023"
    assert (await params("tavily", latest))["start_date"] == "2022-08-09"
    today = web_query("Apple share price today", count=10, today=TODAY)
    assert (await params("searxng", today))["time_range"] == "month"
    for name in MAKERS:
        plain = await params(name, ASKED)
        assert not {"time_range", "freshness", "dateRestrict", "sort", "tbs", "start_date", "end_date"} & plain.keys()


async def test_chinese_questions_ask_for_chinese_pages() -> None:
    chinese = web_query("贵州茅台的营业收入是多少？", count=10, today=TODAY)
    assert (await params("searxng", chinese))["language"] == "zh"
    assert (await params("brave", chinese))["search_lang"] == "zh-hans"
    assert (await params("google", chinese))["lr"] == "lang_zh-CN|lang_zh-TW"
    assert (await params("serpapi", chinese))["hl"] == "zh-cn"
    assert (await params("tavily", chinese))["query"] == "贵州茅台的营业收入是多少？"
    assert (await params("brave", ASKED))["search_lang"] == "en"
    (found,) = await ask("searxng", Wire(reply("searxng_zh")), web_query("茅台", count=5, today=date(2023, 11, 1)))
    assert (found.title, found.published) == ("贵州茅台发布三季报", "2023-10-20")


async def test_no_more_results_are_asked_for_or_given_than_wanted() -> None:
    for name, most in (("brave", 20), ("google", 10), ("tavily", 20)):
        query = web_query("Apple", count=50, today=TODAY)
        asked = await params(name, query)
        assert most == int(next(asked[k] for k in ("count", "num", "max_results") if k in asked))
    assert len(await ask("brave", Wire(reply("brave")), web_query("Apple", count=2, today=TODAY))) == 2
