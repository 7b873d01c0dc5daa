"""An engine with the images, or a skip that says what is missing; and the product running in them."""

from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest
from docker.errors import DockerException, ImageNotFound
from support.images import IMAGES, World
from support.sandbox import engine_must_be_there


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.DockerClient]:
    """The machine's engine with all images, or a skip that says what is missing."""
    try:
        client = docker.DockerClient.from_env(timeout=60)
        for name in (*IMAGES, "redis"):
            client.images.get(f"quelea-{name}:latest")
    except ImageNotFound as error:
        if engine_must_be_there():
            raise
        pytest.skip(f"THE IMAGES ARE NOT TESTED: {error.explanation} (make images)")
    except DockerException as error:
        if engine_must_be_there():
            raise
        pytest.skip(f"THE IMAGES ARE NOT TESTED: no Docker engine answers: {error}")
    yield client
    client.close()


@pytest.fixture(scope="module")
def world(engine: docker.DockerClient, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The running product; everything is removed at the end."""
    one = World(engine, tmp_path_factory.mktemp("keys"))
    try:
        one.start()
        yield one
    finally:
        one.remove()
