"""Snapshots of collections on each node of a Qdrant server or cluster, as streams over its REST API.

The client library reads a whole snapshot into memory; and it knows one address, where a snapshot has only what the
asked node has.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import IO, Any, Protocol
from urllib.parse import quote, urlsplit

import httpx2
from quelea_kit.errors import Unavailable
from quelea_kit.tls import trusting

from quelea_retriever.settings import Settings

_SNAPSHOT_SECONDS = 3600.0
"""For making or taking one; it is as long as its collection is large."""
_CHUNK = 1 << 20


class Sink(Protocol):
    """What is written to while it is hashed."""

    size: int

    @property
    def sha256(self) -> str:
        """Of what was written."""
        ...

    def write(self, data: bytes) -> int:
        """Add bytes."""
        ...


@dataclass(frozen=True)
class Node:
    """A member of a cluster, or the server."""

    name: str
    url: str


class Snapshots:
    """What can be asked of the nodes.

    Args:
        settings: Address and key.
    """

    def __init__(self, settings: Settings) -> None:
        self._url = settings.qdrant_url.rstrip("/")
        headers = {"api-key": settings.qdrant_api_key} if settings.qdrant_api_key else {}
        timeout = httpx2.Timeout(settings.qdrant_timeout_seconds, read=_SNAPSHOT_SECONDS, write=_SNAPSHOT_SECONDS)
        # A proxy of the environment is for the world, and Qdrant is not in it.
        verify = trusting(settings.qdrant_ca)
        self._client = httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False, verify=verify)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def nodes(self, given: tuple[str, ...] = ()) -> list[Node]:
        """Every node, in an order that stays.

        A node tells its address among its peers; the port and scheme are those of the settings' address.

        Args:
            given: Addresses to take instead, where they are not what peers call each other.
        """
        if given:
            return [Node(str(number), url.rstrip("/")) for number, url in enumerate(given)]
        told = (await self._json("GET", f"{self._url}/cluster"))["result"]
        if told.get("status") != "enabled":
            return [Node("0", self._url)]
        own = urlsplit(self._url)
        port = f":{own.port}" if own.port else ""
        hosts = sorted((urlsplit(str(peer["uri"])).hostname or "", name) for name, peer in told["peers"].items())
        return [Node(name, f"{own.scheme}://{f'[{host}]' if ':' in host else host}{port}") for host, name in hosts]

    async def fetch(self, node: Node, collection: str, out: Sink) -> None:
        """Have a node make a snapshot of its part of a collection, and write it to `out`; the node keeps none.

        Raises:
            Unavailable: The node does not answer, or what came is not what it said it would be.
        """
        path = f"{node.url}/collections/{quote(collection, safe='')}/snapshots"
        made = (await self._json("POST", path, params={"wait": "true"}))["result"]
        one = f"{path}/{quote(str(made['name']), safe='')}"
        try:
            with self._failures(node):
                async with self._client.stream("GET", one) as answer:
                    answer.raise_for_status()
                    async for chunk in answer.aiter_bytes(_CHUNK):
                        await asyncio.to_thread(out.write, chunk)
        finally:
            with contextlib.suppress(Unavailable):
                await self._json("DELETE", one)
        if out.size != int(made["size"]) or made.get("checksum") not in (None, out.sha256):
            raise Unavailable(
                f"{node.url} sent a snapshot of {collection} that differs from the one it created; try again."
            )

    async def put(self, node: Node, collection: str, read: Callable[[], IO[bytes]], sha256: str) -> None:
        """Have a node restore a collection from a snapshot; it is made when it is not there."""
        path = f"{node.url}/collections/{quote(collection, safe='')}/snapshots/upload"
        params = {"wait": "true", "priority": "snapshot", "checksum": sha256}
        boundary = sha256[:40]

        async def body() -> AsyncIterator[bytes]:
            head = 'Content-Disposition: form-data; name="snapshot"; filename="quelea.snapshot"'
            yield f"--{boundary}\r\n{head}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()
            file = read()
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk
            yield f"\r\n--{boundary}--\r\n".encode()

        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        await self._json("POST", path, params=params, headers=headers, content=body())

    async def _json(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        with self._failures(url):
            answer = await self._client.request(method, url, **more)
            if answer.is_error:
                raise Unavailable(f"{method} {url}: {answer.status_code} {answer.text[:500]}")
            return dict(answer.json())

    @contextlib.contextmanager
    def _failures(self, where: object) -> Any:
        try:
            yield
        except (httpx2.HTTPError, OSError, ValueError) as error:
            raise Unavailable(f"Unexpected answer from Qdrant at {where}: {error!r}") from error
