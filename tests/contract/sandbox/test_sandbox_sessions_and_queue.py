"""SandboxService over real gRPC, sessions, the queue, an engine that fails: what every caller may count on."""

import asyncio
from pathlib import Path

import grpc
import pytest
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.client import stream, unary
from quelea_kit.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    Overloaded,
    QueleaError,
    Unavailable,
)
from quelea_kit.testing import wait_until_async
from quelea_sandbox.adapters.fake import FakeBackend
from support.sandbox import FORGE, SandboxClient, fast_settings, sandbox, until_serving

FOREVER = "print('begun')\nimport time\nwhile True: time.sleep(0.05)"


async def session(client: SandboxClient, **fields: object) -> str:
    return (await unary(client.stub.CreateSession(pb.CreateSessionRequest(**fields), timeout=60))).session_id


async def close(client: SandboxClient, session_id: str) -> None:
    await unary(client.stub.CloseSession(pb.CloseSessionRequest(session_id=session_id), timeout=60))


async def test_a_session_keeps_variables_and_files(any_client: SandboxClient) -> None:
    one = await session(any_client)
    assert (await any_client.run("x = 20\nopen('kept.txt', 'w').write('k')", session_id=one)).files
    failed = await any_client.run("x += 1\nundefined", session_id=one)
    assert failed.reason == "ERROR"
    again = await any_client.run("print(x, open('kept.txt').read())", session_id=one)
    assert again.text == "21 k\n" and not again.files
    assert again.started is not None and again.started.session_id == one
    await close(any_client, one)
    with pytest.raises(NotFound):
        await any_client.run("x", session_id=one)


async def test_a_session_belongs_to_its_tenant(any_client: SandboxClient) -> None:
    one = await session(any_client, tenant="a")
    with pytest.raises(NotFound):
        await any_client.run("1", session_id=one, tenant="b")
    assert (await any_client.run("1", session_id=one, tenant="a")).reason == "OK"
    await close(any_client, one)


async def test_one_step_at_a_time_and_a_killed_step_ends_the_session(any_client: SandboxClient) -> None:
    one = await session(any_client)
    task = await any_client.begin(FOREVER, session_id=one, execution_id="step")
    with pytest.raises(Conflict):
        await any_client.run("1", session_id=one)
    await unary(any_client.stub.Cancel(pb.CancelRequest(execution_id="step"), timeout=60))
    assert (await task).reason == "CANCELLED"
    with pytest.raises(NotFound):
        await any_client.run("1", session_id=one)
    one = await session(any_client)
    assert (await any_client.run(FOREVER, session_id=one, limits=pb.Limits(wall_seconds=2))).reason == "TIMEOUT"
    with pytest.raises(NotFound):
        await any_client.run("1", session_id=one)


async def test_closing_a_session_cancels_its_step(any_client: SandboxClient) -> None:
    one = await session(any_client)
    task = await any_client.begin(FOREVER, session_id=one, execution_id="step")
    await close(any_client, one)
    assert (await task).reason == "CANCELLED"


async def test_a_session_that_speaks_out_of_turn_is_over(any_client: SandboxClient) -> None:
    one = await session(any_client)
    code = f"{FORGE}threading.Timer(0.3, lambda: os.write(protocol, frame(b'O', b'later'))).start()"
    assert (await any_client.run(code, session_id=one)).reason == "OK"
    await wait_until_async(lambda: len(any_client.service._sessions) == 0, what="the session is over")
    with pytest.raises(NotFound):
        await any_client.run("1", session_id=one)


async def test_output_of_a_thread_between_steps_waits_for_the_next(any_client: SandboxClient) -> None:
    late = "import threading\nthreading.Timer({}, lambda: print('late')).start()"
    for seconds in (0.3, 2, 10):  # a shorter one may go off within its own step
        one = await session(any_client)
        said = [(await any_client.run(late.format(seconds), session_id=one)).text]
        await asyncio.sleep(seconds + 1)  # its time between two steps
        said.append((await any_client.run("print('next')", session_id=one)).text)
        await close(any_client, one)
        if said == ["", "late\nnext\n"]:
            break
    assert said == ["", "late\nnext\n"]


