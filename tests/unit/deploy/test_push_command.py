"""`make push` with an imitated engine: what goes up, in which order, and how it ends when something is amiss."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PUSH = Path(__file__).parents[3] / "deploy/images/push.py"
REGISTRY = "registry.example.com:5000/team"
DIGEST = f"sha256:{'ab' * 32}"
CONTENT = "0123456789abcdef"
DOCKER = f"""#!/bin/sh
echo "$@" >> "$CALLS"
case "$1" in
image) for last; do :; done
    case "$last" in "$MISSING":*) exit 1 ;; esac
    echo {CONTENT} ;;
push) case "$2" in *"$REFUSED") echo "denied: you may not push here" >&2; exit 1 ;; esac
    echo "latest: digest: {DIGEST} size: 1234" ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a docker of its own, and nothing else on the path."""
    docker = tmp_path / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    return tmp_path


def push(folder: Path, *names: str, missing: str = "none", refused: str = "none") -> subprocess.CompletedProcess[str]:
    told = {"PATH": str(folder), "CALLS": str(folder / "calls"), "MISSING": missing, "REFUSED": refused}
    return subprocess.run(
        [sys.executable, str(PUSH), REGISTRY, *names],
        check=False, capture_output=True, text=True, timeout=120, env={**os.environ, **told},
    )  # fmt: skip


def pushed(folder: Path) -> list[str]:
    calls = (folder / "calls").read_text().splitlines()
    return [one.removeprefix("push ") for one in calls if one.startswith("push ")]


def test_each_goes_up_by_its_content_and_its_version_and_its_digest_is_told(folder: Path) -> None:
    done = push(folder, "quelea-gateway", "quelea-search")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [f"{REGISTRY}/quelea-{name}@{DIGEST}" for name in ("gateway", "search")]
    tags = (CONTENT[:12], "0.1.0")
    assert pushed(folder) == [f"{REGISTRY}/quelea-{name}:{tag}" for name in ("gateway", "search") for tag in tags]


def test_where_one_is_not_here_none_goes_up(folder: Path) -> None:
    done = push(folder, "quelea-gateway", "quelea-runner", missing="quelea-runner")
    assert done.returncode == 1
    assert "quelea-runner:0.1.0 is not on this engine: make runner-image" in done.stderr
    assert pushed(folder) == []


def test_what_a_registry_refuses_ends_it_with_the_registrys_words(folder: Path) -> None:
    done = push(folder, "quelea-gateway", "quelea-search", refused="quelea-gateway:0.1.0")
    assert done.returncode == 1
    assert "denied: you may not push here" in done.stderr
    assert done.stdout == ""
    assert not [one for one in pushed(folder) if "quelea-search" in one]


def test_without_docker_it_says_so(folder: Path) -> None:
    (folder / "docker").unlink()
    done = push(folder, "quelea-gateway")
    assert (done.returncode, done.stderr) == (1, "push: docker is not on this machine\n")
