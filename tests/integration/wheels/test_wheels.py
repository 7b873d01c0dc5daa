"""Our wheels and the registry's, in an empty environment away from the checkout: a stack starts, reads and answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import httpx2
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


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of them, built as `make dist` does."""
    dist, away = tmp_path_factory.mktemp("wheels") / "dist", tmp_path_factory.mktemp("away")
    build = (sys.executable, REPOSITORY / "deploy/wheels/build.py", "--out", dist)
    run(*build, cwd=away, environment=dict(os.environ), seconds=600)
    return dist


def files_of_ours() -> set[str]:
    """Every file that git knows of our packages and samples, by its name in a wheel."""
    folders = [
        line[5:] for line in (REPOSITORY / "requirements/ours.txt").read_text().splitlines() if line[:3] == "-e "
    ]
    found: set[str] = set()
    for folder in (Path(one) for one in folders):
        table = tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())
        packages = [str(folder / one) for one in table["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]
        tracked = subprocess.run(
            ["git", "ls-files", *packages], cwd=REPOSITORY, check=True, capture_output=True, text=True, timeout=60
        )
        found |= {str(Path(one).relative_to(folder)) for one in tracked.stdout.splitlines()}
    samples = subprocess.run(
        ["git", "ls-files", "samples"], cwd=REPOSITORY, check=True, capture_output=True, text=True, timeout=60
    )
    return found | {f"quelea_samples/{one.removeprefix('samples/')}" for one in samples.stdout.splitlines()}


def test_every_file_of_ours_is_in_a_wheel(wheels: Path) -> None:
    there = {name for wheel in wheels.glob("*.whl") for name in zipfile.ZipFile(wheel).namelist()}
    wanted = files_of_ours()
    assert "quelea_gateway/page/vendor/pdfjs/pdf.min.mjs" in wanted
    assert sorted(wanted - there) == []


@pytest.mark.slow(reason="some 170 packages are installed, and a stack starts")
def test_an_installed_quelea_starts_reads_and_answers(tmp_path: Path, wheels: Path) -> None:
    home, away = tmp_path / "user", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    passed = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "REQUESTS_", "LANG"))}
    environment = {**passed, "HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=away, environment=environment)
    bin_ = tmp_path / "venv/bin"
    # Of 170 packages, what is imported is compiled then.
    install = (
        bin_ / "pip",
        "install",
        "-q",
        "--no-compile",
        "--only-binary",
        ":all:",
        "--find-links",
        wheels,
        "quelea",
    )
    run(*install, cwd=away, environment=environment, seconds=600)

    quelea, port = bin_ / "quelea", free_port()
    environment["QUELEA_URL"] = f"http://127.0.0.1:{port}"
    samples = Path(run(quelea, "samples", cwd=away, environment=environment).strip())
    assert tmp_path in samples.parents
    try:
        run(quelea, "up", "--detach", "--port", port, cwd=away, environment=environment)
        run(quelea, "ingest", samples / "news/2023-10-27-149.json", cwd=away, environment=environment)
        run(quelea, "collections", "create", "deals", cwd=away, environment=environment)
        for path in ("/", "/page/vendor/pdfjs/pdf.min.mjs"):
            assert httpx2.get(environment["QUELEA_URL"] + path, timeout=60).status_code == 200
        answer = json.loads(run(quelea, "ask", QUESTION, "--json", cwd=away, environment=environment))
    finally:
        run(quelea, "down", cwd=away, environment=environment)
    assert "pairs" in run(quelea, "train", "--help", cwd=away, environment=environment)
    assert "5740万部" in answer["answer"]
    assert "Canalys" in answer["citations"][0]["title"]
    assert (home / ".cache/quelea").is_dir()
    assert (home / ".local/share/quelea/home").is_dir()
    assert list(away.iterdir()) == []
