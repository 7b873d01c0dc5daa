"""The market-data door's control side."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Sequence

import grpc
from quelea.market.v1 import market_pb2, market_pb2_grpc
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import NotFound

from quelea_gateway.adapters.services.downstream import Health, naming
from quelea_gateway.core.agent.ports import DoorCall, DoorSession

SERVICE = "quelea.market.v1.MarketDoorService"
_NAME = "market-data door"
_MOST_CALLS = 2000
_PIECE = 1 << 20


class DoorClient:
    """Client of the door.

    Args:
        target: gRPC address.
        call_seconds: Deadline of a call.
        bundle_seconds: Deadline of a bundle.
    """

    def __init__(self, target: str, *, call_seconds: float = 10.0, bundle_seconds: float = 60.0) -> None:
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=["ListCalls", "ListBundles", "ListHosts"])
        self._stub = market_pb2_grpc.MarketDoorServiceStub(self._channel)
        self._seconds = call_seconds
        self._bundle_seconds = bundle_seconds
        self.health = Health(self._channel, SERVICE, _NAME)

    async def open(
        self, *, run_id: str, tenant: str, as_of: str, bundle_ids: Sequence[str], max_calls: int, seconds: float
    ) -> DoorSession:
        """A session: live, or a replay when bundles are given."""
        request = market_pb2.OpenSessionRequest(
            run_id=run_id,
            tenant=tenant,
            mode=market_pb2.MODE_REPLAY if bundle_ids else market_pb2.MODE_LIVE,
            as_of=as_of,
            bundle_ids=bundle_ids,
            max_calls=max_calls,
            seconds=seconds,
        )
        with naming(_NAME):
            reply = await unary(self._stub.OpenSession(request, timeout=self._seconds))
        return DoorSession(reply.session_id, reply.token, tuple(reply.notes))

    async def calls(self, *, run_id: str, session_id: str) -> Sequence[DoorCall]:
        """Every call of the session, in order."""
        request = market_pb2.ListCallsRequest(run_id=run_id, session_id=session_id, limit=_MOST_CALLS)
        with naming(_NAME):
            reply = await unary(self._stub.ListCalls(request, timeout=self._seconds))
        return [
            DoorCall(
                id=one.id,
                method=one.method,
                url=one.url,
                asked=one.asked,
                fetched=one.fetched,
                status=one.status,
                media_type=one.media_type,
                sha256=one.sha256,
                bytes=one.bytes,
                source=one.source,
                reason=one.reason,
            )
            for one in reply.calls
        ]

    async def body(self, sha256: str, *, limit: int) -> bytes:
        """The first bytes that a call brought."""
        found = bytearray()
        call = self._stub.GetBody(market_pb2.GetBodyRequest(sha256=sha256), timeout=self._seconds)
        with naming(_NAME):
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    found += reply.chunk
                    if len(found) >= limit:
                        break
        return bytes(found[:limit])

    async def close_session(self, session_id: str) -> None:
        """The token is worth nothing from here on."""
        request = market_pb2.CloseSessionRequest(session_id=session_id)
        with contextlib.suppress(NotFound), naming(_NAME):
            await unary(self._stub.CloseSession(request, timeout=self._seconds))

    async def bundle(self, run_id: str) -> AsyncIterator[bytes]:
        """All calls of a run with their bodies."""
        call = self._stub.ExportBundle(market_pb2.ExportBundleRequest(run_id=run_id), timeout=self._bundle_seconds)
        with naming(_NAME):
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    yield reply.chunk

    async def import_bundle(self, pieces: AsyncIterable[bytes]) -> tuple[str, int]:
        """Its id, and how many calls it has. Raises QueleaError: InvalidInput where it is damaged."""

        async def requests() -> AsyncIterator[market_pb2.ImportBundleRequest]:
            async for piece in pieces:
                for start in range(0, len(piece), _PIECE):
                    yield market_pb2.ImportBundleRequest(chunk=piece[start : start + _PIECE])

        with naming(_NAME):
            reply = await unary(self._stub.ImportBundle(requests(), timeout=self._bundle_seconds))
        return reply.bundle_id, reply.calls

    async def bundles(self) -> Sequence[market_pb2.Bundle]:
        """Every bundle that can be replayed."""
        with naming(_NAME):
            reply = await unary(self._stub.ListBundles(market_pb2.ListBundlesRequest(), timeout=self._seconds))
        return reply.bundles

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
