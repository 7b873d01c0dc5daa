"""Queues of their own for uploads, useful pages and re-reads, through a real Redis, Celery worker and beat."""

from __future__ import annotations

import dataclasses
import time

import pytest
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.testing import wait_until_async
from quelea_search.adapters.blobs import Blobs
from quelea_search.adapters.page_cache import PageCache
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.core.model import ParseLimits
from quelea_search.core.web.model import Fetched
from quelea_search.core.web.pages import PageState
from quelea_search.web.page_parsing import parse_web_page

pytestmark = pytest.mark.asyncio(loop_scope="module")

FLOOD = 100


def html(number: int, year: int = 2026) -> bytes:
    return (
        f"<html><head><title>Page {number}</title></head><body><h1>Page {number}</h1>"
        f"<p>Net sales of region {number} were {number * 37} million in {year}.</p></body></html>"
    ).encode()


def cached(stack, number: int) -> pb.UsefulPage:
    """A page that was read for an answer."""
    url = f"http://example.com/page-{number}"
    fetched = Fetched(url, url, url, 200, "text/html", "utf-8", html(number), time.time())
    document = parse_web_page(fetched, ParseLimits(), today="2026-11-22")
    cache = PageCache(stack.redis(), "quelea:search", Blobs(str(stack.folder / "blobs")), 1.0)
    cache.put(document, fetched, common_pb2.DocumentMetadata(title=document.facts.title, uri=url))
    return pb.UsefulPage(document_id=document.document_id, url=url, score=0.9)


async def keep(stack, pages: list[pb.UsefulPage]) -> list[str]:
    async with stack.line() as stub:
        request = pb.KeepPagesRequest(query="What were net sales?", provider="searxng", pages=pages)
        return [page.job_id for page in (await unary(stub.KeepPages(request, timeout=60))).pages]


async def test_a_flood_of_useful_pages_does_not_hold_up_an_upload(search_whole) -> None:
    search_whole.kill("worker")
    ids: list[str] = []
    for first in range(0, FLOOD, 50):
        ids += await keep(search_whole, [cached(search_whole, number) for number in range(first, first + 50)])
    assert len(set(ids)) == FLOOD
    upload = await search_whole.submit(b"# An upload\n\nIt came last.\n", "last.md")
    assert search_whole.redis().llen("quelea:search:messages:refresh") == FLOOD
    search_whole.start_crashing_worker()
    assert (await search_whole.ended(upload.id)).state == pb.JOB_STATE_SUCCEEDED
    async with search_whole.line() as stub:

        async def jobs() -> list[pb.Job]:
            return list((await unary(stub.ListJobs(pb.ListJobsRequest(page_size=1000), timeout=60))).jobs)

        finished = {job.id: job for job in await jobs() if job.HasField("finished")}
        before = [job_id for job_id in ids if job_id in finished]
        moment = finished[upload.id].finished.ToNanoseconds()
        assert sum(finished[job_id].finished.ToNanoseconds() < moment for job_id in before) <= 3
        redis = search_whole.redis()
        await wait_until_async(
            lambda: not redis.zcard("quelea:search:queued") + redis.zcard("quelea:search:running"),
            seconds=600,
            what="the flood is over",
        )
        states = {job.id: job.state for job in await jobs()}
    assert {states[job_id] for job_id in ids} == {pb.JOB_STATE_SUCCEEDED}


async def test_the_beat_has_expired_pages_read_again(search_whole) -> None:
    number, site = FLOOD + 1, search_whole.site
    url, path = f"http://example.com/page-{number}", f"/page-{number}"
    site.pages[path] = html(number, 2027)
    useful = cached(search_whole, number)
    (job_id,) = await keep(search_whole, [useful])
    await search_whole.ended(job_id)
    pages = WebPages(search_whole.redis(), prefix="quelea:search")
    assert pages.find(url).document_id == useful.document_id
    search_whole.start_beat()
    try:

        def expire() -> None:
            pages.update(url, lambda page: dataclasses.replace(page, due=1.0))

        expire()
        await wait_until_async(lambda: pages.find(url).document_id != useful.document_id, what="the new version is in")
        newer = pages.find(url)
        assert useful.document_id not in search_whole.index.documents
        assert search_whole.index.documents[newer.document_id].metadata.uri == url
        expire()
        await wait_until_async(lambda: pages.find(url).fetched > newer.fetched, what="the page has been renewed")
        assert pages.find(url).document_id == newer.document_id
        del site.pages[path]
        expire()
        await wait_until_async(
            lambda: pages.find(url).state is PageState.VANISHED, what="the page is known to have vanished"
        )
        assert newer.document_id in search_whole.index.documents
    finally:
        search_whole.kill("beat")
