"""A training that is killed and gone on with, beside one that is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from click.testing import Result
from quelea_training.checkpoints import last_checkpoint
from quelea_training.cli import app
from safetensors.torch import load_file
from typer.testing import CliRunner

ALONE = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
_START, _END = 300, 400
"""Seconds, at most."""


def train(
    words: Sequence[str], out: Path, processes: int, environment: Mapping[str, str] = ALONE
) -> subprocess.CompletedProcess[str]:
    """Run `quelea train WORDS --out OUT` in processes of its own to its end."""
    return subprocess.run(
        _command(words, out, processes), check=False, capture_output=True, text=True, env=environment, timeout=_END
    )


def train_here(words: Sequence[str], out: Path) -> Result:
    """Run it in this process, which has loaded torch: each other takes seconds for that. With `--threads` in WORDS."""
    return CliRunner().invoke(app, [*words, "--out", str(out)])


def kill_when_it_has_a_checkpoint(
    words: Sequence[str], out: Path, processes: int = 1, environment: Mapping[str, str] = ALONE
) -> Path:
    """Begin the same and end it by kill -9. The checkpoint that is left, with a torn one beside it."""
    log = out.with_name("log")
    with log.open("w") as file:
        process = psutil.Popen(_command(words, out, processes), stderr=file, stdout=file, env=environment)
        end = time.monotonic() + _START
        while last_checkpoint(out) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.01)
        for one in (*process.children(recursive=True), process):
            one.kill()
        process.wait(60)
    checkpoint = last_checkpoint(out)
    assert checkpoint is not None
    assert not (out / "report.json").exists(), "it was too fast to be killed"
    torn = checkpoint.with_name("checkpoint-9999")  # a kill in the middle of writing
    torn.mkdir()
    (torn / "trainer_state.json").write_text('{"global_step"')
    assert last_checkpoint(out) == checkpoint
    return checkpoint


def check_that_a_kill_loses_one_interval(words: Sequence[str], folder: Path) -> tuple[Path, Path]:
    """kill -9 while it trains; the same command goes on, another is refused.

    Args:
        words: Of the command, with `--rate` and one thread among them.
        folder: To work in.

    Returns:
        The folders of the run that was killed and of one that was left alone: their weights must be the same.
    """
    killed, alone = folder / "killed", folder / "alone"
    checkpoint = kill_when_it_has_a_checkpoint(words, killed)
    at = words.index("--rate") + 1
    refused = train_here([*words[:at], "0.001", *words[at + 1 :]], killed)
    assert refused.exit_code == 1
    assert "rate" in refused.stderr
    for out in (killed, alone):
        done = train_here(words, out)
        assert done.exit_code == 0, done.output
        assert (f"going on from {checkpoint.name}" in done.stderr) == (out == killed)
    return killed, alone


def distance(one: Path, other: Path) -> float:
    """The largest difference of two files of weights."""
    first, second = load_file(one), load_file(other)
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def _command(words: Sequence[str], out: Path, processes: int = 1) -> list[str]:
    # As accelerate launches several GPUs; on CPUs it would start one process, however many it is told.
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
    return [sys.executable, *(launch if processes > 1 else []), "-m", "quelea_training", *words, "--out", str(out)]
