"""MarketDoorService: the wire to the door's sessions, log, bundles and hosts."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import grpc
from quelea.market.v1 import market_pb2 as pb
from quelea.market.v1 import market_pb2_grpc
from quelea_kit.errors import InvalidInput, NotFound, Overloaded, TooLarge
from quelea_kit.text_fields import check_day

from quelea_search.door.adapters.store import Store
from quelea_search.door.adapters.upstream import HostState
from quelea_search.door.core.budget import CallSlots
from quelea_search.door.core.bundle import Bundle, BundleLimits, write_bundle
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.hosts import HostTable
from quelea_search.door.core.model import Call
from quelea_search.door.core.sessions import Session, Sessions
from quelea_search.door.settings import DoorSettings

SERVICE = "quelea.market.v1.MarketDoorService"
Context = grpc.aio.ServicerContext[Any, Any]
_CHUNK = 256 * 1024
_DEFAULT_LIST, _MAX_LIST = 1000, 10_000
_MOST_BUNDLES = 20
_LONGEST_ID = 200
_TRANSFERS = 4
"""Imports and exports at once; each may hold a bundle on the disk."""


class MarketDoorService(market_pb2_grpc.MarketDoorServiceServicer):
    """The rpcs; what blocks runs in threads."""

    def __init__(
        self, settings: DoorSettings, store: Store, sessions: Sessions, hosts: HostTable, states: dict[str, HostState]
    ) -> None:
        self._settings = settings
        self._store = store
        self._sessions = sessions
        self._hosts = hosts
        self._states = states
        self._transfers = 0

    def register(self, server: grpc.aio.Server) -> None:
        """Add the service to a server."""
        market_pb2_grpc.add_MarketDoorServiceServicer_to_server(self, server)

    async def OpenSession(self, request: pb.OpenSessionRequest, context: Context) -> pb.OpenSessionResponse:  # noqa: N802  # gRPC name
        """A token for one run."""
        settings = self._settings
        if not request.run_id or len(request.run_id) > _LONGEST_ID or len(request.tenant) > _LONGEST_ID:
            raise InvalidInput(f"run_id is required; run_id and tenant may have at most {_LONGEST_ID} characters.")
        if request.mode not in (pb.MODE_LIVE, pb.MODE_REPLAY):
            raise InvalidInput("mode must be MODE_LIVE or MODE_REPLAY.")
        replay = request.mode == pb.MODE_REPLAY
        seconds = request.seconds or settings.session_seconds
        if not 0 < seconds <= settings.longest_session_seconds:  # also NaN
            raise InvalidInput(f"seconds must be above 0 and at most {settings.longest_session_seconds:g}.")
        await self._check_bundles(replay, request.bundle_ids)
        session = Session(
            id=secrets.token_hex(16),
            run_id=request.run_id,
            tenant=request.tenant,
            replay=replay,
            as_of=_as_of(request.as_of),
            bundle_ids=tuple(request.bundle_ids),
            max_calls=request.max_calls or settings.session_calls,
            max_bytes=request.max_bytes or settings.session_bytes,
            until=time.monotonic() + seconds,
            jar=CookieJar(self._hosts.covers),
            slots=CallSlots(settings.session_concurrent, settings.session_concurrent, "of this run"),
        )
        notes = [await asyncio.to_thread(self._store.note_of, one) for one in session.bundle_ids]
        return pb.OpenSessionResponse(
            session_id=session.id, token=self._sessions.add(session), notes=dict.fromkeys(filter(None, notes))
        )

    async def _check_bundles(self, replay: bool, bundle_ids: Any) -> None:
        if replay != bool(bundle_ids):
            raise InvalidInput("MODE_REPLAY requires bundle_ids; other modes do not accept them.")
        if len(bundle_ids) > _MOST_BUNDLES:
            raise InvalidInput(f"bundle_ids may have at most {_MOST_BUNDLES} items.")
        known = {bundle.id for bundle in await asyncio.to_thread(self._store.bundles)}
        for bundle_id in bundle_ids:
            if bundle_id not in known:
                raise NotFound(f"There is no bundle {bundle_id[:64]!r} here; import it first.")

    async def CloseSession(self, request: pb.CloseSessionRequest, context: Context) -> pb.CloseSessionResponse:  # noqa: N802  # gRPC name
        """The token is worth nothing from here on."""
        self._sessions.close(request.session_id)
        return pb.CloseSessionResponse()

    async def ListCalls(self, request: pb.ListCallsRequest, context: Context) -> pb.ListCallsResponse:  # noqa: N802  # gRPC name
        """The attribution log of a run or a session."""
        if not request.run_id and not request.session_id:
            raise InvalidInput("run_id or session_id is required.")
        if request.limit > _MAX_LIST:
            raise InvalidInput(f"limit must be at most {_MAX_LIST}.")
        limit = request.limit or _DEFAULT_LIST
        calls = await asyncio.to_thread(self._store.calls, request.run_id, request.session_id, limit)
        return pb.ListCallsResponse(calls=[_call(call) for call in calls])

    async def GetBody(self, request: pb.GetBodyRequest, context: Context) -> AsyncIterator[pb.GetBodyResponse]:  # noqa: N802  # gRPC name
        """The bytes of a call."""
        data = await asyncio.to_thread(self._store.body, request.sha256)
        for start in range(0, len(data), _CHUNK) or (0,):
            yield pb.GetBodyResponse(chunk=data[start : start + _CHUNK])

    async def ExportBundle(  # noqa: N802  # gRPC name
        self, request: pb.ExportBundleRequest, context: Context
    ) -> AsyncIterator[pb.ExportBundleResponse]:
        """A run as one file."""
        with self._transfer(), tempfile.TemporaryFile() as file:
            calls = await asyncio.to_thread(self._store.run, request.run_id)
            if sum({call.sha256: call.bytes for call in calls}.values()) > self._settings.bundle_bytes:
                raise TooLarge(f"The run has more than {self._settings.bundle_bytes:,} bytes, the limit of a bundle.")
            await asyncio.to_thread(write_bundle, file, request.run_id, calls, self._store.body)
            file.seek(0)
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield pb.ExportBundleResponse(chunk=chunk)

    async def ImportBundle(  # noqa: N802  # gRPC name
        self, request_iterator: AsyncIterator[pb.ImportBundleRequest], context: Context
    ) -> pb.ImportBundleResponse:
        """Take a bundle in, checked."""
        limit = self._settings.bundle_bytes
        with self._transfer(), tempfile.NamedTemporaryFile() as file:
            size = 0
            async for message in request_iterator:
                size += len(message.chunk)
                if size > limit:
                    raise TooLarge(f"The bundle is larger than {limit:,} bytes.")
                await asyncio.to_thread(file.write, message.chunk)
            file.flush()
            if len(await asyncio.to_thread(self._store.bundles)) >= self._settings.max_bundles:
                raise Overloaded(
                    f"{self._settings.max_bundles} bundles are already stored (QUELEA_MARKET_MAX_BUNDLES)."
                )
            bundle = await asyncio.to_thread(self._store.import_bundle, Path(file.name), self._limits())
        return pb.ImportBundleResponse(bundle_id=bundle.id, calls=bundle.calls)

    def _limits(self) -> BundleLimits:
        settings = self._settings
        return BundleLimits(
            calls=settings.bundle_calls, body_bytes=settings.body_bytes, total_bytes=settings.bundle_bytes
        )

    @contextlib.contextmanager
    def _transfer(self) -> Any:
        if self._transfers >= _TRANSFERS:
            raise Overloaded(
                f"{_TRANSFERS} bundles are already being transferred; try again in a moment.", retry_after=2.0
            )
        self._transfers += 1
        try:
            yield
        finally:
            self._transfers -= 1

    async def ListBundles(self, request: pb.ListBundlesRequest, context: Context) -> pb.ListBundlesResponse:  # noqa: N802  # gRPC name
        """All bundles that can be replayed."""
        bundles = await asyncio.to_thread(self._store.bundles)
        return pb.ListBundlesResponse(bundles=[_bundle(bundle) for bundle in bundles])

    async def ListHosts(self, request: pb.ListHostsRequest, context: Context) -> pb.ListHostsResponse:  # noqa: N802  # gRPC name
        """The allow-list, and how its hosts have fared since this process began."""
        return pb.ListHostsResponse(
            hosts=[
                pb.Host(
                    pattern=pattern,
                    calls=state.calls,
                    failures=state.failures,
                    last_ok=_time(state.last_ok),
                    last_error=_time(state.last_error),
                    last_reason=state.last_reason,
                    per_minute=state.rule.per_minute,
                    left=state.bucket.left,
                )
                for pattern, state in sorted(self._states.items())
            ]
        )


def _as_of(text: str) -> date | None:
    day = check_day(text, "as_of")
    if day and day > datetime.now(UTC).date():
        raise InvalidInput(f"as_of must not be in the future (UTC), got {day}.")
    return day


def _time(seconds: float) -> str:
    """RFC 3339; empty: never."""
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _call(call: Call) -> pb.Call:
    return pb.Call(
        id=call.id,
        session_id=call.session_id,
        run_id=call.run_id,
        method=call.method,
        url=call.url,
        asked=_time(call.asked),
        fetched=_time(call.fetched),
        status=call.status,
        media_type=call.media_type,
        sha256=call.sha256,
        bytes=call.bytes,
        source=call.source.value,
        reason=call.reason,
        milliseconds=call.milliseconds,
    )


def _bundle(bundle: Bundle) -> pb.Bundle:
    facts = pb.Bundle(id=bundle.id, run_id=bundle.run_id, calls=bundle.calls, bytes=bundle.bytes, to=_time(bundle.last))
    setattr(facts, "from", _time(bundle.first))  # a word of Python
    return facts
