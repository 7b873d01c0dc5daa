"""A FAKE Qdrant server on loopback: the client's own local mode behind the REST paths that Quelea calls. No real server
can be had where the tests run. What it really does: aliases, points, filters and scores (qdrant-client's local mode,
strict models of the requests), snapshots as bytes that hold a node's points. What it does not: consensus, replication,
a real snapshot's format, anything about time.

With several nodes each point belongs to one of them, as to a shard; any node answers for all, a snapshot holds its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python
from qdrant_client import AsyncQdrantClient, models
from quelea_kit.testing import free_port, wait_until_async
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@dataclass
class FakeQdrant:
    """The cluster: what its nodes share."""

    client: AsyncQdrantClient
    hosts: list[str]
    port: int
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    """How each collection was made."""
    snapshots: dict[tuple[int, str, str], bytes] = field(default_factory=dict)
    """(node, collection, name) -> bytes."""
    calls: list[str] = field(default_factory=list)
    key: str = ""

    @property
    def url(self) -> str:
        """The first node's address."""
        return f"http://{self.hosts[0]}:{self.port}"

    def node_of(self, point_id: str) -> int:
        """The node that has a point."""
        return zlib.crc32(str(point_id).encode()) % len(self.hosts)


async def _body(request: Request, kind: Any) -> Any:
    return TypeAdapter(kind).validate_python(json.loads(await request.body() or b"{}"))


def _said(result: Any, status: int = 200) -> JSONResponse:
    return JSONResponse({"result": to_jsonable_python(result), "status": "ok", "time": 0.0}, status)


