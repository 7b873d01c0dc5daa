"""What `quelea eval tools` asks: embedder, retriever, catalogue, gateway, as processes on a home that keeps vectors."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from quelea_evaluation.stack.running import end_on_sigterm

_INDEX_SECONDS = 1800.0
_LAST_CHARS = 2000


@dataclass
class Stand:
    """Running processes and their addresses, host:port."""

    addresses: dict[str, str]
    processes: dict[str, tuple[subprocess.Popen[bytes], Path]] = field(default_factory=dict)
    """With its log, by name."""

    @property
    def url(self) -> str:
        """The gateway's."""
        return f"http://{self.addresses['gateway']}"

    def check(self) -> None:
        """Raises RuntimeError with the end of the log of a process that has ended: nobody needs to wait for it."""
        for name, (process, log) in self.processes.items():
            if process.poll() is not None:
                said = log.read_text("utf-8", "replace")[-_LAST_CHARS:]
                raise RuntimeError(f"{name} ended with {process.returncode}. The end of {log}:\n{said}")


def wait_for_index(
    url: str, check: Callable[[], None], say: Callable[[str], None], *, seconds: float = _INDEX_SECONDS
) -> None:
    """Until the gateway has indexed its catalogue.

    Args:
        url: The gateway's.
        check: Raises when there is nothing to wait for.
        say: Told once that it takes time.
        seconds: Longest wait.

    Raises:
        RuntimeError: it was not indexed in time, or `check` said so.
    """
    end, said = time.monotonic() + seconds, False
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as web:
        while True:
            check()
            with contextlib.suppress(httpx2.HTTPError):
                answer = web.get("/v1/tools", params={"q": "x", "k": 1})
                if answer.status_code == 200:
                    return
            if not said:
                say("the catalogue is being indexed; minutes the first time")
                said = True
            if time.monotonic() >= end:
                raise RuntimeError(f"the catalogue was not indexed within {seconds:.0f} s")
            time.sleep(1)


@contextlib.contextmanager
def parts(home: Path, catalogue: Path, model: Path) -> Iterator[Stand]:
    """Embedder, retriever and catalogue for somebody's gateway, started now and ended at the end.

    Vectors are kept by the hash of their texts, so only what changed is embedded again, and what an interrupted run
    embedded is not lost. The index is made anew: a gateway answers from the one before until the new one is there,
    which is right for its users and would be measured here unseen.

    Args:
        home: Where index, vectors and logs are.
        catalogue: The tools.
        model: The encoder.
    """
    home.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(home / "index", ignore_errors=True)
    at = {name: f"127.0.0.1:{_free_port()}" for name in ("embedder", "vectors", "retriever", "tools", "gateway")}
    kept = ("quelea_evaluation.tools.vector_cache", at["vectors"], at["embedder"], str(home / "vectors.sqlite"))
    plan: dict[tuple[str, ...], dict[str, str]] = {
        ("quelea_embedder",): {"QUELEA_EMBEDDER_LISTEN": at["embedder"], "QUELEA_EMBEDDER_MODEL": str(model)},
        kept: {},
        ("quelea_retriever",): {
            "QUELEA_RETRIEVER_LISTEN": at["retriever"],
            "QUELEA_RETRIEVER_EMBEDDER": at["vectors"],
            "QUELEA_RETRIEVER_DATA_DIR": str(home / "index"),
        },
        ("quelea_sandbox.registry.serve",): {
            "QUELEA_SANDBOX_LISTEN": at["tools"],
            "QUELEA_SANDBOX_TOOLS_FILE": str(catalogue),
            "QUELEA_SANDBOX_TOOL_HEALTH_FILE": str(home / "tool-health.json"),
        },
    }
    with end_on_sigterm(), contextlib.ExitStack() as stack:
        stand = Stand(at)
        for arguments, settings in plan.items():
            stack.enter_context(_running_process(stand, home, arguments, settings))
        yield stand


@contextlib.contextmanager
def serving(home: Path, catalogue: Path, model: Path) -> Iterator[Stand]:
    """The `parts` with a gateway in front of them."""
    with parts(home, catalogue, model) as stand:
        settings = {
            "QUELEA_GATEWAY_HTTP_LISTEN": stand.addresses["gateway"],
            "QUELEA_GATEWAY_AUTH": "off",
            "QUELEA_GATEWAY_RETRIEVER": stand.addresses["retriever"],
            "QUELEA_GATEWAY_TOOLS": stand.addresses["tools"],
        }
        with _running_process(stand, home, ("quelea_gateway",), settings):
            yield stand


@contextlib.contextmanager
def _running_process(stand: Stand, home: Path, arguments: Sequence[str], settings: dict[str, str]) -> Iterator[None]:
    path = home / f"{arguments[0]}.log"
    with path.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # our own command line
            [sys.executable, "-m", *arguments], env={**os.environ, **settings}, stdout=log, stderr=subprocess.STDOUT
        )
        stand.processes[arguments[0].removeprefix("quelea_").partition(".")[0]] = (process, path)
        try:
            yield
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
