"""Builds the web search from settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

import redis
from quelea_kit.processes.process_pool import ProcessPool

from quelea_search.adapters.page_cache import PageCache, PageFiles
from quelea_search.adapters.provider_budget import ProviderBudget
from quelea_search.adapters.providers.base import Provider
from quelea_search.adapters.providers.brave import Brave
from quelea_search.adapters.providers.ddgs import Ddgs
from quelea_search.adapters.providers.google import Google
from quelea_search.adapters.providers.searxng import SearXNG
from quelea_search.adapters.providers.serpapi import SerpApi
from quelea_search.adapters.providers.tavily import Tavily
from quelea_search.adapters.result_cache import ResultCache
from quelea_search.adapters.web.fetch import Fetcher
from quelea_search.core.model import ParseLimits
from quelea_search.core.web.failover import Failover
from quelea_search.settings import SearchSettings
from quelea_search.web import metrics as web_metrics
from quelea_search.web.admission import Admission, Rejections
from quelea_search.web.page_loader import Originals, PageLoader
from quelea_search.web.parsing_pool import PooledParser
from quelea_search.web.search import WebSearch
from quelea_search.web.settings import WebSettings

_PROCESSES = 4
"""That read pages at once, at most; no more than there are cores."""
_PAGES, _CHARACTERS, _ROWS = 400, 3_000_000, 20_000
_UNPACKED = 64 * 1024 * 1024


class WebFiles(PageFiles, Originals, Protocol):
    """The parts of the blob store that the web half uses."""


def make_web(settings: SearchSettings, client: redis.Redis, blobs: WebFiles, pages: Rejections) -> WebSearch:
    """The web search of a server.

    Args:
        settings: All.
        client: Redis, with decoded responses.
        blobs: The blob store.
        pages: What is remembered of pages: only which were rejected is asked here.
    """
    providers = make_providers(settings)
    budget = ProviderBudget(
        client,
        settings.redis_prefix,
        per_minute=settings.provider_calls_per_minute,
        per_day=settings.provider_calls_per_day,
    )
    failover = Failover(
        providers,
        budget,
        failures=settings.provider_failures,
        rest_seconds=settings.provider_rest_seconds,
        call_seconds=settings.provider_seconds,
        count=lambda provider, outcome: web_metrics.PROVIDER_CALLS.labels(provider, outcome).inc(),
    )
    pool = ProcessPool(
        max(1, min(_PROCESSES, os.cpu_count() or 1)),
        memory_mb=settings.worker_memory_mb,
        preload=["quelea_search.web.page_parsing", "quelea_search.web.parsing_pool"],
    )
    reader = PooledParser(pool, web_limits(settings))
    fetcher = Fetcher(settings)
    admission = Admission(settings, pages)
    readings = PageLoader(
        fetcher,
        reader,
        PageCache(client, settings.redis_prefix, blobs, settings.page_cache_hours),
        blobs,
        admission,
        fresh_seconds=settings.page_fresh_seconds,
        parse_seconds=settings.page_seconds,
    )
    return WebSearch(
        settings,
        failover=failover,
        results=ResultCache(client, settings.redis_prefix, seconds=settings.provider_cache_seconds),
        readings=readings,
        reader=reader,
        admission=admission,
        closing=[*(provider.close for provider in providers), fetcher.close, reader.close],
    )


def make_providers(settings: WebSettings) -> list[Provider]:
    """Those that can be asked, in the order of the settings: one whose address or key is missing is left out."""
    makers: dict[str, tuple[bool, Callable[[], Provider]]] = {
        "searxng": (bool(settings.searxng_url), lambda: SearXNG(settings.searxng_url)),
        "brave": (bool(settings.brave_key), lambda: Brave(settings.brave_key)),
        "google": (
            bool(settings.google_key and settings.google_engine),
            lambda: Google(settings.google_key, settings.google_engine),
        ),
        "serpapi": (bool(settings.serpapi_key), lambda: SerpApi(settings.serpapi_key)),
        "tavily": (bool(settings.tavily_key), lambda: Tavily(settings.tavily_key)),
        "ddgs": (True, lambda: Ddgs(settings.provider_seconds)),
    }
    names = dict.fromkeys(settings.web_providers) if settings.web else ()
    return [makers[name][1]() for name in names if makers[name][0]]


def web_limits(settings: SearchSettings) -> ParseLimits:
    """What the parsers refuse of a page: a question waits, so it is less than of an upload."""
    return ParseLimits(
        max_bytes=settings.page_bytes,
        max_pages=min(_PAGES, settings.max_document_pages),
        max_unpacked_bytes=_UNPACKED,
        max_characters=_CHARACTERS,
        max_rows=_ROWS,
    )
