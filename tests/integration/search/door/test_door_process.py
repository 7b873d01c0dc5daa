"""The door as a process: killed, stopped, started again; its gRPC side; what its log says of secrets."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import sqlite3
import tempfile
import urllib.request
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from quelea.market.v1 import market_pb2 as pb
from quelea.market.v1 import market_pb2_grpc
from quelea_kit.client import stream, unary
from quelea_kit.errors import InvalidInput, NotFound, Overloaded
from quelea_kit.testing import free_port, wait_until_async
from quelea_search.door.samples.__main__ import write
from support.market_door import SECONDS, DoorProcess, call
from support.web_sites import Site, response

HOST = "data.example-vendor.com"
URL = f"http://{HOST}/a"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site().serving() as made:
        yield made


@pytest.fixture
async def door(site: Site) -> AsyncIterator[DoorProcess]:
    with tempfile.TemporaryDirectory(prefix="door") as folder:
        made = DoorProcess(
            Path(folder),
            {
                "HOSTS": '["example-vendor.com"]',
                "ENVIRONMENT": "test",
                "TEST_HOSTS": json.dumps({HOST: f"127.0.0.1:{site.port}"}),
                "MAX_SESSIONS": "20",
            },
        )
        await made.start()
        yield made
        await made.stop(signal.SIGKILL)


async def get(door: DoorProcess, token: str, url: str = URL, **more: str):  # type: ignore[no-untyped-def]  # a Reply
    return await asyncio.to_thread(call, door.socket, token, url, headers=more)


async def test_what_was_acknowledged_outlives_kill_9(door: DoorProcess, site: Site) -> None:
    site.paths["/a"] = response(b'{"close": 93.98}', kind="application/json")
    token = await door.open("run-1")
    first = await get(door, token)
    others = [asyncio.create_task(get(door, token, f"{URL}?n={n}")) for n in range(6)]
    done = [task.result() for task in (await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED))[0]]
    await door.stop(signal.SIGKILL)
    await asyncio.gather(*others, return_exceptions=True)
    asked = len(site.asked)
    await door.start()
    lines = {line.id: line for line in await door.calls("run-1")}
    for reply in [first, *done]:
        line = lines[reply.headers["X-Quelea-Call"]]
        assert line.sha256 == hashlib.sha256(reply.body).hexdigest()
        assert await door.body(line.sha256) == reply.body
    assert (await get(door, token)).refused == "TOKEN"  # sessions are not kept
    again = await get(door, await door.open("run-2"))
    assert again.body == first.body
    assert again.headers["X-Quelea-Fetched"] == first.headers["X-Quelea-Fetched"]
    assert len(site.asked) == asked
    (line,) = await door.calls("run-2")
    assert line.source == "cache"


async def test_a_run_is_bundled_and_replayed_elsewhere(door: DoorProcess, site: Site) -> None:
    cookie = {"Set-Cookie": "sid=s3cr3t; Path=/"}
    site.paths["/a"] = response(b"callback1([1]);", kind="text/javascript", headers=cookie)
    token = await door.open("run-1")
    await get(door, token, f"{URL}?callback=callback1&beg=1")
    bundle = await door.give_bundle("run-1")
    with tempfile.TemporaryDirectory(prefix="door") as folder:
        other = DoorProcess(Path(folder), {"HOSTS": '["example-vendor.com"]'})
        await other.start()
        try:
            taken = await other.take_bundle(bundle)
            assert taken.calls == 1
            assert (await other.take_bundle(bundle)).bundle_id == taken.bundle_id
            replay = await other.open("again", mode=pb.MODE_REPLAY, bundle_ids=[taken.bundle_id])
            asked = len(site.asked)
            reply = await get(other, replay, f"{URL}?callback=callback2&beg=1")
            assert reply.body == b"callback2([1]);"
            assert reply.headers["Set-Cookie"].startswith("sid=recorded;")
            assert b"s3cr3t" not in bundle
            missing = await get(other, replay, f"{URL}?beg=2")
            assert (missing.status, missing.refused) == (451, "NOT_RECORDED")
            assert "it differs in beg" in json.loads(missing.body)["error"]["message"]
            assert len(site.asked) == asked
            line = (await other.calls("again"))[0]
            assert (line.source, line.status) == ("bundle", 200)
            assert line.fetched < line.asked
        finally:
            await other.stop(signal.SIGKILL)


async def test_stop_finishes_what_runs_and_ends_cleanly(door: DoorProcess, site: Site) -> None:
    go = asyncio.Event()

    async def slow(_target: str, writer: asyncio.StreamWriter) -> None:
        await go.wait()
        writer.write(response(b"late"))
        await writer.drain()

    site.paths["/a"] = slow
    token = await door.open("run-1")
    calling = asyncio.create_task(get(door, token))
    await wait_until_async(lambda: bool(site.asked))
    stopping = asyncio.create_task(door.stop(signal.SIGTERM))
    await wait_until_async(lambda: "draining" in door.log)
    go.set()
    assert (await calling).body == b"late"
    assert await stopping == 0
    await door.start()
    assert [line.status for line in await door.calls("run-1")] == [200]


async def test_no_token_and_no_key_is_written_anywhere(door: DoorProcess, site: Site) -> None:
    site.paths["/a"] = response(b"x")
    token = await door.open("run-1")
    await get(door, token, f"{URL}?api_key=s3cr3tkey", Authorization="Bearer s3cr3tkey", Cookie="sid=s3cr3tkey")
    await get(door, "s3cr3tkey-guess", URL)
    await get(door, token, "https://example.com/?password=s3cr3tkey")
    await door.give_bundle("run-1")
    assert site.asked == ["/a?api_key=s3cr3tkey"]
    await door.stop()
    for path in [door.folder / "door.log", *door.folder.glob("data/**/*")]:
        if path.is_file():
            data = path.read_bytes()
            assert token.encode() not in data, path
            assert b"s3cr3tkey" not in data, path


async def test_hosts_and_their_health(door: DoorProcess, site: Site) -> None:
    site.paths["/a"] = response(b"x")
    await get(door, await door.open("run-1"))
    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        (host,) = (await unary(stub.ListHosts(pb.ListHostsRequest(), timeout=SECONDS))).hosts
    assert (host.pattern, host.calls, host.failures, host.last_error) == ("example-vendor.com", 1, 0, "")
    assert host.last_ok
    assert 0 < host.left < host.per_minute


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"run_id": ""}, InvalidInput),
        ({"run_id": "r" * 300}, InvalidInput),
        ({"mode": pb.MODE_UNSPECIFIED}, InvalidInput),
        ({"as_of": "yesterday"}, InvalidInput),
        ({"as_of": "20240101"}, InvalidInput),
        ({"as_of": f"{datetime.now(UTC).date() + timedelta(days=2)}"}, InvalidInput),
        ({"mode": pb.MODE_REPLAY}, InvalidInput),
        ({"bundle_ids": ["a"]}, InvalidInput),
        ({"mode": pb.MODE_REPLAY, "bundle_ids": ["a"]}, NotFound),
        ({"seconds": -1.0}, InvalidInput),
        ({"seconds": float("nan")}, InvalidInput),
        ({"seconds": 1e9}, InvalidInput),
    ],
)
async def test_bad_requests_say_what_is_wrong(
    door: DoorProcess, more: dict[str, object], error: type[Exception]
) -> None:
    facts = {"run_id": "r", "mode": pb.MODE_LIVE, **more}
    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        with pytest.raises(error):
            await unary(stub.OpenSession(pb.OpenSessionRequest(**facts), timeout=SECONDS))


async def test_other_rpcs_refuse_what_is_not_there(door: DoorProcess) -> None:
    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        with pytest.raises(NotFound):
            await unary(stub.CloseSession(pb.CloseSessionRequest(session_id="x"), timeout=SECONDS))
        with pytest.raises(InvalidInput):
            await unary(stub.ListCalls(pb.ListCallsRequest(), timeout=SECONDS))
        for rpc, request, error in (
            (stub.GetBody, pb.GetBodyRequest(sha256="../x"), InvalidInput),
            (stub.GetBody, pb.GetBodyRequest(sha256="0" * 64), NotFound),
            (stub.ExportBundle, pb.ExportBundleRequest(run_id="nobody"), NotFound),
        ):
            with pytest.raises(error):
                async for _ in stream(rpc(request, timeout=SECONDS)):
                    pass
        for _ in range(20):
            await unary(stub.OpenSession(pb.OpenSessionRequest(run_id="r", mode=pb.MODE_LIVE), timeout=SECONDS))
        with pytest.raises(Overloaded):
            await unary(stub.OpenSession(pb.OpenSessionRequest(run_id="r", mode=pb.MODE_LIVE), timeout=SECONDS))
        assert list((await unary(stub.ListBundles(pb.ListBundlesRequest(), timeout=SECONDS))).bundles) == []


async def test_a_hostile_bundle_is_refused_over_the_wire_and_a_good_one_listed(door: DoorProcess) -> None:
    from quelea_kit.rpc.wire_errors import from_rpc_error

    for data in (b"", b"PK\x03\x04 nothing", b"\x00" * 3_000_000):
        with pytest.raises(Exception) as caught:
            await door.take_bundle(data)
        assert isinstance(from_rpc_error(caught.value), InvalidInput)
    path = door.folder / "samples.zip"
    bundle_id, count = await asyncio.to_thread(write, path)
    assert (await door.take_bundle(path.read_bytes())).bundle_id == bundle_id
    async with door.client() as line:
        stub = market_pb2_grpc.MarketDoorServiceStub(line)
        (bundle,) = (await unary(stub.ListBundles(pb.ListBundlesRequest(), timeout=SECONDS))).bundles
    assert (bundle.id, bundle.calls, bundle.run_id) == (bundle_id, count, "samples")
    assert bundle.bytes > 100_000
    assert bundle.to.startswith("2024-11-22T21:00")


async def test_two_doors_never_share_a_folder(door: DoorProcess) -> None:
    second = DoorProcess(door.folder, {"SOCKET": str(door.folder / "second.sock")})
    with pytest.raises(AssertionError, match="in use by another market-data door"):
        await second.start()
    assert await door.healthy()


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310  # our own address
        return str(answer.read().decode())


async def test_metrics_and_health_tell_the_truth(site: Site) -> None:
    port = free_port()
    site.paths["/a"] = response(b"x" * 50)
    with tempfile.TemporaryDirectory(prefix="door") as folder:
        hosts = {"HOSTS": '["example-vendor.com"]', "ENVIRONMENT": "test", "METRICS_PORT": str(port)}
        door = DoorProcess(Path(folder), {**hosts, "TEST_HOSTS": json.dumps({HOST: f"127.0.0.1:{site.port}"})})
        await door.start()
        try:
            token = await door.open("run-1")
            await get(door, token)
            await get(door, token)
            await get(door, token, "https://example.com/")
            told = await asyncio.to_thread(_read, f"http://127.0.0.1:{port}/metrics")
            for line in (
                'quelea_market_calls_total{reason="",source="upstream"} 1.0',
                'quelea_market_calls_total{reason="",source="cache"} 1.0',
                'quelea_market_calls_total{reason="HOST",source="refused"} 1.0',
                'quelea_market_upstream_seconds_count{hosts="example-vendor.com",outcome="ok"} 1.0',
                "quelea_market_sessions 1.0",
                "quelea_market_kept_bytes 50.0",
                "quelea_ready 1.0",
            ):
                assert line in told, line
            db = sqlite3.connect(Path(folder) / "data" / "door.db", isolation_level=None)
            db.execute("BEGIN EXCLUSIVE")  # nothing can be written: as on a broken disk
            await wait_until_async(lambda: "not_serving" in door.log, seconds=SECONDS)
            assert not await door.healthy()
            db.execute("ROLLBACK")
            db.close()
            await wait_until_async(lambda: door.log.count('"serving"') > 1, seconds=SECONDS)
            assert await door.healthy()
        finally:
            await door.stop(signal.SIGKILL)
