"""`make push` against a real registry, Debian's docker-registry on loopback: what it says is there, is there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import httpx2
import pytest
from quelea_kit.testing import free_port

PUSH = Path(__file__).parents[3] / "deploy/images/push.py"
NAME = "quelea-redis"
START_SECONDS, PUSH_SECONDS = 30, 300


@pytest.fixture
def registry(tmp_path: Path, engine: docker.DockerClient) -> Iterator[str]:
    """host:port of an empty one; its tags on the engine are removed at the end."""
    program = shutil.which("docker-registry")
    if not program:
        pytest.skip("PUSHING IS NOT TESTED: there is no registry here (apt-get install docker-registry)")
    address = f"127.0.0.1:{free_port()}"
    (tmp_path / "config.yml").write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {tmp_path / 'store'}}}}}\nhttp: {{addr: {address}}}\n"
    )
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([program, "serve", str(tmp_path / "config.yml")], stdout=log, stderr=log)
    try:
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                assert httpx2.get(f"http://{address}/v2/", timeout=5).status_code == 200
                break
            except httpx2.TransportError:
                assert process.poll() is None and time.monotonic() < end, (tmp_path / "log").read_text()
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)
        for image in engine.images.list():
            for tag in image.tags:
                if tag.startswith(address):
                    engine.images.remove(tag)


def push(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PUSH), *words], check=False, capture_output=True, text=True, timeout=PUSH_SECONDS
    )


@pytest.mark.slow(reason="an image of 78 MB is compressed and pushed")
def test_an_image_is_pushed_under_its_tags_and_pulled_by_its_digest(engine: docker.DockerClient, registry: str) -> None:
    done = push(f"{registry}/team", "--tag", "latest", NAME)  # the order of make push
    assert done.returncode == 0, done.stderr
    there, digest = done.stdout.strip().split("@")
    assert there == f"{registry}/team/{NAME}"
    content = engine.images.get(f"{NAME}:0.1.0").labels["quelea.content"][:12]
    accept = {"Accept": "application/vnd.docker.distribution.manifest.v2+json"}
    for tag in ("0.1.0", "latest", content):
        found = httpx2.get(f"http://{registry}/v2/team/{NAME}/manifests/{tag}", headers=accept).raise_for_status()
        assert found.headers["Docker-Content-Digest"] == digest
    for tag in ("0.1.0", "latest", content):
        engine.images.remove(f"{there}:{tag}")
    pulled = engine.images.pull(there, tag=digest)
    assert pulled.id == engine.images.get(f"{NAME}:0.1.0").id
    engine.images.remove(f"{there}@{digest}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["https://registry.example.com"], "no https://"),
        (["registry.example.com/Team"], "small letters"),
        (["team"], "write docker.io/team"),
        (["team/desk", NAME], "write docker.io/team/desk"),
        (["registry.example.com", "quelea-gatway"], "no image quelea-gatway; there are quelea-gateway"),
        (["registry.example.com", "--tag", "a b"], "no tag"),
    ],
)
def test_what_is_no_registry_image_or_tag_is_refused_at_once(words: list[str], said: str) -> None:
    done = push(*words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_a_registry_that_is_away_is_named(engine: docker.DockerClient) -> None:
    away = f"127.0.0.1:{free_port()}"
    try:
        done = push(away, NAME)
    finally:
        for image in engine.images.list(name=f"{away}/{NAME}"):
            for tag in image.tags:
                if tag.startswith(away):
                    engine.images.remove(tag)
    assert done.returncode == 1
    assert away in done.stderr
