"""The chart's objects, run from the locally built images: probes pass, helm's tests pass, and again after kills."""

from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest
from support.chart_render import MATRIX, merged, render
from support.release import Release

READY_SECONDS = 420
COMPONENTS = ("embedder", "retriever", "search", "worker", "generator", "gateway", "redis")


@pytest.fixture(scope="module")
def release(engine: docker.DockerClient) -> Iterator[Release]:
    # One embedder and one generator: the second is the first again, and an embedder takes a gibibyte.
    once = {"services": {"embedder": {"replicas": 1}, "generator": {"replicas": 1}}}
    one = Release(engine, render(merged(MATRIX["local"], once)))
    try:
        one.start()
        one.settle(READY_SECONDS)
        yield one
    finally:
        one.remove()


def test_a_release_has_every_component(release: Release) -> None:
    assert set(COMPONENTS) <= set(release.pods)
    assert len(release.pods["gateway"]) > 1


def test_what_is_ready_is_alive(release: Release) -> None:
    for component in release.pods:
        assert release.alive(component) == []


def test_the_charts_own_tests_pass(release: Release) -> None:
    for name in ("test-ingest", "test-ask"):
        release.must_pass(name)


@pytest.mark.parametrize("component", COMPONENTS)
def test_killed_it_comes_back_with_what_was_in_it(release: Release, component: str) -> None:
    release.must_pass("test-ingest")
    pods = release.pods[component]
    for pod in pods:
        release.kill(pod)
    for pod in pods:
        release.revive(pod)
    release.settle(READY_SECONDS)
    release.must_pass("test-ask")
