"""One service of the product, started alone for a while."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

from quelea_kit.errors import QueleaError, Unavailable

_START_SECONDS = 180.0
_STOP_SECONDS = 30.0


@contextlib.contextmanager
def running_service(
    name: str, settings: Mapping[str, str], log: Path, ready: Callable[[str], Coroutine[Any, Any, object]]
) -> Iterator[str]:
    """The service while the block runs; gives its address.

    Args:
        name: "embedder", "generator", …
        settings: Its variables without their prefix.
        log: What it says goes here.
        ready: Called with the address until it raises no QueleaError.

    Raises:
        Unavailable: It ended, or was not ready in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    prefix = f"QUELEA_{name.upper()}_"
    environment = {**os.environ, f"{prefix}LISTEN": address}
    environment |= {f"{prefix}{key}": value for key, value in settings.items()}
    for other in ("QUELEA_STACK_SECRET", "QUELEA_TLS_DIR"):
        environment.pop(other, None)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(  # noqa: S603  # our own command line
            [sys.executable, "-m", f"quelea_{name}"], env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        _wait(name, process, address, log, ready)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait(
    name: str,
    process: subprocess.Popen[bytes],
    address: str,
    log: Path,
    ready: Callable[[str], Coroutine[Any, Any, object]],
) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Unavailable(f"The {name} did not start; see {log}.")
        with contextlib.suppress(QueleaError):
            asyncio.run(ready(address))
            return
        time.sleep(0.3)
    raise Unavailable(f"The {name} was not ready within {_START_SECONDS:.0f} s; see {log}.")
