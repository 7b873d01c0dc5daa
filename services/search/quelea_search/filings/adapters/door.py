"""The way to the sources: a session of the market-data door, and HTTP calls over its data side."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Protocol
from urllib.parse import urlencode, urlsplit

import grpc
import httpx2
from quelea.market.v1 import market_pb2 as pb
from quelea.market.v1 import market_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, NotFound, Overloaded, QueleaError, TooLarge, Unavailable

from quelea_search.filings.core.model import Call

SERVICE = "quelea.market.v1.MarketDoorService"
_CALL_SECONDS = 60.0
"""Of one call: the door's own deadline and more."""
_RPC_SECONDS = 10.0
_TRIES = 4
_LONGEST_PAUSE = 15.0
_BUSY = frozenset({"BUDGET", "BUSY", "RESTING", "FULL", "CALLS", "BYTES"})
_SETTING = frozenset({"HOST", "ADDRESS", "METHOD", "PROTOCOL", "BAD_URL", "TOKEN"})
_WAITED_OUT = frozenset({"BUDGET", "BUSY"})
_BEHIND = {"behind": "market-data door"}
"""It is not the search service that does not answer: the gateway passes these words on."""
_MISSING, _FORBIDDEN = 404, 403
_FORM = "application/x-www-form-urlencoded"


class Refused(Conflict):
    """The door does not let a call through."""

    reason = "DOOR_REFUSED"


class NotRecorded(NotFound):
    """A replay has no such call."""

    reason = "NOT_RECORDED"


class Session(Protocol):
    """What may call sources; the door's, or a fake."""

    async def get(self, call: Call) -> bytes:
        """The body of a call's answer.

        Raises:
            Refused: Not on the door's allow-list, or the source wants another contact.
            NotRecorded: A replay has no such call.
            NotFound: The source has no such page.
            TooLarge: More than the door lets through.
            Overloaded: A budget is used up.
            Unavailable: The source does not answer.
        """
        ...


class Door:
    """Opens sessions.

    Args:
        target: gRPC address of the door.
        data: Its data side: a path of a UNIX socket, or http://host:port.
        user_agent: Sent to sources; the SEC wants a name and a mail address in it.
    """

    def __init__(self, target: str, data: str, user_agent: str) -> None:
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=["ListBundles"])
        self._stub = market_pb2_grpc.MarketDoorServiceStub(self._channel)
        socket = None if "://" in data else data
        self._http = httpx2.AsyncClient(
            transport=httpx2.AsyncHTTPTransport(uds=socket),
            base_url="http://door" if socket else data,
            timeout=httpx2.Timeout(_CALL_SECONDS, connect=5.0),
            trust_env=False,
        )
        self._user_agent = user_agent

    @contextlib.asynccontextmanager
    async def session(
        self, run_id: str, bundle_ids: Sequence[str], *, seconds: float, calls: int
    ) -> AsyncIterator[Session]:
        """A session, closed at the end: live, or a replay when bundles are given.

        Raises:
            NotFound: There is no such bundle.
            Unavailable: The door does not answer.
            Overloaded: It has too many sessions.
        """
        request = pb.OpenSessionRequest(
            run_id=run_id,
            mode=pb.MODE_REPLAY if bundle_ids else pb.MODE_LIVE,
            bundle_ids=bundle_ids,
            max_calls=calls,
            seconds=seconds,
        )
        with _naming_the_door():
            opened = await unary(self._stub.OpenSession(request, timeout=_RPC_SECONDS))
        try:
            yield _Session(self._http, opened.token, self._user_agent)
        finally:
            with contextlib.suppress(QueleaError):  # it ends by itself when its seconds are over
                asked = pb.CloseSessionRequest(session_id=opened.session_id)
                await unary(self._stub.CloseSession(asked, timeout=_RPC_SECONDS))

    async def recorded_day(self, bundle_ids: Sequence[str]) -> date:
        """The day (UTC) of the last call of some bundles: "today" of a replay. Raises NotFound, Unavailable."""
        with _naming_the_door():
            found = (await unary(self._stub.ListBundles(pb.ListBundlesRequest(), timeout=_RPC_SECONDS))).bundles
        days = {one.id: one.to for one in found}
        for bundle_id in bundle_ids:
            if bundle_id not in days:
                raise NotFound(f"There is no recording {bundle_id[:64]!r} here; `quelea market import FILE` adds it.")
        last = max((days[bundle_id] for bundle_id in bundle_ids), default="")
        return datetime.fromisoformat(last).astimezone(UTC).date() if last else datetime.now(UTC).date()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
        await self._channel.close()


@contextlib.contextmanager
def _naming_the_door() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            f"The market-data door does not answer ({error.message})", details=_BEHIND, retry_after=5.0
        ) from error


class _Session:
    def __init__(self, http: httpx2.AsyncClient, token: str, user_agent: str) -> None:
        self._http = http
        self._token = token
        self._user_agent = user_agent

    async def get(self, call: Call) -> bytes:
        for attempt in range(1, _TRIES + 1):
            answer = await self._ask(call)
            refusal = answer.headers.get("x-quelea-refused", "")
            if refusal not in _WAITED_OUT or attempt == _TRIES:
                break
            await asyncio.sleep(min(_seconds(answer) or 1.0, _LONGEST_PAUSE))
        if refusal:
            raise _refused(refusal, answer)
        if answer.is_error:
            raise _failed(call, answer.status_code)
        return answer.content

    async def _ask(self, call: Call) -> httpx2.Response:
        parts = urlsplit(call.url)
        headers = {
            "x-quelea-token": self._token,
            "x-quelea-upstream": f"{parts.scheme}://{parts.netloc}",
            "user-agent": self._user_agent,
            "accept": "*/*",
        }
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        body = urlencode(call.form).encode() if call.form else None
        if body is not None:
            headers["content-type"] = _FORM
        try:
            return await self._http.request("GET" if body is None else "POST", target, headers=headers, content=body)
        except httpx2.HTTPError as error:
            raise Unavailable(
                f"The market-data door's data side does not answer ({type(error).__name__}); see that it runs.",
                details=_BEHIND,
                retry_after=5.0,
            ) from error


def _seconds(answer: httpx2.Response) -> float:
    try:
        return float(answer.headers.get("retry-after", ""))
    except ValueError:
        return 0.0


def _refused(refusal: str, answer: httpx2.Response) -> QueleaError:
    try:
        said = str(json.loads(answer.content)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        said = "It gave no reason."
    message = f"The market-data door refused a call ({refusal}): {said}"
    if refusal in ("NOT_RECORDED", "PINNED"):
        return NotRecorded(message)
    if refusal == "TOO_LARGE":
        return TooLarge(message)
    if refusal in _BUSY:
        return Overloaded(message, retry_after=_seconds(answer) or 10.0)
    return Refused(message) if refusal in _SETTING else Unavailable(message, details=_BEHIND, retry_after=10.0)


def _failed(call: Call, status: int) -> QueleaError:
    host = urlsplit(call.url).netloc
    details = {"status": str(status), "url": call.url}
    if status == _MISSING:
        return NotFound(f"{host} has no {urlsplit(call.url).path} (status 404).", details=details)
    if status == _FORBIDDEN:
        return Refused(
            f"{host} refused the call (status 403). The SEC does so without a contact, and for ten minutes after too "
            "many calls: see QUELEA_SEARCH_FILINGS_CONTACT, and try again later.",
            details=details,
        )
    return Unavailable(
        f"{host} answered with status {status}; try again later.", details={**details, **_BEHIND}, retry_after=30.0
    )
