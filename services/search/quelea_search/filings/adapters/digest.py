"""Tells a webhook of new filings: one POST of JSON for each look that found some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import httpx2
import stamina
from quelea_kit.logging import get_logger

log = get_logger(__name__)
_SECONDS = 10.0
_TRIES = 3
_SERVER_FAULT = 500


class Webhook:
    """A webhook that the operator named.

    Args:
        url: May hold a secret, so it is in no log; empty: nobody is told.
        transport: For tests.
    """

    def __init__(self, url: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._url = url
        self._transport = transport

    async def tell(self, filings: Sequence[Mapping[str, str]]) -> bool:
        """Send the new filings; False when there is nobody to tell, or it could not be told, which the log says."""
        if not self._url or not filings:
            return False
        lines = [f"{one['company']} {one['form']}, filed {one['filed']}: {one['url']}" for one in filings]
        body = {"text": "New filings:\n" + "\n".join(lines), "filings": [dict(one) for one in filings]}
        try:
            async with httpx2.AsyncClient(timeout=_SECONDS, transport=self._transport) as client:
                async for attempt in stamina.retry_context(
                    on=_is_passing, attempts=_TRIES, timeout=_TRIES * _SECONDS, wait_initial=0.5, wait_max=5.0
                ):
                    with attempt:
                        (await client.post(self._url, json=body)).raise_for_status()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            log.warning("digest_not_sent", why=type(error).__name__, filings=len(filings))
            return False
        log.info("digest_sent", filings=len(filings))
        return True


def _is_passing(error: Exception) -> bool:
    if isinstance(error, httpx2.HTTPStatusError):
        return error.response.status_code >= _SERVER_FAULT
    return isinstance(error, httpx2.TransportError)
