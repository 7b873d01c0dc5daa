"""The catalogue of tools over REST, with a real ToolService and a real retriever behind the gateway."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from quelea_gateway.testing import standing
from support.tool_catalogue import gateway_with_tools


@pytest.fixture
async def stand() -> AsyncIterator[Any]:
    async with gateway_with_tools() as one:
        yield one


@pytest.fixture
async def web(stand: Any) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        yield client


async def found(web: httpx2.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    """Searched as soon as the background work has made the index."""
    for _ in range(200):
        answer = await web.get("/v1/tools", params=params)
        if answer.status_code != 503:
            break
        assert answer.headers["retry-after"]
        await asyncio.sleep(0.05)
    assert answer.status_code == 200, answer.text
    tools: list[dict[str, Any]] = answer.json()["tools"]
    return tools


async def test_a_question_in_either_language_finds_the_tool(web: httpx2.AsyncClient) -> None:
    for question in ("国债收益率曲线", "yield curve of government bonds in 2023"):
        best = (await found(web, q=question, page_size=2))[0]
        assert (best["name"], best["category"], best["health"]) == ("bond_china_yield", "Bond", 1.0)
        assert "国债" in best["description"]
    assert [one["name"] for one in await found(web, q="国债收益率曲线", category="macro")] == ["macro_china_cpi"]
    lexical = await found(web, q="居民消费价格指数", mode="lexical", page_size=1)
    assert lexical[0]["name"] == "macro_china_cpi"


async def test_lists_and_categories(web: httpx2.AsyncClient) -> None:
    listed = (await web.get("/v1/tools", params={"category": "Stock", "page_size": 1})).json()
    assert (listed["total"], [one["name"] for one in listed["tools"]]) == (2, ["stock_us_daily"])
    params = {"category": "Stock", "page_size": 1, "page_token": listed["next_page_token"]}
    rest = (await web.get("/v1/tools", params=params)).json()
    assert (len(rest["tools"]), rest["next_page_token"]) == (1, None)
    categories = (await web.get("/v1/tools/categories")).json()["categories"]
    assert categories == [{"name": "Stock", "tools": 2}, {"name": "Macro", "tools": 1}, {"name": "Bond", "tools": 1}]
    answer = await web.get("/v1/tools", params={"category": "Weather"})
    assert answer.status_code == 404
    assert "Stock, Macro, Bond" in answer.json()["error"]["message"]


async def test_a_tool_with_its_document_and_the_nearest_names_of_none(web: httpx2.AsyncClient) -> None:
    tool = (await web.get("/v1/tools/stock_zh_a_hist")).json()
    assert tool["parameters"][0] == {
        "name": "symbol", "type": "str", "description": "代码", "required": True, "default": "",
    }  # fmt: skip
    for part in (
        "stock_zh_a_hist (akshare, Stock)",
        "- symbol (str, required): 代码",
        "收盘 (float, 元)",
        "import akshare",
    ):
        assert part in tool["document"]
    answer = await web.get("/v1/tools/stock_zh_a_hits")
    assert answer.status_code == 404
    assert answer.json()["error"]["details"]["nearest"].startswith("stock_zh_a_hist")


async def test_selection_by_retrieval_where_there_is_no_language_model(web: httpx2.AsyncClient) -> None:
    await found(web, q="x")
    answer = await web.post("/v1/tools/select", json={"question": "国债收益率曲线", "k": 1})
    chosen = answer.json()
    assert (chosen["selected_by"], [one["name"] for one in chosen["tools"]]) == ("retrieval", ["bond_china_yield"])
    for bad in ({"question": ""}, {"question": "x", "k": 0}, {"question": "x", "more": 1}, {"question": "x" * 4001}):
        assert (await web.post("/v1/tools/select", json=bad)).status_code == 400


async def test_tools_that_failed_lately_come_later(stand: Any, web: httpx2.AsyncClient) -> None:
    question = "美股历史行情数据"
    assert (await found(web, q=question))[0]["name"] == "stock_us_daily"
    for _ in range(3):
        await stand.gateway.toolkit.catalogue.report("stock_us_daily", ok=False, error="HTTP 502")
    tools = await found(web, q=question, category="Stock")
    assert [one["name"] for one in tools] == ["stock_zh_a_hist", "stock_us_daily"] or tools[0]["score"] <= 0.51
    document = (await web.get("/v1/tools/stock_us_daily")).json()["document"]
    assert "Warning: its last 3 calls failed (HTTP 502)" in document


async def test_without_a_catalogue_everything_says_what_to_do() -> None:
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web:
        for path in ("/v1/tools", "/v1/tools?q=x", "/v1/tools/categories", "/v1/tools/x"):
            answer = await web.get(path)
            assert answer.status_code == 409
            assert "make tools" in answer.json()["error"]["message"]
        assert (await web.post("/v1/tools/select", json={"question": "x"})).status_code == 409
        assert (await web.get("/readyz")).status_code == 200


async def test_a_catalogue_that_is_away_is_503_and_its_return_is_noticed() -> None:
    async with (
        standing(tools="127.0.0.1:1") as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        answer = await web.get("/v1/tools/categories", timeout=60)
        assert answer.status_code == 503
        assert "tool catalogue" in json.dumps(answer.json())
        assert (await web.get("/readyz")).status_code == 200
