"""Two gateways and two generators are replaced one after the other, and killed, while 26 people stream answers.

Real processes with a slow engine behind them; retriever and search are fakes in this process. What a cluster adds, and
how it is stood for, is in support.rolling.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway.adapters.services.fake_services import FakeServices
from quelea_gateway.adapters.services.fake_world import World
from quelea_kit.client import channel, stream
from quelea_kit.errors import QueleaError
from support.rolling import DRAIN_SECONDS, SEEN_SECONDS, Pod, Service, SlowEngine, answers

QUESTION = "What were Apple's total net sales in the third quarter of fiscal 2023?"
GATEWAY, GENERATOR = "quelea.gateway.v1.GatewayService", "quelea.generator.v1.GeneratorService"
HTTP_CLIENTS, KEPT, GRPC_CLIENTS = 20, 10, 6
SETTLE_SECONDS = 300.0
ASK_AGAIN_SECONDS = 4 * SEEN_SECONDS
"""How long people wait after an error: until the dead pod is no endpoint, else one person meets it several times."""
PIECES = ["Total ", "net ", "sales ", "were ", "in ", "the ", "first ", "passage ", "of ", "all ", "[1].\n"] * 2
TEXT = "".join(PIECES)


async def serves(pod: Pod) -> bool:
    """The generator's readiness probe, as the chart has it."""
    async with channel(f"127.0.0.1:{pod.ports['grpc']}", GENERATOR) as there:
        with contextlib.suppress(Exception):  # whatever it is, it is not ready
            said = await health_pb2_grpc.HealthStub(there).Check(
                health_pb2.HealthCheckRequest(service=GENERATOR), timeout=3
            )
            return bool(said.status == health_pb2.HealthCheckResponse.SERVING)
    return False


@dataclass
class Cluster:
    """What runs, and what its users saw: `failed` is every request that did not end with a whole answer."""

    http: Service
    grpc: Service
    gateways: list[Pod]
    generators: list[Pod]
    asked: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    open: int = 0
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def over_http(self, *, kept: bool) -> None:
        """One person: a stream, and the next, on one connection that is kept or on a new one each."""
        client: httpx2.AsyncClient | None = None
        while not self.stop.is_set():
            client = client or httpx2.AsyncClient(
                base_url=f"http://127.0.0.1:{self.http.port}", trust_env=False, timeout=SETTLE_SECONDS
            )
            self.open += 1
            try:
                await self._one_stream(client)
            except (httpx2.HTTPError, AssertionError) as error:
                self.failed.append(f"http kept={kept}: {error!r}")
                await asyncio.sleep(ASK_AGAIN_SECONDS)
            self.open -= 1
            self.asked["kept" if kept else "new"] += 1
            if not kept:
                await client.aclose()
                client = None
        if client:
            await client.aclose()

    async def _one_stream(self, client: httpx2.AsyncClient) -> None:
        body = {"question": QUESTION, "stream": True, "route": "local"}
        async with client.stream("POST", "/v1/ask", json=body) as reply:
            assert reply.status_code == 200, (await reply.aread())[:300]
            events = [
                line.partition(": ")[2] async for line in reply.aiter_lines() if line.startswith(("event", "data"))
            ]
        kinds = events[::2]
        assert kinds[-1:] == ["answer"], f"{kinds[-3:]} {events[-1][:300]}"
        assert not json.loads(events[-1])["declined"]
        said = [json.loads(data)["text"] for kind, data in zip(kinds, events[1::2], strict=True) if kind == "delta"]
        assert "".join(said) == TEXT

    async def over_grpc(self) -> None:
        """One front-end: a channel to the gateways' Service, one call after the other."""
        async with channel(f"127.0.0.1:{self.grpc.port}", GATEWAY, idempotent=["Ask"]) as there:
            stub = gateway_pb2_grpc.GatewayServiceStub(there)
            while not self.stop.is_set():
                self.open += 1
                try:
                    asked = gateway_pb2.AskRequest(question=QUESTION, route="local")
                    events = [one async for one in stream(stub.Ask(asked, timeout=SETTLE_SECONDS))]
                    assert events[-1].HasField("answer"), events[-1]
                    assert "".join(one.delta.text for one in events) == TEXT
                except (QueleaError, AssertionError) as error:
                    self.failed.append(f"grpc: {error!r}")
                    await asyncio.sleep(ASK_AGAIN_SECONDS)
                self.open -= 1
                self.asked["grpc"] += 1

    @contextlib.asynccontextmanager
    async def users(self) -> AsyncIterator[None]:
        """All of them, from the moment that all have a stream until each has ended the one that it had."""
        self.stop.clear()
        people = [self.over_http(kept=number < KEPT) for number in range(HTTP_CLIENTS)]
        tasks = [asyncio.create_task(one) for one in (*people, *(self.over_grpc() for _ in range(GRPC_CLIENTS)))]
        try:
            await self.more(1)
            yield
            await self.more(1)
        finally:
            self.stop.set()
            await asyncio.wait_for(asyncio.gather(*tasks), SETTLE_SECONDS)

    async def more(self, rounds: int) -> None:
        """Until so many requests more, for everybody on average, have come to an end."""
        wanted = self.asked.total() + rounds * (HTTP_CLIENTS + GRPC_CLIENTS)
        async with asyncio.timeout(SETTLE_SECONDS * 2):
            while self.asked.total() < wanted:  # noqa: ASYNC110  # a counter, no event
                await asyncio.sleep(0.1)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    fakes, engine = FakeServices(World.with_samples()), SlowEngine(PIECES, first=0.3, gap=0.06)
    http, grpc = Service(), Service()
    drain = {"DRAIN_SECONDS": str(DRAIN_SECONDS), "METRICS_PORT": "0"}
    generating = {"LISTEN": "127.0.0.1:{grpc}", "ENDPOINT": engine.url, "MODEL": "tiny", **drain}
    generators = [
        Pod(
            "quelea_generator",
            {f"QUELEA_GENERATOR_{k}": v for k, v in generating.items()},
            {},
            tmp_path / f"generator-{number}.log",
        )
        for number in range(2)
    ]
    started: list[Pod] = []
    try:
        await asyncio.gather(fakes.start(), engine.start(), http.start(), grpc.start())
        told = {
            "LISTEN": "127.0.0.1:{grpc}",
            "HTTP_LISTEN": "127.0.0.1:{http}",
            "AUTH": "off",
            "MAX_CALLS_PER_KEY": "200",
            "RETRIEVER": fakes.addresses["retriever"],
            "SEARCH": fakes.addresses["search"],
            "GENERATOR": "ipv4:" + ",".join(f"127.0.0.1:{pod.ports['grpc']}" for pod in generators),
            "RUNS_URL": str(tmp_path / "runs"),
            **drain,
        }
        gateways = [
            Pod(
                "quelea_gateway",
                {f"QUELEA_GATEWAY_{k}": v for k, v in told.items()},
                {http: "http", grpc: "grpc"},
                tmp_path / f"gateway-{number}.log",
            )
            for number in range(2)
        ]
        started = [*generators, *gateways]
        await asyncio.gather(*(pod.start(serves) for pod in generators), *(pod.start(answers) for pod in gateways))
        yield Cluster(http, grpc, gateways, generators)
    finally:
        await asyncio.gather(*(pod.end() for pod in started))
        await asyncio.gather(engine.stop(), http.stop(), grpc.stop(), fakes.close())


