"""Two gateways and one Redis: limits of a key and of a tenant are kept together, sessions open at both."""

import asyncio
import contextlib
import subprocess
import time

import httpx2
import pytest
from prometheus_client import REGISTRY
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway import keys
from quelea_gateway.adapters.callers import shared_limits
from quelea_gateway.testing import standing
from quelea_kit.client import channel, unary
from quelea_kit.errors import Overloaded
from quelea_kit.processes.redis_server import redis_command, redis_url
from redis.asyncio import Redis
from support.openid_provider import Provider

ASK = {"question": "What were Apple's total net sales?"}


async def until(holds):
    """Wait until something that is asked for holds."""
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110  # another process changes it
            await asyncio.sleep(0.1)


class RedisProcess:
    """A real Redis on a socket, which can be stopped, frozen and started again."""

    def __init__(self, folder):
        self.socket = folder / "redis.sock"
        self.url = redis_url(socket=self.socket)
        self._folder = folder
        self.start()

    def start(self):
        self._process = subprocess.Popen(redis_command(self._folder, socket=self.socket), stdout=subprocess.DEVNULL)

    def stop(self):
        self._process.kill()
        self._process.wait()

    def freeze(self):
        self._process.send_signal(19)

    def thaw(self):
        self._process.send_signal(18)


@pytest.fixture
async def redis(tmp_path_factory):
    running = RedisProcess(tmp_path_factory.mktemp("redis"))
    async with Redis.from_url(running.url) as client:

        async def answers():
            with contextlib.suppress(Exception):
                return await client.ping()

        await until(answers)
    yield running
    running.thaw()
    running.stop()


@contextlib.asynccontextmanager
async def two(redis, tmp_path, **settings):
    """Two gateways, a client of each, and keys of two tenants."""
    file = tmp_path / "keys.json"
    made = {name: keys.create(file, name, tenant=tenant) for name, tenant in
            (("ann", "us"), ("bob", "us"), ("eve", "eu"))}  # fmt: skip
    given = {"auth": "keys", "keys_file": str(file), "redis_url": redis.url, **settings}
    async with contextlib.AsyncExitStack() as stack:
        stands = [await stack.enter_async_context(standing(**given)) for _ in range(2)]
        clients = [
            await stack.enter_async_context(httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60))
            for stand in stands
        ]
        yield stands, clients, {name: {"Authorization": f"Bearer {key}"} for name, key in made.items()}


async def statuses(clients, headers, count):
    return [
        (await clients[number % len(clients)].get("/v1/models", headers=headers)).status_code for number in range(count)
    ]


async def test_calls_a_minute_are_counted_together_by_key_and_by_tenant(redis, tmp_path):
    async with two(redis, tmp_path, calls_per_minute_per_key=6, calls_per_minute_per_tenant=10) as (_, clients, who):
        ann = await statuses(clients, who["ann"], 8)
        assert ann == [200] * 6 + [429] * 2
        bob = await statuses(clients, who["bob"], 5)
        assert bob.count(200) == 4  # of the tenant's ten
        refused = await clients[0].get("/v1/models", headers=who["bob"])
        assert refused.json()["error"]["message"] == "This tenant may begin 10 calls a minute."
        assert 0 < float(refused.headers["Retry-After"]) <= 60
        assert await statuses(clients, who["eve"], 6) == [200] * 6


async def test_without_redis_each_counts_for_itself(redis, tmp_path):
    async with two(redis, tmp_path, redis_url="", calls_per_minute_per_key=6) as (_, clients, who):
        assert (await statuses(clients, who["ann"], 14)).count(200) == 12


async def begun(stack, client, stand, headers):
    """A stream that does not end by itself."""
    stand.world.generator_hangs = True
    asked = client.stream("POST", "/v1/ask", json={**ASK, "stream": True}, headers=headers)
    return await stack.enter_async_context(asked)


async def test_calls_under_way_are_counted_together_and_given_back(redis, tmp_path):
    async with two(redis, tmp_path, max_calls_per_key=2, max_calls_per_tenant=3) as (stands, clients, who):
        async with contextlib.AsyncExitStack() as streams:
            for number in range(2):
                reply = await begun(streams, clients[number], stands[number], who["ann"])
                assert reply.status_code == 200
            assert await statuses(clients, who["ann"], 2) == [429, 429]
            async with channel(stands[1].grpc, "quelea.gateway.v1.GatewayService") as opened:
                stub = gateway_pb2_grpc.GatewayServiceStub(opened)
                metadata = (("authorization", who["ann"]["Authorization"]),)
                with pytest.raises(Overloaded, match="2 calls under way"):
                    await unary(stub.Search(gateway_pb2.SearchRequest(query="x"), timeout=20, metadata=metadata))
            assert (await begun(streams, clients[0], stands[0], who["bob"])).status_code == 200
            refused = await clients[1].get("/v1/models", headers=who["bob"])
            assert refused.status_code == 429
            assert "This tenant has 3 calls under way" in refused.json()["error"]["message"]
            assert await statuses(clients, who["eve"], 1) == [200]

        async def free():
            return await statuses(clients, who["ann"], 2) == [200, 200]

        await until(free)


