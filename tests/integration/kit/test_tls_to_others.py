"""What is no service of ours behind TLS of an own CA: Redis (with client certificates), Qdrant, an engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
import redis
from pydantic import SecretStr
from quelea_cli.stack.certificates import Authority
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_kit.errors import Conflict, Unavailable
from quelea_kit.processes.redis_server import redis_command
from quelea_kit.tls import trusting
from quelea_retriever.adapters.qdrant_points import make_client
from quelea_retriever.settings import Settings as RetrieverSettings
from quelea_search.adapters.job_events import connect_events
from quelea_search.adapters.redis_base import connect
from quelea_search.jobs.celery_app import make_app
from quelea_search.settings import SearchSettings

OURS = Authority("ours")
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


@contextlib.asynccontextmanager
async def listening(folder: Path, handler: Handler, *, mutual: bool) -> AsyncIterator[int]:
    """A TLS server on loopback; its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    if mutual:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "ca.crt")
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@contextlib.asynccontextmanager
async def redis_behind_tls(tmp_path: Path) -> AsyncIterator[int]:
    """A real Redis; the bundled one is built without TLS, so this process speaks it in its place."""
    socket, data = tmp_path / "r.sock", tmp_path / "data"
    data.mkdir()
    process = await asyncio.create_subprocess_exec(*redis_command(data, socket=socket))

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind_writer = await asyncio.open_unix_connection(str(socket))

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(copy(reader, behind_writer), copy(behind_reader, writer))

    try:
        for _ in range(300):
            if socket.exists():
                break
            await asyncio.sleep(0.05)
        async with listening(OURS.issue(tmp_path / "redis", "redis"), relay, mutual=True) as port:
            yield port
    finally:
        process.terminate()
        await process.wait()


def url(port: int, folder: Path, *, shown: bool = True) -> str:
    """As the chart writes it."""
    files = {"ssl_ca_certs": folder / "ca.crt"}
    if shown:
        files |= {"ssl_certfile": folder / "tls.crt", "ssl_keyfile": folder / "tls.key"}
    return f"rediss://localhost:{port}/0?{urlencode({key: str(file) for key, file in files.items()}, safe='/')}"


async def test_search_and_its_workers_reach_redis_over_tls(tmp_path: Path) -> None:
    client = OURS.issue(tmp_path / "search", "search")
    async with redis_behind_tls(tmp_path) as port:
        address = url(port, client)
        assert await asyncio.to_thread(connect(address).ping)
        events = connect_events(address)
        assert await events.ping()
        await events.aclose()

        def celery() -> list[str]:
            app = make_app(SearchSettings(redis_url=address))
            with app.connection_for_write() as connection:
                queue = connection.SimpleQueue("tls-test")
                queue.put("through TLS")
                message = queue.get(timeout=60)
                message.ack()
                queue.close()
                return [message.payload]

        assert await asyncio.to_thread(celery) == ["through TLS"]
        for wrong in (url(port, client, shown=False), url(port, Authority("strange").issue(tmp_path / "x", "search"))):
            with pytest.raises(redis.ConnectionError):
                await asyncio.to_thread(redis.Redis.from_url(wrong).ping)


def answering(body: dict[str, object]) -> Handler:
    """A web server that says the same to everything."""
    data = json.dumps(body).encode()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
            writer.write(head.encode() + b"Connection: close\r\n\r\n" + data)
            await writer.drain()
        writer.close()

    return handle


async def test_qdrant_over_https_with_an_own_ca(tmp_path: Path) -> None:
    folder = OURS.issue(tmp_path / "qdrant", "qdrant")
    said = answering({"result": {"exists": True}, "status": "ok", "time": 0.0})
    async with listening(folder, said, mutual=False) as port:
        there = {"store": "qdrant", "qdrant_url": f"https://localhost:{port}", "qdrant_api_key": "k"}
        client = make_client(RetrieverSettings(**there, qdrant_ca=str(folder / "ca.crt")))
        assert await client.collection_exists("one")
        await client.close()
        client = make_client(RetrieverSettings(**there))
        with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
            await client.collection_exists("one")
        await client.close()


async def test_an_engine_over_https_with_an_own_ca(tmp_path: Path) -> None:
    folder = OURS.issue(tmp_path / "engine", "engine")
    said = answering({"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "x"}]})
    async with listening(folder, said, mutual=False) as port:
        address = f"https://localhost:{port}/v1"
        trusted = OpenAIEndpoint(address, SecretStr(""), "m", ca=str(folder / "ca.crt"))
        await trusted.check()
        await trusted.close()
        stranger = OpenAIEndpoint(address, SecretStr(""), "m")
        with pytest.raises(Unavailable):
            await stranger.check()
        await stranger.close()


def test_a_ca_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match=r"nowhere\.crt"):
        trusting(str(tmp_path / "nowhere.crt"))
    (tmp_path / "empty.crt").touch()
    with pytest.raises(Conflict, match=r"empty\.crt"):
        trusting(str(tmp_path / "empty.crt"))
    assert trusting("") is True
