"""Trainings as their user starts them. The one that is killed has a process of its own; what follows runs in this one,
which has loaded torch already: loading it is most of what so small a training takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from click.testing import Result
from quelea_training.cli import app
from quelea_training.long_runs import last_checkpoint
from typer.testing import CliRunner


def kill_at_first_checkpoint(words: Sequence[str], out: Path) -> Path:
    """`quelea train WORDS` in a process of its own, until `out` holds a checkpoint, which is returned; then kill -9."""
    log = out.with_name(f"{out.name}.log")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "quelea_training", *words],
            stderr=file,
            stdout=file,
            env=environment,
            start_new_session=True,
        )
        end = time.monotonic() + 300
        while last_checkpoint(out) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    checkpoint = last_checkpoint(out)
    assert checkpoint is not None
    return checkpoint


def train(words: Sequence[str]) -> Result:
    """`quelea train WORDS`, here and now: its exit code, and what it wrote."""
    return CliRunner().invoke(app, list(words))
