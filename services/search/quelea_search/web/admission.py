"""Which web addresses may be used: not those of denied hosts, nor rejected pages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_search.core.web.model import Problem
from quelea_search.core.web.urls import host_matches, host_of
from quelea_search.web import metrics as web_metrics
from quelea_search.web.settings import WebSettings

log = get_logger(__name__)
_SECONDS = 1.0
"""For the list of rejected pages; the question is waiting."""


class Rejections(Protocol):
    """Pages that a person has rejected: adapters/web_pages_redis.py."""

    def rejected(self, canonical_urls: Sequence[str]) -> set[str]:
        """Those of them that must not be used. Blocks; raises Unavailable."""


class Admission:
    """The operator's word on hosts and pages.

    Args:
        settings: allow_hosts and deny_hosts.
        rejections: What was rejected.
    """

    def __init__(self, settings: WebSettings, rejections: Rejections) -> None:
        self._allowed = settings.allow_hosts
        self._denied = settings.deny_hosts
        self._rejections = rejections

    def trusted(self, url: str) -> bool:
        """Whether its host is on the allow-list, and not denied."""
        return host_matches(host_of(url), self._allowed) and not self.denied(url)

    def denied(self, url: str) -> bool:
        """Whether its host is never read."""
        return host_matches(host_of(url), self._denied)

    async def usable(self, urls: Sequence[str]) -> tuple[set[str], list[Problem]]:
        """Those of the canonical URLs that may be used.

        While it cannot be known what was rejected, only pages of hosts on the allow-list are used.
        """
        asked = [url for url in urls if not self.denied(url)]
        web_metrics.PAGES.labels("denied").inc(len(urls) - len(asked))
        if not asked:
            return set(), []
        try:
            async with asyncio.timeout(_SECONDS):
                rejected = await asyncio.to_thread(self._rejections.rejected, asked)
        except (QueleaError, TimeoutError) as error:
            log.warning("rejections_unknown", why=str(error) or type(error).__name__)
            why = "the list of rejected pages cannot be read, so only pages of hosts on the allow-list are used"
            return {url for url in asked if self.trusted(url)}, [Problem("rejected pages", "UNAVAILABLE", why)]
        web_metrics.PAGES.labels("rejected").inc(len(rejected))
        return {url for url in asked if url not in rejected}, []
