"""The kit's server and client together, over real gRPC, with the embedder's contract as the example."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, DeadlineExceeded, Overloaded, QueleaError, Unavailable
from quelea_kit.server import LIVE, Server, serve
from quelea_kit.settings import ServiceSettings
from quelea_kit.testing import free_port, running, wait_until_async
from support.deadlines import cut_short

NAME = "quelea.embedder.v1.EmbedderService"
Behaviour = Callable[[], object]


class Embedder(embedder_pb2_grpc.EmbedderServiceServicer):
    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.cancelled = 0
        self.began = 0
        self.deadline: float | None = None

    async def GetModel(self, request, context):  # noqa: N802  # the wire names it
        self.deadline = context.time_remaining()
        self.began += 1
        try:
            result = self.behaviour()
            if asyncio.iscoroutine(result):
                await result
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return embedder_pb2.GetModelResponse(model="m")


def register(servicer: Embedder):
    return lambda server: embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)


def stub(address: str, **kw) -> embedder_pb2_grpc.EmbedderServiceStub:
    open_channel = channel(address, NAME, **kw)
    made = embedder_pb2_grpc.EmbedderServiceStub(open_channel)
    made.open_channel = open_channel  # a channel closes itself when nobody holds it
    return made


def fail(error: Exception) -> Behaviour:
    def behaviour() -> None:
        raise error

    return behaviour


async def test_the_caller_gets_the_error_that_the_server_raised() -> None:
    servicer = Embedder(fail(Overloaded("full", details={"limit": "3"}, retry_after=2.0)))
    async with running(register(servicer), [NAME]) as address:
        with pytest.raises(Overloaded) as caught:
            s = stub(address)
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
    assert (caught.value.message, caught.value.details, caught.value.retry_after) == ("full", {"limit": "3"}, 2.0)


async def test_a_bug_says_nothing_of_the_inside() -> None:
    async with running(register(Embedder(fail(ValueError("secret")))), [NAME]) as address:
        with pytest.raises(QueleaError) as caught:
            s = stub(address)
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
    assert "secret" not in caught.value.message


async def test_a_deadline_ends_the_work_at_the_server() -> None:
    servicer = Embedder(lambda: asyncio.sleep(60))
    async with running(register(servicer), [NAME]) as address:
        s = stub(address)
        await cut_short(
            lambda seconds: unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=seconds)),
            lambda: servicer.began > 0,
        )
        await wait_until_async(lambda: servicer.cancelled == servicer.began, seconds=25)  # before its own 60 s


async def test_a_call_without_deadline_gets_the_servers() -> None:
    settings = ServiceSettings(drain_seconds=0.5, max_deadline_seconds=0.2)
    async with running(register(Embedder(lambda: asyncio.sleep(60))), [NAME], settings=settings) as address:
        with pytest.raises(DeadlineExceeded):
            s = stub(address)
            await unary(s.GetModel(embedder_pb2.GetModelRequest()))


async def test_one_call_too_many_is_refused_at_once() -> None:
    release = asyncio.Event()
    settings = ServiceSettings(drain_seconds=0.5, max_concurrent_calls=2)
    servicer = Embedder(release.wait)
    async with running(register(servicer), [NAME], settings=settings) as address:
        s = stub(address)
        first = [asyncio.ensure_future(unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))) for _ in range(2)]
        await wait_until_async(lambda: servicer.began == 2, what="both calls are being served")
        with pytest.raises(Overloaded) as caught:
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
        assert caught.value.retry_after == 1.0
        release.set()
        assert [r.model for r in await asyncio.gather(*first)] == ["m", "m"]


async def test_health_tells_the_truth() -> None:
    state = {"ready": False}

    async def ready() -> None:
        if not state["ready"]:
            raise Unavailable("no model yet")

    async with running(register(Embedder(lambda: None)), [NAME], ready=ready) as address:
        health_channel = channel(address, "grpc.health.v1.Health")
        health = health_pb2_grpc.HealthStub(health_channel)
        request = health_pb2.HealthCheckRequest(service=NAME)
        assert (await health.Check(request, timeout=60)).status == health_pb2.HealthCheckResponse.NOT_SERVING
        state["ready"] = True
        serving = health_pb2.HealthCheckResponse.SERVING
        async with asyncio.timeout(60):
            while (await health.Check(request, timeout=60)).status != serving:  # noqa: ASYNC110  # only asking tells
                await asyncio.sleep(0.05)


async def test_the_log_says_what_is_in_the_way_now(monkeypatch: pytest.MonkeyPatch) -> None:
    down: list[QueleaError] = [Unavailable("nobody is there"), Unavailable("nobody is there"), Conflict("of another")]
    reasons, told = iter(down), []

    class Log:
        def info(self, event: str, **fields: Any) -> None:
            told.append((event, fields.get("why"), *(["lasting"] if fields.get("lasting") else [])))

    async def ready() -> None:
        if error := next(reasons, None):
            raise error

    monkeypatch.setattr("quelea_kit.server.log", Log())
    async with running(lambda _: None, ["a.Service"], ready=ready):
        await wait_until_async(lambda: ("serving", "") in told)
    first, then = ("not_serving", "Unavailable: nobody is there"), ("not_serving", "Conflict: of another", "lasting")
    assert told == [first, then, ("serving", "")]


async def test_live_is_serving_whatever_the_dependencies_do() -> None:
    async def never() -> None:
        raise Unavailable("no model")

    servicer = Embedder(lambda: asyncio.sleep(1))
    server = Server(ServiceSettings(drain_seconds=5), [NAME], register(servicer), never)
    await server.start()
    opened = channel(f"127.0.0.1:{server.port}", "grpc.health.v1.Health")
    health = health_pb2_grpc.HealthStub(opened)
    live, ready = health_pb2.HealthCheckRequest(service=LIVE), health_pb2.HealthCheckRequest(service=NAME)
    assert (await health.Check(live, timeout=60)).status == health_pb2.HealthCheckResponse.SERVING
    assert (await health.Check(ready, timeout=60)).status == health_pb2.HealthCheckResponse.NOT_SERVING
    watch = health.Watch(live, timeout=60)
    assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
    s = stub(f"127.0.0.1:{server.port}")
    call = asyncio.create_task(unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60)))
    await wait_until_async(lambda: servicer.began > 0)
    stopping = asyncio.create_task(server.stop())
    assert (await call).model == "m"
    with contextlib.suppress(grpc.RpcError):
        assert await watch.read() == grpc.aio.EOF  # it never said that the server is not live
    await stopping


async def test_health_can_be_watched() -> None:
    async with running(register(Embedder(lambda: None)), [NAME]) as address:
        health_channel = channel(address, "grpc.health.v1.Health")
        watch = health_pb2_grpc.HealthStub(health_channel).Watch(
            health_pb2.HealthCheckRequest(service=NAME), timeout=120
        )
        async for answer in watch:
            if answer.status == health_pb2.HealthCheckResponse.SERVING:
                break
        else:
            pytest.fail("the watch ended before the service was ready")
        watch.cancel()


async def test_reflection_lists_the_service() -> None:
    async with running(register(Embedder(lambda: None)), [NAME]) as address:
        reflection_channel = channel(address, "grpc.reflection.v1alpha.ServerReflection")
        s = reflection_pb2_grpc.ServerReflectionStub(reflection_channel)
        async for answer in s.ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=120
        ):
            names = {x.name for x in answer.list_services_response.service}
            assert NAME in names
            break


async def test_a_call_without_memory_fails_alone_and_one_after_the_other_ends_the_process() -> None:
    async def none() -> None:
        raise MemoryError

    server = Server(ServiceSettings(listen="127.0.0.1:0", drain_seconds=0.1), [NAME], register(Embedder(none)))
    s = stub(f"127.0.0.1:{server.port}")

    async def call() -> list[bool]:
        before = []
        for _ in range(5):
            before.append(server.given_up.is_set())
            with pytest.raises(Overloaded, match="memory") as caught:
                await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60, wait_for_ready=True))
            assert caught.value.retry_after
        return before

    called = asyncio.create_task(call())
    with pytest.raises(SystemExit):
        await serve(server)
    assert await called == [False] * 5


async def test_a_task_of_the_background_that_fails_ends_the_process() -> None:
    """Whoever started it starts it again; otherwise it would look alive and lack what the task did."""

    async def fail_soon() -> None:
        raise RuntimeError("the loop is over")

    server = Server(ServiceSettings(listen="127.0.0.1:0", drain_seconds=0.1), [NAME], register(Embedder(lambda: None)))
    ended = asyncio.Event()

    async def on_stop() -> None:
        ended.set()

    with pytest.raises(SystemExit):
        await serve(server, on_stop, [asyncio.create_task(fail_soon()), asyncio.create_task(asyncio.sleep(0))])
    assert ended.is_set()


async def test_nobody_there_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        s = stub(f"127.0.0.1:{free_port()}")
        await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))


async def test_an_idempotent_call_outlives_a_restart() -> None:
    port = free_port()
    settings = ServiceSettings(listen=f"127.0.0.1:{port}", drain_seconds=0.1)
    s = stub(f"127.0.0.1:{port}", idempotent=["GetModel"])
    for _ in range(2):
        async with running(register(Embedder(lambda: None)), [NAME], settings=settings):
            answer = await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60, wait_for_ready=True))
            assert answer.model == "m"


@pytest.mark.parametrize(("retry_after", "tries"), [(None, 4), (5.0, 1)], ids=["leaving", "says when"])
async def test_a_call_is_tried_again_unless_the_server_says_when_to_come_back(
    retry_after: float | None, tries: int
) -> None:
    servicer = Embedder(fail(Unavailable("not now", retry_after=retry_after)))
    async with running(register(servicer), [NAME]) as address:
        s = stub(address, idempotent=["GetModel"])
        with pytest.raises(Unavailable, match="not now") as caught:
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
    assert caught.value.retry_after == retry_after
    assert servicer.began == tries


async def test_a_service_that_was_away_for_long_is_found_at_the_first_call() -> None:
    """The channel is in its longest back-off by then; the call does not ask for one that waits."""
    port = free_port()
    settings = ServiceSettings(listen=f"127.0.0.1:{port}", drain_seconds=0.1)
    s = stub(f"127.0.0.1:{port}", idempotent=["GetModel"])
    end = asyncio.get_running_loop().time() + 4
    while asyncio.get_running_loop().time() < end:
        with pytest.raises(Unavailable):
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
    async with running(register(Embedder(lambda: None)), [NAME], settings=settings):
        assert (await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))).model == "m"


async def test_an_idempotent_call_waits_for_a_server_that_is_away() -> None:
    """As a read does while the one process that can answer it is replaced."""
    port = free_port()
    settings = ServiceSettings(listen=f"127.0.0.1:{port}", drain_seconds=0.1)
    s = stub(f"127.0.0.1:{port}", idempotent=["GetModel"], wait_seconds=60)
    for _ in range(2):
        asked = asyncio.ensure_future(unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60)))
        await asyncio.wait([asked], timeout=1.5)  # longer than gRPC's own tries
        async with running(register(Embedder(lambda: None)), [NAME], settings=settings):
            assert (await asked).model == "m"


@pytest.mark.parametrize(("wait_seconds", "seconds"), [(0.5, 60), (60, 2)], ids=["wait", "deadline"])
async def test_a_server_that_stays_away_is_unavailable(wait_seconds: float, seconds: float) -> None:
    s = stub(f"127.0.0.1:{free_port()}", idempotent=["GetModel"], wait_seconds=wait_seconds)
    with pytest.raises((Unavailable, DeadlineExceeded)):
        async with asyncio.timeout(50):
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=seconds))


async def test_what_a_server_says_is_not_waited_over() -> None:
    servicer = Embedder(fail(Unavailable("no embedder")))
    async with running(register(servicer), [NAME]) as address:
        s = stub(address, idempotent=["GetModel"], wait_seconds=60)
        with pytest.raises(Unavailable, match="no embedder"):
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
    assert servicer.began == 4


async def test_a_caller_who_leaves_stops_waiting() -> None:
    s = stub(f"127.0.0.1:{free_port()}", idempotent=["GetModel"], wait_seconds=60)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await unary(s.GetModel(embedder_pb2.GetModelRequest(), timeout=60))


def test_status_codes_are_grpcs() -> None:
    assert {c.name for c in grpc.StatusCode} >= {"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"}