async def test_what_is_fixed_for_a_session_cannot_be_changed(any_client: SandboxClient) -> None:
    one = await session(any_client)
    with pytest.raises(InvalidInput):
        await any_client.run("1", session_id=one, limits=pb.Limits(pids=9))
    await close(any_client, one)


async def test_sessions_are_few(backend: FakeBackend) -> None:
    async with sandbox(backend, fast_settings(max_sessions=2, max_sessions_per_tenant=1)) as client:
        await client.until_ready()
        await session(client, tenant="a")
        with pytest.raises(Overloaded) as mine:
            await session(client, tenant="a")
        assert mine.value.retry_after
        await session(client, tenant="b")
        with pytest.raises(Overloaded):
            await session(client, tenant="c")
        assert (await client.capacity()).sessions == 2


async def test_a_session_ends_when_idle(backend: FakeBackend) -> None:
    async with sandbox(backend, fast_settings(max_sessions=2)) as client:
        await client.until_ready()
        stays, idle = await session(client), await session(client, idle_seconds=1.0)
        await wait_until_async(lambda: len(client.service._sessions) == 1)
        with pytest.raises(NotFound):
            await client.run("1", session_id=idle)
        assert (await client.run("print(1)", session_id=stays)).text == "1\n"


async def test_a_container_with_other_limits_is_made_when_asked_for(
    client: SandboxClient, backend: FakeBackend
) -> None:
    ran = await client.run("print(1)", limits=pb.Limits(memory_bytes=1 << 30, pids=20))
    assert ran.text == "1\n" and ran.started is not None and not ran.started.warm
    assert [(one.memory_bytes, one.pids) for one in backend.shapes if one.pids == 20] == [(1 << 30, 20)]


async def test_memory_that_is_too_little_for_the_libraries_is_said(client: SandboxClient, backend: FakeBackend) -> None:
    backend.needs_bytes = 300 << 20
    with pytest.raises(InvalidInput, match=r"memory_bytes is 209715200: too little.* takes about \d+ MiB"):
        await client.run("print(1)", limits=pb.Limits(memory_bytes=200 << 20))
    with pytest.raises(InvalidInput, match="memory_bytes"):
        await session(client, limits=pb.Limits(memory_bytes=200 << 20))
    assert (await client.run("print(1)")).text == "1\n"


async def test_a_queue_that_is_full_refuses_with_a_time(backend: FakeBackend) -> None:
    bounds = fast_settings(max_containers=1, max_warm=1, max_sessions=0, queue_length=2, queue_seconds=60)
    async with sandbox(backend, bounds) as client:
        await client.until_ready()
        long = await client.begin(FOREVER, execution_id="long")
        tasks = [asyncio.create_task(client.run("1")) for _ in range(2)]
        await wait_until_async(lambda: client.service.pool.counts.waiting == 2)
        with pytest.raises(Overloaded) as caught:
            await client.run("1")
        assert caught.value.retry_after
        await unary(client.stub.Cancel(pb.CancelRequest(execution_id="long"), timeout=60))
        assert [one.reason for one in await asyncio.gather(long, *tasks)] == ["CANCELLED", "OK", "OK"]


async def test_a_wait_that_is_too_long_is_refused(backend: FakeBackend) -> None:
    async with sandbox(
        backend, fast_settings(max_containers=1, max_warm=1, max_sessions=0, queue_seconds=0.5)
    ) as client:
        await client.until_ready()
        long = await client.begin(FOREVER, execution_id="long", limits=pb.Limits(wall_seconds=100))
        with pytest.raises(Overloaded):
            await client.run("1")
        await unary(client.stub.Cancel(pb.CancelRequest(execution_id="long"), timeout=60))
        assert (await long).reason == "CANCELLED"


