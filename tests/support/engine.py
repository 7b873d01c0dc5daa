"""A real vLLM on the CPU, as services/generator/engine/README.md starts it. `make engine-vllm` makes what it needs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import httpx2
from quelea_kit.testing import free_port
from support.stack import REPOSITORY

MODEL, ADAPTER = "smollm2-135m-8-layers", "random-lora"
"""The first layers of the small model (services/generator/engine/prepare_cpu.py): no sense, in a third of the time."""
PYTHON = REPOSITORY / ".engine-vllm/bin/python"
MODELS = REPOSITORY / ".cache/models"
START_SECONDS = 600
LONGEST = 60
"""Tokens of an answer of the product, at most."""


class Engine:
    """One engine with a model and the adapter, started as services/generator/engine/README.md says."""

    def __init__(self, log: Path, model: str = MODEL) -> None:
        self.log = log
        self.model = model
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx2.Client(base_url=self.url, timeout=300, trust_env=False)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; returns at once."""
        environment = {
            **os.environ,
            "QUELEA_ENGINE_DEVICE": "cpu",
            "QUELEA_ENGINE_MODEL": str(MODELS / self.model),
            "QUELEA_ENGINE_ADAPTERS": f"{ADAPTER}={MODELS / ADAPTER}",
            "QUELEA_ENGINE_PORT": str(self.port),
            "QUELEA_ENGINE_MAX_LORA_RANK": "8",  # on a CPU each token pays for every row up to it
            # What has no sense may fill JSON with blanks up to its last token.
            "QUELEA_ENGINE_ARGUMENTS": "--structured-outputs-config.backend xgrammar"
            " --structured-outputs-config.disable_any_whitespace true",
            # vLLM would bind its one thread to the first core, and wait for it while another is free. Two threads would
            # use nearly twice the processor time, waiting for one another.
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": "1",
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
