"""The digest of new filings: a webhook gets one POST of JSON for each look that found some, a mailbox one mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import httpx2
import stamina
from quelea_kit.logging import get_logger

from quelea_search.filings.adapters.mail import Mail, list_filings
from quelea_search.filings.settings import FilingSettings

log = get_logger(__name__)
_SECONDS = 10.0
_TRIES = 3
_SERVER_FAULT = 500


class Digest(Protocol):
    """Who is told of new filings."""

    async def tell(self, filings: Sequence[Mapping[str, str]]) -> bool:
        """Tell of new filings; False when there is nobody to tell, or it could not be told, which the log says."""
        ...


class Everyone:
    """Several that are told, one after the other; what one of them does with it is nothing to the others."""

    def __init__(self, *digests: Digest) -> None:
        self._digests = digests

    async def tell(self, filings: Sequence[Mapping[str, str]]) -> bool:
        """True when somebody was told."""
        return any([await one.tell(filings) for one in self._digests])


def make_digest(settings: FilingSettings) -> Digest:
    """Webhook and mail, as far as they are set."""
    return Everyone(Webhook(settings.filings_webhook.get_secret_value()), Mail(settings))


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
        body = {"text": "New filings:\n" + "\n".join(list_filings(filings)), "filings": [dict(one) for one in filings]}
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