async def test_cancel_works_while_waiting(backend: FakeBackend) -> None:
    async with sandbox(backend, fast_settings(max_containers=1, max_warm=1, max_sessions=0)) as client:
        await client.until_ready()
        long = asyncio.create_task(client.run(FOREVER, execution_id="long"))
        await wait_until_async(lambda: client.service.pool.counts.running == 1)
        waits = asyncio.create_task(client.run("1", execution_id="waits"))
        await wait_until_async(lambda: client.service.pool.counts.waiting == 1)
        await unary(client.stub.Cancel(pb.CancelRequest(execution_id="waits"), timeout=60))
        assert (await waits).reason == "CANCELLED"
        await unary(client.stub.Cancel(pb.CancelRequest(execution_id="long"), timeout=60))
        await long


async def test_a_hundred_callers_get_an_answer_or_a_refusal(backend: FakeBackend) -> None:
    bounds = fast_settings(max_containers=4, max_warm=4, max_sessions=0, queue_length=60, queue_seconds=400)
    async with sandbox(backend, bounds) as client:
        await client.until_ready()
        results = await asyncio.gather(
            *(client.run(f"print({n})", tenant=f"t{n % 5}") for n in range(100)), return_exceptions=True
        )
        answers = {one.text for one in results if not isinstance(one, BaseException)}
        refusals = [one for one in results if isinstance(one, BaseException)]
        assert all(isinstance(one, Overloaded) and one.retry_after for one in refusals), refusals
        assert len(answers) + len(refusals) == 100 and len(answers) >= 60
        assert len(backend.alive) <= 4


async def test_a_dead_engine_is_told_and_recovered_from(client: SandboxClient, backend: FakeBackend) -> None:
    task = await client.begin(FOREVER)
    await backend.crash()
    ran = await task
    assert ran.reason == "ENGINE" and ran.text == "begun\n"

    async def refused() -> bool:
        with pytest.raises(QueleaError) as caught:
            await client.run("1", timeout=60)
        return isinstance(caught.value, Unavailable)

    await wait_until_async(lambda: bool(client.service.pool.down))
    assert await refused()
    backend.down = False
    await client.until_ready()
    assert (await client.run("print(2)")).text == "2\n"


async def test_containers_that_do_not_start_make_it_unready(backend: FakeBackend) -> None:
    backend.fail_creates = 4
    async with sandbox(backend, fast_settings()) as client:
        await wait_until_async(lambda: "makes no container" in client.service.pool.down)
        with pytest.raises(Unavailable):
            await client.run("1")
        await client.until_ready()
        assert (await client.run("print(1)")).text == "1\n"


async def test_capacity_tells_limits_and_counts(client: SandboxClient) -> None:
    capacity = await client.capacity()
    assert capacity.backend == "fake" and capacity.image == "fake" and capacity.version
    assert capacity.ready >= 1 and capacity.max_containers == 6
    assert capacity.defaults.wall_seconds == 60 and capacity.maximum.wall_seconds == 600


async def test_a_slow_reader_does_not_stop_the_clock(any_client: SandboxClient) -> None:
    call = any_client.stub.Execute(
        pb.ExecuteRequest(code="while True: print('x' * 1000)", limits=pb.Limits(wall_seconds=3)), timeout=60
    )
    events = stream(call)
    assert (await anext(events)).HasField("started")
    await wait_until_async(lambda: any_client.service.pool.counts.running == 0)
    last = None
    async for event in events:
        last = event
    assert last is not None and last.finished.reason == pb.EXIT_REASON_TIMEOUT
    assert last.finished.dropped_output_bytes > 0


async def test_health_follows_the_engine(backend: FakeBackend) -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    async with sandbox(backend, fast_settings()) as client, grpc.aio.insecure_channel(client.target) as plain:
        health = health_pb2_grpc.HealthStub(plain)

        async def until(status: int) -> None:
            async with asyncio.timeout(60):
                while (await health.Check(health_pb2.HealthCheckRequest(), timeout=60)).status != status:  # noqa: ASYNC110  # health has no event to wait for
                    await asyncio.sleep(0.1)

        await until(health_pb2.HealthCheckResponse.SERVING)
        await backend.crash()
        await until(health_pb2.HealthCheckResponse.NOT_SERVING)
        backend.down = False
        await until(health_pb2.HealthCheckResponse.SERVING)


