"""ddgs: how it is asked, how it is read, what becomes of its exceptions, how many calls may hang."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from quelea_kit.testing import wait_until_async
from quelea_search.adapters.providers.ddgs import Ddgs
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.query import web_query

QUERY = web_query("Apple", count=10, today=date(2023, 11, 1))


async def test_ddgs_is_read_and_asked_in_the_language(tmp_path) -> None:
    import json
    from pathlib import Path

    rows = json.loads((Path(__file__).parent / "provider_replies" / "ddgs.json").read_text("utf-8"))
    asked = []

    def text(query: str, **options: object):
        asked.append((query, options))
        return rows

    provider = Ddgs(1.0, call=text)
    found = await provider.search(web_query("latest Apple sales", count=7, today=date(2023, 11, 1)))
    await provider.search(web_query("贵州茅台", count=7, today=date(2023, 11, 1)))
    await provider.close()
    assert [r.url for r in found] == ["https://www.apple.com/newsroom/q3", "http://news.example.com/a"]
    assert asked == [
        ("latest Apple sales", {"region": "us-en", "max_results": 7, "timelimit": "y"}),
        ("贵州茅台", {"region": "cn-zh", "max_results": 7}),
    ]
    with pytest.raises(ProviderError):
        await provider.search(QUERY)


async def test_what_ddgs_raises_is_a_failure_of_the_provider() -> None:
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    for raised, reason in (
        (RatelimitException("x"), "RATE_LIMITED"),
        (TimeoutException("x"), "TIMEOUT"),
        (DDGSException("x"), "FAILED"),
        (ZeroDivisionError("x"), "FAILED"),
    ):

        def text(_query: str, raised: Exception = raised, **_options: object):
            raise raised

        provider = Ddgs(1.0, call=text)
        with pytest.raises(ProviderError) as caught:
            await provider.search(QUERY)
        assert caught.value.reason == reason
        await provider.close()

    def nothing(_query: str, **_options: object):
        raise DDGSException("No results found.")

    provider = Ddgs(1.0, call=nothing)
    assert await provider.search(QUERY) == []
    await provider.close()


async def test_ddgs_calls_that_hang_do_not_pile_up() -> None:
    import threading

    release, running = threading.Event(), threading.Semaphore(0)

    def text(_query: str, **_options: object):
        running.release()
        release.wait(300)
        return []

    provider = Ddgs(600.0, call=text)
    try:
        for _ in range(2):
            left = asyncio.create_task(provider.search(QUERY))
            await wait_until_async(lambda: running.acquire(blocking=False), what="it is being asked")
            left.cancel()
            with pytest.raises(asyncio.CancelledError):
                await left
        with pytest.raises(ProviderError) as caught:
            await provider.search(QUERY)
        assert caught.value.reason == "BUSY"
    finally:
        release.set()
        await provider.close()
