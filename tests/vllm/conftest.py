"""A real vLLM on the CPU (make engine-cpu), and the whole product in front of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from quelea_kit.testing import free_port
from support.stack import REPOSITORY, SAMPLES, Stack

MODEL, ADAPTER = "smollm2-135m-instruct", "random-lora"
PYTHON = REPOSITORY / ".engine-cpu/bin/python"
MODELS = REPOSITORY / ".cache/models"
START_SECONDS = 300


class Engine:
    """One engine, started as services/generator/engine/README.md says."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx2.Client(base_url=self.url, timeout=120, trust_env=False)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; returns at once."""
        environment = {
            **os.environ,
            "QUELEA_ENGINE_DEVICE": "cpu",
            "QUELEA_ENGINE_MODEL": str(MODELS / MODEL),
            "QUELEA_ENGINE_ADAPTERS": f"{ADAPTER}={MODELS / ADAPTER}",
            "QUELEA_ENGINE_PORT": str(self.port),
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(PYTHON), "services/generator/engine/launch.py"],
                cwd=REPOSITORY,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def until_ready(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + START_SECONDS
        while not self.healthy():
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text(errors="replace")[-3000:]
            assert time.monotonic() < end, f"not ready within {START_SECONDS} s"
            time.sleep(0.5)

    def healthy(self) -> bool:
        """Whether /health says so."""
        try:
            return self.http.get("/health", timeout=2).status_code == 200
        except httpx2.HTTPError:
            return False

    def kill(self, number: int = signal.SIGKILL) -> None:
        """End the server and its workers, and wait."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                return
            self.process.wait(60)
            self.process = None

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        lines = [line for line in self.http.get("/metrics").text.splitlines() if line.startswith(name)]
        assert lines, f"no metric {name}"
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A running engine."""
    if not PYTHON.exists():
        pytest.fail("There is no engine to test: run `make engine-cpu` first, or `make test-vllm`, which does.")
    one = Engine(tmp_path_factory.mktemp("engine") / "engine.log")
    one.start()
    try:
        one.until_ready()
        yield one
    finally:
        one.kill()


@pytest.fixture(scope="session")
def product(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The product with the engine as its reader, and a Chinese news item and a filing's page in it."""
    small = {
        # The model's context has 2,048 tokens: prompts have to be cut to it.
        "QUELEA_GENERATOR_EVIDENCE_TOKENS": "6000",
        "QUELEA_GENERATOR_HISTORY_TOKENS": "150",
        "QUELEA_GENERATOR_MAX_IN_FLIGHT_PER_ENGINE": "16",
        "QUELEA_GENERATOR_COMEBACK_SECONDS": "5",
        "QUELEA_GENERATOR_MAX_TOKENS": "250",
        "QUELEA_GENERATOR_ATTEMPTS": "2",
    }
    options = ("--reader", "openai", "--openai-base-url", f"{engine.url}/v1", "--openai-model", MODEL)
    one = Stack(tmp_path_factory.mktemp("product") / "home", *options, environment=small)
    try:
        news = SAMPLES / "news" / "2023-10-27-149.json"
        page = (
            b"# Acme Corp. Form 10-Q\n\nFor the quarterly period ended June 30, 2023.\n\n"
            b"Net sales of Acme Corp. were $4,812 million in the second quarter of 2023.\n"
        )
        for job in one.ingest((news.name, news.read_bytes()), ("acme.md", page)):
            assert job["state"] == "succeeded", job
        yield one
    finally:
        one.stop()


@pytest.fixture
def idle(engine: Engine) -> Callable[[], bool]:
    """Whether the engine has nothing to do."""
    return lambda: engine.metric("vllm:num_requests_running") + engine.metric("vllm:num_requests_waiting{") == 0