async def test_leases_of_a_gateway_that_died_end_and_those_of_a_long_call_do_not(redis, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_limits, "_RENEW_SECONDS", 0.3)
    monkeypatch.setattr(shared_limits, "_SECONDS", 30.0)  # a Redis that is slow is not away
    leases = "quelea:limits:under-way:key:us\x1fann"
    async with Redis.from_url(redis.url) as client, contextlib.AsyncExitStack() as streams:
        stands, clients, who = await streams.enter_async_context(two(redis, tmp_path, max_calls_per_key=2))
        await client.zadd(leases, {"dead": time.time() * 1000 + 60_000})  # what a gateway that was killed leaves
        await begun(streams, clients[0], stands[0], who["ann"])
        assert await statuses(clients, who["ann"], 1) == [429]
        await client.zadd(leases, {"dead": time.time() * 1000})  # a minute later
        assert await statuses(clients[1:], who["ann"], 1) == [200]

        await begun(streams, clients[1], stands[1], who["ann"])
        began = dict(await client.zrange(leases, 0, -1, withscores=True))
        assert len(began) == 2

        async def renewed():
            now = dict(await client.zrange(leases, 0, -1, withscores=True))
            return now.keys() == began.keys() and all(now[name] > began[name] for name in began)

        await until(renewed)
        assert await statuses(clients, who["ann"], 2) == [429, 429]


@pytest.mark.parametrize("how", ["stop", "freeze"])
async def test_while_redis_is_away_each_gateway_keeps_the_limits_and_no_call_waits_long(redis, tmp_path, how):
    async with two(redis, tmp_path, calls_per_minute_per_key=6) as (stands, clients, who):
        assert await statuses(clients, who["eve"], 2) == [200, 200]
        getattr(redis, how)()
        began = time.monotonic()
        assert (await statuses(clients, who["ann"], 14)).count(200) == 12  # six at each
        assert time.monotonic() - began < 20
        assert REGISTRY.get_sample_value("quelea_limits_local") == 1
        redis.start() if how == "stop" else redis.thaw()
        for stand in stands:
            stand.gateway.shared_limits._away_until = -1e9

        async def together():
            await statuses(clients, who["eve"], 2)
            return REGISTRY.get_sample_value("quelea_limits_local") == 0

        await until(together)


async def test_a_session_opens_at_both_gateways_and_ends_at_both(redis, tmp_path):
    provider = Provider()
    provider.claims = {"ann": {"groups": ["desk"]}}
    file = tmp_path / "openid.toml"
    file.write_text(f'issuer = "{provider.issuer}"\n[login]\nclient_id = "quelea-page"\n[[members]]\ngroup = "desk"\n')
    try:
        async with two(redis, tmp_path, openid_file=str(file)) as (stands, clients, _):
            provider.client.redirect_uris = [f"{stands[0].url}/auth/callback"]
            begun = await clients[0].get("/auth/login")
            async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
                back = (await browser.post(begun.headers["location"], data={"sub": "ann"})).headers["location"]
            await clients[0].get(back)
            cookie = {"Cookie": f"quelea={clients[0].cookies['quelea']}"}
            told = (await clients[1].get("/auth/session", headers=cookie)).json()
            assert told["signed_in"] is True
            assert (await clients[1].get("/v1/models", headers=cookie)).status_code == 200
            async with Redis.from_url(redis.url) as client:
                stored = [name.decode() for name in await client.keys("quelea:session:*")]
                assert len(stored) == 1
                assert clients[0].cookies["quelea"] not in stored[0]
                assert 0 < await client.ttl(stored[0]) <= 3600
            redis.stop()
            assert (await clients[1].get("/v1/models", headers=cookie)).status_code == 503
            redis.start()

            async def back_again():
                return (await clients[1].get("/v1/models", headers=cookie)).status_code == 200

            await until(back_again)
            csrf = {**cookie, "X-CSRF-Token": told["csrf"]}
            assert (await clients[1].post("/auth/logout", headers=csrf)).status_code == 200
            assert (await clients[0].get("/v1/models", headers=cookie)).status_code == 401
    finally:
        provider.close()
