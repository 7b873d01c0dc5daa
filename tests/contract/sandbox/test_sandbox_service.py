"""SandboxService over real gRPC with the fake backend: what every caller may count on."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.client import stream, unary
from quelea_kit.errors import (
    Conflict,
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    Overloaded,
    QueleaError,
    TooLarge,
    Unavailable,
    Unsupported,
)
from quelea_kit.testing import wait_until_async
from quelea_sandbox.adapters.fake import FakeBackend
from quelea_sandbox.settings import SandboxSettings
from support.sandbox import SandboxClient, sandbox

FOREVER = "import time\nwhile True: time.sleep(0.05)"


def settings(**fields: object) -> SandboxSettings:
    return SandboxSettings(**{"drain_seconds": 0.2, "check_seconds": 0.2, "max_containers": 6, "max_warm": 2, **fields})


@pytest.fixture
async def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
async def client(backend: FakeBackend) -> AsyncIterator[SandboxClient]:
    async with sandbox(backend, settings()) as one:
        await one.until_ready()
        yield one
    assert not backend.alive


async def test_output_files_and_the_last_value_come_back(client: SandboxClient) -> None:
    ran = await client.run(
        "import sys\nprint('到', open('data/in.csv').read())\nprint('careful', file=sys.stderr)\n"
        "open('out.csv', 'w').write('a,b\\n1,2\\n')\n6 * 7",
        execution_id="mine",
        files=[pb.File(path="data/in.csv", data=b"x,y")],
    )
    assert ran.reason == "OK" and ran.finished.error == ""
    assert ran.text == "到 x,y\n42\n" and ran.stderr == b"careful\n"
    assert {path: (file.data, file.media_type) for path, file in ran.files.items()} == {
        "out.csv": (b"a,b\n1,2\n", "text/csv")
    }
    assert ran.started is not None and ran.started.execution_id == "mine"
    assert ran.started.warm and ran.started.backend == "fake" and not ran.started.session_id
    assert 0 < ran.finished.usage.wall_seconds < ran.finished.total_ms / 1000
    assert ran.finished.usage.memory_peak_bytes > 1 << 20


async def test_an_exception_is_an_error_with_its_traceback(client: SandboxClient) -> None:
    ran = await client.run("x = 0\nprint('before')\n1 / x")
    assert ran.reason == "ERROR" and ran.text == "before\n"
    assert "line 3" in ran.finished.error and "1 / x" in ran.finished.error
    assert ran.finished.error.endswith("ZeroDivisionError: division by zero")
    assert "guest" not in ran.finished.error


async def test_the_wall_clock_ends_a_run_and_keeps_what_it_said(client: SandboxClient, backend: FakeBackend) -> None:
    ran = await client.run("print('begun')\n" + FOREVER, limits=pb.Limits(wall_seconds=0.5))
    assert ran.reason == "TIMEOUT" and ran.text == "begun\n"
    assert 0.5 <= ran.finished.usage.wall_seconds < 5


async def test_code_that_exits_has_died(client: SandboxClient) -> None:
    ran = await client.run("import os\nos._exit(3)")
    assert ran.reason == "DIED" and "exit code 3" in ran.finished.error


async def test_the_kernels_kill_for_memory_is_named(client: SandboxClient, backend: FakeBackend) -> None:
    for one in backend.containers:
        one.out_of_memory = True
    ran = await client.run("import os\nos._exit(137)")
    assert ran.reason == "MEMORY" and "MiB" in ran.finished.error


async def test_one_container_for_one_run(client: SandboxClient, backend: FakeBackend) -> None:
    first = await client.run("import os, builtins\nbuiltins.secret = 1\nprint(os.getpid())")
    second = await client.run("import os, builtins\nprint(os.getpid())\nprint(hasattr(builtins, 'secret'))")
    assert first.text.strip() != second.text.split()[0]
    assert second.text.split()[1] == "False"
    await wait_until_async(lambda: sum(one.removed for one in backend.containers) >= 2)


async def test_output_over_its_limit_is_dropped_and_counted(client: SandboxClient) -> None:
    ran = await client.run("print('x' * 100_000)", limits=pb.Limits(output_bytes=1000))
    assert ran.reason == "OK" and len(ran.stdout) == 1000
    assert ran.finished.dropped_output_bytes == 99_001


async def test_files_over_their_limit_are_refused_and_named(client: SandboxClient) -> None:
    ran = await client.run(
        "open('a.txt', 'w').write('a' * 600)\nopen('b.txt', 'w').write('b' * 600)\nopen('c.txt', 'w').write('c')",
        limits=pb.Limits(files_bytes=1000),
    )
    assert set(ran.files) == {"a.txt", "c.txt"}
    assert len(ran.finished.refused_files) == 1 and ran.finished.refused_files[0].startswith("b.txt: 600 bytes")


async def test_links_and_strange_names_do_not_come_back(client: SandboxClient) -> None:
    ran = await client.run(
        "import os\nos.symlink('/etc/passwd', 'passwd.txt')\nos.mkfifo('pipe')\nos.mkdir('d')\n"
        "os.symlink('/etc', 'd/etc')\nopen('a\\nb', 'w').write('1')\nopen(b'\\xff.txt', 'w').write('1')\n"
        "open('good.txt', 'w').write('1')"
    )
    assert ran.reason == "OK" and set(ran.files) == {"good.txt"}
    assert len(ran.finished.refused_files) == 2


FORGERIES = {
    "an unknown type": "b'Q' + (1).to_bytes(4, 'big') + b'x'",
    "a huge length": "b'O' + (1 << 31).to_bytes(4, 'big')",
    "a second ready": 'frame(b\'R\', b\'{"guest": 1, "python": "3"}\')',
    "bytes of no file": "frame(b'D', b'x')",
    "another run's end": 'frame(b\'Z\', b\'{"id": "x", "ok": true, "error": ""}\')',
    "an end that is no JSON": "frame(b'Z', b'pickle')",
    "a deep end": "frame(b'Z', b'[' * 50_000)",
    "a file of negative size": 'frame(b\'F\', b\'{"path": "a", "size": -1}\')',
    "more bytes than announced": "frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'D', b'xx')",
    "output inside a file": "frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'O', b'x')",
}
PREAMBLE = """
import os, sys, threading, time
def frame(kind, data): return kind + len(data).to_bytes(4, 'big') + data
protocol = sys._getframe(3).f_globals['_OUT']
"""


@pytest.mark.parametrize("what", FORGERIES)
async def test_forged_frames_end_the_run(client: SandboxClient, what: str) -> None:
    ran = await client.run(f"{PREAMBLE}os.write(protocol, {FORGERIES[what]})\ntime.sleep(30)")
    assert ran.reason == "PROTOCOL", ran.finished.error
    assert (await client.run("print(1)")).text == "1\n"


async def test_forged_files_follow_the_same_rules(client: SandboxClient) -> None:
    names = ["../up.txt", "/etc/passwd", "a/../../b", "C:x", "x" * 300]
    frames = " + ".join(
        f"frame(b'F', b'{{\"path\": \"{name}\", \"size\": 1}}') + frame(b'D', b'1')" for name in [*names, "fine.txt"]
    )
    ran = await client.run(f"{PREAMBLE}os.write(protocol, {frames})")
    assert ran.reason == "OK" and set(ran.files) == {"fine.txt"}
    assert len(ran.finished.refused_files) == len(names)


async def test_cancel_ends_a_run_by_its_id(client: SandboxClient) -> None:
    task = asyncio.create_task(client.run("print('begun')\n" + FOREVER, execution_id="one"))
    await wait_until_async(lambda: client.service.pool.counts.running == 1)
    assert (await unary(client.stub.Cancel(pb.CancelRequest(execution_id="one"), timeout=5))).found
    ran = await task
    assert ran.reason == "CANCELLED"
    assert not (await unary(client.stub.Cancel(pb.CancelRequest(execution_id="one"), timeout=5))).found


async def test_a_caller_that_leaves_kills_the_run(client: SandboxClient, backend: FakeBackend) -> None:
    call = client.stub.Execute(pb.ExecuteRequest(code=FOREVER), timeout=60)
    assert (await call.read()).HasField("started")
    call.cancel()
    await wait_until_async(lambda: client.service.pool.counts.running == 0)
    await wait_until_async(lambda: any(one.removed for one in backend.containers))


async def test_a_deadline_kills_the_run(client: SandboxClient) -> None:
    with pytest.raises(DeadlineExceeded):
        await client.run(FOREVER, timeout=0.7)
    await wait_until_async(lambda: client.service.pool.counts.running == 0)


async def test_an_id_in_use_is_refused(client: SandboxClient) -> None:
    task = asyncio.create_task(client.run(FOREVER, execution_id="one"))
    await wait_until_async(lambda: client.service.pool.counts.running == 1)
    with pytest.raises(Conflict):
        await client.run("1", execution_id="one")
    await unary(client.stub.Cancel(pb.CancelRequest(execution_id="one"), timeout=5))
    await task


BAD_REQUESTS = [
    ({"code": " "}, InvalidInput),
    ({"execution_id": "a b"}, InvalidInput),
    ({"execution_id": "x" * 65}, InvalidInput),
    ({"files": [pb.File(path="../a")]}, InvalidInput),
    ({"files": [pb.File(path="a"), pb.File(path="a")]}, InvalidInput),
    ({"files": [pb.File(path="a"), pb.File(path="a/b")]}, InvalidInput),
    ({"files": [pb.File(path=f"f{n}") for n in range(65)]}, TooLarge),
    ({"files": [pb.File(path="a", data=bytes((32 << 20) + 1))]}, TooLarge),
    ({"code": "#" * (256 * 1024 + 1)}, TooLarge),
    ({"limits": pb.Limits(wall_seconds=-1)}, InvalidInput),
    ({"limits": pb.Limits(cpus=float("nan"))}, InvalidInput),
    ({"limits": pb.Limits(wall_seconds=1e9)}, TooLarge),
    ({"limits": pb.Limits(memory_bytes=1 << 50)}, TooLarge),
    ({"limits": pb.Limits(memory_bytes=1)}, InvalidInput),
    ({"network": 99}, InvalidInput),
    ({"network": pb.NETWORK_POLICY_MARKET_DATA, "market_token": "t"}, Unsupported),
    ({"tenant": "t" * 201}, InvalidInput),
    ({"market_token": "a\nb"}, InvalidInput),
    ({"session_id": "nobody's"}, NotFound),
]


@pytest.mark.parametrize(("fields", "error"), BAD_REQUESTS, ids=lambda value: str(value)[:40])
async def test_bad_requests_say_what_to_do(client: SandboxClient, fields: dict, error: type[QueleaError]) -> None:
    with pytest.raises(error) as caught:
        await client.run(**{"code": "1", **fields})
    assert type(caught.value) is error and len(caught.value.message) > 10


async def session(client: SandboxClient, **fields: object) -> str:
    return (await unary(client.stub.CreateSession(pb.CreateSessionRequest(**fields), timeout=20))).session_id


async def close(client: SandboxClient, session_id: str) -> None:
    await unary(client.stub.CloseSession(pb.CloseSessionRequest(session_id=session_id), timeout=5))


async def test_a_session_keeps_variables_and_files(client: SandboxClient) -> None:
    one = await session(client)
    assert (await client.run("x = 20\nopen('kept.txt', 'w').write('k')", session_id=one)).files
    failed = await client.run("x += 1\nundefined", session_id=one)
    assert failed.reason == "ERROR"
    again = await client.run("print(x, open('kept.txt').read())", session_id=one)
    assert again.text == "21 k\n" and not again.files
    assert again.started is not None and again.started.session_id == one
    await close(client, one)
    with pytest.raises(NotFound):
        await client.run("x", session_id=one)


async def test_a_session_belongs_to_its_tenant(client: SandboxClient) -> None:
    one = await session(client, tenant="a")
    with pytest.raises(NotFound):
        await client.run("1", session_id=one, tenant="b")
    assert (await client.run("1", session_id=one, tenant="a")).reason == "OK"
    await close(client, one)


async def test_one_step_at_a_time_and_a_killed_step_ends_the_session(client: SandboxClient) -> None:
    one = await session(client)
    task = asyncio.create_task(client.run(FOREVER, session_id=one, limits=pb.Limits(wall_seconds=1.5)))
    await asyncio.sleep(0.3)
    with pytest.raises(Conflict):
        await client.run("1", session_id=one)
    assert (await task).reason == "TIMEOUT"
    with pytest.raises(NotFound):
        await client.run("1", session_id=one)


async def test_closing_a_session_cancels_its_step(client: SandboxClient) -> None:
    one = await session(client)
    task = asyncio.create_task(client.run(FOREVER, session_id=one, execution_id="step"))
    await asyncio.sleep(0.3)
    await close(client, one)
    assert (await task).reason == "CANCELLED"


async def test_a_session_that_speaks_out_of_turn_is_over(client: SandboxClient) -> None:
    one = await session(client)
    code = f"{PREAMBLE}threading.Timer(0.3, lambda: os.write(protocol, frame(b'O', b'later'))).start()"
    assert (await client.run(code, session_id=one)).reason == "OK"
    await asyncio.sleep(0.6)
    with pytest.raises(NotFound):
        await client.run("1", session_id=one)


async def test_output_of_a_thread_between_steps_waits_for_the_next(client: SandboxClient) -> None:
    one = await session(client)
    await client.run("import threading\nthreading.Timer(0.3, lambda: print('late')).start()", session_id=one)
    await asyncio.sleep(0.6)
    assert (await client.run("print('next')", session_id=one)).text == "late\nnext\n"
    await close(client, one)


async def test_what_is_fixed_for_a_session_cannot_be_changed(client: SandboxClient) -> None:
    one = await session(client)
    with pytest.raises(InvalidInput):
        await client.run("1", session_id=one, limits=pb.Limits(pids=9))
    await close(client, one)


async def test_sessions_are_few_and_end_when_idle(backend: FakeBackend) -> None:
    async with sandbox(backend, settings(max_sessions=2, max_sessions_per_tenant=1)) as client:
        await client.until_ready()
        one = await session(client, tenant="a", idle_seconds=1.0)
        with pytest.raises(Overloaded) as mine:
            await session(client, tenant="a")
        assert mine.value.retry_after
        await session(client, tenant="b")
        with pytest.raises(Overloaded):
            await session(client, tenant="c")
        assert (await client.capacity()).sessions == 2
        await wait_until_async(lambda: len(client.service._sessions) == 1)
        with pytest.raises(NotFound):
            await client.run("1", session_id=one, tenant="a")


async def test_a_container_with_other_limits_is_made_when_asked_for(
    client: SandboxClient, backend: FakeBackend
) -> None:
    ran = await client.run("print(1)", limits=pb.Limits(memory_bytes=1 << 30, pids=20))
    assert ran.text == "1\n" and ran.started is not None and not ran.started.warm
    assert [(one.memory_bytes, one.pids) for one in backend.shapes if one.pids == 20] == [(1 << 30, 20)]


async def test_memory_that_is_too_little_for_the_libraries_is_said(client: SandboxClient, backend: FakeBackend) -> None:
    backend.needs_bytes = 300 << 20
    with pytest.raises(InvalidInput, match="memory_bytes is 209715200: too little.* takes about \\d+ MiB"):
        await client.run("print(1)", limits=pb.Limits(memory_bytes=200 << 20))
    with pytest.raises(InvalidInput, match="memory_bytes"):
        await session(client, limits=pb.Limits(memory_bytes=200 << 20))
    assert (await client.run("print(1)")).text == "1\n"


async def test_a_queue_that_is_full_refuses_with_a_time(backend: FakeBackend) -> None:
    bounds = settings(max_containers=1, max_warm=1, max_sessions=0, queue_length=2, queue_seconds=20)
    async with sandbox(backend, bounds) as client:
        await client.until_ready()
        tasks = [asyncio.create_task(client.run("import time; time.sleep(1)")) for _ in range(3)]
        await wait_until_async(lambda: client.service.pool.counts.waiting == 2)
        with pytest.raises(Overloaded) as caught:
            await client.run("1")
        assert caught.value.retry_after
        assert [one.reason for one in await asyncio.gather(*tasks)] == ["OK"] * 3


async def test_a_wait_that_is_too_long_is_refused(backend: FakeBackend) -> None:
    async with sandbox(backend, settings(max_containers=1, max_warm=1, max_sessions=0, queue_seconds=0.5)) as client:
        await client.until_ready()
        long = asyncio.create_task(client.run(FOREVER, limits=pb.Limits(wall_seconds=3)))
        await wait_until_async(lambda: client.service.pool.counts.running == 1)
        with pytest.raises(Overloaded):
            await client.run("1")
        assert (await long).reason == "TIMEOUT"


async def test_cancel_works_while_waiting(backend: FakeBackend) -> None:
    async with sandbox(backend, settings(max_containers=1, max_warm=1, max_sessions=0)) as client:
        await client.until_ready()
        long = asyncio.create_task(client.run(FOREVER, execution_id="long"))
        await wait_until_async(lambda: client.service.pool.counts.running == 1)
        waits = asyncio.create_task(client.run("1", execution_id="waits"))
        await wait_until_async(lambda: client.service.pool.counts.waiting == 1)
        await unary(client.stub.Cancel(pb.CancelRequest(execution_id="waits"), timeout=5))
        assert (await waits).reason == "CANCELLED"
        await unary(client.stub.Cancel(pb.CancelRequest(execution_id="long"), timeout=5))
        await long


async def test_a_hundred_callers_get_an_answer_or_a_refusal(backend: FakeBackend) -> None:
    bounds = settings(max_containers=4, max_warm=4, max_sessions=0, queue_length=60, queue_seconds=40)
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
    task = asyncio.create_task(client.run("print('begun')\n" + FOREVER))
    await wait_until_async(lambda: client.service.pool.counts.running == 1)
    await asyncio.sleep(0.2)
    await backend.crash()
    ran = await task
    assert ran.reason == "ENGINE" and ran.text == "begun\n"

    async def refused() -> bool:
        with pytest.raises(QueleaError) as caught:
            await client.run("1", timeout=5)
        return isinstance(caught.value, Unavailable)

    await wait_until_async(lambda: bool(client.service.pool.down))
    assert await refused()
    backend.down = False
    await client.until_ready()
    assert (await client.run("print(2)")).text == "2\n"


async def test_containers_that_do_not_start_make_it_unready(backend: FakeBackend) -> None:
    backend.fail_creates = 4
    async with sandbox(backend, settings()) as client:
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


async def test_a_slow_reader_does_not_stop_the_clock(client: SandboxClient) -> None:
    call = client.stub.Execute(
        pb.ExecuteRequest(code="while True: print('x' * 1000)", limits=pb.Limits(wall_seconds=0.7)), timeout=60
    )
    assert (await call.read()).HasField("started")
    await wait_until_async(lambda: client.service.pool.counts.running == 0, seconds=20)
    last = None
    async for event in stream(call):
        last = event
    assert last is not None and last.finished.reason == pb.EXIT_REASON_TIMEOUT
    assert last.finished.dropped_output_bytes > 0


async def test_health_follows_the_engine(backend: FakeBackend) -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    async with sandbox(backend, settings()) as client, grpc.aio.insecure_channel(client.target) as plain:
        health = health_pb2_grpc.HealthStub(plain)

        async def until(status: int) -> None:
            async with asyncio.timeout(20):
                while (await health.Check(health_pb2.HealthCheckRequest(), timeout=5)).status != status:  # noqa: ASYNC110  # health has no event to wait for
                    await asyncio.sleep(0.1)

        await until(health_pb2.HealthCheckResponse.SERVING)
        await backend.crash()
        await until(health_pb2.HealthCheckResponse.NOT_SERVING)
        backend.down = False
        await until(health_pb2.HealthCheckResponse.SERVING)
