"""The training's image: its commands answer, and it trains an encoder for a step in a locked-down container.

Not among the images of `make images`; without it (`make images SERVICES=training`) these are skipped, and said so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException, ImageNotFound
from support.images import LOCKED
from support.tiny_encoder import write_tiny_encoder, write_word_pairs

IMAGE = "quelea-training:latest"
_SECONDS = 600


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    try:
        client = docker.DockerClient.from_env(timeout=_SECONDS)
        client.images.get(IMAGE)
    except ImageNotFound:
        pytest.skip("THE TRAINING'S IMAGE IS NOT TESTED: make images SERVICES=training")
    except DockerException as error:
        pytest.skip(f"THE TRAINING'S IMAGE IS NOT TESTED: no Docker engine answers: {error}")
    yield client
    client.close()


def run(engine: docker.DockerClient, models: Path, *words: str) -> str:
    """Standard output and error of `quelea train WORDS` with a folder as /models, which the user may write."""
    models.chmod(0o777)
    command = ["python", "-m", "quelea_training", *words]
    volumes = {str(models): {"bind": "/models", "mode": "rw"}}
    container = engine.containers.run(IMAGE, command, detach=True, network_mode="none", volumes=volumes, **LOCKED)
    try:
        code = container.wait(timeout=_SECONDS)["StatusCode"]
        said: str = container.logs().decode()
        assert code == 0, said[-3000:]
        return said
    finally:
        container.remove(force=True)


@pytest.mark.parametrize("command", ["encoder", "verifier", "sft", "samples", "pairs"])
def test_its_commands_have_all_that_they_import(engine: docker.DockerClient, tmp_path: Path, command: str) -> None:
    assert "--out" in run(engine, tmp_path, command, "--help") or command in ("samples", "pairs")


def test_it_trains_for_a_step_and_writes_what_the_embedder_serves(engine: docker.DockerClient, tmp_path: Path) -> None:
    write_tiny_encoder(tmp_path / "base")
    write_word_pairs(tmp_path / "pairs")
    said = run(
        engine, tmp_path, "encoder", "/models/pairs", "--base", "/models/base", "--out", "/models/run",
        "--tune", "full", "--epochs", "0.2", "--batch", "8", "--threads", "1",
    )  # fmt: skip
    assert "MAP@5" in said
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["models"] == ["model"]
    assert (tmp_path / "run" / "model" / "modules.json").is_file()
    assert list((tmp_path / "run" / "model").rglob("*.xml")), "no OpenVINO graph"
