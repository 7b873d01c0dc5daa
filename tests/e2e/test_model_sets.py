"""Sets of models, taken up and rolled back: gate and ranker while it runs, an encoder by encoding the index again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from quelea_cli.commands.stack import default_encoder
from support.stack import Stack

QUESTION = "What was the revenue of Bramble Foods in fiscal 2023?"
TEXT = "Bramble Foods annual report\nRevenue was $4,211 million in fiscal 2023.\nCosts were $3,100 million."


def models(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quelea_cli", "models", *arguments, "--home", str(home)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content))
    return path


def make(home: Path, name: str, **parts: Path) -> None:
    arguments = [f"--{kind}={part}={value}" for part, path in parts.items() for kind, value in
                 (("part", path), ("licence", "Apache-2.0"))]  # fmt: skip
    done = models(home, "make", name, *arguments)
    assert done.returncode == 0, done.stderr


def threshold(stack: Stack) -> float:
    """Of the gate that judged a question, which is answered from the document whatever it judged."""
    answer = stack.ask(QUESTION)
    assert "4,211" in answer["answer"], answer
    return float(answer["gate"]["threshold"])


@contextlib.contextmanager
def running(home: Path) -> Iterator[Stack]:
    stack = Stack(home)
    try:
        yield stack
    finally:
        stack.stop()


def refuse_a_gate_of_another_encoder(home: Path, gate: Path) -> None:
    """It is not ready, and says what to do. (That `quelea up` ends with these words: test_supervisor.py.)"""
    log = home / "logs/gateway.log"
    before = log.stat().st_size
    command = [sys.executable, "-m", "quelea_cli", "up", "--home", str(home), "--port", "0", "--start-seconds", "900"]
    environment = {**os.environ, "QUELEA_GATEWAY_GATE_FILE": str(gate)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as mixed:
        try:
            Stack.wait_until(lambda: b"quelea models activate" in log.read_bytes()[before:], 300, "it is refused")
            assert json.loads((home / "run/stack.json").read_text())["state"] != "ready"
        finally:
            mixed.terminate()
            mixed.wait(180)


@pytest.mark.slow(reason="a stack starts three times and is refused once, and an index is encoded twice")
def test_a_set_is_taken_up_and_rolled_back(make_pdf: Callable[..., bytes], tmp_path: Path) -> None:
    home = tmp_path / "home"
    gate = write(tmp_path / "gate.json", {"encoder": "multilingual-e5-small", "threshold": 0.125})
    ranker = {"features_version": 1, "encoder": "", "fitted": "", "anywhere": {"dense": 1}, "in_filing": {"dense": 1}}
    make(home, "lenient", gate=gate, ranker=write(tmp_path / "ranker.json", ranker))
    encoder = tmp_path / "other-e5"
    shutil.copytree(default_encoder(), encoder)
    own = write(tmp_path / "own.json", {"encoder": "other-e5", "fitted": "here", "threshold": 0.25})
    make(home, "other", gate=own, encoder=encoder)

    with running(home) as stack:
        (job,) = stack.ingest(("report.pdf", make_pdf([TEXT])))
        assert job["state"] == "succeeded", job
        packaged = threshold(stack)
        assert models(home, "activate", "lenient").returncode == 0
        stack.wait_until(lambda: threshold(stack) == 0.125, 60, "the running gateway judges by the gate of the set")
        assert models(home, "roll-back").returncode == 0
        stack.wait_until(lambda: threshold(stack) == packaged, 60, "the running gateway judges by the packaged gate")
        refused = models(home, "activate", "other")
        assert refused.returncode == 1
        assert "quelea down" in refused.stderr

    done = models(home, "activate", "other")
    assert done.returncode == 0, done.stderr
    assert "other-e5@" in done.stderr
    with running(home) as stack:
        assert threshold(stack) == 0.25

    refuse_a_gate_of_another_encoder(home, gate)
    assert models(home, "roll-back").returncode == 0
    with running(home) as stack:
        assert threshold(stack) == packaged
