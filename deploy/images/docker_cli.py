"""What the recipes here share: the docker command line, labels by content, and the base image without a registry."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import rootfs

REPOSITORY = Path(__file__).resolve().parents[2]
BASE = "quelea-base"
LABEL = "quelea.content"


class Unbuildable(Exception):
    """What is missing, and what to do."""


def run(
    *command: str, cwd: Path | None = None, environment: dict[str, str] | None = None, seconds: float | None = None
) -> str:
    """A command's output; Unbuildable when it fails, with the end of what it said, or takes longer than `seconds`."""
    env = {**os.environ, **(environment or {})}
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd, env=env, timeout=seconds)  # noqa: S603 - fixed commands
    except FileNotFoundError:
        raise Unbuildable(f"{command[0]} is not on this machine") from None
    except subprocess.TimeoutExpired:
        raise Unbuildable(f"{' '.join(command[:3])} was given {seconds:.0f} s and has not ended") from None
    except subprocess.CalledProcessError as error:
        tail = (error.stdout + error.stderr).strip()[-2000:]
        raise Unbuildable(f"{' '.join(command[:3])} failed:\n{tail}") from None
    return done.stdout.strip()


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def label_of(image: str) -> str:
    """What an image says it holds; empty when it is not there."""
    form = f'{{{{index .Config.Labels "{LABEL}"}}}}'
    try:
        found = subprocess.run(  # noqa: S603 - fixed command
            ["docker", "image", "inspect", "--format", form, image],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise Unbuildable("docker is not on this machine") from None
    return found.stdout.strip() if found.returncode == 0 else ""


def size_of(image: str) -> float:
    """Megabytes (10^6 bytes) of an image with the layers that it shares with others."""
    return int(run("docker", "image", "inspect", "--format", "{{.Size}}", image)) / 1e6


def make_base(files: dict[str, bytes | Path | str], identity: str) -> str:
    """Import the base image unless it is there; its tag."""
    tag = f"{BASE}:{identity[:12]}"
    if label_of(tag) != identity:
        with tempfile.TemporaryDirectory() as scratch:
            archive = Path(scratch, "base.tar")
            rootfs.write(files, archive)
            change = f"LABEL {LABEL}={identity}"
            run("docker", "import", "--change", change, "--change", "ENV PATH=/usr/local/bin", str(archive), tag)
    run("docker", "tag", tag, f"{BASE}:latest")
    return tag


def drop_old_stages() -> None:
    """Stages of earlier builds are the next build's cache for a day, then gigabytes that nobody needs."""
    run("docker", "image", "prune", "--force", "--filter", f"label={LABEL}=build", "--filter", "until=24h")