async def test_it_serves_once_a_container_of_each_kind_has_started(backend: FakeBackend, tmp_path: Path) -> None:
    """An engine that answers is not enough: what refuses a container, refuses it when it is made."""
    backend.held = {True: asyncio.Event(), False: asyncio.Event()}
    async with sandbox(backend, fast_settings(min_warm=0, demand_seconds=0.2, market_socket_dir=tmp_path)) as client:
        ready = client.service.pool.ready
        await wait_until_async(lambda: not client.service.pool.down, what="the engine was asked, and answers")
        with pytest.raises(Unavailable, match="no container has started yet"):
            await ready()
        asked = asyncio.create_task(client.run("print(1)"))  # who asks early waits, and is not refused
        backend.held[False].set()
        assert (await asked).text == "1\n"
        with pytest.raises(Unavailable, match="1 of 2 kinds"):
            await ready()
        backend.held[True].set()
        await until_serving(client.target)
        # Nothing is kept warm here, so what was started to see that it starts goes again; it serves all the same.
        await wait_until_async(lambda: not backend.alive, what="the pool is empty")
        await ready()


async def test_health_says_why_the_first_container_did_not_start(backend: FakeBackend) -> None:
    backend.fail_creates = 1
    async with sandbox(backend, fast_settings()) as client:
        said: list[str] = []

        async def asked() -> bool:
            try:
                await client.service.pool.ready()
            except Unavailable as error:
                said.append(error.message)
                return False
            return True

        async with asyncio.timeout(60):
            while not await asked():  # noqa: ASYNC110  # readiness has no event to wait for
                await asyncio.sleep(0.01)
    assert any("makes no container" in one for one in said), said


async def spare(
    client: SandboxClient, session_id: str, tenant: str = "", *, waits: bool = True, idle: float = 0
) -> None:
    request = pb.SpareSessionRequest(session_id=session_id, tenant=tenant, spare=waits, idle_seconds=idle)
    await unary(client.stub.SpareSession(request, timeout=60))


async def test_a_spare_session_keeps_what_it_has_and_ends_where_its_place_is_needed() -> None:
    async with sandbox(FakeBackend(), fast_settings(max_sessions=3, max_sessions_per_tenant=2)) as client:
        await client.until_ready()
        first, second = await session(client, tenant="a"), await session(client, tenant="a")
        await client.run("x = 20", session_id=first, tenant="a")
        await spare(client, first, "a")
        with pytest.raises(NotFound):
            await spare(client, first, "b")
        await spare(client, first, "a", waits=False)
        assert (await client.run("print(x)", session_id=first, tenant="a")).text == "20\n"
        with pytest.raises(Overloaded):  # neither is spare
            await session(client, tenant="a")
        await spare(client, first, "a")
        third = await session(client, tenant="a")
        with pytest.raises(NotFound):
            await client.run("print(x)", session_id=first, tenant="a")
        await session(client, tenant="b")
        with pytest.raises(Overloaded):
            await session(client, tenant="c")
        await spare(client, second, "a")
        await session(client, tenant="c")  # of another tenant's spare one
        with pytest.raises(NotFound):
            await spare(client, second, "a")
        await spare(client, third, "a", idle=0.1)
        async with asyncio.timeout(60):
            while await count_sessions(client) > 2:  # noqa: ASYNC110  # the service tells nobody
                await asyncio.sleep(0.02)
        with pytest.raises(InvalidInput, match="idle_seconds"):
            await spare(client, third, "a", idle=1e9)


async def test_who_has_all_its_places_takes_no_spare_one_of_others() -> None:
    async with sandbox(FakeBackend(), fast_settings(max_sessions=2, max_sessions_per_tenant=1)) as client:
        await client.until_ready()
        await session(client, tenant="a")
        other = await session(client, tenant="b")
        await spare(client, other, "b")
        with pytest.raises(Overloaded):
            await session(client, tenant="a")
        await spare(client, other, "b", waits=False)


async def count_sessions(client: SandboxClient) -> int:
    return int((await unary(client.stub.GetCapacity(pb.GetCapacityRequest(), timeout=60))).sessions)
