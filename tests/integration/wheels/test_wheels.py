"""Our wheels and the registry's, in an empty environment away from the checkout: a stack starts, reads and answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from quelea_kit.testing import free_port

REPOSITORY = Path(__file__).parents[3]
QUESTION = "2023年第三季度，三星的智能手机出货量是多少？"


def run(*words: Any, cwd: Path, environment: dict[str, str], seconds: float = 240) -> str:
    """What a command prints; AssertionError with what it said when it fails."""
    done = subprocess.run(
        [str(one) for one in words],
        check=False,
        cwd=cwd,
        env=environment,
        timeout=seconds,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.slow(reason="some 170 packages are installed, and a stack starts")
def test_an_installed_quelea_starts_reads_and_answers(tmp_path: Path) -> None:
    home, away = tmp_path / "user", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    passed = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "REQUESTS_", "LANG"))}
    environment = {**passed, "HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    run(
        sys.executable,
        REPOSITORY / "deploy/wheels/build.py",
        "--out",
        tmp_path / "dist",
        cwd=away,
        environment=environment,
    )
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=away, environment=environment)
    bin_ = tmp_path / "venv/bin"
    install = (bin_ / "pip", "install", "-q", "--only-binary", ":all:", "--find-links", tmp_path / "dist", "quelea")
    run(*install, cwd=away, environment=environment, seconds=600)

    quelea, port = bin_ / "quelea", free_port()
    environment["QUELEA_URL"] = f"http://127.0.0.1:{port}"
    samples = Path(run(quelea, "samples", cwd=away, environment=environment).strip())
    assert tmp_path in samples.parents
    try:
        run(quelea, "up", "--detach", "--port", port, cwd=away, environment=environment)
        run(quelea, "ingest", samples / "news/2023-10-27-149.json", cwd=away, environment=environment)
        answer = json.loads(run(quelea, "ask", QUESTION, "--json", cwd=away, environment=environment))
    finally:
        run(quelea, "down", cwd=away, environment=environment)
    assert "5740万部" in answer["answer"]
    assert "Canalys" in answer["citations"][0]["title"]
    assert (home / ".cache/quelea").is_dir()
    assert (home / ".local/share/quelea/home").is_dir()
    assert list(away.iterdir()) == []
