"""The private Redis of quelea_kit: found, reachable only here, and it forgets nothing when it is killed."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
import redis
from quelea_kit.processes.redis_server import find_redis_server, redis_command, redis_url
from quelea_kit.testing import free_port, wait_until


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_the_machines_own_server_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    bundled = find_redis_server()
    assert bundled.is_file()
    own = tmp_path / "valkey-server"
    own.touch(mode=0o755)
    assert find_redis_server() == own


@pytest.mark.parametrize("where", ["port", "socket"])
def test_it_keeps_what_was_acknowledged(where: str) -> None:
    with tempfile.TemporaryDirectory(prefix="quelea-") as name:
        folder = Path(name)
        socket = folder / "s" if where == "socket" else None
        port = 0 if socket else free_port()
        client = redis.Redis.from_url(redis_url(port=port, socket=socket))
        for life in range(2):
            with subprocess.Popen(
                redis_command(folder, port=port, socket=socket), stdout=subprocess.DEVNULL
            ) as process:
                try:
                    wait_until(lambda: answers(client), what="redis answers")
                    assert client.get("k") == (None if life == 0 else b"v")
                    client.set("k", "v")
                    if socket:
                        assert socket.stat().st_mode & 0o777 == 0o700
                    else:
                        assert client.config_get("bind")["bind"] == "127.0.0.1"
                finally:
                    process.kill()