class _Node:
    def __init__(self, fake: FakeQdrant, number: int) -> None:
        self.fake, self.number = fake, number

    async def answer(self, request: Request) -> Response:
        fake, path = self.fake, request.url.path
        fake.calls.append(f"{request.method} {self.number} {path}")
        if fake.key and request.headers.get("api-key") != fake.key:
            return JSONResponse({"status": {"error": "Must provide an API key"}}, 401)
        parts = path.strip("/").split("/")
        try:
            if parts[0] == "collections" and len(parts) > 1 and parts[1] != "aliases":
                return await self._collection(request, parts[1], "/".join(parts[2:]))
            match request.method, path:
                case "GET", "/aliases":
                    return _said(await fake.client.get_aliases())
                case "POST", "/collections/aliases":
                    asked = await _body(request, models.ChangeAliasesOperation)
                    return _said(await fake.client.update_collection_aliases(asked.actions))
                case "GET", "/collections":
                    return _said(await fake.client.get_collections())
                case "GET", "/cluster":
                    if len(fake.hosts) == 1:
                        return _said({"status": "disabled"})
                    peers = {str(n): {"uri": f"http://{host}:6335/"} for n, host in enumerate(fake.hosts)}
                    return _said({"status": "enabled", "peer_id": 0, "peers": peers})
            return JSONResponse({"status": {"error": f"the fake has no {request.method} {path}"}}, 501)
        except ValidationError as error:
            return JSONResponse({"status": {"error": str(error)}}, 422)
        except (ValueError, KeyError) as error:
            code = 404 if "not found" in str(error) or "not exist" in str(error) else 400
            return JSONResponse({"status": {"error": str(error)}}, code)

    async def _collection(  # noqa: C901, PLR0912  # one case for each endpoint
        self, request: Request, name: str, rest: str
    ) -> Response:
        fake, client = self.fake, self.fake.client
        match request.method, rest:
            case "GET", "exists":
                return _said({"exists": await client.collection_exists(name)})
            case "GET", "":
                return _said(await client.get_collection(name))
            case "PUT", "":
                asked = await _body(request, models.CreateCollection)
                if await client.collection_exists(name):
                    return JSONResponse({"status": {"error": "already exists"}}, 409)
                fake.made[name] = {"vectors_config": asked.vectors, "sparse_vectors_config": asked.sparse_vectors}
                return _said(await client.create_collection(name, **fake.made[name]))
            case "DELETE", "":
                return _said(await client.delete_collection(name))
            case "PUT", "index":
                await _body(request, models.CreateFieldIndex)
                return _said({"operation_id": 0, "status": "completed"})
            case "PUT", "points":
                return _said(await client.upsert(name, (await _body(request, models.PointsList)).points))
            case "POST", "points":
                one = await _body(request, models.PointRequest)
                return _said(await client.retrieve(name, one.ids, one.with_payload, one.with_vector or False))
            case "POST", "points/delete":
                return _said(await client.delete(name, await _body(request, models.PointsSelector)))
            case "POST", "points/payload":
                change = await _body(request, models.SetPayload)
                return _said(await client.set_payload(name, change.payload, change.filter or change.points))
            case "POST", "points/scroll":
                scroll = await _body(request, models.ScrollRequest)
                points, offset = await client.scroll(name, scroll.filter, limit=scroll.limit, offset=scroll.offset)
                return _said({"points": points, "next_page_offset": offset})
            case "POST", "points/count":
                return _said(await client.count(name, (await _body(request, models.CountRequest)).filter))
            case "POST", "points/query":
                query = await _body(request, models.QueryRequest)
                return _said(
                    await client.query_points(
                        name,
                        query=query.query,
                        using=query.using,
                        query_filter=query.filter,
                        limit=query.limit,
                        with_payload=query.with_payload,
                    )
                )
            case "POST", "facet":
                facet = await _body(request, models.FacetRequest)
                return _said(await client.facet(name, facet.key, facet.filter, facet.limit or 10, exact=True))
        if rest.split("/", maxsplit=1)[0] == "snapshots":
            return await self._snapshots(request, name, rest.split("/")[1:])
        return JSONResponse({"status": {"error": f"the fake has no {request.method} {rest}"}}, 501)

    async def _snapshots(self, request: Request, name: str, rest: list[str]) -> Response:
        fake = self.fake
        match request.method, rest:
            case "POST", []:
                data = await self._pack(name)
                made = f"{name}-{self.number}-{len(fake.calls)}.snapshot"
                fake.snapshots[self.number, name, made] = data
                return _said({"name": made, "size": len(data), "checksum": hashlib.sha256(data).hexdigest()})
            case "GET", [snapshot]:
                return Response(fake.snapshots[self.number, name, snapshot], media_type="application/octet-stream")
            case "DELETE", [snapshot]:
                del fake.snapshots[self.number, name, snapshot]
                return _said(True)
            case "POST", ["upload"]:
                async with request.form() as form:
                    data = await form["snapshot"].read()  # type: ignore[union-attr]
                wanted = request.query_params.get("checksum")
                if wanted and hashlib.sha256(data).hexdigest() != wanted:
                    return JSONResponse({"status": {"error": "Snapshot checksum mismatch"}}, 400)
                if request.query_params.get("priority") != "snapshot":
                    return JSONResponse({"status": {"error": "the fake restores with priority=snapshot only"}}, 400)
                await self._unpack(name, data)
                return _said(True)
        return JSONResponse({"status": {"error": "the fake has no such call on snapshots"}}, 501)

    async def _pack(self, name: str) -> bytes:
        """What this node has of a collection."""
        fake, points, offset = self.fake, [], None
        while True:
            some, offset = await fake.client.scroll(name, limit=500, offset=offset, with_vectors=True)
            points += [point for point in some if fake.node_of(str(point.id)) == self.number]
            if offset is None:
                break
        return json.dumps({"made": to_jsonable_python(fake.made[name]), "points": to_jsonable_python(points)}).encode()

    async def _unpack(self, name: str, data: bytes) -> None:
        """Put it in the place of what this node has of the collection; other nodes' points stay."""
        fake, told = self.fake, json.loads(data)
        if not await fake.client.collection_exists(name):
            made = told["made"]
            vectors = TypeAdapter(models.VectorsConfig).validate_python(made["vectors_config"])
            words = TypeAdapter(dict[str, models.SparseVectorParams]).validate_python(made["sparse_vectors_config"])
            fake.made[name] = {"vectors_config": vectors, "sparse_vectors_config": words}
            await fake.client.create_collection(name, **fake.made[name])
        points, _ = await fake.client.scroll(name, limit=1_000_000, with_payload=False)
        mine = [point.id for point in points if fake.node_of(str(point.id)) == self.number]
        if mine:
            await fake.client.delete(name, models.PointIdsList(points=mine))
        fresh = [models.PointStruct(id=p["id"], vector=p["vector"], payload=p["payload"]) for p in told["points"]]
        if fresh:
            await fake.client.upsert(name, fresh)


@contextlib.asynccontextmanager
async def fake_qdrant(nodes: int = 1, *, key: str = "") -> AsyncIterator[FakeQdrant]:
    """Nodes on loopback, as long as the block lasts."""
    fake = FakeQdrant(
        AsyncQdrantClient(location=":memory:"), [f"127.0.0.{n + 1}" for n in range(nodes)], free_port(), key=key
    )
    methods = ["GET", "PUT", "POST", "DELETE"]
    servers = []
    for number, host in enumerate(fake.hosts):
        app = Starlette(routes=[Route("/{path:path}", _Node(fake, number).answer, methods=methods)])
        config = uvicorn.Config(app, host=host, port=fake.port, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # an older name of the same thing
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]  # pytest has them
        servers.append((server, asyncio.create_task(server.serve())))
    try:
        await wait_until_async(lambda: all(server.started for server, _ in servers))
        yield fake
    finally:
        for server, _ in servers:
            server.should_exit = True
        await asyncio.gather(*(task for _, task in servers))
        await fake.client.close()