@pytest.mark.slow(reason="two gateways and two generators drain and start, one after the other, under load")
async def test_nobody_notices_a_rolling_restart(cluster: Cluster) -> None:
    async with cluster.users():
        for pod, ready in [*((p, serves) for p in cluster.generators), *((p, answers) for p in cluster.gateways)]:
            assert cluster.open >= HTTP_CLIENTS
            await pod.delete()
            print(f"{pod._command[-1]} ended {pod.drained:.1f} s after SIGTERM")
            await pod.start(ready)
            await cluster.more(1)
    print(dict(cluster.asked))
    assert cluster.failed == [], "\n".join(cluster.failed)
    assert all(cluster.asked[kind] > 0 for kind in ("kept", "new", "grpc"))


@pytest.mark.slow(reason="a gateway and a generator are killed and start again under load")
async def test_a_killed_pod_costs_its_own_streams_a_clear_error_and_nobody_else_anything(cluster: Cluster) -> None:
    """kill -9: what the dead one was writing breaks off; the rest goes on, and nothing else is restarted."""
    others = {pod.process.pid for pod in (*cluster.generators, *cluster.gateways) if pod.process}
    async with cluster.users():
        for pod, ready in ((cluster.generators[0], serves), (cluster.gateways[0], answers)):
            assert pod.process
            others.discard(pod.process.pid)
            gone = list(cluster.failed)
            await pod.kill()
            await cluster.more(1)
            broken = cluster.failed[len(gone) :]
            assert len(broken) <= HTTP_CLIENTS + GRPC_CLIENTS, "one each at most"
            await cluster.more(1)  # what was on its way has ended: from here on nobody notices
            settled = len(cluster.failed)
            await cluster.more(2)
            assert cluster.failed[settled:] == []
            await pod.start(ready)
            await cluster.more(1)
            assert cluster.failed[settled:] == []
            print(f"{pod._command[-1]}: {len(broken)} streams broke off: {Counter(one[:110] for one in broken)}")
    for pod in (*cluster.generators[1:], *cluster.gateways[1:]):
        assert pod.process
        assert pod.process.returncode is None
        assert pod.process.pid in others
