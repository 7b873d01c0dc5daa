"""make_web: real Redis, real fetcher, real parsers in their processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.testing import free_port, wait_until
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.redis_base import connect
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.service import SERVICE
from quelea_search.settings import SearchSettings
from quelea_search.web.build import make_providers, make_web
from quelea_search.web.search import WebSearch

ARTICLE = """<!doctype html><html lang="en"><head><title>{title} - Example News</title>
<meta property="article:published_time" content="{day}T09:00:00Z"><meta property="og:type" content="article">
</head><body>
<nav><a href="/">Home</a><a href="/markets">Markets</a></nav><article><h1>{title}</h1>{text}</article>
<footer>Copyright, all rights reserved, imprint</footer></body></html>"""
SALES = (
    "The company said on Thursday that iPhone net sales were $39,669 million in the third quarter of fiscal 2023, "
    "against $40,665 million a year earlier, a fall of two percent that analysts had expected."
)
FILLER = (
    "Shares of other makers of telephones were little changed in early trading, and the market as a whole waited for "
    "figures from the labour office that were due in the afternoon, as it had done the month before."
)


def article(title: str, day: str, *paragraphs: str) -> tuple[str, bytes]:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return "text/html; charset=utf-8", ARTICLE.format(title=title, day=day, text=text).encode()


@pytest.fixture
async def real_web(web_redis, web_pages, tmp_path) -> AsyncIterator[tuple[WebSearch, Blobs]]:
    settings = SearchSettings(
        web=True,
        environment="test",
        listen="127.0.0.1:0",
        web_providers=("searxng",),
        searxng_url=f"http://127.0.0.1:{web_pages.port}",
        web_test_hosts=dict.fromkeys(("news.example.com", "other.example.org"), f"127.0.0.1:{web_pages.port}"),
        redis_url=web_redis.url,
        web_seconds=60.0,
        page_seconds=30.0,
    )
    client = connect(web_redis.url)
    blobs = Blobs(str(tmp_path / "blobs"))
    web = make_web(settings, client, blobs, WebPages(client, prefix=settings.redis_prefix))
    await web.warm()
    yield web, blobs
    await web.close()


def found(web_pages: Any, path: str, page: tuple[str, bytes], host: str = "news.example.com") -> None:
    web_pages.paths[path] = page
    web_pages.found.append({"url": f"http://{host}{path}", "title": "", "content": ""})


async def test_pages_are_read_by_the_real_parsers_and_can_be_opened(real_web, web_pages) -> None:
    web, blobs = real_web
    found(web_pages, "/2023/08/a", article("iPhone sales fall", "2023-08-03", FILLER, SALES, FILLER))
    chinese = "2023年前三季度，贵州茅台实现营业收入1032.68亿元，同比增长18.48%，公司在公告中表示经营情况良好。" * 3
    found(web_pages, "/zh", article("贵州茅台三季报", "2023-10-20", chinese), "other.example.org")
    found(web_pages, "/picture", ("image/png", b"\x89PNG\r\n\x1a\n" + b"0" * 100))
    answer = await web.search("What were the iPhone net sales in the third quarter of fiscal 2023?")
    assert [problem.reason for problem in answer.problems] == ["WRONG_TYPE"]
    first = answer.pages[0]
    facts = first.page.document.facts
    assert (facts.title, facts.published, first.page.document.published_source) == (
        "iPhone sales fall",
        "2023-08-03",
        "page",
    )
    best = max(first.passages, key=lambda passage: passage.coverage)
    assert "39,669" in best.chunk.text
    assert not best.suspicious
    assert "imprint" not in " ".join(page.text for page in first.page.document.parsed.pages)
    header, text = blobs.page(first.page.document.document_id, best.chunk.page)
    assert text[best.chunk.start : best.chunk.end] == best.chunk.text
    assert header["metadata"]["published"] == "2023-08-03"
    assert answer.pages[1].page.document.facts.language == "zh"
    again = await web.search("贵州茅台2023年前三季度的营业收入是多少？")
    assert [page.page.from_cache for page in again.pages] == [True, True]
    assert "1032.68" in again.pages[1].passages[0].chunk.text
    assert again.pages[1].page.document == answer.pages[1].page.document
    assert [web_pages.asked.count(path) for path in ("/2023/08/a", "/zh")] == [1, 1]


async def test_a_question_about_an_earlier_day_gets_nothing_later(real_web, web_pages) -> None:
    web, _ = real_web
    found(web_pages, "/late", article("Late", "2023-10-27", SALES))
    found(web_pages, "/early", article("Early", "2023-08-03", SALES, FILLER))
    answer = await web.search("iPhone net sales", as_of=datetime(2023, 9, 1, tzinfo=UTC).date())
    assert [page.page.document.facts.title for page in answer.pages] == ["Early"]


async def test_a_server_answers_and_leaves_no_process_behind(web_redis, web_pages, tmp_path) -> None:
    found(web_pages, "/a", article("iPhone sales fall", "2023-08-03", FILLER, SALES, FILLER))
    port = free_port()
    given = {
        "WEB": "true",
        "ENVIRONMENT": "test",
        "LISTEN": f"127.0.0.1:{port}",
        "WEB_PROVIDERS": '["searxng"]',
        "SEARXNG_URL": f"http://127.0.0.1:{web_pages.port}",
        "WEB_TEST_HOSTS": json.dumps({"news.example.com": f"127.0.0.1:{web_pages.port}"}),
        "REDIS_URL": web_redis.url,
        "BLOBS_URL": str(tmp_path / "blobs"),
        "RETRIEVER": f"127.0.0.1:{free_port()}",
    }
    environment = {**os.environ, **{f"QUELEA_SEARCH_{name}": value for name, value in given.items()}}
    command = [sys.executable, "-m", "quelea_search"]
    server = subprocess.Popen(command, env=environment, start_new_session=True)  # noqa: ASYNC220  # returns at once
    try:
        async with channel(f"127.0.0.1:{port}", SERVICE) as line:
            stub = search_pb2_grpc.SearchServiceStub(line)
            request = pb.SearchWebRequest(query="iPhone net sales in the third quarter")
            answer = await unary(stub.SearchWeb(request, timeout=60, wait_for_ready=True))
            assert "39,669" in answer.pages[0].passages[0].passage.text
            page = await unary(
                stub.GetPage(pb.GetPageRequest(document_id=answer.pages[0].document_id, page=1), timeout=60)
            )
            assert "39,669" in page.text
            info = await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=60))
            assert list(info.web_providers) == ["searxng"]
        server.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(server.wait, 60) == 0
        wait_until(lambda: not _of_session(server.pid), what="no process is left")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)


def _of_session(session: int) -> list[str]:
    """Processes that the server started and that still run."""
    left = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                left.append(stat.parent.name)
    return left


def test_providers_without_an_address_or_a_key_are_left_out() -> None:
    order = ("tavily", "google", "searxng", "brave", "serpapi", "tavily")
    keys = {"tavily_key": "k", "google_key": "k", "serpapi_key": "k", "searxng_url": "http://searxng:8080"}
    settings = SearchSettings(web=True, web_providers=order, **keys)
    assert [provider.name for provider in make_providers(settings)] == ["tavily", "searxng", "serpapi"]
    assert [provider.name for provider in make_providers(SearchSettings(web=True))] == ["ddgs"]
    assert make_providers(SearchSettings(web=False, **keys)) == []
