"""What the chart puts into pods beside the services, run for what it is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import socket
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from quelea_kit.processes import process_identity
from quelea_kit.processes.redis_server import redis_command, redis_url
from quelea_search.build import make_records
from quelea_search.settings import SearchSettings
from support.chart_files import FILES, load_file, run_file

_PATIENCE = 120.0


def _until(done: Callable[[], Any]) -> Any:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if found := done():
                return found
        time.sleep(0.05)
    raise AssertionError("it did not come in time")


@pytest.fixture
def redis_at(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "redis.sock"
    process = subprocess.Popen(redis_command(tmp_path, socket=path), stdout=subprocess.DEVNULL)
    _until(path.exists)
    yield redis_url(socket=path)
    process.terminate()
    process.wait()


def test_a_worker_is_alive_while_it_says_so_in_redis(redis_at: str) -> None:
    settings = SearchSettings(redis_url=redis_at)
    ledger = make_records(settings).ledger

    def probe(ask: str) -> int:
        return run_file("worker_alive", ask, QUELEA_SEARCH_REDIS_URL=redis_at).returncode

    _until(lambda: probe("ready") in (0, 1))
    assert probe("live") == probe("ready") == 1
    ledger.worker_lives("another-machine/boot/1/7/99")
    assert probe("live") == 1
    ledger.worker_lives(process_identity.this_process())  # as the worker does, under the name that it has
    assert probe("live") == probe("ready") == 0
    ledger.worker_leaves(process_identity.this_process())
    done = run_file("worker_alive", "live", QUELEA_SEARCH_REDIS_URL=redis_at)
    assert done.returncode == 1
    assert "no sign of life" in done.stderr


def test_a_worker_is_not_ended_because_redis_is_away(tmp_path: Path) -> None:
    nobody = f"unix://{tmp_path}/nobody.sock?db=0"
    assert run_file("worker_alive", "live", QUELEA_SEARCH_REDIS_URL=nobody).returncode == 0
    assert run_file("worker_alive", "ready", QUELEA_SEARCH_REDIS_URL=nobody).returncode == 1


def test_a_loop_that_turns_passes_and_one_that_hangs_does_not(tmp_path: Path) -> None:
    probe = load_file("loop_alive").main
    turning = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(.01)"])
    hanging = subprocess.Popen(
        [sys.executable, "-c", "print('x', flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    )
    try:
        assert hanging.stdout
        hanging.stdout.readline()
        for process in (turning, hanging):
            assert probe(str(process.pid), 0.0, str(tmp_path)) == 0  # seen for the first time
        _until(lambda: probe(str(turning.pid), 0.0, str(tmp_path)) == 0)  # it has turned since
        _until(lambda: probe(str(hanging.pid), 0.0, str(tmp_path)) == 1)
        assert probe(str(hanging.pid), 3600.0, str(tmp_path)) == 0  # not for long enough
    finally:
        for process in (turning, hanging):
            process.kill()
            process.wait()
    assert probe(str(turning.pid), 0.0, str(tmp_path)) == 1


async def test_the_relay_carries_bytes_both_ways_and_knows_when_the_door_is_away(tmp_path: Path) -> None:
    relay = load_file("relay")

    async def door(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        writer.close()

    server = await asyncio.start_server(door, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    path = str(tmp_path / "door.sock")
    async with await relay.serve(path, "127.0.0.1", port):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o666  # noqa: PTH116  # a test's one look
        assert relay.check(path) == 0

        async def ask(text: bytes) -> bytes:
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(text)
            writer.write_eof()
            async with asyncio.timeout(_PATIENCE):
                return await reader.read()

        long = b"a" * 1_000_000
        assert await asyncio.gather(ask(b"hello"), ask(long)) == [b"HELLO", long.upper()]
        server.close()
        await server.wait_closed()
        assert await ask(b"hello") == b""
    assert relay.check(path) == 1


def test_the_relay_serves_as_a_program_until_sigterm(tmp_path: Path) -> None:
    path = str(tmp_path / "door.sock")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen([sys.executable, str(FILES / "relay.py"), path, address])
    try:
        _until(lambda: run_file("relay", "--check", path).returncode == 0)
    finally:
        process.terminate()
    assert process.wait(timeout=_PATIENCE) == 0


def test_an_image_hands_over_its_files_but_not_what_the_node_mounts(tmp_path: Path) -> None:
    root, out = tmp_path / "root", tmp_path / "out" / "runner.tar"
    out.parent.mkdir()
    for path in (
        "usr/bin/python",
        "opt/quelea/guest.py",
        "proc/1/mem",
        "etc/hosts",
        "etc/passwd",
        "tmp/x",
        "run/secrets/token",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / "bin").symlink_to("usr/bin")
    (root / "usr/bin/python").chmod(0o755)
    (root / "work").mkdir()
    assert run_file("runner_files", str(root), str(out)).returncode == 0
    with tarfile.open(out) as archive:
        members = {member.name: member for member in archive.getmembers()}
        assert archive.extractfile("opt/quelea/guest.py").read() == b"opt/quelea/guest.py"  # type: ignore[union-attr]
    assert members["bin"].linkname == "usr/bin"
    assert members["usr/bin/python"].mode & 0o111
    assert "etc/passwd" in members
    assert not {"proc/1", "proc/1/mem", "etc/hosts", "tmp/x", "run/secrets"} & members.keys()
    assert all(members[name].isdir() for name in ("proc", "sys", "dev", "tmp", "run", "work"))
    assert len(members) == len(set(members))


def test_a_member_of_a_qdrant_cluster_knows_its_place(tmp_path: Path) -> None:
    text = (FILES / "qdrant.sh").read_text(encoding="utf-8").replace("cd /qdrant", f"cd {shlex.quote(str(tmp_path))}")
    (tmp_path / "qdrant").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "qdrant").chmod(0o755)

    def told(host: str) -> str:
        return subprocess.run(
            ["/bin/sh", "-c", text],
            env={"HOSTNAME": host, "QUELEA_QDRANT_PEERS": "q"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    assert told("q-0") == "--uri http://q-0.q:6335"
    assert told("q-11") == "--bootstrap http://q-0.q:6335 --uri http://q-11.q:6335"


def test_redis_takes_the_configuration_and_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """On the bundled server, whose version is older than the image's: what it takes, that one does too."""
    command = redis_command(tmp_path, socket=tmp_path / "s.sock")
    text = (FILES / "redis.conf").read_text(encoding="utf-8")
    own = text.replace("port 6379", "port 0").replace("/data", f'"{tmp_path}"').replace("bind * -::*\n", "")
    own = own.replace("/etc/redis-auth", str(tmp_path))
    (tmp_path / "auth.conf").write_text("requirepass secret\n")
    config = tmp_path / "redis.conf"
    config.write_text(f'{own}\nunixsocket "{tmp_path}/s.sock"\n')
    import redis

    for asked in (None, "kept"):
        process = subprocess.Popen([command[0], str(config)], stdout=subprocess.DEVNULL)
        try:
            path = str(tmp_path / "s.sock")
            client = redis.Redis(unix_socket_path=path, password="secret", decode_responses=True)
            _until((tmp_path / "s.sock").exists)
            with pytest.raises(redis.AuthenticationError):
                redis.Redis(unix_socket_path=path).ping()
            assert client.get("k") == asked
            client.set("k", "kept")
            assert client.config_get("appendfsync")["appendfsync"] == "always"
            assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        finally:
            process.kill()  # no time to write anything
            process.wait()
            (tmp_path / "s.sock").unlink(missing_ok=True)
