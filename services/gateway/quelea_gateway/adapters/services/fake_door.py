"""A market-data door in memory, with a few answers of its own."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from quelea.market.v1 import market_pb2, market_pb2_grpc
from quelea_kit.errors import NotFound, QueleaError

from quelea_gateway.core.agent.ports import DoorCall, DoorSession

FETCHED = "2026-11-20T08:00:00Z"


class FakeMarket:
    """Sessions, and what each of them fetched.

    Args:
        answers: Address to body.
    """

    def __init__(self, answers: dict[str, str] | None = None) -> None:
        self.answers = answers or {}
        self.opened: list[dict[str, Any]] = []
        self.closed: list[str] = []
        self.log: dict[str, list[DoorCall]] = {}
        self.bodies: dict[str, bytes] = {}
        self.bundles: dict[str, bytes] = {}
        self.notes: tuple[str, ...] = ()
        """What it says of replayed data."""
        self.error: QueleaError | None = None
        self._runs: dict[str, str] = {}

    def fetch(self, url: str, token: str) -> str:
        """What code with a session's token gets; empty when it is refused."""
        session = token.removeprefix("secret-of-")
        if session not in self.log:
            return ""
        body = self.answers.get(url)
        data = (body or "").encode()
        digest = hashlib.sha256(data).hexdigest() if body is not None else ""
        self.bodies[digest] = data
        self.log[session].append(
            DoorCall(
                id=f"call-{len(self.log[session]) + 1}", method="GET", url=url, asked=FETCHED, fetched=FETCHED,
                status=200 if body is not None else 403, media_type="application/json", sha256=digest,
                bytes=len(data), source="upstream" if body is not None else "refused",
                reason="" if body is not None else "host",
            )
        )  # fmt: skip
        return body or ""

    async def open(
        self, *, run_id: str, tenant: str, as_of: str, bundle_ids: Sequence[str], max_calls: int, seconds: float
    ) -> DoorSession:
        """A session."""
        if self.error:
            raise self.error
        if "missing" in bundle_ids:
            raise NotFound("There is no bundle 'missing'.")
        name = f"door-{len(self.opened) + 1}"
        self.opened.append({"run_id": run_id, "as_of": as_of, "bundle_ids": tuple(bundle_ids), "max_calls": max_calls})
        self.log[name] = []
        self._runs[run_id] = name
        return DoorSession(name, f"secret-of-{name}", self.notes if bundle_ids else ())

    async def calls(self, *, run_id: str, session_id: str) -> Sequence[DoorCall]:
        """Its log."""
        return list(self.log.get(session_id, ()))

    async def body(self, sha256: str, *, limit: int) -> bytes:
        """What a call brought."""
        return self.bodies[sha256][:limit]

    async def close_session(self, session_id: str) -> None:
        """End it."""
        self.closed.append(session_id)

    async def bundle(self, run_id: str) -> AsyncIterator[bytes]:
        """Something that stands for a bundle."""
        if run_id not in self._runs:
            raise NotFound(f"The log has no answered call of run {run_id[:80]!r}; it made none, or has expired.")
        for call in self.log[self._runs[run_id]]:
            yield f"{call.url}\n".encode()


class FakeMarketServicer(market_pb2_grpc.MarketDoorServiceServicer):
    """The same over gRPC."""

    def __init__(self, market: FakeMarket) -> None:
        self._market = market

    async def OpenSession(  # noqa: N802  # the wire's name
        self, request: market_pb2.OpenSessionRequest, context: Any
    ) -> market_pb2.OpenSessionResponse:
        """A session."""
        opened = await self._market.open(
            run_id=request.run_id, tenant=request.tenant, as_of=request.as_of, bundle_ids=list(request.bundle_ids),
            max_calls=request.max_calls, seconds=request.seconds,
        )  # fmt: skip
        return market_pb2.OpenSessionResponse(session_id=opened.id, token=opened.token, notes=opened.notes)

    async def CloseSession(  # noqa: N802  # the wire's name
        self, request: market_pb2.CloseSessionRequest, context: Any
    ) -> market_pb2.CloseSessionResponse:
        """End it."""
        await self._market.close_session(request.session_id)
        return market_pb2.CloseSessionResponse()

    async def ListCalls(  # noqa: N802  # the wire's name
        self, request: market_pb2.ListCallsRequest, context: Any
    ) -> market_pb2.ListCallsResponse:
        """Its log."""
        calls = await self._market.calls(run_id=request.run_id, session_id=request.session_id)
        names = [field.name for field in market_pb2.Call.DESCRIPTOR.fields]
        wire = [market_pb2.Call(**{name: getattr(one, name) for name in names if hasattr(one, name)}) for one in calls]
        return market_pb2.ListCallsResponse(calls=wire)

    async def GetBody(  # noqa: N802  # the wire's name
        self, request: market_pb2.GetBodyRequest, context: Any
    ) -> AsyncIterator[market_pb2.GetBodyResponse]:
        """What a call brought."""
        yield market_pb2.GetBodyResponse(chunk=await self._market.body(request.sha256, limit=1 << 20))

    async def ExportBundle(  # noqa: N802  # the wire's name
        self, request: market_pb2.ExportBundleRequest, context: Any
    ) -> AsyncIterator[market_pb2.ExportBundleResponse]:
        """A bundle."""
        async for chunk in self._market.bundle(request.run_id):
            yield market_pb2.ExportBundleResponse(chunk=chunk)

    async def ImportBundle(  # noqa: N802  # the wire's name
        self, request_iterator: AsyncIterator[market_pb2.ImportBundleRequest], context: Any
    ) -> market_pb2.ImportBundleResponse:
        """Keep it; its calls are its lines."""
        data = b"".join([request.chunk async for request in request_iterator])
        bundle_id = f"bundle-{hashlib.sha256(data).hexdigest()[:12]}"
        self._market.bundles[bundle_id] = data
        return market_pb2.ImportBundleResponse(bundle_id=bundle_id, calls=data.count(b"\n"))

    async def ListBundles(  # noqa: N802  # the wire's name
        self, request: market_pb2.ListBundlesRequest, context: Any
    ) -> market_pb2.ListBundlesResponse:
        """Those that were imported."""
        found = [
            market_pb2.Bundle(id=name, run_id="samples", calls=data.count(b"\n"), bytes=len(data))
            for name, data in self._market.bundles.items()
        ]
        return market_pb2.ListBundlesResponse(bundles=found)
