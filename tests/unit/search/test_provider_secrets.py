"""A provider's key is in the request and nowhere else."""

from __future__ import annotations

import logging
import traceback
from datetime import date

import fakeredis
import httpx2
import pytest
from pydantic import SecretStr
from quelea_kit.logging import setup_logging
from quelea_kit.settings import ServiceSettings
from quelea_search.adapters.providers.serpapi import SerpApi
from quelea_search.adapters.providers.tavily import Tavily
from quelea_search.adapters.result_cache import ResultCache
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.model import Result, Results
from quelea_search.core.web.query import web_query

SECRET = "sk-do-not-show-4711"
QUERY = web_query("Apple net sales", count=10, today=date(2023, 8, 10))


def broken(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ReadError(f"reading {request.url} failed", request=request)


def unreachable(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError(f"connecting to {request.url} failed", request=request)


def refused(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(401, json={"error": f"Invalid API key {SECRET}"})


def page(request: httpx2.Request) -> httpx2.Response:
    body = httpx2.ByteStream(f"<h1>{request.url}</h1>".encode())
    return httpx2.Response(200, stream=body, headers={"content-type": f"text/html; {SECRET}"})


def loop(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(302, headers={"location": str(request.url)})


@pytest.mark.parametrize("answer", [broken, unreachable, refused, page, loop])
@pytest.mark.parametrize("kind", [SerpApi, Tavily])
async def test_neither_an_error_nor_a_log_line_holds_the_key(answer, kind, capfd) -> None:
    # The package stamina logs each retry; httpx2 and httpcore2 log requests: everything on, as noisy as it goes.
    setup_logging("search", ServiceSettings(log_level="debug", log_format="json"))
    provider = kind(SecretStr(SECRET), transport=httpx2.MockTransport(answer))
    try:
        with pytest.raises(ProviderError) as caught:
            await provider.search(QUERY)
        await provider.close()
        logging.getLogger("test").debug("the log works")
        said = str(caught.value) + repr(caught.value) + "".join(traceback.format_exception(caught.value))
        error = caught.value
        while error is not None:
            assert SECRET not in repr(error.__dict__)
            error = None if error.__suppress_context__ else error.__context__
        written = "".join(capfd.readouterr())
        assert "the log works" in written
        assert SECRET not in said
        assert SECRET not in written
    finally:
        logging.getLogger().handlers[:] = []


async def test_a_successful_call_writes_no_address(capfd) -> None:
    setup_logging("search", ServiceSettings(log_level="debug"))
    try:
        empty = b'{"organic_results": []}'
        ok = httpx2.MockTransport(lambda _: httpx2.Response(200, stream=httpx2.ByteStream(empty)))
        logging.getLogger("httpx2").setLevel(logging.DEBUG)  # as somebody might have it
        provider = SerpApi(SecretStr(SECRET), transport=ok)
        assert await provider.search(QUERY) == []
        await provider.close()
        assert SECRET not in "".join(capfd.readouterr())
    finally:
        logging.getLogger().handlers[:] = []


def test_the_cache_holds_no_key() -> None:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)
    cache = ResultCache(client, "p", seconds=100)
    assert cache.put(QUERY, ["serpapi"], Results("serpapi", (Result("https://a.example.com/"),), 1.0))
    (key,) = client.keys("*")
    assert SECRET not in key + client.get(key)


def test_objects_that_hold_the_key_do_not_show_it() -> None:
    provider = SerpApi(SecretStr(SECRET))
    assert SECRET not in repr(provider)
    assert SECRET not in repr(provider.ask(QUERY))
