"""SandboxService over real gRPC, runs: what every caller may count on."""

import asyncio

import pytest
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import (
    Conflict,
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    QueleaError,
    TooLarge,
    Unsupported,
)
from quelea_kit.testing import wait_until_async
from quelea_sandbox.adapters.fake import FakeBackend
from support.sandbox import FORGE, SandboxClient

FOREVER = "import time\nwhile True: time.sleep(0.05)"


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


async def test_an_exception_is_an_error_with_its_traceback(any_client: SandboxClient) -> None:
    ran = await any_client.run("x = 0\nprint('before')\n1 / x")
    assert ran.reason == "ERROR" and ran.text == "before\n"
    assert "line 3" in ran.finished.error and "1 / x" in ran.finished.error
    assert ran.finished.error.endswith("ZeroDivisionError: division by zero")
    assert "guest" not in ran.finished.error


async def test_the_wall_clock_ends_a_run_and_keeps_what_it_said(client: SandboxClient, backend: FakeBackend) -> None:
    ran = await client.run("print('begun')\n" + FOREVER, limits=pb.Limits(wall_seconds=0.5))
    assert ran.reason == "TIMEOUT" and ran.text == "begun\n"
    assert 0.5 <= ran.finished.usage.wall_seconds < 5


async def test_code_that_exits_has_died(any_client: SandboxClient) -> None:
    ran = await any_client.run("import os\nos._exit(3)")
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


async def test_output_over_its_limit_is_dropped_and_counted(any_client: SandboxClient) -> None:
    ran = await any_client.run("print('x' * 100_000)", limits=pb.Limits(output_bytes=1000))
    assert ran.reason == "OK" and len(ran.stdout) == 1000
    assert ran.finished.dropped_output_bytes == 99_001


async def test_files_over_their_limit_are_refused_and_named(any_client: SandboxClient) -> None:
    ran = await any_client.run(
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
    "negative file size": 'frame(b\'F\', b\'{"path": "a", "size": -1}\')',
    "more bytes than announced": "frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'D', b'xx')",
    "output inside a file": "frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'O', b'x')",
}


@pytest.mark.parametrize("what", FORGERIES)
async def test_forged_frames_end_the_run(any_client: SandboxClient, what: str) -> None:
    ran = await any_client.run(f"{FORGE}os.write(protocol, {FORGERIES[what]})\ntime.sleep(30)")
    assert ran.reason == "PROTOCOL", ran.finished.error
    assert (await any_client.run("print(1)")).text == "1\n"


async def test_forged_files_follow_the_same_rules(any_client: SandboxClient) -> None:
    names = ["../up.txt", "/etc/passwd", "a/../../b", "C:x", "x" * 300]
    frames = " + ".join(
        f"frame(b'F', b'{{\"path\": \"{name}\", \"size\": 1}}') + frame(b'D', b'1')" for name in [*names, "fine.txt"]
    )
    ran = await any_client.run(f"{FORGE}os.write(protocol, {frames})")
    assert ran.reason == "OK" and set(ran.files) == {"fine.txt"}
    assert len(ran.finished.refused_files) == len(names)


async def test_cancel_ends_a_run_by_its_id(any_client: SandboxClient) -> None:
    task = asyncio.create_task(any_client.run("print('begun')\n" + FOREVER, execution_id="one"))
    await wait_until_async(lambda: any_client.service.pool.counts.running == 1)
    assert (await unary(any_client.stub.Cancel(pb.CancelRequest(execution_id="one"), timeout=60))).found
    ran = await task
    assert ran.reason == "CANCELLED"
    assert not (await unary(any_client.stub.Cancel(pb.CancelRequest(execution_id="one"), timeout=60))).found


async def test_a_caller_that_leaves_kills_the_run(client: SandboxClient, backend: FakeBackend) -> None:
    call = client.stub.Execute(pb.ExecuteRequest(code=FOREVER), timeout=600)
    assert (await call.read()).HasField("started")
    call.cancel()
    await wait_until_async(lambda: client.service.pool.counts.running == 0, seconds=25)  # before its own 60 s
    await wait_until_async(lambda: any(one.removed for one in backend.containers))


async def test_a_deadline_kills_the_run(any_client: SandboxClient) -> None:
    with pytest.raises(DeadlineExceeded):
        await any_client.run(FOREVER, timeout=0.7)
    await wait_until_async(lambda: any_client.service.pool.counts.running == 0)


async def test_an_id_in_use_is_refused(client: SandboxClient) -> None:
    task = asyncio.create_task(client.run(FOREVER, execution_id="one"))
    await wait_until_async(lambda: client.service.pool.counts.running == 1)
    with pytest.raises(Conflict):
        await client.run("1", execution_id="one")
    await unary(client.stub.Cancel(pb.CancelRequest(execution_id="one"), timeout=60))
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
