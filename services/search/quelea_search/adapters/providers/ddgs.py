"""ddgs (https://github.com/deedy5/ddgs): search engines' own pages, read without a key. The last resort.

Engines change their pages and refuse machines when they like, so it fails more often than the others.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ddgs import DDGS
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from quelea_search.adapters.providers.base import day_of, rows, text_of, tidy
from quelea_search.core.web.failover import ProviderError
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import WebQuery

_THREADS = 2
_MONTH_DAYS = 31
Call = Callable[..., list[dict[str, Any]]]


class Ddgs:
    """The package ddgs, in threads of its own: its calls block and cannot be ended from outside.

    Args:
        seconds: Time-out of one engine.
        call: DDGS.text, or a stand-in for tests.
    """

    name = "ddgs"

    def __init__(self, seconds: float, *, call: Call | None = None) -> None:
        self._call = call or _text(seconds)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="ddgs")
        self._busy = threading.BoundedSemaphore(_THREADS)

    async def search(self, query: WebQuery) -> list[Result]:
        """See Provider."""
        if not self._busy.acquire(blocking=False):
            raise ProviderError("BUSY", "its earlier calls have not returned yet")
        options: dict[str, Any] = {
            "region": "cn-zh" if query.language == "zh" else "us-en",
            "max_results": query.count,
        }
        if query.since and not query.in_the_past:
            options["timelimit"] = "m" if (query.today - query.since).days <= _MONTH_DAYS else "y"
        try:
            # Shielded: a call that is given up here still runs over there, and its place is free only when it ends.
            work = asyncio.get_running_loop().run_in_executor(self._pool, self._run, query.text, options)
        except RuntimeError:
            self._busy.release()
            raise ProviderError("CLOSED", "it is closed") from None
        found = await asyncio.shield(work)
        if isinstance(found, ProviderError):
            raise found
        return tidy(
            [
                Result(
                    text_of(row, "href", "url"),
                    text_of(row, "title"),
                    text_of(row, "body"),
                    day_of(query.today, row.get("date")),
                )
                for row in rows({"found": found}, "found")
            ],
            query,
        )

    def _run(self, text: str, options: dict[str, Any]) -> list[dict[str, Any]] | ProviderError:
        # Errors are returned, not raised: nobody may be waiting any more, and then asyncio would log a traceback.
        try:
            return self._call(text, **options)
        except RatelimitException:
            return ProviderError("RATE_LIMITED", "the engines refuse more calls for now")
        except TimeoutException:
            return ProviderError("TIMEOUT", "the engines did not answer in time")
        except DDGSException as error:
            if "No results" in str(error):
                return []
            return ProviderError("FAILED", "no engine gave results that could be read")
        except Exception as error:  # noqa: BLE001  # whatever the package or an engine's page did, the next provider is asked
            return ProviderError("FAILED", f"the package failed ({type(error).__name__})")
        finally:
            self._busy.release()

    async def close(self) -> None:
        """Take no more calls; those under way end by their own time-out."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _text(seconds: float) -> Call:
    def call(text: str, **options: Any) -> list[dict[str, Any]]:
        return DDGS(timeout=max(1, math.ceil(seconds))).text(text, **options)

    return call
